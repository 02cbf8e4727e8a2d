from libc.stdint cimport int32_t, int64_t, uint8_t

from overcoat.kernels.partners cimport Partners
from overcoat.kernels.search cimport Search

cdef struct Owned:
    # The violated sets of one owner, most supported first, and how far it has got.
    int64_t* supports
    int32_t* groups         # the members of one set after the other
    int64_t n, at
    int64_t enough          # how many it is given; if it got so many, it may have more
    int64_t time            # of the search
    bint waits              # to be searched: nobody knows what it has
    bint above              # whether it owns only sets that it is the first member of

cdef class Level:
    # What each group owns of one size, and a heap of those that have something, the worst first.
    cdef:
        int size
        int64_t best                    # the largest support that a violated set can have
        Owned* owned                    # by group
        Py_ssize_t n_items
        int32_t[::1] heap, place        # owners; where each is in the heap, -1 if it is not
        int32_t n

    cdef void wait(self, int32_t owner, bint above, int64_t enough) noexcept nogil
    cdef int take(self, int32_t owner, Search search, int64_t time) except -1 nogil
    cdef void drop(self, int32_t owner) noexcept nogil
    cdef bint _comes_first(self, int32_t one, int32_t other) noexcept nogil
    cdef int32_t _member(self, int32_t owner, int i) noexcept nogil
    cdef void up(self, int32_t at) noexcept nogil
    cdef void down(self, int32_t at) noexcept nogil

cdef class SetFinder:
    cdef:
        Partners _grouping
        uint8_t[::1] _linkable          # by group
        int _m
        int64_t _k, _enough
        bint _settles
        object _tell
        list _levels                    # by size
        Search _search
        int64_t[::1] _changed_at        # by group; 0: untouched
        int64_t _clock, _work

    cdef void _update_linkable(self, int32_t group) noexcept nogil
    cdef int32_t _find(self, Level level) except -2 nogil
    cdef int _look(self, Level level, int32_t owner) except -1 nogil
    cdef int _go_on(self, Level level, int32_t owner) except -1 nogil
    cdef bint _has_current(self, Level level, Owned* owned) noexcept nogil
    cdef bint _is_current(self, int32_t group, int64_t time) noexcept nogil
