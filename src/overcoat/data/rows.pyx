# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The compiled work on rows; see reference.py for what each function does."""

from itertools import accumulate

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memcpy, memset

from overcoat.context import QUIET
from overcoat.data.pulse cimport Pulse
from overcoat.data.pulse import run_parts

MANY_ROWS = 1 << 16  # from here on, threads share the work; the result is the same
PART = 1 << 18  # rows sorted at once, where there are many

cdef enum:
    SOME = (1 << 16) - 1  # steps between two beats of inner loops, less one: all bits are set


# -- canonical rows ---------------------------------------------------------------------------
#
# Rows are sorted by a few codes at a time, packed into one 64-bit key: four when they fit in 16
# bits, else two. Rows with equal keys are sorted further by their next codes.

cdef struct Keyed:
    uint64_t key
    int64_t row

cdef struct Rows:
    const int64_t* start
    const int32_t* length
    const int32_t* codes
    int packed       # codes in one key
    int bits         # of each


cdef int compare_keys(const void* one, const void* other) noexcept nogil:
    cdef uint64_t x = (<Keyed*> one).key, y = (<Keyed*> other).key
    return (x > y) - (x < y)


cdef int compare_rows(Rows* rows, int64_t one, int64_t other, int depth) noexcept nogil:
    cdef int i, shorter = min(rows.length[one], rows.length[other])
    cdef const int32_t* x = rows.codes + rows.start[one]
    cdef const int32_t* y = rows.codes + rows.start[other]
    for i in range(depth, shorter):
        if x[i] != y[i]:
            return -1 if x[i] < y[i] else 1
    return (rows.length[one] > rows.length[other]) - (rows.length[one] < rows.length[other])


cdef uint64_t key_of(Rows* rows, int64_t row, int depth) noexcept nogil:
    """Pack the next codes, each plus one, so that a row that ends comes first."""
    cdef uint64_t key = 0
    cdef int i, at
    cdef const int32_t* codes = rows.codes + rows.start[row]
    for i in range(rows.packed):
        at = depth + i
        key <<= rows.bits
        if at < rows.length[row]:
            key |= <uint64_t> codes[at] + 1
    return key


cdef int radix_sort(Keyed* items, Keyed* spare, int64_t n, Pulse pulse) except -1 nogil:
    """Sort by key, eleven bits at a time; a digit that all keys share costs one look."""
    cdef int64_t counts[2048]
    cdef int64_t i, total, count
    cdef int shift
    cdef Keyed* swap
    cdef Keyed* home = items
    for shift in range(0, 64, 11):
        memset(counts, 0, sizeof(counts))
        for i in range(n):
            counts[(items[i].key >> shift) & 2047] += 1
            if i & SOME == SOME:
                pulse.beat(SOME)
        if counts[(items[0].key >> shift) & 2047] == n:
            continue
        total = 0
        for i in range(2048):
            count = counts[i]
            counts[i] = total
            total += count
        for i in range(n):
            spare[counts[(items[i].key >> shift) & 2047]] = items[i]
            counts[(items[i].key >> shift) & 2047] += 1
            if i & SOME == SOME:
                pulse.beat(4 * SOME)
        pulse.beat(4 * (n & SOME))
        swap = items
        items = spare
        spare = swap
    if items != home:
        memcpy(home, items, n * sizeof(Keyed))
    return 0


cdef int common_prefix(
    Rows* rows, const Keyed* items, int64_t n, int depth, Pulse pulse
) except -1 nogil:
    """Return how many codes all of some rows have in common; `depth` is known of."""
    cdef const int32_t* first = rows.codes + rows.start[items[0].row]
    cdef const int32_t* codes
    cdef int64_t i
    cdef int j, common = rows.length[items[0].row]
    for i in range(1, n):
        codes = rows.codes + rows.start[items[i].row]
        common = min(common, rows.length[items[i].row])
        j = depth
        while j < common and codes[j] == first[j]:
            j += 1
        common = j
        pulse.beat(1 + j - depth)
    return common


