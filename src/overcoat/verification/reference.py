"""The slow, obvious twins of the compiled counts: every set written out."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["image_supports", "rows_match", "shared_labels", "weakest_sets"]

Ints = NDArray[np.integer[Any]]


def weakest_sets(
    offsets: Ints, codes: Ints, counts: Ints, allowed: NDArray[np.uint8], m: int, k: int, limit: int
) -> tuple[int, list[tuple[int, tuple[int, ...]]], int]:
    """Look at every set of at most m allowed labels that somebody supports.

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
    for (start, stop), count in zip(pairwise(offsets.tolist()), counts.tolist(), strict=True):
        row = [code for code in codes[start:stop].tolist() if allowed[code]]
        for size in range(1, m + 1):
            for labels in combinations(row, size):
                supports[labels] = supports.get(labels, 0) + count
    weak = sorted((labels, support) for labels, support in supports.items() if support < k)
    listed = [(support, labels) for labels, support in weak[:limit]]
    return min(supports.values(), default=0), listed, len(weak)


def shared_labels(
    offsets: Ints,
    codes: Ints,
    counts: Ints,
    public: NDArray[np.uint8],
    private: NDArray[np.uint8],
    shares: Ints,
    m: int,
    limit: int,
) -> tuple[list[tuple[tuple[int, ...], int, int, int]], int]:
    """Look at every set of at most m public labels, for a private label its supporters share.

    Parameters
    ----------
    shares : IN, (N + 1,); of so many transactions, how many may have the same private label

    Returns
    -------
    shared : (set, support, private label, how many of them have it) where that is too many, with
        the label that most have, in lexicographic order, the first `limit` of them
    n_shared : how many sets there are

    >>> rows = np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([2, 1])
    >>> first, second = np.array([1, 0], np.uint8), np.array([0, 1], np.uint8)
    >>> shared_labels(*rows, first, second, shares=np.array([0, 0, 1, 1]), m=2, limit=9)
    ([((0,), 3, 1, 2)], 1)
    """
    supports: dict[tuple[int, ...], int] = {}
    having: dict[tuple[int, ...], dict[int, int]] = {}
    for (start, stop), count in zip(pairwise(offsets.tolist()), counts.tolist(), strict=True):
        row = codes[start:stop].tolist()
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
        if number > shares[support]:
            shared.append((labels, support, -label, number))
    return shared[:limit], len(shared)


def image_supports(
    offsets: Ints, codes: Ints, counts: Ints, image_offsets: Ints, image_codes: Ints, k: int
) -> NDArray[np.int64]:
    """Return the support of each image: exactly, unless it is neither below k nor the least.

    Then it is at least k and at least the smallest support there is.
    """
    rows = [set(codes[start:stop].tolist()) for start, stop in pairwise(offsets.tolist())]
    return np.array(
        [
            sum(
                count
                for row, count in zip(rows, counts.tolist(), strict=True)
                if row.issuperset(image_codes[start:stop].tolist())
            )
            for start, stop in pairwise(image_offsets.tolist())
        ],
        np.int64,
    )


def rows_match(
    offsets: Ints,
    codes: Ints,
    counts: Ints,
    label_of: Ints,
    released_offsets: Ints,
    released_codes: Ints,
    released_counts: Ints,
) -> bool:
    """Say whether the released rows are the original ones, each code replaced by its label.

    Parameters
    ----------
    label_of : IN, the released code of each original one; -1 where it is suppressed, -2 where it
        has a label that was not released
    """
    left: dict[tuple[int, ...], int] = {}
    for (start, stop), count in zip(pairwise(offsets.tolist()), counts.tolist(), strict=True):
        row = tuple(sorted({int(label_of[code]) for code in codes[start:stop]} - {-1}))
        left[row] = left.get(row, 0) + count
    for (start, stop), count in zip(
        pairwise(released_offsets.tolist()), released_counts.tolist(), strict=True
    ):
        row = tuple(released_codes[start:stop].tolist())
        left[row] = left.get(row, 0) - count
    return not any(left.values())
