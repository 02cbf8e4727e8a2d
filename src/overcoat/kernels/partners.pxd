from libc.stdint cimport int32_t, int64_t

from overcoat.kernels.together cimport SLOTS, Together

cdef struct Entry:
    int64_t support
    int32_t group

cdef struct Heap:
    Entry* entries
    int32_t n, capacity

cdef struct Shelf:
    Heap* by_size        # index size - 1
    int32_t n_sizes, capacity

cdef struct Candidate:
    int32_t group
    int64_t size, loss

cdef class Partners(Together):
    cdef:
        Shelf* _shelves
        Py_ssize_t _n_shelves
        int32_t[::1] _above             # the shelf above each, -1 for the top ones
        int32_t[::1] _shelf             # the shelf of each group
        int64_t[::1] _shelf_mark, _shelf_weight
        # by slot: the groups that share a row with its group, on a shelf for each above that; NULL
        # where they were not needed so far
        Shelf* _near[SLOTS]
        int32_t _n_near[SLOTS]

    cdef int _find_near(self, int32_t group, Candidate* best) except -1
    cdef int _put_near(self, int32_t slot, int32_t other) except -1
    cdef void _drop_near(self, int32_t slot) noexcept nogil
    cdef int _find_partner(self, int32_t group, weigh, Candidate* best) except -1
    cdef int _make_shelves(self, block_of, parent, weight) except -1
    cdef int _put_on_shelves(self, int32_t group) except -1
    cdef void _mark_path(self, int32_t shelf) noexcept nogil
    cdef int32_t _depth(self, int32_t shelf) noexcept nogil
    cdef int32_t _common(self, int32_t shelf) noexcept nogil
    cdef void _consider(
        self, int32_t group, int32_t other, int64_t weight, int64_t together, Candidate* best
    ) noexcept nogil
    cdef void _look_at_seen(
        self, int32_t group, int32_t n_seen, const int64_t* together, Candidate* best
    ) noexcept nogil
    cdef int _look_at_shelves(
        self, int32_t group, const int64_t* together, Candidate* best) except -1
    cdef int _look_at_all(
        self, int32_t group, weigh, const int64_t* together, Candidate* best) except -1
