# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""How many transactions hold some groups.

Sets whose rarest group is not rare are counted on bits, one for each row; the others on the rows of
that group. Rows are numbered by their length, so a set of n groups concerns only the first of them.
Bits also tell whether a long row holds a group.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from overcoat.data.pulse cimport fetch_ahead
from overcoat.kernels.merging cimport (
    AHEAD, HEAD, LENGTH, LONG, NUMBER, GroupedRows, count_of)
from overcoat.kernels.pulse cimport beat

cdef extern from *:
    """
    /* How many bits lie below the lowest one that is set. */
    static int portable_lowest_bit(unsigned long long bits) {
        unsigned long long below = ~bits & (bits - 1);
        below -= (below >> 1) & 0x5555555555555555ULL;
        below = (below & 0x3333333333333333ULL) + ((below >> 2) & 0x3333333333333333ULL);
        below = (below + (below >> 4)) & 0x0F0F0F0F0F0F0F0FULL;
        return (int) ((below * 0x0101010101010101ULL) >> 56);
    }
    #if defined(__GNUC__) || defined(__clang__)
    #define lowest_bit __builtin_ctzll
    #else
    #define lowest_bit portable_lowest_bit
    #endif
    """
    int lowest_bit(unsigned long long) noexcept nogil
    int portable_lowest_bit(unsigned long long) noexcept nogil

cdef enum:
    BLOCK = 8  # words of bits

cdef int64_t NO_LIMIT = 0x7FFFFFFFFFFFFFFF
cdef int32_t FIRST = 4  # so many groups, the rarest, decide how soon a count is over
cdef int64_t RARE = 256  # a group with fewer than one row in so many is counted row by row


cdef inline int64_t words_of(int64_t n_rows) noexcept nogil:
    """Return how many words the bits of the first rows take, in whole blocks."""
    return (n_rows + 64 * BLOCK - 1) // (64 * BLOCK) * BLOCK


