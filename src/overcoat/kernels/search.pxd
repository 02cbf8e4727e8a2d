from libc.stdint cimport int32_t, int64_t, uint8_t

from overcoat.kernels.merging cimport GroupedRows

cdef struct Held:
    # A row that holds a prefix.
    int64_t weight        # how often it occurs
    int64_t at, end       # where in `_entries` its next group is, and where it ends
    int64_t next          # row of the same list; -1 at the end

cdef struct Lists:
    # The rows that hold a prefix, in a list each for the next group they hold after it.
    int64_t* first        # by number of the group; -1 where the list is empty
    Held* rows
    int64_t n             # how many rows have been put there
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
    const int32_t* after        # only those after this one are wanted; NULL for all
    int64_t after_support

cdef class Search:
    cdef:
        Py_ssize_t _n_items
        # the rows of the group searched, and the other groups of each by number
        int32_t* _visit         # where they start in the grouping
        int32_t* _entries
        int64_t _n_visit, _n_entries    # room for so many
        int64_t _n_named
        int32_t* _named         # number -> group
        int32_t* _number        # group -> number, zero between uses
        Lists* _lists           # by size of the prefix; those of 0 are not used
        int _n_lists
        int64_t* _together      # support of the prefix with each group, zero between uses
        int32_t* _seen          # groups with a count
        int32_t* _prefix        # ascending, but for the first
        int32_t* _set           # the same, ascending
        Found found
        int64_t _work

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
    cdef int64_t _least(self, int64_t at, int64_t end) noexcept nogil
    cdef void _put(self, Lists* lists, int64_t row, int64_t at, int64_t least) noexcept nogil
    cdef int _extend(
        self, int depth, int size, int64_t number, int64_t end, int64_t k, tell
    ) except -1 nogil
    cdef int64_t _pass_on(self, Lists* lists, int64_t number, int64_t k) noexcept nogil
    cdef int64_t _count(self, Lists* lists, int64_t number, int size, int64_t k) noexcept nogil
    cdef int64_t _list_rows(self, GroupedRows of) except -1 nogil
    cdef int _reserve_entries(self, int64_t n) except -1 nogil
    cdef Held* _reserve_lists(self, int64_t n_rows, int size) except NULL nogil
    cdef int _reserve_found(self, int64_t enough, int size) except -1 nogil
    cdef void _keep(self, int size, int64_t support) noexcept nogil
    cdef bint _comes_after(
        self, const int32_t* other, int64_t other_support, int size, int64_t support
    ) noexcept nogil
