"""UL, the paper's utility loss (paper, section 3.4).

UL(group) = (2^size - 1) / (2^M - 1) * w(group) * sup(group) / N; a single, untouched item loses
nothing, a suppressed one its penalty Y. With M in the hundreds these numbers leave the range of a
double: they are compared exactly, and reported as logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from overcoat.data.transactions import Transactions
from overcoat.loss.separable import Codes, Separable
from overcoat.policy.weights import Weights

__all__ = ["UtilityLoss", "log2_sum", "log2_ul"]


class UtilityLoss(Separable):
    """UL over the codes of some data, exactly.

    >>> from overcoat.partition import Partition
    >>> from overcoat.policy.hierarchy import Tree
    >>> from overcoat.policy.weights import TreeWeights
    >>> data = Transactions.of([{"a", "b"}, {"a"}, {"c"}])
    >>> loss = UtilityLoss(data, TreeWeights(Tree.star(3)), data.supports / 3)
    >>> loss.total(Partition([0, 0, 2]))  # (2^2 - 1) / (2^3 - 1) * 1 * 2 / 3
    Fraction(2, 7)
    >>> loss.change(Partition([0, 0, 2]), item=2, group=0)  # now all three are one group
    Fraction(5, 7)
    """

    def __init__(
        self, data: Transactions, weights: Weights, penalties: NDArray[np.float64]
    ) -> None:
        super().__init__(data)
        self._weights, self._penalties = weights, penalties

    def of_group(self, items: Codes, support: int) -> Fraction:
        """Return UL of a group of two or more items."""
        weight = Fraction(self._weights.weight(items), self._weights.denominator)
        subsets = Fraction((1 << len(items)) - 1, (1 << self.data.n_items) - 1)
        return subsets * weight * Fraction(support, self.data.n_transactions)

    def of_item(self, item: int) -> Fraction:
        """Return Y of an item."""
        return Fraction(float(self._penalties[item]))

    def log2_of_group(self, items: Codes, support: int) -> float:
        """Return log2 UL of a group of two or more items."""
        return log2_ul(
            len(items),
            self._weights.weight(items) / self._weights.denominator,
            support,
            self.data.n_items,
            self.data.n_transactions,
        )

    def log2_of_items(self, items: Iterable[int]) -> float:
        """Return log2 of what suppressing some items loses."""
        penalty = float(self._penalties[list(items)].sum())
        return math.log2(penalty) if penalty else -math.inf


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


def _log2_subsets(size: int) -> float:
    """Return log2(2^size - 1)."""
    return size + math.log1p(-(2.0**-size)) / math.log(2)
