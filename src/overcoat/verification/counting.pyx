# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Counting for verification; see reference.py. Written apart from the kernels it checks."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memcmp


cdef class _Index:
    """Released rows, and the rows of each label."""

    cdef:
        const int64_t[::1] offsets
        const int32_t[::1] codes
        const int64_t[::1] counts
        int64_t n_labels
        int64_t[::1] first        # label -> where its rows start
        int32_t[::1] rows         # ascending for each label

    def __init__(self, offsets, codes, counts, int64_t n_labels):
        cdef int64_t row, j
        self.offsets = np.ascontiguousarray(offsets, np.int64)
        self.codes = np.ascontiguousarray(codes, np.int32)
        self.counts = np.ascontiguousarray(counts, np.int64)
        self.n_labels = n_labels
        per_label = np.bincount(codes, minlength=n_labels)[:n_labels]
        self.first = np.concatenate([[0], np.cumsum(per_label)]).astype(np.int64)
        self.rows = np.empty(len(codes), np.int32)
        cdef int64_t[::1] at = np.array(self.first[:n_labels])
        with nogil:
            for row in range(self.counts.shape[0]):
                for j in range(self.offsets[row], self.offsets[row + 1]):
                    self.rows[at[self.codes[j]]] = <int32_t> row
                    at[self.codes[j]] += 1


cdef int compare_labels(const void* one, const void* other) noexcept nogil:
    cdef int32_t x = (<int32_t*> one)[0], y = (<int32_t*> other)[0]
    return (x > y) - (x < y)


cdef class _Search:
    """Grows sets label by label, in ascending order, counting each by the rows that hold it."""

    cdef:
        _Index index
        const uint8_t[::1] allowed
        int m
        int64_t k, limit, least, n_weak
        # For each size of the prefix: support of the prefix with each label and the number of
        # rows it has, both zero between uses, and the labels met.
        int64_t[:, ::1] support, n_rows
        int32_t[:, ::1] met
        int32_t[::1] prefix
        list weak

    def __init__(self, _Index index, allowed, int m, int64_t k, int64_t limit):
        shape = (max(m, 1), max(index.n_labels, 1))
        self.index, self.allowed, self.m, self.k, self.limit = index, allowed, m, k, limit
        self.least, self.n_weak, self.weak = 0, 0, []
        self.support = np.zeros(shape, np.int64)
        self.n_rows = np.zeros(shape, np.int64)
        self.met = np.zeros(shape, np.int32)
        self.prefix = np.zeros(shape[0], np.int32)

    cdef int run(self) except -1:
        cdef int64_t label, j, support
        cdef _Index index = self.index
        for label in range(index.n_labels):
            if not self.allowed[label] or index.first[label] == index.first[label + 1]:
                continue
            support = 0
            for j in range(index.first[label], index.first[label + 1]):
                support += index.counts[index.rows[j]]
            self.prefix[0] = <int32_t> label
            self.note(1, support)
            if self.m > 1:
                self.grow(1, &index.rows[index.first[label]],
                          index.first[label + 1] - index.first[label])
        return 0

    cdef int note(self, int size, int64_t support) except -1:
        if self.least == 0 or support < self.least:
            self.least = support
        if support < self.k:
            self.n_weak += 1
            if len(self.weak) < self.limit:  # sets are met in lexicographic order
                self.weak.append((support, tuple(self.prefix[:size])))
        return 0

    cdef int grow(self, int size, const int32_t* rows, int64_t n_rows) except -1:
        """Count the prefix of `size` labels, which `rows` hold, with each label after its last."""
        cdef:
            int64_t* support = &self.support[size - 1, 0]
            int64_t* end = &self.n_rows[size - 1, 0]
            int32_t* met = &self.met[size - 1, 0]
            int64_t i, start = 0, total = 0, n_met
            int32_t label
            int32_t* buckets = NULL
        with nogil:
            n_met = self.count(size, rows, n_rows)
            qsort(met, n_met, sizeof(int32_t), compare_labels)
            for i in range(n_met):
                total += end[met[i]]
                end[met[i]] = total - end[met[i]]  # where its bucket starts; filling ends it
        try:
            if size + 1 < self.m and total:
                buckets = <int32_t*> malloc(total * sizeof(int32_t))
                if buckets == NULL:
                    raise MemoryError
                with nogil:
                    self.fill(size, rows, n_rows, buckets)
            for i in range(n_met):
                label = met[i]
                self.prefix[size] = label
                self.note(size + 1, support[label])
                if buckets != NULL:
                    self.grow(size + 1, buckets + start, end[label] - start)
                    start = end[label]
        finally:
            for i in range(n_met):
                support[met[i]] = 0
                end[met[i]] = 0
            free(buckets)
        return 0

    cdef int64_t count(self, int size, const int32_t* rows, int64_t n_rows) noexcept nogil:
        """Fill supports and numbers of rows; return how many labels were met."""
        cdef:
            int64_t* support = &self.support[size - 1, 0]
            int64_t* number = &self.n_rows[size - 1, 0]
            int32_t* met = &self.met[size - 1, 0]
            int32_t last = self.prefix[size - 1], label, row
            int64_t i, j, n_met = 0
        for i in range(n_rows):
            row = rows[i]
            j = self.index.offsets[row + 1] - 1  # rows ascend: from the end to the prefix
            while self.index.codes[j] > last:
                label = self.index.codes[j]
                j -= 1
                if not self.allowed[label]:
                    continue
                if number[label] == 0:
                    met[n_met] = label
                    n_met += 1
                number[label] += 1
                support[label] += self.index.counts[row]
        return n_met

    cdef void fill(
        self, int size, const int32_t* rows, int64_t n_rows, int32_t* buckets
    ) noexcept nogil:
        """Put each row into the bucket of each label after the prefix."""
        cdef:
            int64_t* end = &self.n_rows[size - 1, 0]
            int32_t last = self.prefix[size - 1], label, row
            int64_t i, j
        for i in range(n_rows):
            row = rows[i]
            j = self.index.offsets[row + 1] - 1
            while self.index.codes[j] > last:
                label = self.index.codes[j]
                j -= 1
                if self.allowed[label]:
                    buckets[end[label]] = row
                    end[label] += 1


