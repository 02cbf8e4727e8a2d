from libc.stdint cimport int32_t, int64_t, uint8_t

from overcoat.kernels.several cimport Several


cdef class Descending(Several):
    cdef:
        double[::1] _changes
        int32_t[::1] _queue
        int64_t fewest
        double best
        int32_t[::1] _best_slot
        # where the descent is: at an item, or, after all of them and one, at a slot
        int32_t _place
        int64_t _looks
        uint8_t[::1] _awake                 # whether the group of an item has changed since a look
        bint _descends, _rests
        bint _everyone, _moved, _undone     # all items are looked at; some item, some group gained

    cdef int evaluate(self, int32_t x, double reach) except -1 nogil
    cdef int attempt(self, int32_t x, int32_t number) except -1 nogil
    cdef void _sink(self, int32_t at, int32_t n) noexcept nogil
    cdef void remember(self) noexcept nogil
    cdef int next_look(self) except -1 nogil
    cdef int take_look(self) except -1 nogil
    cdef void _wake(self, int32_t slot) noexcept nogil
    cdef int improve(self, int32_t x) except -1 nogil
    cdef int improve_bundle(self, int32_t x) except -1 nogil
    cdef int undo(self, int32_t slot) except -1 nogil
    cdef int gains(self) except -1 nogil
    cdef bint may_enter(self, int32_t x, int32_t target) noexcept nogil
    cdef int improve_jointly(self) except -1 nogil
