# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""What an attacker may find out about some people, one by one; see reference.py."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t

from overcoat.context import QUIET
from overcoat.data.pulse cimport Pulse

cdef enum:
    MOST = 64  # items known


cdef class Persons:
    """Published rows by label, and a walk through the sets of one row at a time.

    The rows that share a label with the one looked at get a mask: which of its labels they hold.
    A set that as few people hold as the whole row ends a branch, for no larger set has fewer.
    """

    cdef:
        const int64_t[::1] start, weight
        const int32_t[::1] label
        int64_t[::1] first, holder, slot_of, people, lists
        uint64_t[::1] masks
        int64_t n_slots, n_words, n_nodes, budget, base, need, spare, worst
        const int32_t[::1] taken
        int64_t[::1] later
        double total, ways_cut
        int m
        Pulse pulse

    def __init__(self, offsets, labels, counts, int n_labels, *, stage=QUIET):
        self.start = np.ascontiguousarray(offsets, np.int64)
        self.label = np.ascontiguousarray(labels, np.int32)
        self.weight = np.ascontiguousarray(counts, np.int64)
        order = np.argsort(np.asarray(labels), kind="stable")
        self.holder = np.repeat(np.arange(len(counts)), np.diff(offsets))[order].astype(np.int64)
        self.first = np.searchsorted(
            np.asarray(labels)[order], np.arange(n_labels + 1)
        ).astype(np.int64)
        self.slot_of = np.full(len(counts), -1, np.int64)
        self.pulse = Pulse(stage)

    def holding(self, wanted):
        """Return how many people hold all of some labels, at least one label."""
        cdef:
            const int32_t[::1] known = np.sort(np.asarray(wanted, np.int32))
            int64_t n = known.shape[0], best = 0, i, j, row, found = 0
            int32_t rarest
        for i in range(1, n):
            if (self.first[known[i] + 1] - self.first[known[i]]
                    < self.first[known[best] + 1] - self.first[known[best]]):
                best = i
        rarest = known[best]
        with nogil:
            for i in range(self.first[rarest], self.first[rarest + 1]):
                row = self.holder[i]
                if self.start[row + 1] - self.start[row] < n:
                    continue
                j = self.start[row]
                best = 0
                while best < n and j < self.start[row + 1]:
                    if self.label[j] == known[best]:
                        best += 1
                    elif self.label[j] > known[best]:
                        break
                    j += 1
                if best == n:
                    found += self.weight[row]
            self.pulse.beat(4 * (self.first[rarest + 1] - self.first[rarest]))
        return found

    def weigh(self, labels, taken, int64_t spare, int64_t need, int64_t budget):
        """Return the worst case over the sets of a person, their sum, and whether all were seen.

        `labels` are those of items the attacker may know, `taken` how many items each; see
        `reference`. Where the budget of steps ends first, the worst case is the best found so far,
        and the sum counts what was not seen as if as few held it as hold the whole row.
        """
        cdef int64_t n = len(labels), i, slot, concerned = 0
        known = np.asarray(labels, np.int32)
        self.taken = np.ascontiguousarray(taken, np.int32)
        # Items of labels after each, and the suppressed ones: what may still be added freely.
        beyond = np.concatenate([np.cumsum(np.asarray(taken, np.int64)[::-1])[::-1], [0]]) + spare
        self.later = beyond
        self.need, self.spare, self.budget, self.n_nodes = need, spare, budget, 0
        self.base = self.holding(known)
        self.n_words = (n + 63) // 64
        cdef const int32_t[::1] view = known
        for i in range(n):
            concerned += self.first[view[i] + 1] - self.first[view[i]]
        self.masks = np.zeros(max(concerned, 1) * self.n_words, np.uint64)
        self.people = np.zeros(max(concerned, 1), np.int64)
        self.lists = np.empty(max(concerned, 1) * (need + 1), np.int64)
        self.n_slots = 0
        cdef int64_t[::1] seen = np.empty(max(concerned, 1), np.int64)
        with nogil:
            for i in range(n):
                self.mark(view[i], i, seen)
            self.pulse.beat(concerned)
            for slot in range(self.n_slots):
                self.slot_of[seen[slot]] = -1
                self.lists[slot] = slot
        self.worst, self.total = np.iinfo(np.int64).max, 0.0
        cdef double[MOST + 1] product
        self.start_product(product)
        with nogil:
            self.visit(0, -1, self.n_slots, 0, product)
        return self.worst, self.total, self.n_nodes <= self.budget

    cdef void start_product(self, double* product):
        cdef int degree
        for degree in range(MOST + 1):
            product[degree] = 0.0
        product[0] = 1.0

    cdef int mark(self, int32_t label, int64_t bit, int64_t[::1] seen) except -1 nogil:
        cdef int64_t i, row, slot
        for i in range(self.first[label], self.first[label + 1]):
            row = self.holder[i]
            slot = self.slot_of[row]
            if slot < 0:
                slot = self.slot_of[row] = self.n_slots
                self.people[slot] = self.weight[row]
                seen[slot] = row
                self.n_slots += 1
            self.masks[slot * self.n_words + bit // 64] |= (<uint64_t> 1) << (bit % 64)
        return 0

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
