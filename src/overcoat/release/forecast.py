"""How long finding a mapping will take, and how much memory: told before the work."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from overcoat.algorithms.method import Method
from overcoat.algorithms.methods import Apriori, Coat, Greedy, Search
from overcoat.data.transactions import Transactions
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.privacy import BoundAllItemsets, BoundItemsets
from overcoat.words import size_of

__all__ = ["Forecast", "forecast"]

# Seconds for COAT at m = 2, measured on two cores with 100,000 to 10,000,000 rows over 1,000 to
# 40,000 items (docs/benchmarks.md): so much for a million occurrences, and for an item times the
# square root of millions of occurrences. Each further item known takes about as long again.
_OCCURRENCES, _ITEM = 0.3, 1.1e-4
_REST = 0.5  # seconds to apply, verify, write and read back a million occurrences

# Bytes on top of the data, measured by `benchmarks.memory` with 30,000 to 1,000,000 rows of 8 items
# (docs/benchmarks.md): for a place of the distinct rows, where single items are protected and where
# larger sets are; for a row; for an item of the domain, whose labels Python holds in the end.
_PLACE, _PLACE_OF_SETS, _ROW, _OF_DOMAIN = 6, 10, 45, 2400
_PLACE_OF_ITEMSET = 75  # of those that are written out
_PLACE_OF_APRIORI, _OF_DOMAIN_OF_APRIORI = 28, 800
_PAIR_OF_GREEDY, _PAIR_OF_SEARCH = 13, 45  # of items in one row


@dataclass(frozen=True)
class Forecast:
    """What the work is likely to take.

    Attributes
    ----------
    seconds : within a factor of two or three on a machine of today; None where nobody knows
    memory : bytes on top of the data
    """

    seconds: float | None
    memory: int

    def __str__(self) -> str:
        """Render in words."""
        return f"{_time(self.seconds)} and {size_of(self.memory)} of memory"


def forecast(data: Transactions, policy: BoundPolicy, method: Method) -> Forecast:
    """Return what finding and publishing a mapping is likely to take.

    >>> from overcoat.policy.policy import Policy
    >>> from overcoat.policy.privacy import AllItemsets
    >>> data = Transactions.of([{"a", "b"}, {"a"}])
    >>> print(forecast(data, Policy(2, AllItemsets(2)).bind(data), Coat()))
    less than a second and 0 MiB of memory
    """
    occurrences = int(data.supports.sum()) / 1e6
    memory = _memory(data, policy, method)
    seconds = None
    if type(method) is Coat and all(isinstance(one, BoundAllItemsets) for one in policy.families):
        m = max((one.m for one in policy.families if isinstance(one, BoundAllItemsets)), default=1)
        seconds = (m - 1) * (_OCCURRENCES * occurrences + _ITEM * data.n_items * sqrt(occurrences))
        seconds += _REST * occurrences
    return Forecast(seconds, memory)


def _memory(data: Transactions, policy: BoundPolicy, method: Method) -> int:
    families, n_places = policy.families, len(data.codes)
    sets = any(isinstance(one, BoundAllItemsets) and one.m > 1 for one in families)
    rows = _ROW * data.n_distinct
    needed = (_PLACE_OF_SETS if sets else _PLACE) * n_places + rows + _OF_DOMAIN * data.n_items
    written = sum(len(one.codes) for one in families if isinstance(one, BoundItemsets))
    needed += _PLACE_OF_ITEMSET * written
    n_pairs = int((data.lengths * (data.lengths - 1) // 2).sum())
    if isinstance(method, Apriori):
        tree = _PLACE_OF_APRIORI * n_places + rows + _OF_DOMAIN_OF_APRIORI * data.n_items
        return max(needed, tree)
    if isinstance(method, Greedy):  # from three items on it depends on what turns out to be rare
        return max(needed, _PAIR_OF_GREEDY * n_pairs) if sets else needed
    return needed + _PAIR_OF_SEARCH * n_pairs if isinstance(method, Search) else needed


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "an unknown time"
    if seconds < 1:
        return "less than a second"
    if seconds < 120:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min"
