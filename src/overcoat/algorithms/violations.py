"""Finding the constraint to repair next: unsatisfied, with the largest support of its image.

One finder a family. A finder is asked for its `worst` constraint and told after each repair what
has `changed`; it looks again only at constraints that hold some of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from overcoat.context import Stage
from overcoat.data.native import canonical_rows, rows_by_item
from overcoat.kernels import finder_class
from overcoat.kernels.reference import Grouping, Tell
from overcoat.kernels.repairs import violated_part
from overcoat.policy.privacy import BoundAllItemsets, BoundFamily, BoundItemsets, BoundPgen

__all__ = ["Finder", "Found", "find"]


@dataclass(frozen=True, slots=True)
class Found:
    """An unsatisfied constraint: its items, and the support of its image."""

    support: int
    items: tuple[int, ...]


class Finder(Protocol):
    """Knows which constraints of one family are unsatisfied."""

    def worst(self) -> Found | None:
        """Return the unsatisfied constraint of largest support, or None if all are satisfied."""

    def changed(self, merged: Sequence[int], suppressed: Sequence[int]) -> None:
        """Take note of the groups that came out of merges, and of the items suppressed, since."""


def find(
    family: BoundFamily, grouping: Grouping, k: int, alone: bool, stage: Stage, tell: Tell
) -> Finder:
    """Return the finder for a family.

    Parameters
    ----------
    family, grouping, k : IN
    alone : whether no items are merged or suppressed yet
    stage : says which engine to use
    tell : called now and then; it may raise
    """
    if isinstance(family, BoundItemsets):
        return ItemsetFinder(family, grouping, k, alone, stage, tell)
    return AllItemsetsFinder(family, grouping, k, stage, tell)


class ItemsetFinder:
    """Explicit itemsets.

    The support of an image never falls: a merge or a suppression only adds to the rows that hold
    it. So an itemset supported by k or more is satisfied for good. One that nobody supports may be
    satisfied for now.

    No unsatisfied itemset has more than k - 1 supporters. So after a repair the itemsets are looked
    at in order only up to the first with so many; those behind it wait, and most are satisfied for
    good when they are looked at. Those whose images have become equal are counted once.
    """

    def __init__(
        self,
        family: BoundItemsets,
        grouping: Grouping,
        k: int,
        alone: bool,
        stage: Stage,
        tell: Tell,
    ) -> None:
        self._family, self._grouping, self._k, self._tell = family, grouping, k, tell
        self._stage = stage.still(0, 0)
        n = family.n_constraints
        self._open = np.arange(n)  # not satisfied for good, as far as known; in order
        known = family.supports if alone and isinstance(family, BoundPgen) else None
        self._support = np.zeros(n, np.int64) if known is None else known.copy()  # at last sight
        self._stale = np.full(n, known is None)  # not seen yet, or a group of it changed since
        self._holds = np.zeros(n, bool)  # supported by none, and satisfied at last sight
        # item -> the itemsets that hold it
        n_items = len(grouping.group_of())
        self._bounds, self._holders = rows_by_item(family.offsets, family.codes, n_items)

    def changed(self, merged: Sequence[int], suppressed: Sequence[int]) -> None:
        """Note which itemsets hold such an item: these have to be looked at again."""
        members = (self._grouping.members(group).tolist() for group in merged)
        for item in chain(suppressed, *members):
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
            start, step = start + step, min(2 * step, _MOST_LOOKED)
        return None

    def _look_at(self, which: NDArray[np.int64]) -> None:
        if not len(which):
            return
        group_of, family = self._grouping.group_of(), self._family
        lengths = family.offsets[which + 1] - family.offsets[which]
        ends = np.cumsum(lengths)
        items = np.repeat(family.offsets[which] - ends + lengths, lengths) + np.arange(ends[-1])
        groups = group_of[family.codes[items]]
        left = np.concatenate([[0], np.cumsum(groups >= 0)])  # without the suppressed
        offsets = left[np.concatenate([[0], ends])]
        ones = np.ones(len(which), np.int64)
        offsets, codes, _, image_of = canonical_rows(
            offsets, groups[groups >= 0], ones, stage=self._stage
        )
        images = np.arange(len(offsets) - 1)
        found = self._grouping.supports(offsets, codes, images, self._k)
        self._support[which] = found[image_of]
        self._stale[which] = self._holds[which] = False

    def _found(self, index: int) -> Found:
        return Found(int(self._support[index]), tuple(self._family.itemset(index).tolist()))


# How many itemsets are looked at together at first; then twice as many, and so on, up to the most.
_FIRST_LOOK, _MOST_LOOKED = 256, 1 << 17


class AllItemsetsFinder:
    """All itemsets of m linkable items, never written out.

    They are satisfied exactly when every set of up to m linkable groups (groups with a linkable
    item) is supported by nobody or by at least k: any such set is part of the image of some
    m-itemset. The sets are worked through by size: singles, pairs, …, m; within a size by
    descending support. How they are found is told in `overcoat.kernels.finders`.
    """

    def __init__(
        self, family: BoundAllItemsets, grouping: Grouping, k: int, stage: Stage, tell: Tell
    ) -> None:
        self._family, self._grouping = family, grouping
        # Merging two groups whose sets are all supported by none or by k keeps it so. Only a
        # merge with a group that was not linkable can break smaller sizes again.
        self._settles = family.whole_domain
        self._finder = finder_class(stage.engine)(
            grouping, family.linkable, family.largest, k, self._settles, _ENOUGH, tell
        )

    def changed(self, merged: Sequence[int], suppressed: Sequence[int]) -> None:
        """Take note of the changed groups; sets with what was suppressed are gone by themselves."""
        self._finder.changed(merged)

    def worst(self) -> Found | None:
        """Return the violated set of largest support, of the smallest size that has any."""
        worst = self._finder.worst()
        if worst is None:
            return None
        support, groups = worst
        return Found(support, groups if self._settles else self._itemset(groups))

    def _itemset(self, groups: tuple[int, ...]) -> tuple[int, ...]:
        """Return an itemset of the family with this image: a linkable item of each group."""
        members = (self._grouping.members(group) for group in groups)
        return tuple(int(items[self._family.linkable[items]][0]) for items in members)


# How many sets an owner is given at first.
_ENOUGH = 4
