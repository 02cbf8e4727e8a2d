# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The compiled kernels: `Grouping`, as in reference.py, on flat arrays.

How the rows are kept. Row r is a slice of `_entries`: one *item* for each group the row holds, the
item's group being `_group[item]`. The other way round, each item has a slice of `_holders`: the
rows in which it stands for its group. A merge relabels the items of the smaller group and visits
only that group's rows: where the row holds the other group too, one of the two entries goes. So the
rows of a group are the holders of its items, no list is ever copied, and the slices only shrink.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc, qsort, realloc
from libc.string cimport memset

include "shelves.pxi"

cdef extern from *:
    ctypedef long long int128 "__int128"

cdef int64_t NO_LIMIT = 0x7FFFFFFFFFFFFFFF


cpdef bint loses_less(int64_t size_x, int64_t x, int64_t size_y, int64_t y) noexcept nogil:
    """Whether (2^size_x - 1) x < (2^size_y - 1) y, exactly; 0 <= x, y < 2^62, sizes >= 1.

    For size_x < size_y = size_x + d:  (2^size_y - 1) y - (2^size_x - 1) x
    = 2^size_x (2^d y - x) - (y - x), and with high = 2^d y - x >= 0 that is positive, because then
    y - x <= high (and < 0 when high = 0, y > 0). Only a negative `high` needs a closer look.
    """
    cdef int64_t d
    cdef int128 high, low
    if x == 0 or y == 0:
        return x < y
    if size_x == size_y:
        return x < y
    if size_x < size_y:
        d = size_y - size_x
        if d >= 62:
            return True
        high = (<int128> y << d) - x
        if high >= 0:
            return True
        low = <int128> x - y
        return size_x < 62 and low > (-high << size_x)
    d = size_x - size_y
    if d >= 62:
        return False
    high = (<int128> x << d) - y
    if high >= 0:
        return False
    low = <int128> y - x
    return size_y >= 62 or low < (-high << size_y)


cdef struct Candidate:
    int32_t group
    int64_t size, loss


cdef struct Level:
    # Scratch space of one depth of the search for violations.
    int64_t* together     # support of the prefix with each group, zero between uses
    int32_t* n_rows       # number of rows of it, later the end of the group's bucket
    int32_t* seen         # groups met
    int32_t* bucket       # rows, bucketed by group
    int64_t capacity


cdef struct Found:
    # Violated sets: their supports, and their members one set after the other.
    int64_t* supports
    int32_t* groups
    int64_t n, capacity
    int size             # members of a set
    int64_t enough       # that many are wanted; worse ones need not be kept
    int64_t threshold    # sets with less support need not be kept
    int64_t n_best       # how many have support k - 1


