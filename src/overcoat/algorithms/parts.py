"""Which part of an unsupported itemset is violated (clause 2 of the privacy definition).

When nobody matches the whole image J, every part of J must match nobody or at least k people.
The parts that somebody matches are the subsets of what single rows share with J, so everything can
be read off the rows projected on J.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["worst_part"]

Rows = NDArray[np.int64]


def worst_part(
    patterns: NDArray[np.uint8], counts: NDArray[np.int64], k: int
) -> tuple[int, ...] | None:
    """Return the violated part of largest support, as column numbers; None if no part is violated.

    First in lexicographic order among equals (a prefix first).

    Parameters
    ----------
    patterns : (n, |J|), the different shares that rows have of J, as 0/1 over its groups
    counts : (n,), how many transactions have each

    >>> patterns = np.array([[1, 0, 1], [1, 1, 0]], np.uint8)
    >>> worst_part(patterns, np.array([5, 1]), k=3)
    (0, 1)
    """
    weak = np.flatnonzero(_supports(patterns, counts) < k)
    weak = weak[patterns[weak].any(axis=1)]
    if not len(weak):
        return None
    best: tuple[int, tuple[int, ...]] = (0, ())

    def extend(prefix: tuple[int, ...], rows: Rows, weak: Rows) -> None:
        # Parts are met in lexicographic order. A part below k needs no extension: a larger part
        # has no more support and comes later. Nothing beats the first of support k - 1. Whoever
        # supports a violated part has a weak pattern, so a part of no weak pattern leads nowhere.
        nonlocal best
        for column in range(prefix[-1] + 1 if prefix else 0, patterns.shape[1]):
            inside = weak[patterns[weak, column] > 0]
            if not len(inside):
                continue
            holding = rows[patterns[rows, column] > 0]
            support = int(counts[holding].sum())
            if support >= k:
                extend((*prefix, column), holding, inside)
            elif support > best[0]:
                best = (support, (*prefix, column))
            if best[0] == k - 1:
                return

    extend((), np.arange(len(patterns)), weak)
    return best[1]


def _supports(patterns: NDArray[np.uint8], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many transactions hold each pattern, and perhaps more of J."""
    bits = patterns.astype(np.float32)
    sizes = bits.sum(axis=1)
    supports = [
        (bits[start : start + 256] @ bits.T == sizes[start : start + 256, None]) @ counts
        for start in range(0, len(bits), 256)
    ]
    return np.concatenate([np.empty(0, np.int64), *supports])
