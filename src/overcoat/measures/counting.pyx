# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Supports of many sets in one pass over the rows; see reference.py."""

import numpy as np

from libc.stdint cimport int32_t, int64_t


def set_supports(offsets, codes, counts, set_offsets, set_codes, int64_t n_items):
    """Return the support of each set; see `overcoat.measures.reference`."""
    starts = np.ascontiguousarray(set_offsets, np.int64)
    members = np.ascontiguousarray(set_codes, np.int32)
    # A row looks only at the sets whose first item it holds.
    first_item = members[starts[:-1]]
    cdef:
        const int64_t[::1] row_start = np.ascontiguousarray(offsets, np.int64)
        const int32_t[::1] items = np.ascontiguousarray(codes, np.int32)
        const int64_t[::1] weight = np.ascontiguousarray(counts, np.int64)
        const int64_t[::1] start = starts
        const int32_t[::1] member = members
        const int64_t[::1] sets = np.argsort(first_item, kind="stable").astype(np.int64)
        const int64_t[::1] own = np.searchsorted(
            np.sort(first_item), np.arange(n_items + 1)
        ).astype(np.int64)                                # item -> where its sets start in `sets`
        int64_t[::1] seen = np.full(n_items, -1, np.int64)  # item -> the last row that holds it
        int64_t[::1] out = np.zeros(len(starts) - 1, np.int64)
        int64_t row, i, j, place, which
    with nogil:
        for row in range(weight.shape[0]):
            for i in range(row_start[row], row_start[row + 1]):
                seen[items[i]] = row
            for i in range(row_start[row], row_start[row + 1]):
                for place in range(own[items[i]], own[items[i] + 1]):
                    which = sets[place]
                    j = start[which] + 1
                    while j < start[which + 1] and seen[member[j]] == row:
                        j += 1
                    if j == start[which + 1]:
                        out[which] += weight[row]
    return np.asarray(out)
