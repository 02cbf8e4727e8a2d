"""Rows by item: which rows hold an item, and what else; how many of some items each row holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from overcoat.data.transactions import Transactions

__all__ = ["Holders", "entries", "held", "held_in_parts"]

Codes = NDArray[np.int32]
Numbers = NDArray[np.int64]

_ROWS = 1 << 16  # at a time: sums over codes take more than the rows do


def held(data: Transactions, wanted: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return how many of the wanted items each distinct row holds.

    >>> from overcoat.data.transactions import Transactions
    >>> held(Transactions.of([{"a", "b"}, {"b", "c"}, {"c"}]), np.array([True, True, False]))
    array([2, 1, 0], dtype=int32)
    """
    found = np.empty(data.n_distinct, np.int32)
    for rows, numbers in held_in_parts(data, wanted):
        found[rows] = numbers
    return found


def held_in_parts(
    data: Transactions, wanted: NDArray[np.bool_]
) -> Iterator[tuple[slice, NDArray[np.int64]]]:
    """Yield some distinct rows, and how many of the wanted items each holds, until all are told."""
    for row in range(0, data.n_distinct, _ROWS):
        ends = data.offsets[row : row + _ROWS + 1]
        inside = wanted[data.codes[ends[0] : ends[-1]]]
        sums = np.concatenate([[0], np.cumsum(inside, dtype=np.int64)])
        yield slice(row, row + len(ends) - 1), np.diff(sums[ends - ends[0]])


class Holders:
    """The rows that hold each item.

    Parameters
    ----------
    offsets, codes : rows as CSR arrays, each ascending
    n_items : how many codes there are

    >>> holders = Holders(np.array([0, 2, 3]), np.array([0, 1, 1]), n_items=2)
    >>> holders.rows_with(1), holders.entries(holders.rows_with(0))
    (array([0, 1]), (array([0, 0]), array([0, 1])))
    """

    def __init__(self, offsets: Numbers, codes: Codes, n_items: int) -> None:
        self._offsets, self._codes = offsets, codes
        # NumPy sorts 16 bits by counting, many times faster than 32 by comparing.
        keys = codes.astype(np.uint16) if n_items <= 1 << 16 else codes
        self._places = np.argsort(keys, kind="stable")
        self._rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[self._places]
        self._first = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=n_items))])

    def rows_with(self, item: int) -> Numbers:
        """Return the rows that hold an item, ascending."""
        return self._rows[self._first[item] : self._first[item + 1]]

    def entries(self, rows: Numbers) -> tuple[Numbers, Codes]:
        """Return the (row, item) pairs of some rows, as two arrays."""
        return entries(self._offsets, self._codes, rows)

    def beyond(self, item: int) -> tuple[Numbers, Codes]:
        """Return, for each row with an item, the greater items it holds; CSR arrays."""
        places = self._places[self._first[item] : self._first[item + 1]]
        return _gather(self._codes, places + 1, self._offsets[self.rows_with(item) + 1])


def entries(offsets: Numbers, codes: Codes, rows: Numbers) -> tuple[Numbers, Codes]:
    """Return the (row, item) pairs of some rows, as two arrays."""
    ends, found = _gather(codes, offsets[rows], offsets[rows + 1])
    return np.repeat(rows, np.diff(ends)), found


def _gather(codes: Codes, starts: Numbers, stops: Numbers) -> tuple[Numbers, Codes]:
    """Return the codes between these places, one stretch after the other; CSR arrays."""
    lengths = stops - starts
    ends = np.concatenate([[0], np.cumsum(lengths)])
    places = np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1])
    return ends, codes[places]
