"""The slow, obvious twin of the compiled counting: every set held against every row."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["set_supports"]

Ints = NDArray[np.integer[Any]]


def set_supports(
    offsets: Ints, codes: Ints, counts: Ints, set_offsets: Ints, set_codes: Ints, n_items: int
) -> NDArray[np.int64]:
    """Return the support of each set.

    Parameters
    ----------
    offsets, codes, counts : IN, distinct rows and how often each occurs
    set_offsets, set_codes : IN, the sets; each has an item, and is counted fastest when its rarest
        item stands first
    n_items : how many codes there are

    >>> rows = np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([1, 2])
    >>> set_supports(*rows, np.array([0, 1, 3]), np.array([0, 1, 0]), 2)
    array([3, 1])
    """
    rows = [set(codes[start:stop].tolist()) for start, stop in pairwise(offsets.tolist())]
    return np.array(
        [
            sum(
                count
                for row, count in zip(rows, counts.tolist(), strict=True)
                if row.issuperset(set_codes[start:stop].tolist())
            )
            for start, stop in pairwise(set_offsets.tolist())
        ],
        np.int64,
    )
