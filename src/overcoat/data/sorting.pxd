from libc.stdint cimport int32_t, int64_t, uint64_t

from overcoat.data.pulse cimport Pulse

cdef struct Keyed:
    uint64_t key
    int64_t row

cdef struct Rows:
    const int64_t* start
    const int32_t* length
    const int32_t* codes
    int packed       # codes in one key
    int bits         # of each


cdef int compare_rows(Rows* rows, int64_t one, int64_t other, int depth) noexcept nogil
cdef int sort_rows(
    Rows* rows, Keyed* items, Keyed* spare, int64_t n, int depth, Pulse pulse
) except -1 nogil
cdef int32_t sort_codes(int32_t* codes, int64_t n) noexcept nogil
