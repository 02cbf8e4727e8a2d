# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Whether all families hold after a move: asked once it is made, and undone if they do not.

Only sets with one of the two groups that changed can have become violated. All sets of up to m
linkable groups: grown group by group along the rows that hold them.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, realloc

from overcoat.kernels.pulse cimport beat
from overcoat.kernels.witnesses cimport Witnesses, lowest


cdef class Keeping(Witnesses):
    """Groups that know whether the policy holds."""

    def __cinit__(self, *arguments):
        self._stack = NULL

    def __dealloc__(self):
        free(self._stack)

    def __init__(self, rules, limits, price, group_of, tell):
        n = max(len(group_of), 1)
        self._row_mark = np.zeros(max(len(rules.counts), 1), np.int64)
        Witnesses.__init__(self, rules, limits, price, group_of, tell)
        if self._in_bits:
            self._pair_mark = np.zeros(n**2 if self._largest > 2 else 1, np.int64)

    def holds(self):
        """Whether the whole policy holds now, the budget apart."""
        cdef int32_t slot
        cdef int64_t number
        for slot in range(self.n_slots):
            if self._size[slot] and not self.holds_for(slot, False):
                return False
        self._check_stamp += 1
        for number in range(self.n_sets):
            if not self._set_holds(number):
                return False
        return True

    def broken(self):
        """Return by how much the policy is broken: 0 where it holds, the budget apart.

        Whatever 1 to k-1 hold counts as many as hold it: they all have to be told apart no more.
        """
        cdef int32_t slot, other
        cdef int64_t number, met, total = 0
        for slot in range(self.n_slots):
            if self._size[slot] == 0 or self._bits[slot] == 0:
                continue
            if self._support[slot] < self.k:
                total += self._support[slot]
            for other in range(slot):
                if self._size[other] and self._bits[slot] & self._bits[other] & self._two:
                    met = self._met[slot * self._room + other]
                    if met < self.k:
                        total += met
        if total == 0 and self._largest > 2:
            for slot in range(self.n_slots):
                if self._size[slot] and not self.holds_for(slot, False):
                    total += 1
        self._check_stamp += 1
        for number in range(self.n_sets):
            if not self._set_holds(number):
                total += 1
        return total

    cdef int holds_after(
        self, int32_t x, int32_t home, int32_t target, int64_t epoch
    ) except -1 nogil:
        """Whether everything holds, an item having moved; pairs of groups are known to.

        epoch : before the move. What was sure then is sure now, too, if everything holds.
        """
        if not self._post:
            return 1
        if self._largest > 2 and not self._large_sets_hold(x, home, target):
            return 0
        if self.n_sets == 0:
            return 1
        self._epoch = epoch
        self._n_doubted = 0
        self._check_stamp += 1
        return self._sets_hold(x) and self._others_hold(x, home, target)

    cdef int _large_sets_hold(self, int32_t x, int32_t home, int32_t target) except -1 nogil:
        """Whether sets of three and more groups hold, an item having moved.

        Only sets can have changed whose other groups were seen with the item: of the group that
        it left in rows where it was the only one, of the group that it came to in the others.
        """
        cdef int32_t i
        cdef int family
        cdef bint known = self._was_linkable(x, target) if target >= 0 else True
        if home >= 0 and self._size[home] == 0:
            home = -1
        if self._in_bits and known:
            for family in range(self.n_families):
                if self._m[family] > 2 and not self._threes_hold(family, home, target):
                    return 0
            if self._largest == 3:
                return 1
        self._inside_stamp += 1
        for i in range(self.n_seen):
            self._inside[self._seen[i]] = self._inside_stamp
        if home >= 0:
            self._inside[home] = self._inside_stamp
        if target >= 0:
            self._inside[target] = self._inside_stamp
        if home >= 0 and not self.holds_for(home, True):
            return 0
        # A group that has become linkable only now must hold in all its sets.
        if target >= 0 and not self.holds_for(target, known):
            return 0
        return 1

    cdef bint _was_linkable(self, int32_t x, int32_t target) noexcept nogil:
        """Whether a group was asked for by every family that does so now, before an item came.

        Of sets of three and more. A group of its own is seen in the rows of the item alone.
        """
        cdef int family
        if self._size[target] == 1:
            return True
        for family in range(self.n_families):
            if self._m[family] > 2 and self._links[family, target] and (
                    self._links[family, target] == self._linkable[family, x]):
                return False
        return True

    cdef int _threes_hold(self, int family, int32_t home, int32_t target) except -1 nogil:
        """Whether all sets of three that a move may have changed hold; see `_large_sets_hold`."""
        cdef:
            int32_t row, e, f, one, other
            int64_t near, h = self._holder_start[self._x]
            bint alone, of_home, of_target, met
        of_home = home >= 0 and self._links[family, home]
        of_target = target >= 0 and self._links[family, target]
        self._pair_stamp += 2
        for row in range(<int32_t> (self._holder_start[self._x + 1] - h)):
            near, alone, met = self._holders[h + row] >> 6, self._row_alone[row], False
            for e in range(self._row_start[row], self._row_start[row + 1]):
                met = met or self._entry[e] == target
            for e in range(self._row_start[row], self._row_start[row + 1]):
                one = self._entry[e]
                if one == target or self._links[family, one] == 0:
                    continue
                if of_home and of_target and self._first_time(home, one, False):
                    if not self._three_holds(home, target, one, near):
                        return 0
                for f in range(self._row_start[row], e):
                    other = self._entry[f]
                    if other == target or self._links[family, other] == 0:
                        continue
                    if of_home and alone and self._first_time(one, other, False):
                        if not self._three_holds(home, one, other, near):
                            return 0
                    if of_target and not met and self._first_time(one, other, True):
                        if not self._three_holds(target, one, other, near):
                            return 0
                self._work += e - self._row_start[row]
            beat(self._tell, &self._work, self._row_start[row + 1] - self._row_start[row])
        return 1

    cdef bint _first_time(self, int32_t one, int32_t other, bint entered) noexcept nogil:
        """Whether two groups are seen for the first time, for either of two purposes."""
        cdef int32_t low = min(one, other), high = max(one, other)
        cdef int64_t place = low * self.n_items + high if entered else high * self.n_items + low
        if self._pair_mark[place] == self._pair_stamp:
            return False
        self._pair_mark[place] = self._pair_stamp
        return True

    cdef bint _three_holds(
        self, int32_t one, int32_t two, int32_t three, int64_t near
    ) noexcept nogil:
        """Whether three groups are held together by none or k; `near` is where to look first."""
        cdef:
            const uint64_t* first = &self._rows_in[one * self._words]
            const uint64_t* second = &self._rows_in[two * self._words]
            const uint64_t* third = &self._rows_in[three * self._words]
            int64_t at = near, n, count = 0
            uint64_t both
        for n in range(self._words):
            both = first[at] & second[at] & third[at]
            while both:
                count += self._counts[(at << 6) + lowest(both)]
                if count >= self.k:
                    self._work += n
                    return True
                both &= both - 1
            at = at + 1 if at + 1 < self._words else 0
        self._work += self._words
        return count == 0

    # -- all sets of m groups -------------------------------------------------------------

    cdef int holds_for(self, int32_t group, bint narrow) except -1 nogil:
        """Whether the families of all m-itemsets hold for a group; narrow: among `_inside`."""
        cdef int family
        cdef int32_t other
        cdef int64_t met, end = -1
        for family in range(self.n_families):
            if self._links[family, group] == 0 or self._m[family] < 1:
                continue
            if 0 < self._support[group] < self.k:
                return 0
            if self._m[family] < 2:
                continue
            for other in range(self.n_slots):
                if other != group and self._size[other] and self._links[family, other]:
                    met = self._met[group * self._room + other]
                    if 0 < met < self.k:
                        return 0
            beat(self._tell, &self._work, self.n_slots)
            if self._m[family] < 3:
                continue
            if not narrow:
                self._inside_stamp += 1
                for other in range(self.n_slots):
                    self._inside[other] = self._inside_stamp
            if end < 0:
                end = self._rows_of(group, 0)
            if not self._deeper(family, group, 0, end, -1, self._m[family] - 1):
                return 0
        return 1

    cdef int64_t _rows_of(self, int32_t group, int64_t at) except -1 nogil:
        """Put the rows of a group on the stack; return where they end."""
        cdef int32_t item = self._head[group], row
        cdef int64_t h
        self._row_stamp += 1
        while item >= 0:
            for h in range(self._holder_start[item], self._holder_start[item + 1]):
                row = self._holders[h]
                if self._row_mark[row] != self._row_stamp:
                    self._row_mark[row] = self._row_stamp
                    self._push(at, row)
                    at += 1
            item = self._next[item]
        return at

    cdef int _push(self, int64_t at, int32_t row) except -1 nogil:
        cdef int32_t* larger
        if at >= self._stack_room:
            larger = <int32_t*> realloc(self._stack, (2 * at + 1024) * sizeof(int32_t))
            if larger == NULL:
                with gil:
                    raise MemoryError
            self._stack, self._stack_room = larger, 2 * at + 1024
        self._stack[at] = row
        return 0

    cdef int _deeper(
        self, int family, int32_t group, int64_t start, int64_t end, int32_t last, int32_t left
    ) except -1 nogil:
        """Whether no set of these rows, grown by up to `left` later groups, is held by too few."""
        cdef:
            int64_t i, j, top = end, row, n, count
            int32_t other, found
        # The groups that come after, each once: after the rows on the stack.
        self._stamp += 1
        for i in range(start, end):
            row = self._stack[i]
            for j in range(self._offsets[row], self._offsets[row + 1]):
                other = self._slot[self._codes[j]]
                if (other > last and other != group and self._links[family, other]
                        and self._inside[other] == self._inside_stamp
                        and self._mark[other] != self._stamp):
                    self._mark[other] = self._stamp
                    self._push(top, other)
                    top += 1
            beat(self._tell, &self._work, self._offsets[row + 1] - self._offsets[row])
        for n in range(end, top):
            other = self._stack[n]
            count, found = 0, 0
            for i in range(start, end):
                row = self._stack[i]
                for j in range(self._offsets[row], self._offsets[row + 1]):
                    if self._slot[self._codes[j]] == other:
                        count += self._counts[row]
                        self._push(top + found, <int32_t> row)
                        found += 1
                        break
                self._work += self._offsets[row + 1] - self._offsets[row]
            beat(self._tell, &self._work, end - start)
            if count < self.k:
                return 0
            if left > 1 and not self._deeper(family, group, top, top + found, other, left - 1):
                return 0
        return 1
