from libc.stdint cimport int32_t, int64_t, uint8_t


cdef class Moving:
    cdef:
        Py_ssize_t n_items
        int64_t k
        const int64_t[::1] _offsets, _counts
        const int32_t[::1] _codes
        const int64_t[::1] _holder_start
        const int32_t[::1] _holders         # rows of each item
        const int64_t[::1] _item_support
        const int32_t[::1] _block_of
        # groups are kept in slots, which a new group takes when it is the lowest one free
        int32_t[::1] _slot                  # of each item; -1 when it is suppressed
        int32_t[::1] _head, _next, _prev    # the items of a group, chained
        int32_t[::1] _size, _block
        int64_t[::1] _support, _occurrences
        int32_t n_slots                     # all that are used lie below
        int64_t n_suppressed
        int64_t* _met                       # by two slots: how many transactions hold both
        int64_t _room                       # for so many slots
        # what was seen in the rows of one item
        int32_t _x
        int32_t[::1] _seen
        int32_t n_seen
        int64_t[::1] _together, _alone      # with the item; where no other item of its group is
        int64_t _alone_total
        int32_t[::1] _entry                 # the groups of each row, one row after the other
        int32_t[::1] _row_start
        int32_t _n_rows
        int64_t[::1] _row_count
        int32_t[::1] _first_row, _rows_with, _n_with  # by group; known when it is indexed
        bint _is_indexed
        int64_t[::1] _both
        int32_t[::1] _targets
        int32_t n_targets
        int64_t[::1] _mark
        int64_t _stamp
        uint8_t[::1] _row_alone             # whether no other item of its group is in a row
        # which families ask for a group, as bits; of all m-itemsets, one bit each
        int n_families
        int32_t[::1] _m
        const uint8_t[:, ::1] _linkable
        int32_t[:, ::1] _links              # by family and slot: how many of its items are linkable
        int64_t[::1] _bits, _item_bits      # by slot, by item
        int64_t _two                        # the families that ask for two groups at a time
        object _tell
        int64_t _work

    cdef int look(self, int32_t x) except -1 nogil
    cdef void _index_rows(self) noexcept nogil
    cdef int find_targets(self, int32_t x, int64_t budget) except -1 nogil
    cdef int pairs_hold_after(self, int32_t x, int32_t target) except -1 nogil
    cdef int64_t bits_without(self, int32_t slot, int32_t x) noexcept nogil
    cdef void count_both(self, int32_t target) noexcept nogil
    cdef void clear_both(self, int32_t target) noexcept nogil
    cdef int32_t free_slot(self) noexcept nogil
    cdef int shift(self, int32_t x, int32_t target) except -1 nogil
    cdef int make_room(self, int64_t slots) except -1 nogil
    cdef int64_t met_after(self, int32_t one, int32_t target) noexcept nogil
    cdef int _count_all(self) except -1
    cdef void _add(self, int32_t x, int32_t slot) noexcept nogil
    cdef void _remove(self, int32_t x, int32_t slot) noexcept nogil
