# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The compiled reading and writing of baskets; see reference.py for what each part does."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from overcoat.errors import DataError

MOST_LABELS = (1 << 31) - 2  # the table holds their numbers, plus one, in 32 bits


# -- text in ----------------------------------------------------------------------------------

cdef class Tokenizer:
    """Splits blocks of basket lines into codes; see `overcoat.data.reference`."""

    cdef:
        int sep                  # -1: ASCII white space
        char* text               # the labels seen so far, end to end
        int64_t text_size, text_capacity
        int64_t* label_start     # of each label, and one more
        uint64_t* label_hash
        int64_t n_labels, label_capacity, most_labels
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
        self.most_labels = MOST_LABELS
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
            if self.n_labels > self.most_labels:
                raise DataError(
                    f"there are more than {self.most_labels:,} items, which is all that can be "
                    "worked on at once; split the data into parts that are released apart")
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
        """Fill codes and bounds; return the number of codes, -1 when a label has no place."""
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
        """Return the number of a label, a new one at first sight; -1 when it has no place."""
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
        if self.n_labels == self.most_labels:
            self.n_labels += 1  # which says why this ends
            return -1
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
