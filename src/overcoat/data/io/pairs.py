"""Pairs of (transaction id, item) in any order, gathered into transactions."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Sequence
from itertools import compress, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET
from overcoat.data.transactions import TransactionsBuilder

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Pairs"]

_STEP = 1 << 18  # pairs handled at once
_NO_ITEM = -1
_ITEM = (1 << 32) - 1  # the bits of a key that hold the item


class _Numbers(dict[Hashable, int]):
    """Numbers things in order of first sight."""

    def __missing__(self, key: Hashable) -> int:
        number = self[key] = len(self)
        return number


class Pairs:
    """Collects pairs; an empty or missing item only says that the transaction exists.

    Several items of one row, in columns of their own, are given together. With `by_row` there are
    no ids: each row is a transaction, and goes to the builder at once.

    Most tables keep the pairs of a transaction together, so an id is kept once a run. A pair
    takes eight bytes: the number of its run above, the code of its item plus one below. In the
    end runs are renumbered to transactions, in the order of their first pair, and the pairs of some
    transactions at a time are collected from parts that have been sorted in place.

    >>> builder = TransactionsBuilder()
    >>> pairs = Pairs(builder)
    >>> pairs.add(["p1", "p2", "p1", "p3"], ["a", "b", "c", None])
    >>> pairs.finish()
    >>> list(builder.build())
    [((), 1), (('a', 'c'), 1), (('b',), 1)]
    """

    def __init__(self, builder: TransactionsBuilder, *, by_row: bool = False) -> None:
        self._builder, self.by_row = builder, by_row
        self._ids: list[list[Hashable] | pl.Series] = []  # the id of each run, in pieces
        self._n_runs = 0
        self._keys = array("q")

    def add(self, ids: Sequence[Hashable], *items: Sequence[str | None]) -> None:
        """Add pairs given as labels; `items` are one column or several."""
        codes = np.column_stack([self.encode_items(column) for column in items])
        if self.by_row:
            self._add_rows(codes)
        elif ids:
            starts = np.array([True, *(one != other for one, other in pairwise(ids))])
            self._ids.append(list(compress(ids, starts)))
            self._add(starts, codes)

    def add_columns(self, ids: pl.Series | None, *items: NDArray[np.int64]) -> None:
        """Add pairs given as a column of ids and one or several of codes from `encode_items`."""
        codes = np.column_stack(items) if len(items) > 1 else items[0][:, None]
        if ids is None:
            self._add_rows(codes)
        elif len(ids):
            starts = (ids != ids.shift(1)).fill_null(True)
            # Shrunk, because a part of a column keeps the whole block in memory.
            self._ids.append(ids.filter(starts).shrink_to_fit())
            self._add(starts.to_numpy(), codes)

    def _add_rows(self, codes: NDArray[np.int64]) -> None:
        held = codes != _NO_ITEM
        offsets = np.concatenate([[0], np.cumsum(held.sum(axis=1))])
        self._builder.add_rows(offsets, codes[held])

    def encode_items(self, items: Sequence[str | None]) -> NDArray[np.int64]:
        """Return the provisional code of each item, -1 where there is none."""
        code = self._builder.code
        codes = (code(label) if label else _NO_ITEM for label in items)
        return np.fromiter(codes, np.int64, len(items))

    def _add(self, starts: NDArray[np.bool_], codes: NDArray[np.int64]) -> None:
        runs = np.cumsum(starts, dtype=np.int64) + (self._n_runs - 1)
        self._n_runs = int(runs[-1]) + 1
        if codes.shape[1] > 1:  # one column without an item says that the transaction exists
            held = codes != _NO_ITEM
            held[:, 0] |= ~held.any(axis=1)
            runs, codes = np.repeat(runs, held.sum(axis=1)), codes[held]
        self._keys.frombytes(((runs << 32) | (codes.reshape(-1) - _NO_ITEM)).tobytes())

    def finish(self, tell: Callable[[], None] = QUIET) -> None:
        """Hand the transactions over to the builder."""
        numbers = self._number_runs(tell)  # run -> transaction
        n_ids = int(numbers.max(initial=-1)) + 1
        keys = np.frombuffer(self._keys, np.int64)
        parts = [keys[start : start + _STEP] for start in range(0, len(keys), _STEP)]
        for part in parts:
            part[:] = (numbers[part >> 32] << 32) | (part & _ITEM)
            _sort(part)
            tell()
        n_together = max(n_ids * _STEP // max(len(keys), 1), 1)  # that have about _STEP pairs
        for first in range(0, n_ids, n_together):
            ids = np.arange(first, min(first + n_together, n_ids) + 1, dtype=np.int64)
            some = _between(parts, ids[0] << 32, ids[-1] << 32)
            some = some[(some & _ITEM) > 0]
            offsets = np.searchsorted(some, ids << 32)
            self._builder.add_rows(offsets, (some & _ITEM) + _NO_ITEM)
            tell()
        self._keys = array("q")

    def _number_runs(self, tell: Callable[[], None]) -> NDArray[np.int64]:
        pieces, self._ids = self._ids, []
        if not all(isinstance(piece, list) for piece in pieces):
            from overcoat.data.io.numbering import number_values

            return number_values(pieces, tell)
        number = _Numbers().__getitem__
        numbers = [np.empty(0, np.int64)]
        for piece in pieces:
            for start in range(0, len(piece), _STEP):
                part = piece[start : start + _STEP]
                numbers.append(np.fromiter(map(number, part), np.int64, len(part)))
                tell()
        return np.concatenate(numbers)


def _between(parts: list[NDArray[np.int64]], start: int, stop: int) -> NDArray[np.int64]:
    """Return the keys of the transactions from `start` up to `stop`, of parts in their order.

    >>> parts = [np.array([1, 5, 9]) << 32, np.array([2, 5, 7]) << 32]
    >>> _between(parts, 2 << 32, 9 << 32) >> 32
    array([2, 5, 5, 7])
    """
    found = [part[slice(*np.searchsorted(part, [start, stop]))] for part in parts]
    keys = np.concatenate(found)
    _sort(keys)
    return keys


def _sort(keys: NDArray[np.int64]) -> None:
    """Bring keys into the order of their transactions; that of the items does not matter."""
    owners = keys >> 32
    if (owners[1:] < owners[:-1]).any():  # most tables are in order
        keys.sort()
