from libc.stdint cimport int32_t, int64_t, uint8_t

from overcoat.kernels.lists cimport RowLists
from overcoat.kernels.merging cimport GroupedRows

cdef struct Found:
    # Violated sets, the best first: their supports, and their members one set after the other.
    int64_t* supports
    int32_t* groups
    int64_t n
    int64_t capacity, n_groups  # room for so many sets, and members
    int64_t enough              # that many are wanted
    const int32_t* after        # only those after this one are wanted; NULL for all
    int64_t after_support

cdef class Search(RowLists):
    cdef:
        int32_t* _visit         # where the rows of the group searched start in the grouping
        int64_t _n_visit        # room for so many
        int32_t* _prefix        # ascending, but for the first
        int32_t* _set           # the same, ascending
        Found found

    cdef int run(
        self, GroupedRows of, int32_t group, int size, int64_t k, bint above,
        const uint8_t* linkable, int64_t limit, const int32_t* after, int64_t after_support, tell
    ) except -1 nogil
    cdef int _find_pairs(
        self, GroupedRows of, int32_t last, int64_t k, const uint8_t* linkable, tell
    ) except -1 nogil
    cdef int _grow(
        self, GroupedRows of, int32_t last, int32_t end, int size, int64_t k,
        const uint8_t* linkable, tell
    ) except -1 nogil
    cdef bint _copy_rows(
        self, GroupedRows of, int32_t last, int size, int64_t k, const uint8_t* linkable, tell
    ) except -1 nogil
    cdef int64_t _list_rows(self, GroupedRows of) except -1 nogil
    cdef int _reserve_found(self, int64_t enough, int size) except -1 nogil
    cdef void _keep(self, int size, int64_t support) noexcept nogil
    cdef bint _comes_after(
        self, const int32_t* other, int64_t other_support, int size, int64_t support
    ) noexcept nogil
