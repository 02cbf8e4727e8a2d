# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The compiled `Grouping`: rows that know partners (partners.pyx) and find what is violated."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from overcoat.kernels.partners cimport Partners
from overcoat.kernels.parts cimport Parts
from overcoat.kernels.search cimport Search

from overcoat.context import QUIET
from overcoat.kernels.partners import loses_less
from overcoat.kernels.reference import nothing

__all__ = ["Grouping", "loses_less"]

CHUNK = 256  # groups a thread takes at a time


cdef class Grouping(Partners):
    """See `overcoat.kernels.reference.Grouping`."""

    cdef Search _search
    cdef Parts _parts       # only where itemsets are long and nobody holds them

    def __init__(self, offsets, codes, counts, block_of, parent, weight, tell=nothing):
        Partners.__init__(self, offsets, codes, counts, block_of, parent, weight, tell)
        self._search = Search(self.n_items)

    def worst_part(self, groups, int64_t k):
        """Return the violated part of largest support of some groups; None if none is."""
        if self._parts is None:
            self._parts = Parts(self)
        return self._parts.find(self, groups, k, self._tell)

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
        with nogil:
            self._search.run(self, group, size, k, above, &marked[0], limit, self._tell)
        supports = np.empty(self._search.found.n, np.int64)
        sets = np.empty((self._search.found.n, size), np.int32)
        take(self._search, size, supports, sets, 0)
        return supports, sets

    def all_violations(self, groups, int size, int64_t k, linkable, int64_t limit, stage=QUIET):
        """Return the `violations` of each of these groups with groups that come after it."""
        starts = range(0, len(groups), CHUNK)
        n_jobs = max(min(stage.threads, len(starts)), 1)
        left, found = iter(starts), {}

        def work(stage):
            search, done = Search(self.n_items), 0
            tell = lambda: stage(done, len(groups) // n_jobs)
            for start in left:
                chunk = groups[start:start + CHUNK]
                found[start] = self._search_all(search, chunk, size, k, linkable, limit, tell)
                done += len(chunk)

        stage.side_by_side([work] * n_jobs)
        n_found, supports, sets = zip(self._search_all(
            Search(0), groups[:0], size, k, linkable, limit, nothing), *map(found.get, starts))
        ends = np.concatenate([[0], *n_found]).cumsum()
        return ends, np.concatenate(supports), np.concatenate(sets)

    cdef _search_all(
        self, Search search, const int32_t[::1] groups, int size, int64_t k,
        const uint8_t[::1] linkable, int64_t limit, tell,
    ):
        """Return how many violated sets each of some groups has, their supports, and the sets."""
        cdef int64_t i, n = groups.shape[0], total = 0
        cdef int64_t[::1] n_found = np.empty(n, np.int64), supports = np.empty(n * limit, np.int64)
        cdef int32_t[:, ::1] sets = np.empty((n * limit, size), np.int32)
        with nogil:
            for i in range(n):
                search.run(self, groups[i], size, k, True, &linkable[0], limit, tell)
                take(search, size, supports, sets, total)
                n_found[i] = search.found.n
                total += search.found.n
        return np.asarray(n_found), np.array(supports[:total]), np.array(sets[:total])


cdef void take(
    Search search, int size, int64_t[::1] supports, int32_t[:, ::1] sets, int64_t at
) noexcept nogil:
    """Put what a search has found at some place."""
    cdef int64_t n = search.found.n
    if n:
        memcpy(&supports[at], search.found.supports, n * sizeof(int64_t))
        memcpy(&sets[at, 0], search.found.groups, n * size * sizeof(int32_t))
