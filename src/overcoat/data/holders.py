"""Rows by item: which rows hold an item, and what else these rows hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Holders"]

Codes = NDArray[np.int32]
Numbers = NDArray[np.int64]


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
        ends, codes = self._gather(self._offsets[rows], self._offsets[rows + 1])
        return np.repeat(rows, np.diff(ends)), codes

    def beyond(self, item: int) -> tuple[Numbers, Codes]:
        """Return, for each row with an item, the greater items it holds; CSR arrays."""
        places = self._places[self._first[item] : self._first[item + 1]]
        return self._gather(places + 1, self._offsets[self.rows_with(item) + 1])

    def _gather(self, starts: Numbers, stops: Numbers) -> tuple[Numbers, Codes]:
        """Return the codes between these places, one stretch after the other; CSR arrays."""
        lengths = stops - starts
        ends = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1])
        return ends, self._codes[places]
