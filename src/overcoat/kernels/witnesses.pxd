from libc.stdint cimport int32_t, int64_t, uint64_t

from overcoat.kernels.costs cimport Costs

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    static __inline int overcoat_lowest(unsigned long long bits) {
        unsigned long place;
        _BitScanForward64(&place, bits);
        return (int) place;
    }
    #else
    #define overcoat_lowest(bits) __builtin_ctzll(bits)
    #endif
    """
    int lowest "overcoat_lowest" (uint64_t bits) noexcept nogil


cdef class Witnesses(Costs):
    cdef:
        int64_t[::1] _inside                # groups that matter to a check, by stamp
        int64_t _inside_stamp, _row_stamp
        int64_t n_sets
        const int64_t[::1] _set_start, _sets_start
        const int32_t[::1] _set_items, _sets_of
        int32_t[:, ::1] _witness
        int32_t[::1] _n_witnesses
        int64_t[::1] _checked
        int64_t _check_stamp
        # an itemset whose witnesses are known to hold its image now: in this epoch
        int64_t[::1] _sure
        int64_t _epoch, _epochs             # moves that were not asked for end one
        int32_t[::1] _doubted               # asked since the last move
        int32_t _n_doubted
        int64_t[::1] _lost                  # rows that an old group is lost to, by stamp
        int64_t _lost_stamp
        int32_t[::1] _image
        int64_t[::1] _group_mask
        int64_t[::1] _part_count
        bint _post, _in_bits
        int _largest                        # m of any family
        uint64_t[::1] _rows_in              # by slot: the rows that hold it, as bits
        int64_t _words                      # of 64 rows

    cdef void _set_rows(self, int32_t x, int32_t slot) noexcept nogil
    cdef void take_back(self, int64_t epoch) noexcept nogil
    cdef int _sets_hold(self, int32_t item) except -1 nogil
    cdef int _others_hold(self, int32_t x, int32_t home, int32_t target) except -1 nogil
    cdef int _set_holds(self, int64_t number) except -1 nogil
    cdef bint _row_holds(self, int64_t row, int32_t n) noexcept nogil
    cdef int64_t _look_in_bits(self, int64_t number, int32_t n, int32_t rarest) except -1 nogil
    cdef int64_t _look_along_rows(self, int64_t number, int32_t n, int32_t rarest) except -1 nogil
    cdef int32_t _keep(self, int64_t number, int64_t row, int32_t kept) noexcept nogil
    cdef void _trust(self, int64_t number, int32_t kept) noexcept nogil
    cdef void _doubt(self, int64_t number) noexcept nogil
    cdef int32_t _first_in(self, int64_t row, int32_t group) noexcept nogil
    cdef int _parts_hold(self, int32_t n) except -1 nogil
    cdef int32_t _mask_of(self, int64_t row, int32_t n, int32_t item) noexcept nogil
    cdef int _long_parts_hold(self, int32_t n) except -1
