from libc.stdint cimport int32_t, int64_t, uint8_t

cdef struct Held:
    # A row that holds a prefix.
    int64_t weight        # how often it occurs
    int32_t at, end       # where in `_entries` its next member is, and where it ends
    int32_t next          # row of the same list; -1 at the end

cdef struct Lists:
    # The rows that hold a prefix, in a list each for the next member they have after it.
    int32_t* first        # by number of the member; -1 where the list is empty
    Held* rows
    int64_t n             # how many rows have been put there
    int64_t capacity

cdef class RowLists:
    cdef:
        Py_ssize_t _n_codes
        # the rows, as codes while they are added, then as numbers of codes
        int32_t* _entries
        int64_t _n_entries, _room
        int32_t* _named         # number -> code
        int32_t* _number        # code -> number, zero between uses
        int64_t _n_named
        Lists* _lists           # by size of the prefix
        int _n_lists
        # the sets that are grown; the last three are the subclass's to set
        int _size
        int64_t _k
        int64_t _least          # a prefix with less support leads to nothing that is wanted
        int64_t _threshold      # a set with less is not wanted
        bint _enough            # there are as many as are wanted
        bint _is_over           # nothing better can come
        int32_t* _path          # the numbers of the prefix, ascending
        int64_t* _together      # support of the prefix with each number, zero between uses
        int32_t* _seen          # numbers with a count
        int64_t _work

    cdef int begin(self, int64_t n_rows, int size, int64_t k, int64_t least) except -1 nogil
    cdef void settle(self) noexcept nogil
    cdef void forget(self) noexcept nogil
    cdef int grow(self, int depth, int64_t number, int64_t end, tell) except -1 nogil
    cdef void rare(self, int32_t last, int64_t support) noexcept nogil
    cdef int _reserve_lists(self, int depth, int64_t n_rows) except -1 nogil
    cdef int64_t _pass_on(self, int depth, int64_t number) except -1 nogil
    cdef int64_t _count(self, Lists* lists, int64_t number) noexcept nogil

    cdef inline int open_row(self, int64_t length, int64_t weight) except -1 nogil:
        """Begin a row of up to so many members."""
        cdef Held* held = &self._lists[0].rows[self._lists[0].n]
        if self._n_entries + length > self._room:
            self._room = max(self._n_entries + length, 2 * self._room)
            self._entries = <int32_t*> larger(self._entries, self._room, sizeof(int32_t))
        held.weight, held.at = weight, <int32_t> self._n_entries
        return 0

    cdef inline void add(self, int32_t code) noexcept nogil:
        """Add a member to the row."""
        if self._number[code] == 0:
            self._number[code] = 1
            self._named[self._n_named] = code
            self._n_named += 1
        self._entries[self._n_entries] = code
        self._n_entries += 1

    cdef inline void close_row(self, int64_t least) noexcept nogil:
        """End a row; it counts if it has got so many members."""
        cdef Held* held = &self._lists[0].rows[self._lists[0].n]
        if self._n_entries - held.at < least:
            self._n_entries = held.at
        else:
            held.end = <int32_t> self._n_entries
            self._lists[0].n += 1

cdef class RareCodes(RowLists):
    cdef:
        uint8_t* is_rare        # by number
        int64_t _n_rare

    cdef int look(self, tell) except -1 nogil
    cdef void _take(self, int32_t number) noexcept nogil

cdef void* larger(void* items, int64_t n, size_t size) except NULL nogil
