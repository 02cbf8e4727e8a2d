# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The violated sets that hold one group, by growing sets over the rows that hold them.

A search has all its scratch space to itself and only reads the rows, so several can run at once.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc, qsort, realloc

from overcoat.kernels.merging cimport HEAD, LENGTH, GroupedRows, count_of
from overcoat.kernels.pulse cimport beat

cdef int64_t A_SEARCH = 1 << 10  # what a search takes beside the rows it visits


cdef struct Pair:
    int64_t support
    int32_t other


cdef int compare_groups(const void* one, const void* other) noexcept nogil:
    cdef int32_t x = (<int32_t*> one)[0], y = (<int32_t*> other)[0]
    return (x > y) - (x < y)


cdef int compare_pairs(const void* one, const void* other) noexcept nogil:
    """Most supported first, then the one that comes first."""
    cdef Pair* x = <Pair*> one
    cdef Pair* y = <Pair*> other
    if x.support != y.support:
        return -1 if x.support > y.support else 1
    return (x.other > y.other) - (x.other < y.other)


cdef class Search:
    """Finds violated sets of groups; `found` holds what the last run has found."""

    def __cinit__(self, Py_ssize_t n_items):
        self._n_items = n_items
        self._prefix = <int32_t*> malloc((n_items + 1) * sizeof(int32_t))
        if self._prefix == NULL:
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
        found.n, found.enough, found.threshold, found.n_best = 0, limit, 1, 0
        if size > found.size:
            self._reserve_found(max(64, found.capacity), size)
        if not linkable[group]:
            return 0
        self._reserve_levels(size)
        self._prefix[0] = group
        if size == 1:
            if of._support[group] < k:
                self._keep(size, of._support[group], k)
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
            self._prune(size)
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
        others that end in the same place.
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
                    self._keep(size, support, k)
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
            if support >= k and self.found.n_best < self.found.enough:
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

    cdef int _keep(self, int size, int64_t support, int64_t k) except -1 nogil:
        """Note the set in `_prefix`."""
        cdef Found* found = &self.found
        cdef int i
        if found.n == found.capacity:
            if found.n >= 4 * found.enough:
                self._prune(size)
            if found.n == found.capacity:
                self._reserve_found(2 * found.capacity, found.size)
        found.supports[found.n] = support
        for i in range(size):
            found.groups[found.n * size + i] = self._prefix[i]
        found.n += 1
        found.n_best += support == k - 1
        return 0

    cdef int _prune(self, int size) except -1 nogil:
        """Sort what was found, most supported first, then by members; keep `enough` of it."""
        cdef Found* found = &self.found
        if found.n == 0:
            return 0
        if size == 2:
            self._sort_pairs()
        else:
            with gil:
                supports = np.asarray(<int64_t[:found.n]> found.supports)
                groups = np.sort(np.asarray(<int32_t[:found.n, :size]> found.groups), axis=1)
                order = np.lexsort((*groups.T[::-1], -supports))[:found.enough]
                kept_supports, kept_groups = supports[order], groups[order]
                found.n = len(order)
                np.asarray(<int64_t[:found.n]> found.supports)[:] = kept_supports
                np.asarray(<int32_t[:found.n, :size]> found.groups)[:] = kept_groups
        if found.n == found.enough:
            found.threshold = found.supports[found.n - 1]
        return 0

    cdef int _sort_pairs(self) except -1 nogil:
        """Do that for pairs: they share a member, so support and the other one tell them apart."""
        cdef Found* found = &self.found
        cdef int64_t i
        cdef int32_t first = self._prefix[0], other
        cdef Pair* pairs = <Pair*> malloc(found.n * sizeof(Pair))
        if pairs == NULL:
            with gil:
                raise MemoryError
        for i in range(found.n):
            other = found.groups[2 * i + 1]
            pairs[i].support = found.supports[i]
            pairs[i].other = found.groups[2 * i] if other == first else other
        qsort(pairs, found.n, sizeof(Pair), compare_pairs)
        found.n = min(found.n, found.enough)
        for i in range(found.n):
            found.supports[i] = pairs[i].support
            found.groups[2 * i] = min(first, pairs[i].other)
            found.groups[2 * i + 1] = max(first, pairs[i].other)
        free(pairs)
        return 0

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

    cdef int _reserve_found(self, int64_t capacity, int size) except -1 nogil:
        cdef Found* found = &self.found
        supports = <int64_t*> realloc(found.supports, capacity * sizeof(int64_t))
        if supports != NULL:
            found.supports = supports
        groups = <int32_t*> realloc(found.groups, capacity * size * sizeof(int32_t))
        if groups != NULL:
            found.groups = groups
        if supports == NULL or groups == NULL:
            with gil:
                raise MemoryError
        found.capacity, found.size = capacity, size
        return 0
