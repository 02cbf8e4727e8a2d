# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Minimal moles; see `overcoat.kernels.reference.find_moles`.

Size by size. A set can be part of a larger minimal mole only if no part of it is a mole, and if
without any of its items it is held by more: if X and X less x have the same holders, so have any M
with X in it and M less x, and if M is a mole, M less x is one too. Call such sets *sound*. All
parts of a sound set are sound, so two that differ in their last item make a candidate of the next
size, which counts if somebody holds it, its other parts are sound as well, and none of them is held
by as few. That keeps the sets few where rows are long and alike.

The sound sets of a size lie in lexicographic order; walking along them, we keep the rows of every
prefix, each with the place where the prefix ends, and pass on from there.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from overcoat.kernels.pulse cimport beat

from overcoat.kernels.limits import check_places
from overcoat.kernels.reference import TooManySetsError, nothing


cdef inline bint agree(const int32_t* one, const int32_t* other, int n) noexcept nogil:
    """Whether two sets, or parts of them, are the same; they are so short that a call takes more."""
    cdef int i
    for i in range(n):
        if one[i] != other[i]:
            return False
    return True


cdef class _Sets:
    """Sets of one size, one after the other, their supports, and a table to look them up."""

    cdef:
        int32_t* items
        int64_t* supports
        int size
        int64_t n, capacity, most
        int32_t[::1] table        # number of the set + 1, 0 for free

    def __cinit__(self, int size, int64_t most):
        self.size, self.most = size, most

    def __dealloc__(self):
        free(self.items)
        free(self.supports)

    cdef int add(self, const int32_t* prefix, int32_t last, int64_t support) except -1 nogil:
        if self.n == self.capacity:
            self.enlarge()
        memcpy(self.items + self.n * self.size, prefix, (self.size - 1) * sizeof(int32_t))
        self.items[self.n * self.size + self.size - 1] = last
        self.supports[self.n] = support
        self.n += 1
        return 0

    cdef int enlarge(self) except -1 nogil:
        cdef int64_t capacity = max(2 * self.capacity, 1024)
        cdef void* items = NULL
        cdef void* supports = NULL
        if self.n * self.size <= self.most and self.n < 1 << 30:
            items = realloc(self.items, capacity * self.size * sizeof(int32_t))
            if items != NULL:
                self.items = <int32_t*> items
                supports = realloc(self.supports, capacity * sizeof(int64_t))
        if supports == NULL:
            with gil:
                raise MemoryError
        self.supports = <int64_t*> supports
        self.capacity = capacity
        return 0

    cdef int index(self, tell, int64_t* work) except -1:
        """Prepare for `support_of`."""
        cdef int64_t size = 8, i, place
        while size < 2 * self.n:
            size *= 2
        self.table = np.zeros(size, np.int32)
        with nogil:
            for i in range(self.n):
                place = self.hash(self.items + i * self.size) & (size - 1)
                while self.table[place]:
                    place = (place + 1) & (size - 1)
                self.table[place] = <int32_t> (i + 1)
                beat(tell, work, 1)
        return 0

    cdef uint64_t hash(self, const int32_t* items) noexcept nogil:
        cdef uint64_t value = 0
        cdef int i
        for i in range(self.size):
            value = (value ^ <uint64_t> items[i]) * 0x9E3779B97F4A7C15ULL
            value ^= value >> 32
        return value

    cdef int64_t support_of(self, const int32_t* items) noexcept nogil:
        """Return the support of a set, 0 if it is not one of these."""
        cdef int64_t mask = self.table.shape[0] - 1
        cdef int64_t place = self.hash(items) & mask
        while self.table[place]:
            if agree(self.items + (self.table[place] - 1) * <int64_t> self.size, items, self.size):
                return self.supports[self.table[place] - 1]
            place = (place + 1) & mask
        return 0

    cdef array(self):
        if self.n == 0:
            return np.empty((0, self.size), np.int32)
        return np.array(<int32_t[:self.n, :self.size]> self.items)


