from libc.stdint cimport int64_t

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
        int64_t steps, pace, done, of

    cdef int call(self) except -1 nogil

    cdef inline int beat(self, int64_t steps) except -1 nogil:
        """Count some steps of work, each some nanoseconds."""
        self.steps += steps
        return self.call() if self.steps >= self.pace else 0
