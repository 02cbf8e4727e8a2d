# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""How often a group meets the others.

Counting takes a visit to all rows of the group. One that is asked for again soon, as when a repair
goes on and on with the same groups, gets a *slot*: its counts are kept, and updated at each merge.
For a slot of g, when x and y are merged, |g and (x or y)| = |g and x| + |g and y| - |g and x and y|;
when g itself is merged with a smaller x, the rows of x without g are added. Both take a visit to
the rows of the smaller one only. When g is the smaller one, its slot is given up: its rows have
more than doubled, so that does not happen often.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from overcoat.data.pulse cimport fetch_ahead
from overcoat.kernels.merging cimport AHEAD, HEAD, LENGTH, LONG, count_of
from overcoat.kernels.pulse cimport beat
from overcoat.kernels.supports cimport Supports

cdef int64_t SOON = 4 * SLOTS  # asked for again within so many questions


cdef class Together(Supports):
    """Rows that know how often a group meets the others."""

    def __cinit__(self, *arguments):
        for slot in range(SLOTS):
            self._slots[slot].group = -1

    def __dealloc__(self):
        for slot in range(SLOTS):
            free(self._slots[slot].together)

    def __init__(self, offsets, codes, counts, block_of, tell):
        Supports.__init__(self, offsets, codes, counts, block_of, tell)
        self._slot_of = np.full(self.n_items, -1, np.int32)
        self._asked = np.full(self.n_items, -SOON - 1, np.int64)
        self._loose = np.zeros(max(self.n_items, 1), np.int64)
        self._seen = np.zeros(max(self.n_items, 1), np.int32)

    def merge(self, int32_t one, int32_t other):
        """Unite two groups; return the union."""
        cdef int32_t kept = min(one, other), gone = max(one, other)
        if self._n_used:
            self._update(one, other)
        self._asked[kept] = max(self._asked[kept], self._asked[gone])
        return Supports.merge(self, one, other)

    def suppress(self, int32_t group):
        """Remove a group, with all its items."""
        cdef int slot
        if self._slot_of[group] >= 0:
            self._free_slot(self._slot_of[group])
        for slot in range(SLOTS):
            if self._slots[slot].group >= 0:
                self._slots[slot].together[group] = 0
        Supports.suppress(self, group)

    # -- helpers --------------------------------------------------------------------------

    cdef int64_t* _count_together(self, int32_t group, int32_t* n_seen) except NULL:
        """Return the support of `group` with each group, itself too; `_seen` lists those it meets.

        Valid until the next question or change.
        """
        cdef:
            int64_t* together = &self._loose[0]
            int32_t i, other, n = 0
            bint soon
        for i in range(self._n_loose):
            together[self._seen[i]] = 0
        self._n_loose = 0
        soon = self._now - self._asked[group] < SOON
        self._ask(group)
        if self._slot_of[group] >= 0:
            together = self._slots[self._slot_of[group]].together
            for other in range(self.n_items):
                self._seen[n] = other
                n += together[other] > 0
        else:
            if soon:
                together = self._take_slot(group)
            n = self._count_rows(group, together)
            if not soon:
                self._n_loose = n
        n_seen[0] = n
        return together

    cdef void _ask(self, int32_t group) noexcept nogil:
        """Take note that a group was asked for."""
        self._now += 1
        self._asked[group] = self._now
        if self._slot_of[group] >= 0:
            self._slots[self._slot_of[group]].asked = self._now

    cdef int32_t _count_rows(self, int32_t group, int64_t* together) except -1 nogil:
        """Count into `together`, all zero so far; return how many are `_seen`."""
        cdef int32_t item = group, row, other, n = 0
        cdef int64_t j, e, count, end
        while item >= 0:
            end = self._holder_start[item] + self._holder_length[item]
            for j in range(self._holder_start[item], end):
                fetch_ahead(&self._rows[self._holders[min(j + AHEAD, end - 1)]])
                row = self._holders[j]
                count = count_of(&self._rows[row])
                for e in range(row + HEAD, row + HEAD + self._rows[row + LENGTH]):
                    other = self._group[self._rows[e]]
                    if together[other] == 0:
                        self._seen[n] = other
                        n += 1
                    together[other] += count
                beat(self._tell, &self._work, self._rows[row + LENGTH])
            item = self._next[item]
        return n

    cdef int64_t* _take_slot(self, int32_t group) except NULL:
        """Return an empty slot for a group: a free one, or the one not asked for the longest."""
        cdef int32_t slot, oldest = 0
        for slot in range(SLOTS):
            if self._slots[slot].group < 0:
                oldest = slot
                break
            if self._slots[slot].asked < self._slots[oldest].asked:
                oldest = slot
        if self._slots[oldest].group >= 0:
            self._free_slot(oldest)
        if self._slots[oldest].together == NULL:
            self._slots[oldest].together = <int64_t*> calloc(self.n_items, sizeof(int64_t))
            if self._slots[oldest].together == NULL:
                raise MemoryError
        else:
            memset(self._slots[oldest].together, 0, self.n_items * sizeof(int64_t))
        self._slots[oldest].group, self._slots[oldest].asked = group, self._now
        self._slots[oldest].grown = True
        self._slot_of[group] = oldest
        self._n_used += 1
        return self._slots[oldest].together

    cdef void _free_slot(self, int32_t slot) noexcept nogil:
        self._slot_of[self._slots[slot].group] = -1
        self._slots[slot].group = -1
        self._n_used -= 1

    cdef int _update(self, int32_t one, int32_t other) except -1 nogil:
        """Bring the slots up to a merge that is about to happen."""
        cdef:
            int32_t small = one, large = other, kept = min(one, other), gone = max(one, other)
            int32_t item, row, slot, own
            int64_t j, e, count, total, end
            int64_t* together
        if self._is_smaller(large, small):
            small, large = large, small
        if self._slot_of[small] >= 0:
            self._free_slot(self._slot_of[small])
        for slot in range(SLOTS):
            self._slots[slot].overlap = 0
            if self._slots[slot].group >= 0 and self._now - self._slots[slot].asked > SOON:
                self._free_slot(slot)
        own = self._slot_of[large]
        together = self._slots[own].together if own >= 0 else NULL

        item = small
        while item >= 0:
            end = self._holder_start[item] + self._holder_length[item]
            for j in range(self._holder_start[item], end):
                fetch_ahead(&self._rows[self._holders[min(j + AHEAD, end - 1)]])
                row = self._holders[j]
                count = count_of(&self._rows[row])
                beat(self._tell, &self._work, min(self._rows[row + LENGTH], LONG))
                if self._holds(row, large):
                    if self._rows[row + LENGTH] >= LONG:
                        for slot in range(SLOTS):
                            if self._slots[slot].group >= 0 and self._holds(
                                    row, self._slots[slot].group):
                                self._slots[slot].overlap += count
                        continue
                    for e in range(row + HEAD, row + HEAD + self._rows[row + LENGTH]):
                        slot = self._slot_of[self._group[self._rows[e]]]
                        if slot >= 0:
                            self._slots[slot].overlap += count
                elif together != NULL:
                    self._slots[own].grown = True
                    self._work += self._rows[row + LENGTH]
                    for e in range(row + HEAD, row + HEAD + self._rows[row + LENGTH]):
                        together[self._group[self._rows[e]]] += count
            item = self._next[item]

        for slot in range(SLOTS):
            if self._slots[slot].group < 0:
                continue
            together = self._slots[slot].together
            # In the slot of `large`, `small` now counts the union: its rows with and without large.
            total = (
                self._support[small] + self._support[large] - self._slots[slot].overlap
                if slot == own
                else together[one] + together[other] - self._slots[slot].overlap
            )
            together[gone], together[kept] = 0, total
        if own >= 0:
            self._slot_of[large] = -1
            self._slots[own].group = kept
            self._slot_of[kept] = own
        return 0
