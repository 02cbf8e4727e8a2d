from libc.stdint cimport int32_t, int64_t, uint64_t

from overcoat.kernels.keeping cimport Keeping


cdef class Several(Keeping):
    cdef:
        uint64_t _random
        int64_t budget, allowed
        double now
        int64_t n_moves
        # items that stay together, chained; most are alone
        const int32_t[::1] _leader          # of each item; -1 where it stays suppressed
        int32_t[::1] _companion             # the next with the same leader, or -1
        const int32_t[::1] _mates           # the items that may move, block by block
        const int64_t[::1] _mates_start
        # the moves of several items that are being tried
        int32_t[::1] _went, _came_from, _chosen
        int32_t n_went
        double _before
        int64_t[::1] _asked                 # the groups that were asked already, by stamp
        int64_t _ask_stamp
        int64_t _flat_before, _ncp_before, _ul_before

    cdef uint64_t draw(self) noexcept nogil
    cdef int32_t one_of(self, int32_t block) noexcept nogil
    cdef bint is_bundle(self, int32_t x) noexcept nogil
    cdef int regroup(self, int32_t x, int32_t target) except -1 nogil
    cdef int32_t choose_group(self, int32_t slot) noexcept nogil
    cdef int begin(self) except -1 nogil
    cdef int carry(self, int32_t x, int32_t target) except -1 nogil
    cdef int go_back(self, int32_t until) except -1 nogil
    cdef int stands(self) except -1 nogil
    cdef int32_t new_place(self, int32_t x) noexcept nogil
    cdef int32_t somewhere(self, int32_t x) except -2 nogil
    cdef int jump(self, int32_t x) except -1 nogil
    cdef int scatter(self, int32_t slot) except -1 nogil
