# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Rows held against rows for verification; see reference.py. Written apart from the kernels."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport qsort
from libc.string cimport memcmp

from .index cimport Pulse, fetch_ahead

cdef enum:
    AHEAD = 32    # rows worked on together
    ROOM = 4096   # labels that they have, at most, if not one row alone has more
    SHORT = 32    # so many labels are sorted by insertion


def rows_match(offsets, codes, counts, label_of, released_offsets, released_codes,
               released_counts, stage=None):
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
        int64_t n_released = left.shape[0], n_rows = count.shape[0], row, first, i, j, n, size = 8
        int64_t longest = max(int(np.max(np.diff(offsets), initial=0)), 1)
        int32_t[::1] table, work = np.empty(max(longest, ROOM), np.int32)
        int64_t[AHEAD + 1] begin
        uint64_t[AHEAD] place
        int32_t[AHEAD] met
        const int32_t* labels_start = &labels[0] if labels.shape[0] else NULL
        bint equal = True
        Pulse pulse = Pulse(stage)
    while size < 2 * n_released:
        size *= 2
    table = np.zeros(size, np.int32)  # row + 1, 0 for free
    # Some rows at a time: what is needed of memory, which may be anywhere, is asked for for all of
    # them before it is looked at.
    with nogil:
        first = 0
        while first < n_released:
            n = min(<int64_t> AHEAD, n_released - first)
            for i in range(n):
                row = first + i
                place[i] = hash_row(labels_start + at[row], at[row + 1] - at[row]) & (size - 1)
                fetch_ahead(&table[place[i]])
                pulse.beat(at[row + 1] - at[row] + 4)
            for i in range(n):
                while table[place[i]]:
                    place[i] = (place[i] + 1) & (size - 1)
                table[place[i]] = <int32_t> (first + i + 1)
            first += n
        first = 0
        while first < n_rows and equal:
            n = begin[0] = 0
            row = first
            while n < AHEAD and row < n_rows and (
                    begin[n] + start[row + 1] - start[row] <= work.shape[0]):
                i = begin[n]
                for j in range(start[row], start[row + 1]):
                    if label[items[j]] == -2:
                        equal = False
                    elif label[items[j]] >= 0:
                        work[i] = label[items[j]]
                        i += 1
                i = sort_labels(&work[begin[n]], i - begin[n]) if i > begin[n] else 0
                place[n] = hash_row(&work[begin[n]], i) & (size - 1) if i else (
                    hash_row(NULL, 0) & (size - 1))
                fetch_ahead(&table[place[n]])
                begin[n + 1] = begin[n] + i
                pulse.beat(4 * (start[row + 1] - start[row]) + 4)
                n += 1
                row += 1
            if not equal:
                break
            for i in range(n):
                met[i] = table[place[i]] - 1
                if met[i] >= 0:
                    fetch_ahead(&at[met[i]])
                    fetch_ahead(&left[met[i]])
            for i in range(n):
                if met[i] >= 0:
                    fetch_ahead(labels_start + at[met[i]])
            for i in range(n):
                while met[i] >= 0 and not same(
                        labels_start + at[met[i]], at[met[i] + 1] - at[met[i]],
                        &work[0] + begin[i], begin[i + 1] - begin[i]):
                    place[i] = (place[i] + 1) & (size - 1)
                    met[i] = table[place[i]] - 1
                if met[i] < 0:
                    equal = False
                    break
                left[met[i]] -= count[first + i]
            first += n
        for row in range(n_released):
            equal = equal and left[row] == 0
    return equal


cdef inline bint same(
    const int32_t* one, int64_t n, const int32_t* other, int64_t n_other
) noexcept nogil:
    return n == n_other and memcmp(one, other, n * sizeof(int32_t)) == 0


cdef int compare_labels(const void* one, const void* other) noexcept nogil:
    cdef int32_t x = (<int32_t*> one)[0], y = (<int32_t*> other)[0]
    return (x > y) - (x < y)


cdef uint64_t hash_row(const int32_t* labels, int64_t n) noexcept nogil:
    cdef uint64_t value = 0x9E3779B97F4A7C15ULL + <uint64_t> n
    cdef int64_t i
    for i in range(n):
        value = (value ^ <uint64_t> labels[i]) * 0xBF58476D1CE4E5B9ULL
        value ^= value >> 29
    return value


cdef int64_t sort_labels(int32_t* labels, int64_t n) noexcept nogil:
    """Sort in place and drop repetitions; return how many are left."""
    cdef int64_t i, j, kept = 0
    cdef int32_t label
    if n > SHORT:
        qsort(labels, n, sizeof(int32_t), compare_labels)
    else:
        for i in range(1, n):
            label = labels[i]
            j = i
            while j > 0 and labels[j - 1] > label:
                labels[j] = labels[j - 1]
                j -= 1
            labels[j] = label
    for i in range(n):
        if kept == 0 or labels[i] != labels[kept - 1]:
            labels[kept] = labels[i]
            kept += 1
    return kept
