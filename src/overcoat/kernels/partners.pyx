# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Which group of a block is the cheapest to merge with, without looking at all of them.

A *shelf* is a node of the weight tree, as one utility block sees it. Each group lies on the shelf of
its closest common ancestor and on all shelves above it, sorted by size and then by support (then by
first item). What a merge with g costs depends on the size and support of the union and on the
weight of the lowest shelf that holds both. So, among groups that share no row with g, only the
least supported group of each size on each shelf above g can be the cheapest: any other one on that
shelf has more support, or the same and a later first item, and no smaller weight. The groups that
do share a row with g are looked at one by one.

Groups that have changed since they were put on a shelf are dropped when they come to the front.

A group that is asked for again, and shares no more rows than before with any other, has shelves of
its own for those that do share a row with it, sorted by size and by how many people they would add.
So a group that swallows a long row item by item does not look at all of that row each time.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memset

from overcoat.kernels.merging cimport LONG
from overcoat.kernels.pulse cimport beat
from overcoat.kernels.together cimport SLOTS, Together

from overcoat.kernels.limits import check_losses


cpdef bint loses_less(int64_t size_x, int64_t x, int64_t size_y, int64_t y) noexcept nogil:
    """Whether (2^size_x - 1) x < (2^size_y - 1) y, exactly; 0 <= x, y < 2^62, sizes >= 1.

    For size_x < size_y = size_x + d:  (2^size_y - 1) y - (2^size_x - 1) x
    = 2^size_x (2^d y - x) - (y - x), and with high = 2^d y - x >= 0 that is positive, because then
    y - x <= high (and < 0 when high = 0, y > 0). Only a negative `high` needs a closer look, and
    then 2^d y < x, so that nothing here leaves 64 bits.
    """
    cdef int64_t d, short
    if x == 0 or y == 0 or size_x == size_y:
        return x < y
    if size_x < size_y:
        d = size_y - size_x
        if d >= 62 or y > x >> d or y << d == x:
            return True
        short = x - (y << d)  # x - y > 2^size_x short?
        return size_x < 62 and (x - y - 1) >> size_x >= short
    d = size_x - size_y
    if d >= 62 or x > y >> d or x << d == y:
        return False
    short = y - (x << d)  # y - x < 2^size_y short?
    return size_y >= 62 or (y - x) >> size_y < short