cdef class _Shared(_Search):
    """Of each set, counts the private labels of the rows that hold it. `m` is one more than sizes."""

    cdef:
        const uint8_t[::1] private
        const int64_t[::1] shares
        int64_t[::1] number       # transactions with each label, zero between uses
        int64_t n_shared
        list shared

    cdef int grow(self, int size, const int32_t* rows, int64_t n_rows) except -1:
        self.look(size, rows, n_rows)
        if size + 1 < self.m:
            _Search.grow(self, size, rows, n_rows)
        return 0

    cdef int look(self, int size, const int32_t* rows, int64_t n_rows) except -1:
        cdef:
            int64_t i, j, support = 0, most = 0
            int32_t label, shared = -1
            _Index index = self.index
        with nogil:
            for i in range(n_rows):
                support += index.counts[rows[i]]
                for j in range(index.offsets[rows[i]], index.offsets[rows[i] + 1]):
                    label = index.codes[j]
                    if self.private[label]:
                        self.number[label] += index.counts[rows[i]]
            for i in range(n_rows):
                for j in range(index.offsets[rows[i]], index.offsets[rows[i] + 1]):
                    label = index.codes[j]
                    if self.number[label] > most or (self.number[label] == most > 0
                                                     and label < shared):
                        most, shared = self.number[label], label
                    self.number[label] = 0
        if most > self.shares[support]:
            self.n_shared += 1
            if len(self.shared) < self.limit:
                self.shared.append((tuple(self.prefix[:size]), support, shared, most))
        return 0


def shared_labels(offsets, codes, counts, public, private, shares, int m, int64_t limit):
    """Look at every set of at most m public labels, for a private label its supporters share."""
    index = _Index(offsets, codes, counts, len(public))
    cdef _Shared search = _Shared(index, public, m + 1, 0, limit)
    search.private, search.shares = private, np.ascontiguousarray(shares, np.int64)
    search.number = np.zeros(len(public), np.int64)
    search.n_shared, search.shared = 0, []
    if m > 0:
        search.run()
    return search.shared, search.n_shared


def weakest_sets(offsets, codes, counts, allowed, int m, int64_t k, int64_t limit):
    """Look at every set of at most m allowed labels that somebody supports."""
    index = _Index(offsets, codes, counts, len(allowed))
    cdef _Search search = _Search(index, allowed, m, k, limit)
    if m > 0:
        search.run()
    return search.least, search.weak, search.n_weak


