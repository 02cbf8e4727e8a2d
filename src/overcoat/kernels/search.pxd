from libc.stdint cimport int32_t, int64_t, uint8_t

from overcoat.kernels.merging cimport GroupedRows

cdef struct Level:
    # Scratch space of one depth of the search.
    int64_t* together     # support of the prefix with each group, zero between uses
    int64_t* n_rows       # number of rows of it, later the end of the group's bucket
    int32_t* seen         # groups met
    int32_t* met          # group and row of each meeting, in the order of the rows
    int32_t* bucket       # rows, bucketed by group
    int64_t capacity

cdef struct Found:
    # Violated sets, the best first: their supports, and their members one set after the other.
    int64_t* supports
    int32_t* groups
    int64_t n
    int64_t capacity, n_groups  # room for so many sets, and members
    int64_t enough              # that many are wanted
    int64_t threshold           # sets with less support need not be kept
    bint is_over                # nothing better can come

cdef class Search:
    cdef:
        Py_ssize_t _n_items
        Level* _levels
        int _n_levels
        int32_t* _prefix        # ascending, but for the first
        int32_t* _set           # the same, ascending
        Found found
        int64_t _work

    cdef int run(
        self, GroupedRows of, int32_t group, int size, int64_t k, bint above,
        const uint8_t* linkable, int64_t limit, tell) except -1 nogil
    cdef int64_t _count(
        self, GroupedRows of, Level* level, const int32_t* rows, int64_t n_rows, tell
    ) except -1 nogil
    cdef int _extend(
        self, GroupedRows of, int depth, int size, const int32_t* rows, int64_t n_rows,
        int32_t last, int64_t k, const uint8_t* linkable, tell) except -1 nogil
    cdef int _reserve_levels(self, int size) except -1 nogil
    cdef int _reserve_bucket(self, Level* level, int64_t entries) except -1 nogil
    cdef int _reserve_found(self, int64_t enough, int size) except -1 nogil
    cdef void _keep(self, int size, int64_t support) noexcept nogil
    cdef bint _comes_after(self, int64_t at, int size, int64_t support) noexcept nogil
