# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Supports of given sets for verification; see reference.py. Written apart from the kernels."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, realloc

from .index cimport Index, Pulse

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    static int lowest_bit(unsigned long long word) {
        unsigned long place;
        _BitScanForward64(&place, word);
        return (int) place;
    }
    #else
    #define lowest_bit __builtin_ctzll
    #endif
    """
    int lowest_bit(unsigned long long word) nogil

cdef enum:
    BLOCK = 64  # words of bits worked on together: 4096 rows


cdef class _Supports:
    """Counts the rows that hold a set: those of its rarest label, or bits where that is common.

    A label that more than one row in 64 holds gets a bit for each row when it is first needed: no
    more memory than eight bytes for each row that holds it.
    """

    cdef:
        Index index
        Pulse pulse
        int64_t k, least
        int64_t n_words, n_labels
        uint64_t** bits           # label -> one bit for each row, NULL before they are needed

    def __init__(self, Index index, Pulse pulse, int64_t k, int64_t least=0):
        self.index, self.pulse, self.k, self.least = index, pulse, k, least
        self.n_words, self.n_labels = (index.n_rows + 63) // 64, index.n_labels
        self.bits = <uint64_t**> calloc(max(index.n_labels, 1), sizeof(uint64_t*))
        if self.bits == NULL:
            raise MemoryError

    def __dealloc__(self):
        cdef int64_t label
        if self.bits != NULL:
            for label in range(self.n_labels):
                free(self.bits[label])
        free(self.bits)

    cdef int64_t of(self, const int32_t* labels, int64_t size) except -1 nogil:
        """Return the support of some ascending labels, or what is enough of it."""
        cdef int32_t rarest = labels[0]
        cdef int64_t j, total
        for j in range(size):
            if self.index.holders(labels[j]) < self.index.holders(rarest):
                rarest = labels[j]
        self.pulse.beat(size)
        if self.index.holders(rarest) > self.n_words:
            total = self.by_bits(labels, size)
        else:
            total = self.by_rows(labels, size, rarest)
        if total > 0 and (self.least == 0 or total < self.least):
            self.least = total
        return total

    cdef inline bint enough(self, int64_t total) noexcept nogil:
        """Whether a set with so many supporters can be neither weak nor the weakest."""
        return total >= self.k and self.least > 0 and total >= self.least

    cdef int64_t by_rows(
        self, const int32_t* labels, int64_t size, int32_t rarest
    ) except -1 nogil:
        cdef:
            const int64_t* offsets = self.index.offsets
            int64_t h, length, total = 0
            int32_t row
        for h in range(self.index.first[rarest], self.index.first[rarest + 1]):
            row = self.index.rows[h]
            length = offsets[row + 1] - offsets[row]
            self.pulse.beat(4)
            if length >= size and holds(
                self.index.codes + offsets[row], length, labels, size, self.pulse
            ):
                total += self.index.counts[row]
                if self.enough(total):
                    break
        return total

    cdef int64_t by_bits(self, const int32_t* labels, int64_t size) except -1 nogil:
        cdef:
            uint64_t both[BLOCK]
            uint64_t any_left
            const uint64_t* more
            int64_t start = 0, n, i, j, total = 0
        for j in range(size):
            self.need(labels[j])
        while start < self.n_words and not self.enough(total):
            n = min(<int64_t> BLOCK, self.n_words - start)
            more = self.bits[labels[0]] + start
            for i in range(n):
                both[i] = more[i]
            for j in range(1, size):
                more = self.bits[labels[j]] + start
                any_left = 0
                for i in range(n):
                    both[i] &= more[i]
                    any_left |= both[i]
                if any_left == 0:
                    break
            self.pulse.beat(8 * size)
            for i in range(n):
                while both[i]:
                    total += self.index.counts[64 * (start + i) + lowest_bit(both[i])]
                    both[i] &= both[i] - 1
            start += BLOCK
        return total

    cdef int need(self, int32_t label) except -1 nogil:
        cdef int64_t h
        cdef int32_t row
        if self.bits[label] != NULL:
            return 0
        self.bits[label] = <uint64_t*> calloc(self.n_words, sizeof(uint64_t))
        if self.bits[label] == NULL:
            with gil:
                raise MemoryError
        for h in range(self.index.first[label], self.index.first[label + 1]):
            row = self.index.rows[h]
            self.bits[label][row >> 6] |= <uint64_t> 1 << (row & 63)
        self.pulse.beat(self.index.holders(label))
        return 0


cdef bint holds(
    const int32_t* row, int64_t length, const int32_t* labels, int64_t size, Pulse pulse
) except -1 nogil:
    """Whether an ascending row holds all of some ascending labels."""
    cdef int64_t at = 0, i, low, high, middle
    for i in range(size):
        if length - at > 16 * (size - i):  # few labels in a long row: by halves
            low, high = at, length
            while low < high:
                middle = (low + high) >> 1
                if row[middle] < labels[i]:
                    low = middle + 1
                else:
                    high = middle
            at = low
        else:
            while at < length and row[at] < labels[i]:
                at += 1
        if at == length or row[at] != labels[i]:
            pulse.beat(i)
            return False
        at += 1
    pulse.beat(size)
    return True


def image_supports(offsets, codes, counts, image_offsets, image_codes, int64_t k, stage=None):
    """Return the support of each image: exactly, unless it is neither below k nor the least."""
    cdef:
        const int64_t[::1] start = np.ascontiguousarray(image_offsets, np.int64)
        const int32_t[::1] labels = np.ascontiguousarray(image_codes, np.int32)
        int64_t[::1] out = np.zeros(start.shape[0] - 1, np.int64)
        int64_t n_labels = int(max(np.max(codes, initial=-1), np.max(image_codes, initial=-1))) + 1
        Pulse pulse = Pulse(stage, out.shape[0])
        Index index = Index(offsets, codes, counts, n_labels, pulse)
        _Supports supports = _Supports(index, pulse, k)
        int64_t i
    with nogil:
        for i in range(out.shape[0]):
            pulse.done = i
            if start[i + 1] > start[i]:
                out[i] = supports.of(&labels[start[i]], start[i + 1] - start[i])
    return np.asarray(out)


# -- what single rows have of an image --------------------------------------------------------

cdef struct Node:
    int64_t parent, first, last, next  # nodes; 0, the root, where there is none
    int64_t count
    int32_t place                      # of the label in the image


cdef class _Parts:
    """The parts of images that rows hold, each once: a tree of them, its branches in label order.

    Labels are taken in ascending order; the rows that hold one move on to the branch of that label.
    So a tree costs as much as the labels of its image have rows, and walking through it gives the
    parts in lexicographic order.
    """

    cdef:
        Index index
        Pulse pulse
        int64_t[::1] node_of      # row -> the part it holds so far; 0 between uses
        Node* nodes
        int64_t n_nodes, capacity

    def __init__(self, Index index, Pulse pulse):
        self.index, self.pulse = index, pulse
        self.node_of = np.zeros(max(index.n_rows, 1), np.int64)

    def __dealloc__(self):
        free(self.nodes)

    cdef int grow(self, const int32_t* labels, int64_t size) except -1 nogil:
        """Make the tree of an image."""
        cdef int64_t place, h, at, last
        cdef int32_t row
        self.n_nodes = 0
        self.add(0, -1)
        for place in range(size):
            self.pulse.beat(self.index.holders(labels[place]))
            for h in range(self.index.first[labels[place]], self.index.first[labels[place] + 1]):
                row = self.index.rows[h]
                at = self.node_of[row]
                last = self.nodes[at].last
                if last == 0 or self.nodes[last].place != place:
                    last = self.add(at, <int32_t> place)
                self.node_of[row] = last
        for place in range(size):
            self.pulse.beat(self.index.holders(labels[place]))
            for h in range(self.index.first[labels[place]], self.index.first[labels[place] + 1]):
                row = self.index.rows[h]
                if self.node_of[row]:
                    self.nodes[self.node_of[row]].count += self.index.counts[row]
                    self.node_of[row] = 0
        return 0

    cdef int64_t add(self, int64_t parent, int32_t place) except -1 nogil:
        cdef void* grown
        cdef Node* node
        if self.n_nodes == self.capacity:
            grown = realloc(self.nodes, 2 * (self.capacity + 8) * sizeof(Node))
            if grown == NULL:
                with gil:
                    raise MemoryError
            self.nodes, self.capacity = <Node*> grown, 2 * (self.capacity + 8)
        node = &self.nodes[self.n_nodes]
        node.parent, node.place = parent, place
        node.first = node.last = node.next = node.count = 0
        if self.n_nodes:
            if self.nodes[parent].last:
                self.nodes[self.nodes[parent].last].next = self.n_nodes
            else:
                self.nodes[parent].first = self.n_nodes
            self.nodes[parent].last = self.n_nodes
        self.n_nodes += 1
        return self.n_nodes - 1

    cdef int walk(
        self, int64_t* n_parts, int64_t* n_places, int32_t* path,
        int64_t* offsets, int32_t* places, int64_t* counts
    ) except -1 nogil:
        """Count the parts and their places in the image, and note them, unless `offsets` is NULL."""
        cdef int64_t node = self.nodes[0].first, depth = 0, i
        n_parts[0] = n_places[0] = 0
        while node:
            path[depth] = self.nodes[node].place
            depth += 1
            if self.nodes[node].count:
                if offsets != NULL:
                    for i in range(depth):
                        places[n_places[0] + i] = path[i]
                    counts[n_parts[0]] = self.nodes[node].count
                    offsets[n_parts[0] + 1] = n_places[0] + depth
                n_parts[0] += 1
                n_places[0] += depth
            self.pulse.beat(depth)
            if self.nodes[node].first:
                node = self.nodes[node].first
                continue
            while node and self.nodes[node].next == 0:
                node = self.nodes[node].parent
                depth -= 1
            if node:
                node = self.nodes[node].next
                depth -= 1
        return 0

    def parts_of(self, const int32_t[::1] image):
        """Return the parts of an image as rows with counts; codes are places in the image."""
        cdef:
            int64_t n_parts, n_places
            int32_t[::1] path = np.empty(image.shape[0], np.int32)
            int64_t[::1] offsets, counts
            int32_t[::1] places
        with nogil:
            self.grow(&image[0], image.shape[0])
            self.walk(&n_parts, &n_places, &path[0], NULL, NULL, NULL)
        offsets, counts = np.zeros(n_parts + 1, np.int64), np.zeros(n_parts, np.int64)
        places = np.empty(n_places, np.int32)
        if n_parts:
            with nogil:
                self.walk(
                    &n_parts, &n_places, &path[0], &offsets[0], &places[0], &counts[0])
        return np.asarray(offsets), np.asarray(places), np.asarray(counts)


def weakest_parts(
    offsets, codes, counts, image_offsets, image_codes, int64_t k, int64_t limit, stage=None
):
    """Look at what single rows hold of each image."""
    cdef:
        const int64_t[::1] start = np.ascontiguousarray(image_offsets, np.int64)
        const int32_t[::1] labels = np.ascontiguousarray(image_codes, np.int32)
        int64_t n_images = start.shape[0] - 1
        int64_t n_labels = int(max(np.max(codes, initial=-1), np.max(image_codes, initial=-1))) + 1
        Pulse pulse = Pulse(stage, n_images)
        Index index = Index(offsets, codes, counts, n_labels, pulse)
        _Parts parts = _Parts(index, pulse)
        _Supports supports
        int64_t i, j, row, support, least = 0, n_weak = 0
        int64_t[::1] ends
        int32_t[::1] places
        list weak = []
    for i in range(n_images):
        pulse.done = i
        if start[i + 1] == start[i]:
            continue
        found = parts.parts_of(labels[start[i]:start[i + 1]])
        ends, places = found[0], found[1]
        supports = _Supports(Index(*found, start[i + 1] - start[i], pulse), pulse, k, least)
        for row in range(ends.shape[0] - 1):
            with nogil:
                support = supports.of(&places[ends[row]], ends[row + 1] - ends[row])
            if support < k:
                n_weak += 1
                if n_weak <= limit:
                    weak.append((support, tuple(
                        [labels[start[i] + places[j]] for j in range(ends[row], ends[row + 1])])))
        least = supports.least
    return least, weak, n_weak