cdef int sort_rows(
    Rows* rows, Keyed* items, Keyed* spare, int64_t n, int depth, Pulse pulse
) except -1 nogil:
    """Sort rows that agree in their first `depth` codes.

    Of the parts with equal keys the largest is sorted in the next turn of the loop, the others by
    calls: none of these has more than half of the rows, so calls nest as deep as n can be halved,
    however long the rows are. What all rows have in common is passed over in one go.
    """
    cdef int64_t i, j, start, largest, n_largest
    cdef Keyed item
    cdef uint64_t last = (<uint64_t> 1 << rows.bits) - 1
    while n > 16:
        for i in range(n):
            items[i].key = key_of(rows, items[i].row, depth)
            if i & SOME == SOME:
                pulse.beat(8 * SOME)
        pulse.beat(8 * (n & SOME))
        i = 1
        while i < n and items[i].key == items[0].key:
            i += 1
        if i == n:
            if not items[0].key & last:  # the rows end here: they are equal
                pulse.done += n
                return 0
            depth = common_prefix(rows, items, n, depth + rows.packed, pulse)
            continue
        if n < 4096:
            qsort(items, n, sizeof(Keyed), compare_keys)
            pulse.beat(16 * n)
        else:
            radix_sort(items, spare, n, pulse)
        start = largest = n_largest = 0
        for i in range(1, n + 1):
            if i == n or items[i].key != items[start].key:
                if i - start == 1 or not items[start].key & last:
                    pulse.done += i - start
                elif i - start > n_largest:
                    if n_largest:
                        sort_rows(rows, items + largest, spare + largest, n_largest,
                                  depth + rows.packed, pulse)
                    largest, n_largest = start, i - start
                else:
                    sort_rows(rows, items + start, spare + start, i - start,
                              depth + rows.packed, pulse)
                start = i
        items, spare, n, depth = items + largest, spare + largest, n_largest, depth + rows.packed
    for i in range(1, n):
        item = items[i]
        j = i
        while j > 0 and compare_rows(rows, items[j - 1].row, item.row, depth) > 0:
            items[j] = items[j - 1]
            j -= 1
        items[j] = item
        pulse.beat(rows.length[item.row] - depth + 8)
    pulse.done += n
    return 0


cdef int compare_codes(const void* one, const void* other) noexcept nogil:
    cdef int32_t x = (<int32_t*> one)[0], y = (<int32_t*> other)[0]
    return (x > y) - (x < y)


cdef int32_t sort_codes(int32_t* codes, int64_t n) noexcept nogil:
    """Sort one row in place and drop repetitions; return its new length."""
    cdef int64_t i, j
    cdef int32_t code, kept
    if n > 32:
        qsort(codes, n, sizeof(int32_t), compare_codes)
    else:
        for i in range(1, n):
            code = codes[i]
            j = i
            while j > 0 and codes[j - 1] > code:
                codes[j] = codes[j - 1]
                j -= 1
            codes[j] = code
    kept = 0
    for i in range(n):
        if kept == 0 or codes[i] != codes[kept - 1]:
            codes[kept] = codes[i]
            kept += 1
    return kept


