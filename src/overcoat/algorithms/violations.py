"""Finding the constraint to repair next: unsatisfied, with the largest support of its image.

One finder a family. A finder is asked for its `worst` constraint and told after each repair which
groups `changed`; it looks again only at constraints that hold one of those.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from overcoat.context import Stage
from overcoat.data.native import canonical_rows
from overcoat.kernels.reference import Grouping, Tell
from overcoat.policy.privacy import BoundAllItemsets, BoundFamily, BoundItemsets, BoundPgen

__all__ = ["Finder", "Found", "find", "violated_part"]


@dataclass(frozen=True, slots=True)
class Found:
    """An unsatisfied constraint: its items, and the support of its image."""

    support: int
    items: tuple[int, ...]


class Finder(Protocol):
    """Knows which constraints of one family are unsatisfied."""

    def worst(self) -> Found | None:
        """Return the unsatisfied constraint of largest support, or None if all are satisfied."""

    def changed(self, items: NDArray[np.int32]) -> None:
        """Take note of the items whose group was merged or suppressed since the last call."""


def find(family: BoundFamily, grouping: Grouping, k: int, stage: Stage, tell: Tell) -> Finder:
    """Return the finder for a family; it calls `tell` where it does not know how much is left."""
    if isinstance(family, BoundItemsets):
        return ItemsetFinder(family, grouping, k, tell)
    return AllItemsetsFinder(family, grouping, k, stage, tell)


def violated_part(grouping: Grouping, image: NDArray[np.int32], k: int) -> NDArray[np.int32] | None:
    """Return what of an image must be repaired; None when it is satisfied.

    The whole image when somebody supports it (clause 1 of docs/how-it-works.md), else its violated
    part of largest support (clause 2).
    """
    if not len(image):
        return None
    support = grouping.support(image)
    if support >= k:
        return None
    if support > 0:
        return image
    return grouping.worst_part(image, k)


class ItemsetFinder:
    """Explicit itemsets.

    The support of an image never falls: a merge or a suppression only adds to the rows that hold
    it. So an itemset supported by k or more is satisfied for good. One that nobody supports may be
    satisfied for now.

    No unsatisfied itemset has more than k - 1 supporters. So after a repair the itemsets are looked
    at in order only up to the first with so many; those behind it wait, and most are satisfied for
    good when they are looked at. Those whose images have become equal are counted once.
    """

    def __init__(self, family: BoundItemsets, grouping: Grouping, k: int, tell: Tell) -> None:
        self._family, self._grouping, self._k, self._tell = family, grouping, k, tell
        n = family.n_constraints
        self._open = np.arange(n)  # not satisfied for good, as far as known; in order
        group_of = grouping.group_of()
        alone = np.array_equal(
            group_of, np.arange(len(group_of))
        )  # no earlier groups to start from
        known = family.supports if alone and isinstance(family, BoundPgen) else None
        self._support = np.zeros(n, np.int64) if known is None else known.copy()  # at last sight
        self._stale = np.full(n, known is None)  # not seen yet, or a group of it changed since
        self._holds = np.zeros(n, bool)  # supported by none, and satisfied at last sight
        # item -> the itemsets that hold it
        owner = np.repeat(np.arange(n), np.diff(family.offsets))
        order = np.argsort(family.codes, kind="stable")
        self._holders = owner[order]
        self._bounds = np.searchsorted(family.codes[order], np.arange(len(group_of) + 1))

    def changed(self, items: NDArray[np.int32]) -> None:
        """Note which itemsets hold such an item: these have to be looked at again."""
        for item in items.tolist():
            self._stale[self._holders[self._bounds[item] : self._bounds[item + 1]]] = True

    def worst(self) -> Found | None:
        """Return the first itemset of largest support among the unsatisfied."""
        most = self._first_with_most()
        if most is not None:
            return self._found(most)
        supports = self._support[self._open]
        self._open = self._open[supports < self._k]
        supports = supports[supports < self._k]
        if len(supports) and supports.max() > 0:
            return self._found(int(self._open[np.argmax(supports)]))  # the first of equals
        for index in self._open[~self._holds[self._open]].tolist():
            self._tell()
            image = self._grouping.image(self._family.itemset(index))
            if violated_part(self._grouping, image, self._k) is not None:
                return self._found(index)
            self._holds[index] = True
        return None

    def _first_with_most(self) -> int | None:
        """Return the first itemset with k - 1 supporters, looking at all before it.

        None if there is none with so many; then all have been looked at.
        """
        most, start, step = self._k - 1, 0, _FIRST_LOOK
        while start < len(self._open):
            part = self._open[start : start + step]
            self._look_at(part[self._stale[part]])
            found = np.flatnonzero(self._support[part] == most)
            if most > 0 and len(found):
                return int(part[found[0]])
            start, step = start + step, 2 * step
        return None

    def _look_at(self, which: NDArray[np.int64]) -> None:
        if not len(which):
            return
        group_of, family = self._grouping.group_of(), self._family
        lengths = np.diff(family.offsets)[which]
        ends = np.cumsum(lengths)
        items = np.repeat(family.offsets[which] - ends + lengths, lengths) + np.arange(ends[-1])
        groups = group_of[family.codes[items]]
        left = np.concatenate([[0], np.cumsum(groups >= 0)])  # without the suppressed
        offsets = left[np.concatenate([[0], ends])]
        ones = np.ones(len(which), np.int64)
        offsets, codes, _, image_of = canonical_rows(offsets, groups[groups >= 0], ones)
        images = np.arange(len(offsets) - 1)
        found = self._grouping.supports(offsets, codes, images, self._k)
        self._support[which] = found[image_of]
        self._stale[which] = self._holds[which] = False

    def _found(self, index: int) -> Found:
        return Found(int(self._support[index]), tuple(self._family.itemset(index).tolist()))


# How many itemsets are looked at together at first; then twice as many, and so on.
_FIRST_LOOK = 256


class AllItemsetsFinder:
    """All itemsets of m linkable items, never written out.

    They are satisfied exactly when every set of up to m linkable groups (groups with a linkable
    item) is supported by nobody or by at least k: any such set is part of the image of some
    m-itemset. The sets are worked through by size: singles, pairs, …, m; within a size by
    descending support.

    For each size there is a heap with, for each group, the worst violated set it *owns*. At first a
    group owns the sets that it is the first member of; a group that comes out of a merge owns all
    sets that hold it. A set that lost a member in a merge is stale: its owner goes on to its next
    one when the stale set reaches the top, which is in time, because what an owner still has is
    never worse than what it had, and sets with changed members are owned by these.
    """

    def __init__(
        self, family: BoundAllItemsets, grouping: Grouping, k: int, stage: Stage, tell: Tell
    ) -> None:
        self._grouping, self._k, self._m = grouping, k, family.largest
        self._stage, self._tell = stage, tell
        self._family = family
        self._linkable = family.linkable.astype(np.uint8)
        group_of = grouping.group_of()  # where a run goes on from an earlier one, not all are alone
        kept = group_of >= 0
        np.maximum.at(self._linkable, group_of[kept], self._linkable[kept])
        # Merging two groups whose sets are all supported by none or by k keeps it so. Only a
        # merge with a group that was not linkable can break smaller sizes again.
        self._sizes_settle = family.whole_domain
        self._merged_at = np.zeros(len(self._linkable), np.int64)  # 0: untouched
        self._clock = 0
        # By size: (-support, groups, owner), and what each owner has, in the same order.
        self._heaps: list[list[tuple[int, tuple[int, ...], int]]] = []
        self._owned: list[dict[int, _Owned]] = []

    def changed(self, items: NDArray[np.int32]) -> None:
        """Look for violated sets with the changed groups, in all sizes looked at so far."""
        self._clock += 1
        self._merged_at[items] = self._clock
        groups = self._grouping.image(items).tolist()
        for group in groups:
            self._linkable[group] = self._linkable[self._grouping.members(group)].max()
        first = len(self._heaps) if self._sizes_settle else 1
        for size in range(max(first, 1), len(self._heaps) + 1):
            for group in groups:
                self._search(size, group)

    def worst(self) -> Found | None:
        """Return the violated set of largest support, of the smallest size that has any."""
        for size in range(1, self._m + 1):
            if size > len(self._heaps):
                self._heaps.append([])
                self._owned.append({})
                self._search_all(size)
            heap = self._heaps[size - 1]
            while heap:
                self._tell()
                minus_support, groups, owner = heap[0]
                owned = self._owned[size - 1].get(owner)
                if owned is not None and owned.current() == groups:
                    if self._is_current(groups, owned.time):
                        return Found(-minus_support, self._itemset(groups))
                    heappop(heap)
                    self._go_on(size, owner, owned)
                else:
                    heappop(heap)  # left over from what the owner had before it changed
        return None

    def _itemset(self, groups: tuple[int, ...]) -> tuple[int, ...]:
        """Return an itemset of the family with this image: a linkable item of each group."""
        if self._family.whole_domain:
            return groups
        members = (self._grouping.members(group) for group in groups)
        return tuple(int(items[self._family.linkable[items]][0]) for items in members)

    def _search_all(self, size: int) -> None:
        """Find what all groups own, when a size is looked at for the first time."""
        groups = self._grouping.groups()
        ends, supports, sets = self._grouping.all_violations(
            groups, size, self._k, self._linkable, _ENOUGH, self._stage
        )
        for group, (start, end) in zip(groups.tolist(), pairwise(ends.tolist()), strict=True):
            if start < end:
                self._tell()
                self._own(size, group, _Owned(supports, sets, start, end, self._clock))

    def _search(self, size: int, group: int) -> None:
        """Find what a group owns, the first of it."""
        above = bool(self._merged_at[group] == 0)
        supports, sets = self._grouping.violations(
            group, size, self._k, above, self._linkable, _ENOUGH
        )
        self._own(size, group, _Owned(supports, sets, 0, len(supports), self._clock))

    def _own(self, size: int, group: int, owned: _Owned) -> None:
        self._owned[size - 1][group] = owned
        self._push(size, group, owned)

    def _go_on(self, size: int, owner: int, owned: _Owned) -> None:
        """Pass on to the next set the owner has that is not stale, searching again at the end."""
        if not self._is_current((owner,), owned.time):
            del self._owned[size - 1][owner]  # merged or gone: others own its sets
            return
        while owned.next():
            if self._is_current(owned.current(), owned.time):
                self._push(size, owner, owned)
                return
        if owned.may_have_more:
            self._search(size, owner)

    def _push(self, size: int, owner: int, owned: _Owned) -> None:
        if owned.at < owned.end:
            heappush(self._heaps[size - 1], (-owned.support(), owned.current(), owner))

    def _is_current(self, groups: tuple[int, ...], time: int) -> bool:
        """Whether these, groups at `time`, have neither been merged nor suppressed since."""
        merged_at = self._merged_at
        return all(merged_at[group] <= time for group in groups)


# How many sets an owner is given at a time: enough that few groups are searched twice.
_ENOUGH = 64


class _Owned:
    """The violated sets of one owner, most supported first, and how far it has got."""

    __slots__ = ("at", "end", "groups", "may_have_more", "supports", "time")

    def __init__(
        self,
        supports: NDArray[np.int64],
        groups: NDArray[np.int32],
        at: int,
        end: int,
        time: int,
    ) -> None:
        self.supports, self.groups, self.at, self.end = supports, groups, at, end
        self.time = time
        self.may_have_more = end - at == _ENOUGH

    def next(self) -> bool:
        self.at += 1
        return self.at < self.end

    def current(self) -> tuple[int, ...]:
        return tuple(self.groups[self.at].tolist()) if self.at < self.end else ()

    def support(self) -> int:
        return int(self.supports[self.at])
