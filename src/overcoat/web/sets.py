"""Sets of items as people write them into a field: a line each, commas between the items."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["read_sets", "written_sets"]

_PIECE = re.compile(r'[^\S\n]*"((?:[^"]|"")*)"[^\S\n]*(?=[,;\n]|$)|[^,;\n]+|[,;]|\n')
_ODD = re.compile(r'[,;"\n]|^\s|\s$')


def read_sets(text: str) -> list[list[str]]:
    r"""Return the sets of a text; items with commas or semicolons stand in quotes.

    >>> read_sets('flu, gout\n\n"fever, high"; flu')
    [['flu', 'gout'], ['fever, high', 'flu']]
    """
    sets: list[list[str]] = [[]]
    for piece in _PIECE.finditer(text.replace("\r\n", "\n")):
        if piece[0] == "\n":
            sets.append([])
        elif piece[1] is not None:
            sets[-1].append(piece[1].replace('""', '"'))
        elif item := piece[0].strip(" \t\r,;"):
            sets[-1].append(item)
    return [items for items in sets if items]


def written_sets(sets: Iterable[Iterable[str]]) -> str:
    r"""Return sets as a text that `read_sets` takes.

    >>> written_sets([["fever, high", "flu"], ['3" nail']])
    '"fever, high", flu\n"3"" nail"'
    """
    return "\n".join(", ".join(map(_quoted, items)) for items in sets)


def _quoted(item: str) -> str:
    if not _ODD.search(item):
        return item
    return f'"{item.replace(chr(34), chr(34) * 2)}"'
