"""How hot a search is at each step.

A search has one part or two: where something is cheap to know, the first part looks only at that.
Each part is four stretches of annealing, over which the temperature falls, and a descent. All are
counted in steps and looks, never in time: with these numbers and a seed a search can be repeated,
however they came about.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from overcoat.kernels.problem import cooling_table

__all__ = ["NUMBERS", "STRETCHES", "TO_REST", "Block", "Schedule", "default_steps"]

STRETCHES = 4  # of each part
NUMBERS = STRETCHES + 1  # that tell of a part: the steps of its stretches, and looks
TO_REST = 1 << 60  # looks: more than any descent takes
_BLOCKS = 100  # of each part: a temperature each
_HOT = 0.5  # divided by M: the first temperature, where the start costs 1
_LATER_HOT = 0.15  # of the second part, which goes on from a good place
_COOL = 4.907  # so many halvings later it is a thirtieth of that
_UL_HOT = 5.0  # where UL is minimised, which a few moves change by orders of magnitude
_LAST = 32  # without a clock one step of so many belongs to the second part
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
    n_parts : one or two
    """

    def __init__(self, n_items: int, scale: float, only: str, n_parts: int) -> None:
        self._unit, self._n_parts = scale / max(n_items, 1), n_parts
        self._hot = _UL_HOT if only == "ul" else _HOT

    def spread(self, steps: int) -> list[list[int]]:
        """Return how many steps each stretch has, evenly, and looks to the end, part by part."""
        last = steps - int(steps * (1 - 1 / _LAST)) if self._n_parts == 2 else 0
        each = [steps - last, last][: self._n_parts]
        ends = [[of * number // STRETCHES for number in range(STRETCHES + 1)] for of in each]
        return [[*(end - begin for begin, end in pairwise(one)), TO_REST] for one in ends]

    def blocks(self, part: int, stretch: int, begin: int, length: int) -> list[Block]:
        """Return the blocks of a stretch; the same on every machine."""
        n = _BLOCKS // STRETCHES
        falling = _falling(_LATER_HOT if part else self._hot)[stretch * n : (stretch + 1) * n]
        return [
            Block(begin + length * number // n, temperature * self._unit)
            for number, temperature in enumerate(falling, 1)
        ]


def _falling(hot: float) -> list[float]:
    """Return the temperatures of a part."""
    table, found = cooling_table().tolist(), []
    for number in range(_BLOCKS):
        power = int(_COOL * 256 * number / _BLOCKS)
        found.append(hot * (table[power & 255] / (1 << 31) / (1 << (power >> 8))))
    return found
