"""Losses that are sums: of what each group loses, and of what each suppressed item loses."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from overcoat.data.holders import Holders
from overcoat.data.transactions import Transactions
from overcoat.partition import Partition

__all__ = ["Separable", "touched_by"]

Codes = NDArray[np.int32]


class Separable:
    """A loss that is a sum over groups and suppressed items; exact.

    A subclass says what a group of two or more items loses, and what a suppressed item does. A
    single, untouched item loses nothing.

    Parameters
    ----------
    data : the original
    """

    def __init__(self, data: Transactions) -> None:
        self.data = data

    def of_group(self, items: Codes, support: int) -> Fraction:
        """Return the loss of a group of two or more items that so many transactions hold."""
        raise TypeError(f"{type(self).__name__} does not say what a group loses")

    def of_item(self, item: int) -> Fraction:
        """Return the loss of suppressing an item."""
        raise TypeError(f"{type(self).__name__} does not say what a suppressed item loses")

    def total(self, partition: Partition) -> Fraction:
        """Return the loss of a partition."""
        return self._sum(partition.merged, partition.suppressed)

    def change(self, partition: Partition, item: int, group: int) -> Fraction:
        """Return how much the loss grows when an item is moved; see `Partition.moved`."""
        after = partition.moved(item, group)
        touched = touched_by(partition, item, group)
        return self._part(after, touched) - self._part(partition, touched)

    def support(self, items: Codes) -> int:
        """Return how many transactions hold at least one of some items."""
        rows = np.unique(np.concatenate([self._holders.rows_with(item) for item in items.tolist()]))
        return int(self.data.counts[rows].sum())

    def _part(self, partition: Partition, touched: Codes) -> Fraction:
        """Return what the groups of these items lose, and those of them that are suppressed."""
        groups = partition.group_of[touched]
        merged = [
            np.flatnonzero(partition.group_of == group).astype(np.int32)
            for group in np.unique(groups[groups >= 0])
        ]
        return self._sum([one for one in merged if len(one) > 1], touched[groups < 0])

    def _sum(self, merged: Iterable[Codes], suppressed: Codes) -> Fraction:
        groups = (self.of_group(group, self.support(group)) for group in merged)
        return sum(groups, Fraction(0)) + sum(map(self.of_item, suppressed.tolist()), Fraction(0))

    @cached_property
    def _holders(self) -> Holders:
        return Holders(self.data.offsets, self.data.codes, self.data.n_items)


def touched_by(partition: Partition, item: int, group: int) -> Codes:
    """Return the items whose group a move changes: those of the two groups, and the item itself.

    >>> touched_by(Partition([0, 0, 2, 2, 4]), 1, 2)
    array([0, 1, 2, 3], dtype=int32)
    """
    homes = [partition.group_of[item]]
    if group >= 0 and group != item:
        homes.append(partition.group_of[group])
    inside = np.isin(partition.group_of, [home for home in homes if home >= 0])
    inside[item] = True
    return np.flatnonzero(inside).astype(np.int32)
