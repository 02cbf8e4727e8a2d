"""The columns that a user names, against those that a table has."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from overcoat.data.io.delimited import Dialect
from overcoat.data.layout import Layout
from overcoat.errors import DataError

__all__ = [
    "ITEMS",
    "alike_columns",
    "listed_columns",
    "look_alikes",
    "named_items",
    "nearest",
    "settle_columns",
    "stem",
    "wanted_columns",
]

_SHOWN = 20  # columns listed in a message
_NUMBER = re.compile(r"[ _.-]?[0-9]+")
# What columns of items are usually called; what a name has from there on tells what they hold.
ITEMS = re.compile(
    "diag|icd|code|item|product|article|drug|atc|procedure|concept|page|event", re.IGNORECASE
)


def named_items(item: str | Sequence[str] | None) -> tuple[str | None, tuple[str, ...]]:
    """Return what a user calls the items: the name of a column, and several if it is a wide table.

    Whether a name with commas is that of one column, is settled by `settle_columns`.

    >>> named_items("code"), named_items("diag_1, diag_2"), named_items(["a", "b,c"])
    (('code', ()), ('diag_1, diag_2', ('diag_1', 'diag_2')), ('item', ('a', 'b,c')))
    """
    if item is None or (isinstance(item, str) and "," not in item):
        return item, ()
    if not isinstance(item, str):
        if not item:
            raise DataError("name at least one column of items")
        return "item", tuple(item)
    try:
        return item, tuple(Dialect(",", trim=True).split(item))
    except ValueError:  # quotes that are not in order: a name, perhaps
        return item, ()


def wanted_columns(layout: Layout) -> list[str]:
    """Return the columns of a table that are read: the id, if there is one, and the items.

    >>> wanted_columns(Layout("long", id="p", item="c"))
    ['p', 'c']
    """
    if layout.format == "list":
        return [layout.items]
    items = layout.columns or (layout.item,)
    return [*items] if layout.by_row else [layout.id, *items]


def settle_columns(
    layout: Layout, found: Sequence[str], file: str | None = None, line: int | None = None
) -> Layout:
    """Return the layout with the columns it has, or raise and say which it lacks.

    >>> wide = Layout("long", id="p", item="a,b", columns=("a", "b"))
    >>> settle_columns(wide, ["p", "a", "b"]).columns, settle_columns(wide, ["p", "a,b"]).columns
    (('a', 'b'), ())
    >>> settle_columns(Layout("long", id="P", item="code"), ["p", "code"])
    Traceback (most recent call last):
    overcoat.errors.DataError: no column 'P' (did you mean 'p'?); the columns are 'p', 'code'
    """
    if layout.columns and "," in layout.item:  # as one string: several names, or one
        if layout.item in found:
            if layout.by_row:
                raise DataError("a long table needs both columns: the id and the item", file, line)
            layout = replace(layout, columns=())
        else:
            layout = replace(layout, item="item")
    if len(layout.columns) == 1 and not layout.by_row:
        layout = replace(layout, item=layout.columns[0], columns=())
    if layout.columns and layout.id == layout.item:
        layout = replace(layout, item="value")  # of the release, which has both
    wanted = wanted_columns(layout)
    wrong = [_about(name, found) for name in dict.fromkeys(wanted) if found.count(name) != 1]
    if wrong:
        there = f"the columns are {listed_columns(found)}"
        raise DataError(f"{', '.join(wrong)}; {there}", file, line)
    for name in dict.fromkeys(layout.columns):
        if wanted.count(name) > 1:
            raise DataError(f"column {name!r} is named more than once", file, line)
    return layout


def _about(name: str, found: Sequence[str]) -> str:
    if name in found:
        return f"more than one column is called {name!r}"
    near = nearest(name, found)
    return f"no column {name!r}" + (f" (did you mean {near!r}?)" if near else "")


def nearest(name: str, found: Iterable[str]) -> str | None:
    """Return the one of some names that was probably meant.

    >>> nearest("Diagnose", ["diagnoses", "people"]), nearest("ward", ["diagnoses", "people"])
    ('diagnoses', None)
    """
    # A frame's columns may be called by what is no string.
    names = [other for other in found if isinstance(other, str)]
    folded = {" ".join(other.casefold().split()): other for other in reversed(names)}
    near = difflib.get_close_matches(" ".join(name.casefold().split()), folded, n=1, cutoff=0.8)
    return folded[near[0]] if near else None


def listed_columns(found: Sequence[str]) -> str:
    """Return the names of columns as a message lists them."""
    more = f", … and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return (", ".join(map(repr, found[:_SHOWN])) or "none") + more


def look_alikes(layout: Layout, found: Sequence[str]) -> list[str]:
    """Return what to say of columns that look like those of the items and were not named.

    >>> look_alikes(Layout("long", item="diag_1"), ["id", "diag_1", "diag_2", "n_diag"])
    ["column 'diag_2' looks like 'diag_1' and was not read; if it holds items too, name all: \
--item diag_1,diag_2"]
    """
    named = layout.columns or (layout.item,)
    if layout.format != "long":
        return []
    return [*_people(layout, named, found), *_alike(layout, named, found)]


def alike_columns(named: Sequence[str], found: Sequence[str]) -> list[str]:
    """Return the columns that are called as some of those named, but for numbers.

    Those with a number also where only the word for items is the same, as beside a first diagnosis.

    >>> alike_columns(["diag_1"], ["id", "diag_1", "diag_2", "n_diag"])
    ['diag_1', 'diag_2']
    >>> alike_columns(["Hauptdiagnose"], ["Hauptdiagnose", "Nebendiagnose 1", "Diagnosedatum 1"])
    ['Hauptdiagnose', 'Nebendiagnose 1']
    """
    stems = {stem(name) for name in named} - {""}
    words = {_item_word(name) for name in named} - {""}
    alike = [
        name
        for name in found
        if isinstance(name, str)
        and (stem(name) in stems or (_NUMBER.search(name) and _item_word(name) in words))
    ]
    return alike if any(_NUMBER.search(name) for name in alike) else []


def _people(layout: Layout, named: Sequence[str], found: Sequence[str]) -> list[str]:
    """Say which column tells people apart, where each row is taken for one person."""
    from overcoat.data.identifiers.columns import is_of_people

    people = [
        name
        for name in found
        if layout.by_row and isinstance(name, str) and name not in named and is_of_people(name)
    ]
    if not people:
        return []
    return [
        f"each row counts as one person; if column {people[0]!r} tells people apart, and some have "
        f"several rows, name it: --id {people[0]}"
    ]


def _alike(layout: Layout, named: Sequence[str], found: Sequence[str]) -> list[str]:
    alike = [name for name in alike_columns(named, found) if name != layout.id]
    others = [name for name in alike if name not in named]
    if not others:
        return []
    every = ",".join(dict.fromkeys([*alike, *named]))
    said = "columns {} look like {!r} and were not read; if they hold items too, name all: {}"
    if len(others) == 1:
        said = "column {} looks like {!r} and was not read; if it holds items too, name all: {}"
    return [said.format(listed_columns(others), named[0], f"--item {every}")]


def stem(name: str) -> str:
    """Return the name of a column without numbers.

    >>> stem("Diag_1"), stem("diag 22 code")
    ('diag', 'diag code')
    """
    return _NUMBER.sub("", name.casefold())


def _item_word(name: str) -> str:
    """Return what a name has from its word for items on, without numbers; empty if it has none."""
    found = ITEMS.search(name)
    return "" if found is None else re.sub(r"[\W\d_]", "", name[found.start() :].casefold())
