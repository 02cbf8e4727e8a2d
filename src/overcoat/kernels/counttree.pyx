# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The count tree of Apriori, walked without ever being built.

A branch is counted when the walk gets to it, over the rows that hold its nodes, and forgotten when
the walk has passed. Moving the cut up changes the support of no node that is left, so counts stay
true while it moves, and what has come to lie below the cut is never counted.

A set of nodes that is rare, though somebody has it, has a rare set of as many nodes of the cut under
it: what that somebody has. So a branch is first searched for rare sets of nodes of the cut, which
are far fewer than the nodes above them, and only what lies above these, the *suspects*, extends it.
Most branches end here, and rows are extended by what lies above their entries nowhere else.

The order of a walk has parents first, so climbing can stop at the first node that does not come
after the branch. Where all nodes are linkable, the entries of a row lie in the order of the walk,
those that come last first: what cannot come after the branch is at the end, and is not looked at.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport qsort
from libc.string cimport memset

from overcoat.kernels.lists cimport RareCodes
from overcoat.kernels.pulse cimport beat

from overcoat.data.native import rows_by_item
from overcoat.kernels.limits import check_places
from overcoat.kernels.reference import nothing

cdef int64_t A_BRANCH = 1 << 9  # what a branch takes beside the rows it visits
cdef int64_t FEW = 16  # a row of more entries is not sorted by insertion


cdef int compare_ranks(const void* one, const void* other) noexcept nogil:
    """The last in the order of the walk comes first."""
    return (<const int32_t*> other)[0] - (<const int32_t*> one)[0]


