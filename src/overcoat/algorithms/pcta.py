"""PCTA: clustering-based anonymization of transactions (Gkoulalas-Divanis, Loukides 2011).

In its form UPCTA (the same authors, 2012), which respects utility constraints.
"""

from __future__ import annotations

from collections.abc import Callable

from overcoat.algorithms.outcome import Outcome
from overcoat.algorithms.repair import repair_all
from overcoat.context import QUIET, Stage
from overcoat.data.transactions import Transactions
from overcoat.mapping import Mapping
from overcoat.policy.policy import BoundPolicy

__all__ = ["pcta"]


def pcta(
    data: Transactions,
    policy: BoundPolicy,
    stage: Stage = QUIET,
    start: Mapping | None = None,
) -> Outcome:
    """Merge that group of the chosen constraint, be it rare or frequent, that costs least.

    Parameters as for `coat.coat`.

    >>> from overcoat.policy.policy import Policy
    >>> from overcoat.policy.privacy import Itemsets
    >>> data = Transactions.of(map(set, ["ab", "ac", "ac", "ac", "b", "bc"]))
    >>> policy = Policy(2, (Itemsets([{"a", "b"}]),)).bind(data)
    >>> pcta(data, policy).partition.group_of  # COAT would merge b, the least supported
    array([0, 1, 0], dtype=int32)
    """
    return repair_all(data, policy, _choose, stage, start)


def _choose(
    supports: dict[int, int], has_partner: Callable[[int], bool], k: int
) -> tuple[list[int], int]:
    by_support = sorted(supports, key=supports.__getitem__)
    # No merge of the others helps a constraint with a group that is too rare and has no partner.
    for group in by_support:
        if supports[group] < k and not has_partner(group):
            return [], group
    return [group for group in supports if has_partner(group)], by_support[0]
