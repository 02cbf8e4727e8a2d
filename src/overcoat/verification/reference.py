"""The slow, obvious twins of the compiled counts: every set written out.

All of them call a stage now and then, which may end them: see `overcoat.context`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET

__all__ = [
    "image_supports",
    "index_of",
    "rows_match",
    "shared_labels",
    "weakest_parts",
    "weakest_sets",
]

Ints = NDArray[np.integer[Any]]
Tell = Callable[[int, int], None]  # a stage: told what is done, and of how much


def _rows(offsets: Ints, codes: Ints, counts: Ints, stage: Tell) -> Iterator[tuple[list[int], int]]:
    for (start, stop), count in zip(pairwise(offsets.tolist()), counts.tolist(), strict=True):
        stage(0, 0)
        yield codes[start:stop].tolist(), count


def index_of(offsets: Ints, codes: Ints, counts: Ints, n_labels: int, stage: Tell = QUIET) -> Any:
    """Return rows by label, for `weakest_sets` that is called more than once; here nothing."""
    stage(0, 1)


def weakest_sets(
    offsets: Ints,
    codes: Ints,
    counts: Ints,
    allowed: NDArray[np.uint8],
    m: int,
    k: int,
    limit: int,
    stage: Tell = QUIET,
    *,
    index: Any = None,
    labels: tuple[int, int] | None = None,
) -> tuple[int, list[tuple[int, tuple[int, ...]]], int]:
    """Look at every set of at most m allowed labels that somebody supports.

    Parameters
    ----------
    index : what `index_of` returned for these rows, which saves time
    labels : look only at sets whose least label is one of these: the first, and the one after them

    Returns
    -------
    least : the smallest support; 0 when there is no such set
    weak : (support, set) of those supported by fewer than k, in lexicographic order, the first
        `limit` of them
    n_weak : how many there are

    >>> rows = np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([1, 2])
    >>> weakest_sets(*rows, np.ones(2, np.uint8), m=2, k=2, limit=9)
    (1, [(1, (0, 1)), (1, (1,))], 2)
    """
    supports: dict[tuple[int, ...], int] = {}
    begin = range(*(labels or (0, len(allowed))))
    for row, count in _rows(offsets, codes, counts, stage):
        for size in range(1, m + 1):
            for some in combinations([code for code in row if allowed[code]], size):
                if some[0] in begin:
                    supports[some] = supports.get(some, 0) + count
    weak = sorted((some, support) for some, support in supports.items() if support < k)
    listed = [(support, some) for some, support in weak[:limit]]
    return min(supports.values(), default=0), listed, len(weak)


def shared_labels(
    offsets: Ints,
    codes: Ints,
    counts: Ints,
    public: NDArray[np.uint8],
    private: NDArray[np.uint8],
    above: int,
    below: int,
    m: int,
    limit: int,
    stage: Tell = QUIET,
) -> tuple[list[tuple[tuple[int, ...], int, int, int]], int]:
    """Look at every set of at most m public labels, for a private label its supporters share.

    Parameters
    ----------
    above, below : of n transactions, at most n * above / below may have the same private label

    Returns
    -------
    shared : (set, support, private label, how many of them have it) where that is too many, with
        the label that most have, in lexicographic order, the first `limit` of them
    n_shared : how many sets there are

    >>> rows = np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([2, 1])
    >>> first, second = np.array([1, 0], np.uint8), np.array([0, 1], np.uint8)
    >>> shared_labels(*rows, first, second, above=1, below=2, m=2, limit=9)
    ([((0,), 3, 1, 2)], 1)
    """
    supports: dict[tuple[int, ...], int] = {}
    having: dict[tuple[int, ...], dict[int, int]] = {}
    for row, count in _rows(offsets, codes, counts, stage):
        for size in range(1, m + 1):
            for labels in combinations([code for code in row if public[code]], size):
                supports[labels] = supports.get(labels, 0) + count
                held = having.setdefault(labels, {})
                for code in row:
                    if private[code]:
                        held[code] = held.get(code, 0) + count
    shared = []
    for labels, support in sorted(supports.items()):
        number, label = max(((n, -code) for code, n in having[labels].items()), default=(0, 0))
        if number * below > above * support:
            shared.append((labels, support, -label, number))
    return shared[:limit], len(shared)


def image_supports(
    offsets: Ints,
    codes: Ints,
    counts: Ints,
    image_offsets: Ints,
    image_codes: Ints,
    k: int,
    stage: Tell = QUIET,
) -> NDArray[np.int64]:
    """Return the support of each image: exactly, unless it is neither below k nor the least.

    Then it is at least k and at least the smallest support there is. The labels of an image ascend,
    like those of a row.
    """
    rows = [(set(row), count) for row, count in _rows(offsets, codes, counts, stage)]
    supports: list[int] = []
    for start, stop in pairwise(image_offsets.tolist()):
        stage(len(supports), len(image_offsets) - 1)
        image = image_codes[start:stop].tolist()
        supports.append(sum(count for row, count in rows if row.issuperset(image)) if image else 0)
    return np.array(supports, np.int64)


def weakest_parts(
    offsets: Ints,
    codes: Ints,
    counts: Ints,
    image_offsets: Ints,
    image_codes: Ints,
    k: int,
    limit: int,
    stage: Tell = QUIET,
) -> tuple[int, list[tuple[int, tuple[int, ...]]], int]:
    """Look at what single rows hold of each image, if anything.

    Returns
    -------
    least : the smallest support of such a part; 0 when there is none
    weak : (support, part) of those supported by fewer than k, image after image, the parts of each
        in lexicographic order, the first `limit` of them
    n_weak : how many there are

    >>> rows = np.array([0, 2, 3]), np.array([0, 1, 2]), np.array([1, 2])
    >>> weakest_parts(*rows, np.array([0, 2]), np.array([1, 2]), k=2, limit=9)
    (1, [(1, (1,))], 1)
    """
    rows = [(set(row), count) for row, count in _rows(offsets, codes, counts, stage)]
    supports: list[tuple[int, tuple[int, ...]]] = []
    for number, (start, stop) in enumerate(pairwise(image_offsets.tolist())):
        image = set(image_codes[start:stop].tolist())
        for part in sorted({tuple(sorted(image & row)) for row, _ in rows} - {()}):
            stage(number, len(image_offsets) - 1)
            support = sum(count for row, count in rows if row.issuperset(part))
            supports.append((support, part))
    weak = [(support, part) for support, part in supports if support < k]
    return min((support for support, _ in supports), default=0), weak[:limit], len(weak)


def rows_match(
    offsets: Ints,
    codes: Ints,
    counts: Ints,
    label_of: Ints,
    released_offsets: Ints,
    released_codes: Ints,
    released_counts: Ints,
    stage: Tell = QUIET,
) -> bool:
    """Say whether the released rows are the original ones, each code replaced by its label.

    Parameters
    ----------
    label_of : IN, the released code of each original one; -1 where it is suppressed, -2 where it
        has a label that was not released
    """
    left: dict[tuple[int, ...], int] = {}
    for codes_of, count in _rows(offsets, codes, counts, stage):
        row = tuple(sorted({int(label_of[code]) for code in codes_of} - {-1}))
        left[row] = left.get(row, 0) + count
    for labels, count in _rows(released_offsets, released_codes, released_counts, stage):
        left[tuple(labels)] = left.get(tuple(labels), 0) - count
    return not any(left.values())
