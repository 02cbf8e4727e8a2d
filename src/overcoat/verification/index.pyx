# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""What the counts of verification stand on: rows by label, and a pulse. Apart from the kernels."""

import numpy as np

from libc.stdint cimport int32_t, int64_t

PACE = 1 << 20  # steps between two calls of the stage: about a hundredth of a second


cdef class Pulse:
    """Calls a stage now and then from loops that have let go of the interpreter.

    `done` and `of` are what the stage is told; the call may raise, and that ends the loop.
    """

    def __init__(self, stage, int64_t of=0):
        self.stage, self.of, self.pace = stage, of, PACE

    cdef int call(self) except -1 nogil:
        self.steps = 0
        with gil:
            if self.stage is not None:
                self.stage(self.done, self.of)
        return 0


cdef class Index:
    """Rows, and the rows of each label, if these are wanted."""

    def __init__(self, offsets, codes, counts, int64_t n_labels, Pulse pulse, bint by_label=True):
        cdef:
            const int64_t[::1] starts = np.ascontiguousarray(offsets, np.int64)
            const int32_t[::1] labels = np.ascontiguousarray(codes, np.int32)
            const int64_t[::1] weights = np.ascontiguousarray(counts, np.int64)
            int64_t[::1] first = np.zeros(n_labels + 2, np.int64)
            int32_t[::1] rows = np.empty(max(labels.shape[0] if by_label else 0, 1), np.int32)
            int64_t row, j
        self.arrays = (starts, labels, weights, first, rows)
        self.n_rows, self.n_labels = weights.shape[0], n_labels
        self.offsets = &starts[0]
        self.codes = &labels[0] if labels.shape[0] else NULL
        self.counts = &weights[0] if weights.shape[0] else NULL
        self.first, self.rows = &first[0], &rows[0]
        self.by_label = by_label
        if not by_label:
            return
        with nogil:
            # Two places on, so that filling the lists brings each start to its own place.
            for row in range(self.n_rows):
                for j in range(self.offsets[row], self.offsets[row + 1]):
                    self.first[self.codes[j] + 2] += 1
                pulse.beat(self.offsets[row + 1] - self.offsets[row])
            for j in range(n_labels):
                self.first[j + 2] += self.first[j + 1]
            for row in range(self.n_rows):
                for j in range(self.offsets[row], self.offsets[row + 1]):
                    self.rows[self.first[self.codes[j] + 1]] = <int32_t> row
                    self.first[self.codes[j] + 1] += 1
                pulse.beat(self.offsets[row + 1] - self.offsets[row])
