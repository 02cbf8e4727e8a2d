# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Counting all small sets for verification; see reference.py. Written apart from the kernels."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, qsort, realloc

from .index cimport Index, Pulse


cdef enum:
    SOME = 1 << 14  # steps between two beats in the innermost loops


cdef int compare_labels(const void* one, const void* other) noexcept nogil:
    cdef int32_t x = (<int32_t*> one)[0], y = (<int32_t*> other)[0]
    return (x > y) - (x < y)


cdef struct Bucket:
    int32_t* rows
    int64_t capacity


cdef class _Search:
    """Grows sets label by label, in ascending order, counting each by the rows that hold it."""

    cdef:
        Index index
        Pulse pulse
        const uint8_t[::1] allowed
        int m, n_sizes
        int64_t k, limit, least, n_weak
        # For each size of the prefix: support of the prefix with each label and the number of
        # rows it has, both zero between uses, the labels met, and the rows of each.
        int64_t[:, ::1] support, n_rows
        int32_t[:, ::1] met
        Bucket* buckets
        int32_t[::1] prefix
        list weak

    def __init__(self, Index index, Pulse pulse, allowed, int m, int64_t k, int64_t limit):
        shape = (max(m, 1), max(index.n_labels, 1))
        self.index, self.pulse, self.allowed = index, pulse, allowed
        self.m, self.k, self.limit = m, k, limit
        self.least, self.n_weak, self.weak = 0, 0, []
        self.support = np.zeros(shape, np.int64)
        self.n_rows = np.zeros(shape, np.int64)
        self.met = np.zeros(shape, np.int32)
        self.prefix = np.zeros(shape[0], np.int32)
        self.n_sizes = shape[0]
        self.buckets = <Bucket*> calloc(self.n_sizes, sizeof(Bucket))
        if self.buckets == NULL:
            raise MemoryError

    def __dealloc__(self):
        cdef int size
        if self.buckets != NULL:
            for size in range(self.n_sizes):
                free(self.buckets[size].rows)
        free(self.buckets)

    cdef int run(self) except -1 nogil:
        cdef int64_t j, support
        cdef int32_t label
        for label in range(<int32_t> self.index.n_labels):
            self.pulse.done = label
            if not self.allowed[label] or self.index.holders(label) == 0:
                continue
            support = 0
            for j in range(self.index.first[label], self.index.first[label + 1]):
                support += self.index.counts[self.index.rows[j]]
            self.pulse.beat(self.index.holders(label))
            self.prefix[0] = label
            self.note(1, support)
            if self.m > 1:
                self.grow(1, self.index.rows + self.index.first[label], self.index.holders(label))
        return 0

    cdef int note(self, int size, int64_t support) except -1 nogil:
        if self.least == 0 or support < self.least:
            self.least = support
        if support < self.k:
            self.n_weak += 1
            if self.n_weak <= self.limit:  # sets are met in lexicographic order
                with gil:
                    self.weak.append((support, tuple(self.prefix[:size])))
        return 0

    cdef int grow(self, int size, const int32_t* rows, int64_t n_rows) except -1 nogil:
        """Count the prefix of `size` labels, which `rows` hold, with each label after its last."""
        cdef:
            int64_t* support = &self.support[size - 1, 0]
            int64_t* end = &self.n_rows[size - 1, 0]
            int32_t* met = &self.met[size - 1, 0]
            int64_t i, start = 0, total = 0, n_met = self.count(size, rows, n_rows)
            int32_t label
            bint deeper = size + 1 < self.m
        qsort(met, n_met, sizeof(int32_t), compare_labels)
        for i in range(n_met):
            total += end[met[i]]
            end[met[i]] = total - end[met[i]]  # where its bucket starts; filling ends it
        if deeper:
            self.reserve(size, total)
            self.fill(size, rows, n_rows)
        for i in range(n_met):
            label = met[i]
            self.prefix[size] = label
            self.note(size + 1, support[label])
            if deeper:
                self.grow(size + 1, self.buckets[size - 1].rows + start, end[label] - start)
                start = end[label]
        for i in range(n_met):
            support[met[i]] = 0
            end[met[i]] = 0
        return 0

    cdef int64_t count(self, int size, const int32_t* rows, int64_t n_rows) except -1 nogil:
        """Fill supports and numbers of rows; return how many labels were met."""
        cdef:
            int64_t* support = &self.support[size - 1, 0]
            int64_t* number = &self.n_rows[size - 1, 0]
            int32_t* met = &self.met[size - 1, 0]
            const int64_t* offsets = self.index.offsets
            const int32_t* codes = self.index.codes
            const int64_t* counts = self.index.counts
            const uint8_t* allowed = &self.allowed[0]
            int32_t last = self.prefix[size - 1], label, row
            int64_t i, j, count, n_met = 0, steps = 0
        for i in range(n_rows):
            row = rows[i]
            count = counts[row]
            j = offsets[row + 1] - 1  # rows ascend: from the end to the prefix
            steps += j + 4
            while codes[j] > last:
                label = codes[j]
                j -= 1
                if not allowed[label]:
                    continue
                if number[label] == 0:
                    met[n_met] = label
                    n_met += 1
                number[label] += 1
                support[label] += count
            steps -= j
            if steps >= SOME:
                self.pulse.beat(steps)
                steps = 0
        self.pulse.beat(steps)
        return n_met

    cdef int reserve(self, int size, int64_t n_rows) except -1 nogil:
        """Make room for the rows of all sets of one more label."""
        cdef Bucket* bucket = &self.buckets[size - 1]
        cdef void* grown
        if n_rows > bucket.capacity:
            grown = realloc(bucket.rows, n_rows * sizeof(int32_t))
            if grown == NULL:
                with gil:
                    raise MemoryError
            bucket.rows, bucket.capacity = <int32_t*> grown, n_rows
        return 0

    cdef int fill(self, int size, const int32_t* rows, int64_t n_rows) except -1 nogil:
        """Put each row into the bucket of each label after the prefix."""
        cdef:
            int64_t* end = &self.n_rows[size - 1, 0]
            int32_t* buckets = self.buckets[size - 1].rows
            const int64_t* offsets = self.index.offsets
            const int32_t* codes = self.index.codes
            const uint8_t* allowed = &self.allowed[0]
            int32_t last = self.prefix[size - 1], label, row
            int64_t i, j, steps = 0
        for i in range(n_rows):
            row = rows[i]
            j = offsets[row + 1] - 1
            steps += j + 4
            while codes[j] > last:
                label = codes[j]
                j -= 1
                if allowed[label]:
                    buckets[end[label]] = row
                    end[label] += 1
            steps -= j
            if steps >= SOME:
                self.pulse.beat(steps)
                steps = 0
        self.pulse.beat(steps)
        return 0