cdef class Sorting:
    """Rows on their way to canonical form. What works on a part of them can run side by side.

    A part is what begins with some codes: rows of different parts differ in their first code. Keys
    are made for one part at a time, so that they take little memory, and stay near.
    """

    cdef:
        const int64_t[::1] start
        const int32_t[::1] given     # the codes as they came
        const int32_t[::1] label     # what becomes of each code; -1: it goes
        int32_t[::1] codes           # where rows are relabelled and sorted; may be `given` itself
        int32_t[::1] length
        int32_t[::1] order           # rows in order; ~row where it equals the one before
        const int64_t[::1] weight
        int64_t n
        bint relabels
        Rows rows
        # The result.
        int64_t[::1] out_offsets, out_counts, positions
        int32_t[::1] out_codes

    def __cinit__(self, offsets, codes, counts, labels, bint overwrite):
        if len(offsets) > 1 << 31:
            from overcoat.data.canonical import check_number
            check_number(len(offsets) - 1, "rows")
        self.start = np.ascontiguousarray(offsets, np.int64)
        self.weight = np.ascontiguousarray(counts, np.int64)
        self.given = np.ascontiguousarray(codes, np.int32)
        self.relabels = labels is not None
        self.label = np.ascontiguousarray(labels if self.relabels else [], np.int32)
        self.codes = codes if overwrite else np.empty(len(codes), np.int32)
        self.n = self.start.shape[0] - 1
        self.length = np.empty(self.n, np.int32)
        self.order = np.empty(self.n, np.int32)
        self.rows.start, self.rows.length = &self.start[0], NULL
        self.rows.codes = &self.codes[0] if self.codes.shape[0] else NULL
        if self.n:
            self.rows.length = &self.length[0]
        highest = int(np.max(self.label if self.relabels else self.given, initial=0))
        self.rows.packed, self.rows.bits = (4, 16) if highest + 1 < 1 << 16 else (2, 32)

    def sort_inside(self, int64_t first, int64_t stop, stage):
        """Relabel the codes of each row of a range, and sort them."""
        cdef int64_t i, j, at, size, steps = 0
        cdef Pulse pulse = Pulse(stage)
        with nogil:
            for i in range(first, stop):
                at = self.start[i]
                if self.relabels:
                    for j in range(self.start[i], self.start[i + 1]):
                        if self.label[self.given[j]] >= 0:
                            self.codes[at] = self.label[self.given[j]]
                            at += 1
                else:
                    at = self.start[i + 1]
                    if at > self.start[i] and &self.codes[0] != &self.given[0]:
                        memcpy(&self.codes[self.start[i]], &self.given[self.start[i]],
                               (at - self.start[i]) * sizeof(int32_t))
                size = at - self.start[i]
                self.length[i] = sort_codes(&self.codes[self.start[i]], size) if size else 0
                pulse.done += 1
                steps += 8 * (self.start[i + 1] - self.start[i]) + 1
                if steps > SOME:
                    pulse.beat(steps)
                    steps = 0
            pulse.beat(steps)

    def split(self, int64_t n_parts, stage):
        """Put rows that come early before those that come late; return the bounds of the parts.

        They have about as many rows each, if no first code has more.
        """
        cdef int64_t i
        cdef int32_t part, most = -1
        cdef Pulse pulse = Pulse(stage, self.n, 3 * self.n)
        with nogil:
            for i in range(self.n):
                most = max(most, <int32_t> self.head(i) - 1)
        numbers = np.zeros(most + 2, np.int64)  # rows by first code plus one, 0 for an empty row
        cdef int64_t[::1] number = numbers
        with nogil:
            for i in range(self.n):
                number[self.head(i)] += 1
                if i & SOME == SOME:
                    pulse.beat(4 * SOME)
        cumulated = np.concatenate([[0], np.cumsum(numbers)])  # rows before each head
        shares = [self.n * i // n_parts for i in range(1, n_parts)]
        inner = np.unique(np.searchsorted(cumulated, shares))
        inner = inner[(cumulated[inner] > 0) & (cumulated[inner] < self.n)]
        pivots = np.concatenate([[0], inner, [len(cumulated) - 1]]).astype(np.int64)
        cdef int32_t[::1] part_of = np.searchsorted(
            pivots[1:-1], np.arange(len(cumulated)), side="right").astype(np.int32)
        bounds = cumulated[pivots]
        cdef int64_t[::1] at = bounds.copy()
        with nogil:
            for i in range(self.n):
                part = part_of[self.head(i)]
                self.order[at[part]] = <int32_t> i
                at[part] += 1
                if i & SOME == SOME:
                    pulse.beat(4 * SOME)
        return bounds.tolist()

    cdef inline int64_t head(self, int64_t row) noexcept nogil:
        return <int64_t> self.codes[self.start[row]] + 1 if self.length[row] else 0

    def sort(self, int64_t first, int64_t stop, stage):
        """Sort a part of the rows; return how many differ, and how many codes these have."""
        cdef:
            Pulse pulse = Pulse(stage)
            int64_t n = stop - first, i, row, last = -1, n_distinct = 0, n_codes = 0, steps = 0
            Keyed* items = <Keyed*> malloc(max(n, 1) * sizeof(Keyed))
            Keyed* spare = <Keyed*> malloc(max(n, 1) * sizeof(Keyed))
        try:
            if items == NULL or spare == NULL:
                raise MemoryError
            with nogil:
                for i in range(n):
                    items[i].row = self.order[first + i]
                sort_rows(&self.rows, items, spare, n, 0, pulse)
                for i in range(n):
                    row = items[i].row
                    if last < 0 or compare_rows(&self.rows, last, row, 0) != 0:
                        self.order[first + i] = <int32_t> row
                        n_codes += self.length[row]
                        n_distinct += 1
                        last = row
                    else:
                        self.order[first + i] = ~(<int32_t> row)
                    steps += self.length[row] + 8
                    if steps > SOME:
                        pulse.beat(steps)
                        steps = 0
                pulse.beat(steps)
        finally:
            free(items)
            free(spare)
        return n_distinct, n_codes

    def make_room(self, int64_t n_distinct, int64_t n_codes, bint positions):
        """Make the arrays of the result."""
        self.out_offsets = np.zeros(n_distinct + 1, np.int64)
        self.out_counts = np.empty(n_distinct, np.int64)
        self.out_codes = np.empty(n_codes, np.int32)
        self.positions = np.empty(self.n if positions else 0, np.int64)

    def gather(self, int64_t first, int64_t stop, int64_t row, int64_t code, stage):
        """Write the distinct rows of a part to the result, from this row and this code on."""
        cdef:
            int64_t i, one, steps = 0
            int32_t size
            bint positions = self.positions.shape[0] > 0
            Pulse pulse = Pulse(stage)
        with nogil:
            row -= 1
            for i in range(first, stop):
                one = self.order[i]
                if one >= 0:
                    row += 1
                    size = self.length[one]
                    if size:
                        memcpy(&self.out_codes[code], &self.codes[self.start[one]],
                               size * sizeof(int32_t))
                    code += size
                    self.out_offsets[row + 1] = code
                    self.out_counts[row] = 0
                    steps += size // 4
                else:
                    one = ~one
                self.out_counts[row] += self.weight[one]
                if positions:
                    self.positions[one] = row
                pulse.done += 1
                steps += 8
                if steps > SOME:
                    pulse.beat(steps)
                    steps = 0
            pulse.beat(steps)


def canonical_rows(
    offsets, codes, counts, *, labels=None, bint overwrite=False, bint positions=True, stage=QUIET
):
    """Bring weighted rows into canonical form; see `overcoat.data.reference`."""
    cdef Sorting job = Sorting(offsets, codes, counts, labels, overwrite)
    n, threads = job.n, stage.threads if job.n >= MANY_ROWS else 1
    ranges = [n * part // threads for part in range(threads + 1)]
    run_parts(stage, job.sort_inside, ranges, of=3 * n)
    bounds = job.split(1 if n < MANY_ROWS else max(4 * threads, n // PART), stage)
    sizes = run_parts(stage, job.sort, bounds, before=n, of=3 * n)
    rows, ends = ([0, *accumulate(size)] for size in zip(*sizes))
    job.make_room(max(rows), max(ends), positions)  # the last of each
    run_parts(stage, job.gather, bounds, rows, ends, before=2 * n, of=3 * n)
    return (
        np.asarray(job.out_offsets),
        np.asarray(job.out_codes),
        np.asarray(job.out_counts),
        np.asarray(job.positions) if positions else None,
    )


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
