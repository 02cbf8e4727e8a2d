"""One partition of the items of a domain, over codes: who is in one group, and who is in none."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from overcoat.errors import MappingError

__all__ = ["Partition"]

Codes = NDArray[np.int32]


class Partition:
    """Disjoint groups of items; an item in none of them is suppressed. Immutable.

    Parameters
    ----------
    group_of : (M,); the same number for items of one group, whichever, and -1 where an item is
        suppressed

    Attributes
    ----------
    group_of : int32, (M,); a group is known by its first item, so that equal partitions are equal
        arrays

    >>> partition = Partition([7, 7, -1, 3])
    >>> partition.group_of
    array([ 0,  0, -1,  3], dtype=int32)
    >>> partition == Partition.of([[1, 0], [3]], n_items=4)
    True
    """

    def __init__(self, group_of: ArrayLike) -> None:
        given = np.asarray(group_of)
        if given.ndim != 1 or (given.dtype.kind not in "iu" and given.size):
            raise MappingError("a partition is one whole number for each item")
        if given.size and int(given.min()) < -1:
            raise MappingError(f"the group of an item is at least -1, not {int(given.min())}")
        first = np.full(len(given), -1, np.int32)
        kept = np.flatnonzero(given >= 0)
        _, firsts, group = np.unique(given[kept], return_index=True, return_inverse=True)
        first[kept] = kept[firsts][group]
        first.flags.writeable = False
        self.group_of: Codes = first

    @classmethod
    def of(cls, groups: Iterable[Iterable[int]], n_items: int) -> Partition:
        """Build from groups of codes; the items in none of them are suppressed."""
        group_of = np.full(n_items, -1, np.int32)
        for number, group in enumerate(groups):
            for item in group:
                if not 0 <= item < n_items:
                    raise MappingError(f"there is no item {item} among {n_items}")
                if group_of[item] >= 0:
                    raise MappingError(f"item {item} is in a group twice or in two groups")
                group_of[item] = number
        return cls(group_of)

    @classmethod
    def untouched(cls, n_items: int) -> Partition:
        """Return the partition that publishes every item as it is."""
        return cls(np.arange(n_items, dtype=np.int32))

    @property
    def n_items(self) -> int:
        """M: how many items there are, suppressed ones included."""
        return len(self.group_of)

    @cached_property
    def firsts(self) -> Codes:
        """The groups, each known by its first item, ascending."""
        return np.flatnonzero(self.group_of == np.arange(self.n_items)).astype(np.int32)

    @cached_property
    def size_of(self) -> NDArray[np.int64]:
        """Size of each item's group, 0 where the item is suppressed; (M,)."""
        kept = self.group_of >= 0
        sizes = np.bincount(self.group_of[kept], minlength=self.n_items)
        of_items = np.where(kept, sizes[self.group_of], 0).astype(np.int64)
        of_items.flags.writeable = False
        return of_items

    @cached_property
    def groups(self) -> tuple[Codes, ...]:
        """The items of each group, ascending; groups in the order of `firsts`."""
        order = np.argsort(self.group_of, kind="stable")
        order = order[self.group_of[order] >= 0].astype(np.int32)
        return (
            tuple(np.split(order, np.cumsum(self.size_of[self.firsts])[:-1])) if len(order) else ()
        )

    @property
    def merged(self) -> tuple[Codes, ...]:
        """The groups of two or more items."""
        return tuple(group for group in self.groups if len(group) > 1)

    @cached_property
    def suppressed(self) -> Codes:
        """The items in no group, ascending."""
        return np.flatnonzero(self.group_of < 0).astype(np.int32)

    def over(self, items: NDArray[np.integer[Any]]) -> Partition:
        """Return the partition of some of the items, renumbered in this order."""
        return Partition(self.group_of[items])

    def meet(self, *others: Partition) -> Partition:
        """Return what several tell together: items are in one group if nothing tells them apart.

        To be suppressed tells an item from one that is not. Only what all suppress is suppressed.

        >>> Partition([0, 0, 0, 3, -1, -1]).meet(Partition([0, 0, 2, 2, 2, -1])).group_of
        array([ 0,  0,  2,  3,  4, -1], dtype=int32)
        """
        every = np.stack([one.group_of for one in (self, *others)], axis=1)
        _, group_of = np.unique(every, axis=0, return_inverse=True)
        return Partition(np.where((every < 0).all(axis=1), -1, group_of.reshape(-1)))

    def moved(self, item: int, group: int) -> Partition:
        """Return the partition with one item moved to the group of another.

        Itself: the item stands alone; -1: it is suppressed.

        >>> Partition([0, 0, 2]).moved(0, 2).group_of
        array([0, 1, 0], dtype=int32)
        """
        if group >= 0 and group != item and self.group_of[group] < 0:
            raise MappingError(f"item {group} is suppressed: there is no group to move {item} to")
        group_of = self.group_of.astype(np.int64)
        alone = self.n_items  # a number that no group has
        group_of[item] = -1 if group < 0 else alone if group == item else self.group_of[group]
        return Partition(group_of)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Partition) and np.array_equal(self.group_of, other.group_of)

    def __hash__(self) -> int:
        return hash(self.group_of.tobytes())

    def __repr__(self) -> str:
        return (
            f"Partition({self.n_items} items, {len(self.merged)} merged groups, "
            f"{len(self.suppressed)} suppressed)"
        )
