"""Pairs of (transaction id, item) in any order, gathered into transactions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from itertools import compress, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET
from overcoat.data.memory import polars_fits
from overcoat.data.spill import Spill, SpilledPairs
from overcoat.data.transactions import TransactionsBuilder

if TYPE_CHECKING:
    import polars as pl

    from overcoat.data.io.tables import Labels

__all__ = ["Pairs"]

_STEP = 1 << 18  # pairs handled at once
_ID = 65  # bytes of an id that is a string of Python
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

    Most tables keep the pairs of a transaction together, so an id is kept once a run. Where ids
    ascend, transactions are handed over on the way. Else, in the end, runs are renumbered to
    transactions, in the order of their first pair, and the pairs of some transactions at a time are
    collected from parts that have been sorted in place. A pair then takes eight bytes: the number
    of its transaction above, the code of its item plus one below.

    >>> builder = TransactionsBuilder()
    >>> pairs = Pairs(builder)
    >>> pairs.add(["p1", "p2", "p1", "p3"], ["a", "b", "c", None])
    >>> pairs.finish()
    >>> list(builder.build())
    [((), 1), (('a', 'c'), 1), (('b',), 1)]
    """

    def __init__(self, builder: TransactionsBuilder, *, by_row: bool = False) -> None:
        self.builder, self.by_row = builder, by_row
        self._ids: list[list[Hashable] | pl.Series] = []  # the id of each run, in pieces
        self._pieces: list[tuple[NDArray[np.bool_], NDArray[np.int32]]] = []  # run starts, codes
        self._sorted: _Sorted | None = None if by_row else _Sorted(builder)
        self._held = 0  # bytes of the ids and pieces
        self._spilled: SpilledPairs | None = None

    def add(self, ids: Sequence[Hashable], *items: Sequence[str | None]) -> None:
        """Add pairs given as labels; `items` are one column or several."""
        codes = np.column_stack([self.encode_items(column) for column in items])
        if self.by_row:
            self._add_rows(codes)
        elif ids:
            self._give_up_order()
            starts = np.array([True, *(one != other for one, other in pairwise(ids))])
            self._ids.append(list(compress(ids, starts)))
            self._add(starts, codes)

    def add_columns(self, ids: pl.Series | None, *items: NDArray[np.int32]) -> None:
        """Add pairs given as a column of ids and one or several of codes."""
        codes = np.column_stack(items) if len(items) > 1 else items[0][:, None]
        if ids is None:
            self._add_rows(codes)
        elif len(ids):
            starts = (ids != ids.shift(1)).fill_null(True)
            # Shrunk, because a part of a column keeps the whole block in memory.
            first = ids.filter(starts).shrink_to_fit()
            self._ids.append(first)
            self._add(starts.to_numpy(), codes, first)

    def _add_rows(self, codes: NDArray[np.int32]) -> None:
        held = codes != _NO_ITEM
        offsets = np.concatenate([[0], np.cumsum(held.sum(axis=1))])
        self.builder.add_rows(offsets, codes[held])

    def encode_items(self, items: Sequence[str | None]) -> NDArray[np.int32]:
        """Return the provisional code of each item, -1 where there is none."""
        code = self.builder.code
        codes = (code(label) if label else _NO_ITEM for label in items)
        return np.fromiter(codes, np.int32, len(items))

    @cached_property
    def labels(self) -> Labels:
        """What returns the codes of items in columns, for `add_columns`."""
        from overcoat.data.io.tables import Labels

        return Labels(self.encode_items)

    def _add_whole(self, ids: pl.Series, codes: NDArray[np.int32]) -> None:
        """Add all pairs of some ids, which memory holds."""
        starts = (ids != ids.shift(1)).fill_null(True)
        self._ids.append(ids.filter(starts))
        self._pieces.append((starts.to_numpy(), codes))

    def _give_up_order(self) -> None:
        if self._sorted is not None:
            self._sorted.go_back()
            self._sorted = None

    def _add(
        self,
        starts: NDArray[np.bool_],
        codes: NDArray[np.int32],
        ids: pl.Series | None = None,
    ) -> None:
        """Add pairs; `ids` are those of the runs, if they are a column."""
        if codes.shape[1] > 1:  # one column without an item says that the transaction exists
            held = codes != _NO_ITEM
            held[:, 0] |= ~held.any(axis=1)
            ends = np.cumsum(held.sum(axis=1))
            begins = np.zeros(ends[-1], bool)
            begins[np.concatenate([[0], ends[:-1]])] = starts
            starts, codes = begins, codes[held]
        piece = starts, codes.reshape(-1)
        self._pieces.append(piece)
        self._held += 5 * len(starts)
        self._held += _ID * int(starts.sum()) if ids is None else int(ids.estimated_size())
        spill = self.builder.spill
        if spill is not None and self._held > spill.budget and polars_fits():
            self._spill(spill)
        if self._sorted is not None and ids is not None and not self._sorted.add(ids, *piece):
            self._give_up_order()

    def _spill(self, spill: Spill, tell: Callable[[], None] = QUIET) -> None:
        """Put the pairs on disk. While ids ascend they are of use only if one should not."""
        import polars as pl

        if self._spilled is None:
            self._spilled = SpilledPairs(spill)
        for ids, (starts, codes) in zip(self._ids, self._pieces, strict=True):
            runs = np.cumsum(starts) - 1
            self._spilled.add(pl.Series("id", ids).gather(runs), codes, tell)
        self._ids, self._pieces, self._held = [], [], 0

    def finish(self, tell: Callable[[], None] = QUIET) -> None:
        """Hand the transactions over to the builder."""
        if self._sorted is not None:
            self._sorted.finish()
            self._pieces, self._ids, self._spilled = [], [], None
            return
        if self._spilled is not None:
            spill, spilled = self.builder.spill, self._spilled
            assert spill is not None
            self._spill(spill, tell)
            for one, codes in spilled.parts():
                pairs = Pairs(self.builder)
                pairs._sorted = None
                pairs._add_whole(one, codes)
                pairs.finish(tell)
            return
        numbers = self._number_runs(tell)  # run -> transaction
        n_ids = int(numbers.max(initial=-1)) + 1
        keys = self._take_keys(numbers, tell)
        parts = [keys[start : start + _STEP] for start in range(0, len(keys), _STEP)]
        for part in parts:
            _sort(part)
            tell()
        n_together = max(n_ids * _STEP // max(len(keys), 1), 1)  # that have about _STEP pairs
        for first in range(0, n_ids, n_together):
            ids = np.arange(first, min(first + n_together, n_ids) + 1, dtype=np.int64)
            some = _between(parts, ids[0] << 32, ids[-1] << 32)
            some = some[(some & _ITEM) > 0]
            offsets = np.searchsorted(some, ids << 32)
            self.builder.add_rows(offsets, (some & _ITEM) + _NO_ITEM)
            tell()

    def _take_keys(self, numbers: NDArray[np.int64], tell: Callable[[], None]) -> NDArray[np.int64]:
        """Return the keys of all pairs, in their order; what they are made of is let go."""
        keys = np.empty(sum(len(codes) for _, codes in self._pieces), np.int64)
        at = run = 0
        self._pieces.reverse()
        while self._pieces:
            starts, codes = self._pieces.pop()
            runs = np.cumsum(starts, dtype=np.int64) + (run - 1)
            keys[at : at + len(codes)] = (numbers[runs] << 32) | (codes - _NO_ITEM)
            at, run = at + len(codes), int(runs[-1]) + 1
            tell()
        return keys

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


class _Sorted:
    """Hands transactions over as they come, as long as ids ascend: each is then whole at once.

    Most tables are in that order. So the work is done while the next rows are on their way, instead
    of all in the end. If an id comes that is less than the last one, all of it is taken back.
    """

    def __init__(self, builder: TransactionsBuilder) -> None:
        self._builder = builder
        self.go_back = builder.mark()
        self._last: Any = None  # the id of the last run
        self._orders = [_ascend, _ascend_by_length]  # those in which all ids ascend so far
        self._open = np.empty(0, np.int32)  # its codes, to which more may come

    def add(self, ids: pl.Series, starts: NDArray[np.bool_], codes: NDArray[np.int32]) -> bool:
        """Add pairs, which start runs where it is said; say whether the ids of these ascend."""
        first, last = ids[0], self._last
        if ids.null_count() or (last is not None and type(first) is not type(last)):
            return False
        self._orders = [order for order in self._orders if order(last, ids)]
        if not self._orders:
            return False
        # Where runs begin, the one left open among them; the new one that is open does not count.
        bounds = np.flatnonzero(starts) + len(self._open)
        if last is not None:
            bounds[0] = 0
            if first != last:
                bounds = np.insert(bounds, 1, len(self._open))
        every = np.concatenate([self._open, codes])
        self._last, self._open = ids[-1], every[bounds[-1] :].copy()
        self._hand_over(bounds, every[: bounds[-1]])
        return True

    def _hand_over(self, bounds: NDArray[np.int64], codes: NDArray[np.int32]) -> None:
        held = codes != _NO_ITEM
        if not held.all():
            bounds = np.concatenate([[0], np.cumsum(held)])[bounds]
            codes = codes[held]
        # Some at a time: a frame comes as a whole.
        for row in range(0, len(bounds) - 1, _STEP):
            some = bounds[row : row + _STEP + 1]
            self._builder.add_rows(some - some[0], codes[some[0] : some[-1]])

    def finish(self) -> None:
        """Hand over the last transaction."""
        if self._last is not None:
            self._hand_over(np.array([0, len(self._open)]), self._open)


def _ascend(last: Any, ids: pl.Series) -> bool:
    """Say whether ids ascend, after the last one."""
    return bool((ids[1:] > ids[:-1]).all() and (last is None or ids[0] >= last))


def _ascend_by_length(last: Any, ids: pl.Series) -> bool:
    """Say whether texts ascend, shorter ones first: as whole numbers do that are written plainly.

    >>> import polars as pl
    >>> _ascend_by_length("8", pl.Series(["8", "9", "10"])), _ascend(None, pl.Series(["9", "10"]))
    (True, False)
    """
    if not isinstance(ids[0], str):
        return False
    sizes = ids.str.len_bytes()
    after = (sizes[1:] > sizes[:-1]) | ((sizes[1:] == sizes[:-1]) & (ids[1:] > ids[:-1]))
    if last is None or ids[0] == last:
        return bool(after.all())
    size = len(last.encode())
    return bool(after.all() and (sizes[0] > size or (sizes[0] == size and ids[0] > last)))


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
