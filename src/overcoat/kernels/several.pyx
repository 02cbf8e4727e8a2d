# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Moves of several items at once: swaps, pairs, merges, splits, and groups that stay together.

They are made item by item, whatever that breaks in between; then everything that they touched is
asked, and if anything does not hold they are made backwards. What they gain over moves of single
items: they reach what no sequence of single ones reaches within the policy.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t

from overcoat.kernels.keeping cimport Keeping

from overcoat.kernels.reference import nothing


cdef class Several(Keeping):
    """Groups between which several items move at once."""

    def __init__(self, rules, limits, price, group_of, seed, tell=nothing):
        cdef int32_t x
        n = len(group_of)
        self._random = seed
        self.allowed = rules.budget
        self._leader = np.ascontiguousarray(rules.leaders(), np.int32)
        cdef int32_t[::1] last = np.full(max(n, 1), -1, np.int32)
        self._companion = np.full(max(n, 1), -1, np.int32)
        for x in range(n):
            if self._leader[x] < 0:
                continue
            if last[self._leader[x]] >= 0:
                self._companion[last[self._leader[x]]] = x
            last[self._leader[x]] = x
        leading = np.flatnonzero(rules.leaders() == np.arange(n)).astype(np.int32)
        blocks = rules.block_of[leading]
        self._mates = leading[np.argsort(blocks, kind="stable")]
        n_blocks = int(rules.block_of.max(initial=-1)) + 1
        self._mates_start = np.concatenate(
            [[0], np.cumsum(np.bincount(blocks, minlength=n_blocks))]).astype(np.int64)
        self._went, self._came_from = np.zeros(2 * n + 2, np.int32), np.zeros(2 * n + 2, np.int32)
        self._chosen, self._asked = np.zeros(n + 1, np.int32), np.zeros(n + 1, np.int64)
        Keeping.__init__(self, rules, limits, price, group_of, tell)
        self.now = self.total()
        # A start that suppresses too much is no result, and may not suppress more.
        self.budget = max(self.allowed, self.n_suppressed)

    cdef uint64_t draw(self) noexcept nogil:
        """Return 63 random bits (splitmix64)."""
        cdef uint64_t value
        self._random += <uint64_t> 0x9E3779B97F4A7C15
        value = self._random
        value = (value ^ (value >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
        value = (value ^ (value >> 27)) * <uint64_t> 0x94D049BB133111EB
        return (value ^ (value >> 31)) >> 1

    cdef int32_t one_of(self, int32_t block) noexcept nogil:
        """Draw one of the leading items of a block."""
        cdef int64_t start = self._mates_start[block]
        cdef uint64_t n = <uint64_t> (self._mates_start[block + 1] - start)
        return self._mates[start + <int64_t> (self.draw() % n)]

    cdef bint is_bundle(self, int32_t x) noexcept nogil:
        """Whether an item cannot move by itself."""
        return self._leader[x] != x or self._companion[x] >= 0

    cdef int regroup(self, int32_t x, int32_t target) except -1 nogil:
        self.prepare(x)
        self.shift(x, target)
        return 0

    cdef int32_t choose_group(self, int32_t slot) noexcept nogil:
        """List the leading items of a group in order; return how many they are."""
        cdef int32_t item = self._head[slot], n = 0, at
        while item >= 0:
            if self._leader[item] == item:
                at = n
                while at > 0 and self._chosen[at - 1] > item:
                    self._chosen[at] = self._chosen[at - 1]
                    at -= 1
                self._chosen[at] = item
                n += 1
            item = self._next[item]
        return n

    # -- trying -----------------------------------------------------------------------------

    cdef int begin(self) except -1 nogil:
        """Begin to try some moves."""
        self.n_went = 0
        self._before = self.total()
        self._flat_before, self._ncp_before, self._ul_before = self.flat, self.ncp, self.ul
        return 0

    cdef int carry(self, int32_t x, int32_t target) except -1 nogil:
        """Move an item, and those that stay with it, whatever that breaks."""
        while x >= 0:
            if self._slot[x] == target:
                return 0
            self._went[self.n_went], self._came_from[self.n_went] = x, self._slot[x]
            self.n_went += 1
            self.regroup(x, target)
            x = self._companion[x]
        return 0

    cdef int go_back(self, int32_t until) except -1 nogil:
        """Make the moves that were tried, but for the first, backwards."""
        while self.n_went > until:
            self.n_went -= 1
            self.regroup(self._went[self.n_went], self._came_from[self.n_went])
        return 0

    cdef int stands(self) except -1 nogil:
        """Whether what was tried is allowed."""
        cdef int32_t i, item, slot, side
        if self.n_went == 0 or self.n_suppressed > self.budget:
            return 0
        if not self._loose and (
                self.flat > max(self.flat_limit, self._flat_before)
                or (self._has_ncp and self.ncp > max(self.ncp_limit, self._ncp_before))
                or self.ul > max(self.ul_limit, self._ul_before)):
            return 0
        self._ask_stamp += 1
        for i in range(self.n_went):
            for side in range(2):
                slot = self._came_from[i] if side else self._slot[self._went[i]]
                if slot >= 0 and self._size[slot] and self._asked[slot] != self._ask_stamp:
                    self._asked[slot] = self._ask_stamp
                    if not self.holds_for(slot, False):
                        return 0
        if self.n_sets == 0:
            return 1
        self._check_stamp += 1
        for i in range(self.n_went):
            if not self._sets_hold(self._went[i]):
                return 0
            for side in range(2):
                slot = self._came_from[i] if side else self._slot[self._went[i]]
                item = self._head[slot] if slot >= 0 else -1
                while item >= 0:
                    if not self._sets_hold(item):
                        return 0
                    item = self._next[item]
        return 1

    # -- by chance --------------------------------------------------------------------------

    cdef int32_t somewhere(self, int32_t x) except -2 nogil:
        """Draw a place for an item: the group of another, a new one, or, rarely, none."""
        cdef int32_t block = self._block_of[x], other
        cdef uint64_t n = <uint64_t> (
            self._mates_start[block + 1] - self._mates_start[block]) + 1
        cdef uint64_t drawn = self.draw() % n
        if drawn == n - 1:
            return -1 if self.budget else self.new_place(x)
        other = self._mates[self._mates_start[block] + <int64_t> drawn]
        return self.new_place(x) if other == x else self._slot[other]

    cdef int32_t new_place(self, int32_t x) noexcept nogil:
        """Return the lowest slot without a group, or where an item is if there is none."""
        cdef int32_t slot = self.free_slot()
        return slot if slot < self.n_items else self._slot[x]

    cdef int scatter(self, int32_t slot) except -1 nogil:
        """Send each item of a group to a place of its own."""
        cdef int32_t n = self.choose_group(slot), i
        for i in range(n):
            self.carry(self._chosen[i], self.somewhere(self._chosen[i]))
        return 0

    cdef int jump(self, int32_t x) except -1 nogil:
        """Try a move of several items, drawn at random, one of them given."""
        cdef:
            int32_t home = self._slot[x], block = self._block_of[x], y, target, n = 0, i
            int64_t j
            uint64_t kind = self.draw() % 6
        y = self.one_of(block)
        if kind == 0:  # two items, each anywhere
            self.carry(x, self.somewhere(x))
            self.carry(y, self.somewhere(y))
        elif kind == 1:  # a swap
            target = self._slot[y]
            self.carry(y, home)
            self.carry(x, target)
        elif kind == 2:  # two items together
            target = self.somewhere(x)
            self.carry(x, target)
            self.carry(y, target)
        elif kind == 3:  # a merge: of the suppressed, all that may come back do
            target = self._slot[y]
            if home != target:
                if home >= 0:
                    n = self.choose_group(home)
                else:
                    for j in range(self._mates_start[block], self._mates_start[block + 1]):
                        if self._slot[self._mates[j]] < 0:
                            self._chosen[n] = self._mates[j]
                            n += 1
                for i in range(n):
                    self.carry(self._chosen[i], target)
        elif kind == 4 and home >= 0:  # a split: some of a group go elsewhere together
            target = self.somewhere(x)
            n = self.choose_group(home)
            for i in range(n):
                if self.draw() & 1:
                    self.carry(self._chosen[i], target)
        elif kind == 5 and home >= 0:
            self.scatter(home)
        return 0
