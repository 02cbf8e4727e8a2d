"""A start for a search where another method refused: as little suppression as can be found.

Merging never breaks a pair of groups: the sum of two counts of k or more, or of none, is so, too.
So where all m-itemsets are protected, the state in which every utility block is one group breaks
least, and what is broken there can only be mended by suppression. A method that merges step by step
suppresses whole groups; here single items are, and all that need not stay suppressed come back.
"""

from __future__ import annotations

from overcoat.algorithms.objective import limits_of, rules_of
from overcoat.context import Stage
from overcoat.data.transactions import Transactions
from overcoat.kernels import annealing_class
from overcoat.kernels.problem import Price
from overcoat.partition import Partition
from overcoat.policy.policy import BoundPolicy

__all__ = ["coarsest", "least_suppressed"]


def coarsest(policy: BoundPolicy) -> Partition:
    """Return the partition in which every utility block is one group."""
    return Partition(policy.utility.block_of)


def least_suppressed(
    data: Transactions, policy: BoundPolicy, known: Partition, stage: Stage
) -> Partition:
    """Return a partition that meets the policy, s apart, with few suppressed items.

    Parameters
    ----------
    known : one that does; returned where nothing better is found
    """
    start = coarsest(policy)
    rules, limits = rules_of(data, policy), limits_of(data, policy, start)
    price = Price.nothing(data.n_items)
    kernel = annealing_class(stage.engine)(rules, limits, price, start.group_of, 0)
    home = kernel.slots()
    broken, suppressed = kernel.broken(), list[int]()
    while broken and len(suppressed) < len(known.suppressed):
        best = None
        for item in range(data.n_items):
            stage(len(suppressed))
            if kernel.slots()[item] < 0:
                continue
            kernel.move(item, -1)
            left = kernel.broken()
            kernel.move(item, int(home[item]))
            if best is None or left < best[0]:
                best = left, item
        if best is None:
            break
        broken, item = best
        kernel.move(item, -1)
        suppressed.append(item)
    if broken:
        return known
    for item in [*suppressed]:  # what was suppressed first may be needless by now
        stage(len(suppressed))
        kernel.move(item, int(home[item]))
        if kernel.broken():
            kernel.move(item, -1)
        else:
            suppressed.remove(item)
    found = Partition(kernel.slots())
    return found if len(found.suppressed) < len(known.suppressed) else known
