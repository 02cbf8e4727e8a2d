# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The compiled work on rows; see reference.py for what each function does."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memcpy, memset

from overcoat.context import QUIET
from overcoat.data.pulse cimport Pulse
from overcoat.data.pulse import run_parts

MANY_ROWS = 1 << 16  # from here on, threads share the work; the result is the same

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
    """Rows on their way to canonical form. What works on a range of them can run side by side."""

    cdef:
        const int64_t[::1] start
        int32_t[::1] codes
        int32_t[::1] length
        int64_t n
        Keyed* items
        Keyed* spare
        Rows rows

    def __cinit__(self, offsets, codes, bint overwrite):
        self.start = np.ascontiguousarray(offsets, np.int64)
        self.codes = codes if overwrite else np.array(codes, np.int32)
        self.n = self.start.shape[0] - 1
        self.length = np.empty(self.n, np.int32)
        self.items = <Keyed*> malloc(max(self.n, 1) * sizeof(Keyed))
        self.spare = <Keyed*> malloc(max(self.n, 1) * sizeof(Keyed))
        if self.items == NULL or self.spare == NULL:
            raise MemoryError
        self.rows.start, self.rows.length = &self.start[0], NULL
        self.rows.codes = &self.codes[0] if self.codes.shape[0] else NULL
        if self.n:
            self.rows.length = &self.length[0]
        fits = not len(codes) or int(np.max(codes)) + 1 < 1 << 16
        self.rows.packed, self.rows.bits = (4, 16) if fits else (2, 32)

    def __dealloc__(self):
        free(self.items)
        free(self.spare)

    def sort_inside(self, int64_t first, int64_t stop, stage):
        """Sort the codes of each row of a range."""
        cdef int64_t i, size, steps = 0
        cdef Pulse pulse = Pulse(stage, 0, 2 * (stop - first))
        with nogil:
            for i in range(first, stop):
                size = self.start[i + 1] - self.start[i]
                self.length[i] = sort_codes(&self.codes[self.start[i]], size) if size else 0
                self.items[i].row = i
                pulse.done += 1
                steps += 8 * size + 1
                if steps > SOME:
                    pulse.beat(steps)
                    steps = 0
            pulse.beat(steps)

    def split(self, int64_t n_parts, stage):
        """Put rows that come early before those that come late; return the bounds of the parts.

        They have about as many rows each; rows of different parts differ in their first code.
        """
        cdef int64_t i, part
        cdef Pulse pulse = Pulse(stage, self.n, 2 * self.n)
        heads = np.zeros(self.n, np.int64)
        cdef int64_t[::1] head = heads  # first code plus one, 0 for an empty row
        with nogil:
            for i in range(self.n):
                if self.length[i]:
                    head[i] = <int64_t> self.codes[self.start[i]] + 1
                if i & SOME == SOME:
                    pulse.beat(4 * SOME)
        cumulated = np.concatenate([[0], np.cumsum(np.bincount(heads))])  # rows before each head
        pivots = np.searchsorted(cumulated, [self.n * i // n_parts for i in range(n_parts + 1)])
        cdef int64_t[::1] part_of = (
            np.searchsorted(pivots[1:n_parts], np.arange(len(cumulated)), side="right").astype(np.int64)
        )
        bounds = cumulated[pivots]
        cdef int64_t[::1] at = bounds.copy()
        with nogil:
            for i in range(self.n):
                part = part_of[head[i]]
                self.items[at[part]].row = i
                at[part] += 1
                if i & SOME == SOME:
                    pulse.beat(4 * SOME)
        return bounds.tolist()

    def sort(self, int64_t first, int64_t stop, stage):
        """Sort a range of the items by their rows."""
        cdef Pulse pulse = Pulse(stage, stop - first, 2 * (stop - first))
        with nogil:
            sort_rows(&self.rows, self.items + first, self.spare + first, stop - first, 0, pulse)


def canonical_rows(offsets, codes, counts, *, bint overwrite=False, stage=QUIET):
    """Bring weighted rows into canonical form; see `overcoat.data.reference`."""
    cdef:
        Sorting job = Sorting(offsets, codes, overwrite)
        const int64_t[::1] weight = np.ascontiguousarray(counts, np.int64)
        int64_t n = job.n, i, row, last = -1, n_distinct = 0, n_codes = 0, steps = 0
        int64_t[::1] positions = np.empty(n, np.int64)
        int64_t[::1] out_offsets = np.empty(n + 1, np.int64)
        int64_t[::1] out_counts = np.empty(n, np.int64)
        Pulse pulse = Pulse(stage, 2 * n, 2 * n)
    out_offsets[0] = 0
    n_parts = stage.threads if n >= MANY_ROWS else 1
    if n_parts < 2:
        job.sort_inside(0, n, stage)
        job.sort(0, n, stage)
    else:
        run_parts(stage, job.sort_inside, [n * part // n_parts for part in range(n_parts + 1)])
        run_parts(stage, job.sort, job.split(n_parts, stage))
    with nogil:
        free(job.spare)
        job.spare = NULL
        for i in range(n):
            row = job.items[i].row
            if last < 0 or compare_rows(&job.rows, last, row, 0) != 0:
                out_counts[n_distinct] = 0
                n_codes += job.length[row]
                n_distinct += 1
                out_offsets[n_distinct] = n_codes
                last = row
            out_counts[n_distinct - 1] += weight[row]
            positions[row] = n_distinct - 1
            job.items[i].key = n_distinct - 1
            steps += job.length[row] + 8
            if steps > SOME:
                pulse.beat(steps)
                steps = 0
        pulse.beat(steps)
    cdef int32_t[::1] out_codes = np.empty(n_codes, np.int32)
    with nogil:
        last = -1
        for i in range(n):
            if <int64_t> job.items[i].key != last:
                last = job.items[i].key
                row = job.items[i].row
                if job.length[row]:
                    memcpy(&out_codes[out_offsets[last]], &job.codes[job.start[row]],
                           job.length[row] * sizeof(int32_t))
                steps += job.length[row] // 4 + 8
                if steps > SOME:
                    pulse.beat(steps)
                    steps = 0
    return (
        _shrunk(out_offsets, n_distinct + 1),
        np.asarray(out_codes),
        _shrunk(out_counts, n_distinct),
        np.asarray(positions),
    )


def _shrunk(array, size):
    """Return the first part of an array, copied if much would be kept for nothing."""
    part = np.asarray(array)[:size]
    return part if size > 0.8 * len(array) else part.copy()


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
