# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Counting all small sets for verification; see reference.py. Written apart from the kernels."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, qsort, realloc

from .index cimport Index, Pulse, fetch_ahead


cdef enum:
    SOME = 1 << 14  # steps between two beats in the innermost loops
    AHEAD = 12      # rows that are asked for before they are needed
    SMALL = 1 << 16 # entries of a table of pairs that is never too large
    DENSE = 512      # as many look at a table while one row is looked at


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
        int32_t first, stop       # labels with which sets begin
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
        self.first, self.stop = 0, <int32_t> index.n_labels
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
        for label in range(self.first, self.stop):
            self.pulse.done = label - self.first
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

    cdef inline void ask_ahead(self, const int32_t* rows, int64_t at, int64_t n_rows) noexcept nogil:
        """Ask for what rows that come soon will need: they may be anywhere."""
        cdef int32_t row = rows[min(at + 2 * AHEAD, n_rows - 1)]
        fetch_ahead(&self.index.offsets[row + 1])
        fetch_ahead(&self.index.counts[row])
        row = rows[min(at + AHEAD, n_rows - 1)]
        fetch_ahead(&self.index.codes[self.index.offsets[row + 1] - 1])

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
            self.ask_ahead(rows, i, n_rows)
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
            self.ask_ahead(rows, i, n_rows)
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


cdef class _Tabled(_Search):
    """Counts the last two labels of sets in a table of all pairs, where that takes less."""

    cdef:
        int64_t n                          # allowed labels
        int32_t[::1] number, name          # label -> its number among these or -1; and back
        int32_t[::1] held                  # those of a row, descending
        int64_t[::1] alone, together       # supports with one more label and with two
        int64_t[::1] before                # number -> where in `together` it is with number 0

    def __init__(self, Index index, Pulse pulse, allowed, int m, int64_t k, int64_t limit):
        _Search.__init__(self, index, pulse, allowed, m, k, limit)
        self.name = np.flatnonzero(allowed).astype(np.int32)
        self.n = n = self.name.shape[0]
        self.number = np.where(allowed, np.cumsum(allowed) - 1, -1).astype(np.int32)
        self.held = np.empty(max(n, 1), np.int32)
        self.alone, self.together = np.zeros(n, np.int64), np.zeros(n * (n - 1) // 2, np.int64)
        self.before = (each := np.arange(n)) * n - each * (each + 3) // 2 - 1

    cdef int run(self) except -1 nogil:
        if self.index.by_label:
            return _Search.run(self)
        return self.tabulate(0, NULL, self.index.n_rows)

    cdef int grow(self, int size, const int32_t* rows, int64_t n_rows) except -1 nogil:
        cdef int64_t left = self.n - self.number[self.prefix[size - 1]]
        if size + 2 == self.m and left * left <= DENSE * n_rows:
            return self.tabulate(size, rows, n_rows)
        return _Search.grow(self, size, rows, n_rows)

    cdef int tabulate(self, int size, const int32_t* rows, int64_t n_rows) except -1 nogil:
        """Count the prefix, which `rows` hold (all, if it is empty), with one label and with two."""
        cdef:
            const int64_t* offsets = self.index.offsets
            const int32_t* codes = self.index.codes
            int32_t last = self.prefix[size - 1] if size else -1
            int64_t i, j, row, place, other, count, base, steps = 0, n_held
        for i in range(n_rows):
            row = i
            if size:
                self.ask_ahead(rows, i, n_rows)
                row = rows[i]
            else:
                self.pulse.done = i
            count, n_held, j = self.index.counts[row], 0, offsets[row + 1] - 1
            while j >= offsets[row] and codes[j] > last:
                if self.number[codes[j]] >= 0:
                    self.held[n_held] = self.number[codes[j]]
                    n_held += 1
                j -= 1
            for place in range(n_held):
                self.alone[self.held[place]] += count
                base = self.before[self.held[place]]
                for other in range(place):
                    self.together[base + self.held[other]] += count
                steps += place + 4
            if steps >= SOME:
                self.pulse.beat(steps)
                steps = 0
        for place in range(self.number[last] + 1 if size else 0, self.n):
            if self.alone[place] == 0:
                continue
            self.prefix[size] = self.name[place]
            self.note(size + 1, self.alone[place])
            self.alone[place] = 0
            base = self.before[place]
            for other in range(place + 1, self.n):
                if self.together[base + other]:
                    self.prefix[size + 1] = self.name[other]
                    self.note(size + 2, self.together[base + other])
                    self.together[base + other] = 0
            self.pulse.beat((self.n - place) // 4 + 1)
        self.pulse.beat(steps)
        return 0


def index_of(offsets, codes, counts, int64_t n_labels, stage=None):
    """Return rows by label; see reference.py."""
    return Index(offsets, codes, counts, n_labels, Pulse(stage, 1))


def weakest_sets(offsets, codes, counts, allowed, int m, int64_t k, int64_t limit, stage=None, *,
                 index=None, labels=None):
    """Look at every set of at most m allowed labels that somebody supports."""
    cdef:
        int64_t n_labels = len(allowed), n = np.count_nonzero(allowed)
        bint tabled = m >= 2 and n * n <= max(SMALL, len(codes))
        bint by_label = labels is not None or not (tabled and m == 2)
        Pulse pulse = Pulse(stage, n_labels if by_label else len(counts))
        _Search search
    if index is None:
        index = Index(offsets, codes, counts, n_labels, pulse, by_label)
    search = (_Tabled if tabled else _Search)(index, pulse, allowed, m, k, limit)
    if labels is not None:
        search.first, search.stop = labels
        pulse.of = search.stop - search.first
    if m > 0:
        with nogil:
            search.run()
    return search.least, search.weak, search.n_weak
