"""How far a search has got, and how far it goes: by a plan, or by a clock that makes one."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from overcoat.algorithms.outcome import Cooling
from overcoat.algorithms.schedule import NUMBERS, STRETCHES, TO_REST, Schedule

__all__ = ["Clock", "Pace"]

_FIRST = 0.4  # of the time is for the first part
_ENOUGH = 20  # steps an item: with less, a descent reaches more in the same time
_ENOUGH_FIRST = 5  # in the first part, whose steps soon take less than at the beginning
_QUICKER = 0.85  # times what a step took in one stretch it is likely to take in the next
_PASSES = 4  # of all items, which a descent is likely to take
_RESERVE = 0.6  # of the time is kept for a descent, at most
_COOLED = 0.75  # of the time, a search with a plan and a clock may anneal
_CHUNK = 0.05  # seconds between two looks at the clock


class Clock:
    """How many steps there is time for.

    All stretches of a part have about as many steps. Each is planned when the one before is over:
    what a step takes changes as groups split and as it gets colder.

    Parameters
    ----------
    n_items : of the data
    deadline : when all has to be over
    speeds : seconds that a step of each part is likely to take
    """

    def __init__(self, n_items: int, deadline: float, speeds: Sequence[float]) -> None:
        self._n_items, self._deadline, self._speeds = n_items, deadline, speeds
        self._each = self._began = 0.0

    def share(self, part: int) -> tuple[float, float, float]:
        """Return when the annealing of a part should be over, when it must, and when the part."""
        now, n, last = time.perf_counter(), self._n_items, len(self._speeds) - 1
        left = max(self._deadline - now, 0.0)
        reserves = [min(_RESERVE * left, _PASSES * n * speed) for speed in self._speeds]
        end, worth = self._deadline, False
        if part < last:
            later = (1 - _FIRST) * left - reserves[last]
            worth = later > _ENOUGH * n * self._speeds[last]
            end = now + (_FIRST * left if worth else left - reserves[last])
        # Where the next part anneals, this one does, and what its descent leaves is no loss.
        reserve = reserves[part] / _PASSES if worth else reserves[part]
        annealed = end - min(reserve, _RESERVE * (end - now))
        self._each, self._began = self._speeds[part], now
        enough = _ENOUGH if part == last else _ENOUGH_FIRST
        if annealed - now < enough * n * self._each and not worth:
            annealed = now
        if part == last:
            return annealed, annealed, end
        late = (3 * end + self._deadline) / 4  # the next part can do with less
        return annealed, late, late

    def plan(self, stretch: int, before: int, annealed: float) -> int:
        """Return how many steps the next stretch has, given those of the one before."""
        now = time.perf_counter()
        if before:
            self._each = _QUICKER * (now - self._began) / before
        self._began = now
        each = self._each * sum(_QUICKER**later for later in range(STRETCHES - stretch))
        return int(max(annealed - now, 0.0) / each)


class Pace:
    """What a search has done, and what it is still to do.

    Parameters
    ----------
    schedule : which spreads steps evenly
    steps : how many are taken of those that are planned; None for all
    cooling : the plan, or the clock that makes one
    end : when the last descent has to be over; None where nobody waits

    Attributes
    ----------
    done, steps, of : how many steps are done, how many are taken, and how many are planned
    over : whether annealing is over
    timed : whether a clock, or somebody, ended something that no number of steps tells
    looks : how many the descent of this part may take
    until : when it has to be over
    """

    def __init__(
        self, schedule: Schedule, steps: int | None, cooling: Cooling | Clock, end: float | None
    ) -> None:
        self._given, self._end, self.until, self._numbers = cooling, end, end, list[list[int]]()
        self._plan: list[list[int]] = []
        if isinstance(cooling, int):
            self._plan = schedule.spread(cooling)
        elif not isinstance(cooling, Clock):
            places = range(0, len(cooling), NUMBERS)
            self._plan = [[*cooling[place : place + NUMBERS]] for place in places]
        self.of = sum(sum(numbers[:STRETCHES]) for numbers in self._plan)
        self.steps = steps if steps is not None else self.of if self._plan else TO_REST
        self.done, self.over, self.timed, self.looks = 0, False, False, TO_REST
        now = time.perf_counter()
        self._must = self._should = None if end is None else now + _COOLED * (end - now)
        self._size, self._looks, self._began = 1, 0, now

    def begin(self, part: int) -> None:
        """Begin with a part."""
        self._numbers.append([])
        if isinstance(self._given, Clock):
            self._should, self._must, self.until = self._given.share(part)
            self.looks = TO_REST
        else:
            self.looks = self._plan[part][STRETCHES]
            self.until = self._end if part == len(self._plan) - 1 else self._must

    def plan(self) -> int:
        """Return how many steps the next stretch of this part has."""
        numbers = self._numbers[-1]
        if not isinstance(self._given, Clock):
            length = self._plan[len(self._numbers) - 1][len(numbers)]
        elif self.over or self._should is None:
            length = 0
        else:
            length = self._given.plan(len(numbers), numbers[-1] if numbers else 0, self._should)
            self.of += length
        numbers.append(length)
        return length

    def chunk(self, left: int) -> int:
        """Return how many steps to take before the clock is looked at."""
        self._began = time.perf_counter()
        return min(left, self._size if self._must is not None else 1 << 10)

    def did(self, size: int, *, enough: bool) -> None:
        """Note that so many steps are done, and whether these are enough."""
        self.done += size
        if self.done == self.steps < self.of or enough:
            self.over = True
        if self._must is not None:
            now = time.perf_counter()
            self._size = _next_size(size, now - self._began)
            if now > self._must and not self.over:
                self.over = self.timed = True

    def descents(self) -> Iterator[int]:
        """Yield, again and again, up to how many looks to descend, until that is to end."""
        self._looks, size = 0, 1
        while True:
            began = time.perf_counter()
            self._looks = min(self._looks + size, self.looks)
            yield self._looks
            now = time.perf_counter()
            size = _next_size(size, now - began)
            if self.until is not None and now > self.until:
                self.end_descent()
            if self._looks >= self.looks:
                return

    def end_descent(self) -> None:
        """End the descent of this part where it is."""
        if self._looks < self.looks:
            self.timed, self.looks = True, self._looks

    def descended(self, looks: int) -> None:
        """Note how many looks the descent of this part took at most."""
        self._numbers[-1].append(min(looks, self.looks))

    @property
    def cooling(self) -> Cooling:
        """What repeats the search."""
        if not (self.timed or isinstance(self._given, Clock)):
            return self._given
        return tuple(
            number for numbers in self._numbers for number in (numbers + [0] * NUMBERS)[:NUMBERS]
        )


def _next_size(size: int, seconds: float) -> int:
    """Return how much to do before the next look at the clock, given what the last took."""
    return max(1, int(size * min(_CHUNK / max(seconds, 1e-9), 4)))
