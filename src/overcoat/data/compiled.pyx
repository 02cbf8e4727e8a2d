# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The compiled parts of `data`: rows and text. See reference.py for what each does."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, qsort, realloc
from libc.string cimport memcmp, memcpy, memset


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


cdef void radix_sort(Keyed* items, Keyed* spare, int64_t n) noexcept nogil:
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
        swap = items
        items = spare
        spare = swap
    if items != home:
        memcpy(home, items, n * sizeof(Keyed))


cdef void sort_rows(
    Rows* rows, Keyed* items, Keyed* spare, int64_t n, int depth
) noexcept nogil:
    cdef int64_t i, j, start
    cdef Keyed item
    cdef uint64_t last = (<uint64_t> 1 << rows.bits) - 1
    if n <= 16:
        for i in range(1, n):
            item = items[i]
            j = i
            while j > 0 and compare_rows(rows, items[j - 1].row, item.row, depth) > 0:
                items[j] = items[j - 1]
                j -= 1
            items[j] = item
        return
    for i in range(n):
        items[i].key = key_of(rows, items[i].row, depth)
    if n < 4096:
        qsort(items, n, sizeof(Keyed), compare_keys)
    else:
        radix_sort(items, spare, n)
    start = 0
    for i in range(1, n + 1):
        if i == n or items[i].key != items[start].key:
            if i - start > 1 and items[start].key & last:
                sort_rows(rows, items + start, spare + start, i - start, depth + rows.packed)
            start = i


cdef int compare_codes(const void* one, const void* other) noexcept nogil:
    cdef int32_t x = (<int32_t*> one)[0], y = (<int32_t*> other)[0]
    return (x > y) - (x < y)


cdef int32_t sort_inside(int32_t* codes, int64_t n) noexcept nogil:
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


def canonical_rows(offsets, codes, counts, *, bint overwrite=False):
    """Bring weighted rows into canonical form; see `overcoat.data.reference`."""
    cdef:
        const int64_t[::1] start = np.ascontiguousarray(offsets, np.int64)
        int32_t[::1] work = codes if overwrite else np.array(codes, np.int32)
        const int64_t[::1] weight = np.ascontiguousarray(counts, np.int64)
        int64_t n = start.shape[0] - 1, i, row, last = -1, n_distinct = 0, n_codes = 0
        int32_t[::1] length = np.empty(n, np.int32)
        int64_t[::1] positions = np.empty(n, np.int64)
        int64_t[::1] out_offsets = np.empty(n + 1, np.int64)
        int64_t[::1] out_counts = np.empty(n, np.int64)
        Keyed* items
        Keyed* spare
        Rows rows
    out_offsets[0] = 0
    if n == 0:
        return (np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.int64),
                np.empty(0, np.int64))
    items = <Keyed*> malloc(n * sizeof(Keyed))
    spare = <Keyed*> malloc(n * sizeof(Keyed))
    if items == NULL or spare == NULL:
        free(items)
        free(spare)
        raise MemoryError
    rows.start, rows.length = &start[0], &length[0]
    rows.codes = &work[0] if work.shape[0] else NULL
    fits = not len(codes) or int(np.max(codes)) + 1 < 1 << 16
    rows.packed, rows.bits = (4, 16) if fits else (2, 32)
    with nogil:
        for i in range(n):
            if start[i + 1] > start[i]:
                length[i] = sort_inside(&work[start[i]], start[i + 1] - start[i])
            else:
                length[i] = 0
            items[i].row = i
        sort_rows(&rows, items, spare, n, 0)
        free(spare)
        for i in range(n):
            row = items[i].row
            if last < 0 or compare_rows(&rows, last, row, 0) != 0:
                out_counts[n_distinct] = 0
                n_codes += length[row]
                n_distinct += 1
                out_offsets[n_distinct] = n_codes
                last = row
            out_counts[n_distinct - 1] += weight[row]
            positions[row] = n_distinct - 1
            items[i].key = n_distinct - 1
    cdef int32_t[::1] out_codes = np.empty(n_codes, np.int32)
    with nogil:
        last = -1
        for i in range(n):
            if <int64_t> items[i].key != last:
                last = items[i].key
                row = items[i].row
                if length[row]:
                    memcpy(&out_codes[out_offsets[last]], &work[start[row]],
                           length[row] * sizeof(int32_t))
    free(items)
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


# -- text in ----------------------------------------------------------------------------------

