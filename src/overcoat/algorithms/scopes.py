"""Every family as scopes, and the few questions an exhaustive search asks of them.

A *scope* is a set of items and a size m: every set of at most m groups with an item of the scope
must be supported by nobody or by at least k. All m-itemsets over linkable items are one scope. An
explicit itemset p is one, too, with m = |p|: where a part of its image J is supported by 1 to k-1,
J is supported by fewer than k, so J is violated by clause 1 or that part by clause 2; and where no
part is, J holds.

For a few dozen items. Sets of items and of rows are the bits of integers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from overcoat.data.transactions import Transactions
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.privacy import BoundItemsets

__all__ = ["Scopes", "bits"]


def bits(mask: int) -> list[int]:
    """Return the positions of the bits that are set, ascending.

    >>> bits(0b1101)
    [0, 2, 3]
    """
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


class Scopes:
    """The constraints of a policy on some data.

    >>> from overcoat.policy.policy import Policy
    >>> from overcoat.policy.privacy import AllItemsets
    >>> data = Transactions.of([{"a", "b"}, {"a", "c"}, {"a"}, {"b"}, {"c"}, {"c"}])
    >>> scopes = Scopes(data, Policy(2, AllItemsets(2)).bind(data))
    >>> scopes.rare(0b001, 0b110), scopes.hold([0b001, 0b110])  # a, and b with c
    (False, True)
    """

    def __init__(self, data: Transactions, policy: BoundPolicy) -> None:
        self.k = policy.k
        self._rows = _row_masks(data)
        # Counts of rows, bit by bit of them: which rows have a 1, a 2, a 4, … in their count. More
        # than k is as good as k.
        self._many = _mask(data.counts >= policy.k)
        few = np.where(data.counts >= policy.k, 0, data.counts)
        self._planes = [
            (place, _mask((few >> place & 1).astype(bool)))
            for place in range(int(few.max(initial=0)).bit_length())
        ]
        self.parts: list[tuple[int, int]] = list(dict.fromkeys(_parts(policy)))
        n_items = data.n_items
        self.inside = 0  # the items in any scope
        self._beside = [0] * n_items  # with which others each item is in a scope for two
        for items, m in self.parts:
            self.inside |= items
            if m > 1:
                for item in bits(items):
                    self._beside[item] |= items
        self._rows_of: dict[int, int] = {1 << item: self._rows[item] for item in range(n_items)}
        self._rare: dict[tuple[int, int], bool] = {}
        self._near: dict[int, int] = {}
        self._threes = [items for items, m in self.parts if m > 2]
        self._rare_three: dict[tuple[int, int, int], bool] = {}

    def rows_of(self, group: int) -> int:
        """Return the rows that hold any item of a group."""
        found = self._rows_of.get(group)
        if found is None:
            low = group & -group
            found = self._rows_of[low] | self.rows_of(group ^ low) if group else 0
            self._rows_of[group] = found
        return found

    def _few(self, rows: int) -> bool:
        """Whether some rows are 1 to k-1 people."""
        if not rows or rows & self._many:
            return False
        return sum((rows & plane).bit_count() << place for place, plane in self._planes) < self.k

    def rare_alone(self, group: int) -> bool:
        """Whether a group by itself is violated."""
        return bool(group & self.inside) and self._few(self.rows_of(group))

    def rare(self, one: int, other: int) -> bool:
        """Whether two groups, together, are violated."""
        key = (one, other) if one < other else (other, one)
        found = self._rare.get(key)
        if found is None:
            found = bool(self._beside_of(one) & other) and self._few(
                self.rows_of(one) & self.rows_of(other)
            )
            self._rare[key] = found
        return found

    @property
    def has_threes(self) -> bool:
        """Whether three groups can be violated where no two of them are."""
        return bool(self._threes)

    def rare_three(self, one: int, two: int, three: int) -> bool:
        """Whether three groups, together, are violated; given always in the same order."""
        key = one, two, three
        found = self._rare_three.get(key)
        if found is None:
            rows = self.rows_of(one) & self.rows_of(two) & self.rows_of(three)
            found = self._few(rows) and any(
                items & one and items & two and items & three for items in self._threes
            )
            self._rare_three[key] = found
        return found

    def hopeless(self, one: int, more: int, other: int, still: int) -> bool:
        """Whether two violated groups stay so, whatever of `more` and `still` they take in."""
        return self._few(self.rows_of(one | more) & self.rows_of(other | still))

    def hold(self, groups: list[int]) -> bool:
        """Whether no set of these groups is violated."""
        for items, m in self.parts:
            image = [group for group in groups if group & items]
            if not self._holds([self.rows_of(group) for group in image], m):
                return False
        return True

    def _holds(self, rows: list[int], m: int) -> bool:
        if any(map(self._few, rows)):
            return False
        if m > 1:
            for place, one in enumerate(rows):
                beside = [both for other in rows[place + 1 :] if (both := one & other)]
                if beside and not self._holds(beside, m - 1):
                    return False
        return True

    def _beside_of(self, group: int) -> int:
        found = self._near.get(group)
        if found is None:
            found = 0
            for item in bits(group):
                found |= self._beside[item]
            self._near[group] = found
        return found


def _row_masks(data: Transactions) -> list[int]:
    """Return the distinct rows of each item, as bits."""
    row_of = np.repeat(np.arange(data.n_distinct), data.lengths)
    order = np.argsort(data.codes, kind="stable")
    starts = np.searchsorted(data.codes[order], np.arange(data.n_items + 1))
    masks = []
    for item in range(data.n_items):
        held = np.zeros(data.n_distinct, bool)
        held[row_of[order[starts[item] : starts[item + 1]]]] = True
        masks.append(_mask(held))
    return masks


def _mask(held: NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(held, bitorder="little").tobytes(), "little")


def _parts(policy: BoundPolicy) -> list[tuple[int, int]]:
    parts = []
    for family in policy.families:
        if isinstance(family, BoundItemsets):
            for index in range(family.n_constraints):
                itemset = family.itemset(index).tolist()
                parts.append((sum(1 << item for item in itemset), len(itemset)))
        elif family.m:
            linkable = np.flatnonzero(family.linkable).tolist()
            parts.append((sum(1 << item for item in linkable), family.largest))
    return parts
