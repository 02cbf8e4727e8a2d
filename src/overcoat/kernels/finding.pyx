# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The violated set of groups to repair next; see `overcoat.kernels.finders`.

Each owner is in the heap of a size once, or not at all. What it has lies in its own arrays.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy

from overcoat.kernels.partners cimport Partners
from overcoat.kernels.pulse cimport beat
from overcoat.kernels.search cimport Search

from overcoat.kernels import finders
from overcoat.kernels.reference import nothing


cdef int64_t MORE = finders.MORE, MOST = finders.MOST


cdef class SetFinder:
    """See `overcoat.kernels.finders.SetFinder`."""

    def __init__(
        self, Partners grouping, linkable, int m, int64_t k, bint settles, int64_t enough,
        tell=nothing,
    ):
        cdef int32_t group
        self._grouping, self._m, self._k, self._tell = grouping, m, k, tell
        self._settles, self._enough = settles, enough
        self._linkable = np.array(linkable, np.uint8)
        for group in range(grouping.n_items):  # some may be merged already
            if grouping._group[group] == group:
                self._update_linkable(group)
        self._changed_at = np.zeros(grouping.n_items, np.int64)
        self._levels = []
        self._search = Search(grouping.n_items)

    def changed(self, groups):
        """Take note of groups that came out of merges since the last call."""
        cdef int32_t group
        cdef Level level
        cdef Py_ssize_t first = max(len(self._levels) - 1, 0) if self._settles else 0
        self._clock += 1
        for group in groups:
            self._changed_at[group] = self._clock
            self._update_linkable(group)
            for level in self._levels[first:]:
                level.wait(group, False, self._enough)

    def worst(self):
        """Return the violated set of largest support, of the smallest size that has any."""
        cdef int size, i
        cdef int32_t group, owner
        cdef Level level
        cdef Owned* owned
        for size in range(1, self._m + 1):
            if size > len(self._levels):
                level = Level(size, self._k, self._grouping.n_items)
                for group in range(self._grouping.n_items):
                    if self._grouping._group[group] == group:
                        level.wait(group, True, self._enough)
                self._levels.append(level)
            level = self._levels[size - 1]
            with nogil:
                owner = self._find(level)
            if owner >= 0:
                owned = &level.owned[owner]
                return owned.supports[owned.at], tuple(
                    [owned.groups[owned.at * size + i] for i in range(size)])
        return None

    # -- helpers --------------------------------------------------------------------------

    cdef void _update_linkable(self, int32_t group) noexcept nogil:
        cdef int32_t item = group
        while item >= 0 and not self._linkable[group]:
            self._linkable[group] = self._linkable[item]
            item = self._grouping._next[item]

    cdef int32_t _find(self, Level level) except -2 nogil:
        """Return the owner of the worst set, -1 if there is none."""
        cdef int32_t owner
        cdef Owned* owned
        while level.n:
            beat(self._tell, &self._work, 1)
            owner = level.heap[0]
            owned = &level.owned[owner]
            if not self._is_current(owner, self._clock if owned.waits else owned.time):
                level.drop(owner)  # merged or gone: others own its sets
            elif owned.waits:
                self._look(level, owner)
            elif self._has_current(level, owned):
                return owner
            else:
                self._go_on(level, owner)
        return -1

    cdef int _look(self, Level level, int32_t owner) except -1 nogil:
        """Find what an owner has, the first of it, or what comes after that which it had."""
        cdef Owned* owned = &level.owned[owner]
        cdef const int32_t* after = NULL
        cdef int64_t after_support = 0
        if not owned.waits:  # what it had may have changed, what comes after that has not
            after = owned.groups + (owned.n - 1) * level.size
            after_support = owned.supports[owned.n - 1]
        self._search.run(
            self._grouping, owner, level.size, self._k, owned.above, &self._linkable[0],
            owned.enough, after, after_support, self._tell)
        return level.take(owner, self._search, self._clock)

    cdef int _go_on(self, Level level, int32_t owner) except -1 nogil:
        """Pass on to the next set the owner has that is not stale, searching again at the end."""
        cdef Owned* owned = &level.owned[owner]
        while owned.at < owned.n and not self._has_current(level, owned):
            owned.at += 1
            self._work += 1
        if owned.at < owned.n:
            level.down(0)
        elif owned.n == owned.enough:  # it may have more
            # To look for pairs takes the same, however many are wanted.
            owned.enough = MOST if level.size == 2 else min(MORE * owned.enough, MOST)
            self._look(level, owner)
        else:
            level.drop(owner)
        return 0

    cdef bint _has_current(self, Level level, Owned* owned) noexcept nogil:
        """Whether no member of the set that an owner is at has changed since it was found."""
        cdef const int32_t* groups = owned.groups + owned.at * level.size
        cdef int i
        for i in range(level.size):
            if not self._is_current(groups[i], owned.time):
                return False
        return True

    cdef bint _is_current(self, int32_t group, int64_t time) noexcept nogil:
        """Whether what was a group at `time` has neither been merged nor suppressed since."""
        return self._grouping._group[group] == group and self._changed_at[group] <= time


