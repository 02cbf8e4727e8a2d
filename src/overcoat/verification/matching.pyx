# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Rows held against rows for verification; see reference.py. Written apart from the kernels."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport qsort
from libc.string cimport memcmp

from .index cimport Pulse


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
        int64_t n_released = left.shape[0], row, j, place, found, size = 8
        int32_t[::1] table
        int32_t[::1] work = np.empty(max(int(np.max(np.diff(offsets), initial=0)), 1), np.int32)
        int64_t n
        const int32_t* labels_start = &labels[0] if labels.shape[0] else NULL
        bint equal = True
        Pulse pulse = Pulse(stage)
    while size < 2 * n_released:
        size *= 2
    table = np.zeros(size, np.int32)  # row + 1, 0 for free
    with nogil:
        for row in range(n_released):
            pulse.beat(at[row + 1] - at[row] + 8)  # and a look somewhere in the table
            place = hash_row(labels_start + at[row], at[row + 1] - at[row]) & (size - 1)
            while table[place]:
                place = (place + 1) & (size - 1)
            table[place] = <int32_t> (row + 1)
        for row in range(count.shape[0]):
            n = 0
            pulse.beat(4 * (start[row + 1] - start[row]) + 8)
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
    cdef int64_t i, kept = 0
    qsort(labels, n, sizeof(int32_t), compare_labels)
    for i in range(n):
        if kept == 0 or labels[i] != labels[kept - 1]:
            labels[kept] = labels[i]
            kept += 1
    return kept
