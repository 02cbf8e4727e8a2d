# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The violated sets that hold one group, by growing sets over the rows that hold them.

A search first makes a copy of the rows of its group: each as the other groups it holds,
numbered among those that the search meets. A row then lies in the list of its first group; the
lists are gone through in order, and a row that was looked at goes on to the list of its next group.
So a set is grown over the rows that hold it, no row is looked at before its turn, and a search that
soon has what it needs leaves the rest of the rows alone. A row is sorted just as far as it has got,
unless it is long.

A search has all its scratch space to itself and only reads the rows, so several can run at once.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc, qsort, realloc
from libc.string cimport memmove

from overcoat.kernels.merging cimport AHEAD, HEAD, LENGTH, GroupedRows, count_of, fetch_ahead
from overcoat.kernels.pulse cimport beat

cdef int64_t A_SEARCH = 1 << 10  # what a search takes beside the rows it visits
cdef int64_t FEW = 16  # a row of more groups is sorted at once


cdef int compare_groups(const void* one, const void* other) noexcept nogil:
    cdef int32_t x = (<int32_t*> one)[0], y = (<int32_t*> other)[0]
    return (x > y) - (x < y)


cdef class Search:
    """Finds violated sets of groups; `found` holds what the last run has found."""

    def __cinit__(self, Py_ssize_t n_items):
        cdef size_t n = max(n_items, 1)
        self._n_items = n_items
        self._prefix = <int32_t*> malloc((n_items + 1) * sizeof(int32_t))
        self._set = <int32_t*> malloc((n_items + 1) * sizeof(int32_t))
        self._together = <int64_t*> calloc(n, sizeof(int64_t))
        self._seen = <int32_t*> malloc(n * sizeof(int32_t))
        self._named = <int32_t*> malloc(n * sizeof(int32_t))
        self._number = <int32_t*> calloc(n, sizeof(int32_t))
        if (self._prefix == NULL or self._set == NULL or self._together == NULL
                or self._seen == NULL or self._named == NULL or self._number == NULL):
            raise MemoryError

    def __dealloc__(self):
        for depth in range(self._n_lists):
            free(self._lists[depth].first)
            free(self._lists[depth].rows)
        free(self._lists)
        free(self._visit)
        free(self._entries)
        free(self._prefix)
        free(self._set)
        free(self._together)
        free(self._seen)
        free(self._named)
        free(self._number)
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
        found.n, found.enough, found.threshold, found.is_over = 0, limit, 1, False
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
            if not found.is_over:
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
            if (weak and self.found.threshold <= support < k
                    and group > last and group != anchor and linkable[group]):
                self._prefix[1] = group
                self._keep(2, support)
        return 0

    # -- growing --------------------------------------------------------------------------

    cdef int _grow(
        self, GroupedRows of, int32_t last, int32_t end, int size, int64_t k,
        const uint8_t* linkable, tell,
    ) except -1 nogil:
        """Find sets of the group and groups after `last`, the first of them before `end`."""
        cdef int64_t n = 0
        if self._copy_rows(of, last, size, k, linkable, tell):
            while n < self._n_named and self._named[n] < end:
                n += 1
            self._extend(1, size, 0, n, k, tell)
        return 0

    cdef bint _copy_rows(
        self, GroupedRows of, int32_t last, int size, int64_t k, const uint8_t* linkable, tell
    ) except -1 nogil:
        """Copy the rows of the group, as linkable groups after `last`, into lists.

        Says whether there is anything to find: k people have whatever somebody has together with
        the group if each of its rows occurs so often.
        """
        cdef:
            int32_t anchor = self._prefix[0], row, group, length
            int64_t e, i, n_visit = self._list_rows(of), n = 0, n_rows = 0
            const int32_t* rows = &of._rows[0] if n_visit else NULL
            Held* held = self._reserve_lists(n_visit, size)
            bint weak = False
        self._n_named = 0
        for i in range(n_visit):
            fetch_ahead(rows + self._visit[min(i + AHEAD, n_visit - 1)])
            row = self._visit[i]
            length = rows[row + LENGTH]
            self._reserve_entries(n + length)
            held[n_rows].weight, held[n_rows].at = count_of(rows + row), n
            weak = weak or held[n_rows].weight < k
            for e in range(row + HEAD, row + HEAD + length):
                group = of._group[rows[e]]
                if group <= last or group == anchor or not linkable[group]:
                    continue
                if self._number[group] == 0:
                    self._number[group] = 1
                    self._named[self._n_named] = group
                    self._n_named += 1
                self._entries[n] = group
                n += 1
            held[n_rows].end = n
            n_rows += n > held[n_rows].at
            beat(tell, &self._work, 2 * length)
        if not weak:
            for i in range(self._n_named):
                self._number[self._named[i]] = 0
            return False
        qsort(self._named, self._n_named, sizeof(int32_t), compare_groups)
        for i in range(self._n_named):
            self._number[self._named[i]] = <int32_t> i
        for i in range(n):
            self._entries[i] = self._number[self._entries[i]]
        for i in range(self._n_named):
            self._number[self._named[i]] = 0
            for e in range(1, size - 1):
                self._lists[e].first[i] = -1
        for i in range(n_rows - 1, -1, -1):
            if held[i].end - held[i].at > FEW:
                qsort(self._entries + held[i].at, held[i].end - held[i].at, sizeof(int32_t),
                      compare_groups)
            self._put(&self._lists[1], i, held[i].at, self._least(held[i].at, held[i].end))
        return True

    cdef inline int64_t _least(self, int64_t at, int64_t end) noexcept nogil:
        """Return where the first group of a row is, from some place on."""
        cdef int64_t least = at, e
        for e in range(at + 1, end):
            if self._entries[e] < self._entries[least]:
                least = e
        return least

    cdef inline void _put(self, Lists* lists, int64_t row, int64_t at, int64_t least) noexcept nogil:
        """Put a row into the list of its first group from some place on, `least` is where."""
        cdef int32_t number = self._entries[least]
        self._entries[least] = self._entries[at]
        self._entries[at] = number
        lists.rows[row].at, lists.rows[row].next = at, lists.first[number]
        lists.first[number] = row

    cdef int _extend(
        self, int depth, int size, int64_t number, int64_t end, int64_t k, tell
    ) except -1 nogil:
        """Extend the prefix of `depth` groups, by two or more, the first from `number` to `end`.

        It calls itself as deep as the sets are large, which is not deep: a size is looked at when
        nothing smaller is violated, and to learn that takes a look at all smaller sets. They are
        grown in lexicographic order, so nothing beats the first `enough` of support k - 1 but
        others that end in the same place: then the search is over.
        """
        cdef:
            Lists* lists = &self._lists[depth]
            int64_t work
        for number in range(number, end):
            if self.found.is_over:
                return 0
            if lists.first[number] < 0:
                continue
            self._prefix[depth] = self._named[number]
            if depth + 2 == size:
                work = self._count(lists, number, size, k)
            else:
                work = self._pass_on(lists, number, k)
                if self._lists[depth + 1].n:
                    self._extend(depth + 1, size, number + 1, self._n_named, k, tell)
            beat(tell, &self._work, work)
        return 0

    cdef int64_t _pass_on(self, Lists* lists, int64_t number, int64_t k) noexcept nogil:
        """Pass the rows of a list on to the lists of longer prefixes, if k have it; all go on.

        Returns the work.
        """
        cdef:
            Lists* deeper = lists + 1
            Held* held
            int64_t row = lists.first[number], next_row, least, support = 0, work = 1
        deeper.n = 0
        while row >= 0:
            support += lists.rows[row].weight
            row = lists.rows[row].next
        row = lists.first[number]
        lists.first[number] = -1
        while row >= 0:
            held = &lists.rows[row]
            next_row = held.next
            if held.at + 1 < held.end:
                least = self._least(held.at + 1, held.end)
                self._put(lists, row, held.at + 1, least)
                if support >= k:
                    deeper.rows[row] = held[0]
                    self._put(deeper, row, held.at, held.at)
                    deeper.n += 1
                work += held.end - held.at
            row = next_row
        return work

    cdef int64_t _count(self, Lists* lists, int64_t number, int size, int64_t k) noexcept nogil:
        """Count the last member over the rows of a list, which all go on; return the work."""
        cdef:
            int64_t* together = self._together
            int32_t* entries = self._entries
            int64_t row = lists.first[number], next_row, at, e, end, least, weight
            int64_t support = 0, i, n_seen = 0, work = 1
            int32_t other
        lists.first[number] = -1
        while row >= 0:
            next_row = lists.rows[row].next
            if next_row >= 0:
                fetch_ahead(&lists.rows[next_row])
            weight, end = lists.rows[row].weight, lists.rows[row].end
            least = at = lists.rows[row].at + 1
            support += weight
            for e in range(at, end):
                other = entries[e]
                if together[other] == 0:
                    self._seen[n_seen] = other
                    n_seen += 1
                together[other] += weight
                if other < entries[least]:
                    least = e
            if at < end:
                self._put(lists, row, at, least)
            work += 2 * (end - at) + 1
            row = next_row
        for i in range(n_seen):
            other = self._seen[i]
            if support >= k and self.found.threshold <= together[other] < k:
                self._prefix[size - 1] = self._named[other]
                self._keep(size, together[other])
            together[other] = 0
        self.found.is_over = self.found.threshold == k - 1 and self.found.n == self.found.enough
        return work

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
            found.threshold = found.supports[found.n - 1]

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

    cdef inline int _reserve_entries(self, int64_t n) except -1 nogil:
        if n > self._n_entries:
            self._n_entries = 2 * n
            self._entries = <int32_t*> larger(self._entries, self._n_entries, sizeof(int32_t))
        return 0

    cdef Held* _reserve_lists(self, int64_t n_rows, int size) except NULL nogil:
        """Make lists for prefixes of 1, 2, …, size - 2 groups; return the rows of the first."""
        cdef Lists* lists
        cdef int depth
        if size - 1 > self._n_lists:
            self._lists = <Lists*> larger(self._lists, size - 1, sizeof(Lists))
            while self._n_lists < size - 1:
                lists = &self._lists[self._n_lists]
                lists.first, lists.rows, lists.capacity = NULL, NULL, 0
                self._n_lists += 1
                lists.first = <int64_t*> larger(NULL, max(self._n_items, 1), sizeof(int64_t))
        for depth in range(1, size - 1):
            lists = &self._lists[depth]
            if lists.capacity < n_rows + 1:  # one more is written to
                lists.capacity = 0
                lists.rows = <Held*> larger(lists.rows, 2 * n_rows + 1, sizeof(Held))
                lists.capacity = 2 * n_rows + 1
        return self._lists[1].rows

    cdef int _reserve_found(self, int64_t enough, int size) except -1 nogil:
        cdef Found* found = &self.found
        if enough > found.capacity or enough * size > found.n_groups:
            found.supports = <int64_t*> larger(found.supports, enough, sizeof(int64_t))
            found.groups = <int32_t*> larger(found.groups, enough * size, sizeof(int32_t))
            found.capacity, found.n_groups = enough, enough * size
        return 0


cdef void* larger(void* items, int64_t n, size_t size) except NULL nogil:
    """Return a larger copy of an array, which is let go."""
    cdef void* made = realloc(items, n * size)
    if made == NULL:
        with gil:
            raise MemoryError
    return made
