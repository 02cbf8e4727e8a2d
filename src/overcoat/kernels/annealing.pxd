from libc.stdint cimport int32_t, int64_t

from overcoat.kernels.descending cimport Descending


cdef class Annealing(Descending):
    cdef:
        int64_t[::1] _odds
        const int64_t[::1] _cooling

    cdef int heat_bath(self, int32_t x, double temperature) except -1 nogil
    cdef int accept(self, double temperature) except -1 nogil
