"""Supports of itemsets: in the original, and as far as a release tells them.

Itemsets come as CSR arrays: set i is ``codes[offsets[i]:offsets[i + 1]]``, at least one code each.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET, Stage
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError, Problem
from overcoat.loss.error import guess_factor
from overcoat.mapping import Mapping
from overcoat.measures.native import set_supports

__all__ = ["count_supports", "estimate_supports", "label_codes"]

Offsets = NDArray[np.int64]
Codes = NDArray[np.int32]

_ROWS = 1 << 17  # looked at between two calls of the stage


def count_supports(
    data: Transactions, offsets: Offsets, codes: Codes, *, stage: Stage = QUIET
) -> NDArray[np.int64]:
    """Return the support of each itemset in `data`; `stage` may end it.

    >>> data = Transactions.of([{"a", "b"}, {"a"}, {"a", "b"}])
    >>> count_supports(data, np.array([0, 1, 3]), np.array([0, 0, 1], np.int32))
    array([3, 2])
    """
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    rarest_first = np.lexsort((data.supports[codes], owner))
    supports = np.zeros(len(offsets) - 1, np.int64)
    for start in range(0, data.n_distinct, _ROWS):
        stage()
        ends = data.offsets[start : start + _ROWS + 1]
        rows = ends - ends[0], data.codes[ends[0] : ends[-1]], data.counts[start : start + _ROWS]
        supports += set_supports(*rows, offsets, codes[rarest_first], data.n_items)
    return supports


def estimate_supports(
    data: Transactions,
    released: Transactions,
    mapping: Mapping,
    offsets: Offsets,
    codes: Codes,
    *,
    stage: Stage = QUIET,
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
    partition = mapping.partition_of(data)
    group, lengths = partition.group_of[codes], np.diff(offsets)
    owner = np.repeat(np.arange(len(lengths)), lengths)  # the set of each place in `codes`
    known = np.ones(len(lengths), bool)
    known[owner[group < 0]] = False
    estimates = np.zeros(len(lengths))
    if known.any():
        # Two items of one group leave its label twice in the image, which changes no support.
        image = label_codes(data, released, mapping)[codes[known[owner]]]
        image_offsets = np.concatenate([[0], np.cumsum(lengths[known])])
        of_items = guess_factor(
            np.maximum(partition.size_of, 1)
        )  # suppressed ones are not looked at
        factors = np.multiply.reduceat(of_items[codes], offsets[:-1])
        supports = count_supports(released, image_offsets, image, stage=stage)
        estimates[known] = supports * factors[known]
    return estimates


def label_codes(data: Transactions, released: Transactions, mapping: Mapping) -> Codes:
    """Return the code in `released` of each item's label, -1 where the item is suppressed; (M,).

    A release that lacks the label of an item that occurs is not of this data.
    """
    labels = [mapping[item] for item in data.vocabulary]
    codes = [-1 if label is None else released.vocabulary.get(label) for label in labels]
    lacking = dict.fromkeys(
        Problem(
            f"the release lacks the label {label!r}, though items of it occur in the data",
            many="labels are not in the release, though items of theirs occur in the data",
            what=repr(label),
        )
        for label, code in zip(labels, codes, strict=True)
        if code is None
    )
    if lacking:
        raise DataError(lacking)
    return np.array(codes, np.int32)
