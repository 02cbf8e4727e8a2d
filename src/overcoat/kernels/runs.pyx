# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Sets of one size in lexicographic order, by *runs*: those that differ in the last item only."""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free

from overcoat.kernels.lists cimport larger


cdef class Sets:
    """Sets of one size, and their supports; more than `most` items are refused."""

    def __cinit__(self, int size, int64_t most):
        self.size, self.most = size, most
        self.starts = <int64_t*> larger(NULL, 1, sizeof(int64_t))
        self.starts[0] = 0

    def __dealloc__(self):
        free(self.lasts)
        free(self.supports)
        free(self.prefixes)
        free(self.starts)

    cdef int add(self, const int32_t* prefix, int32_t last, int64_t support) except -1 nogil:
        if self.n == self.capacity:
            if self.n * self.size > self.most or self.n >= 1 << 30:
                with gil:
                    raise MemoryError
            self.capacity = max(2 * self.capacity, 1024)
            self.lasts = <int32_t*> larger(self.lasts, self.capacity, sizeof(int32_t))
            self.supports = <int64_t*> larger(self.supports, self.capacity, sizeof(int64_t))
        if self.n_runs == 0 or self.compare(self.n_runs - 1, prefix):
            self.begin_run(prefix)
        self.lasts[self.n] = last
        self.supports[self.n] = support
        self.n += 1
        self.starts[self.n_runs] = self.n
        return 0

    cdef int begin_run(self, const int32_t* prefix) except -1 nogil:
        cdef int i, n = self.size - 1
        if self.n_runs == self.run_capacity:
            self.run_capacity = max(2 * self.run_capacity, 1024)
            self.prefixes = <int32_t*> larger(
                self.prefixes, self.run_capacity * n + 1, sizeof(int32_t))
            self.starts = <int64_t*> larger(self.starts, self.run_capacity + 1, sizeof(int64_t))
        for i in range(n):
            self.prefixes[self.n_runs * n + i] = prefix[i]
        self.n_runs += 1
        return 0

    cdef int compare(self, int64_t run, const int32_t* prefix) noexcept nogil:
        """Return whether the prefix of a run comes before (-1), is (0), or comes after another."""
        cdef const int32_t* own = self.prefixes + run * (self.size - 1)
        cdef int i
        for i in range(self.size - 1):
            if own[i] != prefix[i]:
                return 1 if own[i] > prefix[i] else -1
        return 0

    cdef int64_t run_of(self, const int32_t* prefix) noexcept nogil:
        """Return the first run whose prefix does not come before another; n_runs if all do."""
        cdef int64_t low = 0, high = self.n_runs, middle
        while low < high:
            middle = low + (high - low) // 2
            if self.compare(middle, prefix) < 0:
                low = middle + 1
            else:
                high = middle
        return low
