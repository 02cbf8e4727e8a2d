# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Annealing: a heat bath over all targets of an item.

Draws, weights and comparisons are whole numbers, or doubles that are only added, multiplied and
compared, one at a time: the same steps on every machine.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t

from overcoat.kernels.descending cimport Descending

from overcoat.kernels.problem import cooling_table
from overcoat.kernels.reference import nothing

cdef double REACH = 16  # a target so many temperatures above the cheapest is never taken


cdef class Annealing(Descending):
    """See `overcoat.kernels.moves.Annealing`."""

    def __init__(self, rules, limits, price, group_of, seed, tell=nothing):
        self._cooling, self._odds = cooling_table(), np.zeros(len(group_of) + 3, np.int64)
        Descending.__init__(self, rules, limits, price, group_of, seed, tell)

    def anneal(self, int64_t steps, double temperature, int jumps=0, bint loose=False,
               tell=nothing):
        """Take so many steps at a temperature: each time some item goes where chance sends it.

        Of 256 steps, `jumps` are moves of several items at once. Where it is `loose`, the limits
        count only for what is remembered.
        """
        cdef int64_t step
        cdef int32_t x, moved
        self._tell, self._loose, self._descends = tell, loose, False
        if self.n_items == 0:
            return
        with nogil:
            self.now = self.total()
            for step in range(steps):
                x = self._leader[self.draw() % <uint64_t> self.n_items]
                if x < 0:
                    continue
                if jumps and <int> (self.draw() & 255) < jumps:
                    self.begin()
                    self.jump(x)
                    moved = self.accept(temperature)
                elif self.is_bundle(x):
                    self.begin()
                    self.carry(x, self.somewhere(x))
                    moved = self.accept(temperature)
                else:
                    moved = self.heat_bath(x, temperature)
                if moved and self.now < self.best:
                    self.remember()

    # -- one step -------------------------------------------------------------------------

    cdef int heat_bath(self, int32_t x, double temperature) except -1 nogil:
        """Let an item go to one of its targets, or stay, by exp(-change / temperature)."""
        cdef:
            int32_t i, n
            int64_t exponent, total = 0
            uint64_t drawn
            double least = 0
        self.evaluate(x, REACH * temperature)
        n = self.n_targets
        if n == 0:
            return 0
        self._changes[n] = 0  # staying
        for i in range(n):
            least = min(least, self._changes[i])
        for i in range(n + 1):
            self._odds[i] = 0
            if self._changes[i] - least < REACH * temperature:
                exponent = <int64_t> ((self._changes[i] - least) * 256 / temperature)
                self._odds[i] = self._cooling[exponent & 255] >> (exponent >> 8)
            total += self._odds[i]
        while True:
            drawn = self.draw() % <uint64_t> total if total > 0 else 0
            i = 0
            while i < n and drawn >= <uint64_t> self._odds[i]:
                drawn -= <uint64_t> self._odds[i]
                i += 1
            if i == n or total == 0:
                return 0
            if self.attempt(x, i):
                return 1
            total -= self._odds[i]
            self._odds[i] = 0

    cdef int accept(self, double temperature) except -1 nogil:
        """Keep what was tried, with odds exp(-change / temperature), if it is allowed."""
        cdef double change = self.total() - self._before
        cdef int64_t exponent
        cdef bint good = self.n_went > 0
        if good and change > 0:
            good = change < REACH * temperature
            if good:
                exponent = <int64_t> (change * 256 / temperature)
                good = <int64_t> (self.draw() & ((<uint64_t> 1 << 31) - 1)) < (
                    self._cooling[exponent & 255] >> (exponent >> 8))
        if good and self.stands():
            self.now = self.total()
            self.n_moves += 1
            return 1
        self.go_back(0)
        return 0
