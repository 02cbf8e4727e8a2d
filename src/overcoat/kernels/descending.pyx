# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Descent: every item goes where that gains most, until nobody of all gains.

It is counted in looks, each at an item, or at a group and as many as it has items, so that it can
be ended anywhere and ends there again.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t

from overcoat.kernels.costs cimport PRICED
from overcoat.kernels.pulse cimport beat
from overcoat.kernels.several cimport Several

from overcoat.kernels.problem import FEW_ITEMS
from overcoat.kernels.reference import nothing

cdef Py_ssize_t FEW = FEW_ITEMS


cdef class Descending(Several):
    """Groups that items leave where that gains."""

    def __init__(self, rules, limits, price, group_of, seed, tell=nothing):
        n = len(group_of)
        self._changes, self._queue = np.zeros(n + 3), np.zeros(n + 3, np.int32)
        self._awake = np.zeros(n + 1, np.uint8)
        Several.__init__(self, rules, limits, price, group_of, seed, tell)
        self._best_slot = np.array(self._slot)
        self.best, self.fewest = INFINITY, self.n_suppressed
        self.remember()

    def descend(self, int64_t looks, tell=nothing):
        """Go from the best there was to where no item can move, no group be undone, with a gain.

        When it has taken so many looks in all it ends there, and may go on at the next call.
        """
        self._tell, self._loose = tell, False
        if not self._descends:
            self.back_to_best()
            self._descends, self._rests, self._looks, self._place = True, False, 0, 0
            self._everyone, self._moved, self._undone = True, False, False
            self._awake[:] = 0
        with nogil:
            self.now = self.total()
            while self.next_look() and self._looks < looks:
                self.take_look()
            self.now = self.total()
            if self.n_suppressed <= self.allowed and (
                    self.now < self.best or self.best == INFINITY):
                self.remember()

    @property
    def looks(self):
        """How many looks the descent has taken."""
        return self._looks

    @property
    def at_rest(self):
        """Whether the descent has found that no item can move, no group be undone, with a gain."""
        return self._rests

    def targets(self, int32_t x):
        """Return where an item may go, and by how much the cost then grows; for tests.

        Slots; one that is empty stands for a group of its own, -1 for none.
        """
        cdef int32_t i
        self._tell = nothing
        found = {}
        self.evaluate(x, INFINITY)
        n = self.n_targets
        names = [self._targets[i] for i in range(n)]
        changes = [self._changes[i] for i in range(n)]
        for i, (name, change) in enumerate(zip(names, changes)):
            self.evaluate(x, INFINITY)
            home = self._slot[x]
            if self.attempt(x, i):
                found[name] = change
                self.n_moves -= 1
                self.regroup(x, home)
        return found

    def move(self, int32_t x, int32_t target):
        """Move an item, whatever that breaks; for tests."""
        self._tell, self._descends = nothing, False
        self.regroup(x, target)
        self.now = self.total()

    def back_to_best(self):
        """Go back to the best partition there was."""
        cdef int32_t x
        for x in range(self.n_items):
            if self._slot[x] != self._best_slot[x]:
                self.regroup(x, self._best_slot[x])

    @property
    def cost_now(self):
        """What the partition costs."""
        return self.total()

    @property
    def cost_of_best(self):
        """What the best partition so far costs."""
        return self.best

    @property
    def moves(self):
        """How many moves were made."""
        return self.n_moves

    def best_group_of(self):
        """Return the slot of each item in the best partition so far."""
        return np.array(self._best_slot[:self.n_items])

    cdef void remember(self) noexcept nogil:
        """Keep the partition as the best, if it is a result."""
        if self.n_suppressed > self.allowed:
            if self.n_suppressed < self.fewest:  # on the way to one
                self.fewest = self.n_suppressed
                self._best_slot[:] = self._slot
            return
        if (self.flat > self.flat_limit
                or self.ul > self.ul_limit or (self._has_ncp and self.ncp > self.ncp_limit)):
            return
        self._best_slot[:] = self._slot
        self.best = self.now

    # -- what a move costs ----------------------------------------------------------------

    cdef int evaluate(self, int32_t x, double reach) except -1 nogil:
        """Find the targets of an item, and what each costs.

        Not exactly where it is `reach` or more above the cheapest target, or above staying, or,
        without a reach, where it is no gain: what a move costs at least is known sooner, and the
        cheapest are looked at first.
        """
        cdef int32_t i, at, n
        cdef double least = 0
        self.prepare(x)
        self.find_targets(x, self.budget)
        n = self.n_targets
        for i in range(n):
            self._changes[i] = self.change(x, self._targets[i], True)
        if self.mode == PRICED and self._has_pairs:
            # The cheapest first, by a heap of what is left.
            for i in range(n):
                self._queue[i] = i
            for i in range(n // 2 - 1, -1, -1):
                self._sink(i, n)
            while n:
                at = self._queue[0]
                if self._changes[at] >= (least + reach if reach > 0 else 0):
                    break
                n -= 1
                self._queue[0] = self._queue[n]
                self._sink(0, n)
                self._changes[at] = self.change(x, self._targets[at], False)
                least = min(least, self._changes[at])
        beat(self._tell, &self._work, self.n_targets)
        return 0

    cdef void _sink(self, int32_t at, int32_t n) noexcept nogil:
        """Bring a heap of targets, the cheapest on top, into order."""
        cdef int32_t child, one = self._queue[at] if n else 0
        while 2 * at + 1 < n:
            child = 2 * at + 1
            if child + 1 < n and (
                    self._changes[self._queue[child + 1]] < self._changes[self._queue[child]]):
                child += 1
            if self._changes[one] <= self._changes[self._queue[child]]:
                break
            self._queue[at] = self._queue[child]
            at = child
        if n:
            self._queue[at] = one

    cdef int attempt(self, int32_t x, int32_t number) except -1 nogil:
        """Move the item that was evaluated, if that is allowed; else change nothing."""
        cdef int32_t home = self._slot[x], target = self._targets[number]
        cdef int64_t epoch = self._epoch
        self.losses_after(x, target)
        if not (self.within_limits() and self.pairs_hold_after(x, target)):
            return 0
        self.shift(x, target)
        if self.holds_after(x, home, target, epoch):
            self.now = self.total()
            self.n_moves += 1
            return 1
        self.regroup(x, home)
        self.take_back(epoch)
        self.prepare(x)
        return 0

    # -- looks ----------------------------------------------------------------------------

    cdef int next_look(self) except -1 nogil:
        """Find what to look at next; 0 where the descent is over.

        By turns all items, and those whose groups have changed; when nobody of all gains, all
        groups, and, if one was undone, all items again.
        """
        cdef int32_t slot
        while not self._rests:
            if self._place < self.n_items:
                if self._everyone or self._awake[self._place]:
                    return 1
                self._place += 1
            elif self._place == self.n_items:
                if self._everyone and not self._moved:
                    self._undone = False
                    self._place += 1
                else:
                    self._everyone, self._moved, self._place = not self._moved, False, 0
            else:
                slot = self._place - <int32_t> self.n_items - 1
                if slot < self.n_slots:
                    if self._size[slot] > 1:
                        return 1
                    self._place += 1
                elif self._undone or (self.n_items <= FEW and self.improve_jointly()):
                    self._everyone, self._moved, self._place = True, False, 0
                else:
                    self._rests = True
        return 0

    cdef int take_look(self) except -1 nogil:
        """Look at an item, or a group, and move what gains."""
        cdef int32_t place = self._place, slot = place - <int32_t> self.n_items - 1, home
        self._place += 1
        if place > self.n_items:
            self._looks += self._size[slot]
            if self.undo(slot):
                self._undone = True
            return 0
        self._looks += 1
        self._awake[place], home = 0, self._slot[place]
        if self.improve(place):
            self._moved = True
            self._wake(home)
            self._wake(self._slot[place])
        return 0

    cdef void _wake(self, int32_t slot) noexcept nogil:
        """Note that a group has changed: its items may gain now."""
        cdef int32_t item = self._head[slot] if slot >= 0 else -1
        while item >= 0:
            self._awake[item] = 1
            item = self._next[item]

    cdef int improve(self, int32_t x) except -1 nogil:
        """Move an item where that gains most, if it gains anywhere."""
        cdef int32_t i, best
        if self.is_bundle(x):
            return self.improve_bundle(x) if self._leader[x] == x else 0
        self.evaluate(x, 0)
        while True:
            best = -1
            for i in range(self.n_targets):
                if self._changes[i] < 0 and (best < 0 or self._changes[i] < self._changes[best]):
                    best = i
            if best < 0:
                return 0
            if self.attempt(x, best):
                return 1
            self._changes[best] = 0

    cdef int improve_bundle(self, int32_t x) except -1 nogil:
        """Move items that stay together where that gains, if it gains anywhere."""
        cdef int32_t target, n_slots = self.n_slots
        for target in range(-1, n_slots + 1):
            self.begin()
            if self.may_enter(x, target):
                self.carry(x, target)
                if self.gains():
                    return 1
        return 0

    cdef int undo(self, int32_t slot) except -1 nogil:
        """Undo a group into its items, if that is allowed and gains."""
        cdef int32_t n, i
        self.begin()
        n = self.choose_group(slot)  # in order; the first one stays
        for i in range(1, n):
            self.carry(self._chosen[i], self.free_slot())
        return self.gains()

    cdef int gains(self) except -1 nogil:
        """Keep what was tried if it is allowed and gains; else take it back."""
        if self.n_went and self.total() < self._before and self.stands():
            self.now = self.total()
            self.n_moves += 1
            return 1
        self.go_back(0)
        return 0

    cdef bint may_enter(self, int32_t x, int32_t target) noexcept nogil:
        """Whether a slot is a place for an item: a group of its block, the lowest free, or none."""
        if target < 0:
            return self.budget > 0 and self._slot[x] >= 0
        if target == self._slot[x] or target >= self.n_items:
            return False
        if target >= self.n_slots or self._size[target] == 0:
            return target == self.free_slot()
        return self._block[target] == self._block_of[x]

    cdef int improve_jointly(self) except -1 nogil:
        """Make the first move of several items that gains, of all there are; for few items."""
        cdef:
            int32_t x, y, one, other, n_slots, n, i
            int64_t mask
        for x in range(self.n_items):  # two items, each anywhere
            for y in range(x + 1, self.n_items):
                if self._leader[x] != x or self._leader[y] != y:
                    continue
                n_slots = self.n_slots
                for one in range(-1, n_slots + 1):
                    if not self.may_enter(x, one):
                        continue
                    for other in range(-1, n_slots + 2):
                        self.begin()
                        self.carry(x, one)
                        if self.may_enter(y, other):
                            self.carry(y, other)
                            if self.gains():
                                return 1
                        else:
                            self.go_back(0)
        for one in range(self.n_slots):  # two groups become one
            for other in range(one + 1, self.n_slots):
                if (self._size[one] == 0 or self._size[other] == 0
                        or self._block[one] != self._block[other]):
                    continue
                self.begin()
                n = self.choose_group(other)
                for i in range(n):
                    self.carry(self._chosen[i], one)
                if self.gains():
                    return 1
        for one in range(self.n_slots):  # a group becomes two
            n = self.choose_group(one) if self._size[one] else 0
            for mask in range(1, (<int64_t> 1 << (n - 1)) - 1 if n > 3 else 1):
                self.begin()
                n = self.choose_group(one)
                other = self.free_slot()
                for i in range(1, n):
                    if mask >> (i - 1) & 1:
                        self.carry(self._chosen[i], other)
                if self.gains():
                    return 1
        return 0
