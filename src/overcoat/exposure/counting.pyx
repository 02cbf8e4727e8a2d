# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""How many published rows hold what an attacker knows, for all he may know; see reference.py."""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, realloc

from overcoat.context import QUIET
from overcoat.data.pulse cimport Pulse

cdef enum:
    MOST = 64  # items known: deeper than anybody can count


cdef struct Entry:
    int64_t at      # where the last label of the set stands in its row
    int64_t parent  # the same row on the level above
    int64_t row


cdef struct Level:
    Entry* entries
    int64_t room
    int32_t* labels     # of the sets that go on from here, with where their entries start
    int64_t* starts
    int64_t* supports
    int64_t room_labels


def weigh_sets(offsets, labels, taken, spare, counts, need, int n_labels, int m, *, stage=QUIET):
    """Return the worst case of each row and of each entry, and its sum; see `reference`."""
    walk = Walk(offsets, labels, taken, spare, counts, need, n_labels, m, stage)
    walk.run()
    return np.asarray(walk.worst), np.asarray(walk.worst_with), np.asarray(walk.total)


def least_holders(offsets, labels, counts, int n_labels, int m, *, stage=QUIET):
    """Return how few people hold a set of up to 1, 2, … m labels of each row; see `reference`."""
    ones, none = np.ones(len(labels), np.int32), np.zeros(len(counts), np.int64)
    ranked = _rarest_first(offsets, labels, n_labels)
    walk = Walk(offsets, ranked, ones, none, counts, none, n_labels, m, stage)
    walk.light = True
    walk.by_size = np.full(max(len(counts), 1) * m, np.iinfo(np.int64).max, np.int64)
    walk.run()
    by_size = np.asarray(walk.by_size)[: len(counts) * m].reshape(len(counts), m)
    return np.minimum.accumulate(by_size, axis=1)


def _rarest_first(offsets, labels, int n_labels):
    """Return the rows with labels numbered by how rare they are: few rows begin many sets."""
    cdef:
        const int64_t[::1] start = np.ascontiguousarray(offsets, np.int64)
        const int32_t[::1] label = np.ascontiguousarray(labels, np.int32)
        int64_t[::1] next_ = np.zeros(n_labels + 1, np.int64)
        int64_t[::1] fill = np.array(offsets, np.int64)
        int64_t[::1] holders = np.empty(len(labels), np.int64)
        int32_t[::1] out = np.empty(len(labels), np.int32)
        int64_t row, i
        int64_t[::1] rank
    supports = np.bincount(labels, minlength=n_labels)
    order = np.argsort(supports, kind="stable")
    rank = np.empty(n_labels, np.int64)
    np.asarray(rank)[order] = np.arange(n_labels)
    np.asarray(next_)[1:] = np.cumsum(supports[order])
    with nogil:
        for row in range(start.shape[0] - 1):
            for i in range(start[row], start[row + 1]):
                holders[next_[rank[label[i]]]] = row
                next_[rank[label[i]]] += 1
        # Now `next_` is where the holders of each rank end: they go to their rows in that order.
        row = 0
        for i in range(holders.shape[0]):
            while i >= next_[row]:
                row += 1
            out[fill[holders[i]]] = <int32_t> row
            fill[holders[i]] += 1
    return np.asarray(out)