cdef class CountTree:
    """See `overcoat.kernels.reference.CountTree`."""

    cdef:
        Py_ssize_t n_nodes, n_rows
        # rows: the linkable nodes of each first
        int64_t[::1] _offsets
        int32_t[::1] _codes
        int64_t[::1] _counts
        # the rows of what is under node v are _holders[_holder_start[v]:_holder_start[end[v]]]
        int64_t[::1] _holder_start
        int32_t[::1] _holders
        const int32_t[::1] _parent, _end, _home
        const uint8_t[::1] _linkable
        # the walk: place of each node in its order; what is under the nodes of the branch
        int32_t[::1] _rank
        bint _ranked                # whether the entries of rows lie by rank, the last first
        uint8_t[::1] _covered
        # scratch of one branch, by node; zero between uses, the number of entries -1
        int64_t[::1] _support, _n_entries
        uint8_t[::1] _shown
        int32_t[::1] _seen
        # marks, valid when they equal the stamp
        int64_t _stamp
        int64_t[::1] _node_mark, _row_mark
        RareCodes _rare_nodes
        int32_t[::1] _found         # rows that `_collect` has found
        object _tell                # called now and then; the call may raise
        int64_t _work               # since the last call

    def __init__(self, offsets, codes, counts, parent, end, linkable, home, tell=nothing):
        self._tell = tell
        check_places(2 * len(counts))  # a row goes with a mark
        self.n_nodes, self.n_rows = len(parent), len(counts)
        self._parent, self._end, self._home = parent, end, home
        self._linkable = linkable.view(np.uint8)
        self._ranked = linkable.all()
        row_of = np.repeat(np.arange(self.n_rows, dtype=np.int32), np.diff(offsets))
        if not linkable[codes].all():
            codes = codes[np.lexsort((~linkable[codes], row_of))]
        self._offsets = np.array(offsets, np.int64)
        self._codes = np.array(codes, np.int32)
        self._counts = np.array(counts, np.int64)
        self._holder_start, self._holders = rows_by_item(offsets, codes, self.n_nodes)
        self._rank = np.zeros(self.n_nodes, np.int32)
        self._covered = np.zeros(self.n_nodes, np.uint8)
        self._support = np.zeros(self.n_nodes, np.int64)
        self._n_entries = np.full(self.n_nodes, -1, np.int64)
        self._shown = np.zeros(self.n_nodes, np.uint8)
        self._seen = np.empty(self.n_nodes, np.int32)
        self._rare_nodes = RareCodes(self.n_nodes)
        self._stamp = 0
        self._node_mark = np.zeros(self.n_nodes, np.int64)
        self._row_mark = np.zeros(self.n_rows, np.int64)
        self._found = np.empty(self.n_rows, np.int32)

    # -- asking ---------------------------------------------------------------------------

    def node_supports(self):
        """Return how many transactions hold each node; (n_nodes,)."""
        supports = np.zeros(self.n_nodes, np.int64)
        cdef int64_t[::1] out = supports
        cdef int64_t row, j
        cdef int32_t node
        with nogil:
            for row in range(self.n_rows):
                self._stamp += 1
                for j in range(self._offsets[row], self._offsets[row + 1]):
                    node = self._codes[j]
                    while node >= 0 and self._node_mark[node] != self._stamp:
                        self._node_mark[node] = self._stamp
                        out[node] += self._counts[row]
                        node = self._parent[node]
                beat(self._tell, &self._work, self._offsets[row + 1] - self._offsets[row])
        return supports

    def support(self, nodes, int64_t limit):
        """Return min(support, limit) of some nodes, none above another."""
        cdef int64_t n_found = 0
        return min(self._collect(np.array(nodes, np.int32), limit, &n_found), limit)

    def example(self, nodes):
        """Return linkable nodes, one under each of `nodes`, that some row holds; () if none does.

        The first of them in lexicographic order.
        """
        cdef int64_t n_found = 0, i
        self._collect(np.array(nodes, np.int32), np.iinfo(np.int64).max, &n_found)
        linkable, codes = np.asarray(self._linkable), np.asarray(self._codes)
        found = []
        for i in range(n_found):
            row = codes[self._offsets[self._found[i]]:self._offsets[self._found[i] + 1]]
            row = row[linkable[row] > 0]
            held = [row[(row >= node) & (row < self._end[node])] for node in nodes]
            if all(map(len, held)):
                found.append(tuple(int(under.min()) for under in held))
        return min(found, default=())

    def unions(self, nodes):
        """Return how many transactions hold the first, any of the first two, and so on."""
        cdef int64_t total = 0, j
        cdef int32_t node
        supports = []
        self._stamp += 1
        for node in nodes:
            for j in range(self._holder_start[node], self._holder_start[self._end[node]]):
                if self._row_mark[self._holders[j]] != self._stamp:
                    self._row_mark[self._holders[j]] = self._stamp
                    total += self._counts[self._holders[j]]
            supports.append(total)
            beat(self._tell, &self._work, self._n_holders(node))
        return supports

    cdef int64_t _collect(self, int32_t[::1] nodes, int64_t limit, int64_t* n_found):
        """Find the rows that hold all `nodes`, until `limit` transactions are found."""
        cdef:
            int32_t rarest = nodes[0], row, code
            int64_t i, e, j, hits, total = 0, n = nodes.shape[0]
            int64_t visit
        for i in range(1, n):
            if self._n_holders(nodes[i]) < self._n_holders(rarest):
                rarest = nodes[i]
        with nogil:
            self._stamp += 1
            visit = self._stamp
            for j in range(self._holder_start[rarest], self._holder_start[self._end[rarest]]):
                row = self._holders[j]
                if self._row_mark[row] == visit:
                    continue
                self._row_mark[row] = visit
                self._stamp += 1
                hits = 0
                beat(self._tell, &self._work, n * (self._offsets[row + 1] - self._offsets[row]))
                for e in range(self._offsets[row], self._offsets[row + 1]):
                    code = self._codes[e]
                    for i in range(n):
                        if nodes[i] <= code < self._end[nodes[i]]:
                            hits += self._node_mark[nodes[i]] != self._stamp
                            self._node_mark[nodes[i]] = self._stamp
                            break
                if hits == n:
                    self._found[n_found[0]] = row
                    n_found[0] += 1
                    total += self._counts[row]
                    if total >= limit:
                        break
        return total

    cdef int64_t _n_holders(self, int32_t node) noexcept nogil:
        return self._holder_start[self._end[node]] - self._holder_start[node]

    # -- walking --------------------------------------------------------------------------

    def walk(self, int size, int64_t k, order):
        """Yield, in lexicographic order, the sets that are shown and that fewer than k support."""
        np.asarray(self._rank)[order] = np.arange(self.n_nodes, dtype=np.int32)
        np.asarray(self._covered)[:] = 0
        if self._ranked:
            self._sort_by_rank(order.astype(np.int32))
        # Rows come with a mark in the lowest bit: whether they show the branch.
        rows = 2 * np.arange(self.n_rows, dtype=np.int32) + 1
        if size == 1:
            for node in self._rare(rows, -1, k):
                if self._is_left(node):
                    yield (node,)
            return
        # Pairs are looked for node by node: that is as fast, and takes no copy of all rows.
        for node in self._suspects(rows, -1, size, k) if size > 2 else order.tolist():
            beat(self._tell, &self._work, A_BRANCH)
            if self._linkable[node] and self._is_left(node):
                yield from self._branch((), node, self._rows_of(node), size, k)

    cdef int _sort_by_rank(self, const int32_t[::1] order) except -1:
        """Put the entries of each row in the order of the walk, the last first."""
        cdef int64_t row, start, end, i, j
        cdef int32_t rank
        with nogil:
            for row in range(self.n_rows):
                start, end = self._offsets[row], self._offsets[row + 1]
                for i in range(start, end):
                    rank, j = self._rank[self._codes[i]], i
                    while end - start <= FEW and j > start and self._codes[j - 1] < rank:
                        self._codes[j] = self._codes[j - 1]
                        j -= 1
                    self._codes[j] = rank
                if end - start > FEW:
                    qsort(&self._codes[start], end - start, sizeof(int32_t), compare_ranks)
                for i in range(start, end):
                    self._codes[i] = order[self._codes[i]]
                beat(self._tell, &self._work, 1 + end - start)
        return 0

    def _branch(self, tuple before, int32_t last, int32_t[::1] rows, int size, int64_t k):
        """Yield what the walk finds below the branch of `before` and `last`, that `rows` hold."""
        cdef tuple branch = (*before, last)
        cdef int32_t node
        self._cover(last, 1)
        if len(branch) + 1 == size:
            for node in self._rare(rows, self._rank[last], k):
                if self._is_left(node):
                    yield (*branch, node)
                    if not all(map(self._is_left, branch)):
                        break
        else:
            suspects = self._suspects(rows, self._rank[last], size - len(branch), k)
            for node, its_rows in self._buckets(rows, self._rank[last], suspects):
                if self._is_left(node):
                    yield from self._branch(branch, node, its_rows, size, k)
                    if not all(map(self._is_left, branch)):
                        break
        self._cover(last, 0)

    def _is_left(self, int32_t node):
        """Whether a node does not lie below the cut."""
        return self._home[node] == node or self._home[node] < 0

    cdef _cover(self, int32_t node, int value):
        memset(&self._covered[node], value, self._end[node] - node)

    cdef _rows_of(self, int32_t node):
        """Return the rows that hold a node, marked."""
        rows = np.empty(min(self._n_holders(node), self.n_rows), np.int32)
        cdef int32_t[::1] out = rows
        cdef int64_t n = 0, j
        cdef int32_t under, row
        cdef int shows
        self._stamp += 1
        with nogil:
            for shows in range(1, -1, -1):
                for under in range(node, self._end[node]):
                    if self._linkable[under] != shows:
                        continue
                    for j in range(self._holder_start[under], self._holder_start[under + 1]):
                        row = self._holders[j]
                        if self._row_mark[row] != self._stamp:
                            self._row_mark[row] = self._stamp
                            out[n] = 2 * row + shows
                            n += 1
                    beat(self._tell, &self._work,
                         1 + self._holder_start[under + 1] - self._holder_start[under])
        rows = rows[:n]
        rows.sort()  # they lie in this order
        return rows

    cdef _suspects(self, const int32_t[::1] rows, int32_t after, int size, int64_t k):
        """Return, in order, the nodes that come `after` and may be in rare sets of these rows."""
        cdef:
            RareCodes rare = self._rare_nodes
            int64_t i, e, n = 0
            int32_t row, node, length
        with nogil:
            rare.begin(rows.shape[0], size, k, 1)
            for i in range(rows.shape[0]):
                row = rows[i] >> 1
                length = <int32_t> (self._offsets[row + 1] - self._offsets[row])
                rare.open_row(length, self._counts[row])
                self._stamp += 1
                for e in range(self._offsets[row], self._offsets[row + 1]):
                    node = self._codes[e]
                    if self._rank[node] <= after and self._ranked:
                        break
                    if self._covered[node] or not self._linkable[node]:
                        continue
                    node = self._home[node]
                    if self._rank[node] > after and self._node_mark[node] != self._stamp:
                        self._node_mark[node] = self._stamp
                        rare.add(node)
                rare.close_row(size)
                beat(self._tell, &self._work, 2 * length)
            rare.settle()
            rare.look(self._tell)
        self._stamp += 1
        for i in range(rare._n_named):
            node = rare._named[i] if rare.is_rare[i] else -1
            while node >= 0 and self._rank[node] > after and self._node_mark[node] != self._stamp:
                self._node_mark[node] = self._stamp
                self._seen[n] = node
                n += 1
                node = self._parent[node]
        beat(self._tell, &self._work, A_BRANCH + rare._n_named + n)
        return self._in_order(n)

    cdef _in_order(self, int64_t n):
        """Return so many seen nodes in the order of the walk."""
        nodes = np.asarray(self._seen)[:n]
        return nodes[np.argsort(np.asarray(self._rank)[nodes])].tolist() if n else []

    cdef _rare(self, const int32_t[::1] rows, int32_t after, int64_t k):
        """Return the nodes that come `after`, that rows show, and fewer than k of them hold."""
        cdef int64_t n_leaves, n_seen, n = 0, i
        cdef int32_t node
        with nogil:
            n_leaves = n_seen = self._count(rows, after)
            for i in range(n_leaves):
                n += self._support[self._seen[i]] < k
            if n:
                n_seen = self._climb(rows, after, n_leaves, k)
                n = 0
            for i in range(n_seen):
                node = self._seen[i]
                if self._support[node] < k and self._shown[node]:
                    self._seen[n] = node
                    n += 1
                self._support[node] = self._shown[node] = 0
            beat(self._tell, &self._work, A_BRANCH + n_seen)
        return self._in_order(n)

    cdef int64_t _count(self, const int32_t[::1] rows, int32_t after) except -1 nogil:
        """Count the nodes of the cut that come `after`; return how many are seen."""
        cdef:
            int64_t i, e, n_seen = 0
            int32_t row, node
        for i in range(rows.shape[0]):
            row = rows[i] >> 1
            self._stamp += 1
            for e in range(self._offsets[row], self._offsets[row + 1]):
                node = self._codes[e]
                if self._rank[node] <= after and self._ranked:
                    break
                if self._covered[node]:
                    continue
                node = self._home[node]
                if self._rank[node] > after and self._node_mark[node] != self._stamp:
                    self._node_mark[node] = self._stamp
                    if self._support[node] == 0:
                        self._seen[n_seen] = node
                        n_seen += 1
                    self._support[node] += self._counts[row]
            beat(self._tell, &self._work, 2 * (self._offsets[row + 1] - self._offsets[row]))
        return n_seen

    cdef int64_t _climb(
        self, const int32_t[::1] rows, int32_t after, int64_t n_seen, int64_t k
    ) except -1 nogil:
        """Count the nodes above rare ones, up to k, and say what rows show; return how many are seen.

        What lies above a node that k have is had by k. Everything under a rare node is rare.
        """
        cdef:
            int64_t i, e
            int32_t row, node
            uint8_t shows
        for i in range(n_seen):
            if self._support[self._seen[i]] >= k:
                node = self._parent[self._seen[i]]
                while node >= 0 and self._rank[node] > after and self._support[node] == 0:
                    self._support[node] = k
                    self._seen[n_seen] = node
                    n_seen += 1
                    node = self._parent[node]
        for i in range(rows.shape[0]):
            row = rows[i] >> 1
            self._stamp += 1
            for e in range(self._offsets[row], self._offsets[row + 1]):
                node = self._codes[e]
                if self._rank[node] <= after and self._ranked:
                    break
                if self._covered[node]:
                    continue
                shows = (rows[i] & 1) & self._linkable[node]
                node = self._home[node]
                if self._rank[node] <= after or self._node_mark[node] == self._stamp:
                    continue
                self._node_mark[node] = self._stamp
                if self._support[node] >= k:
                    continue
                self._shown[node] |= shows
                node = self._parent[node]
                while (
                    node >= 0 and self._rank[node] > after
                    and self._support[node] < k and self._node_mark[node] != self._stamp
                ):
                    self._node_mark[node] = self._stamp
                    if self._support[node] == 0:
                        self._seen[n_seen] = node
                        n_seen += 1
                    self._support[node] += self._counts[row]
                    self._shown[node] |= shows
                    node = self._parent[node]
            beat(self._tell, &self._work, 2 * (self._offsets[row + 1] - self._offsets[row]))
        return n_seen

    cdef _buckets(self, const int32_t[::1] rows, int32_t after, nodes):
        """Return nodes that come `after`, each with the rows it is in."""
        if not nodes:
            return []
        cdef int32_t[::1] bucket
        n_entries = np.asarray(self._n_entries)
        n_entries[nodes] = 0
        self._sort_into(rows, after, NULL)
        ends = np.cumsum(n_entries[nodes])
        starts = ends - n_entries[nodes]
        n_entries[nodes] = starts
        found = bucket = np.empty(ends[-1], np.int32)
        self._sort_into(rows, after, &bucket[0])
        n_entries[nodes] = -1
        bounds = zip(nodes, starts.tolist(), ends.tolist())
        return [(node, found[start:end]) for node, start, end in bounds]

    cdef int _sort_into(
        self, const int32_t[::1] rows, int32_t after, int32_t* bucket
    ) except -1 nogil:
        """Count, by node, the rows with a node whose number of entries is not negative.

        With a bucket: put them there, where that number says.
        """
        cdef:
            int64_t i, e
            int32_t row, node
            uint8_t shows
        for i in range(rows.shape[0]):
            row = rows[i] >> 1
            self._stamp += 1
            for e in range(self._offsets[row], self._offsets[row + 1]):
                node = self._codes[e]
                if self._rank[node] <= after and self._ranked:
                    break  # its ancestors come before it, and the other entries, too
                if self._covered[node]:
                    continue
                shows = (rows[i] & 1) & self._linkable[node]
                node = self._home[node]
                while (
                    node >= 0 and self._rank[node] > after
                    and self._node_mark[node] != self._stamp
                ):
                    self._node_mark[node] = self._stamp
                    if self._n_entries[node] >= 0:
                        if bucket != NULL:
                            bucket[self._n_entries[node]] = 2 * row + shows
                        self._n_entries[node] += 1
                    node = self._parent[node]
            beat(self._tell, &self._work, 2 * (self._offsets[row + 1] - self._offsets[row]))
        return 0