cdef class Partners(Together):
    """Rows that know the cheapest partner of a group."""

    def __cinit__(self, *arguments):
        self._shelves = NULL
        self._n_shelves = 0
        for slot in range(SLOTS):
            self._near[slot] = NULL

    def __init__(self, offsets, codes, counts, block_of, parent, weight, tell):
        check_losses(counts, int(np.max(weight, initial=0)))
        Together.__init__(self, offsets, codes, counts, block_of, tell)
        self._make_shelves(np.asarray(block_of, np.int64), np.asarray(parent), weight)

    def __dealloc__(self):
        shelves_free(self._shelves, self._n_shelves)
        for slot in range(SLOTS):
            self._drop_near(slot)

    def cheapest_merge(self, groups, weigh=None):
        """Return one of `groups` and its partner: the union within a block of smallest UL."""
        cdef Candidate best, candidate
        cdef int32_t group, merged = -1
        best.group, best.size, best.loss = -1, 0, 0
        for group in groups:
            self._find_partner(group, weigh, &candidate)
            if candidate.group >= 0 and (
                merged < 0 or loses_less(candidate.size, candidate.loss, best.size, best.loss)
            ):
                merged, best = group, candidate
        return merged, best.group

    def merge(self, int32_t one, int32_t other):
        """Unite two groups; return the union."""
        cdef int32_t shelf, union
        self._mark_path(self._shelf[one])
        shelf = self._common(self._shelf[other])
        union = Together.merge(self, one, other)
        self._shelf[union] = shelf
        self._put_on_shelves(union)
        for slot in range(SLOTS):
            if self._near[slot] != NULL:
                self._put_near(slot, union)
        return union

    # -- helpers --------------------------------------------------------------------------

    cdef int _find_partner(self, int32_t group, weigh, Candidate* best) except -1:
        """Find the group of the block whose union with `group` has the smallest UL; -1 for none."""
        cdef int32_t n_seen, slot = self._slot_of[group]
        cdef int64_t* together
        best.group = -1
        if weigh is None and slot >= 0 and not self._slots[slot].grown:
            self._ask(group)
            self._mark_path(self._shelf[group])
            self._find_near(group, best)
            return self._look_at_shelves(group, self._slots[slot].together, best)
        together = self._count_together(group, &n_seen)
        if slot >= 0:
            self._drop_near(slot)
            self._slots[slot].grown = False
        if weigh is not None:
            self._look_at_all(group, weigh, together, best)
        else:
            self._mark_path(self._shelf[group])
            self._look_at_shelves(group, together, best)
            self._look_at_seen(group, n_seen, together, best)
        return 0

    cdef int _make_shelves(self, block_of, parent, weight) except -1:
        """Make a shelf for each block and inner node with an item of the block below it."""
        cdef int32_t item
        node = parent[:self.n_items].astype(np.int64)
        n_nodes = max(len(parent), 1)
        keys = [np.empty(0, np.int64)]
        inside = np.arange(self.n_items)
        while len(inside):
            keys.append(block_of[inside] * n_nodes + node[inside])
            node = np.where(node >= 0, parent[node], -1)
            inside = inside[node[inside] >= 0]
        shelves = np.unique(np.concatenate(keys))
        nodes = shelves % n_nodes
        up = parent[nodes]
        above = np.searchsorted(shelves, shelves - nodes + up)
        self._above = np.where(up >= 0, above, -1).astype(np.int32)
        self._shelf_weight = np.asarray(weight, np.int64)[nodes]
        self._shelf_mark = np.zeros(len(shelves), np.int64)
        self._shelf = np.searchsorted(shelves, keys[1]).astype(np.int32) if self.n_items else (
            np.empty(0, np.int32))
        self._shelves = <Shelf*> malloc(max(len(shelves), 1) * sizeof(Shelf))
        if self._shelves == NULL:
            raise MemoryError
        self._n_shelves = len(shelves)
        memset(self._shelves, 0, self._n_shelves * sizeof(Shelf))
        for item in range(self.n_items):
            self._put_on_shelves(item)
            beat(self._tell, &self._work, LONG)
        return 0

    cdef int _put_on_shelves(self, int32_t group) except -1:
        cdef int32_t shelf = self._shelf[group]
        cdef Entry entry
        entry.support, entry.group = self._support[group], group
        while shelf >= 0:
            if not shelf_put(&self._shelves[shelf], self._size[group], entry):
                raise MemoryError
            shelf = self._above[shelf]
        return 0

    # -- those that share a row ---------------------------------------------------------------

    cdef int _find_near(self, int32_t group, Candidate* best) except -1:
        """Consider the groups that share a row with one, the best of each shelf and size."""
        cdef:
            int32_t slot = self._slot_of[group], shelf, other, i, size, depth
            int64_t least
            const int64_t* together = self._slots[slot].together
            Heap* heap
        if self._near[slot] == NULL:
            self._n_near[slot] = self._depth(self._shelf[group]) + 1
            self._near[slot] = <Shelf*> calloc(self._n_near[slot], sizeof(Shelf))
            if self._near[slot] == NULL:
                raise MemoryError
            for other in range(self.n_items):
                self._put_near(slot, other)
                beat(self._tell, &self._work, 1)
        shelf = self._shelf[group]
        depth = self._depth(shelf)
        for i in range(self._n_near[slot] - 1, -1, -1):
            if i < depth:
                shelf, depth = self._above[shelf], i
            least = self._shelf_weight[shelf] * self._support[group]
            for size in range(1, self._near[slot][i].n_sizes + 1):
                if best.group >= 0 and loses_less(
                    best.size, best.loss, self._size[group] + size, least
                ):
                    break
                heap = &self._near[slot][i].by_size[size - 1]
                while heap.n:
                    other = heap.entries[0].group
                    if (
                        other != group
                        and self._group[other] == other
                        and self._size[other] == size
                        and self._support[other] - together[other] == heap.entries[0].support
                    ):
                        self._consider(
                            group, other, self._shelf_weight[self._common(self._shelf[other])],
                            together[other], best)
                        break
                    heap_pop(heap)
        return 0

    cdef int _put_near(self, int32_t slot, int32_t other) except -1:
        """Put a group on the shelves of a slot, if it belongs there.

        Which shelf that is, counted from the top, does not change when the group of the slot moves
        up: then some shelves have the same weight.
        """
        cdef:
            int32_t group = self._slots[slot].group, depth
            Entry entry
        if (
            other == group or self._slots[slot].together[other] == 0
            or self._block_of[other] != self._block_of[group]
        ):
            return 0
        self._mark_path(self._shelf[group])
        depth = self._depth(self._common(self._shelf[other]))
        entry.support, entry.group = (
            self._support[other] - self._slots[slot].together[other], other)
        if not shelf_put(&self._near[slot][depth], self._size[other], entry):
            raise MemoryError
        return 0

    cdef void _free_slot(self, int32_t slot) noexcept nogil:
        self._drop_near(slot)
        Together._free_slot(self, slot)

    cdef void _drop_near(self, int32_t slot) noexcept nogil:
        if self._near[slot] != NULL:
            shelves_free(self._near[slot], self._n_near[slot])
            self._near[slot] = NULL

    # -- paths ----------------------------------------------------------------------------

    cdef void _mark_path(self, int32_t shelf) noexcept nogil:
        self._stamp += 1
        while shelf >= 0:
            self._shelf_mark[shelf] = self._stamp
            shelf = self._above[shelf]

    cdef int32_t _depth(self, int32_t shelf) noexcept nogil:
        """Return how many shelves lie above one."""
        cdef int32_t depth = 0
        while self._above[shelf] >= 0:
            depth += 1
            shelf = self._above[shelf]
        return depth

    cdef int32_t _common(self, int32_t shelf) noexcept nogil:
        """Return the lowest shelf above `shelf` on the marked path."""
        while self._shelf_mark[shelf] != self._stamp:
            shelf = self._above[shelf]
        return shelf

    cdef void _consider(
        self, int32_t group, int32_t other, int64_t weight, int64_t together, Candidate* best
    ) noexcept nogil:
        """Make `other` the best partner of `group` if it loses less, or the same and comes first."""
        cdef int64_t size = self._size[group] + self._size[other]
        cdef int64_t loss = weight * (
            self._support[group] + self._support[other] - together)
        if (
            best.group < 0
            or loses_less(size, loss, best.size, best.loss)
            or (other < best.group and not loses_less(best.size, best.loss, size, loss))
        ):
            best.group, best.size, best.loss = other, size, loss

    cdef void _look_at_seen(
        self, int32_t group, int32_t n_seen, const int64_t* together, Candidate* best
    ) noexcept nogil:
        """Consider the groups that share a row with `group`.

        No shelf above it weighs less than its own, which tells of most that they lose more.
        """
        cdef int32_t i, other
        cdef int64_t least = self._shelf_weight[self._shelf[group]]
        for i in range(n_seen):
            other = self._seen[i]
            if other != group and self._block_of[other] == self._block_of[group] and not (
                best.group >= 0 and loses_less(
                    best.size, best.loss, self._size[group] + self._size[other],
                    least * (self._support[group] + self._support[other] - together[other]))
            ):
                self._consider(
                    group, other, self._shelf_weight[self._common(self._shelf[other])],
                    together[other], best)

    cdef int _look_at_shelves(
        self, int32_t group, const int64_t* together, Candidate* best
    ) except -1:
        """Consider the least supported group of each size on each shelf above `group`."""
        cdef int32_t shelf = self._shelf[group], size, other
        cdef int64_t least
        cdef Heap* heap
        cdef Entry own
        cdef bint held
        own.support, own.group = self._support[group], group
        while shelf >= 0:
            # No partner from this shelf, that is not lower down too, loses less than this.
            least = self._shelf_weight[shelf] * (self._support[group] + 1)
            for size in range(1, self._shelves[shelf].n_sizes + 1):
                if best.group >= 0 and loses_less(
                    best.size, best.loss, self._size[group] + size, least
                ):
                    break
                heap = &self._shelves[shelf].by_size[size - 1]
                held = False
                while heap.n:
                    other = heap.entries[0].group
                    if (
                        self._group[other] == other
                        and self._size[other] == size
                        and self._support[other] == heap.entries[0].support
                    ):
                        if other != group:
                            break
                        held = True
                    heap_pop(heap)
                if heap.n:
                    self._consider(
                        group, other, self._shelf_weight[self._common(self._shelf[other])],
                        together[other], best)
                if held and not heap_push(heap, own):
                    raise MemoryError
            shelf = self._above[shelf]
        return 0

    cdef int _look_at_all(
        self, int32_t group, weigh, const int64_t* together, Candidate* best
    ) except -1:
        """Consider every group of the block, weighed by the caller."""
        everything = self.groups()
        blocks = np.asarray(self._block_of)[everything]
        candidates = everything[(blocks == self._block_of[group]) & (everything != group)]
        cdef int32_t other
        for other, weight in zip(candidates.tolist(), weigh(group, candidates).tolist()):
            self._consider(group, other, weight, together[other], best)
        return 0