cdef class _Search:
    """The public parts of the rows, their private parts, and who holds what."""

    cdef:
        int64_t[::1] offsets, private_offsets
        int32_t[::1] codes, private_codes
        const int64_t[::1] counts
        int64_t[::1] first        # item -> where its holders start
        int32_t[::1] holders      # rows, ascending for each item
        int32_t[::1] ends         # where in the row the item ends
        int64_t k, most, largest  # the most rows that an item has
        bint limits_private
        int64_t above, below      # at most above / below may share a private item
        # The rows of each prefix of the set at hand, by its size, and where it ends in each.
        int32_t[:, ::1] rows, places
        int64_t[::1] n_rows
        int64_t[::1] support      # of the set at hand with each item, zero between uses
        int64_t[::1] sharing      # transactions with each private item, zero between uses
        int32_t[::1] part         # scratch: a part of a candidate
        int32_t[::1] chosen       # scratch: rows
        object tell
        int64_t work

    def __init__(self, offsets, codes, counts, public, private, share, int p, int64_t k,
                 int64_t most, tell):
        cdef int64_t row, j, at, n_items = len(public), n_rows = len(counts)
        check_places(n_rows)
        self.offsets, self.codes = project(offsets, codes, public)
        self.private_offsets, self.private_codes = project(offsets, codes, private)
        self.limits_private = len(self.private_codes) > 0
        self.above, self.below = share
        self.counts = np.ascontiguousarray(counts, np.int64)
        self.k, self.most, self.tell = k, most, tell
        per_item = np.bincount(self.codes, minlength=n_items)
        self.first = np.concatenate([[0], np.cumsum(per_item)]).astype(np.int64)
        self.holders = np.empty(len(self.codes), np.int32)
        self.ends = np.empty(len(self.codes), np.int32)
        cdef int64_t[::1] next_ = np.array(self.first[:n_items])
        with nogil:
            for row in range(n_rows):
                for j in range(self.offsets[row], self.offsets[row + 1]):
                    at = next_[self.codes[j]]
                    next_[self.codes[j]] += 1
                    self.holders[at] = <int32_t> row
                    self.ends[at] = <int32_t> (j + 1 - self.offsets[row])
                beat(tell, &self.work, self.offsets[row + 1] - self.offsets[row])
        self.largest = int(per_item.max(initial=0))
        self.n_rows = np.zeros(p, np.int64)
        self.support = np.zeros(n_items, np.int64)
        self.sharing = np.zeros(n_items, np.int64)
        self.part = np.empty(p, np.int32)
        self.chosen = np.empty(self.largest, np.int32)

    cdef singles(self):
        """Return the sound single items, and the moles among them."""
        cdef:
            _Sets sound = _Sets(1, self.most), moles = _Sets(1, self.most)
            int64_t n_items = self.first.shape[0] - 1, i, n, support
            int32_t item
        with nogil:
            for item in range(n_items):
                n = self.first[item + 1] - self.first[item]
                support = 0
                for i in range(n):
                    support += self.counts[self.holders[self.first[item] + i]]
                beat(self.tell, &self.work, n)
                if n == 0:
                    continue
                if support < self.k or (self.limits_private and self.is_breached(
                        &self.holders[self.first[item]], n, support)):
                    moles.add(NULL, item, support)
                else:
                    sound.add(NULL, item, support)
        return sound, moles

    cdef grow(self, _Sets of, bint last):
        """Return the sound sets of the next size (unless this was the last), and the moles."""
        cdef:
            int size = of.size
            _Sets sound = _Sets(size + 1, self.most), moles = _Sets(size + 1, self.most)
            int64_t i, depth
            const int32_t* here
            bint joined
        if of.n:
            # One row for each prefix. Those of smaller sets are of no use any more.
            self.rows = np.empty((size, self.largest), np.int32)
            self.places = np.empty((size, self.largest), np.int32)
        if size > 1:
            of.index(self.tell, &self.work)
        with nogil:
            for i in range(of.n):
                here = of.items + i * size
                # Those that differ in the last item only come right after it.
                joined = (
                    i + 1 < of.n and agree(here, here + size, size - 1))
                depth = 0  # how much the set has in common with the one before it
                while i and here[depth] == (here - size)[depth]:
                    depth += 1
                while depth < (size if joined else size - 1):
                    beat(self.tell, &self.work, self.narrow(depth, here[depth]))
                    depth += 1
                if joined:
                    self.join(of, i, sound, moles, last)
        return sound, moles

    cdef int join(self, _Sets of, int64_t i, _Sets sound, _Sets moles, bint last) except -1 nogil:
        """Make the candidates that begin with set number i, whose rows are at hand."""
        cdef:
            int size = of.size
            const int32_t* here = of.items + i * size
            const int32_t* other
            int32_t item
            int64_t j, support, work = self.count(size, True)
        for j in range(i + 1, of.n):
            other = of.items + j * size
            if not agree(here, other, size - 1):
                break
            work += size * size
            item = other[size - 1]
            support = self.support[item]
            if support == 0 or support == of.supports[i] or support == of.supports[j]:
                continue
            if last and support >= self.k and not self.limits_private:
                continue  # no mole, and nothing to come
            if not self.parts_are_sound(of, here, item):
                continue
            if support < self.k:
                moles.add(here, item, support)
            elif self.limits_private and self.is_breached(
                    &self.chosen[0], self.choose(size, item), support):
                moles.add(here, item, support)
            elif not last:
                sound.add(here, item, support)
        self.count(size, False)
        return beat(self.tell, &self.work, 2 * work)

    cdef int64_t narrow(self, int64_t depth, int32_t item) noexcept nogil:
        """Of the rows of the prefix of `depth` items, keep those that hold `item` too.

        Returns how much work it was.
        """
        cdef int64_t i, n = 0, start, end, at, work = 0
        cdef int32_t row
        if depth == 0:
            n = self.first[item + 1] - self.first[item]
            memcpy(&self.rows[0, 0], &self.holders[self.first[item]], n * sizeof(int32_t))
            memcpy(&self.places[0, 0], &self.ends[self.first[item]], n * sizeof(int32_t))
            self.n_rows[0] = n
            return n
        for i in range(self.n_rows[depth - 1]):
            row = self.rows[depth - 1, i]
            start, end = self.offsets[row], self.offsets[row + 1]
            at = start + self.places[depth - 1, i]
            work -= at
            while at < end and self.codes[at] < item:
                at += 1
            work += at + 1
            if at < end and self.codes[at] == item:
                self.rows[depth, n] = row
                self.places[depth, n] = <int32_t> (at + 1 - start)
                n += 1
        self.n_rows[depth] = n
        return work

    cdef int64_t count(self, int size, bint up) noexcept nogil:
        """Count the set at hand with each item after it, or make all counts zero again.

        Returns how much work it was.
        """
        cdef int64_t i, at, work = 0
        cdef int32_t row
        for i in range(self.n_rows[size - 1]):
            row = self.rows[size - 1, i]
            at = self.offsets[row] + self.places[size - 1, i]
            work += self.offsets[row + 1] - at
            for at in range(at, self.offsets[row + 1]):
                if up:
                    self.support[self.codes[at]] += self.counts[row]
                else:
                    self.support[self.codes[at]] = 0
        return work

    cdef int64_t choose(self, int size, int32_t item) noexcept nogil:
        """Put the rows of the set at hand that hold `item` into `chosen`; return how many."""
        cdef int64_t i, at, n = 0
        cdef int32_t row
        for i in range(self.n_rows[size - 1]):
            row = self.rows[size - 1, i]
            for at in range(self.offsets[row] + self.places[size - 1, i], self.offsets[row + 1]):
                if self.codes[at] == item:
                    self.chosen[n] = row
                    n += 1
                    break
        return n

    cdef bint parts_are_sound(self, _Sets of, const int32_t* here, int32_t item) noexcept nogil:
        """Whether the candidate without any item before the last of `here` is sound, and more."""
        cdef int left_out, i, n
        cdef int64_t support
        for left_out in range(of.size - 1):
            n = 0
            for i in range(of.size):
                if i != left_out:
                    self.part[n] = here[i]
                    n += 1
            self.part[n] = item
            support = of.support_of(&self.part[0])
            if support == 0 or support == self.support[item]:
                return False
        return True

    cdef bint is_breached(self, const int32_t* rows, int64_t n, int64_t support) noexcept nogil:
        """Whether too many of the transactions of these rows hold one and the same private item."""
        cdef int64_t i, j, most = 0
        for i in range(n):
            for j in range(self.private_offsets[rows[i]], self.private_offsets[rows[i] + 1]):
                self.sharing[self.private_codes[j]] += self.counts[rows[i]]
                most = max(most, self.sharing[self.private_codes[j]])
        for i in range(n):
            for j in range(self.private_offsets[rows[i]], self.private_offsets[rows[i] + 1]):
                self.sharing[self.private_codes[j]] = 0
        return is_larger(most, self.below, support, self.above)


