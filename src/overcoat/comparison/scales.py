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

__all__ = ["Across", "Scale", "across", "scale_of", "show_tick"]

_WIDE = 10  # values that differ so many times are shown on a log scale
_MANY = 7  # ticks of an axis, at most
_STEPS = (1.0, 2.0, 2.5, 5.0)
_FOOT = 0.14  # of the axis' length: from 0 to where the log scale starts
_CROWDED = 0.09  # of the axis' length: labels that would touch


class Scale(NamedTuple):
    """The axis of a measure.

    Attributes
    ----------
    kind : linear, log, or symlog: a log scale with a 0 at its foot
    low, high : its ends; of symlog those of the log scale
    ticks : where it is labelled
    """

    kind: str
    low: float
    high: float
    ticks: tuple[float, ...]

    @property
    def foot(self) -> float:
        """Share of the axis between 0 and where a symlog scale becomes logarithmic."""
        return _FOOT if self.kind == "symlog" else 0.0

    @property
    def decades(self) -> float:
        """How many decades a log scale has."""
        return math.log10(self.high / self.low)

    def share(self, value: float) -> float:
        """Return how far up the axis a value is, from 0 to 1.

        >>> Scale("linear", 0, 10, (0, 5, 10)).share(2.5), Scale("log", 1, 100, ()).share(10)
        (0.25, 0.5)
        """
        if self.kind == "linear":
            return (value - self.low) / (self.high - self.low)
        if value <= self.low:
            return self.foot * value / self.low
        return self.foot + (1 - self.foot) * math.log10(value / self.low) / self.decades


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
    Scale(kind='log', low=2.0, high=50.0, ticks=(2.0, 5.0, 10.0, 20.0, 50.0))
    >>> scale_of([0, 0.2, 90], log=True)
    Scale(kind='symlog', low=0.2, high=100.0, ticks=(0.0, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0))
    """
    values = list(values)
    positive = [value for value in values if value > 0]
    if log and positive and max(positive) >= _WIDE * min(positive):
        low, high = _ends(min(positive), max(positive))
        zero = len(positive) < len(values)
        ticks = _log_ticks(low, high, _MANY - zero)
        return Scale("symlog" if zero else "log", low, high, (0.0,) * zero + ticks)
    ticks = _linear_ticks(max([least, *values]), whole=whole)
    return Scale("linear", ticks[0], ticks[-1], ticks)


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


def _ends(low: float, high: float) -> tuple[float, float]:
    """Return numbers of the digit 1, 2 or 5 around `low` and `high`."""
    found = _digits(low / 10, high * 10, (1, 2, 5))
    below = [value for value in found if value <= low * (1 + 1e-9)]
    above = [value for value in found if value >= high * (1 - 1e-9)]
    return below[-1], above[0]


def _log_ticks(low: float, high: float, most: int) -> tuple[float, ...]:
    """Return ticks from `low` to `high`: of 1, 2 and 5 where decades are few."""
    for digits in ((1, 2, 5), (1, 3), (1,)):
        ticks = _digits(low, high, digits)
        if len(ticks) <= most:
            break
    return ticks[:: math.ceil(len(ticks) / most)]


def _digits(low: float, high: float, digits: Sequence[int]) -> tuple[float, ...]:
    """Return all numbers from `low` to `high` that have one of these digits and no other."""
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    found = (_near(digit * 10.0**power) for power in powers for digit in digits)
    return tuple(value for value in found if low <= value <= high)


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
