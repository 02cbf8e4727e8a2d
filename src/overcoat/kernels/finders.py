"""Finding the violated set of groups to repair next: the readable twin of `finding`.

All sets of up to m linkable groups, never written out. They are worked through by size: singles,
pairs, …, m; within a size by descending support.

For each size there is a heap with, for each group, the worst violated set it *owns*. At first a
group owns the sets that it is the first member of; a group that comes out of a merge owns all sets
that hold it. A set that lost a member in a merge is stale: its owner goes on to its next one when
the stale set reaches the top, which is in time, because what an owner still has is never worse than
what it had, and sets with changed members are owned by these.

A group is searched only when the worst that it *can* own is at the top: with k - 1 supporters, and
first in the order of its sets. Most groups are merged before that.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from overcoat.kernels.reference import Grouping, Tell, nothing

__all__ = ["SetFinder"]

# What is given to an owner that comes back for more, times what it got before; and the most.
MORE, MOST = 4, 256


class SetFinder:
    """Knows the violated sets of groups.

    Parameters
    ----------
    grouping : the groups; whoever changes them says so by `changed`
    linkable : (M,); the items that sets are about. A group is linkable if any of its items is
    m : the largest size
    k : a set is violated when somebody, but fewer than k, hold it
    settles : whether no merge can break a size again that is done with
    enough : how many sets an owner is given at first
    tell : called some fifty times a second by whatever takes long; it may raise
    """

    def __init__(
        self,
        grouping: Grouping,
        linkable: NDArray[np.bool_],
        m: int,
        k: int,
        settles: bool,
        enough: int,
        tell: Tell = nothing,
    ) -> None:
        self._grouping, self._m, self._k, self._tell = grouping, m, k, tell
        self._settles, self._enough = settles, enough
        self._linkable = np.array(linkable, np.uint8)
        for group in grouping.groups().tolist():  # some may be merged already
            self._update_linkable(group)
        self._changed_at = np.zeros(len(linkable), np.int64)  # 0: untouched
        self._clock = 0
        self._levels: list[_Level] = []  # by size

    def changed(self, groups: Iterable[int]) -> None:
        """Take note of groups that came out of merges since the last call."""
        self._clock += 1
        for group in groups:
            self._changed_at[group] = self._clock
            self._update_linkable(group)
            for level in self._levels[-1:] if self._settles else self._levels:
                level.wait(group, _Owned(False, self._enough))

    def worst(self) -> tuple[int, tuple[int, ...]] | None:
        """Return the violated set of largest support, of the smallest size that has any.

        Of equals it is the first in lexicographic order.
        """
        for size in range(1, self._m + 1):
            if size > len(self._levels):
                self._levels.append(_Level(self._k))
                for group in self._grouping.groups().tolist():
                    self._levels[-1].wait(group, _Owned(True, self._enough))
            level = self._levels[size - 1]
            while (owner := level.top()) is not None:
                self._tell()
                owned = level.owned[owner]
                if owned.waits and self._is_current((owner,), self._clock):
                    self._search(level, size, owner, owned)
                elif owned.waits or not self._is_current((owner,), owned.time):
                    del level.owned[owner]  # merged or gone: others own its sets
                elif self._is_current(owned.groups(), owned.time):
                    return owned.supports[owned.at], owned.groups()
                else:
                    self._go_on(level, size, owner, owned)
        return None

    def _search(self, level: _Level, size: int, owner: int, owned: _Owned) -> None:
        """Find what an owner has, the first of it."""
        supports, sets = self._grouping.violations(
            owner, size, self._k, owned.above, self._linkable, owned.enough
        )
        owned.supports, owned.sets = supports.tolist(), list(map(tuple, sets.tolist()))
        owned.at, owned.time, owned.waits = 0, self._clock, False
        level.push(owner)

    def _go_on(self, level: _Level, size: int, owner: int, owned: _Owned) -> None:
        """Pass on to the next set the owner has that is not stale, searching again at the end."""
        while owned.at < len(owned.sets) and not self._is_current(owned.groups(), owned.time):
            owned.at += 1
        if owned.at == len(owned.sets) == owned.enough:  # it may have more
            owned.enough = min(MORE * owned.enough, max(MOST, owned.enough))
            self._search(level, size, owner, owned)
        else:
            level.push(owner)

    def _is_current(self, groups: tuple[int, ...], time: int) -> bool:
        """Whether these, groups at `time`, have neither been merged nor suppressed since."""
        return all(
            self._grouping.group(group) == group and self._changed_at[group] <= time
            for group in groups
        )

    def _update_linkable(self, group: int) -> None:
        self._linkable[group] = self._linkable[self._grouping.members(group)].max()


class _Owned:
    """The violated sets of one owner, most supported first, and how far it has got.

    Until the owner is searched it `waits`: nobody knows what it has.
    """

    def __init__(self, above: bool, enough: int) -> None:
        self.above = above  # whether it owns only sets that it is the first member of
        self.enough = enough
        self.waits, self.time, self.at = True, 0, 0
        self.supports: list[int] = []
        self.sets: list[tuple[int, ...]] = []

    def groups(self) -> tuple[int, ...]:
        return self.sets[self.at]


class _Level:
    """What each group owns of one size, and a heap of the worst of each."""

    def __init__(self, k: int) -> None:
        self._k = k
        self.owned: dict[int, _Owned] = {}
        # (-support, groups, owner, number of the push); only the last push of an owner counts
        self._heap: list[tuple[int, tuple[int, ...], int, int]] = []
        self._pushed: dict[int, int] = {}

    def wait(self, owner: int, owned: _Owned) -> None:
        """Give an owner that is yet to be searched the place of the worst it can have."""
        self.owned[owner] = owned
        self._push(1 - self._k, (owner,) if owned.above else (), owner)

    def push(self, owner: int) -> None:
        """Give an owner its place; none if it has nothing."""
        owned = self.owned[owner]
        if owned.at < len(owned.sets):
            self._push(-owned.supports[owned.at], owned.groups(), owner)
        else:
            del self.owned[owner]

    def top(self) -> int | None:
        """Return the owner of the worst."""
        while self._heap:
            *_, owner, number = self._heap[0]
            if owner in self.owned and self._pushed[owner] == number:
                return owner
            heappop(self._heap)
        return None

    def _push(self, minus_support: int, groups: tuple[int, ...], owner: int) -> None:
        self._pushed[owner] = self._pushed.get(owner, 0) + 1
        heappush(self._heap, (minus_support, groups, owner, self._pushed[owner]))