cdef class Level:
    """What each group owns of one size."""

    def __cinit__(self, int size, int64_t k, Py_ssize_t n_items):
        self.size, self.best, self.n_items = size, k - 1, n_items
        self.owned = <Owned*> calloc(max(n_items, 1), sizeof(Owned))
        if self.owned == NULL:
            raise MemoryError
        self.heap = np.empty(n_items, np.int32)
        self.place = np.full(n_items, -1, np.int32)

    def __dealloc__(self):
        if self.owned != NULL:
            for owner in range(self.n_items):
                free(self.owned[owner].supports)
                free(self.owned[owner].groups)
            free(self.owned)

    cdef void wait(self, int32_t owner, bint above, int64_t enough) noexcept nogil:
        """Give an owner that is yet to be searched the place of the worst it can have."""
        cdef Owned* owned = &self.owned[owner]
        owned.waits, owned.above, owned.enough = True, above, enough
        if self.place[owner] < 0:
            self.heap[self.n], self.place[owner] = owner, self.n
            self.n += 1
        self.up(self.place[owner])

    cdef int take(self, int32_t owner, Search search, int64_t time) except -1 nogil:
        """Take what was found of the owner at the top, and give it its place."""
        cdef Owned* owned = &self.owned[owner]
        cdef int64_t n = search.found.n
        if n == 0:
            self.drop(owner)
            return 0
        if n > owned.n or owned.supports == NULL:
            supports = <int64_t*> realloc(owned.supports, n * sizeof(int64_t))
            if supports != NULL:
                owned.supports = supports
            groups = <int32_t*> realloc(owned.groups, n * self.size * sizeof(int32_t))
            if groups != NULL:
                owned.groups = groups
            if supports == NULL or groups == NULL:
                with gil:
                    raise MemoryError
        memcpy(owned.supports, search.found.supports, n * sizeof(int64_t))
        memcpy(owned.groups, search.found.groups, n * self.size * sizeof(int32_t))
        owned.n, owned.at, owned.time, owned.waits = n, 0, time, False
        self.down(0)
        return 0

    cdef void drop(self, int32_t owner) noexcept nogil:
        """Take the owner at the top, which has nothing any more, out of the heap."""
        cdef Owned* owned = &self.owned[owner]
        free(owned.supports)
        free(owned.groups)
        owned.supports, owned.groups, owned.n = NULL, NULL, 0
        self.n -= 1
        self.place[owner] = -1
        if self.n:
            self.heap[0] = self.heap[self.n]
            self.place[self.heap[0]] = 0
            self.down(0)

    cdef bint _comes_first(self, int32_t one, int32_t other) noexcept nogil:
        cdef const Owned* x = &self.owned[one]
        cdef const Owned* y = &self.owned[other]
        cdef int64_t support = self.best if x.waits else x.supports[x.at]
        cdef int64_t other_support = self.best if y.waits else y.supports[y.at]
        cdef int32_t member, other_member
        cdef int i
        if support != other_support:
            return support > other_support
        for i in range(self.size):
            member, other_member = self._member(one, i), self._member(other, i)
            if member != other_member:
                return member < other_member
        return one < other

    cdef int32_t _member(self, int32_t owner, int i) noexcept nogil:
        """Return a member of the set that an owner is at, or of the first it can have."""
        cdef const Owned* owned = &self.owned[owner]
        if owned.waits:
            return owner if owned.above and i == 0 else -1
        return owned.groups[owned.at * self.size + i]

    cdef void up(self, int32_t at) noexcept nogil:
        cdef int32_t owner = self.heap[at], above
        while at > 0:
            above = (at - 1) // 2
            if not self._comes_first(owner, self.heap[above]):
                break
            self.heap[at] = self.heap[above]
            self.place[self.heap[at]] = at
            at = above
        self.heap[at], self.place[owner] = owner, at

    cdef void down(self, int32_t at) noexcept nogil:
        cdef int32_t owner = self.heap[at], below
        while True:
            below = 2 * at + 1
            if below >= self.n:
                break
            if below + 1 < self.n and self._comes_first(self.heap[below + 1], self.heap[below]):
                below += 1
            if not self._comes_first(self.heap[below], owner):
                break
            self.heap[at] = self.heap[below]
            self.place[self.heap[at]] = at
            at = below
        self.heap[at], self.place[owner] = owner, at
