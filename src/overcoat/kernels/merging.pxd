from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

cdef enum:
    AHEAD = 8  # so many rows ahead
    # A row in `_rows`: its head, then its items. The count has 64 bits and takes two places.
    LENGTH = 0, NUMBER, COUNT
    HEAD = COUNT + 2
    LONG = 64  # a row with so many items is not searched from end to end


cdef inline int64_t count_of(const int32_t* row) noexcept nogil:
    """Return how often a row occurs."""
    cdef int64_t count
    memcpy(&count, row + COUNT, sizeof(count))
    return count


cdef class GroupedRows:
    cdef:
        Py_ssize_t n_items
        int32_t[::1] _rows              # all rows: length, number, count, items that stand for groups
        int32_t[::1] _row_start         # by number
        int64_t _n_long                 # so many rows, the first ones, were LONG or longer
        const int64_t[::1] _origin      # of these: by number, which of `_given` it was
        const int64_t[::1] _given_offsets
        const int32_t[::1] _given_codes
        int64_t _n_fills                # how often the rows were laid out
        int64_t[::1] _n_with            # how many rows had so many items or more
        int64_t[::1] _holder_start      # items -> the rows in which they stand for their group
        int32_t[::1] _holder_length
        int32_t[::1] _holders           # where in `_rows` these rows start
        # groups, each at the index of its first item
        int32_t[::1] _group             # of each item; -1 when it is suppressed
        int32_t[::1] _size
        int32_t[::1] _next, _tail       # the items of a group, chained from the first
        int64_t[::1] _support
        int64_t[::1] _n_group_rows
        # utility blocks
        int32_t[::1] _block_of, _block_alive
        int64_t _n_groups, _next_look   # look for equal rows when so many groups are left
        # scratch: a mark is valid when it equals the stamp
        int64_t _stamp
        int64_t[::1] _mark
        object _tell                    # called now and then; the call may raise
        int64_t _work                   # since the last call

    cdef int _fill(self, offsets, codes, counts) except -1
    cdef int _look_for_equal_rows(self) except -1
    cdef _grouped(self, int64_t first, int64_t stop)
    cdef int64_t _list_rows(self, int32_t group, int32_t* out) noexcept nogil
    cdef bint _is_smaller(self, int32_t one, int32_t other) noexcept nogil
    cdef bint _holds(self, int32_t row, int32_t group) noexcept nogil
    cdef void _drop(self, int32_t row, int32_t item) noexcept nogil
    cdef int64_t _place_in(self, int32_t row, int32_t item) noexcept nogil
