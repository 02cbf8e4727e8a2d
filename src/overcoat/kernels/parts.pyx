# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""The violated part of largest support of a set of groups that nobody holds whole.

Parts grow in lexicographic order over the rows that hold them; one that fewer than k hold needs no
extension, since a larger part has no more support and comes later. Only what rows *share* with the
set matters, and a row is projected on it when it is first met.

A prefix that k or more hold is a node. It leads nowhere when k hold whatever a row of it shares
with the set from there on: its rows are *strong*, and they stay strong for all longer prefixes. So
every node that is left open has a violated part below it. And when all rows of a node go on with the
same group, that group joins the prefix at once: a part without it has the same support as the part
with it, which comes first.

One itemset is asked for again and again while it is repaired. So the support of the best part that
begins with each group is kept. A change concerns only the groups that share a row with what was
merged or suppressed, and only these are looked at again. A row whose
whole share k or more hold stays so, since supports never fall, until its share grows because a
group from outside the set has joined one of it.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, qsort, realloc
from libc.string cimport memcpy

from overcoat.kernels.merging cimport HEAD, LENGTH, NUMBER, GroupedRows, count_of
from overcoat.kernels.pulse cimport beat

cdef int64_t UNKNOWN = -1, STRONG = -1
cdef int32_t FEW = 16  # so many are sorted by hand


