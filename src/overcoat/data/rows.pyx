# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The compiled work on rows; see reference.py for what each function does."""

from itertools import accumulate

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove

from overcoat.context import QUIET
from overcoat.data.heap import give_back_memory
from overcoat.data.pulse cimport Pulse
from overcoat.data.pulse import run_parts
from overcoat.data.sorting cimport Keyed, Rows, compare_rows, sort_codes, sort_rows

MANY_ROWS = 1 << 16  # from here on, threads share the work; the result is the same
PART = 1 << 18  # rows that are sorted, or placed, at once, where there are many
MOST = (1 << 31) - 1
GIVEN_BACK = 1 << 25  # bytes, at once
SAMPLE = 64  # rows a part, from which it is told how rows begin

cdef enum:
    SOME = (1 << 16) - 1  # steps between two beats of inner loops, less one: all bits are set


cdef class Gathering:
    """Rows in batches on their way to canonical form; nothing is held twice.

    A part is what begins alike: its rows come before all rows of the parts after it. Rows are
    placed in their parts, each batch being let go when that is done with it; then each part is
    sorted where it is, and what is equal in it becomes one; then parts are moved together. Batches
    (in pieces) can be placed side by side, and so can parts be sorted.
    """

    cdef:
        list batches                  # of starts, codes and weights
        list pieces                   # of a batch, its first row, and where that ends
        list left                     # pieces of each batch that are still to be placed
        const int32_t[::1] label      # what becomes of each code; -1: it goes
        bint relabels, positions
        int64_t n, n_parts
        int64_t gone                  # bytes of batches let go, and not yet given back
        int packed, bits              # see `Rows`
        const int64_t[::1] before     # rows before each piece
        uint16_t[::1] part_of         # of each row, until it is placed
        const uint64_t[::1] pivots    # how the first row of each part but one begins
        # Where the rows of each piece and part begin, and their codes; and how far they got.
        int64_t[:, ::1] rows_from, codes_from, row_at, code_at
        # The rows, by parts.
        object all_codes, all_weights
        int32_t[::1] codes, length
        int64_t[::1] weight
        int32_t[::1] origin           # which one it was, if positions are wanted,
        int32_t[::1] place            # and which of the distinct ones of its part it became

    def __init__(self, list batches, labels, bint positions, bint lets_go, int threads):
        self.batches, self.positions = batches, positions
        self.relabels = labels is not None
        self.label = np.ascontiguousarray(labels if self.relabels else [], np.int32)
        sizes = [len(counts) for _, _, counts in batches]
        self.n = sum(sizes)
        if self.n > MOST:
            from overcoat.data.canonical import check_number  # which needs this module itself
            check_number(self.n, "rows")
        many = self.n >= MANY_ROWS
        step = min(PART, max(self.n // threads, 1)) if many else max(self.n, 1)
        self.pieces = [
            (batch, first, min(first + step, size))
            for batch, size in enumerate(sizes) for first in range(0, size, step)
        ]
        self.left = [-(-size // step) if lets_go else 0 for size in sizes]
        self.before = np.cumsum([0] + [stop - first for _, first, stop in self.pieces])
        most = [np.max(codes, initial=0) for _, codes, _ in batches]
        highest = int(np.max(self.label if self.relabels else most, initial=0))
        self.packed, self.bits = (4, 16) if highest + 1 < 1 << 16 else (2, 32)
        self.pivots = np.empty(0, np.uint64)
        if many:
            self.pivots = self._choose_pivots(max(4 * threads, self.n // PART))
        self.n_parts = len(self.pivots) + 1
        self.part_of = np.empty(self.n if self.n_parts > 1 else 0, np.uint16)
        self.row_at = np.zeros((len(self.pieces), self.n_parts), np.int64)
        self.code_at = np.zeros((len(self.pieces), self.n_parts), np.int64)

    def _choose_pivots(self, int64_t n_parts):
        """Return beginnings of rows, of which every part has about as many, by a sample."""
        cdef:
            const int64_t[::1] start
            const int32_t[::1] codes
            int64_t step = max(self.n // (n_parts * SAMPLE), 1), row
            list found = []
        for starts, given, weights in self.batches:
            start, codes = starts, given
            for row in range(step // 2, len(weights), step):
                found.append(self.head(start, codes, row))
        found.sort()
        inner = {found[len(found) * part // n_parts] for part in range(1, n_parts)} - {0}
        return np.array(sorted(inner), np.uint64)

    cdef inline uint64_t head(
        self, const int64_t[::1] start, const int32_t[::1] given, int64_t row
    ) noexcept nogil:
        """Return the first two codes that a row will have, each plus one; none is 0."""
        cdef:
            int64_t j
            uint32_t code, first = <uint32_t> -1, second = <uint32_t> -1
        for j in range(start[row], start[row + 1]):
            code = self.label[given[j]] if self.relabels else given[j]  # -1 comes last
            if code < first:
                second = first
                first = code
            elif first < code < second:
                second = code
        return (<uint64_t> (first + 1) << 32) | (second + 1)

    def look(self, int64_t _first, int64_t _stop, int64_t piece, stage):
        """Find the part of each row of a piece, and count rows and codes."""
        cdef:
            const int64_t[::1] start
            const int32_t[::1] given
            const uint64_t[::1] pivots = self.pivots
            int64_t first, stop, i, part, low, high, steps = 0, at = self.before[piece]
            uint64_t head
            Pulse pulse = Pulse(stage)
        batch, first, stop = self.pieces[piece]
        start, given, _ = self.batches[batch]
        with nogil:
            for i in range(first, stop):
                part = 0
                if self.n_parts > 1:
                    head = self.head(start, given, i)
                    high = pivots.shape[0]
                    while part < high:  # how many pivots are not above
                        low = (part + high) >> 1
                        if pivots[low] <= head:
                            part = low + 1
                        else:
                            high = low
                    self.part_of[at + i - first] = <uint16_t> part
                self.row_at[piece, part] += 1
                self.code_at[piece, part] += start[i + 1] - start[i]
                pulse.done += 1
                steps += start[i + 1] - start[i] + 8
                if steps > SOME:
                    pulse.beat(steps)
                    steps = 0
            pulse.beat(steps)

    def make_room(self):
        """Settle where the rows of each part, and in it of each piece, will be."""
        def begins(counts):
            ends = np.cumsum(np.asarray(counts).T).reshape(self.n_parts, len(self.pieces))
            return np.ascontiguousarray((ends - np.asarray(counts).T).T)

        n_codes = int(np.sum(self.code_at))
        self.rows_from, self.codes_from = begins(self.row_at), begins(self.code_at)
        self.row_at, self.code_at = self.rows_from.copy(), self.codes_from.copy()
        self.all_codes = np.empty(n_codes, np.int32)
        self.all_weights = np.empty(self.n, np.int64)
        self.codes, self.weight = self.all_codes, self.all_weights
        self.length = np.empty(self.n, np.int32)
        self.origin = np.empty(self.n if self.positions else 0, np.int32)
        self.place = np.empty(self.n if self.positions else 0, np.int32)

    def put(self, int64_t _first, int64_t _stop, int64_t piece, stage):
        """Put the rows of a piece into their parts, relabelled and sorted inside."""
        cdef:
            const int64_t[::1] start, weight
            const int32_t[::1] given
            int64_t first, stop, i, j, at, part = 0, row, steps = 0, before = self.before[piece]
            int32_t code, size
            Pulse pulse = Pulse(stage)
        batch, first, stop = self.pieces[piece]
        start, given, weight = self.batches[batch]
        with nogil:
            for i in range(first, stop):
                if self.n_parts > 1:
                    part = self.part_of[before + i - first]
                row, at, size = self.row_at[piece, part], self.code_at[piece, part], 0
                for j in range(start[i], start[i + 1]):
                    code = self.label[given[j]] if self.relabels else given[j]
                    if code >= 0:
                        self.codes[at + size] = code
                        size += 1
                if size:
                    size = sort_codes(&self.codes[at], size)
                self.length[row], self.weight[row] = size, weight[i]
                if self.positions:
                    self.origin[row] = <int32_t> (before + i - first)
                self.row_at[piece, part], self.code_at[piece, part] = row + 1, at + size
                pulse.done += 1
                steps += 8 * (start[i + 1] - start[i]) + 8
                if steps > SOME:
                    pulse.beat(steps)
                    steps = 0
            pulse.beat(steps)
        start = given = weight = None
        self.left[batch] -= 1
        if self.left[batch] == 0:
            self.gone += sum(array.nbytes for array in self.batches[batch])
            self.batches[batch] = None
            if self.gone >= GIVEN_BACK:
                self.gone = 0
                give_back_memory()

    def sort(self, int64_t first, int64_t stop, int64_t part, stage):
        """Sort a part of the rows where it is; return how many differ, and their codes."""
        cdef:
            Pulse pulse = Pulse(stage)
            int64_t n = stop - first, piece, i, at, last = -1, n_distinct = 0, n_codes = 0, row
            int64_t steps = 0, n_pieces = len(self.pieces)
            Rows rows
            int64_t* start = <int64_t*> malloc(max(n, 1) * sizeof(int64_t))
            Keyed* items = <Keyed*> malloc(max(n, 1) * sizeof(Keyed))
            Keyed* spare = <Keyed*> malloc(max(n, 1) * sizeof(Keyed))
            int32_t* codes = NULL
        if n == 0:  # and perhaps none at all, so that there is no address to take
            free(start); free(items); free(spare)
            return 0, 0
        try:
            if start == NULL or items == NULL or spare == NULL:
                raise MemoryError
            with nogil:
                i = 0
                for piece in range(n_pieces):
                    at = self.codes_from[piece, part]
                    while i < self.row_at[piece, part] - first:
                        items[i].row, start[i] = i, at
                        at += self.length[first + i]
                        i += 1
                    n_codes += at - self.codes_from[piece, part]
            codes = <int32_t*> malloc(max(n_codes, 1) * sizeof(int32_t))
            if codes == NULL:
                raise MemoryError
            rows.start, rows.length = start, &self.length[first]
            rows.codes = &self.codes[0] if self.codes.shape[0] else NULL
            rows.packed, rows.bits = self.packed, self.bits
            with nogil:
                sort_rows(&rows, items, spare, n, 0, pulse)
                # What the distinct rows are is put aside (their weights and lengths as `spare`),
                # then back to where the part is.
                at = 0
                for i in range(n):
                    row = items[i].row
                    if last < 0 or compare_rows(&rows, last, row, 0) != 0:
                        spare[n_distinct].key, spare[n_distinct].row = 0, rows.length[row]
                        memcpy(codes + at, rows.codes + start[row],
                               rows.length[row] * sizeof(int32_t))
                        at += rows.length[row]
                        n_distinct += 1
                        last = row
                    spare[n_distinct - 1].key += self.weight[first + row]
                    if self.positions:
                        self.place[first + row] = <int32_t> (n_distinct - 1)
                    steps += rows.length[row] + 8
                    if steps > SOME:
                        pulse.beat(steps)
                        steps = 0
                pulse.beat(steps)
                if at:
                    memcpy(&self.codes[self.codes_from[0, part]], codes, at * sizeof(int32_t))
                for i in range(n_distinct):
                    self.length[first + i] = <int32_t> spare[i].row
                    self.weight[first + i] = spare[i].key
        finally:
            free(start)
            free(items)
            free(spare)
            free(codes)
        return n_distinct, at

    def close_up(self, sizes, stage):
        """Move the distinct rows of all parts together; return offsets, codes and weights."""
        cdef:
            int64_t row = 0, code = 0, part, n_rows, n_codes, first, start
            Pulse pulse = Pulse(stage, 3 * self.n, 3 * self.n)
        for part, (n_rows, n_codes) in enumerate(sizes):
            pulse.beat(4 * n_rows + n_codes)
            if n_rows:
                first, start = self.rows_from[0, part], self.codes_from[0, part]
                if row < first:
                    memmove(&self.length[row], &self.length[first], n_rows * sizeof(int32_t))
                    memmove(&self.weight[row], &self.weight[first], n_rows * sizeof(int64_t))
                if code < start and n_codes:
                    memmove(&self.codes[code], &self.codes[start], n_codes * sizeof(int32_t))
            row += n_rows
            code += n_codes
        offsets = np.zeros(row + 1, np.int64)
        np.cumsum(self.length[:row], out=offsets[1:])
        codes, weights = self.all_codes, self.all_weights
        self.codes = self.length = self.weight = self.all_codes = self.all_weights = None
        codes.resize(code, refcheck=False)  # nobody else has them
        weights.resize(row, refcheck=False)
        return offsets, codes, weights

    def became(self, sizes):
        """Return the distinct row that each row became."""
        found = np.empty(self.n, np.int64)
        cdef int64_t[::1] row_of = found
        cdef int64_t row = 0, part, i, stop
        for part, (n_rows, _) in enumerate(sizes):
            stop = self.n if part + 1 == self.n_parts else self.rows_from[0, part + 1]
            for i in range(self.rows_from[0, part], stop):
                row_of[self.origin[i]] = row + self.place[i]
            row += n_rows
        return found


cdef _gather(list batches, labels, bint positions, bint lets_go, stage):
    cdef Gathering job = Gathering(batches, labels, positions, lets_go, stage.threads)
    n, n_pieces = job.n, len(job.pieces)
    if lets_go and n >= MANY_ROWS:
        give_back_memory()
    if n_pieces == 0:
        empty = np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.int64)
        return (*empty, np.empty(0, np.int64) if positions else None)
    bounds, alone = np.asarray(job.before).tolist(), n < MANY_ROWS
    run_parts(stage, job.look, bounds, range(n_pieces), of=3 * n, alone=alone)
    job.make_room()
    run_parts(stage, job.put, bounds, range(n_pieces), before=n, of=3 * n, alone=alone)
    bounds = [*np.asarray(job.rows_from)[0].tolist(), n]
    sizes = run_parts(stage, job.sort, bounds, range(job.n_parts), before=2 * n, of=3 * n)
    became = job.became(sizes) if positions else None
    return (*job.close_up(sizes, stage), became)


def canonical_rows(offsets, codes, counts, *, labels=None, bint positions=True, stage=QUIET):
    """Bring weighted rows into canonical form; see `overcoat.data.reference`."""
    batch = (
        np.ascontiguousarray(offsets, np.int64),
        np.ascontiguousarray(codes, np.int32),
        np.ascontiguousarray(counts, np.int64),
    )
    return _gather([batch], labels, positions, False, stage)


def gathered_rows(list batches, *, labels=None, bint positions=True, stage=QUIET):
    """Bring rows in batches into canonical form; see `overcoat.data.reference`."""
    try:
        return _gather(batches, labels, positions, True, stage)
    finally:
        batches.clear()


def first_unsorted(offsets, codes):
    """Return the first row that is not canonical, or -1; see `overcoat.data.reference`."""
    cdef:
        const int64_t[::1] start = np.ascontiguousarray(offsets, np.int64)
        const int32_t[::1] items = np.ascontiguousarray(codes, np.int32)
        int64_t n = start.shape[0] - 1, row, i, j, before, found = -1
        bint after
    with nogil:
        for row in range(n):
            for i in range(start[row] + 1, start[row + 1]):
                if items[i] <= items[i - 1]:
                    found = row
                    break
            if found < 0 and row > 0:
                i, j, before = start[row], start[row - 1], start[row]
                while i < start[row + 1] and j < before and items[i] == items[j]:
                    i += 1
                    j += 1
                # Where they part, the row before has ended or has the smaller code.
                after = i < start[row + 1] and (j == before or items[j] < items[i])
                if not after:
                    found = row
            if found >= 0:
                break
    return found


def item_supports(offsets, codes, counts, int64_t n_items):
    """Return the support of each item; see `overcoat.data.reference`."""
    cdef:
        const int64_t[::1] start = np.ascontiguousarray(offsets, np.int64)
        const int32_t[::1] items = np.ascontiguousarray(codes, np.int32)
        const int64_t[::1] weight = np.ascontiguousarray(counts, np.int64)
        int64_t[::1] out = np.zeros(n_items, np.int64)
        int64_t row, j
    with nogil:
        for row in range(weight.shape[0]):
            for j in range(start[row], start[row + 1]):
                out[items[j]] += weight[row]
    return np.asarray(out)


def rows_by_item(offsets, codes, int64_t n_items):
    """Return the rows that hold each item; see `overcoat.data.reference`."""
    cdef:
        const int64_t[::1] start = np.ascontiguousarray(offsets, np.int64)
        const int32_t[::1] items = np.ascontiguousarray(codes, np.int32)
        int64_t n = start.shape[0] - 1, row, j, place
        int64_t[::1] end = np.zeros(n_items + 2, np.int64)
        int32_t[::1] rows = np.empty(items.shape[0], np.int32)
    with nogil:
        # Two places on, so that filling the lists brings each start to its own place.
        for j in range(items.shape[0]):
            end[items[j] + 2] += 1
        for j in range(2, n_items + 2):
            end[j] += end[j - 1]
        for row in range(n):
            for j in range(start[row], start[row + 1]):
                place = end[items[j] + 1]
                rows[place] = <int32_t> row
                end[items[j] + 1] = place + 1
    return np.asarray(end)[:n_items + 1], np.asarray(rows)
