# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The compiled `Grouping`: rows that know partners (partners.pyx) and find what is violated."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from overcoat.kernels.partners cimport Partners
from overcoat.kernels.parts cimport Parts
from overcoat.kernels.pulse cimport beat
from overcoat.kernels.search cimport Search

from overcoat.kernels.partners import loses_less
from overcoat.kernels.reference import nothing

__all__ = ["Grouping", "loses_less"]

cdef enum:
    FEW = 8  # the parts of so many groups are looked at one by one


cdef class Grouping(Partners):
    """See `overcoat.kernels.reference.Grouping`."""

    cdef Search _search
    cdef Parts _parts       # only where itemsets are long and nobody holds them

    def __init__(self, offsets, codes, counts, block_of, parent, weight, tell=nothing):
        Partners.__init__(self, offsets, codes, counts, block_of, parent, weight, tell)
        self._search = Search(self.n_items)

    def worst_part(self, groups, int64_t k):
        """Return the violated part of largest support of some groups; None if none is."""
        if len(groups) <= FEW:
            return self._worst_of_few(np.ascontiguousarray(groups, np.int32), k)
        if self._parts is None:
            self._parts = Parts(self)
        return self._parts.find(self, groups, k, self._tell)

    cdef _worst_of_few(self, const int32_t[::1] groups, int64_t k):
        """Find it among all parts, in lexicographic order."""
        cdef int32_t part[FEW]
        cdef int32_t places[FEW]
        cdef int32_t scratch[FEW]
        cdef int32_t n = 0, place = 0
        cdef int64_t support, best = 0
        found = None
        while True:
            if place < groups.shape[0]:
                part[n], places[n] = groups[place], place
                memcpy(scratch, part, (n + 1) * sizeof(int32_t))  # it comes back in another order
                support = self._support_of(scratch, n + 1, k)
                beat(self._tell, &self._work, 1)
                if best < support < k:
                    best, found = support, np.array(<int32_t[:n + 1]> part)
                    if best == k - 1:
                        return found
                place += 1
                n += support >= k  # else a larger part has no more support, and comes later
            elif n:
                n -= 1
                place = places[n] + 1
            else:
                return found

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
            self._search.run(self, group, size, k, above, &marked[0], limit, NULL, 0, self._tell)
        cdef Py_ssize_t n = self._search.found.n
        if n == 0:
            return np.empty(0, np.int64), np.empty((0, size), np.int32)
        return (np.array(<int64_t[:n]> self._search.found.supports),
                np.array(<int32_t[:n, :size]> self._search.found.groups))
