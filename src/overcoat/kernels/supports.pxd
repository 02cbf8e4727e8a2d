from libc.stdint cimport int32_t, int64_t, uint64_t

from overcoat.kernels.merging cimport GroupedRows

cdef class Supports(GroupedRows):
    cdef:
        # the rows of some groups as bits, by number; NULL where not needed so far. The longest rows
        # come first, so that what is asked of large sets needs few words
        uint64_t** _bits
        int64_t[::1] _n_words           # that there are of a group
        int64_t _most_words
        int32_t[::1] _wanted            # scratch

    cdef int64_t _support_of(self, int32_t* groups, int32_t n, int64_t limit) except -1 nogil
    cdef int64_t _support_by_rows(self, int32_t* groups, int32_t n, int64_t limit) noexcept nogil
    cdef int64_t _support_by_bits(
        self, int32_t* groups, int32_t n, int64_t n_words, int64_t limit) noexcept nogil
    cdef bint _make_bits(self, int32_t group, int64_t n_words) noexcept nogil
    cdef void _set_bits(
        self, uint64_t* bits, int64_t n_words, int32_t item, int32_t end) noexcept nogil
    cdef void _drop_bits(self, int32_t group) noexcept nogil
