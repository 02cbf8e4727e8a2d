# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Minimal moles; see `overcoat.kernels.reference.find_moles`.

Size by size. A set can be part of a larger minimal mole only if no part of it is a mole, and if
without any of its items it is held by more: if X and X less x have the same holders, so have any M
with X in it and M less x, and if M is a mole, M less x is one too. Call such sets *sound*. All
parts of a sound set are sound, so two that differ in their last item make a candidate of the next
size, which counts if somebody holds it, its other parts are sound as well, and none of them is held
by as few. That keeps the sets few where rows are long and alike.

The sound sets of a size lie in lexicographic order, in *runs* that differ in the last item only. A
run is worked on as a whole: the rows of what its sets have in common are projected on their last
items, so that each set finds its rows together. Two sets of a run make a candidate, and its other
parts end with the same item as it does: those that leave out the same item are a run, too. Along
the run at hand these other runs lie in order, and along each the candidates; so nothing is ever
looked up.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from overcoat.kernels.lists cimport larger
from overcoat.kernels.pulse cimport beat
from overcoat.kernels.runs cimport Sets

from overcoat.kernels.limits import check_places
from overcoat.kernels.reference import TooManySetsError, nothing


cdef struct Place:
    # A row of the run at hand that holds an item, and where what it holds after it begins.
    int32_t row, at


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
        # The rows of each part of the prefix at hand, by its size less one, and where it ends in
        # each; the whole prefix last.
        int32_t[:, ::1] rows, places
        int64_t[::1] n_rows
        int32_t[::1] path         # the prefix
        int known                 # so much of it has its rows
        # The run at hand: its rows, as places among its last items, one after the other.
        int32_t[::1] slot         # of each item, -1 if the run does not end with it
        int32_t* projected
        int64_t projected_room
        int32_t* row_ends         # in `projected`
        int64_t* row_counts
        int32_t* row_numbers
        int64_t rows_room
        Place* held               # by slot: who holds it
        int64_t held_room
        int64_t[::1] held_starts
        int64_t[::1] support      # of the set at hand with each slot, zero between uses
        int64_t[::1] sharing      # transactions with each private item, zero between uses
        int64_t[::1] part_run, part_at  # the other parts: their run, and how far we are in it
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
        self.path = np.empty(p, np.int32)
        self.slot = np.full(n_items, -1, np.int32)
        self.held_starts = np.zeros(n_items + 1, np.int64)
        self.support = np.zeros(n_items, np.int64)
        self.sharing = np.zeros(n_items, np.int64)
        self.part_run, self.part_at = np.zeros(p, np.int64), np.zeros(p, np.int64)
        self.part = np.empty(p, np.int32)
        self.chosen = np.empty(self.largest, np.int32)

    def __dealloc__(self):
        free(self.projected)
        free(self.row_ends)
        free(self.row_counts)
        free(self.row_numbers)
        free(self.held)

    cdef singles(self):
        """Return the sound single items, and the moles among them."""
        cdef:
            Sets sound = Sets(1, self.most), moles = Sets(1, self.most)
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

    cdef grow(self, Sets of, bint last):
        """Return the sound sets of the next size (unless this was the last), and the moles."""
        cdef:
            int size = of.size
            Sets sound = Sets(size + 1, self.most), moles = Sets(size + 1, self.most)
            int64_t run, i, start, end
        if of.n and size > 1:
            # One row for each part of a prefix. Those of smaller sets are of no use any more.
            self.rows = np.empty((size - 1, self.largest), np.int32)
            self.places = np.empty((size - 1, self.largest), np.int32)
        self.known = 0
        with nogil:
            for run in range(of.n_runs):
                start, end = of.starts[run], of.starts[run + 1]
                if end - start == 1:
                    continue
                self.find_rows(of.prefixes + run * (size - 1), size - 1)
                self.project(of, start, end)
                self.find_parts(of, start)
                for i in range(start, end - 1):
                    self.join(of, start, end, i, sound, moles, last)
                for i in range(start, end):
                    self.slot[of.lasts[i]] = -1
        return sound, moles

    cdef int find_rows(self, const int32_t* prefix, int size) except -1 nogil:
        """Find the rows of a prefix, going on from what it has in common with the one before."""
        cdef int depth = 0
        while depth < min(self.known, size) and self.path[depth] == prefix[depth]:
            depth += 1
        for depth in range(depth, size):
            beat(self.tell, &self.work, self.narrow(depth, prefix[depth]))
            self.path[depth] = prefix[depth]
        self.known = size
        return 0

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

    cdef int project(self, Sets of, int64_t start, int64_t end) except -1 nogil:
        """Project the rows of the prefix on the last items of a run, and list them by these."""
        cdef:
            int depth = of.size - 2
            int64_t i, j, at, stop, n = 0, n_rows = 0, work = 0
            int64_t n_given = self.n_rows[depth] if depth >= 0 else self.counts.shape[0]
            int32_t row, slot
            Place* place
        for i in range(start, end):
            self.slot[of.lasts[i]] = <int32_t> (i - start)
            self.held_starts[i - start] = 0
        if n_given > self.rows_room:
            self.rows_room = n_given
            self.row_ends = <int32_t*> larger(self.row_ends, n_given, sizeof(int32_t))
            self.row_counts = <int64_t*> larger(self.row_counts, n_given, sizeof(int64_t))
            self.row_numbers = <int32_t*> larger(self.row_numbers, n_given, sizeof(int32_t))
        for i in range(n_given):
            row = self.rows[depth, i] if depth >= 0 else <int32_t> i
            at, stop = self.offsets[row], self.offsets[row + 1]
            if depth >= 0:
                at += self.places[depth, i]
            if n + stop - at > self.projected_room:
                self.projected_room = max(n + stop - at, 2 * self.projected_room)
                self.projected = <int32_t*> larger(
                    self.projected, self.projected_room, sizeof(int32_t))
            work += stop - at + 1
            j = n
            for at in range(at, stop):
                slot = self.slot[self.codes[at]]
                if slot >= 0:
                    self.projected[n] = slot
                    self.held_starts[slot] += 1
                    n += 1
            if n > j:
                self.row_ends[n_rows], self.row_numbers[n_rows] = <int32_t> n, row
                self.row_counts[n_rows] = self.counts[row]
                n_rows += 1
        if n > self.held_room:
            self.held_room = max(n, 2 * self.held_room)
            self.held = <Place*> larger(self.held, self.held_room, sizeof(Place))
        stop = n
        for i in range(end - start - 1, -1, -1):  # from here on, where those of a slot end
            stop -= self.held_starts[i]
            self.held_starts[i] += stop
        self.held_starts[end - start] = n
        for i in range(n_rows - 1, -1, -1):
            for j in range(self.row_ends[i] - 1, self.row_ends[i - 1] - 1 if i else -1, -1):
                slot = self.projected[j]
                self.held_starts[slot] -= 1
                place = &self.held[self.held_starts[slot]]
                place.row, place.at = <int32_t> i, <int32_t> (j + 1)
        return beat(self.tell, &self.work, work + 2 * n)

    cdef void find_parts(self, Sets of, int64_t start) noexcept nogil:
        """Find where the runs are that the other parts of the candidates of a run may lie in."""
        cdef int left_out
        for left_out in range(of.size - 1):
            self.leave_out(of, left_out, of.lasts[start])
            self.part_run[left_out] = of.run_of(&self.part[0])

    cdef void leave_out(self, Sets of, int left_out, int32_t last) noexcept nogil:
        """Write the prefix without one of its items, and a last one, into `part`."""
        cdef int i, n = 0
        for i in range(of.size - 1):
            if i != left_out:
                self.part[n] = self.path[i]
                n += 1
        self.part[n] = last

    cdef bint pass_on(self, Sets of, int32_t last) noexcept nogil:
        """Pass on to the runs of the parts of candidates that begin with a set; say if there are."""
        cdef int left_out, order
        cdef int64_t run
        for left_out in range(of.size - 1):
            self.leave_out(of, left_out, last)
            run, order = self.part_run[left_out], 1
            while run < of.n_runs:
                order = of.compare(run, &self.part[0])
                if order >= 0:
                    break
                run += 1
            self.part_run[left_out] = run
            if run == of.n_runs or order:
                return False
            self.part_at[left_out] = of.starts[run]
        return True

    cdef int join(
        self, Sets of, int64_t start, int64_t end, int64_t i, Sets sound, Sets moles, bint last
    ) except -1 nogil:
        """Make the candidates that begin with set number i of a run."""
        cdef int32_t item
        cdef int64_t j, support, work
        if not self.pass_on(of, of.lasts[i]):
            return 0
        self.path[of.size - 1] = of.lasts[i]
        work = self.count(i - start) + end - i
        for j in range(i + 1, end):
            support = self.support[j - start]
            self.support[j - start] = 0
            if support == 0 or support == of.supports[i] or support == of.supports[j]:
                continue
            if last and support >= self.k and not self.limits_private:
                continue  # no mole, and nothing to come
            item = of.lasts[j]
            if not self.parts_are_sound(of, item, support):
                continue
            if support < self.k:
                moles.add(&self.path[0], item, support)
            elif self.limits_private and self.is_breached(
                    &self.chosen[0], self.choose(i - start, j - start), support):
                moles.add(&self.path[0], item, support)
            elif not last:
                sound.add(&self.path[0], item, support)
        return beat(self.tell, &self.work, 2 * work)

    cdef int64_t count(self, int64_t slot) noexcept nogil:
        """Count the set of a slot with each slot after it; return how much work it was."""
        cdef int64_t i, at, weight, work = 0
        cdef Place place
        for i in range(self.held_starts[slot], self.held_starts[slot + 1]):
            place = self.held[i]
            weight = self.row_counts[place.row]
            work += self.row_ends[place.row] - place.at
            for at in range(place.at, self.row_ends[place.row]):
                self.support[self.projected[at]] += weight
        return work

    cdef int64_t choose(self, int64_t slot, int64_t other) noexcept nogil:
        """Put the rows of the set of a slot that hold another into `chosen`; return how many."""
        cdef int64_t i, at, n = 0
        cdef Place place
        for i in range(self.held_starts[slot], self.held_starts[slot + 1]):
            place = self.held[i]
            for at in range(place.at, self.row_ends[place.row]):
                if self.projected[at] == other:
                    self.chosen[n] = self.row_numbers[place.row]
                    n += 1
                    break
        return n

    cdef bint parts_are_sound(self, Sets of, int32_t item, int64_t support) noexcept nogil:
        """Whether the other parts of the candidate with `item` are sound, and held by more."""
        cdef int left_out
        cdef int64_t at, end
        for left_out in range(of.size - 1):
            at, end = self.part_at[left_out], of.starts[self.part_run[left_out] + 1]
            while at < end and of.lasts[at] < item:
                at += 1
            self.part_at[left_out] = at
            if at == end or of.lasts[at] != item or of.supports[at] == support:
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


cdef array_of(Sets of):
    """Return sets as an array, (n, size)."""
    sets = np.empty((of.n, of.size), np.int32)
    if of.n:
        sets[:, -1] = <int32_t[:of.n]> of.lasts
        if of.size > 1:
            prefixes = np.asarray(<int32_t[:of.n_runs, :of.size - 1]> of.prefixes)
            lengths = np.diff(<int64_t[:of.n_runs + 1]> of.starts)
            sets[:, :-1] = np.repeat(prefixes, lengths, axis=0)
    return sets


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
        found = [array_of(moles)]
        for size in range(2, p + 1):
            sound, moles = search.grow(sound, size == p)
            found.append(array_of(moles))
    except MemoryError:  # NumPy's, too, which speak of shapes
        raise TooManySetsError(size) from None
    return found
