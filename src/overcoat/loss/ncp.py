"""NCP, the normalized certainty penalty: how wide the groups are that occurrences end up in.

From M. Terrovitis, N. Mamoulis, P. Kalnis, *Privacy-preserving anonymization of set-valued data*,
VLDB 2008, where it measures full-subtree recoding; here for any partition.
"""

from __future__ import annotations

from fractions import Fraction

from overcoat.data.transactions import Transactions
from overcoat.loss.separable import Codes, Separable
from overcoat.policy.hierarchy import Tree
from overcoat.policy.weights import TreeWeights

__all__ = ["CertaintyPenalty", "confusion"]


def confusion(width: int, occurrences: int) -> int:
    """Return what occurrences lose in a group so many items wide, without the denominator.

    Each counts the items it can be confused with.
    """
    return width * occurrences


class CertaintyPenalty(Separable):
    """The mean over all occurrences of an item of the NCP of its group; from 0 to 1, exactly.

    NCP is 0 for a group of one item and 1 for a suppressed item. For a group of two or more it is
    the share of the domain that lies under the closest common ancestor of its items: the same as
    the weight w of UL. Without a hierarchy (*flat*) it is the group's own share, size / M.

    >>> from overcoat.partition import Partition
    >>> data = Transactions.of([{"a", "c"}, {"b"}, {"c"}, {"d"}])
    >>> CertaintyPenalty(data).total(Partition([0, 0, 2, -1]))  # (2/4 + 2/4 + 0 + 0 + 1) / 5
    Fraction(2, 5)
    """

    def __init__(self, data: Transactions, hierarchy: Tree | None = None) -> None:
        super().__init__(data)
        self._widths = None if hierarchy is None else TreeWeights(hierarchy)
        self._whole = data.n_items * int(data.supports.sum())

    def of_group(self, items: Codes, support: int = 0) -> Fraction:
        """Return NCP of a group of two or more items; how many hold it does not matter."""
        width = len(items) if self._widths is None else self._widths.weight(items)
        return Fraction(confusion(width, int(self.data.supports[items].sum())), self._whole)

    def of_item(self, item: int) -> Fraction:
        """Return NCP of a suppressed item: it may be anything."""
        return Fraction(confusion(self.data.n_items, int(self.data.supports[item])), self._whole)

    def support(self, items: Codes) -> int:
        """Return nothing: occurrences are what counts here."""
        return 0
