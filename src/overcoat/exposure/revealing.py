"""Which items, and which pairs of items, make most people unique."""

from __future__ import annotations

import numpy as np

from overcoat.context import QUIET, Stage
from overcoat.data.holders import Holders
from overcoat.data.vocabulary import Vocabulary
from overcoat.exposure.crowds import weigh
from overcoat.exposure.rows import KnownRows
from overcoat.loss.error import count_pairs

__all__ = ["revealing_items", "revealing_pairs"]

_MOST = 10  # that are told


def revealing_items(
    vocabulary: Vocabulary, rows: KnownRows, known: int, *, stage: Stage = QUIET
) -> tuple[tuple[str, int], ...]:
    """Return the items that make most people unique, together with at most known - 1 others.

    A person counts for each item that is part of a set that nobody else has.
    """
    _, worst_with, _ = weigh(rows, known, stage=stage)
    row_of = np.repeat(np.arange(len(rows.counts)), np.diff(rows.offsets))
    alone = worst_with == 1
    numbers = np.bincount(rows.labels[alone], rows.counts[row_of[alone]], len(vocabulary))
    order = np.argsort(-numbers, kind="stable")[:_MOST].tolist()
    return tuple((vocabulary[item], int(numbers[item])) for item in order if numbers[item])


def revealing_pairs(
    vocabulary: Vocabulary, rows: KnownRows, *, stage: Stage = QUIET
) -> tuple[tuple[tuple[str, str], int], ...]:
    """Return the pairs of items that make most people unique, together with at most one other.

    A pair by itself makes one person unique at most. With one more item it can be many: of those
    who have the pair, whoever has something that none of the others has.

    >>> from overcoat.data.transactions import Transactions
    >>> data = Transactions.of([{"a", "b", "c"}, {"a", "b", "d"}, {"a", "b"}, {"c", "d"}])
    >>> revealing_pairs(data.vocabulary, KnownRows.of(data))[:2]
    ((('a', 'b'), 2), (('a', 'c'), 1))
    """
    known = rows.taken > 0
    ends = np.concatenate([[0], np.cumsum(known)])[rows.offsets]
    labels, counts, n = rows.labels[known], rows.counts, rows.n_labels
    # Whoever has an equal is not unique, so no pair makes more people unique than it has others.
    few = (counts == 1).astype(np.int64)
    first, second, most = count_pairs(ends, labels, few, n, stage)
    holders = Holders(ends, labels, n)
    found: list[tuple[int, int, int]] = []  # minus how many people, and the pair; the best first
    for place in np.argsort(-most, kind="stable").tolist():
        if not most[place] or (len(found) == _MOST and most[place] < -found[-1][0]):
            break
        stage()
        one, other = int(first[place]), int(second[place])
        both = np.intersect1d(holders.rows_with(one), holders.rows_with(other), assume_unique=True)
        row_of, held = holders.entries(both)
        alone = np.bincount(held, counts[row_of])[held] == 1
        number = len(np.unique(row_of[alone]))
        if number:
            found = sorted([*found, (-number, one, other)])[:_MOST]
    return tuple(((vocabulary[one], vocabulary[other]), -number) for number, one, other in found)
