"""Checks of the numbers and choices that users give: one home, one wording."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any

from overcoat.errors import PolicyError

__all__ = ["check_choice", "check_count", "check_percent", "exact"]

_MOST = 1 << 62  # counts of people and of items are kept in 64 bits


def check_count(name: str, value: Any, least: int = 1) -> int:
    """Return a whole number of at least `least`; NumPy's will do, a bool will not.

    >>> check_count("k", 5)
    5
    >>> check_count("k", 0)
    Traceback (most recent call last):
    overcoat.errors.PolicyError: k must be a whole number of at least 1, not 0
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
        raise PolicyError(f"{name} must be a whole number of at least {least}, not {value!r}")
    if int(value) >= _MOST:
        raise PolicyError(f"{name} is larger than any number of people or items: {value}")
    return int(value)


def check_percent(name: str, value: Any) -> Fraction:
    """Return a percentage from 0 to 100, exactly as written: 0.1 is one tenth, not a double.

    >>> check_percent("s", 0.1)
    Fraction(1, 10)
    >>> check_percent("s", 200)
    Traceback (most recent call last):
    overcoat.errors.PolicyError: s is a percentage from 0 to 100, not 200
    """
    number = isinstance(value, (Real, Decimal)) and not isinstance(value, bool)
    if not number or not 0 <= value <= 100:  # nan is neither
        raise PolicyError(f"{name} is a percentage from 0 to 100, not {value!r}")
    return exact(value)


def exact(value: Any) -> Fraction:
    """Return a number exactly as it is written in decimal.

    >>> exact(33.3)
    Fraction(333, 10)
    """
    return Fraction(value) if isinstance(value, Rational) else Fraction(str(value))


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> Any:
    """Return a value that is one of some choices.

    >>> check_choice("rest", "apart", ("together", "intact"))
    Traceback (most recent call last):
    overcoat.errors.PolicyError: rest must be together or intact, not 'apart'
    """
    if value not in choices:
        *most, last = map(str, choices)
        listed = f"{', '.join(most)} or {last}" if most else last
        raise PolicyError(f"{name} must be {listed}, not {value!r}")
    return value
