"""Which rows hold an item, and which items these rows hold: what growing itemsets asks for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Holders"]


class Holders:
    """Rows by item.

    Parameters
    ----------
    offsets, codes : rows as CSR arrays
    n_items : how many codes there are

    >>> holders = Holders(np.array([0, 2, 3]), np.array([0, 1, 1]), n_items=2)
    >>> holders.rows_with(1), holders.entries(holders.rows_with(0))
    (array([0, 1]), (array([0, 0]), array([0, 1])))
    """

    def __init__(self, offsets: NDArray[np.int64], codes: NDArray[np.int32], n_items: int) -> None:
        self._offsets, self._codes = offsets, codes
        # NumPy sorts 16 bits by counting, many times faster than 32 by comparing.
        keys = codes.astype(np.uint16) if n_items <= 1 << 16 else codes
        by_item = np.argsort(keys, kind="stable")
        self._rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[by_item]
        self._first = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=n_items))])

    def rows_with(self, item: int) -> NDArray[np.int64]:
        """Return the rows that hold an item, ascending."""
        return self._rows[self._first[item] : self._first[item + 1]]

    def entries(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the (row, item) pairs of some rows, as two arrays."""
        starts = self._offsets[rows]
        lengths = self._offsets[rows + 1] - starts
        ends = np.cumsum(lengths)
        places = np.repeat(starts - ends + lengths, lengths) + np.arange(lengths.sum())
        return np.repeat(rows, lengths), self._codes[places]