cdef bint is_larger(uint64_t a, uint64_t b, uint64_t c, uint64_t d) noexcept nogil:
    """Whether a b > c d; the products may have 128 bits."""
    cdef uint64_t high_ab, low_ab, high_cd, low_cd
    multiply(a, b, &high_ab, &low_ab)
    multiply(c, d, &high_cd, &low_cd)
    return high_ab > high_cd or (high_ab == high_cd and low_ab > low_cd)


cdef void multiply(uint64_t a, uint64_t b, uint64_t* high, uint64_t* low) noexcept nogil:
    """Multiply as on paper, with digits of 32 bits."""
    cdef uint64_t digit = 0xFFFFFFFFULL
    cdef uint64_t first = (a & digit) * (b & digit)
    cdef uint64_t middle = (a >> 32) * (b & digit) + (first >> 32)
    cdef uint64_t other = (a & digit) * (b >> 32) + (middle & digit)
    high[0] = (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32)
    low[0] = (other << 32) | (first & digit)


def project(offsets, codes, kept):
    """Return the rows without the items that are not to be kept."""
    inside = np.asarray(kept, bool)[codes]
    passed = np.concatenate([[0], np.cumsum(inside)]).astype(np.int64)
    return passed[offsets], np.ascontiguousarray(codes[inside], np.int32)


def find_moles(
    offsets, codes, counts, public, private, share, int p, int64_t k, int64_t most, tell=nothing
):
    """Return the minimal moles of 1, 2, …, p public items."""
    cdef _Search search
    cdef int size = 1
    if p == 0:
        return []
    try:
        search = _Search(offsets, codes, counts, public, private, share, p, k, most, tell)
        sound, moles = search.singles()
        found = [(<_Sets> moles).array()]
        for size in range(2, p + 1):
            sound, moles = search.grow(sound, size == p)
            found.append((<_Sets> moles).array())
    except MemoryError:  # NumPy's, too, which speak of shapes
        raise TooManySetsError(size) from None
    return found
