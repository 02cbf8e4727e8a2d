from libc.stdint cimport int32_t, int64_t, uint64_t

from overcoat.kernels.keeping cimport Keeping


cdef class Annealing(Keeping):
    cdef:
        uint64_t _random
        double[::1] _changes
        int32_t[::1] _queue
        int64_t[::1] _odds
        const int64_t[::1] _cooling
        int64_t budget, allowed, fewest
        double now, best
        int32_t[::1] _best_slot, _order
        int64_t n_moves

    cdef uint64_t draw(self) noexcept nogil
    cdef int evaluate(self, int32_t x, double reach) except -1 nogil
    cdef int attempt(self, int32_t x, int32_t number) except -1 nogil
    cdef int heat_bath(self, int32_t x, double temperature) except -1 nogil
    cdef int improve(self, int32_t x) except -1 nogil
    cdef int undo(self, int32_t slot) except -1 nogil
    cdef int regroup(self, int32_t x, int32_t target) except -1 nogil
    cdef void _sink(self, int32_t at, int32_t n) noexcept nogil
    cdef void remember(self) noexcept nogil
