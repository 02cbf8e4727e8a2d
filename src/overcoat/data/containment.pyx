# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Which rows are contained in others, compiled; see reference.py."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from overcoat.context import QUIET
from overcoat.data.pulse cimport Pulse
from overcoat.data.pulse import run_parts

MANY_ROWS = 1 << 16  # from here on, threads share the work; the result is the same

cdef enum:
    SOME = 1 << 14  # steps between two beats in the innermost loop


def contained_rows(offsets, codes, *, stage=QUIET):
    """Return which of some distinct rows another one contains; see `overcoat.data.reference`.

    A row is compared only with the longer rows that hold its rarest item. Each row carries a
    64-bit signature, one bit for each item (by its code): most comparisons end there.
    """
    cdef Containment job = Containment(offsets, codes, stage)
    n, n_parts = job.n, stage.threads if job.n >= MANY_ROWS else 1
    run_parts(stage, job.compare, [n * part // n_parts for part in range(n_parts + 1)], of=n)
    return np.asarray(job.out).astype(bool)


cdef class Containment:
    """Rows by item, the longest first. Ranges of them can be compared side by side."""

    cdef:
        const int64_t[::1] start
        const int32_t[::1] items
        int64_t[::1] first        # item -> where its rows start in `holders`
        int32_t[::1] holders
        uint64_t[::1] signature
        uint8_t[::1] out
        int64_t n

    def __init__(self, offsets, codes, stage):
        cdef:
            const int64_t[::1] start = np.ascontiguousarray(offsets, np.int64)
            const int32_t[::1] items = np.ascontiguousarray(codes, np.int32)
            int64_t n = start.shape[0] - 1, n_items = int(np.max(codes, initial=-1)) + 1
            int64_t[::1] first = np.zeros(n_items + 1, np.int64)
            int32_t[::1] holders = np.empty(max(len(codes), 1), np.int32)
            uint64_t[::1] signature = np.zeros(max(n, 1), np.uint64)
            int64_t[::1] fill, order
            int64_t row, j, h
            Pulse pulse = Pulse(stage)
        with nogil:
            for j in range(items.shape[0]):
                first[items[j] + 1] += 1
                if j % SOME == 0:
                    pulse.beat(SOME)
            for j in range(n_items):
                first[j + 1] += first[j]
        fill = np.array(first)
        # Longest rows first in each list: the search ends at rows that are no longer than the row.
        order = np.argsort(-np.diff(offsets), kind="stable").astype(np.int64)
        with nogil:
            for h in range(n):
                row = order[h]
                for j in range(start[row], start[row + 1]):
                    holders[fill[items[j]]] = <int32_t> row
                    fill[items[j]] += 1
                    signature[row] |= <uint64_t> 1 << (items[j] & 63)
                pulse.beat(4 * (start[row + 1] - start[row]))
        self.start, self.items, self.n = start, items, n
        self.first, self.holders, self.signature = first, holders, signature
        self.out = np.zeros(n, np.uint8)

    def compare(self, int64_t first, int64_t stop, stage):
        """Find out for each row of a range whether another one contains it."""
        cdef int64_t row
        cdef Pulse pulse = Pulse(stage)
        with nogil:
            for row in range(first, stop):
                self.out[row] = self.is_contained(row, pulse)
                pulse.done += 1

    cdef bint is_contained(self, int64_t row, Pulse pulse) except -1 nogil:
        cdef:
            const int64_t* start = &self.start[0]
            const int64_t* first = &self.first[0]
            const int32_t* holders = &self.holders[0]
            const uint64_t* signature = &self.signature[0]
            const int32_t* items = &self.items[0] if self.items.shape[0] else NULL
            const int32_t* small = items + start[row]
            int64_t length = start[row + 1] - start[row], other, j, h, steps = 2 * length
            int32_t rarest
        if length == 0:
            return self.n > 1
        rarest = small[0]
        for j in range(1, length):
            if first[small[j] + 1] - first[small[j]] < first[rarest + 1] - first[rarest]:
                rarest = small[j]
        for h in range(first[rarest], first[rarest + 1]):
            other = holders[h]
            if start[other + 1] - start[other] <= length:
                break
            steps += 2
            if signature[row] & ~signature[other] == 0:
                if is_subset(small, length, items + start[other], start[other + 1] - start[other]):
                    pulse.beat(steps)
                    return True
                steps += length
            if steps >= SOME:
                pulse.beat(steps)
                steps = 0
        pulse.beat(steps)
        return False


cdef bint is_subset(
    const int32_t* small, int64_t n_small, const int32_t* large, int64_t n_large
) noexcept nogil:
    """Whether an ascending row is contained in another."""
    cdef int64_t i = 0, j = 0
    while i < n_small:
        while j < n_large and large[j] < small[i]:
            j += 1
        if j == n_large or large[j] != small[i]:
            return False
        i += 1
    return True
