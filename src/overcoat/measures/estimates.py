"""Supports of itemsets: in the original, and as far as a release tells them.

Itemsets come as CSR arrays: set i is ``codes[offsets[i]:offsets[i + 1]]``, at least one code each.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from overcoat.data.transactions import Transactions
from overcoat.errors import DataError, Problem
from overcoat.mapping import Mapping
from overcoat.measures.groups import Groups, find_groups
from overcoat.measures.native import set_supports

__all__ = ["count_supports", "estimate_supports", "guess_factor", "label_codes"]

Offsets = NDArray[np.int64]
Codes = NDArray[np.int32]


def count_supports(data: Transactions, offsets: Offsets, codes: Codes) -> NDArray[np.int64]:
    """Return the support of each itemset in `data`.

    >>> data = Transactions.of([{"a", "b"}, {"a"}, {"a", "b"}])
    >>> count_supports(data, np.array([0, 1, 3]), np.array([0, 0, 1], np.int32))
    array([3, 2])
    """
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    rarest_first = np.lexsort((data.supports[codes], owner))
    return set_supports(
        data.offsets, data.codes, data.counts, offsets, codes[rarest_first], data.n_items
    )


def guess_factor(size: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the chance that a group of `size` items stands for a given one of them.

    A group stands for one of the 2^size - 1 non-empty sets of its items, all held equally likely;
    2^(size-1) of them have the item.

    >>> guess_factor(np.array([1, 2, 2000])).tolist()
    [1.0, 0.6666666666666666, 0.5]
    """
    # Halves above and below, so that no power leaves the range of a double.
    factor: NDArray[np.float64] = 0.5 / (1 - np.exp2(-size.astype(np.float64)))
    return factor


def estimate_supports(
    data: Transactions, released: Transactions, mapping: Mapping, offsets: Offsets, codes: Codes
) -> NDArray[np.float64]:
    """Return the estimate e of each itemset's support, from the release alone.

    e = sup(image) * product over its items of 2^(size-1) / (2^size - 1), size being that of the
    item's group; 0 if an item is suppressed.

    >>> data = Transactions.of([{"a", "b"}, {"a", "c"}, {"b"}])
    >>> mapping = Mapping.of("abc", [["a", "b"], ["c"]])
    >>> sets = np.array([0, 1, 3]), np.array([0, 0, 2], np.int32)  # {a}, {a, c}
    >>> estimate_supports(data, mapping.apply(data), mapping, *sets).round(3).tolist()
    [2.0, 0.667]
    """
    groups = find_groups(data.vocabulary, mapping)
    group, lengths = groups.group_of[codes], np.diff(offsets)
    owner = np.repeat(np.arange(len(lengths)), lengths)  # the set of each place in `codes`
    known = np.ones(len(lengths), bool)
    known[owner[group < 0]] = False
    estimates = np.zeros(len(lengths))
    if known.any():
        # Two items of one group leave its label twice in the image, which changes no support.
        image = label_codes(released, mapping, groups)[group[known[owner]]]
        image_offsets = np.concatenate([[0], np.cumsum(lengths[known])])
        of_items = guess_factor(np.maximum(groups.size_of, 1))  # suppressed ones are not looked at
        factors = np.multiply.reduceat(of_items[codes], offsets[:-1])
        estimates[known] = count_supports(released, image_offsets, image) * factors[known]
    return estimates


def label_codes(released: Transactions, mapping: Mapping, groups: Groups) -> Codes:
    """Return the code in `released` of each group's label; -1 for groups of which nothing occurs.

    A release that lacks the label of a group that occurs is not of this data.
    """
    codes = [released.vocabulary.get(label) for label in mapping.labels]
    lacking = [
        Problem(f"the release lacks the label {label!r}, though items of it occur in the data")
        for label, code, size in zip(mapping.labels, codes, groups.sizes.tolist(), strict=True)
        if code is None and size
    ]
    if lacking:
        raise DataError(lacking)
    return np.array([-1 if code is None else code for code in codes], np.int32)