cdef class Grouping:
    """See `overcoat.kernels.reference.Grouping`."""

    cdef:
        Py_ssize_t n_items, n_rows
        # rows -> items that stand for their groups
        int64_t[::1] _row_start
        int32_t[::1] _row_length, _entries
        int64_t[::1] _counts
        # items -> rows in which they stand for their group
        int64_t[::1] _holder_start
        int32_t[::1] _holder_length, _holders
        # groups, each at the index of its first item
        int32_t[::1] _group, _size, _next, _tail
        int64_t[::1] _support, _n_group_rows
        # utility blocks: the groups of each, ascending, the dead ones removed in passing
        int32_t[::1] _block_of, _block_items, _block_length, _block_alive
        int64_t[::1] _block_start
        # shelves, see shelves.pxi: a tree, and the shelf of each group
        Shelf* _shelves
        Py_ssize_t _n_shelves
        int32_t[::1] _above, _shelf, _shelf_mark
        int64_t[::1] _shelf_weight
        # scratch: marks are valid when equal to the stamp
        int32_t _stamp
        int32_t[::1] _mark, _row_mark, _position, _seen
        int64_t[::1] _together
        # the search for violations: what was found so far
        Level* _levels
        int _n_levels
        int32_t[::1] _prefix
        Found _found

    def __cinit__(self, offsets, codes, counts, block_of, parent, weight):
        self._levels = NULL
        self._n_levels = 0
        self._shelves = NULL
        self._n_shelves = 0
        self._found.supports = NULL
        self._found.groups = NULL
        self._found.capacity = 0
        self._found.size = 0

    def __init__(self, offsets, codes, counts, block_of, parent, weight):
        cdef Py_ssize_t n_items = len(block_of), n_rows = len(counts), row, item
        cdef int64_t position
        if int(np.sum(counts)) * int(np.max(weight, initial=0)) >= 1 << 62:
            raise OverflowError("support times weight leaves 62 bits")
        self.n_items, self.n_rows = n_items, n_rows
        self._row_start = np.array(offsets, np.int64)
        self._row_length = np.diff(offsets).astype(np.int32)
        self._entries = np.array(codes, np.int32)
        self._counts = np.array(counts, np.int64)

        per_item = np.bincount(codes, minlength=n_items)[:n_items]
        self._holder_start = np.concatenate([[0], np.cumsum(per_item)]).astype(np.int64)
        self._holder_length = np.zeros(n_items, np.int32)
        self._holders = np.empty(len(codes), np.int32)
        self._support = np.zeros(n_items, np.int64)
        for row in range(n_rows):
            for position in range(self._row_start[row], self._row_start[row + 1]):
                item = self._entries[position]
                self._holders[self._holder_start[item] + self._holder_length[item]] = row
                self._holder_length[item] += 1
                self._support[item] += self._counts[row]

        self._group = np.arange(n_items, dtype=np.int32)
        self._size = np.ones(n_items, np.int32)
        self._next = np.full(n_items, -1, np.int32)
        self._tail = np.arange(n_items, dtype=np.int32)
        self._n_group_rows = np.array(per_item, np.int64)

        n_blocks = int(np.max(block_of, initial=-1)) + 1
        per_block = np.bincount(block_of, minlength=n_blocks)[:n_blocks]
        self._block_of = np.array(block_of, np.int32)
        self._block_items = np.argsort(block_of, kind="stable").astype(np.int32)
        self._block_start = np.concatenate([[0], np.cumsum(per_block)]).astype(np.int64)
        self._block_length = per_block.astype(np.int32)
        self._block_alive = per_block.astype(np.int32)

        self._make_shelves(np.asarray(block_of, np.int64), np.asarray(parent), weight)

        self._stamp = 0
        self._mark = np.zeros(n_items, np.int32)
        self._row_mark = np.zeros(n_rows, np.int32)
        self._position = np.zeros(n_items, np.int32)
        self._together = np.zeros(n_items, np.int64)
        self._seen = np.zeros(n_items, np.int32)
        self._prefix = np.zeros(n_items + 1, np.int32)

    def __dealloc__(self):
        for depth in range(self._n_levels):
            free(self._levels[depth].together)
            free(self._levels[depth].n_rows)
            free(self._levels[depth].seen)
            free(self._levels[depth].bucket)
        free(self._levels)
        shelves_free(self._shelves, self._n_shelves)
        free(self._found.supports)
        free(self._found.groups)

    # -- asking ---------------------------------------------------------------------------

    def groups(self):
        """Return all groups, ascending."""
        group = np.asarray(self._group)
        return np.flatnonzero(group == np.arange(self.n_items)).astype(np.int32)

    def group_of(self):
        """Return the group of each item, -1 where it is suppressed; (M,)."""
        return np.array(self._group)

    def group(self, int32_t item):
        """Return the group of one item, -1 if it is suppressed."""
        return self._group[item]

    def members(self, int32_t group):
        """Return the items of a group, ascending."""
        cdef int32_t item = group
        items = []
        while item >= 0:
            items.append(item)
            item = self._next[item]
        return np.array(sorted(items), np.int32)

    def size(self, int32_t group):
        """Return the number of items of a group."""
        return self._size[group]

    def image(self, items):
        """Return the distinct groups of some items, ascending, without the suppressed ones."""
        cdef int32_t item
        groups = {self._group[item] for item in items}
        groups.discard(-1)
        return np.array(sorted(groups), np.int32)

    def has_partner(self, int32_t group):
        """Whether the block of a group holds another one."""
        return self._block_alive[self._block_of[group]] > 1

    def support(self, groups):
        """Return the number of transactions with all these groups (at least one is given)."""
        cdef int32_t[::1] wanted = np.ascontiguousarray(groups, np.int32)
        self._stamp += 1
        for group in wanted:
            self._mark[group] = self._stamp
        if wanted.shape[0] == 1:
            return self._support[wanted[0]]
        return self._marked_support(self._rarest(wanted), wanted.shape[0], NO_LIMIT)

    def supports(self, offsets, codes, which, int64_t limit):
        """Return min(support, limit) of the images of some itemsets; limit for an empty image."""
        cdef:
            int64_t[::1] starts = np.ascontiguousarray(offsets, np.int64)
            int32_t[::1] items = np.ascontiguousarray(codes, np.int32)
            int64_t[::1] chosen = np.ascontiguousarray(which, np.int64)
            int64_t[::1] out = np.empty(chosen.shape[0], np.int64)
            Py_ssize_t i
            int64_t position
            int32_t group, rarest, n_groups
        with nogil:
            for i in range(chosen.shape[0]):
                self._stamp += 1
                rarest, n_groups = -1, 0
                for position in range(starts[chosen[i]], starts[chosen[i] + 1]):
                    group = self._group[items[position]]
                    if group < 0 or self._mark[group] == self._stamp:
                        continue
                    self._mark[group] = self._stamp
                    n_groups += 1
                    if rarest < 0 or self._n_group_rows[group] < self._n_group_rows[rarest]:
                        rarest = group
                if n_groups == 0:
                    out[i] = limit
                elif n_groups == 1:
                    out[i] = min(self._support[rarest], limit)
                else:
                    out[i] = min(self._marked_support(rarest, n_groups, limit), limit)
        return np.asarray(out)

    def projections(self, groups):
        """Return the rows that hold any of `groups`, as 0/1 over them, and their counts."""
        cdef:
            int32_t[::1] wanted = np.ascontiguousarray(groups, np.int32)
            Py_ssize_t n = wanted.shape[0], i, found = 0
            int32_t item, row, group
            int64_t j, total = 0
        for i in range(n):
            total += self._n_group_rows[wanted[i]]
        cdef int32_t[::1] rows = np.empty(min(total, self.n_rows), np.int32)
        self._stamp += 1
        for i in range(n):
            self._mark[wanted[i]] = self._stamp
            self._position[wanted[i]] = <int32_t> i
            item = wanted[i]
            while item >= 0:
                for j in range(self._holder_start[item],
                               self._holder_start[item] + self._holder_length[item]):
                    row = self._holders[j]
                    if self._row_mark[row] != self._stamp:
                        self._row_mark[row] = self._stamp
                        rows[found] = row
                        found += 1
                item = self._next[item]
        ordered = np.sort(np.asarray(rows)[:found])
        cdef int32_t[::1] sorted_rows = ordered
        table = np.zeros((found, n), np.uint8)
        cdef uint8_t[:, ::1] bits = table
        for i in range(found):
            row = sorted_rows[i]
            for j in range(self._row_start[row], self._row_start[row] + self._row_length[row]):
                group = self._group[self._entries[j]]
                if self._mark[group] == self._stamp:
                    bits[i, self._position[group]] = 1
        return table, np.asarray(self._counts)[ordered]

    def violations(self, int32_t group, int size, int64_t k, bint above, linkable, int64_t limit):
        """Return the most supported sets of `size` linkable groups that fewer than k support."""
        cdef uint8_t[::1] marked = linkable
        cdef int32_t item
        cdef int64_t j, n_rows = 0
        cdef Found* found = &self._found
        found.n, found.enough, found.threshold, found.n_best = 0, limit, 1, 0
        if size > found.size:
            self._reserve_found(max(64, found.capacity), size)
        if marked[group]:
            self._reserve_levels(size)
            self._prefix[0] = group
            if size == 1:
                if self._support[group] < k:
                    self._keep(size, self._support[group], k)
            else:
                self._reserve_bucket(0, self._n_group_rows[group])
                item = group
                while item >= 0:
                    for j in range(self._holder_start[item],
                                   self._holder_start[item] + self._holder_length[item]):
                        self._levels[0].bucket[n_rows] = self._holders[j]
                        n_rows += 1
                    item = self._next[item]
                self._search(
                    1, size, self._levels[0].bucket, n_rows, group if above else -1, k, marked)
            self._prune(size)
        if found.n == 0:
            return np.empty(0, np.int64), np.empty((0, size), np.int32)
        return (
            np.array(<int64_t[:found.n]> found.supports),
            np.array(<int32_t[:found.n, :size]> found.groups),
        )

    def cheapest_partner(self, int32_t group, weigh=None):
        """Return the group of the block whose union with `group` has the smallest UL."""
        cdef Candidate best
        cdef int32_t n_seen = self._count_together(group)
        best.group = -1
        if weigh is not None:
            self._look_at_all(group, weigh, &best)
        else:
            self._mark_path(self._shelf[group])
            self._look_at_seen(group, n_seen, &best)
            self._look_at_shelves(group, &best)
        for i in range(n_seen):
            self._together[self._seen[i]] = 0
        return best.group

    # -- changing -------------------------------------------------------------------------

    def merge(self, int32_t one, int32_t other):
        """Unite two groups; return the union."""
        cdef:
            int32_t small, large, item, row, kept, gone, shelf
            int64_t j, overlap = 0
        small, large = one, other
        if self._n_group_rows[large] < self._n_group_rows[small]:
            small, large = large, small
        self._mark_path(self._shelf[large])
        shelf = self._common(self._shelf[small])

        item = small
        while item >= 0:
            j = self._holder_start[item]
            while j < self._holder_start[item] + self._holder_length[item]:
                row = self._holders[j]
                if self._holds(row, large):
                    overlap += self._counts[row]
                    self._drop_entry(row, item)
                    self._holder_length[item] -= 1
                    self._n_group_rows[small] -= 1
                    self._holders[j] = (
                        self._holders[self._holder_start[item] + self._holder_length[item]])
                else:
                    j += 1
            item = self._next[item]

        kept, gone = min(one, other), max(one, other)
        item = gone
        while item >= 0:
            self._group[item] = kept
            item = self._next[item]
        self._next[self._tail[kept]] = gone
        self._tail[kept] = self._tail[gone]
        self._size[kept] += self._size[gone]
        self._support[kept] += self._support[gone] - overlap
        self._n_group_rows[kept] += self._n_group_rows[gone]
        self._shelf[kept] = shelf
        self._put_on_shelves(kept)
        self._block_alive[self._block_of[kept]] -= 1
        return kept

    def suppress(self, int32_t group):
        """Remove a group, with all its items."""
        cdef int32_t item = group
        cdef int64_t j
        while item >= 0:
            for j in range(self._holder_start[item],
                           self._holder_start[item] + self._holder_length[item]):
                self._drop_entry(self._holders[j], item)
            self._holder_length[item] = 0
            self._group[item] = -1
            item = self._next[item]
        self._block_alive[self._block_of[group]] -= 1

    # -- helpers --------------------------------------------------------------------------

    cdef int32_t _rarest(self, int32_t[::1] groups) noexcept nogil:
        cdef int32_t rarest = groups[0]
        cdef Py_ssize_t i
        for i in range(1, groups.shape[0]):
            if self._n_group_rows[groups[i]] < self._n_group_rows[rarest]:
                rarest = groups[i]
        return rarest

    cdef int64_t _marked_support(
        self, int32_t rarest, Py_ssize_t n_groups, int64_t limit
    ) noexcept nogil:
        """Count the rows with all marked groups, looking only at those of one; stop at limit."""
        cdef int32_t item = rarest, row, i
        cdef int64_t j, total = 0, start
        cdef Py_ssize_t hits
        while item >= 0:
            for j in range(self._holder_start[item],
                           self._holder_start[item] + self._holder_length[item]):
                row = self._holders[j]
                if self._row_length[row] < n_groups:
                    continue
                start, hits = self._row_start[row], 0
                for i in range(self._row_length[row]):
                    hits += self._mark[self._group[self._entries[start + i]]] == self._stamp
                if hits == n_groups:
                    total += self._counts[row]
                    if total >= limit:
                        return total
            item = self._next[item]
        return total

    cdef int32_t _count_together(self, int32_t group) noexcept nogil:
        """Fill `_together` with the support of `group` and each other group it meets.

        Returns how many of these there are; `_seen` lists them.
        """
        cdef int32_t item = group, row, other, i, n_seen = 0
        cdef int64_t j, start
        while item >= 0:
            for j in range(self._holder_start[item],
                           self._holder_start[item] + self._holder_length[item]):
                row = self._holders[j]
                start = self._row_start[row]
                for i in range(self._row_length[row]):
                    other = self._group[self._entries[start + i]]
                    if self._together[other] == 0:
                        self._seen[n_seen] = other
                        n_seen += 1
                    self._together[other] += self._counts[row]
            item = self._next[item]
        return n_seen

    # -- helpers: shelves -----------------------------------------------------------------

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
        self._shelf_mark = np.zeros(len(shelves), np.int32)
        self._shelf = np.searchsorted(shelves, keys[1]).astype(np.int32) if self.n_items else (
            np.empty(0, np.int32))
        self._shelves = <Shelf*> malloc(max(len(shelves), 1) * sizeof(Shelf))
        if self._shelves == NULL:
            raise MemoryError
        self._n_shelves = len(shelves)
        memset(self._shelves, 0, self._n_shelves * sizeof(Shelf))
        for item in range(self.n_items):
            self._put_on_shelves(item)
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

    cdef void _mark_path(self, int32_t shelf) noexcept nogil:
        self._stamp += 1
        while shelf >= 0:
            self._shelf_mark[shelf] = self._stamp
            shelf = self._above[shelf]

    cdef int32_t _common(self, int32_t shelf) noexcept nogil:
        """Return the lowest shelf above `shelf` on the marked path."""
        while self._shelf_mark[shelf] != self._stamp:
            shelf = self._above[shelf]
        return shelf

    cdef void _consider(
        self, int32_t group, int32_t other, int64_t weight, Candidate* best
    ) noexcept nogil:
        """Make `other` the best partner of `group` if it loses less, or the same and comes first."""
        cdef int64_t size = self._size[group] + self._size[other]
        cdef int64_t loss = weight * (
            self._support[group] + self._support[other] - self._together[other])
        if (
            best.group < 0
            or loses_less(size, loss, best.size, best.loss)
            or (other < best.group and not loses_less(best.size, best.loss, size, loss))
        ):
            best.group, best.size, best.loss = other, size, loss

    cdef void _look_at_seen(self, int32_t group, int32_t n_seen, Candidate* best) noexcept nogil:
        """Consider the groups that share a row with `group`."""
        cdef int32_t i, other
        for i in range(n_seen):
            other = self._seen[i]
            if other != group and self._block_of[other] == self._block_of[group]:
                self._consider(
                    group, other, self._shelf_weight[self._common(self._shelf[other])], best)

    cdef int _look_at_shelves(self, int32_t group, Candidate* best) except -1:
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
                        group, other, self._shelf_weight[self._common(self._shelf[other])], best)
                if held and not heap_push(heap, own):
                    raise MemoryError
            shelf = self._above[shelf]
        return 0

    cdef int _look_at_all(self, int32_t group, weigh, Candidate* best) except -1:
        """Consider every group of the block, weighed by the caller."""
        cdef:
            int32_t block = self._block_of[group], i, other, alive = 0
            int64_t start = self._block_start[block]
        for i in range(self._block_length[block]):
            other = self._block_items[start + i]
            if self._group[other] == other:
                self._block_items[start + alive] = other
                alive += 1
        self._block_length[block] = alive
        candidates = np.array(self._block_items[start:start + alive])
        candidates = candidates[candidates != group]
        for other, weight in zip(candidates.tolist(), weigh(group, candidates).tolist()):
            self._consider(group, other, weight, best)
        return 0

    # -- helpers: rows --------------------------------------------------------------------

    cdef bint _holds(self, int32_t row, int32_t group) noexcept nogil:
        cdef int64_t start = self._row_start[row]
        cdef int32_t i
        for i in range(self._row_length[row]):
            if self._group[self._entries[start + i]] == group:
                return True
        return False

    cdef void _drop_entry(self, int32_t row, int32_t item) noexcept nogil:
        cdef int64_t start = self._row_start[row]
        cdef int32_t i = 0
        while self._entries[start + i] != item:
            i += 1
        self._row_length[row] -= 1
        self._entries[start + i] = self._entries[start + self._row_length[row]]

    cdef int _reserve_levels(self, int size) except -1:
        cdef Level* levels
        cdef int depth
        cdef Py_ssize_t i, n = max(self.n_items, 1)
        if size <= self._n_levels:
            return 0
        levels = <Level*> realloc(self._levels, size * sizeof(Level))
        if levels == NULL:
            raise MemoryError
        self._levels = levels
        for depth in range(self._n_levels, size):
            levels[depth].together = <int64_t*> malloc(n * sizeof(int64_t))
            levels[depth].n_rows = <int32_t*> malloc(n * sizeof(int32_t))
            levels[depth].seen = <int32_t*> malloc(n * sizeof(int32_t))
            levels[depth].bucket = NULL
            levels[depth].capacity = 0
            self._n_levels = depth + 1
            if (levels[depth].together == NULL or levels[depth].n_rows == NULL
                    or levels[depth].seen == NULL):
                raise MemoryError
            for i in range(n):
                levels[depth].together[i] = 0
                levels[depth].n_rows[i] = 0
        return 0

    cdef int _reserve_bucket(self, int depth, int64_t rows) except -1:
        cdef Level* level = &self._levels[depth]
        cdef int32_t* bucket
        if rows <= level.capacity:
            return 0
        bucket = <int32_t*> realloc(level.bucket, 2 * rows * sizeof(int32_t))
        if bucket == NULL:
            raise MemoryError
        level.bucket = bucket
        level.capacity = 2 * rows
        return 0

    cdef int _keep(self, int size, int64_t support, int64_t k) except -1:
        """Note the set in `_prefix`."""
        cdef Found* found = &self._found
        cdef int i
        if found.n == found.capacity:
            if found.n >= 4 * found.enough:
                self._prune(size)
            if found.n == found.capacity:
                self._reserve_found(2 * found.capacity, found.size)
        found.supports[found.n] = support
        for i in range(size):
            found.groups[found.n * size + i] = self._prefix[i]
        found.n += 1
        found.n_best += support == k - 1
        return 0

    cdef int _reserve_found(self, int64_t capacity, int size) except -1:
        cdef Found* found = &self._found
        supports = <int64_t*> realloc(found.supports, capacity * sizeof(int64_t))
        if supports != NULL:
            found.supports = supports
        groups = <int32_t*> realloc(found.groups, capacity * size * sizeof(int32_t))
        if groups != NULL:
            found.groups = groups
        if supports == NULL or groups == NULL:
            raise MemoryError
        found.capacity, found.size = capacity, size
        return 0

    cdef int _prune(self, int size) except -1:
        """Sort what was found, most supported first, then by members; keep `enough` of it."""
        cdef Found* found = &self._found
        if found.n == 0:
            return 0
        supports = np.asarray(<int64_t[:found.n]> found.supports)
        groups = np.sort(np.asarray(<int32_t[:found.n, :size]> found.groups), axis=1)
        order = np.lexsort((*groups.T[::-1], -supports))[:found.enough]
        kept_supports, kept_groups = supports[order], groups[order]
        found.n = len(order)
        np.asarray(<int64_t[:found.n]> found.supports)[:] = kept_supports
        np.asarray(<int32_t[:found.n, :size]> found.groups)[:] = kept_groups
        if found.n == found.enough:
            found.threshold = found.supports[found.n - 1]
        return 0

    cdef int _search(
        self, int depth, int size, int32_t* rows, int64_t n_rows, int32_t last, int64_t k,
        uint8_t[::1] linkable,
    ) except -1:
        """Extend the prefix of `depth` groups, held by `rows`, by groups after `last`.

        Sets are grown in lexicographic order, so nothing beats the first `enough` of support
        k - 1 but others that end in the same place.
        """
        cdef:
            Level* level = &self._levels[depth]
            int32_t anchor = self._prefix[0], row, group, e
            int64_t i, start, support, entries = 0, n_seen = 0
        for i in range(n_rows):
            row = rows[i]
            start = self._row_start[row]
            for e in range(self._row_length[row]):
                group = self._group[self._entries[start + e]]
                if group <= last or group == anchor or not linkable[group]:
                    continue
                if level.n_rows[group] == 0:
                    level.seen[n_seen] = group
                    n_seen += 1
                level.n_rows[group] += 1
                level.together[group] += self._counts[row]
                entries += 1

        if depth + 1 == size:
            for i in range(n_seen):
                group = level.seen[i]
                support = level.together[group]
                level.together[group] = 0
                level.n_rows[group] = 0
                if self._found.threshold <= support < k:
                    self._prefix[depth] = group
                    self._keep(size, support, k)
            return 0

        # Bucket the rows by group: n_rows becomes the end of each group's bucket.
        self._reserve_bucket(depth, entries)
        groups = np.sort(np.asarray(<int32_t[:n_seen]> level.seen)) if n_seen else ()
        entries = 0
        for group in groups:
            entries += level.n_rows[group]
            level.n_rows[group] = <int32_t> (entries - level.n_rows[group])
        for i in range(n_rows):
            row = rows[i]
            start = self._row_start[row]
            for e in range(self._row_length[row]):
                group = self._group[self._entries[start + e]]
                if group <= last or group == anchor or not linkable[group]:
                    continue
                level.bucket[level.n_rows[group]] = row
                level.n_rows[group] += 1
        start = 0
        for group in groups:
            entries = level.n_rows[group]
            support = level.together[group]
            level.together[group] = 0
            level.n_rows[group] = 0
            if support >= k and self._found.n_best < self._found.enough:
                self._prefix[depth] = group
                self._search(depth + 1, size, level.bucket + start, entries - start, group, k,
                             linkable)
            start = entries
        return 0
