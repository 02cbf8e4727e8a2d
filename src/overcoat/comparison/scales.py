"""Axes that tell the truth: where they start and end, what is written on them.

A linear axis starts at 0, so that what hardly differs looks alike, and reaches at least as far as
its measure has a meaning. A log axis is taken where values differ tenfold. Each has three ticks or
more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

__all__ = ["FOOT", "Across", "Scale", "across", "scale_of", "show_tick"]

_WIDE = 10  # values that differ so many times are shown on a log scale
_MANY = 7  # ticks of an axis, at most
_STEPS = (1.0, 2.0, 2.5, 5.0)
FOOT = 0.5  # decades that the way from 0 to the first tick of a symlog axis takes
_CROWDED = 0.09  # of the axis' length: labels that would touch


class Scale(NamedTuple):
    """The axis of a measure.

    Attributes
    ----------
    kind : linear, log, or symlog: a log scale with a 0 at its foot
    ticks : where it is labelled; the first and the last one are its ends
    """

    kind: str
    ticks: tuple[float, ...]

    def share(self, value: float) -> float:
        """Return how far up the axis a value is, from 0 to 1.

        >>> Scale("linear", (0.0, 5.0, 10.0)).share(2.5), Scale("log", (1.0, 10.0, 100.0)).share(10)
        (0.25, 0.5)
        """
        low, high = self.ticks[0], self.ticks[-1]
        if self.kind == "linear":
            return (value - low) / (high - low)
        foot = 0.0
        if self.kind == "symlog":
            low = self.ticks[1]
            foot = FOOT / (FOOT + math.log10(high / low))
            if value <= low:
                return foot * value / low
        return foot + (1 - foot) * math.log10(value / low) / math.log10(high / low)


def scale_of(
    values: Iterable[float], *, least: float = 0.0, log: bool = False, whole: bool = False
) -> Scale:
    """Return the axis for some values, none of them negative.

    Parameters
    ----------
    values : what is shown on it
    least : how far a linear axis reaches in any case
    log : whether a log scale may be taken; it is where values differ tenfold
    whole : whether values are whole numbers

    >>> scale_of([0.53, 0.57], least=0.1).ticks
    (0.0, 0.2, 0.4, 0.6)
    >>> scale_of([3, 40], log=True)
    Scale(kind='log', ticks=(2.0, 5.0, 10.0, 20.0, 50.0))
    >>> scale_of([0, 0.2, 90], log=True)
    Scale(kind='symlog', ticks=(0.0, 0.1, 1.0, 10.0, 100.0))
    """
    values = list(values)
    positive = [value for value in values if value > 0]
    if log and positive and max(positive) >= _WIDE * min(positive):
        zero = len(positive) < len(values)
        ticks = _log_ticks(min(positive), max(positive), _MANY - zero)
        return Scale("symlog", (0.0, *ticks)) if zero else Scale("log", ticks)
    return Scale("linear", _linear_ticks(max([least, *values]), whole=whole))


def _linear_ticks(high: float, *, whole: bool) -> tuple[float, ...]:
    """Return ticks from 0 to `high` or a little further."""
    high = max(high, 2.0 if whole else 1e-9)
    power = math.floor(math.log10(high)) - 1
    steps = (digit * 10.0**up for up in range(power, power + 3) for digit in _STEPS)
    step = next(
        step
        for step in steps
        if math.ceil(_near(high / step)) < _MANY - 1 and not (whole and step % 1)
    )
    return tuple(_near(number * step) for number in range(math.ceil(_near(high / step)) + 1))


def _log_ticks(low: float, high: float, most: int) -> tuple[float, ...]:
    """Return ticks around `low` and `high`: of 1, 2 and 5 where decades are few."""
    first, last = math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1
    for digits in ((1, 2, 5), (1, 3), (1,)):
        ticks = [_near(digit * 10.0**up) for up in range(first, last + 1) for digit in digits]
        found = _between(ticks, low, high)
        if len(found) <= most:
            return found
    every = math.ceil((last - first) / (most - 1))
    start = math.floor(math.log10(low))
    return tuple(10.0**up for up in range(start, math.ceil(math.log10(high)) + every, every))


def _between(ticks: Sequence[float], low: float, high: float) -> tuple[float, ...]:
    """Return the ticks from the last one below `low` to the first one above `high`."""
    below = max(tick for tick in ticks if tick <= low * (1 + 1e-9))
    above = min(tick for tick in ticks if tick >= high * (1 - 1e-9))
    return tuple(tick for tick in ticks if below <= tick <= above)


def _near(value: float) -> float:
    """Return a value without the dust of floating point."""
    return float(f"{value:.10g}")


def show_tick(value: float) -> str:
    """Return what is written at a tick.

    >>> [show_tick(value) for value in (0.0, 0.25, 40.0, 20000.0, 1e-5)]
    ['0', '0.25', '40', '20,000', '1e-05']
    """
    return f"{value:,.0f}" if value >= 1000 and value == int(value) else f"{value:g}"


class Across(NamedTuple):
    """The axis of what was swept.

    Attributes
    ----------
    kind : linear, log, steps (values are evenly spaced) or names (values are no numbers)
    positions : where each value is
    labels : what is written there; nothing where it would touch its neighbour
    """

    kind: str
    positions: dict[Any, float]
    labels: dict[Any, str]


def across(values: Iterable[Any]) -> Across:
    """Return the axis for the values of a sweep, each of which has a tick.

    >>> across([2, 5, 10, 25, 50]).kind, across([1, 2, 3]).kind, across([0, 0.5, 50]).kind
    ('log', 'linear', 'steps')
    >>> across(["strict", "loose"]).positions
    {'strict': 0.0, 'loose': 1.0}
    """
    values = list(dict.fromkeys(values))
    kind = "names"
    shares = {value: float(at) for at, value in enumerate(values)}
    if all(isinstance(value, (int, float)) for value in values):
        values.sort()
        shares = {value: float(at) for at, value in enumerate(values)}
        kind = "steps"
        if len(values) > 2:
            wide = values[0] > 0 and values[-1] >= _WIDE * values[0]
            straight = {value: (math.log10(value) if wide else float(value)) for value in values}
            gaps = [straight[b] - straight[a] for a, b in pairwise(values)]
            # Where two values would stand on one another, each gets the same room instead.
            if wide or min(gaps) >= 0.05 * sum(gaps):
                kind, shares = "log" if wide else "linear", straight
    positions = {value: float(value) for value in values} if kind in ("log", "linear") else shares
    return Across(kind, positions, _labels(shares))


def _labels(shares: dict[Any, float]) -> dict[Any, str]:
    labels = {
        value: show_tick(value) if isinstance(value, (int, float)) else str(value)
        for value in shares
    }
    if not all(isinstance(value, (int, float)) for value in shares):
        return labels
    length = max(shares.values()) - min(shares.values())
    last = None
    for value in reversed(shares):  # from the right, so that the largest value is labelled
        if last is not None and last - shares[value] < _CROWDED * length:
            labels[value] = ""
        else:
            last = shares[value]
    return labels
