# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Losses that may not grow: flat NCP, NCP and UL, in whole numbers, of a state and after a move."""

import numpy as np

from libc.math cimport ldexp
from libc.stdint cimport int32_t, int64_t

from overcoat.kernels.moving cimport Moving

cdef int64_t HUGE = <int64_t> 1 << 60


cdef class Losses(Moving):
    """Groups that know flat NCP, NCP and UL."""

    def __init__(self, rules, limits, group_of, tell):
        cdef int32_t slot, x
        Moving.__init__(self, rules, group_of, tell)
        one = max(self.n_items, 1)
        self._flat_of, self._ncp_of = np.zeros(one, np.int64), np.zeros(one, np.int64)
        self._ul_of, self._real_ul = np.zeros(one, np.int64), np.zeros(one)
        self._node, self._ncp_node = np.zeros(one, np.int32), np.zeros(one, np.int32)
        self._parent, self._weight = limits.parent, limits.weight
        self._ncp_parent, self._ncp_weight = limits.ncp_parent, limits.ncp_weight
        self._has_ncp = len(limits.ncp_parent) > 0
        self._weigh = limits.weigh
        self._penalty, self._ul_shift = limits.penalties, limits.ul_shift
        # Doubles reach from 2^-1022 to 2^1023; this is where the largest group of the start lies.
        largest = max(np.asarray(self._size)) if self.n_items else 0
        self._exponent = largest - 900
        self.flat_limit, self.ncp_limit, self.ul_limit = limits.flat, limits.ncp, limits.ul
        for slot in range(self.n_slots):
            self._settle(slot)
            self.flat += self._flat_of[slot]
            self.ncp += self._ncp_of[slot]
            self.ul += self._ul_of[slot]
        for x in range(self.n_items):
            if self._slot[x] < 0:
                self.flat += self.n_items * self._item_support[x]
                self.ncp += self.n_items * self._item_support[x]
                self.ul += self._penalty[x]

    def losses(self):
        """Return flat NCP, NCP and UL, in the units of the limits."""
        return self.flat, self.ncp if self._has_ncp else self.flat, self.ul

    cdef int32_t _ancestor(
        self, const int32_t[::1] parent, int32_t slot, int32_t without, int32_t more
    ) noexcept nogil:
        """Return the closest common ancestor; nodes are numbered children first."""
        cdef int32_t common = more, item, node
        item = self._head[slot]
        while item >= 0:
            if item != without:
                if common < 0:
                    common = item
                else:
                    node = item
                    while node != common:
                        if node < common:
                            node = parent[node]
                        else:
                            common = parent[common]
            item = self._next[item]
        return common

    cdef int _weigh_slot(
        self, int32_t slot, int32_t without, int32_t more, int64_t* weight, int32_t* node
    ) except -1 nogil:
        """Weigh a group, without one of its items or with one more."""
        cdef int32_t item
        if self._parent.shape[0]:
            node[0] = self._ancestor(self._parent, slot, without, more)
            weight[0] = self._weight[node[0]]
            return 0
        with gil:
            items = [more] if more >= 0 else []
            item = self._head[slot]
            while item >= 0:
                if item != without:
                    items.append(item)
                item = self._next[item]
            weight[0] = self._weigh(np.array(sorted(items), np.int32))
        return 0

    cdef int64_t _ul_term(self, int64_t size, int64_t loss) noexcept nogil:
        """Return (2^size - 1) * loss in units, rounded up; loss is weight times support."""
        cdef int64_t shift = size - self._ul_shift, bits = 0
        while loss >> bits:
            bits += 1
        if loss == 0:
            return 0
        if self._ul_shift == 0:
            return HUGE if size + bits > 58 else ((<int64_t> 1 << size) - 1) * loss
        if shift >= 0:
            return HUGE if shift + bits > 58 else loss << shift
        return 1 if shift < -62 else (loss >> -shift) + 1

    cdef double _real_term(self, int64_t size, int64_t loss) noexcept nogil:
        return (ldexp(<double> loss, <int> size - self._exponent)
                - ldexp(<double> loss, -self._exponent))

    cdef double _real_penalty(self, int32_t x) noexcept nogil:
        return ldexp(<double> self._penalty[x], self._ul_shift - self._exponent)

    cdef int losses_after(self, int32_t x, int32_t target) except -1 nogil:
        """Compute what the losses will be when the item seen has moved."""
        cdef:
            int32_t home = self._slot[x], node = 0
            int64_t support = self._item_support[x], size, weight, loss, occurrences
        self._new_flat, self._new_ncp, self._new_ul = self.flat, self.ncp, self.ul
        self._ul_change = 0
        if home >= 0:
            self._new_flat -= self._flat_of[home]
            self._new_ncp -= self._ncp_of[home]
            self._new_ul -= self._ul_of[home]
            self._ul_change -= self._real_ul[home]
            size, occurrences = self._size[home] - 1, self._occurrences[home] - support
            if size > 1:
                self._new_flat += size * occurrences
                if self._has_ncp:
                    node = self._ancestor(self._ncp_parent, home, x, -1)
                    self._new_ncp += self._ncp_weight[node] * occurrences
                self._weigh_slot(home, x, -1, &weight, &node)
                loss = weight * (self._support[home] - self._alone_total)
                self._new_ul += self._ul_term(size, loss)
                self._ul_change += self._real_term(size, loss)
        else:
            self._new_flat -= self.n_items * support
            self._new_ncp -= self.n_items * support
            self._new_ul -= self._penalty[x]
            self._ul_change -= self._real_penalty(x)
        if target < 0:
            self._new_flat += self.n_items * support
            self._new_ncp += self.n_items * support
            self._new_ul += self._penalty[x]
            self._ul_change += self._real_penalty(x)
        elif self._size[target]:
            self._new_flat -= self._flat_of[target]
            self._new_ncp -= self._ncp_of[target]
            self._new_ul -= self._ul_of[target]
            self._ul_change -= self._real_ul[target]
            size, occurrences = self._size[target] + 1, self._occurrences[target] + support
            self._new_flat += size * occurrences
            if self._has_ncp:
                node = self._climb(self._ncp_parent, self._ncp_node[target], x)
                self._new_ncp += self._ncp_weight[node] * occurrences
            if self._parent.shape[0]:
                weight = self._weight[self._climb(self._parent, self._node[target], x)]
            else:
                self._weigh_slot(target, -1, x, &weight, &node)
            loss = weight * (self._support[target] + support - self._together[target])
            self._new_ul += self._ul_term(size, loss)
            self._ul_change += self._real_term(size, loss)
        return 0

    cdef int32_t _climb(self, const int32_t[::1] parent, int32_t one, int32_t other) noexcept nogil:
        while one != other:
            if one < other:
                one = parent[one]
            else:
                other = parent[other]
        return one

    cdef bint within_limits(self) noexcept nogil:
        """Whether what was computed is no worse than is allowed, or than it is."""
        if self._loose:
            return True
        if self._new_flat > max(self.flat_limit, self.flat):
            return False
        if self._has_ncp and self._new_ncp > max(self.ncp_limit, self.ncp):
            return False
        return self._new_ul <= max(self.ul_limit, self.ul)

    cdef int _settle(self, int32_t slot) except -1 nogil:
        """Compute the losses of a group anew."""
        cdef int64_t size = self._size[slot], weight = 0
        cdef int32_t node = 0
        self._flat_of[slot] = self._ncp_of[slot] = self._ul_of[slot] = 0
        self._real_ul[slot] = 0
        if size == 0:
            return 0
        if self._has_ncp:
            self._ncp_node[slot] = self._ancestor(self._ncp_parent, slot, -1, -1)
        if self._parent.shape[0]:
            self._node[slot] = self._ancestor(self._parent, slot, -1, -1)
        if size == 1:
            return 0
        self._flat_of[slot] = size * self._occurrences[slot]
        if self._has_ncp:
            self._ncp_of[slot] = (
                self._ncp_weight[self._ncp_node[slot]] * self._occurrences[slot])
        if self._parent.shape[0]:
            weight = self._weight[self._node[slot]]
        else:
            self._weigh_slot(slot, -1, -1, &weight, &node)
        self._ul_of[slot] = self._ul_term(size, weight * self._support[slot])
        self._real_ul[slot] = self._real_term(size, weight * self._support[slot])
        return 0

    cdef int shift(self, int32_t x, int32_t target) except -1 nogil:
        cdef int32_t home = self._slot[x]
        if home >= 0:
            self.flat -= self._flat_of[home]
            self.ncp -= self._ncp_of[home]
            self.ul -= self._ul_of[home]
        else:
            self.flat -= self.n_items * self._item_support[x]
            self.ncp -= self.n_items * self._item_support[x]
            self.ul -= self._penalty[x]
        if target >= 0 and self._size[target]:
            self.flat -= self._flat_of[target]
            self.ncp -= self._ncp_of[target]
            self.ul -= self._ul_of[target]
        Moving.shift(self, x, target)
        if home >= 0:
            self._settle(home)
            self.flat += self._flat_of[home]
            self.ncp += self._ncp_of[home]
            self.ul += self._ul_of[home]
        if target >= 0:
            self._settle(target)
            self.flat += self._flat_of[target]
            self.ncp += self._ncp_of[target]
            self.ul += self._ul_of[target]
        else:
            self.flat += self.n_items * self._item_support[x]
            self.ncp += self.n_items * self._item_support[x]
            self.ul += self._penalty[x]
        return 0
