"""Numbers and lists in words, as every text for people has them; and never a password."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = [
    "count_of",
    "error_scale",
    "known_words",
    "listed",
    "people",
    "percent",
    "share",
    "size_of",
    "without_passwords",
]

_SHOWN = 8
# From the colon after the user to the last @: whatever else a password may hold. With a single
# slash, an address was taken for the path of a file.
_PASSWORD = re.compile(r"\b([A-Za-z][\w+.-]+:/{1,2}[^\s:/@]*):\S*@")
_SECRETS = re.compile(r"(?i)([?&](?:ssl)?password=)[^\s&#]*")


def count_of(number: int, noun: str) -> str:
    """Return a number of things, in words.

    >>> count_of(1, "group"), count_of(2000, "item")
    ('1 group', '2,000 items')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def people(number: int) -> str:
    """Return a number of people, in words.

    >>> people(1), people(5)
    ('1 person', '5 people')
    """
    return "1 person" if number == 1 else f"{number:,} people"


def percent(number: float, of: float) -> str:
    """Return a share in percent, never rounded to nobody or to everybody.

    >>> percent(78, 1000), percent(1, 10**6), percent(0, 5), percent(999_999, 10**6)
    ('7.8 %', 'less than 0.1 %', '0 %', 'more than 99.9 %')
    """
    if not number or not of:
        return "0 %"
    value = 100 * number / of
    if value < 0.05:
        return "less than 0.1 %"
    if value >= 99.95 and number != of:
        return "more than 99.9 %"
    return "100 %" if number == of else f"{value:.1f} %"


def share(number: int, of: int, exact: bool = True) -> str:
    """Return a number of people and what share of all they are.

    >>> share(0, 10), share(1, 8), share(300, 4000, exact=False)
    ('nobody', '1 person (12.5 %)', 'about 300 people (7.5 %)')
    """
    if not number:
        return "nobody" if exact else "about nobody"
    return f"{'' if exact else 'about '}{people(number)} ({percent(number, of)})"


def known_words(known: int | str) -> str:
    """Say how much an attacker knows.

    >>> known_words(1), known_words(3), known_words("all")
    ('1 item known', '3 items known', 'the whole row known')
    """
    return "the whole row known" if known == "all" else f"{count_of(int(known), 'item')} known"


def listed(names: Sequence[str]) -> str:
    """Return the first few names, and how many more there are.

    >>> listed([str(n) for n in range(10)])
    '0, 1, 2, 3, 4, 5, 6, 7, … and 2 more'
    """
    more = f", … and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def error_scale(largest: float) -> list[str]:
    """Return how relative errors of counts are to be read, in sentences; large ones are explained.

    >>> error_scale(0.4)
    ['AvgRE: 0 is exact, 1 is off by as much as the true count']
    >>> len(error_scale(117))
    2
    """
    lines = ["AvgRE: 0 is exact, 1 is off by as much as the true count"]
    if largest > 5:
        lines.append(
            f"{largest:.3g} is not unusual: a few rare items in groups with common ones are "
            "estimated far too high and rule the average; the median shows what is usual"
        )
    return lines


def size_of(n_bytes: float) -> str:
    """Return a number of bytes, in words.

    >>> size_of(3 << 20), size_of(3 << 29)
    ('3 MiB', '1.5 GiB')
    """
    return f"{n_bytes / 2**30:.1f} GiB" if n_bytes >= 2**30 else f"{n_bytes / 2**20:.0f} MiB"


def without_passwords(text: str) -> str:
    """Return a text with the passwords of addresses in it left out, however these are written.

    >>> without_passwords("cannot reach postgresql://ann:a/b@c@db/ward?password=x")
    'cannot reach postgresql://ann:***@db/ward?password=***'
    """
    return _SECRETS.sub(r"\1***", _PASSWORD.sub(r"\1:***@", text))
