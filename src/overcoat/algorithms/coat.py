"""COAT: constraint-based anonymization of transactions (Loukides, Gkoulalas-Divanis, Malin)."""

from __future__ import annotations

from collections.abc import Callable

from overcoat.algorithms.outcome import Outcome
from overcoat.algorithms.repair import repair_all
from overcoat.context import QUIET, Stage
from overcoat.data.transactions import Transactions
from overcoat.mapping import Mapping
from overcoat.policy.policy import BoundPolicy

__all__ = ["coat"]


def coat(
    data: Transactions,
    policy: BoundPolicy,
    stage: Stage = QUIET,
    start: Mapping | None = None,
) -> Outcome:
    """Merge the least supported group of the chosen constraint where that costs least.

    Parameters
    ----------
    data, policy : IN
    stage : told how many steps were taken, now and then; says which engine to use
    start : a mapping to go on from, see `overcoat.algorithms.repair`

    >>> from overcoat.policy.policy import Policy
    >>> from overcoat.policy.privacy import Itemsets
    >>> data = Transactions.of([{"a", "b"}, {"a"}, {"b", "c"}])
    >>> outcome = coat(data, Policy(2, (Itemsets([{"a", "b"}]),)).bind(data))
    >>> outcome.partition.group_of
    array([0, 0, 2], dtype=int32)
    """
    return repair_all(data, policy, _choose, stage, start)


def _choose(
    supports: dict[int, int], has_partner: Callable[[int], bool], k: int
) -> tuple[list[int], int]:
    """Algorithm 1, steps 5 and 7 to 10."""
    # Step 5: i_m, the least supported; sorted() keeps item order among equals.
    by_support = sorted(supports, key=supports.__getitem__)
    least = by_support[0]
    # The paper would loop for ever on a group that is alone in its block and supported by k or
    # more: then the next that has a partner is taken.
    candidates = [least] if supports[least] < k else by_support
    partnered = [group for group in candidates if has_partner(group)]
    return partnered[:1], least
