"""A start for a search where another method refused: as little suppression as can be found.

Merging never breaks a pair of groups: the sum of two counts of k or more, or of none, is so, too.
So where all m-itemsets are protected, the state in which every utility block is one group breaks
least, and what is broken there can only be mended by suppression. A method that merges step by step
suppresses whole groups. Here single items go, and come back, by chance, at first even where that
breaks something; the best of what holds is kept.
"""

from __future__ import annotations

import random

from overcoat.algorithms.objective import limits_of, rules_of
from overcoat.context import Stage
from overcoat.data.transactions import Transactions
from overcoat.kernels import annealing_class
from overcoat.kernels.problem import Price
from overcoat.partition import Partition
from overcoat.policy.policy import BoundPolicy

__all__ = ["coarsest", "least_suppressed"]

_STEPS = 200  # an item
_WORK = 3_000_000_000  # at most: pairs of groups, and itemsets, that are looked at
_A_SET = 100  # pairs take as long as an itemset


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
    home = kernel.slots().tolist()
    gone = set(known.suppressed.tolist())
    for item in sorted(gone):
        kernel.move(item, -1)
    broken, best = kernel.broken(), known
    each = len(start.firsts) ** 2 + _A_SET * (len(rules.set_offsets) - 1) + 1
    n_steps = min(_STEPS * data.n_items, _WORK // each)
    rng = random.Random(0)
    for step in range(n_steps):
        if step % 256 == 0:
            stage(step, n_steps)
        left = 1 - step / n_steps
        item = rng.randrange(data.n_items) if rng.random() < 0.5 else _one_of(gone, rng)
        back = item in gone
        kernel.move(item, home[item] if back else -1)
        more = kernel.broken()
        # A suppressed item costs 1, and whatever is broken as much as has to be told apart.
        change = (-1 if back else 1) + more - broken
        if change > rng.random() * 4 * left:
            kernel.move(item, -1 if back else home[item])
            continue
        broken = more
        gone ^= {item}
        if not broken and len(gone) < len(best.suppressed):
            best = Partition(kernel.slots())
            if len(gone) <= policy.budget:
                break
    return best


def _one_of(gone: set[int], rng: random.Random) -> int:
    return rng.choice(sorted(gone)) if gone else 0
