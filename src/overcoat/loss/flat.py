"""Flat NCP: how many items an occurrence can be confused with, whatever a hierarchy says.

Of the measures that are sums over groups it is the one that best tells how useful a release is:
over releases of the same data it ranks them as the error of counts does, and UL does not.
"""

from __future__ import annotations

from fractions import Fraction

from overcoat.data.transactions import Transactions
from overcoat.loss.ncp import CertaintyPenalty, confusion
from overcoat.loss.separable import Codes

__all__ = ["FlatPenalty"]


class FlatPenalty(CertaintyPenalty):
    """NCP without a hierarchy; from 0 to 1, exactly.

    The sum over groups of two or more items of size * (occurrences of its items), plus M *
    (occurrences of suppressed items), over M * (all occurrences). The numerators are whole
    numbers, `cost_of_group` and `cost_of_item`: who compares many partitions of the same data
    compares those.

    >>> from overcoat.partition import Partition
    >>> data = Transactions.of([{"a", "c"}, {"b"}, {"c"}, {"d"}])
    >>> loss = FlatPenalty(data)
    >>> loss.total(Partition([0, 0, 2, -1]))  # (2 * 2 + 4 * 1) / (4 * 5)
    Fraction(2, 5)
    >>> loss.change(Partition([0, 0, 2, -1]), item=3, group=2)  # 2 * 3 instead of 4 * 1
    Fraction(1, 10)
    """

    def __init__(self, data: Transactions) -> None:
        super().__init__(data)

    @property
    def whole(self) -> int:
        """M * (all occurrences): what the costs are a share of."""
        return self._whole

    def cost_of_group(self, items: Codes) -> int:
        """Return size * occurrences of a group of two or more items."""
        return confusion(len(items), int(self.data.supports[items].sum()))

    def cost_of_item(self, item: int) -> int:
        """Return M * occurrences of a suppressed item."""
        return confusion(self.data.n_items, int(self.data.supports[item]))

    def of_group(self, items: Codes, support: int = 0) -> Fraction:
        """Return flat NCP of a group of two or more items; how many hold it does not matter."""
        return Fraction(self.cost_of_group(items), self.whole)

    def of_item(self, item: int) -> Fraction:
        """Return flat NCP of a suppressed item: it may be anything."""
        return Fraction(self.cost_of_item(item), self.whole)