cdef class Parts:
    """Finds violated parts."""

    def __dealloc__(self):
        free(self._shares)
        free(self._held)
        free(self._children)
        free(self._nodes)

    def __init__(self, GroupedRows of):
        cdef Py_ssize_t n_items = of.n_items, n_rows = of._row_start.shape[0]
        self._asked = np.zeros(n_items, np.uint8)
        self._best_of = np.zeros(n_items, np.int64)
        self._wanted = np.zeros(n_items, np.int64)
        self._n_rows = np.zeros(n_items, np.int64)
        self._support = np.zeros(n_items, np.int64)
        self._child = np.zeros(n_items, np.int64)
        self._prefix = np.zeros(n_items, np.int32)
        self._seen = np.zeros(n_items, np.int32)
        self._best = np.zeros(n_items, np.int32)
        self._projected = np.zeros(n_rows, np.int64)
        self._start = np.zeros(n_rows, np.int64)
        self._length = np.zeros(n_rows, np.int32)
        self._strong = np.zeros(n_rows, np.int64)
        self._whole = np.zeros(n_rows, np.int64)

    def find(self, GroupedRows of, groups, int64_t k, tell):
        """Return what `Grouping.worst_part` of the reference kernels returns."""
        cdef const int32_t[::1] wanted = np.ascontiguousarray(groups, np.int32)
        if k != self._k or not self._is_known(wanted):
            self._k, self._n_asked = k, len(groups)
            np.asarray(self._asked)[:] = 0
            np.asarray(self._asked)[groups] = 1
            np.asarray(self._best_of)[groups] = UNKNOWN
            self._n_fills = -1
        if self._n_fills != of._n_fills:  # rows have other numbers now
            self._n_fills = of._n_fills
            np.asarray(self._whole)[:] = 0
        with nogil:
            self._run(of, wanted, k, tell)
        return np.array(self._best[:self._n_best]) if self._n_best else None

    cdef void merged(self, GroupedRows of, int32_t one, int32_t other) noexcept nogil:
        """Take note of a merge."""
        cdef bint both = self._asked[one] and self._asked[other]
        if self._asked[one] or self._asked[other]:
            self._n_asked -= both
            self._asked[max(one, other)] = 0
            self._asked[min(one, other)] = 1
            self._touch(of, min(one, other), not both)

    cdef void suppressed(self, GroupedRows of, int32_t group) noexcept nogil:
        """Take note of a suppression that is about to happen."""
        if self._asked[group]:
            self._n_asked -= 1
            self._asked[group] = 0
            self._touch(of, group, False)

    cdef void _touch(self, GroupedRows of, int32_t group, bint grown) noexcept nogil:
        """Forget what is known of the groups that share a row with this one, perhaps of rows."""
        cdef int32_t item = group, row
        cdef int64_t j, e
        while item >= 0:
            for j in range(of._holder_start[item],
                           of._holder_start[item] + of._holder_length[item]):
                row = of._holders[j]
                if grown:
                    self._whole[of._rows[row + NUMBER]] = 0
                for e in range(row + HEAD, row + HEAD + of._rows[row + LENGTH]):
                    self._best_of[of._group[of._rows[e]]] = UNKNOWN
            item = of._next[item]

    cdef bint _is_known(self, const int32_t[::1] groups) noexcept nogil:
        """Whether this is what has become of the set asked for last."""
        cdef Py_ssize_t i
        for i in range(groups.shape[0]):
            if not self._asked[groups[i]]:
                return False
        return groups.shape[0] == self._n_asked

    cdef int _run(self, GroupedRows of, const int32_t[::1] groups, int64_t k, tell) except -1 nogil:
        cdef Py_ssize_t i
        cdef int32_t group, first = -1, searched = -1
        cdef int64_t best = 0
        self._stamp += 1
        self._n_shares = 0
        for i in range(groups.shape[0]):
            self._wanted[groups[i]] = self._stamp
        for i in range(groups.shape[0]):
            group = groups[i]
            if self._best_of[group] == UNKNOWN:
                self._search(of, group, k, tell)
                self._best_of[group] = self._best_support
                searched = group
            if self._best_of[group] > best:
                best, first = self._best_of[group], group
                if best == k - 1:
                    break  # nothing beats the first of these
        if first < 0:
            self._n_best = 0
        elif first != searched:
            self._search(of, first, k, tell)
        return 0

    # -- the walk -------------------------------------------------------------------------

    cdef int _search(self, GroupedRows of, int32_t group, int64_t k, tell) except -1 nogil:
        """Find the best part that begins with `group`."""
        cdef:
            Node* node
            Child* child
            int32_t item = group, number
            int64_t j
        self._best_support = self._n_best = 0
        if of._support[group] < k:
            self._keep(0, group, of._support[group])
            return 0
        self._prefix[0] = group
        self._n_held = self._n_children = self._n_nodes = 0
        self._held = <Held*> with_room(
            self._held, &self._held_capacity, of._n_group_rows[group], sizeof(Held))
        while item >= 0:
            for j in range(of._holder_start[item],
                           of._holder_start[item] + of._holder_length[item]):
                number = of._rows[of._holders[j] + NUMBER]
                self._project_once(of, of._holders[j], tell)
                self._held[self._n_held].number = number
                self._held[self._n_held].at = place_after(
                    self._shares + self._start[number], self._length[number], group)
                self._n_held += 1
            item = of._next[item]
        self._push(1, 0, self._n_held)
        while self._n_nodes:
            node = &self._nodes[self._n_nodes - 1]
            if not node.expanded:
                self._expand(of, k, tell)
            elif node.next == node.last or self._best_support == k - 1:
                self._pop()
            else:
                child = &self._children[node.next]
                node.next += 1
                if child.support < k:
                    self._keep(node.n_prefix, child.group, child.support)
                else:
                    self._prefix[node.n_prefix] = child.group
                    self._push(node.n_prefix + 1, child.start, child.end)
        return 0

    cdef bint _is_settled(self, GroupedRows of, Node* node, int64_t k, tell) except -1 nogil:
        """Whether all rows of a node are known to be strong, or found to be so as a whole."""
        cdef int32_t number
        cdef int64_t i
        for i in range(node.start, node.end):
            number = self._held[i].number
            if self._strong[number]:
                continue
            if self._whole[number] != STRONG and self._whole[number] != self._stamp:
                self._look_at_whole(of, of._row_start[number], k, tell)
            if self._whole[number] != STRONG:
                return False
        return True

    cdef int _look_at_whole(self, GroupedRows of, int32_t row, int64_t k, tell) except -1 nogil:
        """Find out whether k or more hold what a row shares with the set."""
        cdef:
            int32_t rarest, item, other, n, i
            int64_t j, start, support = 0, work = 0
        self._project_once(of, row, tell)
        start = self._start[of._rows[row + NUMBER]]
        n = self._length[of._rows[row + NUMBER]]
        rarest = self._shares[start]
        for i in range(1, n):
            if of._n_group_rows[self._shares[start + i]] < of._n_group_rows[rarest]:
                rarest = self._shares[start + i]
        item = rarest
        while item >= 0 and support < k:
            j = of._holder_start[item]
            while j < of._holder_start[item] + of._holder_length[item] and support < k:
                other = of._holders[j]
                self._project_once(of, other, tell)
                if self._shares_all(
                        of._rows[other + NUMBER], self._shares + start, n, &work):
                    support += count_of(&of._rows[other])
                j += 1
            item = of._next[item]
        beat(tell, &self._work, work + n)
        self._whole[of._rows[row + NUMBER]] = STRONG if support >= k else self._stamp
        return 0

    cdef int _expand(self, GroupedRows of, int64_t k, tell) except -1 nogil:
        """Find the children of the node on top, none if it leads nowhere."""
        cdef Node* node = &self._nodes[self._n_nodes - 1]
        cdef int64_t i, work = node.end - node.start
        cdef bint dead = True
        node.expanded, node.top = True, self._n_held
        node.first = node.next = node.last = self._n_children
        if self._is_settled(of, node, k, tell):
            return beat(tell, &self._work, work)
        work += self._peel(node)
        work += self._fill_children(of, node)
        for i in range(node.first, node.last):
            dead = dead and self._children[i].support >= k
        if dead:
            work += self._leads_nowhere(of, node, k, &dead)
        if dead:
            node.next = node.last
        return beat(tell, &self._work, work)

    cdef int64_t _peel(self, Node* node) noexcept nogil:
        """Let groups join the prefix with which all rows of a node go on; return the work."""
        cdef:
            const Held* one
            int32_t group
            int64_t i, work = 1
        while True:
            group = -1
            for i in range(node.start, node.end):
                one = &self._held[i]
                if one.at == self._length[one.number]:
                    return work
                if group < 0:
                    group = self._shares[self._start[one.number] + one.at]
                elif self._shares[self._start[one.number] + one.at] != group:
                    return work
            self._prefix[node.n_prefix] = group
            node.n_prefix += 1
            for i in range(node.start, node.end):
                self._held[i].at += 1
            work += node.end - node.start

    cdef int64_t _fill_children(self, GroupedRows of, Node* node) except -1 nogil:
        """Find the groups that extend the prefix of a node, and the rows of each."""
        cdef:
            Child* child
            Held one
            int32_t group, e
            int64_t i, n_seen = 0, total = 0
            const int32_t* share
        for i in range(node.start, node.end):
            one = self._held[i]
            share = self._shares + self._start[one.number]
            for e in range(one.at, self._length[one.number]):
                group = share[e]
                if self._n_rows[group] == 0:
                    self._seen[n_seen] = group
                    n_seen += 1
                self._n_rows[group] += 1
                self._support[group] += count_of(&of._rows[of._row_start[one.number]])
            total += self._length[one.number] - one.at
        sort_groups(&self._seen[0], n_seen)
        node.last = self._n_children = self._n_children + n_seen
        self._children = <Child*> with_room(
            self._children, &self._children_capacity, self._n_children, sizeof(Child))
        self._held = <Held*> with_room(
            self._held, &self._held_capacity, self._n_held + total, sizeof(Held))
        for i in range(n_seen):
            group = self._seen[i]
            self._child[group] = node.first + i
            child = &self._children[node.first + i]
            child.group, child.support = group, self._support[group]
            child.start = child.end = self._n_held
            self._n_held += self._n_rows[group]
            self._n_rows[group] = self._support[group] = 0
        for i in range(node.start, node.end):
            one = self._held[i]
            share = self._shares + self._start[one.number]
            while one.at < self._length[one.number]:
                child = &self._children[self._child[share[one.at]]]
                one.at += 1
                self._held[child.end] = one
                child.end += 1
        return 2 * total + (node.end - node.start)

    cdef int64_t _leads_nowhere(self, GroupedRows of, Node* node, int64_t k, bint* dead) noexcept nogil:
        """Tell whether all rows of a node are strong; return the work."""
        cdef:
            const Held* one
            const Child* child
            const int32_t* share
            int32_t number, n, e
            int64_t i, j, support, work = 0
        for i in range(node.start, node.end):
            one = &self._held[i]
            n = self._length[one.number] - one.at
            if self._strong[one.number] or n == 0:
                continue
            share = self._shares + self._start[one.number] + one.at
            child = &self._children[self._child[share[0]]]
            for e in range(1, n):  # the rarest
                if (self._children[self._child[share[e]]].end
                        - self._children[self._child[share[e]]].start < child.end - child.start):
                    child = &self._children[self._child[share[e]]]
            support = 0
            j = child.start
            while j < child.end and support < k:
                number = self._held[j].number
                if self._shares_all(number, share, n, &work):
                    support += count_of(&of._rows[of._row_start[number]])
                j += 1
            work += n
            if support < k:
                dead[0] = False
                return work
            self._strong[one.number] = self._n_nodes
        dead[0] = True
        return work

    cdef bint _shares_all(
        self, int32_t number, const int32_t* groups, int32_t n, int64_t* work
    ) noexcept nogil:
        """Whether a row holds all these groups."""
        cdef const int32_t* share = self._shares + self._start[number]
        cdef int32_t length = self._length[number], i = 0
        cdef int32_t e = place_after(share, length, groups[0] - 1)
        while i < n and n - i <= length - e:
            work[0] += 1
            if share[e] > groups[i]:
                return False
            i += share[e] == groups[i]
            e += 1
        return i == n

    cdef void _keep(self, int32_t n, int32_t last, int64_t support) noexcept nogil:
        """Take the first `n` of the prefix and `last` if that is better than what there is."""
        if support > self._best_support:
            self._best_support = support
            memcpy(&self._best[0], &self._prefix[0], n * sizeof(int32_t))
            self._best[n] = last
            self._n_best = n + 1

    # -- rows and stacks ------------------------------------------------------------------

    cdef int _project_once(self, GroupedRows of, int32_t row, tell) except -1 nogil:
        """Find what a row shares with the set, unless that was done."""
        cdef int32_t number = of._rows[row + NUMBER], group
        cdef int64_t e, n = 0
        cdef int32_t* share
        if self._projected[number] == self._stamp:
            return 0
        self._shares = <int32_t*> with_room(
            self._shares, &self._shares_capacity,
            self._n_shares + of._rows[row + LENGTH], sizeof(int32_t))
        share = self._shares + self._n_shares
        for e in range(row + HEAD, row + HEAD + of._rows[row + LENGTH]):
            group = of._group[of._rows[e]]
            if self._wanted[group] == self._stamp:
                share[n] = group
                n += 1
        sort_groups(share, n)
        self._projected[number] = self._stamp
        self._start[number], self._length[number] = self._n_shares, <int32_t> n
        self._strong[number] = 0
        self._n_shares += n
        return beat(tell, &self._work, of._rows[row + LENGTH])

    cdef int _push(self, int32_t n_prefix, int64_t start, int64_t end) except -1 nogil:
        cdef Node* node
        self._nodes = <Node*> with_room(
            self._nodes, &self._nodes_capacity, self._n_nodes + 1, sizeof(Node))
        node = &self._nodes[self._n_nodes]
        node.n_prefix, node.start, node.end, node.expanded = n_prefix, start, end, False
        self._n_nodes += 1
        return 0

    cdef void _pop(self) noexcept nogil:
        cdef Node* node = &self._nodes[self._n_nodes - 1]
        cdef int64_t i
        for i in range(node.start, node.end):
            if self._strong[self._held[i].number] == self._n_nodes:
                self._strong[self._held[i].number] = 0
        self._n_held, self._n_children = node.top, node.first
        self._n_nodes -= 1


