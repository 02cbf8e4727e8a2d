"""Rows gathered in batches: in memory, and on disk where they are too many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from overcoat.context import Stage
from overcoat.data.native import gathered_rows
from overcoat.data.spill import PARTS, Rows, Spill, SpilledRows
from overcoat.errors import DataError
from overcoat.words import size_of

__all__ = ["Batches"]

_TO_SORT = 2.3  # addresses that it takes to hold rows and sort them, in sizes of the rows

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]


class Batches:
    """Batches of rows: the offsets (from 0), the codes and the counts of each.

    With a `spill`, batches are made one when they have grown: what is equal is then held once. If
    that is large all the same, it goes to disk, where in the end it is counted part by part. So
    memory follows the distinct rows; if it does not hold these either, that is told.
    """

    def __init__(self, spill: Spill | None) -> None:
        self._spill = spill
        self._batches: list[Rows] = []
        self._spilled: list[SpilledRows] = []
        self._marks = 0, 0  # how many batches, in memory and on disk, stay as they are
        self._held = 0  # bytes of those in memory

    def add(self, offsets: NDArray[np.int64], codes: Codes, counts: Counts, stage: Stage) -> None:
        """Add a batch."""
        self._batches.append((offsets, codes, counts))
        self._held += _size(codes, counts)
        if self._spill is not None and self._held > self._spill.budget:
            self._make_room(self._spill, stage)

    def mark(self) -> Callable[[], None]:
        """Return what takes back all that is added from now on."""
        n_batches, n_spilled = self._marks = len(self._batches), len(self._spilled)

        def go_back() -> None:
            del self._batches[n_batches:]
            del self._spilled[n_spilled:]
            self._held = sum(_size(*rows[1:]) for rows in self._batches)

        return go_back

    def codes(self) -> Iterator[Codes]:
        """Yield the codes of each batch in memory."""
        for _, codes, _ in self._batches:
            yield codes

    def take(self) -> list[Rows]:
        """Hand over all batches in memory."""
        taken, self._batches = self._batches, []
        return taken

    def _make_room(self, spill: Spill, stage: Stage) -> None:
        """Make one batch of several; if it is large all the same, put it on disk."""
        before, batches = self._batches[: self._marks[0]], self._batches[self._marks[0] :]
        self._batches = before
        offsets, codes, counts, _ = gathered_rows(batches, positions=False, stage=stage)
        if 2 * _size(codes, counts) <= spill.budget:
            before.append((offsets, codes, counts))
        else:
            if len(self._spilled) == self._marks[1]:
                self._spilled.append(SpilledRows(spill))
            self._spilled[-1].add(offsets, codes, counts)
        self._held = sum(_size(*rows[1:]) for rows in before)

    def fetch(self, stage: Stage) -> None:
        """Get back the distinct rows of what is on disk, if memory holds them."""
        spill = self._spill
        if spill is None or not self._spilled:
            return
        if self._batches:
            self._spilled.append(SpilledRows(spill))
            self._spilled[-1].add(*gathered_rows(self.take(), positions=False, stage=stage)[:3])
        found: list[Rows] = []
        held = n_rows = 0
        for part in range(PARTS):
            stage()
            some = [rows for spilled in self._spilled for rows in spilled.part(part)]
            offsets, codes, counts, _ = gathered_rows(some, positions=False, stage=stage)
            found.append((offsets, codes, counts))
            held, n_rows = held + _size(codes, counts), n_rows + len(counts)
            _require_room(spill.room, held, n_rows, PARTS / (part + 1))
        self._spilled, self._batches = [], found


def _require_room(room: int, held: int, n_rows: int, share: float) -> None:
    """Raise if memory will not hold all distinct rows, of which these are one in `share`.

    Rows are in their parts by chance, so those seen tell how many there are, and how surely.
    """
    at_least = share * max(1 - 3 / sqrt(max(n_rows, 1)), 1 / share)
    if _TO_SORT * held * at_least > room:
        raise DataError(
            f"there are about {round(n_rows * share):,} distinct rows: to hold and sort them takes "
            f"about {size_of(_TO_SORT * held * share)} of memory, and {size_of(room)} can be had; "
            "use a machine (or a limit, --memory) with more, a cluster (--spark), or leave out "
            "items that nobody needs"
        )


def _size(codes: Codes, counts: Counts) -> int:
    """Return how many bytes rows take."""
    return 16 * len(counts) + 4 * len(codes)
