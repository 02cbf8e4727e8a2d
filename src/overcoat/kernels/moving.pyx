# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Rows and groups between which single items move: what a search of partitions works on.

For every two groups it is known how many transactions hold both. The rows of an item tell what its
move changes: `look` visits them once, and every target is judged by what it saw.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from overcoat.kernels.pulse cimport beat

cdef enum:
    FAMILIES = 60  # bits that are used


cdef class Moving:
    """See `overcoat.kernels.moves.Moving`."""

    def __cinit__(self, *arguments):
        self._met = NULL

    def __dealloc__(self):
        free(self._met)

    def __init__(self, rules, group_of, tell):
        cdef int32_t x
        self._tell = tell
        self._offsets = np.ascontiguousarray(rules.offsets, np.int64)
        self._codes = np.ascontiguousarray(rules.codes, np.int32)
        self._counts = np.ascontiguousarray(rules.counts, np.int64)
        self._block_of = np.ascontiguousarray(rules.block_of, np.int32)
        self.n_items = len(rules.block_of)
        self.k = rules.k
        n, n_rows = self.n_items, len(rules.counts)
        lengths = np.diff(rules.offsets)
        rows = np.repeat(np.arange(n_rows, dtype=np.int32), lengths)
        keys = rules.codes.astype(np.uint16) if n <= 1 << 16 else rules.codes
        self._holders = rows[np.argsort(keys, kind="stable")]
        per_item = np.bincount(rules.codes, minlength=n)
        self._holder_start = np.concatenate([[0], np.cumsum(per_item)]).astype(np.int64)
        self._item_support = np.bincount(
            rules.codes, np.repeat(rules.counts, lengths), minlength=n).astype(np.int64)
        # So much can be seen in the rows of an item.
        most = int(np.bincount(rules.codes, np.repeat(lengths, lengths), minlength=1).max())
        most_rows = int(per_item.max()) if n else 0
        self._entry = np.empty(most + 1, np.int32)
        self._rows_with = np.empty(most + 1, np.int32)
        self._row_start = np.empty(most_rows + 1, np.int32)
        self._row_count = np.empty(most_rows + 1, np.int64)
        self._row_alone = np.empty(most_rows + 1, np.uint8)
        one = max(n, 1)
        self._head, self._next = np.full(one, -1, np.int32), np.full(one, -1, np.int32)
        self._prev, self._slot = np.full(one, -1, np.int32), np.full(one, -1, np.int32)
        self._size, self._block = np.zeros(one, np.int32), np.zeros(one, np.int32)
        self._support, self._occurrences = np.zeros(one, np.int64), np.zeros(one, np.int64)
        self._seen, self._targets = np.empty(one, np.int32), np.empty(one + 2, np.int32)
        self._together, self._alone = np.zeros(one, np.int64), np.zeros(one, np.int64)
        self._both = np.zeros(one, np.int64)
        self._first_row, self._n_with = np.zeros(one + 1, np.int32), np.zeros(one, np.int32)
        self._mark, self._stamp = np.zeros(one, np.int64), 0
        self._x = -1
        self._read_families(rules)
        groups, slots = np.unique(group_of[group_of >= 0], return_inverse=True)
        cdef int32_t[::1] start = np.full(one, -1, np.int32)
        placed = np.asarray(start)[:n]
        placed[group_of >= 0] = slots
        self.n_slots = len(groups)
        for x in range(n):
            if start[x] < 0:
                self.n_suppressed += 1
            else:
                self._add(x, start[x])
                self._occurrences[start[x]] += self._item_support[x]
        self.make_room(max(self.n_slots + 16, 32))
        self._count_all()

    def _read_families(self, rules):
        """Take the families of all m-itemsets; sizes beyond two are the business of `Keeping`."""
        families = list(rules.all_sets)
        n, one = self.n_items, max(self.n_items, 1)
        if rules.pairs:  # known of all items, whatever family it follows from
            families.append((2, np.ones(n, np.uint8)))
        # Where there are more families than bits, the last bit stands for all that are left: more
        # is asked then than the policy asks for.
        if len(families) > FAMILIES:
            most = max(m for m, _ in families[FAMILIES - 1:])
            every = np.bitwise_or.reduce([linked for _, linked in families[FAMILIES - 1:]])
            families = [*families[:FAMILIES - 1], (most, every)]
        self.n_families = len(families)
        self._m = np.array([m for m, _ in families], np.int32)
        self._linkable = np.ascontiguousarray(
            [linked for _, linked in families] or np.zeros((1, n)), np.uint8)
        self._links = np.zeros((max(self.n_families, 1), one), np.int32)
        self._bits, self._two = np.zeros(one, np.int64), 0
        item_bits = np.zeros(one, np.int64)
        for number, (m, linked) in enumerate(families):
            if m >= 1:
                item_bits[:n] |= np.asarray(linked[:n], np.int64) << number
            if m >= 2:
                self._two |= 1 << number
        self._item_bits = item_bits

    cdef int _count_all(self) except -1:
        """Count, over all rows, how many hold each group, and each two of them."""
        cdef:
            Py_ssize_t row, n_rows = self._counts.shape[0]
            int64_t j, i, count
            int32_t group, n = 0
            int32_t[::1] held = np.empty(self.n_items + 1, np.int32)
        with nogil:
            for row in range(n_rows):
                n, count = 0, self._counts[row]
                self._stamp += 1
                for j in range(self._offsets[row], self._offsets[row + 1]):
                    group = self._slot[self._codes[j]]
                    if group >= 0 and self._mark[group] != self._stamp:
                        self._mark[group] = self._stamp
                        held[n] = group
                        n += 1
                for i in range(n):
                    self._support[held[i]] += count
                    for j in range(i):
                        self._met[held[i] * self._room + held[j]] += count
                        self._met[held[j] * self._room + held[i]] += count
                beat(self._tell, &self._work, n + n * n)
        return 0

    def slots(self):
        """Return the slot of each item; -1 when it is suppressed."""
        return np.array(self._slot[:self.n_items])

    # -- one item -------------------------------------------------------------------------

    cdef int look(self, int32_t x) except -1 nogil:
        """See what the rows of an item hold beside its group."""
        cdef:
            int32_t home = self._slot[x], group, n_rows = 0, n = 0, n_seen = 0, i, start
            int64_t h, j, row, count, stamp = self._stamp
            bint alone, always = home < 0 or self._size[home] == 1
            const int64_t* offsets = &self._offsets[0]
            const int32_t* codes = &self._codes[0]
            const int32_t* slots = &self._slot[0]
            int64_t* mark = &self._mark[0]
            int64_t* together = &self._together[0]
            int64_t* alones = &self._alone[0]
            int32_t* entry = &self._entry[0]
            int32_t* seen = &self._seen[0]
        for i in range(self.n_seen):
            together[seen[i]] = alones[seen[i]] = 0
        self._alone_total, self._x, self._is_indexed = 0, x, False
        for h in range(self._holder_start[x], self._holder_start[x + 1]):
            row = self._holders[h]
            count = self._counts[row]
            stamp += 1
            alone, start = True, n
            for j in range(offsets[row], offsets[row + 1]):
                group = slots[codes[j]]
                if group == home:
                    alone = alone and codes[j] == x
                elif group >= 0 and mark[group] != stamp:
                    mark[group] = stamp
                    if together[group] == 0:
                        seen[n_seen] = group
                        n_seen += 1
                    together[group] += count
                    entry[n] = group
                    n += 1
            alone = alone or always
            self._row_start[n_rows] = start
            self._row_count[n_rows] = count
            self._row_alone[n_rows] = alone
            n_rows += 1
            if alone:
                self._alone_total += count
                if not always:
                    for i in range(start, n):
                        alones[entry[i]] += count
        if always:
            for i in range(n_seen):
                alones[seen[i]] = together[seen[i]]
        self._row_start[n_rows] = n
        self.n_seen, self._n_rows, self._stamp = n_seen, n_rows, stamp
        beat(self._tell, &self._work, n + n_rows)
        return 0

    cdef void _index_rows(self) noexcept nogil:
        """List, for each group that was seen, which rows of the item hold it."""
        cdef int32_t i, h, group, start = 0
        for i in range(self.n_seen):
            self._n_with[self._seen[i]] = 0
        for i in range(self._row_start[self._n_rows]):
            self._n_with[self._entry[i]] += 1
        for i in range(self.n_seen):
            group = self._seen[i]
            self._first_row[group] = start
            start += self._n_with[group]
            self._n_with[group] = 0
        for h in range(self._n_rows):
            for i in range(self._row_start[h], self._row_start[h + 1]):
                group = self._entry[i]
                self._rows_with[self._first_row[group] + self._n_with[group]] = h
                self._n_with[group] += 1
        self._is_indexed = True

    cdef int64_t met_after(self, int32_t one, int32_t target) noexcept nogil:
        """How many hold the home of the item seen, without it, and a target, with it."""
        cdef int64_t met = self._met[one * self._room + target] - self._alone[target]
        met += self._item_support[self._x] - self._alone_total
        return met - (self._together[target] - self._alone[target])

    cdef int find_targets(self, int32_t x, int64_t budget) except -1 nogil:
        """Find where the item seen may go: to slots, a new one (n_slots), or nowhere (-1).

        Left out is what the pairs of groups, the blocks and the budget forbid; other families are
        asked when a target was chosen.
        """
        cdef:
            int32_t home = self._slot[x], group, i, j, n = 0, kept, bad = -1
            int64_t k = self.k, left, x_bits = self._item_bits[x], rest = 0, asked
            bint may_stand = True
        self.n_targets = 0
        if home >= 0 and self._size[home] > 1:
            # What is left of its group: by itself, and with others.
            rest = self.bits_without(home, x)
            left = self._support[home] - self._alone_total
            if rest and 0 < left < k:
                return 0
            for i in range(self.n_seen):
                group = self._seen[i]
                if rest & self._bits[group] & self._two == 0:
                    continue
                left = self._met[home * self._room + group] - self._alone[group]
                if 0 < left < k:
                    if bad >= 0:
                        return 0
                    bad = group
        for group in range(self.n_slots):
            if (self._size[group] and group != home and self._block[group] == self._block_of[x]
                    and (bad < 0 or bad == group)):
                self._targets[n] = group
                n += 1
        if self._two:
            # With whom it is seen by too few, its new group must be seen already.
            for i in range(self.n_seen):
                group = self._seen[i]
                if self._together[group] >= k:
                    continue
                asked = self._bits[group] & self._two
                if asked & x_bits:
                    may_stand = False
                elif asked == 0:
                    continue
                kept = 0
                for j in range(n):
                    if (self._targets[j] == group
                            or self._met[group * self._room + self._targets[j]] > 0
                            or asked & (x_bits | self._bits[self._targets[j]]) == 0):
                        self._targets[kept] = self._targets[j]
                        kept += 1
                n = kept
                beat(self._tell, &self._work, n)
            if rest & self._two:
                kept = 0
                for j in range(n):
                    left = self.met_after(home, self._targets[j])
                    if (left == 0 or left >= k or rest & self._two & (
                            x_bits | self._bits[self._targets[j]]) == 0):
                        self._targets[kept] = self._targets[j]
                        kept += 1
                n = kept
                left = self._item_support[x] - self._alone_total
                if rest & self._two & x_bits and 0 < left < k:
                    may_stand = False
        may_stand = may_stand and (x_bits == 0 or self._item_support[x] >= k)
        beat(self._tell, &self._work, self.n_slots)
        if may_stand and bad < 0 and (home < 0 or self._size[home] > 1):
            self._targets[n] = self.free_slot()
            n += 1
        if home >= 0 and bad < 0 and self.n_suppressed < budget:
            self._targets[n] = -1
            n += 1
        self.n_targets = n
        return 0

    cdef int64_t bits_without(self, int32_t slot, int32_t x) noexcept nogil:
        """Return which families ask for a group when one of its items has left."""
        cdef int64_t found = self._bits[slot]
        cdef int family
        if self._item_bits[x]:
            for family in range(self.n_families):
                if self._linkable[family, x] and self._links[family, slot] == 1:
                    found &= ~(<int64_t> 1 << family)
        return found

    cdef int pairs_hold_after(self, int32_t x, int32_t target) except -1 nogil:
        """Whether, when the item seen has moved to a target of `find_targets`, all pairs hold.

        What `find_targets` could not tell: what comes of a group that more families ask for now.
        """
        cdef:
            int32_t group
            int64_t met, more
            bint good = True
        if target < 0 or target >= self.n_slots or self._size[target] == 0:
            return 1
        more = self._item_bits[x] & ~self._bits[target]
        if more == 0:
            return 1
        met = self._support[target] + self._item_support[x] - self._together[target]
        if 0 < met < self.k:
            return 0
        self.count_both(target)
        for group in range(self.n_slots):
            if group == target or group == self._slot[x] or more & self._bits[group] & self._two == 0:
                continue
            met = (self._met[target * self._room + group] + self._together[group]
                   - self._both[group])
            if 0 < met < self.k:
                good = False
                break
        self.clear_both(target)
        beat(self._tell, &self._work, self.n_slots)
        return good

    cdef void count_both(self, int32_t target) noexcept nogil:
        """Count, with each group, the rows of the item that hold a target, too."""
        cdef int32_t i, e, row
        if self._together[target] == 0:
            return
        if not self._is_indexed:
            self._index_rows()
        for i in range(self._first_row[target], self._first_row[target] + self._n_with[target]):
            row = self._rows_with[i]
            for e in range(self._row_start[row], self._row_start[row + 1]):
                self._both[self._entry[e]] += self._row_count[row]
            self._work += self._row_start[row + 1] - self._row_start[row]

    cdef void clear_both(self, int32_t target) noexcept nogil:
        cdef int32_t i, e, row
        if self._together[target] == 0:
            return
        for i in range(self._first_row[target], self._first_row[target] + self._n_with[target]):
            row = self._rows_with[i]
            for e in range(self._row_start[row], self._row_start[row + 1]):
                self._both[self._entry[e]] = 0

    # -- changing -------------------------------------------------------------------------

    cdef int32_t free_slot(self) noexcept nogil:
        """Return the lowest slot without a group."""
        cdef int32_t slot = 0
        while slot < self.n_slots and self._size[slot]:
            slot += 1
        return slot

    cdef int shift(self, int32_t x, int32_t target) except -1 nogil:
        """Move the item that was just seen; what was seen is stale after that."""
        cdef int32_t home = self._slot[x], i, group
        cdef int64_t met, both, support = self._item_support[x]
        if target >= self.n_slots:
            self.make_room(target + 1)
            self.n_slots = target + 1
        if home >= 0 and target >= 0:
            met = self.met_after(home, target)
            self._met[home * self._room + target] = met
            self._met[target * self._room + home] = met
        if target >= 0:
            self.count_both(target)
        for i in range(self.n_seen):
            group = self._seen[i]
            if group == target:
                continue
            if home >= 0:
                self._met[home * self._room + group] -= self._alone[group]
                self._met[group * self._room + home] = self._met[home * self._room + group]
            if target >= 0:
                both = self._together[group] - self._both[group]
                self._met[target * self._room + group] += both
                self._met[group * self._room + target] = self._met[target * self._room + group]
        if home >= 0:
            self._support[home] -= self._alone_total
            self._occurrences[home] -= support
            self._remove(x, home)
        else:
            self.n_suppressed -= 1
        if target >= 0:
            self._support[target] += support - self._together[target]
            self._occurrences[target] += support
            self.clear_both(target)
            self._add(x, target)
        else:
            self.n_suppressed += 1
        while self.n_slots and self._size[self.n_slots - 1] == 0:
            self.n_slots -= 1
        beat(self._tell, &self._work, self.n_seen)
        return 0

    cdef void _add(self, int32_t x, int32_t slot) noexcept nogil:
        cdef int family
        if self._item_bits[x]:
            for family in range(self.n_families):
                self._links[family, slot] += self._linkable[family, x]
            self._bits[slot] |= self._item_bits[x]
        self._next[x] = self._head[slot]
        self._prev[x] = -1
        if self._head[slot] >= 0:
            self._prev[self._head[slot]] = x
        self._head[slot] = x
        self._slot[x] = slot
        self._size[slot] += 1
        self._block[slot] = self._block_of[x]

    cdef void _remove(self, int32_t x, int32_t slot) noexcept nogil:
        cdef int family
        if self._item_bits[x]:
            self._bits[slot] = self.bits_without(slot, x)
            for family in range(self.n_families):
                self._links[family, slot] -= self._linkable[family, x]
        if self._prev[x] >= 0:
            self._next[self._prev[x]] = self._next[x]
        else:
            self._head[slot] = self._next[x]
        if self._next[x] >= 0:
            self._prev[self._next[x]] = self._prev[x]
        self._slot[x] = -1
        self._size[slot] -= 1

    cdef int make_room(self, int64_t slots) except -1 nogil:
        """See to it that so many slots have a place for what they share with others."""
        cdef int64_t room = self._room, row
        cdef int64_t* larger
        if slots <= room:
            return 0
        room = min(max(slots, room + room // 2), max(<int64_t> self.n_items, 1))
        larger = <int64_t*> calloc(room * room, sizeof(int64_t))
        if larger == NULL:
            with gil:
                raise MemoryError
        for row in range(self._room):
            memcpy(larger + row * room, self._met + row * self._room,
                   self._room * sizeof(int64_t))
        free(self._met)
        self._met, self._room = larger, room
        return 0
