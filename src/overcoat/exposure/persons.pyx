# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""What an attacker may find out about some people, one by one; see reference.py."""

import numpy as np

from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint8_t, uint64_t

from overcoat.context import QUIET
from overcoat.data.pulse cimport Pulse, fetch_ahead

from overcoat.data.native import rows_by_item

cdef enum:
    MOST = 64  # items known
    SETS = 1024  # so many sets of a person are looked at together
    AHEAD = 8  # rows that are asked for before they are needed


cdef inline uint64_t _bit_of(int32_t label) noexcept nogil:
    """Return one of 64 bits, much the same number of labels for each."""
    return (<uint64_t> 1) << ((<uint64_t> label * <uint64_t> 0x9E3779B97F4A7C15) >> 58)


cdef class Persons:
    """Published rows by label, and a walk through the sets of one row at a time.

    Its labels are looked at the rarest first. The rows that hold a label get a mask: which of the
    later ones they hold. A set that as few people hold as the whole row ends a branch, for no
    larger set has fewer.
    """

    cdef:
        const int64_t[::1] start, weight
        const int32_t[::1] label
        int64_t[::1] first, place_of, people, lists
        int32_t[::1] holder
        const int32_t[::1] known  # the labels of the row looked at, the rarest first
        uint64_t[::1] masks
        int64_t n_words, n_nodes, budget, base, need, spare, worst
        const int32_t[::1] taken
        int64_t[::1] later
        double total
        int m
        Pulse pulse

    def __init__(self, offsets, labels, counts, int n_labels, *, stage=QUIET):
        self.start = np.ascontiguousarray(offsets, np.int64)
        self.label = np.ascontiguousarray(labels, np.int32)
        self.weight = np.ascontiguousarray(counts, np.int64)
        self.first, self.holder = rows_by_item(offsets, labels, n_labels)
        self._make_room(stage)

    def _make_room(self, stage):
        """Make what is scratch: of one who walks."""
        self.place_of = np.full(self.first.shape[0], -1, np.int64)
        self.masks, self.people = np.empty(0, np.uint64), np.empty(0, np.int64)
        self.lists = np.empty(0, np.int64)
        self.pulse = Pulse(stage)

    def beside(self, stage):
        """Return the same rows for another thread, which tells a stage of its own."""
        cdef Persons other = Persons.__new__(Persons)
        other.start, other.weight, other.label = self.start, self.weight, self.label
        other.first, other.holder = self.first, self.holder
        other._make_room(stage)
        return other

    def holding(self, wanted):
        """Return how many people hold all of some labels, at least one label."""
        cdef:
            const int32_t[::1] known = np.sort(np.asarray(wanted, np.int32))
            int64_t n = known.shape[0], best = 0, i, row, found = 0
            int32_t rarest
        for i in range(1, n):
            if (self.first[known[i] + 1] - self.first[known[i]]
                    < self.first[known[best] + 1] - self.first[known[best]]):
                best = i
        rarest = known[best]
        with nogil:
            for i in range(self.first[rarest], self.first[rarest + 1]):
                row = self.holder[i]
                if self.holds(row, known, 0, n):
                    found += self.weight[row]
            self.pulse.beat(4 * (self.first[rarest + 1] - self.first[rarest]))
        return found

    def holding_rows(self):
        """Return, for each row, how many people hold all its labels; see `reference`.

        Rows are asked by their rarest label: the rows that hold it are looked at together, first
        at their prints, in which each label sets one of 64 bits, then at their labels.
        """
        cdef:
            int64_t n_rows = self.weight.shape[0], n_labels = self.first.shape[0] - 1
            int64_t[::1] found = np.zeros(n_rows, np.int64)
            int64_t[::1] supports = np.zeros(n_labels, np.int64)
            int64_t[::1] asking = np.zeros(n_labels + 1, np.int64)  # rows by their rarest label
            int64_t[::1] rows
            int32_t[::1] rarest = np.full(n_rows, -1, np.int32)
            uint64_t[::1] prints = np.zeros(n_rows, np.uint64)
            uint64_t[::1] near = np.empty(np.diff(self.first).max(initial=0), np.uint64)
            int64_t row, i, a, b, n, at
            int32_t label
            uint64_t own
        with nogil:
            for row in range(n_rows):
                a, b = self.start[row], self.start[row + 1]
                for i in range(a, b):
                    label = self.label[i]
                    prints[row] |= _bit_of(label)
                    supports[label] += self.weight[row]
                    if rarest[row] < 0 or (self.first[label + 1] - self.first[label]
                            < self.first[rarest[row] + 1] - self.first[rarest[row]]):
                        rarest[row] = label
                if b - a > 1:
                    asking[rarest[row] + 1] += 1
            for label in range(n_labels):
                asking[label + 1] += asking[label]
        rows = np.empty(asking[n_labels], np.int64)
        cdef int64_t[::1] fill = np.array(asking)
        with nogil:
            for row in range(n_rows):
                n = self.start[row + 1] - self.start[row]
                if n == 0:
                    found[row] = INT64_MAX
                elif n == 1:
                    found[row] = supports[rarest[row]]
                else:
                    rows[fill[rarest[row]]] = row
                    fill[rarest[row]] += 1
            for label in range(n_labels):
                if asking[label] == asking[label + 1]:
                    continue
                a, n = self.first[label], self.first[label + 1] - self.first[label]
                for i in range(n):
                    near[i] = prints[self.holder[a + i]]
                for at in range(asking[label], asking[label + 1]):
                    row = rows[at]
                    own = prints[row]
                    for i in range(n):
                        if near[i] & own == own and self.holds(
                            self.holder[a + i], self.label, self.start[row],
                            self.start[row + 1] - self.start[row]
                        ):
                            found[row] += self.weight[self.holder[a + i]]
                    self.pulse.beat(n)
        return np.asarray(found)

    cdef bint holds(
        self, int64_t row, const int32_t[::1] wanted, int64_t at, int64_t n
    ) noexcept nogil:
        """Say whether a row has all of n labels, which stand there in order from `at`."""
        cdef int64_t j = self.start[row], stop = self.start[row + 1], met = 0
        if stop - j < n:
            return False
        while met < n and j < stop:
            if self.label[j] == wanted[at + met]:
                met += 1
            elif self.label[j] > wanted[at + met]:
                return False
            j += 1
        return met == n

    def weigh(self, labels, taken, int64_t spare, int64_t need, int64_t budget):
        """Return the worst case over the sets of a person, their sum, and whether all were seen.

        `labels` are those of items the attacker may know, `taken` how many items each; see
        `reference`. Where the budget of steps ends first, the worst case is the best found so far,
        and the sum counts what was not seen as if as few held it as hold the whole row.
        """
        cdef int64_t n = len(labels), i, n_slots, slot, support
        cdef double[MOST + 1] empty
        cdef double[MOST + 1] product
        order = self._look_at(labels)
        self.taken = np.ascontiguousarray(np.asarray(taken)[order], np.int32)
        # Items of labels after each, and the suppressed ones: what may still be added freely.
        later = np.cumsum(np.asarray(self.taken, np.int64)[::-1])[::-1]
        self.later = np.concatenate([later, [0]]) + spare
        self.need, self.spare, self.budget, self.n_nodes = need, spare, budget, 0
        self.base = self.holding(labels)
        self.worst, self.total = np.iinfo(np.int64).max, 0.0
        for i in range(MOST + 1):
            empty[i] = 0.0
        empty[0] = 1.0
        try:
            with nogil:
                for i in range(n):
                    if self.n_nodes > self.budget:
                        self.rest(i, empty)
                        break
                    n_slots, support = self.gather(i), 0
                    for slot in range(n_slots):
                        support += self.people[slot]
                    self.extend(empty, product, self.taken[i])
                    if support == self.base:
                        self.take(self.coefficient(product, self.later[i + 1]), support)
                        continue
                    self.take(self.coefficient(product, self.spare), support)
                    if need > 1:
                        self.visit(1, i, n_slots, 0, product)
        finally:
            self._look_away()
        return self.worst, self.total, self.n_nodes <= self.budget

    def is_unique(self, labels, int64_t m):
        """Say whether some set of at most m labels of a row is held by one person only.

        If one is, so is any with more labels of the row: only the largest need to be looked at.
        """
        cdef int64_t n = len(labels), i, n_slots, slot, support, state
        cdef bint found = False
        if n == 0:
            return False
        self._look_at(labels)
        self.need = min(m, n)
        try:
            with nogil:
                for i in range(n - self.need + 1):
                    state = self.begins_unique(i, n)
                    if state == 1:
                        found = True
                        break
                    if state == 0:
                        continue
                    n_slots = self.gather(i)
                    # If two people hold all that is left, no part of it is unique.
                    if self.hold_all(i, n, n_slots) > 1:
                        break
                    support = 0
                    for slot in range(n_slots):
                        support += self.people[slot]
                    if support == 1 or (self.need > 1 and self.search(1, i, n, n_slots, 0)):
                        found = True
                        break
        finally:
            self._look_away()
        return found

    cdef inline void ask_ahead(self, int64_t at, int64_t last) noexcept nogil:
        """Ask for what rows that come soon will need: they may be anywhere."""
        cdef int32_t row = self.holder[min(at + 2 * AHEAD, last)]
        fetch_ahead(&self.start[row])
        fetch_ahead(&self.weight[row])
        fetch_ahead(&self.label[0] + self.start[self.holder[min(at + AHEAD, last)]])

    cdef int64_t begins_unique(self, int64_t which, int64_t n) except -2 nogil:
        """Say whether a set of `need` labels, the first of them given, is held by one person only.

        The sets are written out, and each is dropped as soon as two people are seen to hold it: of
        a label that many hold, few rows are looked at. Returns -1 where there are too many sets.
        """
        cdef:
            uint64_t[SETS] sets
            uint8_t[SETS] seen  # whether one person was seen to hold it
            uint64_t low, next_, mask, chosen, end
            int64_t i, j, row, place, n_sets = 0, work = 0
            int64_t size = self.need - 1, n_later = n - which - 1
            int32_t label = self.known[which]
        if n_later >= 63:
            return -1
        chosen, end = ((<uint64_t> 1) << size) - 1, (<uint64_t> 1) << n_later
        while chosen < end:  # all with so many bits, in order
            if n_sets == SETS:
                return -1
            sets[n_sets], seen[n_sets] = chosen, False
            n_sets += 1
            if chosen == 0:
                break
            low = chosen & (~chosen + 1)
            next_ = chosen + low
            chosen = (((next_ ^ chosen) >> 2) // low) | next_
        for i in range(self.first[label], self.first[label + 1]):
            self.ask_ahead(i, self.first[label + 1] - 1)
            row, mask = self.holder[i], 0
            for j in range(self.start[row], self.start[row + 1]):
                place = self.place_of[self.label[j]] - which - 1
                if place >= 0:
                    mask |= (<uint64_t> 1) << place
            j = 0
            while j < n_sets:
                if mask & sets[j] != sets[j]:
                    j += 1
                elif seen[j] or self.weight[row] > 1:
                    n_sets -= 1
                    sets[j], seen[j] = sets[n_sets], seen[n_sets]
                else:
                    seen[j] = True
                    j += 1
            work += 8 + n_sets
            if n_sets == 0:
                break
        self.pulse.beat(work)
        return n_sets > 0

    def _look_at(self, labels):
        """Number the labels of one row by how rare they are; return their order."""
        known = np.asarray(labels, np.int64)
        first = np.asarray(self.first)
        order = np.argsort(first[known + 1] - first[known], kind="stable")
        self.known = known[order].astype(np.int32)
        np.asarray(self.place_of)[self.known] = np.arange(len(known))
        self.n_words = (len(known) + 63) // 64
        return order

    def _look_away(self):
        np.asarray(self.place_of)[self.known] = -1

    cdef int64_t gather(self, int64_t which) except -1 nogil:
        """Give the rows that hold a label masks of which rarer-or-later labels they hold, too."""
        cdef int64_t i, j, row, slot = 0, place, n_words = self.n_words
        cdef int32_t label = self.known[which]
        cdef int64_t n = self.first[label + 1] - self.first[label]
        if n * (MOST if self.need > MOST else self.need + 1) > self.lists.shape[0] or \
                n * n_words > self.masks.shape[0]:
            with gil:
                self.masks = np.empty(2 * n * n_words, np.uint64)
                self.people = np.empty(2 * n, np.int64)
                self.lists = np.empty(2 * n * (self.need + 1), np.int64)
        for i in range(self.first[label], self.first[label + 1]):
            self.ask_ahead(i, self.first[label + 1] - 1)
            row = self.holder[i]
            for j in range(n_words):
                self.masks[slot * n_words + j] = 0
            for j in range(self.start[row], self.start[row + 1]):
                place = self.place_of[self.label[j]]
                if place > which:
                    self.masks[slot * n_words + place // 64] |= (<uint64_t> 1) << (place % 64)
            self.people[slot] = self.weight[row]
            self.lists[slot] = slot
            slot += 1
        self.pulse.beat(8 * n)
        self.n_nodes += 1 + n // 4
        return n

    cdef int64_t hold_all(self, int64_t which, int64_t n, int64_t n_slots) except -1 nogil:
        """Return how many people hold all labels from one on; two are enough to know."""
        cdef int64_t slot, place, found = 0
        cdef bint whole
        for slot in range(n_slots):
            whole = True
            for place in range(which + 1, n):
                if not self.masks[slot * self.n_words + place // 64] >> (place % 64) & 1:
                    whole = False
                    break
            if whole:
                found += self.people[slot]
                if found > 1:
                    break
        return found

    cdef bint search(
        self, int depth, int64_t last, int64_t n_labels, int64_t n, int64_t offset
    ) except -1 nogil:
        """Say whether a set that goes on from here, to at most `need` labels, is unique."""
        cdef int64_t label, i, slot, count, support, to = offset + n
        for label in range(last + 1, n_labels):
            count = support = 0
            for i in range(n):
                slot = self.lists[offset + i]
                if self.masks[slot * self.n_words + label // 64] >> (label % 64) & 1:
                    self.lists[to + count] = slot
                    count += 1
                    support += self.people[slot]
            self.pulse.beat(n + 16)
            if support == 1:
                return True
            if depth + 1 < self.need and self.search(depth + 1, label, n_labels, count, to):
                return True
        return False

    cdef int visit(
        self, int depth, int64_t last, int64_t n, int64_t offset, double* product
    ) except -1 nogil:
        """Go on from a set whose last label is `last`, held by n slots listed from `offset`."""
        cdef double[MOST + 1] longer
        cdef int64_t label, i, slot, word, count, support, to = offset + n
        cdef uint64_t bit
        cdef double ways
        for label in range(last + 1, self.taken.shape[0]):
            if self.n_nodes > self.budget:
                self.rest(label, product)
                return 0
            word, bit = label // 64, (<uint64_t> 1) << (label % 64)
            count = support = 0
            for i in range(n):
                slot = self.lists[offset + i]
                if self.masks[slot * self.n_words + word] & bit:
                    self.lists[to + count] = slot
                    count += 1
                    support += self.people[slot]
            self.n_nodes += 1 + n // 16
            self.pulse.beat(n + 16)
            self.extend(product, longer, self.taken[label])
            if support == self.base:
                # However it goes on, as few hold it: count all the ways at once.
                ways = self.coefficient(longer, self.later[label + 1])
                self.take(ways, support)
                continue
            self.take(self.coefficient(longer, self.spare), support)
            if depth + 1 < self.need:
                self.visit(depth + 1, label, count, to, longer)
        return 0

    cdef void rest(self, int64_t label, double* product) noexcept nogil:
        """Count what the budget does not allow to look at as the worst there can be."""
        cdef double ways = (self.coefficient(product, self.later[label])
                            - self.coefficient(product, self.spare))
        if ways > 0.0:
            self.total += ways / <double> self.base

    cdef void take(self, double ways, int64_t support) noexcept nogil:
        if ways > 0.0:
            self.total += ways / <double> support
            if support < self.worst:
                self.worst = support

    cdef void extend(self, double* product, double* longer, int32_t taken) noexcept nogil:
        """Multiply by (1 + x)^taken - 1."""
        cdef int degree, share
        cdef double sum_, choose
        for degree in range(<int> self.need + 1):
            sum_, choose = 0.0, 1.0
            for share in range(1, degree + 1):
                choose = choose * (taken - share + 1) / share
                if choose == 0.0:
                    break
                sum_ += choose * product[degree - share]
            longer[degree] = sum_

    cdef double coefficient(self, double* product, int64_t free_items) noexcept nogil:
        """Return the coefficient of x^need of the product times (1 + x)^free_items."""
        cdef int share
        cdef double sum_ = 0.0, choose = 1.0
        for share in range(<int> self.need + 1):
            sum_ += choose * product[self.need - share]
            choose = choose * (free_items - share) / (share + 1)
            if choose == 0.0:
                break
        return sum_
