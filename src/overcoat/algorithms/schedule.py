"""How hot a search is at each step, and how many steps there is time for.

The temperature is driven by the steps, never by the clock: five stretches, each with a number of
steps of its own, over which it falls. With these numbers and a seed a search can be repeated,
however they came about.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from overcoat.kernels.problem import cooling_table

__all__ = ["STRETCHES", "Block", "Clock", "Schedule", "default_steps"]

STRETCHES = 5
_BLOCKS = 200  # a temperature each
_HOT = 0.5  # divided by M: the first temperature, where the start costs 1
_COOL = 4.907  # so many halvings later it is a thirtieth of that
_LATER_HOT, _LATER_COOL = 0.1, 3.322  # of the last stretch, which goes on from a good place
_UL_HOT = 5.0  # where UL is minimised, which a few moves change by orders of magnitude
_LAST = 32  # one step of so many belongs to the last stretch
_LEAST_STEPS = 4000


def default_steps(n_items: int) -> int:
    """Return how many steps a chain takes unless a number is given.

    >>> default_steps(497), default_steps(8)
    (79520, 4000)
    """
    return min(max(160 * n_items, _LEAST_STEPS), 400_000)


class Block(NamedTuple):
    """Some steps at one temperature, up to the end."""

    end: int
    temperature: float


class Schedule:
    """The temperatures of a search.

    Parameters
    ----------
    n_items : of the data
    scale : what the start costs; 1 where the temperature is multiplied with what a chain costs now
    only : the loss that alone is minimised, if one is
    in_two_parts : whether all stretches but the last look only at what is cheap to know
    """

    def __init__(self, n_items: int, scale: float, only: str, *, in_two_parts: bool) -> None:
        self._unit, self._in_two_parts = scale / max(n_items, 1), in_two_parts
        self._hot = _UL_HOT if only == "ul" else _HOT

    def spread(self, steps: int) -> list[int]:
        """Return how many steps each stretch has, evenly."""
        last = steps - int(steps * (1 - 1 / _LAST)) if self._in_two_parts else 0
        n = STRETCHES - 1 if self._in_two_parts else STRETCHES
        ends = [(steps - last) * number // n for number in range(n + 1)]
        lengths = [end - begin for begin, end in pairwise(ends)]
        return [*lengths, last] if self._in_two_parts else lengths

    def blocks(self, stretch: int, begin: int, length: int) -> list[Block]:
        """Return the blocks of a stretch; the same on every machine."""
        found, temperatures = [], self._temperatures(stretch)
        for number, temperature in enumerate(temperatures, 1):
            end = begin + length * number // len(temperatures)
            found.append(Block(end, temperature * self._unit))
        return found

    def _temperatures(self, stretch: int) -> list[float]:
        if self._in_two_parts and stretch == STRETCHES - 1:
            return _falling(_LATER_HOT, _LATER_COOL, _BLOCKS // 2)
        n = _BLOCKS // 2 if self._in_two_parts else _BLOCKS
        each = n // (STRETCHES - 1 if self._in_two_parts else STRETCHES)
        return _falling(self._hot, _COOL, n)[stretch * each : (stretch + 1) * each]


def _falling(hot: float, bits: float, n: int) -> list[float]:
    """Return so many temperatures, each so much below the last that they fall by 2^-bits."""
    table, found = cooling_table().tolist(), []
    for number in range(n):
        power = int(bits * 256 * number / n)
        found.append(hot * (table[power & 255] / (1 << 31) / (1 << (power >> 8))))
    return found


class Clock:
    """How many steps there is time for.

    All stretches but the last take equally long. Each is planned when the one before is over: what
    a step takes changes as groups split and as it gets colder.

    Parameters
    ----------
    deadline : when all steps have to be over
    each : seconds that a step is likely to take, of the first stretches
    last : and of the last one
    in_two_parts : see `Schedule`
    """

    def __init__(self, deadline: float, each: float, last: float, *, in_two_parts: bool) -> None:
        self._deadline, self._each, self._last = deadline, each, last
        self._in_two_parts = in_two_parts
        self._began, self._steps = time.perf_counter(), 0

    def plan(self, stretch: int, lengths: Sequence[int]) -> int:
        """Return how many steps the next stretch has, given those of the ones that are over."""
        now = time.perf_counter()
        if lengths and lengths[-1]:
            self._each = (now - self._began) / lengths[-1]
        self._began = now
        left, n = max(self._deadline - now, 0.0), STRETCHES - stretch
        if not self._in_two_parts:
            return 1 + int(left / n / self._each)
        if n == 1:
            return int(left / self._last)
        # Of all steps that there will be one of so many is of the last stretch.
        later = sum(lengths) / (_LAST - 1) * self._last
        step = self._each + self._last / (_LAST - 1)
        return 1 + int(max(left - later, 0.0) / (n - 1) / step)
