"""How long finding a mapping will take, and how much memory: told before the work."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from overcoat.algorithms.method import Method
from overcoat.algorithms.methods import Coat
from overcoat.data.transactions import Transactions
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.privacy import BoundAllItemsets
from overcoat.words import size_of

__all__ = ["Forecast", "forecast"]

# Seconds for COAT at m = 2, measured on two cores with 100,000 to 10,000,000 rows over 1,000 to
# 40,000 items (docs/benchmarks.md): so much for a million occurrences, and for an item times the
# square root of millions of occurrences. Each further item known takes about as long again.
_OCCURRENCES, _ITEM = 0.3, 1.1e-4
_REST = 0.5  # seconds to apply, verify, write and read back a million occurrences


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
    memory = 30 * len(data.codes) + 130 * data.n_distinct + 1000 * data.n_items  # at m = 2
    seconds = None
    if type(method) is Coat and all(isinstance(one, BoundAllItemsets) for one in policy.families):
        m = max((one.m for one in policy.families if isinstance(one, BoundAllItemsets)), default=1)
        seconds = (m - 1) * (_OCCURRENCES * occurrences + _ITEM * data.n_items * sqrt(occurrences))
        seconds += _REST * occurrences
    return Forecast(seconds, memory)


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "an unknown time"
    if seconds < 1:
        return "less than a second"
    if seconds < 120:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min"
