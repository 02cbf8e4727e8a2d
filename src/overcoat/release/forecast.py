"""How long finding a mapping will take, and how much memory: told before the work."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from overcoat.algorithms.method import Method
from overcoat.algorithms.methods import Apriori, Coat, Greedy, Search
from overcoat.algorithms.objective import MOST_PAIRS
from overcoat.data.transactions import Transactions
from overcoat.loss.error import n_pairs
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.privacy import BoundAllItemsets, BoundItemsets
from overcoat.words import size_of

__all__ = ["Forecast", "forecast"]

# Seconds for COAT at m = 2, measured on two cores with 100,000 to 10,000,000 rows over 1,000 to
# 40,000 items (docs/benchmarks.md): so much for a million occurrences, and for an item times the
# square root of millions of occurrences. Each further item known takes about as long again.
_OCCURRENCES, _ITEM = 0.3, 1.1e-4
_REST = 0.5  # seconds to apply, verify, write and read back a million occurrences

# Bytes on top of the data, measured by `benchmarks.memory` (docs/benchmarks.md) with rows of 3 to
# 100 items, from 40,000 places to 8 million: what a run takes with no data to speak of; for a place
# of the distinct rows; for a row; for an item of the domain, whose labels Python holds in the end.
_RUN, _RUN_OF_APRIORI, _RUN_OF_GREEDY = 11 << 20, 4 << 20, 1 << 20
_PLACE, _ROW, _OF_DOMAIN = 14, 20, 1600
_PLACE_OF_TRIPLES = 6  # more, where sets of three items and larger are protected; for Apriori, too
_PLACE_OF_ITEMSET = 5  # more, of those that are written out
_PLACE_OF_APRIORI, _PLACE_OF_SEARCH = 28, 45
_PAIR_OF_GREEDY, _PAIR_OF_SEARCH = 30, 140  # of items that some row holds


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
    less than a second and 11 MiB of memory
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
    m = max((one.m for one in families if isinstance(one, BoundAllItemsets)), default=0)
    needed = _PLACE * n_places + _ROW * data.n_distinct + _OF_DOMAIN * data.n_items
    written = sum(len(one.codes) for one in families if isinstance(one, BoundItemsets))
    needed += _PLACE_OF_ITEMSET * written + _PLACE_OF_TRIPLES * n_places * (m > 2)
    if isinstance(method, Apriori):
        return _RUN_OF_APRIORI + needed + _PLACE_OF_APRIORI * n_places
    if isinstance(method, Greedy):  # from three items on it depends on what turns out to be rare
        return _RUN_OF_GREEDY + needed + (_PAIR_OF_GREEDY * _pairs_held(data) if m > 1 else 0)
    if isinstance(method, Search):
        needed += _PLACE_OF_SEARCH * n_places
        if n_pairs(data) <= MOST_PAIRS:
            needed += _PAIR_OF_SEARCH * _pairs_held(data)
    return _RUN + needed


def _pairs_held(data: Transactions) -> int:
    """Return about how many pairs of items somebody has, as if items met by chance.

    Items that much the same number of people have are taken together.
    """
    supports, lengths = data.supports.astype(float), data.lengths.astype(float)
    in_rows = float(lengths @ (lengths - 1)) / 2
    if not in_rows:
        return 0
    size = np.floor(4 * np.log2(supports)).astype(np.int64)
    n, held = np.bincount(size), np.bincount(size, supports)
    n, held = n[n > 0], held[n > 0]
    share = held / n / held.sum()  # of all occurrences, of one item
    expected = 2 * in_rows * np.outer(share, share)
    pairs = np.outer(n, n) - np.diag(n)
    return int((pairs * -np.expm1(-expected)).sum() / 2)


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "an unknown time"
    if seconds < 1:
        return "less than a second"
    if seconds < 120:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min"
