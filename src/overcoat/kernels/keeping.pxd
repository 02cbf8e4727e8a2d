from libc.stdint cimport int32_t, int64_t, uint64_t

from overcoat.kernels.costs cimport Costs


cdef class Keeping(Costs):
    cdef:
        # families of all m-itemsets
        int32_t* _stack                     # rows
        int64_t _stack_room
        int64_t[::1] _row_mark
        int64_t _row_stamp
        int64_t[::1] _inside                # groups that matter to a check, by stamp
        int64_t _inside_stamp
        # explicit itemsets
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
        int64_t[::1] _pair_mark             # of two slots, by stamp
        int64_t _pair_stamp

    cdef int holds_after(self, int32_t x, int32_t home, int32_t target,
                         int64_t epoch) except -1 nogil
    cdef void take_back(self, int64_t epoch) noexcept nogil
    cdef int _others_hold(self, int32_t x, int32_t home, int32_t target) except -1 nogil
    cdef void _doubt(self, int64_t number) noexcept nogil
    cdef int64_t _look_in_bits(self, int64_t number, int32_t n, int32_t rarest) except -1 nogil
    cdef int64_t _look_along_rows(self, int64_t number, int32_t n, int32_t rarest) except -1 nogil
    cdef int32_t _keep(self, int64_t number, int64_t row, int32_t kept) noexcept nogil
    cdef void _trust(self, int64_t number, int32_t kept) noexcept nogil
    cdef void _set_rows(self, int32_t x, int32_t slot) noexcept nogil
    cdef int _large_sets_hold(self, int32_t x, int32_t home, int32_t target) except -1 nogil
    cdef int _threes_hold(self, int family, int32_t home, int32_t target) except -1 nogil
    cdef bint _first_time(self, int32_t one, int32_t other, bint entered) noexcept nogil
    cdef bint _three_holds(self, int32_t one, int32_t two, int32_t three,
                           int64_t near) noexcept nogil
    cdef int holds_for(self, int32_t group, bint narrow) except -1 nogil
    cdef int _sets_hold(self, int32_t item) except -1 nogil
    cdef int _set_holds(self, int64_t number) except -1 nogil
    cdef int _parts_hold(self, int32_t n) except -1 nogil
    cdef bint _row_holds(self, int64_t row, int32_t n) noexcept nogil
    cdef int _deeper(self, int family, int32_t group, int64_t start, int64_t end, int32_t last,
                     int32_t left) except -1 nogil
    cdef int64_t _rows_of(self, int32_t group, int64_t at) except -1 nogil
    cdef int _push(self, int64_t at, int32_t row) except -1 nogil
    cdef bint _was_linkable(self, int32_t x, int32_t target) noexcept nogil
    cdef int32_t _first_in(self, int64_t row, int32_t group) noexcept nogil
    cdef int32_t _mask_of(self, int64_t row, int32_t n, int32_t item) noexcept nogil
    cdef int _long_parts_hold(self, int32_t n) except -1
