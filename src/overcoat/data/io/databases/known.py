"""What is a database: an address, a connection, an engine. Imports nothing heavy."""

from __future__ import annotations

from typing import Any

from overcoat.data.io.databases.address import is_address
from overcoat.errors import DataError

__all__ = ["is_connection", "is_database", "library_of", "refuse_database_file"]

_SQLITE = b"SQLite format 3\0"
_DUCKDB = slice(8, 12), b"DUCK"  # where in a file it stands


def is_database(source: Any) -> bool:
    """Say whether a source is a database: an address, a connection or an engine.

    >>> is_database("duckdb:///ward.duckdb"), is_database("ward.csv")
    (True, False)
    """
    return is_address(source) or is_connection(source)


def is_connection(thing: object) -> bool:
    """Say whether something is a connection to a database, or an engine that gives one.

    >>> import sqlite3
    >>> is_connection(sqlite3.connect(":memory:")), is_connection([{"a", "b"}])
    (True, False)
    """
    if library_of(thing) == "sqlalchemy":
        return hasattr(thing, "dialect")
    return all(callable(getattr(thing, name, None)) for name in ("cursor", "commit", "close"))


def library_of(thing: object) -> str:
    """Return the library that the type of something comes from; "" for Python's own."""
    for parent in type(thing).__mro__:
        library = parent.__module__.partition(".")[0]
        if library not in ("builtins", "abc", "typing"):
            return library
    return ""


def refuse_database_file(head: bytes, name: str) -> None:
    """Refuse the file of a database, which its first bytes tell, and say how to name it."""
    place, magic = _DUCKDB
    kind = "sqlite" if head.startswith(_SQLITE) else "duckdb" if head[place] == magic else None
    if kind is not None:
        raise DataError(
            f"is a database; name it {kind}:///{name} and say what to read (--query 'SELECT …', or "
            "a table after a #)",
            name,
        )
