"""Many things of which none of some combinations is chosen whole: independent sets of a hypergraph.

Finding the most is hard in general; this is an iterated local search (after D. Andrade, M. Resende,
R. Werneck, *Fast local search for the maximum independent set problem*, 2012). It is deterministic:
what it draws comes from a fixed seed. Sets of numbers are kept as the bits of an integer.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence

from overcoat.context import QUIET, Stage

__all__ = ["largest_without"]

_ROUNDS, _STARTS = 800, 3


def largest_without(
    n: int, edges: Iterable[frozenset[int]], weight: Sequence[int], *, stage: Stage = QUIET
) -> list[int]:
    """Return many numbers below n, so that no edge is among them whole; of equals the heaviest.

    >>> largest_without(4, [frozenset({0, 1}), frozenset({1, 2}), frozenset({3})], [1, 9, 1, 1])
    [0, 2]
    """
    search = _Search(n, edges, weight)
    best = 0
    for start in range(_STARTS):
        found = search.run(random.Random(start), stage)
        best = max(best, found, key=search.value)
    return list(_bits(best))


class _Search:
    """Edges by number: `beside` of two, the rest of larger ones in `others`."""

    def __init__(self, n: int, edges: Iterable[frozenset[int]], weight: Sequence[int]) -> None:
        self._weight = weight
        self._beside = [0] * n
        self._others: list[list[int]] = [[] for _ in range(n)]
        self._alive = (1 << n) - 1
        for edge in edges:
            mask = sum(1 << one for one in edge)
            for one in edge:
                if len(edge) == 1:
                    self._alive &= ~mask
                elif len(edge) == 2:
                    self._beside[one] |= mask & ~(1 << one)
                else:
                    self._others[one].append(mask & ~(1 << one))

    def value(self, chosen: int) -> tuple[int, int]:
        """Return how good a choice is: how many, then how heavy."""
        return chosen.bit_count(), sum(self._weight[one] for one in _bits(chosen))

    def run(self, rng: random.Random, stage: Stage) -> int:
        """Improve, shake, improve again."""
        chosen = best = self._improved(0)
        for _ in range(_ROUNDS):
            stage()
            left = list(_bits(self._alive & ~chosen))
            if not left:
                break
            shaken = chosen
            for _ in range(1 if rng.random() < 0.9 else rng.randint(2, 4)):
                shaken = self._forced(shaken, rng.choice(left))
            shaken = self._improved(shaken)
            if shaken.bit_count() >= chosen.bit_count() or rng.random() < 0.02:
                chosen = shaken
            best = max(best, chosen, key=self.value)
        return best

    def _forced(self, chosen: int, one: int) -> int:
        """Take one in, and out what cannot stay with it."""
        chosen = chosen & ~self._beside[one] | 1 << one
        for others in self._others[one]:
            if others & chosen == others:
                chosen &= ~(others & -others)
        return chosen

    def _fits(self, one: int, chosen: int) -> bool:
        return not self._beside[one] & chosen and not any(
            others & chosen == others for others in self._others[one]
        )

    def _improved(self, chosen: int) -> int:
        """Add what fits; put two in the place of one; until neither is possible."""
        while True:
            once = twice = 0  # beside one of the chosen, and beside two or more
            for one in _bits(chosen):
                twice |= once & self._beside[one]
                once |= self._beside[one]
            free = self._alive & ~chosen & ~once
            for one in sorted(_bits(free), key=lambda b: (self._beside[b].bit_count(), b)):
                if self._fits(one, chosen):
                    chosen |= 1 << one
                    once |= self._beside[one]
                    twice = -1  # no longer known
            if twice == -1:
                continue
            swapped = self._swapped(chosen, self._alive & ~chosen & ~once, once & ~twice)
            if swapped == chosen:
                return chosen
            chosen = swapped

    def _swapped(self, chosen: int, free: int, once: int) -> int:
        for out in _bits(chosen):
            without = chosen & ~(1 << out)
            near = self._alive & ~chosen & (free | once & self._beside[out])
            fitting = [one for one in _bits(near) if self._fits(one, without)]
            for place, one in enumerate(fitting):
                for other in fitting[place + 1 :]:
                    if self._fits(other, without | 1 << one):
                        return without | 1 << one | 1 << other
        return chosen


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