cdef class _Shared(_Search):
    """Of each set, counts the private labels of the rows that hold it. `m` is one more than sizes."""

    cdef:
        const uint8_t[::1] private
        object above, below       # Python's integers: the share is exact for any number of people
        int64_t[::1] number       # transactions with each label, zero between uses
        int64_t n_shared
        list shared

    cdef int grow(self, int size, const int32_t* rows, int64_t n_rows) except -1 nogil:
        self.look(size, rows, n_rows)
        if size + 1 < self.m:
            _Search.grow(self, size, rows, n_rows)
        return 0

    cdef int look(self, int size, const int32_t* rows, int64_t n_rows) except -1 nogil:
        cdef:
            const int64_t* offsets = self.index.offsets
            const int32_t* codes = self.index.codes
            int64_t* number = &self.number[0]
            int64_t i, j, count, support = 0, most = 0
            int32_t label, shared = -1
        for i in range(n_rows):
            self.pulse.beat(offsets[rows[i] + 1] - offsets[rows[i]])
            count = self.index.counts[rows[i]]
            support += count
            for j in range(offsets[rows[i]], offsets[rows[i] + 1]):
                label = codes[j]
                if self.private[label]:
                    number[label] += count
        for i in range(n_rows):
            self.pulse.beat(offsets[rows[i] + 1] - offsets[rows[i]])
            for j in range(offsets[rows[i]], offsets[rows[i] + 1]):
                label = codes[j]
                if number[label] > most or (number[label] == most > 0 and label < shared):
                    most, shared = number[label], label
                number[label] = 0
        if most > 0:
            with gil:
                if most * self.below > self.above * support:
                    self.n_shared += 1
                    if self.n_shared <= self.limit:
                        self.shared.append((tuple(self.prefix[:size]), support, shared, most))
        return 0


def shared_labels(offsets, codes, counts, public, private, above, below, int m, int64_t limit,
                  stage=None):
    """Look at every set of at most m public labels, for a private label its supporters share."""
    cdef:
        Pulse pulse = Pulse(stage, len(public))
        Index index = Index(offsets, codes, counts, len(public), pulse)
        _Shared search = _Shared(index, pulse, public, m + 1, 0, limit)
    search.private, search.above, search.below = private, int(above), int(below)
    search.number = np.zeros(max(len(public), 1), np.int64)
    search.n_shared, search.shared = 0, []
    if m > 0:
        with nogil:
            search.run()
    return search.shared, search.n_shared


def weakest_sets(offsets, codes, counts, allowed, int m, int64_t k, int64_t limit, stage=None):
    """Look at every set of at most m allowed labels that somebody supports."""
    cdef:
        Pulse pulse = Pulse(stage, len(allowed))
        Index index = Index(offsets, codes, counts, len(allowed), pulse)
        _Search search = _Search(index, pulse, allowed, m, k, limit)
    if m > 0:
        with nogil:
            search.run()
    return search.least, search.weak, search.n_weak