cdef class Tokenizer:
    """Splits blocks of basket lines into codes; see `overcoat.data.reference`."""

    cdef:
        int sep                  # -1: ASCII white space
        char* text               # the labels seen so far, end to end
        int64_t text_size, text_capacity
        int64_t* label_start     # of each label, and one more
        uint64_t* label_hash
        int64_t n_labels, label_capacity
        int32_t* table           # open addressing: label number + 1, 0 for free
        int64_t table_size

    def __cinit__(self, sep):
        self.sep = -1 if sep is None else <uint8_t> sep[0]
        self.text_capacity, self.label_capacity, self.table_size = 1 << 12, 1 << 8, 1 << 10
        self.text = <char*> malloc(self.text_capacity)
        self.label_start = <int64_t*> malloc((self.label_capacity + 1) * sizeof(int64_t))
        self.label_hash = <uint64_t*> malloc(self.label_capacity * sizeof(uint64_t))
        self.table = <int32_t*> malloc(self.table_size * sizeof(int32_t))
        if not (self.text and self.label_start and self.label_hash and self.table):
            raise MemoryError
        self.label_start[0] = 0
        memset(self.table, 0, self.table_size * sizeof(int32_t))

    def __dealloc__(self):
        free(self.text)
        free(self.label_start)
        free(self.label_hash)
        free(self.table)

    def feed(self, bytes block):
        """Return the rows of a block of whole lines, and the labels seen for the first time."""
        cdef:
            const char* data = block
            int64_t size = len(block), n_lines, n_codes = 0, row = 0, known = self.n_labels
            int64_t capacity = size // 2 + 1
            int32_t* codes
        n_lines = block.count(b"\n") + (size > 0 and block[size - 1] != 10)
        offsets = np.empty(n_lines + 1, np.int64)
        cdef int64_t[::1] bounds = offsets
        codes = <int32_t*> malloc(capacity * sizeof(int32_t))
        if codes == NULL:
            raise MemoryError
        try:
            with nogil:
                n_codes = self._split(data, size, codes, &bounds[0])
            if n_codes < 0:
                raise MemoryError
            out = np.array(<int32_t[:n_codes]> codes) if n_codes else np.empty(0, np.int32)
        finally:
            free(codes)
        new = [
            self.text[self.label_start[label]:self.label_start[label + 1]]
            for label in range(known, self.n_labels)
        ]
        return offsets, out, new

    cdef int64_t _split(
        self, const char* data, int64_t size, int32_t* codes, int64_t* bounds
    ) noexcept nogil:
        """Fill codes and bounds; return the number of codes, -1 when memory ran out."""
        cdef int64_t at = 0, start, stop, n_codes = 0, row = 0
        cdef int32_t code
        cdef uint8_t byte
        bounds[0] = 0
        while at < size:
            # Invariant: `at` is the first byte of a field, or of white space before one.
            start = at
            if self.sep < 0:
                while at < size and not is_space(data[at]):
                    at += 1
            else:
                while at < size and <uint8_t> data[at] != self.sep and data[at] != 10:
                    at += 1
            stop = at
            if self.sep >= 0:
                if (at == size or data[at] == 10) and stop > start and data[stop - 1] == 13:
                    stop -= 1
                while start < stop and is_blank(data[start]):
                    start += 1
                while stop > start and is_blank(data[stop - 1]):
                    stop -= 1
            if stop > start:
                code = self._number(data + start, stop - start)
                if code < 0:
                    return -1
                codes[n_codes] = code
                n_codes += 1
            if at == size:
                row += 1
                bounds[row] = n_codes
            else:
                byte = <uint8_t> data[at]
                at += 1
                if byte == 10:
                    row += 1
                    bounds[row] = n_codes
                elif at == size:  # a separator is the last byte of the text
                    row += 1
                    bounds[row] = n_codes
        return n_codes

    cdef int32_t _number(self, const char* label, int64_t size) noexcept nogil:
        """Return the number of a label, a new one at first sight; -1 when memory ran out."""
        cdef uint64_t value = 0xCBF29CE484222325ULL
        cdef int64_t i, place
        cdef int32_t found
        for i in range(size):
            value = (value ^ <uint8_t> label[i]) * 0x100000001B3ULL
        value ^= value >> 32
        place = value & (self.table_size - 1)
        while self.table[place]:
            found = self.table[place] - 1
            if (
                self.label_hash[found] == value
                and self.label_start[found + 1] - self.label_start[found] == size
                and memcmp(self.text + self.label_start[found], label, size) == 0
            ):
                return found
            place = (place + 1) & (self.table_size - 1)
        if not self._reserve(size):
            return -1
        found = <int32_t> self.n_labels
        memcpy(self.text + self.text_size, label, size)
        self.text_size += size
        self.n_labels += 1
        self.label_start[self.n_labels] = self.text_size
        self.label_hash[found] = value
        self.table[place] = found + 1
        if 2 * self.n_labels > self.table_size and not self._grow_table():
            return -1
        return found

    cdef bint _reserve(self, int64_t size) noexcept nogil:
        cdef void* grown
        if self.text_size + size > self.text_capacity:
            self.text_capacity = 2 * (self.text_size + size)
            grown = realloc(self.text, self.text_capacity)
            if grown == NULL:
                return False
            self.text = <char*> grown
        if self.n_labels == self.label_capacity:
            self.label_capacity *= 2
            grown = realloc(self.label_start, (self.label_capacity + 1) * sizeof(int64_t))
            if grown == NULL:
                return False
            self.label_start = <int64_t*> grown
            grown = realloc(self.label_hash, self.label_capacity * sizeof(uint64_t))
            if grown == NULL:
                return False
            self.label_hash = <uint64_t*> grown
        return True

    cdef bint _grow_table(self) noexcept nogil:
        cdef int64_t size = 4 * self.table_size, place, label
        cdef int32_t* table = <int32_t*> malloc(size * sizeof(int32_t))
        if table == NULL:
            return False
        memset(table, 0, size * sizeof(int32_t))
        for label in range(self.n_labels):
            place = self.label_hash[label] & (size - 1)
            while table[place]:
                place = (place + 1) & (size - 1)
            table[place] = <int32_t> label + 1
        free(self.table)
        self.table, self.table_size = table, size
        return True


