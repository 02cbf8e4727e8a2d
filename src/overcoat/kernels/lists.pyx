# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Rare sets, grown over the rows that hold them.

Rows are copied first: each as what it holds, numbered among what is met. A row then lies in the
list of its first member; the lists are gone through in order, and a row that was looked at goes on
to the list of its next member. So a set is grown over the rows that hold it, no row is looked at
before its turn, and a search that soon has what it needs leaves the rest of the rows alone. A row
is sorted just as far as it has got, unless it is long.

All scratch space is of one search, which only reads what is given, so several can run at once. The
lists of a prefix are made when the first prefix of its size is reached.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc, qsort, realloc
from libc.string cimport memset

from overcoat.data.pulse cimport fetch_ahead
from overcoat.kernels.pulse cimport beat

cdef int64_t FEW = 16  # a row of more members is sorted at once


cdef int compare_numbers(const void* one, const void* other) noexcept nogil:
    cdef int32_t x = (<int32_t*> one)[0], y = (<int32_t*> other)[0]
    return (x > y) - (x < y)


cdef inline int32_t least_of(const int32_t* entries, int32_t at, int32_t end) noexcept nogil:
    """Return where the first member of a row is, from some place on."""
    cdef int32_t least = at, e
    for e in range(at + 1, end):
        if entries[e] < entries[least]:
            least = e
    return least


cdef inline void put(
    Lists* lists, int32_t* entries, int32_t row, int32_t at, int32_t least
) noexcept nogil:
    """Put a row into the list of its first member from some place on, `least` is where."""
    cdef int32_t number = entries[least]
    entries[least] = entries[at]
    entries[at] = number
    lists.rows[row].at, lists.rows[row].next = at, lists.first[number]
    lists.first[number] = row


