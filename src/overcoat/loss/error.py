"""The expected error of COUNT queries: over all of them, not over a sample.

A query is an item, or a pair of items, that somebody matches. Its relative error is |a - e| / a
with a its support in the original and e the estimate from the release (docs/measures.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overcoat.data.transactions import Transactions
from overcoat.errors import PolicyError
from overcoat.loss.separable import touched_by
from overcoat.partition import Partition

__all__ = ["Errors", "ExpectedError", "guess_factor", "n_pairs"]

Numbers = NDArray[np.int64]


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


class ExpectedError:
    """The expected error of partitions of the items of some data.

    >>> data = Transactions.of([{"a", "b"}, {"a"}, {"b"}, {"c"}])
    >>> error = ExpectedError(data)
    >>> error.total(Partition([0, 0, 2])).pairs  # {a, b}: 1 person, estimated 3 * 2/3 * 2/3
    0.33333333333333326
    """

    MOST = 50_000_000  # pairs in rows: beyond, counting them takes too much memory

    def __init__(self, data: Transactions) -> None:
        if n_pairs(data) > self.MOST:
            raise PolicyError(
                f"the rows hold {n_pairs(data):,} pairs of items, too many to count all of them"
            )
        self._data = data
        self._first, self._second, self._together = _count_pairs(
            data.offsets, data.codes.astype(np.int64), data.counts, data.n_items
        )

    def total(self, partition: Partition) -> Errors:
        """Return the errors under a partition."""
        return self._over(partition, np.ones(self._data.n_items, bool))

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
        met = _Table(*_count_pairs(offsets, groups, counts, n), n)
        image = np.where(one == other, single[one], met.of(one, other))
        of_pairs = np.abs(self._together[inside] - image * factor[first] * factor[second])
        return Errors(
            _mean(of_items / data.supports[items], n),
            _mean(of_pairs / self._together[inside], len(self._together)),
            _mean(of_items, int(data.supports.sum())),
            _mean(of_pairs, int(self._together.sum())),
        )


def _mean(errors: NDArray[np.float64], number: int) -> float:
    # fsum is exact, so the mean does not depend on how a machine adds up.
    return math.fsum(errors.tolist()) / number if number else 0.0


def _recoded(
    data: Transactions, partition: Partition, among: NDArray[np.bool_]
) -> tuple[Numbers, Numbers, Numbers]:
    """Return the rows that hold any of these items, as groups, each once; CSR arrays and counts."""
    row_of = np.repeat(np.arange(data.n_distinct), data.lengths)
    concerned = np.zeros(data.n_distinct, bool)
    concerned[row_of[among[data.codes]]] = True
    groups = partition.group_of[data.codes].astype(np.int64)
    kept = concerned[row_of] & (groups >= 0)
    keys = np.unique(row_of[kept] * data.n_items + groups[kept])
    rows, number = np.unique(keys // max(data.n_items, 1), return_inverse=True)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(number, minlength=len(rows)))])
    return offsets, keys % max(data.n_items, 1), data.counts[rows]


def _count_pairs(
    offsets: Numbers, codes: Numbers, counts: Numbers, n_items: int
) -> tuple[Numbers, Numbers, Numbers]:
    """Return the pairs that rows hold, the smaller code first, and how many hold each."""
    lengths = np.diff(offsets)
    keys: list[Numbers] = [np.empty(0, np.int64)]
    weights: list[Numbers] = [np.empty(0, np.int64)]
    for length in np.unique(lengths[lengths > 1]).tolist():
        rows = np.flatnonzero(lengths == length)
        inside = codes[offsets[rows][:, None] + np.arange(length)]  # (rows, length)
        one, other = np.triu_indices(length, 1)
        keys.append((inside[:, one] * n_items + inside[:, other]).ravel())
        weights.append(np.repeat(counts[rows], len(one)))
    pairs, number = np.unique(np.concatenate(keys), return_inverse=True)
    totals = np.zeros(len(pairs), np.int64)
    np.add.at(totals, number, np.concatenate(weights))
    return pairs // max(n_items, 1), pairs % max(n_items, 1), totals


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
