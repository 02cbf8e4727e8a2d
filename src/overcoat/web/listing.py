"""Long lists that are looked at page by page: a small database, so that none is ever loaded whole.

SQLite comes with Python and is quick enough: of 100,000 items a page, or those that hold some
letters, are there in some milliseconds.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["PAGE", "Listing", "Part", "missing", "read_part", "write_listing"]

PAGE = 50
_MOST_PAGE = 500


@dataclass(frozen=True)
class Listing:
    """What a list is made of.

    Attributes
    ----------
    columns : their names; the first two are searched
    orders : the columns it can be sorted by, each with the direction that comes first
    """

    columns: tuple[str, ...]
    orders: tuple[tuple[str, str], ...]


# `place` says of an item what it is in, `number` which row that is, in the list of sets or groups.
LISTINGS = {
    "items": Listing(
        ("item", "name", "people", "place", "number"), (("people", "DESC"), ("item", "ASC"))
    ),
    "sets": Listing(
        ("name", "members", "people", "n_items", "number"), (("people", "DESC"), ("name", "ASC"))
    ),
    "groups": Listing(
        ("label", "members", "people", "n_items", "place", "number"),
        (("people", "DESC"), ("n_items", "DESC")),
    ),
    "counts": Listing(
        ("name", "note", "before", "after", "exact"), (("before", "DESC"), ("name", "ASC"))
    ),
}


@dataclass(frozen=True)
class Part:
    """A page of a list.

    Attributes
    ----------
    rows : as mappings from columns
    total : how many rows fit the search
    page, pages : which page it is, from 1, of how many
    search, order, size : what was asked for
    """

    rows: tuple[dict[str, Any], ...]
    total: int
    page: int
    pages: int
    search: str
    order: str
    size: int = PAGE


def write_listing(folder: Path, name: str, rows: Iterable[Sequence[Any]]) -> None:
    """Write a list into a folder; rows have the values of its columns, in their order."""
    listing = LISTINGS[name]
    with closing(sqlite3.connect(folder / f"{name}.sqlite")) as database:
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("PRAGMA synchronous = OFF")
        database.execute(f"CREATE TABLE rows ({', '.join(listing.columns)})")
        holes = ", ".join("?" * len(listing.columns))
        clean = (tuple(map(_storable, row)) for row in rows)
        database.executemany(f"INSERT INTO rows VALUES ({holes})", clean)
        for column in (*dict(listing.orders), *{"number"}.intersection(listing.columns)):
            database.execute(f"CREATE INDEX by_{column} ON rows ({column})")
        database.commit()


def _storable(value: Any) -> Any:
    if isinstance(value, str):  # SQLite ends a text at a NUL when it searches; halves it refuses
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    return value


def read_part(
    folder: Path,
    name: str,
    *,
    search: str = "",
    order: str = "",
    page: int = 1,
    size: int = PAGE,
    only: tuple[str, Any] | None = None,
) -> Part:
    """Return a page of a list.

    Parameters
    ----------
    search : letters that one of the first two columns holds, in any case
    order : a column to sort by; by default the first that there is
    page : from 1; what is beyond the last gives the last
    only : a column and the value it must have
    """
    listing = LISTINGS[name]
    column, direction = next((one for one in listing.orders if one[0] == order), listing.orders[0])
    size = min(max(size, 1), _MOST_PAGE)
    where, values = ["1"], []
    if search:
        first, second = listing.columns[:2]
        where.append(f"({first} LIKE ? ESCAPE '\\' OR {second} LIKE ? ESCAPE '\\')")
        values += [f"%{_escaped(search)}%"] * 2
    if only is not None and only[0] in listing.columns:
        where.append(f"{only[0]} IS ?")
        values.append(only[1])
    fits = f"FROM rows WHERE {' AND '.join(where)}"
    with closing(_opened(folder, name)) as database:
        database.row_factory = sqlite3.Row
        total = database.execute(f"SELECT count(*) {fits}", values).fetchone()[0]
        pages = max(1, -(-total // size))
        page = min(max(page, 1), pages)
        limits = [size, (page - 1) * size]
        rows = database.execute(
            f"SELECT * {fits} ORDER BY {column} {direction}, {listing.columns[0]} LIMIT ? OFFSET ?",
            [*values, *limits],
        )
        found = tuple(dict(row) for row in rows)
    return Part(found, total, page, pages, search, column, size)


def missing(folder: Path, name: str, values: Iterable[str]) -> list[str]:
    """Return those of some values that are not in the first column of a list, in their order."""
    first = LISTINGS[name].columns[0]
    with closing(_opened(folder, name)) as database:
        one = f"SELECT 1 FROM rows WHERE {first} = ?"
        return [x for x in dict.fromkeys(values) if not database.execute(one, [x]).fetchone()]


def _opened(folder: Path, name: str) -> sqlite3.Connection:
    address = f"{(folder / f'{name}.sqlite').as_uri()}?mode=ro&immutable=1"
    return sqlite3.connect(address, uri=True)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
