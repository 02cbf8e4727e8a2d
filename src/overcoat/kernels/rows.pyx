# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The rows of the compiled kernels, and how merging changes them.

A row is a run of `_rows`: its length, its count, a mark, and one *item* for each group it holds,
the item's group being `_group[item]`; all in one place, because rows are visited in no order and
each visit should cost one look at memory. The other way round, each item has a slice of `_holders`:
the rows in which it stands for its group. A merge relabels items and visits only the rows of the
smaller group: where the row holds the other group too, one of the two items goes. So the rows of a
group are the holders of its items, no list is ever copied, and the slices only shrink.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t

cdef int64_t NO_LIMIT = 0x7FFFFFFFFFFFFFFF


cdef class Rows:
    """Rows, groups, supports; see `overcoat.kernels.reference.Grouping`."""

    def __init__(self, offsets, codes, counts, block_of):
        cdef:
            Py_ssize_t n_items = len(block_of), n_rows = len(counts), row, item
            const int64_t[::1] start = np.ascontiguousarray(offsets, np.int64)
            const int32_t[::1] items = np.ascontiguousarray(codes, np.int32)
            const int64_t[::1] count = np.ascontiguousarray(counts, np.int64)
            int64_t j, at = 0, size = len(codes) + HEAD * n_rows
        if size >= 1 << 31 or int(np.sum(counts)) >= 1 << 31:
            raise OverflowError("more than 2^31 items in distinct rows, or transactions")
        per_item = np.bincount(codes, minlength=n_items)[:n_items]
        self.n_items = n_items
        self._rows = np.empty(size, np.int32)
        self._holder_start = np.concatenate([[0], np.cumsum(per_item)]).astype(np.int64)
        self._holder_length = np.zeros(n_items, np.int32)
        self._holders = np.empty(len(codes), np.int32)
        self._support = np.zeros(n_items, np.int64)
        with nogil:
            for row in range(n_rows):
                self._rows[at + LENGTH] = <int32_t> (start[row + 1] - start[row])
                self._rows[at + COUNT] = <int32_t> count[row]
                self._rows[at + MARK] = 0
                for j in range(start[row], start[row + 1]):
                    item = items[j]
                    self._rows[at + HEAD + j - start[row]] = <int32_t> item
                    self._holders[self._holder_start[item] + self._holder_length[item]] = (
                        <int32_t> at)
                    self._holder_length[item] += 1
                    self._support[item] += count[row]
                at += HEAD + start[row + 1] - start[row]

        self._group = np.arange(n_items, dtype=np.int32)
        self._size = np.ones(n_items, np.int32)
        self._next = np.full(n_items, -1, np.int32)
        self._tail = np.arange(n_items, dtype=np.int32)
        self._n_group_rows = np.array(per_item, np.int64)
        self._block_of = np.array(block_of, np.int32)
        self._block_alive = np.bincount(block_of).astype(np.int32)
        self._stamp = 0
        self._mark = np.zeros(n_items, np.int32)
        self._position = np.zeros(n_items, np.int32)
        self._together = np.zeros(n_items, np.int64)
        self._seen = np.zeros(n_items, np.int32)

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

    def support(self, groups):
        """Return the number of transactions with all these groups (at least one is given)."""
        cdef const int32_t[::1] wanted = np.ascontiguousarray(groups, np.int32)
        cdef int32_t rarest = wanted[0]
        cdef Py_ssize_t i
        if wanted.shape[0] == 1:
            return self._support[rarest]
        self._stamp += 1
        for i in range(wanted.shape[0]):
            self._mark[wanted[i]] = self._stamp
            if self._n_group_rows[wanted[i]] < self._n_group_rows[rarest]:
                rarest = wanted[i]
        return self._marked_support(rarest, <int32_t> wanted.shape[0], NO_LIMIT)

    def supports(self, offsets, codes, which, int64_t limit):
        """Return min(support, limit) of the images of some itemsets; limit for an empty image."""
        cdef:
            const int64_t[::1] starts = np.ascontiguousarray(offsets, np.int64)
            const int32_t[::1] items = np.ascontiguousarray(codes, np.int32)
            const int64_t[::1] chosen = np.ascontiguousarray(which, np.int64)
            int64_t[::1] out = np.empty(chosen.shape[0], np.int64)
            Py_ssize_t i
            int64_t position
            int32_t group, rarest, n_groups
        with nogil:
            for i in range(chosen.shape[0]):
                self._stamp += 1
                rarest, n_groups = -1, 0
                for position in range(starts[chosen[i]], starts[chosen[i] + 1]):
                    group = self._group[items[position]]
                    if group < 0 or self._mark[group] == self._stamp:
                        continue
                    self._mark[group] = self._stamp
                    n_groups += 1
                    if rarest < 0 or self._n_group_rows[group] < self._n_group_rows[rarest]:
                        rarest = group
                if n_groups == 0:
                    out[i] = limit
                elif n_groups == 1:
                    out[i] = min(self._support[rarest], limit)
                else:
                    out[i] = min(self._marked_support(rarest, n_groups, limit), limit)
        return np.asarray(out)

    def projections(self, groups):
        """Return the rows that hold any of `groups`, as 0/1 over them, and their counts."""
        cdef:
            const int32_t[::1] wanted = np.ascontiguousarray(groups, np.int32)
            Py_ssize_t n = wanted.shape[0], i, found = 0
            int32_t item, row, group
            int64_t j, total = 0
        for i in range(n):
            total += self._n_group_rows[wanted[i]]
        cdef int32_t[::1] rows = np.empty(total, np.int32)
        self._stamp += 1
        for i in range(n):
            self._mark[wanted[i]] = self._stamp
            self._position[wanted[i]] = <int32_t> i
            item = wanted[i]
            while item >= 0:
                for j in range(self._holder_start[item],
                               self._holder_start[item] + self._holder_length[item]):
                    row = self._holders[j]
                    if self._rows[row + MARK] != self._stamp:
                        self._rows[row + MARK] = self._stamp
                        rows[found] = row
                        found += 1
                item = self._next[item]
        ordered = np.sort(np.asarray(rows)[:found])
        cdef int32_t[::1] sorted_rows = ordered
        table = np.zeros((found, n), np.uint8)
        cdef uint8_t[:, ::1] bits = table
        for i in range(found):
            row = sorted_rows[i]
            for j in range(row + HEAD, row + HEAD + self._rows[row + LENGTH]):
                group = self._group[self._rows[j]]
                if self._mark[group] == self._stamp:
                    bits[i, self._position[group]] = 1
        return table, np.asarray(self._rows)[ordered + COUNT].astype(np.int64)

    # -- changing -------------------------------------------------------------------------

    def merge(self, int32_t one, int32_t other):
        """Unite two groups; return the union."""
        cdef:
            int32_t small = one, large = other, item, row, kept, gone
            int64_t j, overlap = 0
        if self._n_group_rows[large] < self._n_group_rows[small]:
            small, large = large, small
        item = small
        while item >= 0:
            j = self._holder_start[item]
            while j < self._holder_start[item] + self._holder_length[item]:
                row = self._holders[j]
                if self._holds(row, large):
                    overlap += self._rows[row + COUNT]
                    self._drop(row, item)
                    self._holder_length[item] -= 1
                    self._n_group_rows[small] -= 1
                    self._holders[j] = (
                        self._holders[self._holder_start[item] + self._holder_length[item]])
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
        return kept

    def suppress(self, int32_t group):
        """Remove a group, with all its items."""
        cdef int32_t item = group
        cdef int64_t j
        while item >= 0:
            for j in range(self._holder_start[item],
                           self._holder_start[item] + self._holder_length[item]):
                self._drop(self._holders[j], item)
            self._holder_length[item] = 0
            self._group[item] = -1
            item = self._next[item]
        self._block_alive[self._block_of[group]] -= 1

    # -- helpers --------------------------------------------------------------------------

    cdef int64_t _marked_support(
        self, int32_t rarest, int32_t n_groups, int64_t limit
    ) noexcept nogil:
        """Count the rows with all marked groups, looking only at those of one; stop at limit."""
        cdef int32_t item = rarest, row, length, hits
        cdef int64_t j, e, total = 0
        while item >= 0:
            for j in range(self._holder_start[item],
                           self._holder_start[item] + self._holder_length[item]):
                row = self._holders[j]
                length = self._rows[row + LENGTH]
                if length < n_groups:
                    continue
                hits = 0
                for e in range(row + HEAD, row + HEAD + length):
                    hits += self._mark[self._group[self._rows[e]]] == self._stamp
                if hits == n_groups:
                    total += self._rows[row + COUNT]
                    if total >= limit:
                        return total
            item = self._next[item]
        return total

    cdef int32_t _count_together(self, int32_t group) noexcept nogil:
        """Fill `_together` with the support of `group` and each group it meets, itself too.

        Returns how many there are; `_seen` lists them.
        """
        cdef int32_t item = group, row, other, count, n_seen = 0
        cdef int64_t j, e
        while item >= 0:
            for j in range(self._holder_start[item],
                           self._holder_start[item] + self._holder_length[item]):
                row = self._holders[j]
                count = self._rows[row + COUNT]
                for e in range(row + HEAD, row + HEAD + self._rows[row + LENGTH]):
                    other = self._group[self._rows[e]]
                    if self._together[other] == 0:
                        self._seen[n_seen] = other
                        n_seen += 1
                    self._together[other] += count
            item = self._next[item]
        return n_seen

    cdef bint _holds(self, int32_t row, int32_t group) noexcept nogil:
        cdef int64_t e
        for e in range(row + HEAD, row + HEAD + self._rows[row + LENGTH]):
            if self._group[self._rows[e]] == group:
                return True
        return False

    cdef void _drop(self, int32_t row, int32_t item) noexcept nogil:
        cdef int64_t e = row + HEAD
        while self._rows[e] != item:
            e += 1
        self._rows[row + LENGTH] -= 1
        self._rows[e] = self._rows[row + HEAD + self._rows[row + LENGTH]]
