"""Numbering the values of a column in order of first sight.

Whole numbers that lie close together are numbered by a table. Others by their hashes, which are
sorted a part at a time: so that work on millions of values can be ended on the way, and takes
little memory. That equal hashes come from equal values is checked.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET

if TYPE_CHECKING:
    import polars as pl

__all__ = ["number_values"]

_STEP = 1 << 18  # values handled at once
_MOST = 1 << 30  # values that are numbered by a table: twice as many places have 32 bits


def number_values(
    pieces: list[list[Any] | pl.Series], tell: Callable[[], None] = QUIET
) -> NDArray[np.int64]:
    """Return a number for each value of a column in pieces, none of them null.

    >>> import polars as pl
    >>> number_values([pl.Series(["b", "a"]), ["b", "c"]])
    array([0, 1, 0, 2])
    """
    import polars as pl

    column = pl.concat(_alike([pl.Series("id", piece).rename("id") for piece in pieces])).rechunk()
    tell()
    for way in (_number_sorted, _number_dense):
        numbers = way(column, tell)
        if numbers is not None:
            return numbers
    for seed in count():
        first = _first_places(_hashes(column, seed, tell), tell)
        if _are_equal(column, first, tell):
            break
    return _ranked(first, tell)


def _ranked(first: NDArray[Any], tell: Callable[[], None]) -> NDArray[np.int64]:
    """Return the numbers of values, given for each place the first one with the same value."""
    is_first = first == np.arange(len(first))
    tell()
    ranks = np.cumsum(is_first) - 1
    tell()
    return ranks[first]  # type: ignore[no-any-return]


def _alike(pieces: list[pl.Series]) -> list[pl.Series]:
    """Return whole numbers as one type of them: files of one table may have several."""
    import polars as pl

    types = {piece.dtype for piece in pieces}
    if len(types) < 2 or not all(dtype.is_integer() for dtype in types):
        return pieces
    return [piece.cast(pl.Int128 if pl.UInt64 in types else pl.Int64) for piece in pieces]


def _number_sorted(column: pl.Series, tell: Callable[[], None]) -> NDArray[np.int64] | None:
    """Return the numbers of values that ascend, as in a table sorted by its ids; else None."""
    is_new = np.zeros(len(column), np.int64)
    for start in range(0, len(column) - 1, _STEP):
        part = column[start : start + _STEP + 1]
        if not (part[1:] >= part[:-1]).all():
            return None
        is_new[start + 1 : start + len(part)] = (part[1:] != part[:-1]).to_numpy()
        tell()
    return np.cumsum(is_new)


def _number_dense(column: pl.Series, tell: Callable[[], None]) -> NDArray[np.int64] | None:
    """Return the numbers of whole numbers that lie close together, by a table; else None.

    >>> import polars as pl
    >>> _number_dense(pl.Series([7, 5, 7, 8]), lambda: None)
    array([0, 1, 0, 2])
    >>> _number_dense(pl.Series([7, 5000]), lambda: None)
    """
    import polars as pl

    if not column.dtype.is_integer() or column.null_count() or not len(column):
        return None
    least: Any = column.min()
    most: Any = column.max()
    if most - least >= 2 * len(column) or len(column) > _MOST:
        return None
    if least < -(1 << 63) or most >= 1 << 63:
        return None
    places = np.empty(len(column), np.int32)  # the value of each, from 0
    for start in range(0, len(column), _STEP):
        part = column[start : start + _STEP].cast(pl.Int64).to_numpy()
        places[start : start + _STEP] = part - least
        tell()
    table = np.empty(most - least + 1, np.int32)  # where a value was first seen
    for start in reversed(range(0, len(column), _STEP)):
        some = places[start : start + _STEP]
        # From the last to the first: of several, the one that is written last stays.
        table[some[::-1]] = np.arange(start + len(some) - 1, start - 1, -1, dtype=np.int32)
        tell()
    for start in range(0, len(column), _STEP):
        places[start : start + _STEP] = table[places[start : start + _STEP]]
        tell()
    return _ranked(places, tell)


def _hashes(column: pl.Series, seed: int, tell: Callable[[], None]) -> NDArray[np.uint64]:
    hashes = np.empty(len(column), np.uint64)
    for start in range(0, len(column), _STEP):
        hashes[start : start + _STEP] = column[start : start + _STEP].hash(seed).to_numpy()
        tell()
    return hashes


def _first_places(hashes: NDArray[np.uint64], tell: Callable[[], None]) -> NDArray[np.int64]:
    """Return for each place the first one with the same hash.

    >>> _first_places(np.array([7, 5, 7, 5], np.uint64), lambda: None)
    array([0, 1, 0, 1])
    """
    # Equal hashes have equal first bits, so the places can be split by these.
    bits = min((len(hashes) // _STEP).bit_length(), 16)
    orders, bounds = [], []
    for start in range(0, len(hashes), _STEP):
        heads = (hashes[start : start + _STEP] >> np.uint64(48)).astype(np.uint16) >> (16 - bits)
        order = np.argsort(heads, kind="stable")
        orders.append(order + start)
        bounds.append(np.searchsorted(heads[order], np.arange((1 << bits) + 1)))
        tell()
    first = np.empty(len(hashes), np.int64)
    for head in range(1 << bits):
        places = np.concatenate(
            [order[ends[head] : ends[head + 1]] for order, ends in zip(orders, bounds, strict=True)]
        )  # ascending
        some = hashes[places]
        ordered = np.sort(some)
        first[places] = places
        if (ordered[1:] == ordered[:-1]).any():
            _, starts, inverse = np.unique(some, return_index=True, return_inverse=True)
            first[places] = places[starts][inverse]
        tell()
    return first


def _are_equal(column: pl.Series, first: NDArray[np.int64], tell: Callable[[], None]) -> bool:
    for start in range(0, len(column), _STEP):
        places = first[start : start + _STEP]
        again = np.flatnonzero(places < np.arange(start, start + len(places)))
        if not (column.gather(again + start) == column.gather(places[again])).all():
            return False
        tell()
    return True
