from libc.stdint cimport int32_t, int64_t

from overcoat.kernels.moving cimport Moving


cdef class Losses(Moving):
    cdef:
        int64_t[::1] _flat_of, _ncp_of, _ul_of      # by slot
        double[::1] _real_ul
        int32_t[::1] _node, _ncp_node
        const int32_t[::1] _parent, _ncp_parent
        const int64_t[::1] _weight, _ncp_weight, _penalty
        object _weigh
        int64_t flat, ncp, ul                       # now
        int64_t flat_limit, ncp_limit, ul_limit
        int _ul_shift, _exponent
        int64_t _new_flat, _new_ncp, _new_ul
        double _ul_change
        bint _has_ncp
        bint _loose                     # the limits do not count now

    cdef int _weigh_slot(self, int32_t slot, int32_t without, int32_t more, int64_t* weight,
                         int32_t* node) except -1 nogil
    cdef int32_t _ancestor(self, const int32_t[::1] parent, int32_t slot, int32_t without,
                           int32_t more) noexcept nogil
    cdef int64_t _ul_term(self, int64_t size, int64_t loss) noexcept nogil
    cdef double _real_term(self, int64_t size, int64_t loss) noexcept nogil
    cdef double _real_penalty(self, int32_t x) noexcept nogil
    cdef int losses_after(self, int32_t x, int32_t target) except -1 nogil
    cdef bint within_limits(self) noexcept nogil
    cdef int _settle(self, int32_t slot) except -1 nogil
    cdef int32_t _climb(self, const int32_t[::1] parent, int32_t one, int32_t other) noexcept nogil
