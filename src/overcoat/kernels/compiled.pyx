# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The compiled `Grouping`: rows that know partners (partners.pyx, rows.pyx) and violated sets."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc, qsort, realloc

from overcoat.kernels.partners cimport Partners
from overcoat.kernels.rows cimport COUNT, HEAD, LENGTH

from overcoat.kernels.partners import loses_less

__all__ = ["Grouping", "loses_less"]


cdef struct Level:
    # Scratch space of one depth of the search for violations.
    int64_t* together     # support of the prefix with each group, zero between uses
    int32_t* n_rows       # number of rows of it, later the end of the group's bucket
    int32_t* seen         # groups met
    int32_t* bucket       # rows, bucketed by group
    int64_t capacity


cdef int compare_groups(const void* one, const void* other) noexcept nogil:
    cdef int32_t x = (<int32_t*> one)[0], y = (<int32_t*> other)[0]
    return (x > y) - (x < y)


cdef struct Pair:
    int64_t support
    int32_t other


cdef int compare_pairs(const void* one, const void* other) noexcept nogil:
    """Most supported first, then the one that comes first."""
    cdef Pair* x = <Pair*> one
    cdef Pair* y = <Pair*> other
    if x.support != y.support:
        return -1 if x.support > y.support else 1
    return (x.other > y.other) - (x.other < y.other)


cdef struct Found:
    # Violated sets: their supports, and their members one set after the other.
    int64_t* supports
    int32_t* groups
    int64_t n, capacity
    int size             # members of a set
    int64_t enough       # that many are wanted; worse ones need not be kept
    int64_t threshold    # sets with less support need not be kept
    int64_t n_best       # how many have support k - 1


