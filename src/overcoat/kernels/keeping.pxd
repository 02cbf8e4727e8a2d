from libc.stdint cimport int32_t, int64_t

from overcoat.kernels.witnesses cimport Witnesses


cdef class Keeping(Witnesses):
    cdef:
        int32_t* _stack                     # rows
        int64_t _stack_room
        int64_t[::1] _row_mark
        int64_t[::1] _pair_mark             # of two slots, by stamp
        int64_t _pair_stamp

    cdef int holds_after(self, int32_t x, int32_t home, int32_t target,
                         int64_t epoch) except -1 nogil
    cdef int _large_sets_hold(self, int32_t x, int32_t home, int32_t target) except -1 nogil
    cdef bint _was_linkable(self, int32_t x, int32_t target) noexcept nogil
    cdef int _threes_hold(self, int family, int32_t home, int32_t target) except -1 nogil
    cdef bint _first_time(self, int32_t one, int32_t other, bint entered) noexcept nogil
    cdef bint _three_holds(self, int32_t one, int32_t two, int32_t three,
                           int64_t near) noexcept nogil
    cdef int holds_for(self, int32_t group, bint narrow) except -1 nogil
    cdef int64_t _rows_of(self, int32_t group, int64_t at) except -1 nogil
    cdef int _push(self, int64_t at, int32_t row) except -1 nogil
    cdef int _deeper(self, int family, int32_t group, int64_t start, int64_t end, int32_t last,
                     int32_t left) except -1 nogil