def image_supports(offsets, codes, counts, image_offsets, image_codes, int64_t k):
    """Return the support of each image: exactly, unless it is neither below k nor the least."""
    cdef:
        int64_t n_labels = int(max(np.max(codes, initial=-1), np.max(image_codes, initial=-1))) + 1
        _Index index = _Index(offsets, codes, counts, n_labels)
        const int64_t[::1] starts = np.ascontiguousarray(image_offsets, np.int64)
        const int32_t[::1] labels = np.ascontiguousarray(image_codes, np.int32)
        int64_t[::1] out = np.zeros(starts.shape[0] - 1, np.int64)
        uint8_t[::1] wanted = np.zeros(n_labels, np.uint8)
        int64_t i, j, h, size, hits, total, least = -1
        int32_t rarest, row
    with nogil:
        for i in range(out.shape[0]):
            size = starts[i + 1] - starts[i]
            if size == 0:
                continue
            rarest = labels[starts[i]]
            for j in range(starts[i], starts[i + 1]):
                wanted[labels[j]] = True
                if (index.first[labels[j] + 1] - index.first[labels[j]]
                        < index.first[rarest + 1] - index.first[rarest]):
                    rarest = labels[j]
            total = 0
            for h in range(index.first[rarest], index.first[rarest + 1]):
                row = index.rows[h]
                hits = 0
                for j in range(index.offsets[row], index.offsets[row + 1]):
                    hits += wanted[index.codes[j]]
                if hits == size:
                    total += index.counts[row]
                    if total >= k and least >= 0 and total >= least:
                        break
            if total > 0 and (least < 0 or total < least):
                least = total
            out[i] = total
            for j in range(starts[i], starts[i + 1]):
                wanted[labels[j]] = False
    return np.asarray(out)


def rows_match(offsets, codes, counts, label_of, released_offsets, released_codes,
               released_counts):
    """Say whether the released rows are the original ones, each code replaced by its label.

    The released rows go into a hash table, which is compared exactly; each original row, labelled,
    takes its count from there; in the end nothing is left.
    """
    cdef:
        const int64_t[::1] start = np.ascontiguousarray(offsets, np.int64)
        const int32_t[::1] items = np.ascontiguousarray(codes, np.int32)
        const int64_t[::1] count = np.ascontiguousarray(counts, np.int64)
        const int32_t[::1] label = np.ascontiguousarray(label_of, np.int32)
        const int64_t[::1] at = np.ascontiguousarray(released_offsets, np.int64)
        const int32_t[::1] labels = np.ascontiguousarray(released_codes, np.int32)
        int64_t[::1] left = np.array(released_counts, np.int64)
        int64_t n_released = left.shape[0], row, j, place, found, size = 8
        int32_t[::1] table
        int32_t[::1] work = np.empty(max(int(np.max(np.diff(offsets), initial=0)), 1), np.int32)
        int64_t n
        const int32_t* labels_start = &labels[0] if labels.shape[0] else NULL
        bint equal = True
    while size < 2 * n_released:
        size *= 2
    table = np.zeros(size, np.int32)  # row + 1, 0 for free
    with nogil:
        for row in range(n_released):
            place = hash_row(labels_start + at[row], at[row + 1] - at[row]) & (size - 1)
            while table[place]:
                place = (place + 1) & (size - 1)
            table[place] = <int32_t> (row + 1)
        for row in range(count.shape[0]):
            n = 0
            for j in range(start[row], start[row + 1]):
                if label[items[j]] == -2:
                    equal = False
                elif label[items[j]] >= 0:
                    work[n] = label[items[j]]
                    n += 1
            if not equal:
                break
            n = sort_labels(&work[0], n)
            place = hash_row(&work[0], n) & (size - 1)
            found = -1
            while table[place]:
                j = table[place] - 1
                if at[j + 1] - at[j] == n and memcmp(
                    labels_start + at[j], &work[0], n * sizeof(int32_t)) == 0:
                    found = j
                    break
                place = (place + 1) & (size - 1)
            if found < 0:
                equal = False
                break
            left[found] -= count[row]
        for row in range(n_released):
            equal = equal and left[row] == 0
    return equal


cdef uint64_t hash_row(const int32_t* labels, int64_t n) noexcept nogil:
    cdef uint64_t value = 0x9E3779B97F4A7C15ULL + <uint64_t> n
    cdef int64_t i
    for i in range(n):
        value = (value ^ <uint64_t> labels[i]) * 0xBF58476D1CE4E5B9ULL
        value ^= value >> 29
    return value


cdef int64_t sort_labels(int32_t* labels, int64_t n) noexcept nogil:
    """Sort in place and drop repetitions; return how many are left."""
    cdef int64_t i, kept = 0
    qsort(labels, n, sizeof(int32_t), compare_labels)
    for i in range(n):
        if kept == 0 or labels[i] != labels[kept - 1]:
            labels[kept] = labels[i]
            kept += 1
    return kept