cdef class Grouping(Partners):
    """See `overcoat.kernels.reference.Grouping`."""

    cdef:
        Level* _levels
        int _n_levels
        int32_t[::1] _prefix
        Found _found

    def __cinit__(self, *arguments):
        self._levels = NULL
        self._n_levels = 0
        self._found.supports = NULL
        self._found.groups = NULL
        self._found.capacity = 0
        self._found.size = 0

    def __init__(self, offsets, codes, counts, block_of, parent, weight):
        Partners.__init__(self, offsets, codes, counts, block_of, parent, weight)
        self._prefix = np.zeros(self.n_items + 1, np.int32)

    def __dealloc__(self):
        for depth in range(self._n_levels):
            free(self._levels[depth].together)
            free(self._levels[depth].n_rows)
            free(self._levels[depth].seen)
            free(self._levels[depth].bucket)
        free(self._levels)
        free(self._found.supports)
        free(self._found.groups)

    def violations(self, int32_t group, int size, int64_t k, bint above, linkable, int64_t limit):
        """Return the most supported sets of `size` linkable groups that fewer than k support."""
        cdef uint8_t[::1] marked = linkable
        cdef int32_t item
        cdef int64_t j, n_rows = 0
        cdef Found* found = &self._found
        found.n, found.enough, found.threshold, found.n_best = 0, limit, 1, 0
        if size > found.size:
            self._reserve_found(max(64, found.capacity), size)
        if marked[group]:
            self._reserve_levels(size)
            self._prefix[0] = group
            if size == 1:
                if self._support[group] < k:
                    self._keep(size, self._support[group], k)
            else:
                self._reserve_bucket(0, self._n_group_rows[group])
                item = group
                while item >= 0:
                    for j in range(self._holder_start[item],
                                   self._holder_start[item] + self._holder_length[item]):
                        self._levels[0].bucket[n_rows] = self._holders[j]
                        n_rows += 1
                    item = self._next[item]
                self._search(
                    1, size, self._levels[0].bucket, n_rows, group if above else -1, k, marked)
            self._prune(size)
        if found.n == 0:
            return np.empty(0, np.int64), np.empty((0, size), np.int32)
        return (
            np.array(<int64_t[:found.n]> found.supports),
            np.array(<int32_t[:found.n, :size]> found.groups),
        )

    # -- helpers --------------------------------------------------------------------------

    cdef int64_t _count_rows(
        self, Level* level, const int32_t* rows, int64_t n_rows
    ) noexcept nogil:
        """Fill `together` with the support of each group in `rows`; return how many are `seen`."""
        cdef:
            int64_t* together = level.together
            int64_t i, e, weight, n_seen = 0
            int32_t row, group
        for i in range(n_rows):
            row = rows[i]
            weight = self._rows[row + COUNT]
            for e in range(row + HEAD, row + HEAD + self._rows[row + LENGTH]):
                group = self._group[self._rows[e]]
                if together[group] == 0:
                    level.seen[n_seen] = group
                    n_seen += 1
                together[group] += weight
        return n_seen

    cdef int _reserve_levels(self, int size) except -1:
        cdef Level* levels
        cdef int depth
        cdef Py_ssize_t i, n = max(self.n_items, 1)
        if size <= self._n_levels:
            return 0
        levels = <Level*> realloc(self._levels, size * sizeof(Level))
        if levels == NULL:
            raise MemoryError
        self._levels = levels
        for depth in range(self._n_levels, size):
            levels[depth].together = <int64_t*> malloc(n * sizeof(int64_t))
            levels[depth].n_rows = <int32_t*> malloc(n * sizeof(int32_t))
            levels[depth].seen = <int32_t*> malloc(n * sizeof(int32_t))
            levels[depth].bucket = NULL
            levels[depth].capacity = 0
            self._n_levels = depth + 1
            if (levels[depth].together == NULL or levels[depth].n_rows == NULL
                    or levels[depth].seen == NULL):
                raise MemoryError
            for i in range(n):
                levels[depth].together[i] = 0
                levels[depth].n_rows[i] = 0
        return 0

    cdef int _reserve_bucket(self, int depth, int64_t rows) except -1:
        cdef Level* level = &self._levels[depth]
        cdef int32_t* bucket
        if rows <= level.capacity:
            return 0
        bucket = <int32_t*> realloc(level.bucket, 2 * rows * sizeof(int32_t))
        if bucket == NULL:
            raise MemoryError
        level.bucket = bucket
        level.capacity = 2 * rows
        return 0

    cdef int _keep(self, int size, int64_t support, int64_t k) except -1:
        """Note the set in `_prefix`."""
        cdef Found* found = &self._found
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

    cdef int _reserve_found(self, int64_t capacity, int size) except -1:
        cdef Found* found = &self._found
        supports = <int64_t*> realloc(found.supports, capacity * sizeof(int64_t))
        if supports != NULL:
            found.supports = supports
        groups = <int32_t*> realloc(found.groups, capacity * size * sizeof(int32_t))
        if groups != NULL:
            found.groups = groups
        if supports == NULL or groups == NULL:
            raise MemoryError
        found.capacity, found.size = capacity, size
        return 0

    cdef int _prune(self, int size) except -1:
        """Sort what was found, most supported first, then by members; keep `enough` of it."""
        cdef Found* found = &self._found
        cdef int64_t i
        cdef int32_t first = self._prefix[0], other
        if found.n == 0:
            return 0
        if size == 2:
            # All pairs share a member, so support and the other member tell them apart.
            pairs = <Pair*> malloc(found.n * sizeof(Pair))
            if pairs == NULL:
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
        elif size > 2:
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

    cdef int _search(
        self, int depth, int size, int32_t* rows, int64_t n_rows, int32_t last, int64_t k,
        uint8_t[::1] linkable,
    ) except -1:
        """Extend the prefix of `depth` groups, held by `rows`, by groups after `last`.

        Sets are grown in lexicographic order, so nothing beats the first `enough` of support
        k - 1 but others that end in the same place.
        """
        cdef:
            Level* level = &self._levels[depth]
            int32_t anchor = self._prefix[0], row, group
            int64_t i, e, start, support, entries = 0, n_seen
        if depth + 1 == size:
            n_seen = self._count_rows(level, rows, n_rows)
            for i in range(n_seen):
                group = level.seen[i]
                support = level.together[group]
                level.together[group] = 0
                if (
                    self._found.threshold <= support < k
                    and group > last and group != anchor and linkable[group]
                ):
                    self._prefix[depth] = group
                    self._keep(size, support, k)
            return 0

        n_seen = 0
        for i in range(n_rows):
            row = rows[i]
            for e in range(row + HEAD, row + HEAD + self._rows[row + LENGTH]):
                group = self._group[self._rows[e]]
                if group <= last or group == anchor or not linkable[group]:
                    continue
                if level.n_rows[group] == 0:
                    level.seen[n_seen] = group
                    n_seen += 1
                level.n_rows[group] += 1
                level.together[group] += self._rows[row + COUNT]
                entries += 1

        # Bucket the rows by group: n_rows becomes the end of each group's bucket.
        self._reserve_bucket(depth, entries)
        qsort(level.seen, n_seen, sizeof(int32_t), compare_groups)
        entries = 0
        for i in range(n_seen):
            group = level.seen[i]
            entries += level.n_rows[group]
            level.n_rows[group] = <int32_t> (entries - level.n_rows[group])
        for i in range(n_rows):
            row = rows[i]
            for e in range(row + HEAD, row + HEAD + self._rows[row + LENGTH]):
                group = self._group[self._rows[e]]
                if group <= last or group == anchor or not linkable[group]:
                    continue
                level.bucket[level.n_rows[group]] = row
                level.n_rows[group] += 1
        start = 0
        for i in range(n_seen):
            group = level.seen[i]
            entries = level.n_rows[group]
            support = level.together[group]
            level.together[group] = 0
            level.n_rows[group] = 0
            if support >= k and self._found.n_best < self._found.enough:
                self._prefix[depth] = group
                self._search(depth + 1, size, level.bucket + start, entries - start, group, k,
                             linkable)
            start = entries
        return 0
