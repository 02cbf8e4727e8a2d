"""UL, the paper's utility loss, in log2 (paper, section 3.4).

UL(group) = (2^size - 1) / (2^M - 1) * w(group) * sup(group) / N; a single, untouched item loses
nothing. With M in the hundreds this leaves the range of a double, hence the logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from overcoat.data.transactions import Transactions
from overcoat.mapping import Mapping
from overcoat.policy.policy import BoundPolicy

__all__ = ["Loss", "log2_sum", "log2_ul", "measure_loss"]


@dataclass(frozen=True)
class Loss:
    """The loss of a release.

    Attributes
    ----------
    groups : log2 UL of each group of two or more items, by label
    suppressed : Y of each suppressed item
    log2_ul : log2 of the sum of everything; -inf when nothing is lost
    """

    groups: dict[str, float]
    suppressed: dict[str, float]
    log2_ul: float


def log2_ul(size: int, weight: float, support: int, n_items: int, n_transactions: int) -> float:
    """Return log2 UL of a group of two or more items.

    >>> 2 ** log2_ul(size=2, weight=3 / 8, support=7, n_items=8, n_transactions=10)  # paper's (a,b)
    0.0030882352941176...
    """
    if not weight or not support:
        return -math.inf
    return (
        _log2_subsets(size)
        - _log2_subsets(n_items)
        + math.log2(weight)
        + math.log2(support / n_transactions)
    )


def log2_sum(logarithms: Iterable[float]) -> float:
    """Return log2 of the sum of the numbers with these logarithms.

    >>> log2_sum([-1000.0, -1000.0])
    -999.0
    """
    values = [value for value in logarithms if value > -math.inf]
    if not values:
        return -math.inf
    largest = max(values)
    return largest + math.log2(math.fsum(2.0 ** (value - largest) for value in values))


def measure_loss(
    data: Transactions, released: Transactions, mapping: Mapping, policy: BoundPolicy
) -> Loss:
    """Return the loss of publishing `data` as `released` under `mapping`."""
    vocabulary = data.vocabulary
    groups = {}
    for label, members in mapping.groups.items():
        codes = [code for item in members if (code := vocabulary.get(item)) is not None]
        if len(codes) > 1:
            groups[label] = log2_ul(
                len(codes),
                policy.weights.weight(np.array(codes, np.int32)) / policy.weights.denominator,
                int(released.supports[released.vocabulary.code(label)]),
                data.n_items,
                data.n_transactions,
            )
    gone = {
        item: float(policy.penalties[code])
        for item in mapping.suppressed
        if (code := vocabulary.get(item)) is not None
    }
    penalties = (math.log2(y) if y else -math.inf for y in gone.values())
    return Loss(groups, gone, log2_sum([*groups.values(), *penalties]))


def _log2_subsets(size: int) -> float:
    """Return log2(2^size - 1)."""
    return size + math.log1p(-(2.0**-size)) / math.log(2)
