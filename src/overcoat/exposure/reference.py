"""The slow twin of `counting`: the same by going through all sets of all rows."""

from __future__ import annotations

from copy import copy
from itertools import combinations, pairwise
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET, Stage

__all__ = ["Persons", "least_holders", "weigh_sets"]


def weigh_sets(
    offsets: Any,
    labels: Any,
    taken: Any,
    spare: Any,
    counts: Any,
    need: Any,
    n_labels: int,
    m: int,
    *,
    stage: Stage = QUIET,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Count, for all sets of labels that rows hold, how many people hold them.

    Parameters
    ----------
    offsets, labels : published rows as CSR arrays, ascending
    taken : for each entry, how many items with this label the attacker may know of such a person
    spare : for each row, how many suppressed items he may know
    counts : how many people each row stands for
    need : for each row, of how many items a set consists, at most m
    n_labels, m : how many labels there are; how many the largest sets have

    Returns
    -------
    worst : (rows,); the least number of people who hold the labels of one of its sets
    worst_with : (entries,); the same over the sets with an item of that label
    total : (rows,); the sum over its sets of 1 / how many people hold their labels

    Sets without any label, of suppressed items alone, are left out. Where there are no sets, the
    worst case is the largest number there is.
    """
    rows = [list(range(a, b)) for a, b in pairwise(offsets)]
    people: dict[tuple[int, ...], int] = {}
    for places, count in zip(rows, counts, strict=True):
        for size in range(1, m + 1):
            stage()
            for some in combinations(places, size):
                key = tuple(int(labels[place]) for place in some)
                people[key] = people.get(key, 0) + int(count)
    largest = np.iinfo(np.int64).max
    worst = np.full(len(rows), largest, np.int64)
    worst_with = np.full(len(labels), largest, np.int64)
    total = np.zeros(len(rows))
    for row, places in enumerate(rows):
        for size in range(1, int(need[row]) + 1):
            stage()
            for some in combinations(places, size):
                ways = _ways([int(taken[place]) for place in some], int(spare[row]), int(need[row]))
                if not ways:
                    continue
                support = people[tuple(int(labels[place]) for place in some)]
                total[row] += ways / support
                worst[row] = min(worst[row], support)
                for place in some:
                    worst_with[place] = min(worst_with[place], support)
    return worst, worst_with, total


def least_holders(
    offsets: Any, labels: Any, counts: Any, n_labels: int, m: int, *, stage: Stage = QUIET
) -> NDArray[np.int64]:
    """Return the least number of people who hold a set of up to 1, 2, … m labels of each row.

    The parameters are those of `weigh_sets`; the result is (rows, m). Where a row has no label it
    is the largest number there is.
    """
    ones, none = np.ones(len(labels), np.int32), np.zeros(len(counts), np.int64)
    lengths = np.diff(offsets)
    columns = [
        weigh_sets(
            *(offsets, labels, ones, none, counts, np.minimum(lengths, size), n_labels, size),
            stage=stage,
        )[0]
        for size in range(1, m + 1)
    ]
    return np.stack(columns, axis=1)


def _ways(taken: list[int], spare: int, need: int) -> int:
    """Return in how many ways `need` items can be chosen, at least one of each label.

    >>> _ways([2, 1], 1, 2), _ways([2], 1, 2)
    (2, 3)
    """
    if not taken:
        return comb(spare, need)
    first, *rest = taken
    return sum(
        comb(first, n) * _ways(rest, spare, need - n) for n in range(1, min(first, need) + 1)
    )


class Persons:
    """The slow twin of `persons.Persons`: the same by looking at every row."""

    def __init__(
        self, offsets: Any, labels: Any, counts: Any, n_labels: int, *, stage: Stage = QUIET
    ) -> None:
        self._rows = [frozenset(int(one) for one in labels[a:b]) for a, b in pairwise(offsets)]
        self._counts = [int(count) for count in counts]
        self._stage = stage

    def beside(self, stage: Stage) -> Persons:
        """Return the same rows for another thread, which tells a stage of its own."""
        other = copy(self)
        other._stage = stage
        return other

    def holding(self, wanted: Any) -> int:
        """Return how many people hold all of some labels."""
        self._stage()
        known = frozenset(int(one) for one in wanted)
        return sum(n for row, n in zip(self._rows, self._counts, strict=True) if known <= row)

    def holding_rows(self) -> NDArray[np.int64]:
        """Return, for each row, how many people hold all its labels; (rows,).

        Of a row without labels it is the largest number there is.
        """
        largest = int(np.iinfo(np.int64).max)
        found = [self.holding(row) if row else largest for row in self._rows]
        return np.array(found, np.int64)

    def weigh(
        self, labels: Any, taken: Any, spare: int, need: int, budget: int
    ) -> tuple[int, float, bool]:
        """Return the worst case over the sets of a person, their sum, and whether all were seen."""
        worst, total = int(np.iinfo(np.int64).max), 0.0
        for size in range(1, need + 1):
            for some in combinations(range(len(labels)), size):
                ways = _ways([int(taken[place]) for place in some], spare, need)
                if ways:
                    support = self.holding(labels[list(some)])
                    worst, total = min(worst, support), total + ways / support
        return worst, total, True

    def is_unique(self, labels: Any, m: int) -> bool:
        """Say whether some set of at most m labels of a row is held by one person only."""
        sizes = range(1, min(m, len(labels)) + 1)
        sets = (some for size in sizes for some in combinations(labels, size))
        return any(self.holding(some) == 1 for some in sets)
