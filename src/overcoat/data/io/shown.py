"""Cells of a workbook as they are shown: 38 in the format 000 is 038, 250 in 0.00 is 250.00.

A code is what people see. Excel keeps it as a number, and the zeros in the format of the cell.
"""

from __future__ import annotations

import datetime as dt
import re
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Any

__all__ = ["shown", "unescaped"]

_SECTION = re.compile(r'(?:"[^"]*"|\\.|[^;"\\])*')
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|[_*].|\[[^\]]*\]'
    r"|(?P<digits>[0#?]+)|(?P<point>\.)|(?P<comma>,)|(?P<plain>[-/() :+$]|[^\w%@])|(?P<other>.)"
)
_CONDITION = re.compile(r"\[[<>=]")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")


def shown(value: Any, number_format: str | None = None) -> str:
    """Return a cell as text, as it is shown; empty where there is nothing.

    Dates are written year first, whatever their format is. Digits are not grouped.

    >>> shown(38, "000"), shown(250, "0.00"), shown(250.1), shown(41.0), shown("V45")
    ('038', '250.00', '250.1', '41', 'V45')
    >>> shown(123456789, "000-00-0000"), shown(7, '"P"000'), shown(0.5, "0%")
    ('123-45-6789', 'P007', '0.5')
    """
    match value:
        case None:
            return ""
        case str():
            return unescaped(value)
        case bool():
            return str(value).upper()
        case int() | float():
            return _number(value, number_format or "General")
        case dt.datetime() if value.time() == dt.time():
            return value.date().isoformat()
        case dt.datetime():
            return value.isoformat(sep=" ")
        case dt.date() | dt.time():
            return value.isoformat()
    return str(value)


def unescaped(text: str) -> str:
    r"""Return a text with the characters for which XML has no place: ``_x000D_`` is a return.

    >>> unescaped("a_x000D_b_x005F_x0041_")
    'a\rb_x0041_'
    """
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def _number(value: float, number_format: str) -> str:
    parts = _parts(number_format)
    if parts is None or value < 0:
        return _general(value)
    before, after, n_decimals, least = parts
    text = format(Decimal(repr(value)).quantize(Decimal(1).scaleb(-n_decimals), ROUND_HALF_UP), "f")
    digits, _, decimals = text.partition(".")
    while len(decimals) > least and decimals.endswith("0"):
        decimals = decimals[:-1]
    return _fill(before, digits.lstrip("0")) + _behind(after, decimals)


def _general(value: float) -> str:
    """Return a number as a cell without a format shows it, but for rounding."""
    whole = isinstance(value, int) or value.is_integer()
    return str(int(value)) if whole else f"{value:.15g}"


@lru_cache(maxsize=256)
def _parts(number_format: str) -> tuple[list[str], list[str], int, int] | None:
    """Return the places before and behind the point, how many decimals, and how many at least.

    None where the format is not one of plain digits: a date, a share, an exponent.
    """
    if _CONDITION.search(number_format):
        return None
    found = _SECTION.match(number_format)
    section = found[0] if found else ""
    parts: tuple[list[str], list[str]] = ([], [])  # a placeholder each, or a text in quotes
    behind = False
    for token in _TOKEN.finditer(section):
        literal = token["quoted"] or token["escaped"] or token["plain"]
        if token["other"] is not None:
            return None
        if token["point"] is not None:
            if behind:
                return None
            behind = True
        elif token["digits"] is not None:
            parts[behind].extend(token["digits"])
        elif literal:
            parts[behind].append(f'"{literal}')
    if not any(len(one) == 1 for one in parts[0] + parts[1]):
        return None
    before = parts[0]
    if not any(len(one) == 1 for one in before):
        before = [*before, "#"]
    decimals = [one for one in parts[1] if len(one) == 1]
    return before, parts[1] if behind else [], len(decimals), decimals.count("0")


def _fill(pattern: list[str], digits: str) -> str:
    """Put digits into the places of a pattern, from the right; what is left goes to the first."""
    first = next(place for place, one in enumerate(pattern) if len(one) == 1)
    filled, left = [], list(digits)
    for place in range(len(pattern) - 1, -1, -1):
        one = pattern[place]
        if len(one) > 1:
            filled.append(one[1:])
        elif place == first:
            filled.append("".join(left) or ("0" if one == "0" else ""))
        else:
            filled.append(left.pop() if left else "0" * (one == "0"))
    return "".join(reversed(filled))


def _behind(pattern: list[str], decimals: str) -> str:
    """Put decimals into the places of a pattern, from the left."""
    left = list(decimals)
    texts = [one[1:] if len(one) > 1 else (left.pop(0) if left else "") for one in pattern]
    point = "." if decimals else ""
    return point + "".join(texts)
