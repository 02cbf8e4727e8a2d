"""How far an attacker gets with what rows show: who is alone, and who is in a small crowd.

The same figures as in `crowds`, but of rows alone: whoever has them can work these out. For a
release it does not matter that the attacker knows items and the rows show labels: each label of a
row is that of an item of the person, and each item has one label or none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET, Stage
from overcoat.data.transactions import Transactions
from overcoat.exposure.crowds import Interval, crowd
from overcoat.exposure.native import Persons, least_holders
from overcoat.exposure.rows import KnownRows

__all__ = ["Reach", "reach"]

# Sets looked at to count all: a second or so. Where there are more, people are drawn.
_MOST_SETS = 60_000_000


@dataclass(frozen=True)
class Reach:
    """Who is found by an attacker who knows so many items of a person.

    Attributes
    ----------
    known : how many items he knows; ``all``: whatever is in the row
    unique : people of whom some such items fit one row only
    below_k : people of whom some fit fewer than k rows
    exact : whether all sets were counted; else people were drawn, and these are estimates
    intervals : of the two, 95 percent, where they are estimates
    """

    known: int | Literal["all"]
    unique: int
    below_k: int
    exact: bool = True
    intervals: dict[str, Interval] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        plain: dict[str, Any] = {
            "known": self.known,
            "unique": self.unique,
            "below_k": self.below_k,
            "exact": self.exact,
        }
        if self.intervals is not None:
            plain["intervals"] = {name: list(both) for name, both in self.intervals.items()}
        return plain


def reach(
    rows: Transactions, sizes: Iterable[int], k: int, *, seed: int = 0, stage: Stage = QUIET
) -> tuple[Reach, ...]:
    """Return how far an attacker gets who knows so many items, for each size and the whole row.

    >>> rows = Transactions.of([{"a", "b"}, {"a", "c"}, {"a", "b"}, {"a"}])
    >>> [(one.known, one.unique, one.below_k) for one in reach(rows, [1, 2], 3)]
    [(1, 1, 3), (2, 1, 3), ('all', 1, 3)]
    """
    sizes = list(sizes)
    arrays = rows.offsets, rows.codes, rows.counts
    known = KnownRows.of(rows)
    counted = [size for size in sizes if known.n_sets(size) <= _MOST_SETS]
    found: list[Reach] = []
    if counted:
        least = least_holders(*arrays, rows.n_items, max(counted), stage=stage)
        found += [_counted(size, least[:, size - 1], rows.counts, k) for size in counted]
    for size in sizes[len(counted) :]:
        one = crowd(known, size, k, seed=seed, stage=stage)
        told = one.intervals and {name: one.intervals[name] for name in ("unique", "below_k")}
        found.append(Reach(size, one.unique, one.below_k, one.exact, told))
    whole = Persons(*arrays, rows.n_items, stage=stage).holding_rows()
    return (*found, _counted("all", whole, rows.counts, k))


def _counted(
    known: int | Literal["all"], least: NDArray[np.int64], counts: NDArray[np.int64], k: int
) -> Reach:
    return Reach(known, int(counts[least == 1].sum()), int(counts[least < k].sum()))
