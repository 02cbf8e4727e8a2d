# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The violated sets that hold one group, by growing sets over the rows that hold them.

A search has all its scratch space to itself and only reads the rows, so several can run at once.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc, qsort, realloc
from libc.string cimport memmove

from overcoat.kernels.merging cimport HEAD, LENGTH, GroupedRows, count_of
from overcoat.kernels.pulse cimport beat

cdef int64_t A_SEARCH = 1 << 10  # what a search takes beside the rows it visits


cdef int compare_groups(const void* one, const void* other) noexcept nogil:
    cdef int32_t x = (<int32_t*> one)[0], y = (<int32_t*> other)[0]
    return (x > y) - (x < y)


cdef class Search:
    """Finds violated sets of groups; `found` holds what the last run has found."""

    def __cinit__(self, Py_ssize_t n_items):
        self._n_items = n_items
        self._prefix = <int32_t*> malloc((n_items + 1) * sizeof(int32_t))
        self._set = <int32_t*> malloc((n_items + 1) * sizeof(int32_t))
        if self._prefix == NULL or self._set == NULL:
            raise MemoryError

    def __dealloc__(self):
        for depth in range(self._n_levels):
            free(self._levels[depth].together)
            free(self._levels[depth].n_rows)
            free(self._levels[depth].seen)
            free(self._levels[depth].met)
            free(self._levels[depth].bucket)
        free(self._levels)
        free(self._prefix)
        free(self._set)
        free(self.found.supports)
        free(self.found.groups)

    cdef int run(
        self, GroupedRows of, int32_t group, int size, int64_t k, bint above,
        const uint8_t* linkable, int64_t limit, tell,
    ) except -1 nogil:
        """Find what `Grouping.violations` of the reference kernels returns."""
        cdef Found* found = &self.found
        cdef Level* level
        cdef int32_t item
        cdef int64_t j, n_rows = 0
        cdef bint weak = False
        beat(tell, &self._work, A_SEARCH)
        found.n, found.enough, found.threshold, found.is_over = 0, limit, 1, False
        self._reserve_found(limit, size)
        if not linkable[group]:
            return 0
        self._reserve_levels(size)
        self._prefix[0] = group
        if size == 1:
            if of._support[group] < k:
                self._keep(size, of._support[group])
            return 0
        level = &self._levels[0]
        self._reserve_bucket(level, of._n_group_rows[group])
        item = group
        while item >= 0:
            for j in range(of._holder_start[item],
                           of._holder_start[item] + of._holder_length[item]):
                level.bucket[n_rows] = of._holders[j]
                n_rows += 1
                weak = weak or count_of(&of._rows[of._holders[j]]) < k
            item = of._next[item]
        if weak:  # else k people have whatever somebody has together with the group
            self._extend(
                of, 1, size, level.bucket, n_rows, group if above else -1, k, linkable, tell)
        return 0

    # -- growing --------------------------------------------------------------------------

    cdef int _extend(
        self, GroupedRows of, int depth, int size, const int32_t* rows, int64_t n_rows,
        int32_t last, int64_t k, const uint8_t* linkable, tell,
    ) except -1 nogil:
        """Extend the prefix of `depth` groups, held by `rows`, by groups after `last`.

        It calls itself as deep as the sets are large, which is not deep: a size is looked at when
        nothing smaller is violated, and to learn that takes a look at all smaller sets. They are
        grown in lexicographic order, so nothing beats the first `enough` of support k - 1 but
        others that end in the same place: then the search is over.
        """
        cdef:
            Level* level = &self._levels[depth]
            int32_t anchor = self._prefix[0], row, group
            int64_t i, e, start, support, n_met = 0, n_seen = 0
        if depth + 1 == size:
            n_seen = self._count(of, level, rows, n_rows, tell)
            for i in range(n_seen):
                group = level.seen[i]
                support = level.together[group]
                level.together[group] = 0
                if (
                    self.found.threshold <= support < k
                    and group > last and group != anchor and linkable[group]
                ):
                    self._prefix[depth] = group
                    self._keep(size, support)
            self.found.is_over = self.found.threshold == k - 1 and self.found.n == self.found.enough
            return 0

        for i in range(n_rows):
            n_met += of._rows[rows[i] + LENGTH]
        self._reserve_bucket(level, n_met)
        n_met = 0
        for i in range(n_rows):
            row = rows[i]
            for e in range(row + HEAD, row + HEAD + of._rows[row + LENGTH]):
                group = of._group[of._rows[e]]
                if group <= last or group == anchor or not linkable[group]:
                    continue
                if level.n_rows[group] == 0:
                    level.seen[n_seen] = group
                    n_seen += 1
                level.n_rows[group] += 1
                level.together[group] += count_of(&of._rows[row])
                level.met[2 * n_met] = group
                level.met[2 * n_met + 1] = row
                n_met += 1
            beat(tell, &self._work, of._rows[row + LENGTH])

        # Bucket the rows by group: n_rows becomes the end of each group's bucket.
        qsort(level.seen, n_seen, sizeof(int32_t), compare_groups)
        start = 0
        for i in range(n_seen):
            group = level.seen[i]
            start += level.n_rows[group]
            level.n_rows[group] = start - level.n_rows[group]
        for i in range(n_met):
            group = level.met[2 * i]
            level.bucket[level.n_rows[group]] = level.met[2 * i + 1]
            level.n_rows[group] += 1
        start = 0
        for i in range(n_seen):
            group = level.seen[i]
            n_met = level.n_rows[group] - start
            support = level.together[group]
            level.together[group] = 0
            level.n_rows[group] = 0
            if support >= k and not self.found.is_over:
                self._prefix[depth] = group
                self._extend(
                    of, depth + 1, size, level.bucket + start, n_met, group, k, linkable, tell)
            start += n_met
        return 0

    cdef int64_t _count(
        self, GroupedRows of, Level* level, const int32_t* rows, int64_t n_rows, tell
    ) except -1 nogil:
        """Fill `together` with the support of each group in `rows`; return how many are `seen`."""
        cdef:
            int64_t* together = level.together
            int64_t i, e, weight, n_seen = 0
            int32_t row, group
        for i in range(n_rows):
            row = rows[i]
            weight = count_of(&of._rows[row])
            for e in range(row + HEAD, row + HEAD + of._rows[row + LENGTH]):
                group = of._group[of._rows[e]]
                if together[group] == 0:
                    level.seen[n_seen] = group
                    n_seen += 1
                together[group] += weight
            beat(tell, &self._work, of._rows[row + LENGTH])
        return n_seen

    # -- keeping --------------------------------------------------------------------------

    cdef void _keep(self, int size, int64_t support) noexcept nogil:
        """Note the set in `_prefix`, unless `enough` others come before it.

        What is found stays in order: most supported first, then by members.
        """
        cdef Found* found = &self.found
        cdef int64_t low = 0, high = found.n, middle
        cdef int i = 1
        while i < size and self._prefix[i] < self._prefix[0]:  # only the anchor is out of place
            self._set[i - 1] = self._prefix[i]
            i += 1
        self._set[i - 1] = self._prefix[0]
        while i < size:
            self._set[i] = self._prefix[i]
            i += 1
        if found.n == found.enough and self._comes_after(found.n - 1, size, support):
            return
        while low < high:
            middle = low + (high - low) // 2
            if self._comes_after(middle, size, support):
                low = middle + 1
            else:
                high = middle
        found.n = min(found.n + 1, found.enough)
        memmove(&found.supports[low + 1], &found.supports[low],
                (found.n - 1 - low) * sizeof(int64_t))
        memmove(&found.groups[(low + 1) * size], &found.groups[low * size],
                (found.n - 1 - low) * size * sizeof(int32_t))
        found.supports[low] = support
        for i in range(size):
            found.groups[low * size + i] = self._set[i]
        if found.n == found.enough:
            found.threshold = found.supports[found.n - 1]

    cdef bint _comes_after(self, int64_t at, int size, int64_t support) noexcept nogil:
        """Whether `_set`, of this support, comes after what was found at some place."""
        cdef const int32_t* other = &self.found.groups[at * size]
        cdef int i
        if support != self.found.supports[at]:
            return support < self.found.supports[at]
        for i in range(size):
            if self._set[i] != other[i]:
                return self._set[i] > other[i]
        return False

    # -- scratch space --------------------------------------------------------------------

    cdef int _reserve_levels(self, int size) except -1 nogil:
        cdef Level* levels
        cdef Level* level
        cdef size_t n = max(self._n_items, 1)
        if size <= self._n_levels:
            return 0
        levels = <Level*> realloc(self._levels, size * sizeof(Level))
        if levels == NULL:
            with gil:
                raise MemoryError
        self._levels = levels
        while self._n_levels < size:
            level = &levels[self._n_levels]
            level.together = <int64_t*> calloc(n, sizeof(int64_t))
            level.n_rows = <int64_t*> calloc(n, sizeof(int64_t))
            level.seen = <int32_t*> malloc(n * sizeof(int32_t))
            level.met = level.bucket = NULL
            level.capacity = 0
            self._n_levels += 1
            if level.together == NULL or level.n_rows == NULL or level.seen == NULL:
                with gil:
                    raise MemoryError
        return 0

    cdef int _reserve_bucket(self, Level* level, int64_t entries) except -1 nogil:
        if entries <= level.capacity:
            return 0
        free(level.bucket)
        free(level.met)
        level.capacity = 2 * entries
        level.bucket = <int32_t*> malloc(level.capacity * sizeof(int32_t))
        level.met = <int32_t*> malloc(2 * level.capacity * sizeof(int32_t))
        if level.bucket == NULL or level.met == NULL:
            level.capacity = 0
            with gil:
                raise MemoryError
        return 0

    cdef int _reserve_found(self, int64_t enough, int size) except -1 nogil:
        cdef Found* found = &self.found
        if enough <= found.capacity and enough * size <= found.n_groups:
            return 0
        supports = <int64_t*> realloc(found.supports, enough * sizeof(int64_t))
        if supports != NULL:
            found.supports = supports
        groups = <int32_t*> realloc(found.groups, enough * size * sizeof(int32_t))
        if groups != NULL:
            found.groups = groups
        if supports == NULL or groups == NULL:
            with gil:
                raise MemoryError
        found.capacity, found.n_groups = enough, enough * size
        return 0