cdef class Walk:
    """A walk through all sets of up to m labels, along the rows that hold them."""

    cdef:
        const int64_t[::1] start, spare, weight, need
        const int32_t[::1] label, taken
        public bint light  # only the least support by size is wanted
        public int64_t[::1] by_size
        int64_t[::1] worst, worst_with, holder_at, holder_row, first, number, people
        int32_t[::1] touched
        double[::1] total
        char[::1] plain, asked
        Level levels[MOST + 1]
        int32_t n_labels
        int m
        Pulse pulse

    def __cinit__(self):
        cdef int depth
        for depth in range(MOST + 1):
            self.levels[depth] = Level(NULL, 0, NULL, NULL, NULL, 0)

    def __dealloc__(self):
        cdef int depth
        for depth in range(MOST + 1):
            free(self.levels[depth].entries)
            free(self.levels[depth].labels)
            free(self.levels[depth].starts)
            free(self.levels[depth].supports)

    def __init__(self, offsets, labels, taken, spare, counts, need, int n_labels, int m, stage):
        cdef int64_t row, j
        self.start = np.ascontiguousarray(offsets, np.int64)
        self.label = np.ascontiguousarray(labels, np.int32)
        self.taken = np.ascontiguousarray(taken, np.int32)
        self.spare = np.ascontiguousarray(spare, np.int64)
        self.weight = np.ascontiguousarray(counts, np.int64)
        self.need = np.ascontiguousarray(need, np.int64)
        self.n_labels, self.m = n_labels, m
        self.pulse = Pulse(stage, 0, len(labels))
        n = len(counts)
        largest = np.iinfo(np.int64).max
        self.worst = np.full(n, largest, np.int64)
        self.worst_with = np.full(len(labels), largest, np.int64)
        self.total = np.zeros(n)
        # In a plain row every set of labels is one set of items.
        plain = np.ones(n, np.int8)
        self.asked = np.zeros(max(n_labels, 1), np.int8)
        rows = np.repeat(np.arange(n), np.diff(offsets))
        plain[rows[np.asarray(taken) != 1]] = 0
        plain[np.asarray(spare) > 0] = 0
        self.plain = plain
        np.asarray(self.asked)[np.asarray(labels)[np.asarray(taken) > 0]] = 1
        order = np.argsort(np.asarray(labels), kind="stable")
        self.holder_at = order.astype(np.int64)
        self.holder_row = rows[order].astype(np.int64)
        self.first = np.searchsorted(
            np.asarray(labels)[order], np.arange(n_labels + 1)
        ).astype(np.int64)
        self.number = np.zeros(max(n_labels, 1), np.int64)
        self.people = np.zeros(max(n_labels, 1), np.int64)
        self.touched = np.empty(max(n_labels, 1), np.int32)

    def run(self):
        """Go through the sets, by their first label."""
        cdef int32_t label
        cdef int64_t i, n, support
        cdef Level* level = &self.levels[1]
        if self.m < 1:
            return
        with nogil:
            for label in range(self.n_labels):
                if not self.asked[label]:
                    continue
                n, support = self.first[label + 1] - self.first[label], 0
                self.reserve(level, n)
                for i in range(n):
                    level.entries[i].at = self.holder_at[self.first[label] + i]
                    level.entries[i].row = self.holder_row[self.first[label] + i]
                    level.entries[i].parent = -1
                    support += self.weight[level.entries[i].row]
                self.pulse.done += n
                self.visit(1, 0, n, support)

    cdef int visit(self, int depth, int64_t first, int64_t stop, int64_t support) except -1 nogil:
        """Weigh a set that these entries hold, and go on to the sets that have one label more."""
        cdef Level* level = &self.levels[depth]
        cdef Level* below
        cdef int64_t i, j, row, n_touched = 0, total = 0, child
        cdef int32_t label
        self.pulse.beat(stop - first)
        for i in range(first, stop):
            self.weigh(depth, level.entries[i].at, level.entries[i].parent,
                       level.entries[i].row, support)
        if depth == self.m or (self.light and support == 1):  # nobody has fewer
            return 0
        # What else do these rows hold, after the last label?
        for i in range(first, stop):
            row = level.entries[i].row
            for j in range(level.entries[i].at + 1, self.start[row + 1]):
                label = self.label[j]
                if self.asked[label]:
                    if self.number[label] == 0:
                        self.touched[n_touched] = label
                        n_touched += 1
                    self.number[label] += 1
                    self.people[label] += self.weight[row]
                    total += 1
        self.pulse.beat(2 * total)
        if depth + 1 == self.m:
            for i in range(first, stop):
                row = level.entries[i].row
                for j in range(level.entries[i].at + 1, self.start[row + 1]):
                    label = self.label[j]
                    if self.asked[label]:
                        self.weigh(depth + 1, j, i, row, self.people[label])
            for i in range(n_touched):
                self.number[self.touched[i]] = self.people[self.touched[i]] = 0
            return 0
        below = &self.levels[depth + 1]
        self.reserve(below, total)
        self.reserve_labels(below, n_touched)
        total = 0
        for i in range(n_touched):
            label = self.touched[i]
            below.labels[i], below.starts[i] = label, total
            below.supports[i] = self.people[label]
            self.people[label] = total  # from here on: where the next entry of the label goes
            total += self.number[label]
            self.number[label] = 0
        below.starts[n_touched] = total
        for i in range(first, stop):
            row = level.entries[i].row
            for j in range(level.entries[i].at + 1, self.start[row + 1]):
                label = self.label[j]
                if self.asked[label]:
                    child = self.people[label]
                    below.entries[child].at, below.entries[child].row = j, row
                    below.entries[child].parent = i
                    self.people[label] = child + 1
        for i in range(n_touched):
            self.people[below.labels[i]] = 0
        for i in range(n_touched):
            self.visit(depth + 1, below.starts[i], below.starts[i + 1], below.supports[i])
        return 0

    cdef int weigh(
        self, int depth, int64_t at, int64_t parent, int64_t row, int64_t support
    ) except -1 nogil:
        """Take a set of labels into account that one row holds."""
        cdef double ways = 1.0
        cdef int64_t up
        cdef int above
        if self.light:
            up = row * self.m + depth - 1
            if support < self.by_size[up]:
                self.by_size[up] = support
            return 0
        if self.plain[row]:
            if depth != self.need[row]:
                return 0
        else:
            ways = self.count_ways(depth, at, parent, row)
            if ways == 0.0:
                return 0
        self.total[row] += ways / <double> support
        if support < self.worst[row]:
            self.worst[row] = support
        if support < self.worst_with[at]:
            self.worst_with[at] = support
        up, above = parent, depth - 1
        while above > 0:
            if support < self.worst_with[self.levels[above].entries[up].at]:
                self.worst_with[self.levels[above].entries[up].at] = support
            up = self.levels[above].entries[up].parent
            above -= 1
        return 0

    cdef double count_ways(self, int depth, int64_t at, int64_t parent, int64_t row) except -1.0 nogil:
        """Return how many sets of the items an attacker may know have just these labels.

        Of each label at least one item, of the suppressed ones any, `need` together: a coefficient
        of the product over labels of (1 + x)^taken - 1, times (1 + x)^spare.
        """
        cdef double[MOST + 1] product
        cdef int64_t need = self.need[row], up = parent
        cdef int degree, share, above = depth
        cdef double sum_, choose
        if depth > need:
            return 0.0
        choose = 1.0
        for degree in range(need + 1):
            product[degree] = choose
            choose = choose * (self.spare[row] - degree) / (degree + 1)
        while True:
            if self.taken[at] == 0:
                return 0.0
            for degree in range(<int> need, -1, -1):
                sum_, choose = 0.0, 1.0
                for share in range(1, degree + 1):
                    choose = choose * (self.taken[at] - share + 1) / share
                    if choose == 0.0:
                        break
                    sum_ += choose * product[degree - share]
                product[degree] = sum_
            above -= 1
            if above == 0:
                return product[need]
            at, up = self.levels[above].entries[up].at, self.levels[above].entries[up].parent

    cdef int reserve(self, Level* level, int64_t n) except -1 nogil:
        cdef Entry* more
        if n > level.room:
            more = <Entry*> realloc(level.entries, 2 * n * sizeof(Entry))
            if more == NULL:
                with gil:
                    raise MemoryError
            level.entries, level.room = more, 2 * n
        return 0

    cdef int reserve_labels(self, Level* level, int64_t n) except -1 nogil:
        cdef void* labels
        cdef void* starts
        cdef void* supports
        if n >= level.room_labels:
            labels = realloc(level.labels, 2 * (n + 1) * sizeof(int32_t))
            if labels != NULL:
                level.labels = <int32_t*> labels
            starts = realloc(level.starts, 2 * (n + 1) * sizeof(int64_t))
            if starts != NULL:
                level.starts = <int64_t*> starts
            supports = realloc(level.supports, 2 * (n + 1) * sizeof(int64_t))
            if supports != NULL:
                level.supports = <int64_t*> supports
            if labels == NULL or starts == NULL or supports == NULL:
                with gil:
                    raise MemoryError
            level.room_labels = 2 * (n + 1)
        return 0