cdef class RowLists:
    """Grows sets of codes; what is rare goes to `rare`, which is for subclasses to define."""

    def __cinit__(self, Py_ssize_t n_codes):
        cdef size_t n = max(n_codes, 1)
        self._n_codes = n_codes
        self._named = <int32_t*> malloc(n * sizeof(int32_t))
        self._number = <int32_t*> calloc(n, sizeof(int32_t))
        self._path = <int32_t*> malloc(n * sizeof(int32_t))
        self._together = <int64_t*> calloc(n, sizeof(int64_t))
        self._seen = <int32_t*> malloc(n * sizeof(int32_t))
        if (self._named == NULL or self._number == NULL or self._path == NULL
                or self._together == NULL or self._seen == NULL):
            raise MemoryError

    def __dealloc__(self):
        for depth in range(self._n_lists):
            free(self._lists[depth].first)
            free(self._lists[depth].rows)
        free(self._lists)
        free(self._entries)
        free(self._named)
        free(self._number)
        free(self._path)
        free(self._together)
        free(self._seen)

    # -- rows -----------------------------------------------------------------------------

    cdef int begin(self, int64_t n_rows, int size, int64_t k, int64_t least) except -1 nogil:
        """Begin to copy up to so many rows, for sets of `size`, two or more.

        Then come `open_row`, `add` and `close_row`, and in the end `settle` or `forget`.
        """
        self._size, self._k, self._least = size, k, least
        self._n_entries = self._n_named = 0
        return self._reserve_lists(0, n_rows)

    cdef void settle(self) noexcept nogil:
        """Number the codes that were added, and put each row into its first list."""
        cdef Lists* lists = &self._lists[0]
        cdef int32_t row, at, end
        cdef int64_t i
        qsort(self._named, self._n_named, sizeof(int32_t), compare_numbers)
        for i in range(self._n_named):
            self._number[self._named[i]] = <int32_t> i
        for i in range(self._n_entries):
            self._entries[i] = self._number[self._entries[i]]
        self.forget()
        for i in range(min(self._n_lists, self._size - 1)):  # one that was over left some
            memset(self._lists[i].first, -1, self._n_named * sizeof(int32_t))
        for row in range(<int32_t> lists.n - 1, -1, -1):
            at, end = lists.rows[row].at, lists.rows[row].end
            if end - at > FEW:
                qsort(self._entries + at, end - at, sizeof(int32_t), compare_numbers)
            put(lists, self._entries, row, at, least_of(self._entries, at, end))

    cdef void forget(self) noexcept nogil:
        cdef int64_t i
        for i in range(self._n_named):
            self._number[self._named[i]] = 0

    cdef int _reserve_lists(self, int depth, int64_t n_rows) except -1 nogil:
        """Make room for so many rows with a prefix of `depth`, all lists empty."""
        cdef Lists* lists
        if depth == self._n_lists:
            self._lists = <Lists*> larger(self._lists, depth + 1, sizeof(Lists))
            lists = &self._lists[depth]
            lists.first, lists.rows, lists.capacity = NULL, NULL, 0
            self._n_lists += 1
            lists.first = <int32_t*> larger(NULL, max(self._n_codes, 1), sizeof(int32_t))
            memset(lists.first, -1, self._n_codes * sizeof(int32_t))
        lists = &self._lists[depth]
        lists.n = 0
        if lists.capacity < n_rows + 1:  # one more is written to
            lists.capacity = max(n_rows + 1, 2 * lists.capacity)
            lists.rows = <Held*> larger(lists.rows, lists.capacity, sizeof(Held))
        return 0

    # -- growing --------------------------------------------------------------------------

    cdef int grow(self, int depth, int64_t number, int64_t end, tell) except -1 nogil:
        """Extend the prefix of `depth` members, by two or more, the first from `number` to `end`.

        It calls itself as deep as the sets are large, which is not deep: a size is looked at when
        nothing smaller is rare, and to learn that takes a look at all smaller sets. They are grown
        in lexicographic order, so nothing beats as many as are wanted of support k - 1 but others
        that end in the same place: then the search is over.
        """
        cdef int64_t work
        for number in range(number, end):
            if self._is_over:
                return 0
            if self._lists[depth].first[number] < 0:
                continue
            self._path[depth] = <int32_t> number
            if depth + 2 == self._size:
                work = self._count(&self._lists[depth], number)
            else:
                work = self._pass_on(depth, number)
                if self._lists[depth + 1].n:
                    self.grow(depth + 1, number + 1, self._n_named, tell)
            beat(tell, &self._work, work)
        return 0

    cdef void rare(self, int32_t last, int64_t support) noexcept nogil:
        """Take note of the prefix and a last number: so few, but some, rows hold them."""

    cdef int64_t _pass_on(self, int depth, int64_t number) except -1 nogil:
        """Pass the rows of a list on to the lists of longer prefixes, if enough have it; all go on.

        Returns the work.
        """
        cdef:
            Lists* lists
            Lists* deeper
            Held* held
            int32_t row = self._lists[depth].first[number], next_row, least
            int64_t support = 0, n = 0, work
        while row >= 0:
            held = &self._lists[depth].rows[row]
            support += held.weight
            n += 1
            row = held.next
        work = n + 1
        if support < self._least:
            n = 0
        self._reserve_lists(depth + 1, n)
        lists, deeper = &self._lists[depth], &self._lists[depth + 1]
        row = lists.first[number]
        lists.first[number] = -1
        while row >= 0:
            held = &lists.rows[row]
            next_row = held.next
            if held.at + 1 < held.end:
                least = least_of(self._entries, held.at + 1, held.end)
                put(lists, self._entries, row, held.at + 1, least)
                if support >= self._least:
                    deeper.rows[deeper.n] = held[0]
                    put(deeper, self._entries, <int32_t> deeper.n, held.at, held.at)
                    deeper.n += 1
                work += held.end - held.at
            row = next_row
        return work

    cdef int64_t _count(self, Lists* lists, int64_t number) noexcept nogil:
        """Count the last member over the rows of a list, which all go on; return the work."""
        cdef:
            int64_t* together = self._together
            int32_t* entries = self._entries
            Held* held
            int64_t support = 0, weight, i, n_seen = 0, work = 1
            int32_t row = lists.first[number], next_row, at, e, end, least, other
        lists.first[number] = -1
        while row >= 0:
            held = &lists.rows[row]
            next_row = held.next
            if next_row >= 0:
                fetch_ahead(&lists.rows[next_row])
            weight, end = held.weight, held.end
            least = at = held.at + 1
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
                put(lists, entries, row, at, least)
            work += 2 * (end - at) + 1
            row = next_row
        for i in range(n_seen):
            other = self._seen[i]
            if support >= self._least and self._threshold <= together[other] < self._k:
                self.rare(other, together[other])
            together[other] = 0
        self._is_over = self._is_over or (self._enough and self._threshold == self._k - 1)
        return work


cdef class RareCodes(RowLists):
    """Tells which codes are in a rare set."""

    def __cinit__(self, Py_ssize_t n_codes):
        self.is_rare = <uint8_t*> malloc(max(n_codes, 1))
        if self.is_rare == NULL:
            raise MemoryError
        self._threshold = 1

    def __dealloc__(self):
        free(self.is_rare)

    cdef int look(self, tell) except -1 nogil:
        """Look for rare sets among the rows that were copied, until all codes are in some."""
        memset(self.is_rare, 0, self._n_named)
        self._n_rare, self._is_over = 0, False
        return self.grow(0, 0, self._n_named, tell)

    cdef void rare(self, int32_t last, int64_t support) noexcept nogil:
        cdef int i
        self._take(last)
        for i in range(self._size - 1):
            self._take(self._path[i])
        self._is_over = self._n_rare == self._n_named

    cdef inline void _take(self, int32_t number) noexcept nogil:
        self._n_rare += not self.is_rare[number]
        self.is_rare[number] = True


cdef void* larger(void* items, int64_t n, size_t size) except NULL nogil:
    """Return a larger copy of an array, which is let go."""
    cdef void* made = realloc(items, n * size)
    if made == NULL:
        with gil:
            raise MemoryError
    return made
