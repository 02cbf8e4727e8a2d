"""How many people are unique before and after: what a board must see beside "verified"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET, Stage
from overcoat.data.transactions import Transactions
from overcoat.exposure.native import Persons, least_holders
from overcoat.policy.privacy import BoundAllItemsets
from overcoat.release.result import Result
from overcoat.words import people

__all__ = ["Exposed", "exposed"]

# Sets looked at, in the original and in the release: less than a second. Where there are more,
# so many people are drawn.
_MOST_SETS = 30_000_000
_DRAWN, _PARTS = 400, 16  # people, and parts of them for threads to share


@dataclass(frozen=True)
class Exposed:
    """People of whom so many known items fit one row only.

    Attributes
    ----------
    n_people : how many there are
    known : for how many known items
    before, after : people unique in the original and in the release, for each of these
    exact : whether all were looked at; else people were drawn, and these are estimates
    """

    n_people: int
    known: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    exact: bool = True

    def to_json(self) -> list[dict[str, Any]]:
        """Return the figures as plain values."""
        each = zip(self.known, self.before, self.after, strict=True)
        return [
            {
                "known": known,
                "unique_before": before,
                "unique_after": after,
                "exact": self.exact,
            }
            for known, before, after in each
        ]

    def __str__(self) -> str:
        """Render in words: before → after."""
        parts: list[str] = []
        for known, before, after in zip(self.known, self.before, self.after, strict=True):
            noun = "" if parts else f" item{'s' * (known != 1)} known"
            parts.append(f"with {known}{noun}: {self._share(before)} → {self._share(after)}")
        return "unique " + "; ".join(parts)

    def _share(self, number: int) -> str:
        percent = 100 * number / max(self.n_people, 1)
        if not number:
            return "nobody"
        if not self.exact:
            return f"about {percent:.0f} %"
        return f"{people(number)} ({'< 0.1' if percent < 0.05 else f'{percent:.1f}'} %)"


def exposed(result: Result, *, stage: Stage = QUIET) -> Exposed:
    """Return who is unique with as many items known as the policy is about, and with one more."""
    sizes = [one.m for one in result.policy.families if isinstance(one, BoundAllItemsets)]
    m = max([2, *sizes]) if not sizes or max(sizes) > 1 else 1
    exact = max(_n_sets(result.data, m + 1), _n_sets(result.released, m + 1)) <= _MOST_SETS
    count = _unique if exact else _drawn
    # If all sets of m items are protected, and that is verified, nobody is left to be found.
    protected = result.policy.k > 1 and not result.partial
    protected = protected and any(
        isinstance(one, BoundAllItemsets) and one.m >= m and one.whole_domain
        for one in result.policy.families
    )
    sizes_after = (m + 1,) if protected else (m, m + 1)
    jobs: list[Callable[[Stage], tuple[int, ...]]] = [
        lambda part: count(result.data, (m, m + 1), part),
        lambda part: count(result.released, sizes_after, part),
    ]
    # Side by side they would need twice the memory, which matters where there are many rows.
    before, after = stage.side_by_side(jobs) if exact else [job(stage) for job in jobs]
    if protected:
        after = (0, *after)
    return Exposed(result.data.n_transactions, (m, m + 1), before, after, exact)


def _unique(rows: Transactions, sizes: tuple[int, ...], stage: Stage) -> tuple[int, ...]:
    arrays = rows.offsets, rows.codes, rows.counts
    least = least_holders(*arrays, rows.n_items, max(sizes), stage=stage)
    return tuple(int(rows.counts[least[:, size - 1] == 1].sum()) for size in sizes)


def _drawn(rows: Transactions, sizes: tuple[int, ...], stage: Stage) -> tuple[int, ...]:
    """Estimate from people drawn."""
    rng = np.random.Generator(np.random.PCG64(0))
    ends = np.cumsum(rows.counts)
    drawn = np.searchsorted(ends, rng.integers(0, ends[-1], _DRAWN), side="right")
    persons = Persons(rows.offsets, rows.codes, rows.counts, rows.n_items, stage=stage)

    def look(part: Stage, some: NDArray[np.int64]) -> list[list[bool]]:
        known = persons.beside(part)
        found = []
        for number, row in enumerate(some.tolist()):
            part(number, len(some))
            found.append([known.is_unique(rows.row(row), size) for size in sizes])
        return found

    parts = np.array_split(drawn, _PARTS)
    found = stage.side_by_side([partial(look, some=some) for some in parts])
    each = zip(*(one for part in found for one in part), strict=True)
    return tuple(round(sum(unique) / _DRAWN * rows.n_transactions) for unique in each)


def _n_sets(rows: Transactions, m: int) -> int:
    lengths, numbers = np.unique(rows.lengths, return_counts=True)
    each = zip(lengths.tolist(), numbers.tolist(), strict=True)
    return sum(n * sum(comb(length, size) for size in range(1, m + 1)) for length, n in each)
