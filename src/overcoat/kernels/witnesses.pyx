# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Whether explicit itemsets hold after a move.

Each has k *witnesses*, rows that hold its image; as long as they do, nothing has to be counted.
Otherwise others are looked for, on the bits of the rows: for each group those that hold it.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t

from overcoat.kernels.costs cimport Costs
from overcoat.kernels.pulse cimport beat

cdef enum:
    MASKED = 12  # an itemset of up to so many groups has its parts counted one by one

WITNESSES = 64  # an itemset that needs more is counted each time
MOST_WORDS = 1 << 25  # of 64 rows each, for all groups: a quarter of a gigabyte


cdef class Witnesses(Costs):
    """Groups that know whether explicit itemsets hold, and which rows hold them, as bits."""

    def __init__(self, rules, limits, price, group_of, tell):
        n = len(group_of)
        self._inside = np.zeros(max(n, 1), np.int64)
        self.n_sets = len(rules.set_offsets) - 1
        self._set_start = np.ascontiguousarray(rules.set_offsets, np.int64)
        self._set_items = np.ascontiguousarray(rules.set_codes, np.int32)
        owner = np.repeat(np.arange(self.n_sets, dtype=np.int32), np.diff(rules.set_offsets))
        self._sets_of = owner[np.argsort(rules.set_codes, kind="stable")]
        self._sets_start = np.concatenate(
            [[0], np.cumsum(np.bincount(rules.set_codes, minlength=n))]).astype(np.int64)
        self._witness = np.zeros((max(self.n_sets, 1), max(min(rules.k, WITNESSES), 1)), np.int32)
        self._n_witnesses = np.zeros(max(self.n_sets, 1), np.int32)
        self._checked = np.zeros(max(self.n_sets, 1), np.int64)
        self._sure, self._epoch, self._epochs = np.full(max(self.n_sets, 1), -1, np.int64), 0, 0
        self._doubted = np.zeros(max(self.n_sets, 1), np.int32)
        self._lost = np.zeros(max(len(rules.counts), 1), np.int64)
        self._image, self._group_mask = np.zeros(n + 1, np.int32), np.zeros(n + 1, np.int64)
        self._part_count = np.zeros(1 << MASKED, np.int64)
        Costs.__init__(self, rules, limits, price, group_of, tell)
        # Two groups at a time are looked at before a move; is there more to ask for?
        self._largest = max(self._m, default=0)
        self._post = self.n_sets > 0 or self._largest > 2
        self._words = (len(rules.counts) + 63) // 64
        self._in_bits = self._post and self._words * max(n, 1) <= MOST_WORDS
        if self._in_bits:
            self._rows_in = np.zeros(max(n, 1) * self._words, np.uint64)
            for x in range(n):
                if self._slot[x] >= 0:
                    self._set_rows(x, self._slot[x])

    cdef int shift(self, int32_t x, int32_t target) except -1 nogil:
        cdef int32_t home = self._slot[x], i = 0
        cdef int64_t h, row
        Costs.shift(self, x, target)
        self._epochs += 1
        self._epoch = self._epochs
        if not self._in_bits:
            return 0
        if home >= 0:
            for h in range(self._holder_start[x], self._holder_start[x + 1]):
                row = self._holders[h]
                if self._row_alone[i]:
                    self._rows_in[home * self._words + (row >> 6)] &= ~(<uint64_t> 1 << (row & 63))
                i += 1
        if target >= 0:
            self._set_rows(x, target)
        return 0

    cdef void _set_rows(self, int32_t x, int32_t slot) noexcept nogil:
        """Note that a group is in the rows of an item."""
        cdef int64_t h, row
        for h in range(self._holder_start[x], self._holder_start[x + 1]):
            row = self._holders[h]
            self._rows_in[slot * self._words + (row >> 6)] |= <uint64_t> 1 << (row & 63)

    cdef void take_back(self, int64_t epoch) noexcept nogil:
        """Note that a move was taken back: what was found meanwhile may hold no more."""
        cdef int32_t i
        for i in range(self._n_doubted):
            self._sure[self._doubted[i]] = -1
        self._n_doubted, self._epoch = 0, epoch

    cdef int _sets_hold(self, int32_t item) except -1 nogil:
        """Whether the itemsets with an item hold, those apart that were looked at already."""
        cdef int64_t j
        cdef int32_t number
        for j in range(self._sets_start[item], self._sets_start[item + 1]):
            number = self._sets_of[j]
            if self._checked[number] != self._check_stamp:
                self._checked[number] = self._check_stamp
                if not self._set_holds(number):
                    return 0
        return 1

    cdef int _others_hold(self, int32_t x, int32_t home, int32_t target) except -1 nogil:
        """Whether the itemsets hold that are without an item that moved, but not without its groups.

        Its old group is lost to rows in which it was the only one there; its new group loses none.
        """
        cdef:
            int32_t side, group, item, number, i
            int64_t j, first = self._holder_start[x]
            bint valid
        if home >= 0:
            self._lost_stamp += 1
            for j in range(first, self._holder_start[x + 1]):
                if self._row_alone[j - first]:
                    self._lost[self._holders[j]] = self._lost_stamp
        for side in range(2):
            group = home if side == 0 else target
            item = self._head[group] if group >= 0 else -1
            while item >= 0:
                for j in range(self._sets_start[item], self._sets_start[item + 1]):
                    number = self._sets_of[j]
                    if self._checked[number] == self._check_stamp:
                        continue
                    self._checked[number] = self._check_stamp
                    valid = self._n_witnesses[number] > 0 and self._sure[number] == self._epoch
                    if valid and side == 0:
                        for i in range(self._n_witnesses[number]):
                            if self._lost[self._witness[number, i]] == self._lost_stamp:
                                valid = False
                                break
                    if not valid and not self._set_holds(number):
                        return 0
                self._work += self._sets_start[item + 1] - self._sets_start[item]
                item = self._next[item]
        return 1

    cdef int _set_holds(self, int64_t number) except -1 nogil:
        """Whether an itemset is satisfied."""
        cdef:
            int64_t j, total
            int32_t group, rarest = -1, n = 0, i, known = self._n_witnesses[number]
            bint valid = known > 0
        self._doubt(number)
        self._inside_stamp += 1
        for j in range(self._set_start[number], self._set_start[number + 1]):
            group = self._slot[self._set_items[j]]
            if group >= 0 and self._inside[group] != self._inside_stamp:
                self._inside[group] = self._inside_stamp
                self._image[n] = group
                n += 1
                if rarest < 0 or self._support[group] < self._support[rarest]:
                    rarest = group
        if n == 0:
            return 1
        for i in range(known):
            if not self._row_holds(self._witness[number, i], n):
                valid = False
                break
        if valid:
            beat(self._tell, &self._work, known)
            self._sure[number] = self._epoch
            return 1
        self._n_witnesses[number] = 0
        total = self._look_in_bits(number, n, rarest) if self._in_bits else (
            self._look_along_rows(number, n, rarest))
        if total >= self.k:
            return 1
        return 0 if total else self._parts_hold(n)

    cdef bint _row_holds(self, int64_t row, int32_t n) noexcept nogil:
        """Whether a row holds the n groups of `_image`."""
        cdef int64_t j
        cdef int32_t group, hits = 0
        self._row_stamp += 1
        for j in range(self._offsets[row], self._offsets[row + 1]):
            group = self._slot[self._codes[j]]
            if group >= 0 and self._inside[group] == self._inside_stamp and (
                    self._group_mask[group] != self._row_stamp):
                self._group_mask[group] = self._row_stamp
                hits += 1
        self._work += self._offsets[row + 1] - self._offsets[row]
        return hits == n

    cdef int64_t _look_in_bits(self, int64_t number, int32_t n, int32_t rarest) except -1 nogil:
        """Count how many have the `_image`, up to k; keep their rows as witnesses."""
        cdef:
            int64_t at, row, total = 0
            int32_t i, kept = 0
            uint64_t both
            const uint64_t* rows = &self._rows_in[0]
        for at in range(self._words):
            both = rows[rarest * self._words + at]
            i = 0
            while both and i < n:
                both &= rows[self._image[i] * self._words + at]
                i += 1
            while both:
                row = (at << 6) + lowest(both)
                both &= both - 1
                total += self._counts[row]
                kept = self._keep(number, row, kept)
                if total >= self.k:
                    self._trust(number, kept)
                    beat(self._tell, &self._work, at)
                    return total
        beat(self._tell, &self._work, self._words)
        return total

    cdef int64_t _look_along_rows(self, int64_t number, int32_t n, int32_t rarest) except -1 nogil:
        """Do the same where bits would take too much memory."""
        cdef:
            int64_t h, row, total = 0
            int32_t item = self._head[rarest], kept = 0
        while item >= 0:
            for h in range(self._holder_start[item], self._holder_start[item + 1]):
                row = self._holders[h]
                if self._first_in(row, rarest) == item and self._row_holds(row, n):
                    total += self._counts[row]
                    kept = self._keep(number, row, kept)
                    if total >= self.k:
                        self._trust(number, kept)
                        return total
                beat(self._tell, &self._work, 1)
            item = self._next[item]
        return total

    cdef int32_t _keep(self, int64_t number, int64_t row, int32_t kept) noexcept nogil:
        """Keep a witness while there is room; return how many there are then."""
        if kept < self._witness.shape[1]:
            self._witness[number, kept] = <int32_t> row
        return kept + 1

    cdef void _trust(self, int64_t number, int32_t kept) noexcept nogil:
        """Note that the witnesses of an itemset suffice, if there was room for all."""
        if kept <= self._witness.shape[1]:
            self._n_witnesses[number] = kept
            self._sure[number] = self._epoch

    cdef void _doubt(self, int64_t number) noexcept nogil:
        """Note that what is known of an itemset may be true only until the move is taken back."""
        self._sure[number] = -1
        if self._n_doubted < self._doubted.shape[0]:
            self._doubted[self._n_doubted] = <int32_t> number
            self._n_doubted += 1

    cdef int32_t _first_in(self, int64_t row, int32_t group) noexcept nogil:
        """Return the first item of a row that is in a group: so that a row is counted once."""
        cdef int64_t j = self._offsets[row]
        while self._slot[self._codes[j]] != group:
            j += 1
        return self._codes[j]

    cdef int _parts_hold(self, int32_t n) except -1 nogil:
        """Whether every part of the `_image`, which nobody holds whole, is held by none or k."""
        cdef:
            int32_t i, item, mask, full = (1 << n) - 1 if n <= MASKED else 0
            int64_t h, row
        if n > MASKED:
            with gil:
                return self._long_parts_hold(n)
        for i in range(full + 1):
            self._part_count[i] = 0
        for i in range(n):
            item = self._head[self._image[i]]
            while item >= 0:
                for h in range(self._holder_start[item], self._holder_start[item + 1]):
                    row = self._holders[h]
                    mask = self._mask_of(row, n, item)
                    if mask >= 0:
                        self._part_count[mask] += self._counts[row]
                    beat(self._tell, &self._work, self._offsets[row + 1] - self._offsets[row])
                item = self._next[item]
        for i in range(n):
            for mask in range(full + 1):
                if not mask >> i & 1:
                    self._part_count[mask] += self._part_count[mask | 1 << i]
        for mask in range(1, full + 1):
            if 0 < self._part_count[mask] < self.k:
                return 0
        return 1

    cdef int32_t _mask_of(self, int64_t row, int32_t n, int32_t item) noexcept nogil:
        """Return which groups of `_image` a row holds; -1 unless `item` is its first in any."""
        cdef int64_t j
        cdef int32_t group, i, mask = 0
        for j in range(self._offsets[row], self._offsets[row + 1]):
            group = self._slot[self._codes[j]]
            if group < 0 or self._inside[group] != self._inside_stamp:
                continue
            if mask == 0 and self._codes[j] != item:
                return -1
            i = 0
            while self._image[i] != group:
                i += 1
            mask |= 1 << i
        return mask

    cdef int _long_parts_hold(self, int32_t n) except -1:
        """Do the same for many groups: what each row holds of them must be held by k."""
        cdef int64_t row, j
        wanted = set(np.asarray(self._image[:n]).tolist())
        shown = {}
        for row in range(self._counts.shape[0]):
            part = frozenset(
                self._slot[self._codes[j]]
                for j in range(self._offsets[row], self._offsets[row + 1])) & wanted
            if part:
                shown[part] = shown.get(part, 0) + self._counts[row]
            beat(self._tell, &self._work, self._offsets[row + 1] - self._offsets[row])
        for part in shown:
            if sum(count for other, count in shown.items() if part <= other) < self.k:
                return 0
        return 1
