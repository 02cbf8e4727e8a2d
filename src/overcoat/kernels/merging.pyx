# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The rows of the compiled kernels, and how merging changes them.

A row is a run of `_rows`: its length, its number, its count, and one *item* for each group it holds,
the item's group being `_group[item]`; all in one place, because rows are visited in no order and
each visit should cost one look at memory. The other way round, each item has a slice of `_holders`:
the rows in which it stands for its group. A merge relabels items and visits only the rows of the
smaller group: where the row holds the other group too, one of the two items goes. So the rows of a
group are the holders of its items, no list is ever copied, and the slices only shrink. From time to
time rows that have become equal are brought together. The rows lie in order of their lengths, the
longest first: what holds many groups is among the first.

When an item goes, the last one of its row takes its place. In a long row the place at the end then
says where that one went. So an item is found from where it was at first, among codes in order.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from overcoat.data.pulse cimport fetch_ahead
from overcoat.kernels.pulse cimport beat

from overcoat.data.native import gathered_rows, item_supports
from overcoat.kernels.limits import check_places

BATCH = 1 << 18  # rows that are brought into canonical form are handed over so many at a time


cdef class GroupedRows:
    """Rows and groups; see `overcoat.kernels.reference.Grouping`."""

    def __init__(self, offsets, codes, counts, block_of, tell):
        cdef Py_ssize_t n_items = len(block_of)
        self._tell = tell
        check_places(len(codes) + HEAD * len(counts))
        self.n_items = n_items
        self._fill(offsets, codes, counts)
        self._support = item_supports(offsets, codes, counts, n_items)
        self._n_groups, self._next_look = n_items, n_items // 2
        self._group = np.arange(n_items, dtype=np.int32)
        self._size = np.ones(n_items, np.int32)
        self._next = np.full(n_items, -1, np.int32)
        self._tail = np.arange(n_items, dtype=np.int32)
        self._n_group_rows = np.asarray(self._holder_length).astype(np.int64)
        self._block_of = np.array(block_of, np.int32)
        self._block_alive = np.bincount(block_of).astype(np.int32)
        self._stamp = 0
        self._mark = np.zeros(n_items, np.int64)

    # -- asking ---------------------------------------------------------------------------

    def groups(self):
        """Return all groups, ascending."""
        group = np.asarray(self._group)
        return np.flatnonzero(group == np.arange(self.n_items)).astype(np.int32)

    def group_of(self):
        """Return the group of each item, -1 where it is suppressed; (M,)."""
        return np.array(self._group)

    def group(self, int32_t item):
        """Return the group of one item, -1 if it is suppressed."""
        return self._group[item]

    def members(self, int32_t group):
        """Return the items of a group, ascending."""
        cdef int32_t item = group, i = 0
        items = np.empty(self._size[group], np.int32)
        cdef int32_t[::1] out = items
        while item >= 0:
            out[i] = item
            i += 1
            item = self._next[item]
        items.sort()
        return items

    def size(self, int32_t group):
        """Return the number of items of a group."""
        return self._size[group]

    def group_support(self, int32_t group):
        """Return the number of transactions with a group."""
        return self._support[group]

    def image(self, items):
        """Return the distinct groups of some items, ascending, without the suppressed ones."""
        cdef const int32_t[::1] given = np.ascontiguousarray(items, np.int32)
        cdef int32_t group, n = 0
        cdef Py_ssize_t i
        groups = np.empty(given.shape[0], np.int32)
        cdef int32_t[::1] out = groups
        self._stamp += 1
        for i in range(given.shape[0]):
            group = self._group[given[i]]
            if group >= 0 and self._mark[group] != self._stamp:
                self._mark[group] = self._stamp
                out[n] = group
                n += 1
        groups = groups[:n]
        groups.sort()
        return groups

    def has_partner(self, int32_t group):
        """Whether the block of a group holds another one."""
        return self._block_alive[self._block_of[group]] > 1

    # -- changing -------------------------------------------------------------------------

    def merge(self, int32_t one, int32_t other):
        """Unite two groups; return the union."""
        cdef:
            int32_t small = one, large = other, item, row, kept, gone
            int64_t j, end, overlap = 0
        if self._is_smaller(large, small):
            small, large = large, small
        item = small
        while item >= 0:
            j = self._holder_start[item]
            end = j + self._holder_length[item]
            while j < end:
                fetch_ahead(&self._rows[self._holders[min(j + AHEAD, end - 1)]])
                row = self._holders[j]
                beat(self._tell, &self._work, min(self._rows[row + LENGTH], LONG))
                if self._holds(row, large):
                    overlap += count_of(&self._rows[row])
                    self._drop(row, item)
                    self._holder_length[item] -= 1
                    self._n_group_rows[small] -= 1
                    end -= 1
                    self._holders[j] = self._holders[end]
                else:
                    j += 1
            item = self._next[item]

        kept, gone = min(one, other), max(one, other)
        item = gone
        while item >= 0:
            self._group[item] = kept
            item = self._next[item]
        self._next[self._tail[kept]] = gone
        self._tail[kept] = self._tail[gone]
        self._size[kept] += self._size[gone]
        self._support[kept] += self._support[gone] - overlap
        self._n_group_rows[kept] += self._n_group_rows[gone]
        self._block_alive[self._block_of[kept]] -= 1
        self._n_groups -= 1
        if self._n_groups <= self._next_look:
            self._look_for_equal_rows()
        return kept

    def suppress(self, int32_t group):
        """Remove a group, with all its items."""
        cdef int32_t item = group
        cdef int64_t j
        while item >= 0:
            for j in range(self._holder_start[item],
                           self._holder_start[item] + self._holder_length[item]):
                self._drop(self._holders[j], item)
                beat(self._tell, &self._work, LONG)
            self._holder_length[item] = 0
            self._group[item] = -1
            item = self._next[item]
        self._block_alive[self._block_of[group]] -= 1
        self._n_groups -= 1

    # -- helpers --------------------------------------------------------------------------

    cdef int _fill(self, offsets, codes, counts) except -1:
        """Lay out the rows, and who holds what."""
        cdef:
            Py_ssize_t n_rows = len(counts), number
            const int64_t[::1] start = np.ascontiguousarray(offsets, np.int64)
            const int32_t[::1] items = np.ascontiguousarray(codes, np.int32)
            const int64_t[::1] count = np.ascontiguousarray(counts, np.int64)
            int64_t j, row, at = 0
            int32_t item
        self._n_fills += 1
        # The longest rows first, and in their order: by counting, in little memory.
        cdef int32_t[::1] longest_first = np.empty(n_rows, np.int32)
        cdef int64_t longest = 0
        for row in range(n_rows):
            longest = max(longest, start[row + 1] - start[row])
        cdef int64_t[::1] n_with = np.zeros(longest + 2, np.int64), held = np.zeros(
            self.n_items, np.int64)
        with nogil:
            for row in range(n_rows):
                n_with[start[row + 1] - start[row]] += 1
                for j in range(start[row], start[row + 1]):
                    held[items[j]] += 1
            for j in range(longest, -1, -1):
                n_with[j] += n_with[j + 1]
        self._n_with = n_with
        next_place = np.asarray(n_with)[1:].copy()
        cdef int64_t[::1] place = next_place
        with nogil:
            for row in range(n_rows):
                j = start[row + 1] - start[row]
                longest_first[place[j]] = <int32_t> row
                place[j] += 1
        self._rows = np.empty(len(codes) + HEAD * n_rows, np.int32)
        self._row_start = np.empty(n_rows, np.int32)
        self._holder_start = np.concatenate([[0], np.cumsum(held)]).astype(np.int64)
        self._holder_length = np.zeros(self.n_items, np.int32)
        self._holders = np.empty(len(codes), np.int32)
        self._n_long = n_with[LONG] if LONG <= longest else 0
        self._origin = np.array(longest_first[:self._n_long], np.int64)
        if self._n_long:
            self._given_offsets, self._given_codes = start, items
        self._tell()
        with nogil:
            for number in range(n_rows):
                row = longest_first[number]
                self._row_start[number] = <int32_t> at
                self._rows[at + LENGTH] = <int32_t> (start[row + 1] - start[row])
                self._rows[at + NUMBER] = <int32_t> number
                memcpy(&self._rows[at + COUNT], &count[row], sizeof(int64_t))
                for j in range(start[row], start[row + 1]):
                    item = items[j]
                    self._rows[at + HEAD + j - start[row]] = item
                    self._holders[self._holder_start[item] + self._holder_length[item]] = (
                        <int32_t> at)
                    self._holder_length[item] += 1
                at += HEAD + start[row + 1] - start[row]
                beat(self._tell, &self._work, HEAD + 2 * (start[row + 1] - start[row]))
        return 0

    cdef int _look_for_equal_rows(self) except -1:
        """Bring rows that have become equal together, if that makes them much fewer.

        Looked for when half of the groups are gone, later if there was little to find.
        """
        cdef:
            Py_ssize_t n_rows = self._row_start.shape[0], row
            int64_t e, at, n_distinct = 0
            uint64_t[::1] value = np.random.default_rng(0).integers(
                1 << 63, size=self.n_items, dtype=np.uint64)
            uint64_t[::1] hashed = np.zeros(n_rows, np.uint64)
        with nogil:
            for row in range(n_rows):
                at = self._row_start[row]
                for e in range(at + HEAD, at + HEAD + self._rows[at + LENGTH]):
                    hashed[row] += value[self._group[self._rows[e]]]
                beat(self._tell, &self._work, HEAD + self._rows[at + LENGTH])
        # Only a guess at how many differ: what is equal is settled by gathered_rows.
        np.asarray(hashed).sort()
        for row in range(n_rows):
            n_distinct += row == 0 or hashed[row] != hashed[row - 1]
        if n_distinct > 0.8 * n_rows:
            self._next_look = self._n_groups // 4
            return 0
        self._next_look = self._n_groups // 2
        self._holders = None  # all is laid out anew, and nothing is held twice
        batches = [self._grouped(row, min(row + BATCH, n_rows)) for row in range(0, n_rows, BATCH)]
        self._rows = None
        offsets, codes, counts, _ = gathered_rows(batches, positions=False)
        self._fill(offsets, codes, counts)  # the first item of a group now stands for all of it
        self._n_group_rows = np.asarray(self._holder_length).astype(np.int64)
        return 0

    cdef _grouped(self, int64_t first, int64_t stop):
        """Return some rows as groups: offsets, codes and counts."""
        cdef int64_t row, e, at, n = 0
        for row in range(first, stop):
            n += self._rows[self._row_start[row] + LENGTH]
        offsets, counts = np.zeros(stop - first + 1, np.int64), np.empty(stop - first, np.int64)
        codes = np.empty(n, np.int32)
        cdef int64_t[::1] end = offsets, count = counts
        cdef int32_t[::1] groups = codes
        with nogil:
            n = 0
            for row in range(first, stop):
                at = self._row_start[row]
                count[row - first] = count_of(&self._rows[at])
                for e in range(at + HEAD, at + HEAD + self._rows[at + LENGTH]):
                    groups[n] = self._group[self._rows[e]]
                    n += 1
                end[row - first + 1] = n
                beat(self._tell, &self._work, HEAD + self._rows[at + LENGTH])
        return offsets, codes, counts

    cdef int64_t _list_rows(self, int32_t group, int32_t* out) noexcept nogil:
        """List where the rows of a group start; return how many there are.

        Rows lie anywhere, and who has a list of them can ask for the next ones in time.
        """
        cdef int64_t n = 0
        while group >= 0:
            memcpy(out + n, &self._holders[0] + self._holder_start[group],
                   self._holder_length[group] * sizeof(int32_t))
            n += self._holder_length[group]
            group = self._next[group]
        return n

    cdef bint _is_smaller(self, int32_t one, int32_t other) noexcept nogil:
        """Whether it takes less to visit the items and rows of one group than of another."""
        return (self._n_group_rows[one] + self._size[one]
                < self._n_group_rows[other] + self._size[other])

    cdef bint _holds(self, int32_t row, int32_t group) noexcept nogil:
        cdef int64_t e
        for e in range(row + HEAD, row + HEAD + self._rows[row + LENGTH]):
            if self._group[self._rows[e]] == group:
                return True
        return False

    cdef void _drop(self, int32_t row, int32_t item) noexcept nogil:
        cdef int64_t place = self._place_in(row, item), last
        self._rows[row + LENGTH] -= 1
        last = self._rows[row + LENGTH]
        self._rows[row + HEAD + place] = self._rows[row + HEAD + last]
        if last != place:
            self._rows[row + HEAD + last] = <int32_t> place

    cdef int64_t _place_in(self, int32_t row, int32_t item) noexcept nogil:
        """Return where in a row an item lies."""
        cdef const int32_t* items = &self._rows[row + HEAD]
        cdef int64_t place = 0, start, low, high, middle
        if self._rows[row + NUMBER] >= self._n_long:
            while items[place] != item:
                place += 1
            return place
        start = self._given_offsets[self._origin[self._rows[row + NUMBER]]]
        low, high = 0, self._given_offsets[self._origin[self._rows[row + NUMBER]] + 1] - start
        while low < high:
            middle = low + (high - low) // 2
            if self._given_codes[start + middle] < item:
                low = middle + 1
            else:
                high = middle
        while low >= self._rows[row + LENGTH]:  # it went on, to take the place of another
            low = items[low]
        return low
