# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""How rows are sorted, and the codes inside of one.

Rows are sorted by a few codes at a time, packed into one 64-bit key: four when they fit in 16 bits,
else two. Rows with equal keys are sorted further by their next codes.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport qsort
from libc.string cimport memcpy, memset

from overcoat.data.pulse cimport Pulse

cdef enum:
    SOME = (1 << 16) - 1  # steps between two beats of inner loops, less one: all bits are set


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
