from libc.stdint cimport int32_t, int64_t

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define fetch_ahead(place) __builtin_prefetch(place)
    #else
    #define fetch_ahead(place) ((void) 0)
    #endif
    """
    # Ask for a place in memory that will be looked at soon.
    void fetch_ahead(const void* place) noexcept nogil


cdef class Pulse:
    cdef:
        object stage
        int64_t steps, pace
        int64_t done, of

    cdef int call(self) except -1 nogil

    cdef inline int beat(self, int64_t steps) except -1 nogil:
        """Count some steps of work, each some nanoseconds."""
        self.steps += steps
        return self.call() if self.steps >= self.pace else 0


cdef class Index:
    cdef:
        const int64_t* offsets
        const int32_t* codes
        const int64_t* counts
        int64_t* first            # label -> where its rows start
        int32_t* rows             # ascending for each label
        int64_t n_rows, n_labels
        bint by_label             # whether there are lists of rows
        tuple arrays              # what the pointers point into

    cdef inline int64_t holders(self, int32_t label) noexcept nogil:
        return self.first[label + 1] - self.first[label]
