"""The expected error of COUNT queries: over all of them, not over a sample.

A query is an item, or a pair of items, that somebody matches. Its relative error is |a - e| / a
with a its support in the original and e the estimate from the release (docs/measures.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET, Stage
from overcoat.data.holders import Holders
from overcoat.data.transactions import Transactions
from overcoat.errors import PolicyError
from overcoat.loss.separable import touched_by
from overcoat.partition import Partition

__all__ = ["Errors", "ExpectedError", "count_pairs", "guess_factor", "n_pairs"]

Numbers = NDArray[np.int64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Errors:
    """Mean relative errors of all queries of one and of two items.

    Attributes
    ----------
    items, pairs : every query counts the same
    item_occurrences, pair_occurrences : every query counts as often as it is matched
    """

    items: float
    pairs: float
    item_occurrences: float
    pair_occurrences: float

    def __sub__(self, other: Errors) -> Errors:
        mine, others = _values(self), _values(other)
        return Errors(*(one - two for one, two in zip(mine, others, strict=True)))


def _values(errors: Errors) -> list[float]:
    return [getattr(errors, field.name) for field in fields(errors)]


def guess_factor(size: Numbers) -> NDArray[np.float64]:
    """Return the chance that a group of `size` items stands for a given one of them.

    A group stands for one of the 2^size - 1 non-empty sets of its items, all held equally likely;
    2^(size-1) of them have the item.

    >>> guess_factor(np.array([1, 2, 2000])).tolist()
    [1.0, 0.6666666666666666, 0.5]
    """
    # Halves above and below, so that no power leaves the range of a double.
    factor: NDArray[np.float64] = 0.5 / (1 - np.exp2(-size.astype(np.float64)))
    return factor


def n_pairs(data: Transactions) -> int:
    """Return how many pairs of items the distinct rows hold together: what counting them takes."""
    return int((data.lengths * (data.lengths - 1) // 2).sum())


_SOME = 1 << 18  # errors added up between two calls of the stage


class ExpectedError:
    """The expected error of partitions of the items of some data.

    >>> data = Transactions.of([{"a", "b"}, {"a"}, {"b"}, {"c"}])
    >>> error = ExpectedError(data)
    >>> error.total(Partition([0, 0, 2])).pairs  # {a, b}: 1 person, estimated 3 * 2/3 * 2/3
    0.33333333333333326
    """

    MOST = 50_000_000  # pairs in rows: beyond, counting them takes too much memory

    def __init__(self, data: Transactions, *, stage: Stage = QUIET) -> None:
        if n_pairs(data) > self.MOST:
            raise PolicyError(
                f"the rows hold {n_pairs(data):,} pairs of items, too many to count all of them"
            )
        self._data, self._stage = data, stage
        self._first, self._second, self._together = count_pairs(
            data.offsets, data.codes, data.counts, data.n_items, stage
        )

    def total(self, partition: Partition) -> Errors:
        """Return the errors under a partition."""
        return self._over(partition, np.ones(self._data.n_items, bool))

    @property
    def pairs(self) -> tuple[Numbers, Numbers, Numbers]:
        """The pairs of items that somebody has, the smaller code first, and how many have each."""
        return self._first, self._second, self._together

    def images(self, partition: Partition) -> tuple[Numbers, Numbers]:
        """Return how many have the image of each item, and of each pair; 0 where it is none."""
        data, n = self._data, self._data.n_items
        everything = np.ones(n, bool)
        offsets, groups, counts = _recoded(data, partition, everything)
        single = np.bincount(groups, np.repeat(counts, np.diff(offsets)), n).astype(np.int64)
        home = partition.group_of.astype(np.int64)
        of_items = np.where(home >= 0, single[np.maximum(home, 0)], 0)
        one, other = home[self._first], home[self._second]
        met = _Table(*count_pairs(offsets, groups, counts, n, self._stage), n)
        image = np.where(one == other, of_items[self._first], met.of(one, other))
        return of_items, np.where((one >= 0) & (other >= 0), image, 0)

    def change(self, partition: Partition, item: int, group: int) -> Errors:
        """Return how much the errors grow when an item is moved; see `Partition.moved`.

        Only queries with an item of the two groups change, and only rows with one of these count.
        """
        touched = np.zeros(self._data.n_items, bool)
        touched[touched_by(partition, item, group)] = True
        after = partition.moved(item, group)
        return self._over(after, touched) - self._over(partition, touched)

    def _over(self, partition: Partition, among: NDArray[np.bool_]) -> Errors:
        """Return the share of the errors that queries with any of these items have."""
        data, n = self._data, self._data.n_items
        offsets, groups, counts = _recoded(data, partition, among)
        size_of = partition.size_of
        factor = np.where(size_of > 0, guess_factor(np.maximum(size_of, 1)), 0.0)
        home = np.maximum(partition.group_of, 0)  # of suppressed ones the factor is 0

        single = np.bincount(groups, np.repeat(counts, np.diff(offsets)), n)
        items = np.flatnonzero(among)
        of_items = np.abs(data.supports[items] - single[home[items]] * factor[items])

        inside = among[self._first] | among[self._second]
        first, second = self._first[inside], self._second[inside]
        one, other = home[first], home[second]
        met = _Table(*count_pairs(offsets, groups, counts, n, self._stage), n)
        image = np.where(one == other, single[one], met.of(one, other))
        of_pairs = np.abs(self._together[inside] - image * factor[first] * factor[second])
        return Errors(
            self._mean(of_items / data.supports[items], n),
            self._mean(of_pairs / self._together[inside], len(self._together)),
            self._mean(of_items, int(data.supports.sum())),
            self._mean(of_pairs, int(self._together.sum())),
        )

    def _mean(self, errors: NDArray[np.float64], number: int) -> float:
        # fsum is exact, so the mean does not depend on how a machine adds up.
        return math.fsum(self._told(errors)) / number if number else 0.0

    def _told(self, errors: NDArray[np.float64]) -> Iterator[float]:
        for start in range(0, len(errors), _SOME):
            self._stage()
            yield from errors[start : start + _SOME].tolist()


def _recoded(
    data: Transactions, partition: Partition, among: NDArray[np.bool_]
) -> tuple[Numbers, Codes, Numbers]:
    """Return the rows that hold any of these items, as groups, each once; CSR arrays and counts."""
    row_of = np.repeat(np.arange(data.n_distinct), data.lengths)
    concerned = np.zeros(data.n_distinct, bool)
    concerned[row_of[among[data.codes]]] = True
    groups = partition.group_of[data.codes].astype(np.int64)
    kept = concerned[row_of] & (groups >= 0)
    # Sorted, not np.unique, which hashes and takes seconds for millions.
    keys = np.sort(row_of[kept] * data.n_items + groups[kept])
    keys = keys[np.diff(keys, prepend=-1) > 0]
    rows = keys // max(data.n_items, 1)
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    offsets = np.append(starts, len(keys))
    return offsets, (keys % max(data.n_items, 1)).astype(np.int32), data.counts[rows[starts]]


def count_pairs(
    offsets: Numbers, codes: Codes, counts: Numbers, n_items: int, stage: Stage
) -> tuple[Numbers, Numbers, Numbers]:
    """Return the pairs that rows hold, the smaller code first, and how many hold each; in order."""
    holders = Holders(offsets, codes, n_items)
    firsts, seconds, totals = [[np.empty(0, np.int64)] for _ in range(3)]
    for item in range(n_items):
        stage(item, n_items)
        ends, others = holders.beyond(item)  # in the rows with the item, what comes after it
        if not len(others):
            continue
        held = np.zeros(n_items - item, np.int64)
        np.add.at(held, others - item, np.repeat(counts[holders.rows_with(item)], np.diff(ends)))
        beside = np.flatnonzero(held)
        firsts.append(np.full(len(beside), item, np.int64))
        seconds.append(beside + item)
        totals.append(held[beside])
    return np.concatenate(firsts), np.concatenate(seconds), np.concatenate(totals)


class _Table:
    """Counts of pairs, to be looked up."""

    def __init__(self, first: Numbers, second: Numbers, counts: Numbers, n_items: int) -> None:
        self._keys, self._counts, self._n = first * n_items + second, counts, n_items

    def of(self, one: Any, other: Any) -> Numbers:
        wanted = np.minimum(one, other) * self._n + np.maximum(one, other)
        at = np.minimum(np.searchsorted(self._keys, wanted), max(len(self._keys) - 1, 0))
        if not len(self._keys):
            return np.zeros(len(wanted), np.int64)
        return np.where(self._keys[at] == wanted, self._counts[at], 0)