# -- heaps ------------------------------------------------------------------------------------

cdef inline bint comes_first(Entry* one, Entry* other) noexcept nogil:
    return one.support < other.support or (
        one.support == other.support and one.group < other.group)


cdef bint heap_push(Heap* heap, Entry entry) noexcept nogil:
    """Add an entry; False when memory ran out."""
    cdef Entry* grown
    cdef int32_t at, up
    if heap.n == heap.capacity:
        heap.capacity = 2 * heap.capacity if heap.capacity else 4
        grown = <Entry*> realloc(heap.entries, heap.capacity * sizeof(Entry))
        if grown == NULL:
            return False
        heap.entries = grown
    at = heap.n
    heap.n += 1
    while at > 0:
        up = (at - 1) // 2
        if not comes_first(&entry, &heap.entries[up]):
            break
        heap.entries[at] = heap.entries[up]
        at = up
    heap.entries[at] = entry
    return True


cdef void heap_pop(Heap* heap) noexcept nogil:
    cdef Entry entry
    cdef int32_t at = 0, below
    heap.n -= 1
    if heap.n == 0:
        return
    entry = heap.entries[heap.n]
    while True:
        below = 2 * at + 1
        if below >= heap.n:
            break
        if below + 1 < heap.n and comes_first(&heap.entries[below + 1], &heap.entries[below]):
            below += 1
        if not comes_first(&heap.entries[below], &entry):
            break
        heap.entries[at] = heap.entries[below]
        at = below
    heap.entries[at] = entry


cdef bint shelf_put(Shelf* shelf, int32_t size, Entry entry) noexcept nogil:
    """Put a group of some size on a shelf; False when memory ran out."""
    cdef Heap* grown
    cdef int32_t capacity
    if size > shelf.capacity:
        capacity = max(size, 2 * shelf.capacity)
        grown = <Heap*> realloc(shelf.by_size, capacity * sizeof(Heap))
        if grown == NULL:
            return False
        memset(grown + shelf.capacity, 0, (capacity - shelf.capacity) * sizeof(Heap))
        shelf.by_size, shelf.capacity = grown, capacity
    shelf.n_sizes = max(shelf.n_sizes, size)
    return heap_push(&shelf.by_size[size - 1], entry)


cdef void shelves_free(Shelf* shelves, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef int32_t size
    for i in range(n):
        for size in range(shelves[i].n_sizes):
            free(shelves[i].by_size[size].entries)
        free(shelves[i].by_size)
    free(shelves)
