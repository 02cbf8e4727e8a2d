# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The violated sets that hold one group, by growing sets over the rows that hold them.

Pairs are counted over the rows of the group. For larger sets these rows are copied, each as the
other groups it holds, and `lists.pyx` grows the rest of the set over them.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memmove

from overcoat.data.pulse cimport fetch_ahead
from overcoat.kernels.lists cimport RowLists, larger
from overcoat.kernels.merging cimport AHEAD, HEAD, LENGTH, GroupedRows, count_of
from overcoat.kernels.pulse cimport beat

cdef int64_t A_SEARCH = 1 << 10  # what a search takes beside the rows it visits


cdef class Search(RowLists):
    """Finds violated sets of groups; `found` holds what the last run has found."""

    def __cinit__(self, Py_ssize_t n_items):
        self._prefix = <int32_t*> malloc((n_items + 1) * sizeof(int32_t))
        self._set = <int32_t*> malloc((n_items + 1) * sizeof(int32_t))
        if self._prefix == NULL or self._set == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self._visit)
        free(self._prefix)
        free(self._set)
        free(self.found.supports)
        free(self.found.groups)

    cdef int run(
        self, GroupedRows of, int32_t group, int size, int64_t k, bint above,
        const uint8_t* linkable, int64_t limit, const int32_t* after, int64_t after_support, tell,
    ) except -1 nogil:
        """Find what `Grouping.violations` of the reference kernels returns.

        Of that only what comes `after` a set and its support, unless that is NULL.
        """
        cdef Found* found = &self.found
        cdef int32_t last = group if above else -1, seen
        beat(tell, &self._work, A_SEARCH)
        found.n, found.enough = 0, limit
        self._threshold, self._enough, self._is_over = 1, False, False
        found.after, found.after_support = after, after_support
        self._reserve_found(limit, size)
        if not linkable[group]:
            return 0
        self._prefix[0] = group
        if size == 1:
            if of._support[group] < k:
                self._keep(size, of._support[group])
        elif size == 2:
            self._find_pairs(of, last, k, linkable, tell)
        else:
            seen = of.n_items
            if after != NULL and after_support == k - 1:
                # What has so many supporters, and comes after it, does not begin before it.
                seen = after[1] if after[0] == group else after[0]
                self._grow(of, max(last, seen - 1), of.n_items, size, k, linkable, tell)
            if not self._is_over:
                self._grow(of, last, seen, size, k, linkable, tell)
        return 0

    # -- pairs ----------------------------------------------------------------------------

    cdef int _find_pairs(
        self, GroupedRows of, int32_t last, int64_t k, const uint8_t* linkable, tell
    ) except -1 nogil:
        """Find pairs of the group and one after `last`, without a copy of the rows."""
        cdef:
            int64_t* together = self._together
            int64_t i, e, weight, support, n = self._list_rows(of), n_seen = 0
            int32_t anchor = self._prefix[0], row, group
            const int32_t* rows = &of._rows[0] if n else NULL
            bint weak = False
        for i in range(n):
            fetch_ahead(rows + self._visit[min(i + AHEAD, n - 1)])
            row = self._visit[i]
            weight = count_of(rows + row)
            weak = weak or weight < k
            for e in range(row + HEAD, row + HEAD + rows[row + LENGTH]):
                group = of._group[rows[e]]
                if together[group] == 0:
                    self._seen[n_seen] = group
                    n_seen += 1
                together[group] += weight
            beat(tell, &self._work, rows[row + LENGTH])
        for i in range(n_seen):
            group = self._seen[i]
            support = together[group]
            together[group] = 0
            if (weak and self._threshold <= support < k
                    and group > last and group != anchor and linkable[group]):
                self._prefix[1] = group
                self._keep(2, support)
        return 0

    # -- larger sets ----------------------------------------------------------------------

    cdef int _grow(
        self, GroupedRows of, int32_t last, int32_t end, int size, int64_t k,
        const uint8_t* linkable, tell,
    ) except -1 nogil:
        """Find sets of the group and groups after `last`, the first of them before `end`."""
        cdef int64_t n = 0
        if self._copy_rows(of, last, size, k, linkable, tell):
            while n < self._n_named and self._named[n] < end:
                n += 1
            self.grow(0, 0, n, tell)
        return 0

    cdef bint _copy_rows(
        self, GroupedRows of, int32_t last, int size, int64_t k, const uint8_t* linkable, tell
    ) except -1 nogil:
        """Copy the rows of the group, as linkable groups after `last`.

        Says whether there is anything to find: k people have whatever somebody has together with
        the group if each of its rows occurs so often.
        """
        cdef:
            int32_t anchor = self._prefix[0], row, group, length
            int64_t e, i, weight, n = self._list_rows(of)
            const int32_t* rows = &of._rows[0] if n else NULL
            bint weak = False
        self.begin(n, size - 1, k, k)
        for i in range(n):
            fetch_ahead(rows + self._visit[min(i + AHEAD, n - 1)])
            row = self._visit[i]
            length = rows[row + LENGTH]
            weight = count_of(rows + row)
            weak = weak or weight < k
            self.open_row(length, weight)
            for e in range(row + HEAD, row + HEAD + length):
                group = of._group[rows[e]]
                if group > last and group != anchor and linkable[group]:
                    self.add(group)
            self.close_row(1)
            beat(tell, &self._work, 2 * length)
        if weak:
            self.settle()
        else:
            self.forget()
        return weak

    cdef void rare(self, int32_t last, int64_t support) noexcept nogil:
        """Keep the group with those that were grown."""
        cdef int i
        for i in range(self._size - 1):
            self._prefix[i + 1] = self._named[self._path[i]]
        self._prefix[self._size] = self._named[last]
        self._keep(self._size + 1, support)

    # -- keeping --------------------------------------------------------------------------

    cdef void _keep(self, int size, int64_t support) noexcept nogil:
        """Note the set in `_prefix` if it is wanted, unless `enough` others come before it.

        What is found stays in order: most supported first, then by members.
        """
        cdef Found* found = &self.found
        cdef int64_t low = 0, high = found.n, middle
        cdef int i = 1
        while i < size and self._prefix[i] < self._prefix[0]:  # only the anchor is out of place
            self._set[i - 1] = self._prefix[i]
            i += 1
        self._set[i - 1] = self._prefix[0]
        while i < size:
            self._set[i] = self._prefix[i]
            i += 1
        if found.after != NULL and not self._comes_after(found.after, found.after_support, size, support):
            return
        if found.n == found.enough and self._comes_after(
                &found.groups[(found.n - 1) * size], found.supports[found.n - 1], size, support):
            return
        while low < high:
            middle = low + (high - low) // 2
            if self._comes_after(
                    &found.groups[middle * size], found.supports[middle], size, support):
                low = middle + 1
            else:
                high = middle
        found.n = min(found.n + 1, found.enough)
        memmove(&found.supports[low + 1], &found.supports[low],
                (found.n - 1 - low) * sizeof(int64_t))
        memmove(&found.groups[(low + 1) * size], &found.groups[low * size],
                (found.n - 1 - low) * size * sizeof(int32_t))
        found.supports[low] = support
        for i in range(size):
            found.groups[low * size + i] = self._set[i]
        if found.n == found.enough:
            self._enough, self._threshold = True, found.supports[found.n - 1]

    cdef bint _comes_after(
        self, const int32_t* other, int64_t other_support, int size, int64_t support
    ) noexcept nogil:
        """Whether `_set`, of this support, comes after another one."""
        cdef int i
        if support != other_support:
            return support < other_support
        for i in range(size):
            if self._set[i] != other[i]:
                return self._set[i] > other[i]
        return False

    # -- scratch space --------------------------------------------------------------------

    cdef int64_t _list_rows(self, GroupedRows of) except -1 nogil:
        """List the rows of the group in `_visit`; return how many there are."""
        cdef int64_t n = of._n_group_rows[self._prefix[0]]
        if n > self._n_visit:
            self._n_visit = 2 * n
            self._visit = <int32_t*> larger(self._visit, self._n_visit, sizeof(int32_t))
        return of._list_rows(self._prefix[0], self._visit)

    cdef int _reserve_found(self, int64_t enough, int size) except -1 nogil:
        cdef Found* found = &self.found
        if enough > found.capacity or enough * size > found.n_groups:
            found.supports = <int64_t*> larger(found.supports, enough, sizeof(int64_t))
            found.groups = <int32_t*> larger(found.groups, enough * size, sizeof(int32_t))
            found.capacity, found.n_groups = enough, enough * size
        return 0
