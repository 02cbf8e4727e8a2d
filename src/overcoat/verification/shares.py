"""What those who match have in common: the h of (h,k,p)-coherence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET
from overcoat.data.transactions import Transactions
from overcoat.policy.privacy import BoundCoherence
from overcoat.verification.native import shared_labels
from overcoat.verification.reference import Tell

__all__ = ["labels_of", "too_large_shares"]


def labels_of(
    items: NDArray[np.bool_], released: Transactions, image_of: NDArray[np.int32]
) -> NDArray[np.uint8]:
    """Return which released labels stand for any of these items."""
    labels = np.zeros(released.n_items + 1, np.uint8)  # the last is that of items without one
    labels[image_of[items]] = True
    return labels[:-1]


def too_large_shares(
    family: BoundCoherence,
    released: Transactions,
    image_of: NDArray[np.int32],
    limit: int,
    stage: Tell = QUIET,
) -> tuple[list[tuple[str, tuple[int, ...], int]], int]:
    """Find the sets of public labels of whose supporters too many have the same private label.

    A label that stands for a public and a private item is both. So it never passes: all who match
    it have it.

    Parameters
    ----------
    image_of : IN, (M,); the released code of each item's label

    Returns
    -------
    What is wrong, in words, the labels and their support, for the first `limit` sets; and how many
    such sets there are
    """
    shared, n_shared = shared_labels(
        released.offsets,
        released.codes,
        released.counts,
        labels_of(family.linkable, released, image_of),
        labels_of(family.private, released, image_of),
        family.h.numerator,  # at most h percent: exactly, for any number of people
        100 * family.h.denominator,
        family.largest,
        limit,
        stage,
    )
    names = released.vocabulary
    return [
        (
            f"of the {support} with {{{', '.join(names[code] for code in image)}}}, {number} "
            f"({100 * number / support:.4g} %) have the private {names[private]}, "
            f"more than h = {float(family.h):g} %",
            image,
            support,
        )
        for image, support, private, number in shared
    ], n_shared
