from libc.stdint cimport int32_t, int64_t

from overcoat.kernels.supports cimport Supports

cdef enum:
    SLOTS = 16

cdef struct Slot:
    int32_t group           # -1 when the slot is free
    int64_t* together       # its support with each group, (M,)
    int64_t asked           # when it was last asked for
    bint grown              # whether its counts have grown since
    int64_t overlap         # of the groups being merged, with this one

cdef class Together(Supports):
    cdef:
        Slot _slots[SLOTS]
        int _n_used
        int32_t[::1] _slot_of           # groups -> slot, -1 for none
        int64_t[::1] _asked             # groups -> when they were last asked for
        int64_t _now
        # counts of the group asked for last, if it has no slot
        int64_t[::1] _loose
        int32_t[::1] _seen              # groups with a count
        int32_t _n_loose

    cdef void _ask(self, int32_t group) noexcept nogil
    cdef int64_t* _count_together(self, int32_t group, int32_t* n_seen) except NULL
    cdef int32_t _count_rows(self, int32_t group, int64_t* together) except -1 nogil
    cdef int64_t* _take_slot(self, int32_t group) except NULL
    cdef void _free_slot(self, int32_t slot) noexcept nogil
    cdef int _update(self, int32_t one, int32_t other) except -1 nogil
