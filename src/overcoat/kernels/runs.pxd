from libc.stdint cimport int32_t, int64_t

cdef class Sets:
    cdef:
        int size
        int64_t n, capacity, most
        int32_t* lasts            # the last item of each set
        int64_t* supports
        int64_t n_runs, run_capacity
        int32_t* prefixes         # what the sets of a run have in common, run by run
        int64_t* starts           # of the runs among the sets, and where the last one ends

    cdef int add(self, const int32_t* prefix, int32_t last, int64_t support) except -1 nogil
    cdef int begin_run(self, const int32_t* prefix) except -1 nogil
    cdef int compare(self, int64_t run, const int32_t* prefix) noexcept nogil
    cdef int64_t run_of(self, const int32_t* prefix) noexcept nogil