cdef inline bint is_space(char byte) noexcept nogil:
    return byte == 32 or (9 <= byte <= 13)


cdef inline bint is_blank(char byte) noexcept nogil:
    return byte == 32 or byte == 9


# -- text out ---------------------------------------------------------------------------------

def format_rows(offsets, codes, rows, list labels, bytes sep):
    """Return the lines of some rows; see `overcoat.data.reference`."""
    cdef:
        const int64_t[::1] start = np.ascontiguousarray(offsets, np.int64)
        const int32_t[::1] items = np.ascontiguousarray(codes, np.int32)
        const int64_t[::1] chosen = np.ascontiguousarray(rows, np.int64)
        const int64_t[::1] bounds = np.concatenate(
            [[0], np.cumsum(list(map(len, labels)), dtype=np.int64)]
        ).astype(np.int64)
        bytes joined = b"".join(labels)
        const char* text = joined
        const char* between = sep
        int64_t sep_size = len(sep), size = 0, i, j, row, label, length
        bytearray out
        char* target
    with nogil:
        for i in range(chosen.shape[0]):
            row = chosen[i]
            for j in range(start[row], start[row + 1]):
                size += bounds[items[j] + 1] - bounds[items[j]] + sep_size
            size += 1 - (sep_size if start[row + 1] > start[row] else 0)
    out = bytearray(size)
    target = out
    with nogil:
        for i in range(chosen.shape[0]):
            row = chosen[i]
            for j in range(start[row], start[row + 1]):
                if j > start[row]:
                    memcpy(target, between, sep_size)
                    target += sep_size
                label = items[j]
                length = bounds[label + 1] - bounds[label]
                memcpy(target, text + bounds[label], length)
                target += length
            target[0] = 10
            target += 1
    return bytes(out)


# -- which rows are contained in others -------------------------------------------------------

def contained_rows(offsets, codes):
    """Return which of some distinct rows another one contains; see `overcoat.data.reference`.

    A row is compared only with the longer rows that hold its rarest item. Each row carries a
    64-bit signature, one bit for each item (by its code): most comparisons end there.
    """
    cdef:
        const int64_t[::1] start = np.ascontiguousarray(offsets, np.int64)
        const int32_t[::1] items = np.ascontiguousarray(codes, np.int32)
        int64_t n = start.shape[0] - 1, row, other, j, h, length
        int64_t n_items = int(np.max(codes, initial=-1)) + 1
        int64_t[::1] first = np.zeros(n_items + 1, np.int64)
        int64_t[::1] fill
        int32_t[::1] holders = np.empty(len(codes), np.int32)
        uint64_t[::1] signature = np.zeros(n, np.uint64)
        uint8_t[::1] out = np.zeros(n, np.uint8)
        int32_t rarest
    with nogil:
        for j in range(items.shape[0]):
            first[items[j] + 1] += 1
        for j in range(n_items):
            first[j + 1] += first[j]
    fill = np.array(first)
    # Longest rows first in each list: the search ends at rows that are no longer than the row.
    lengths = np.diff(np.asarray(start))
    cdef int64_t[::1] order = np.argsort(-lengths, kind="stable").astype(np.int64)
    with nogil:
        for h in range(n):
            row = order[h]
            for j in range(start[row], start[row + 1]):
                holders[fill[items[j]]] = <int32_t> row
                fill[items[j]] += 1
                signature[row] |= <uint64_t> 1 << (items[j] & 63)
        for row in range(n):
            length = start[row + 1] - start[row]
            if length == 0:
                out[row] = n > 1
                continue
            rarest = items[start[row]]
            for j in range(start[row], start[row + 1]):
                if first[items[j] + 1] - first[items[j]] < first[rarest + 1] - first[rarest]:
                    rarest = items[j]
            for h in range(first[rarest], first[rarest + 1]):
                other = holders[h]
                if start[other + 1] - start[other] <= length:
                    break
                if signature[row] & ~signature[other] == 0 and is_subset(
                    &items[start[row]], length, &items[start[other]],
                    start[other + 1] - start[other]
                ):
                    out[row] = True
                    break
    return np.asarray(out).astype(bool)


cdef bint is_subset(
    const int32_t* small, int64_t n_small, const int32_t* large, int64_t n_large
) noexcept nogil:
    """Whether an ascending row is contained in another."""
    cdef int64_t i = 0, j = 0
    while i < n_small:
        while j < n_large and large[j] < small[i]:
            j += 1
        if j == n_large or large[j] != small[i]:
            return False
        i += 1
    return True
