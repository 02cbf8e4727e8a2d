"""What each method looks like: one colour and one marker, the same in every figure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from zlib import crc32

__all__ = ["Look", "looks_of"]


class Look(NamedTuple):
    """A colour and a marker of matplotlib's."""

    colour: str
    marker: str


# Dark enough to write with (a contrast of at least 4.5 to white) and told apart by colour-blind
# people; the markers tell methods apart on a black-and-white copy, too.
_KNOWN = {
    "coat": Look("#0072B2", "o"),
    "apriori": Look("#C14E00", "s"),
    "pcta": Look("#007A53", "^"),
    "greedy": Look("#A8428A", "D"),
    "search": Look("#000000", "v"),
    "exact": Look("#7B1E2B", "P"),
}
_SPARE = (
    Look("#5A5A5A", "X"),
    Look("#6A3FC0", "<"),
    Look("#00707F", ">"),
    Look("#7A5C00", "p"),
    Look("#3B5B00", "h"),
    Look("#B3004B", "d"),
)


def looks_of(methods: Iterable[str]) -> dict[str, Look]:
    """Give each method its look.

    Methods that we do not know take a spare one by their name, so that a method does not change
    its look when another one joins, unless the two would look alike.

    >>> looks_of(["pcta", "coat"])["coat"]
    Look(colour='#0072B2', marker='o')
    >>> looks_of(["mine"]) == looks_of(["mine"])
    True
    """
    names = sorted(set(methods))
    looks = {name: _KNOWN[name] for name in names if name in _KNOWN}
    for name in names:
        if name not in looks:
            at = crc32(name.encode())
            turns = [_SPARE[(at + step) % len(_SPARE)] for step in range(len(_SPARE))]
            looks[name] = next((look for look in turns if look not in looks.values()), turns[0])
    return looks