# -- helpers ----------------------------------------------------------------------------------

cdef int32_t place_after(const int32_t* groups, int32_t n, int32_t group) noexcept nogil:
    """Return how many of these, ascending, do not come after a group."""
    cdef int32_t low = 0, middle
    while low < n:
        middle = low + (n - low) // 2
        if groups[middle] <= group:
            low = middle + 1
        else:
            n = middle
    return low


cdef int compare_groups(const void* one, const void* other) noexcept nogil:
    cdef int32_t x = (<int32_t*> one)[0], y = (<int32_t*> other)[0]
    return (x > y) - (x < y)


cdef void sort_groups(int32_t* groups, int64_t n) noexcept nogil:
    cdef int64_t i, j
    cdef int32_t group
    if n > FEW:
        qsort(groups, n, sizeof(int32_t), compare_groups)
        return
    for i in range(1, n):
        group = groups[i]
        j = i
        while j > 0 and groups[j - 1] > group:
            groups[j] = groups[j - 1]
            j -= 1
        groups[j] = group


cdef void* with_room(void* items, int64_t* capacity, int64_t n, size_t size) except NULL nogil:
    """Return an array with room for `n` items, the same or a larger copy of it."""
    cdef void* larger
    if n <= capacity[0] and items != NULL:
        return items
    n = max(2 * capacity[0], n, 16)
    larger = realloc(items, n * size)
    if larger == NULL:
        with gil:
            raise MemoryError
    capacity[0] = n
    return larger