cdef class Supports(GroupedRows):
    """Rows that know the support of sets of groups."""

    def __cinit__(self, offsets, codes, counts, block_of, *more):
        self._bits = <uint64_t**> calloc(max(len(block_of), 1), sizeof(uint64_t*))
        if self._bits == NULL:
            raise MemoryError

    def __dealloc__(self):
        if self._bits != NULL:
            for item in range(self.n_items):
                free(self._bits[item])
            free(self._bits)

    def __init__(self, offsets, codes, counts, block_of, tell):
        self._n_words = np.zeros(len(block_of), np.int64)
        GroupedRows.__init__(self, offsets, codes, counts, block_of, tell)
        self._wanted = np.zeros(self.n_items, np.int32)

    def support(self, groups):
        """Return the number of transactions with all these groups (at least one is given)."""
        cdef int32_t[::1] wanted = np.array(groups, np.int32)
        return self._support_of(&wanted[0], <int32_t> wanted.shape[0], NO_LIMIT)

    def supports(self, offsets, codes, which, int64_t limit):
        """Return min(support, limit) of the images of some itemsets; limit for an empty image."""
        cdef:
            const int64_t[::1] starts = np.ascontiguousarray(offsets, np.int64)
            const int32_t[::1] items = np.ascontiguousarray(codes, np.int32)
            const int64_t[::1] chosen = np.ascontiguousarray(which, np.int64)
            int64_t[::1] out = np.empty(chosen.shape[0], np.int64)
            Py_ssize_t i
            int64_t position
            int32_t group, n_groups
        with nogil:
            for i in range(chosen.shape[0]):
                self._stamp += 1
                n_groups = 0
                for position in range(starts[chosen[i]], starts[chosen[i] + 1]):
                    group = self._group[items[position]]
                    if group >= 0 and self._mark[group] != self._stamp:
                        self._mark[group] = self._stamp
                        self._wanted[n_groups] = group
                        n_groups += 1
                if n_groups == 0:
                    out[i] = limit
                else:
                    out[i] = min(self._support_of(&self._wanted[0], n_groups, limit), limit)
                beat(self._tell, &self._work, starts[chosen[i] + 1] - starts[chosen[i]])
        return np.asarray(out)

    # -- changing -------------------------------------------------------------------------

    def merge(self, int32_t one, int32_t other):
        """Unite two groups; return the union."""
        cdef int32_t small = one, large = other, kept = min(one, other), gone = max(one, other)
        cdef uint64_t* bits
        cdef int64_t word, n_words
        if self._is_smaller(large, small):
            small, large = large, small
        GroupedRows.merge(self, one, other)
        bits, n_words = self._bits[large], self._n_words[large]  # none if rows were laid out anew
        if bits != NULL and self._n_words[small] >= n_words:
            for word in range(n_words):
                bits[word] |= self._bits[small][word]
        elif bits != NULL:
            self._set_bits(bits, n_words, small, gone if small == kept else -1)
        self._bits[large], self._n_words[large] = NULL, 0
        self._drop_bits(small)
        self._bits[kept], self._n_words[kept] = bits, n_words
        return kept

    def suppress(self, int32_t group):
        """Remove a group, with all its items."""
        self._drop_bits(group)
        GroupedRows.suppress(self, group)

    # -- helpers --------------------------------------------------------------------------

    cdef int _fill(self, offsets, codes, counts) except -1:
        cdef int32_t item
        GroupedRows._fill(self, offsets, codes, counts)
        self._most_words = words_of(len(counts))
        for item in range(self.n_items):
            self._drop_bits(item)
        return 0

    cdef int64_t _support_of(
        self, int32_t* groups, int32_t n, int64_t limit
    ) except -1 nogil:
        """Return the support of some distinct groups, or something not below limit."""
        cdef int32_t i, j, rarest
        self._work += n
        cdef int64_t n_rows
        if n == 1:
            return self._support[groups[0]]
        if n >= self._n_with.shape[0]:
            return 0
        n_rows = self._n_with[n]
        for i in range(min(n, FIRST)):
            rarest = i
            for j in range(i + 1, n):
                if self._n_group_rows[groups[j]] < self._n_group_rows[groups[rarest]]:
                    rarest = j
            groups[i], groups[rarest] = groups[rarest], groups[i]
        if self._n_group_rows[groups[0]] * RARE < n_rows:
            return self._support_by_rows(groups, n, limit)
        for i in range(n):
            if not self._make_bits(groups[i], words_of(n_rows)):
                with gil:
                    raise MemoryError
        return self._support_by_bits(groups, n, (n_rows + 63) // 64, limit)

    cdef int64_t _support_by_rows(
        self, int32_t* groups, int32_t n, int64_t limit
    ) noexcept nogil:
        """Count the rows of the first group that hold the others too; stop at limit."""
        cdef int32_t item = groups[0], row, length, hits, i
        cdef int64_t j, e, last, total = 0
        cdef int64_t end = self._n_with[n]
        end = self._rows.shape[0] if end == self._row_start.shape[0] else self._row_start[end]
        self._stamp += 1
        for i in range(n):
            self._mark[groups[i]] = self._stamp
        while item >= 0:
            last = self._holder_start[item] + self._holder_length[item] - 1
            for j in range(self._holder_start[item], last + 1):
                fetch_ahead(&self._rows[self._holders[min(j + AHEAD, last)]])
                row = self._holders[j]
                if row >= end:
                    continue
                length = self._rows[row + LENGTH]
                self._work += length
                if length < n:
                    continue
                hits = 0
                for e in range(row + HEAD, row + HEAD + length):
                    hits += self._mark[self._group[self._rows[e]]] == self._stamp
                if hits == n:
                    total += count_of(&self._rows[row])
                    if total >= limit:
                        return total
            item = self._next[item]
        return total

    cdef int64_t _support_by_bits(
        self, int32_t* groups, int32_t n, int64_t n_words, int64_t limit
    ) noexcept nogil:
        """Count the rows, of the first few, whose bit is set for every group; stop at limit.

        Words are taken in blocks, without a branch for each: most blocks are empty after the
        first few groups.
        """
        cdef int64_t block = -BLOCK, total = 0
        cdef int32_t i, w
        cdef uint64_t left[BLOCK]
        cdef uint64_t some
        cdef const uint64_t* more
        self._work += n_words
        while block + BLOCK < n_words:
            block += BLOCK
            memcpy(left, self._bits[groups[0]] + block, sizeof(left))
            i, some = 1, 1
            while some and i < n:
                more = self._bits[groups[i]] + block
                some = 0
                for w in range(BLOCK):
                    left[w] &= more[w]
                    some |= left[w]
                i += 1
            if not some:
                continue
            for w in range(BLOCK):
                while left[w]:
                    total += count_of(&self._rows[
                        self._row_start[64 * (block + w) + lowest_bit(left[w])]])
                    left[w] &= left[w] - 1
            if total >= limit:
                return total
        return total

    cdef bint _make_bits(self, int32_t group, int64_t n_words) noexcept nogil:
        """Make so many words of a group unless they are there; False when memory ran out."""
        cdef int64_t there = self._n_words[group]
        if there >= n_words:
            return True
        n_words = min(max(n_words, 2 * there), self._most_words)
        self._drop_bits(group)
        self._bits[group] = <uint64_t*> calloc(n_words, sizeof(uint64_t))
        if self._bits[group] == NULL:
            return False
        self._n_words[group] = n_words
        self._set_bits(self._bits[group], n_words, group, -1)
        return True

    cdef void _set_bits(
        self, uint64_t* bits, int64_t n_words, int32_t item, int32_t end
    ) noexcept nogil:
        """Set the bits of the rows of an item and of those of its group that come before `end`."""
        cdef int32_t number
        cdef int64_t j
        while item != end:
            for j in range(self._holder_start[item],
                           self._holder_start[item] + self._holder_length[item]):
                number = self._rows[self._holders[j] + NUMBER]
                if number >> 6 < n_words:
                    bits[number >> 6] |= <uint64_t> 1 << (number & 63)
            self._work += self._holder_length[item]
            item = self._next[item]

    cdef bint _holds(self, int32_t row, int32_t group) noexcept nogil:
        cdef int32_t number = self._rows[row + NUMBER]
        if number >= self._n_long or not self._make_bits(group, words_of(self._n_long)):
            return GroupedRows._holds(self, row, group)
        return self._bits[group][number >> 6] >> (number & 63) & 1

    cdef void _drop_bits(self, int32_t group) noexcept nogil:
        free(self._bits[group])
        self._bits[group], self._n_words[group] = NULL, 0


def lowest_bits(unsigned long long bits):
    """Return the place of the lowest bit that is set, found in both ways; for tests."""
    return lowest_bit(bits), portable_lowest_bit(bits)
