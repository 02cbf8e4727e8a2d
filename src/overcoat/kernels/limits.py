"""What the compiled kernels can hold, and a refusal in words, before the work, of what they cannot.

Places in arrays of rows have 32 bits, because rows are visited in no order and smaller arrays are
faster. Counts and supports have 64 bits, and so have losses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from overcoat.errors import DataError

__all__ = ["check_losses", "check_places"]

_PLACES = 1 << 31
_LOSSES = 1 << 62


def check_places(needed: int) -> None:
    """Raise a DataError unless rows that take so many places can be held.

    >>> check_places(3_000_000_000)
    Traceback (most recent call last):
    overcoat.errors.DataError: the distinct rows take 3,000,000,000 places, and 2,147,483,647 can \
be had; split the data into parts that are released apart, or leave out items that nobody needs
    """
    if needed >= _PLACES:
        raise DataError(
            f"the distinct rows take {needed:,} places, and {_PLACES - 1:,} can be had; split the "
            "data into parts that are released apart, or leave out items that nobody needs"
        )


def check_losses(counts: NDArray[np.integer[Any]], largest_weight: int) -> None:
    """Raise a DataError unless the loss of every group fits.

    Parameters
    ----------
    counts : how often each distinct row occurs
    largest_weight : the largest numerator of a weight

    >>> check_losses(np.array([3_000_000_000, 5]), 1 << 32)
    Traceback (most recent call last):
    overcoat.errors.DataError: 3,000,000,005 transactions are more than the 1,073,741,823 whose \
losses can be compared exactly with these weights; use fewer transactions, or no weights
    """
    # A sum of doubles is as good as exact here, and does not overflow.
    n_transactions = float(np.sum(counts, dtype=np.float64))
    most = (_LOSSES - 1) // max(largest_weight, 1)
    if n_transactions > most:
        raise DataError(
            f"{n_transactions:,.0f} transactions are more than the {most:,} whose losses can be "
            "compared exactly with these weights; use fewer transactions, or no weights"
        )
