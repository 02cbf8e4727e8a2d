# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The compiled `Grouping`: rows that know partners (partners.pyx) and find what is violated."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t

from overcoat.kernels.partners cimport Partners
from overcoat.kernels.parts cimport Parts
from overcoat.kernels.search cimport Search

from overcoat.kernels.partners import loses_less
from overcoat.kernels.reference import nothing

__all__ = ["Grouping", "loses_less"]

N_THREADS = 2  # the result is the same for any number
CHUNK = 256  # groups a thread takes at a time


cdef class Grouping(Partners):
    """See `overcoat.kernels.reference.Grouping`."""

    cdef Search _search
    cdef Parts _parts       # only where itemsets are long and nobody holds them

    def __init__(self, offsets, codes, counts, block_of, parent, weight):
        Partners.__init__(self, offsets, codes, counts, block_of, parent, weight)
        self._search = Search(self.n_items)

    def worst_part(self, groups, int64_t k, tell=nothing):
        """Return the violated part of largest support of some groups; None if none is."""
        if self._parts is None:
            self._parts = Parts(self)
        return self._parts.find(self, groups, k, tell)

    def merge(self, int32_t one, int32_t other):
        """Unite two groups; return the union."""
        union = Partners.merge(self, one, other)
        if self._parts is not None:
            self._parts.merged(self, one, other)
        return union

    def suppress(self, int32_t group):
        """Remove a group, with all its items."""
        if self._parts is not None:
            self._parts.suppressed(self, group)
        Partners.suppress(self, group)

    def violations(self, int32_t group, int size, int64_t k, bint above, linkable, int64_t limit):
        """Return the most supported sets of `size` linkable groups that fewer than k support."""
        cdef const uint8_t[::1] marked = linkable
        self._search.run(self, group, size, k, above, &marked[0], limit)
        return take(self._search, size)

    def all_violations(self, groups, int size, int64_t k, linkable, int64_t limit):
        """Return, for each of these groups, its `violations` with groups that come after it."""
        chunks = [groups[start:start + CHUNK] for start in range(0, len(groups), CHUNK)]
        found = [None] * len(chunks)
        left = iter(range(len(chunks)))
        over = Event()

        def work(Search search):
            cdef const uint8_t[::1] marked = linkable
            cdef int32_t group
            for number in left:
                sets = []
                for group in chunks[number].tolist():
                    if over.is_set():
                        return
                    with nogil:
                        search.run(self, group, size, k, True, &marked[0], limit)
                    sets.append(take(search, size))
                found[number] = sets

        with ThreadPoolExecutor(N_THREADS) as threads:
            try:
                list(threads.map(work, [Search(self.n_items) for _ in range(N_THREADS)]))
            finally:
                # An interrupt reaches this thread only, which then waits for the others to end.
                over.set()
        return [sets for chunk in found for sets in chunk]


cdef take(Search search, int size):
    """Return what a search has found, as arrays."""
    cdef int64_t n = search.found.n
    if n == 0:
        return np.empty(0, np.int64), np.empty((0, size), np.int32)
    return (
        np.array(<int64_t[:n]> search.found.supports),
        np.array(<int32_t[:n, :size]> search.found.groups),
    )
