"""SQLite: by ADBC where that is installed, which is faster, else by the standard library.

SQLite has no types for columns, only for values: a column may hold 38, '038' and 38.0. Items are
read as they are stored if they are text or whole numbers, and refused otherwise. Ids are whole
numbers, or else all are read as text.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from overcoat.data.io.databases.address import Address
from overcoat.data.io.databases.arrow import adbc_batches, frame_of
from overcoat.data.io.databases.database import ROWS, Column, Database, MixedIdsError
from overcoat.data.io.databases.sql import literal, qualified, quoted
from overcoat.data.io.databases.target import Target
from overcoat.errors import DataError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["AdbcSqlite", "Sqlite", "open_sqlite"]

MAGIC = b"SQLite format 3\0"
# Stands before the kind of a value that cannot be an item. No text begins with it but on purpose.
_MARK = "\0"
_ORNAMENTS = re.compile(r"^[A-Z_]+: \[SQLite\] (?:Failed to prepare query: )?")
# No item is "", and not null: a driver that guesses a column's type by its first rows would take
# a column for numbers that starts with nulls.
_ITEM = (
    "CASE typeof({0}) WHEN 'text' THEN {0} WHEN 'integer' THEN CAST({0} AS TEXT) "
    "WHEN 'null' THEN '' ELSE char(0) || typeof({0}) END AS {0}"
)
# Real numbers with all their digits, so that different ones stay different.
_TEXT_ID = (
    "CASE typeof({0}) WHEN 'real' THEN printf('%!.17g', {0}) WHEN 'null' THEN '' "
    "WHEN 'blob' THEN char(0) || 'blob' ELSE CAST({0} AS TEXT) END AS {0}"
)


class _AnySqlite(Database):
    """What is the same however SQLite is spoken to."""

    def statement(
        self, query: str, columns: Sequence[Column], names: Sequence[str], *, text_ids: bool
    ) -> str:
        """Return the statement that reads some columns of a query."""
        first, *others = map(quoted, names)
        shapes = [_TEXT_ID.format(first) if text_ids else first]
        shapes += [_ITEM.format(name) for name in others]
        return f"SELECT {', '.join(shapes)} FROM ({query}\n)"

    def tables(self, schema: str | None) -> str:
        """Return the query for the names of all tables and views."""
        where = f"{quoted(schema)}." if schema else ""
        return f"SELECT name FROM {where}sqlite_master WHERE type IN ('table', 'view')"

    def sentence(self, doing: str, reason: str) -> str:
        """Return what went wrong, from what the driver says."""
        if "readonly database" in reason or "query_only" in reason:
            return "the query would change the database, which is only read; give a SELECT"
        if "database is locked" in reason:
            return "is locked by another program; try again when that is done"
        if "not a database" in reason or "malformed" in reason:
            return f"is no sound SQLite database ({reason})"
        if 'near ";": syntax error' in reason:
            return "the query must be one SELECT, with nothing after it"
        if "UTF" in reason:
            return f"{doing} failed: a text is not UTF-8; read it with CAST(… AS BLOB) to see it"
        return super().sentence(doing, _ORNAMENTS.sub("", reason))

    def checked(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return a batch; refuse what cannot be an id or an item."""
        import polars as pl

        for column in frame.iter_columns():
            if column.dtype != pl.String:
                continue
            wrong = column.filter(column.str.starts_with(_MARK))
            if len(wrong):
                kind = {"real": "REAL numbers", "blob": "BLOBs"}.get(wrong[0][1:], "strange values")
                raise DataError(
                    f"column {column.name!r} holds {kind}; items and ids are text or whole "
                    f"numbers: write CAST({column.name} AS TEXT) AS {column.name} in the query, "
                    "and see that the codes are as they should be (250.0 is not 250.00)",
                    self.name,
                )
        return frame


class AdbcSqlite(_AnySqlite):
    """By ADBC, to be read only."""

    title = "SQLite, by ADBC"

    def __init__(
        self, connection: Any, name: str, *, ours: bool, address: Address | None = None
    ) -> None:
        super().__init__(name, address)
        self._connection, self._ours = connection, ours
        self.errors = (*self.errors, connection.Error)

    def _columns(self, query: str) -> list[Column]:
        with self._connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM ({query}\n) LIMIT 0")
            return _columns(cursor.description)

    def _batches(self, statement: str, text_ids: bool) -> Iterator[Any]:
        options = {"adbc.sqlite.query.batch_rows": str(ROWS)}
        try:
            yield from adbc_batches(self._connection, statement, options)
        except OSError as error:
            if not text_ids and "Type mismatch in column 0" in str(error):
                raise MixedIdsError from None
            raise

    def _frame(self, batch: Any, text_ids: bool) -> pl.DataFrame:
        """Return a batch as a frame; refuse what cannot be an id or an item."""
        import polars as pl

        frame = frame_of(batch)
        if not text_ids and frame.dtypes[0] != pl.Int64:
            raise MixedIdsError
        return self.checked(frame)

    def _close(self) -> None:
        if self._ours:
            self._connection.close()


class Sqlite(_AnySqlite, Target):
    """By the standard library: slower to read, always there, and the one that writes."""

    title = "SQLite"
    types = ("INTEGER", "TEXT", "")
    begins = "BEGIN IMMEDIATE"  # and no other writer in between

    def __init__(
        self,
        connection: sqlite3.Connection,
        name: str,
        *,
        ours: bool,
        address: Address | None = None,
    ) -> None:
        super().__init__(name, address, threaded=ours)  # others may belong to one thread
        self._connection, self._ours = connection, ours
        self.errors = (*self.errors, sqlite3.Error, sqlite3.Warning)

    def _columns(self, query: str) -> list[Column]:
        cursor = self._cursor()
        cursor.execute(f"SELECT * FROM ({query}\n) LIMIT 0")
        return _columns(cursor.description)

    def _batches(self, statement: str, text_ids: bool) -> Iterator[pl.DataFrame]:
        import polars as pl

        cursor = self._cursor()
        cursor.execute(statement)
        names = [column[0] for column in cursor.description]
        kinds = [pl.String if text_ids else pl.Int64] + [pl.String] * (len(names) - 1)
        while rows := cursor.fetchmany(ROWS):
            values = list(zip(*rows, strict=True))
            if not text_ids and not all(type(one) is int or one is None for one in values[0]):
                raise MixedIdsError
            series = map(pl.Series, names, values, kinds)
            yield self.checked(pl.DataFrame(list(series)))

    def _cursor(self) -> sqlite3.Cursor:
        cursor = self._connection.cursor()
        cursor.row_factory = None  # whatever the owner of the connection likes
        return cursor

    def _interrupt(self) -> bool:
        if self._ours:
            self._connection.interrupt()
        return self._ours

    def _close(self) -> None:
        if self._ours:
            self._connection.close()

    def relation(self, table: Sequence[str]) -> str | None:
        """Return what a name stands for; SQLite does not tell capital letters from others."""
        schema = f"{quoted(table[0])}." if len(table) > 1 else ""
        name = literal(table[-1])
        found = self._connection.execute(
            f"SELECT type FROM {schema}sqlite_master WHERE name = {name} COLLATE NOCASE"
        ).fetchone()
        return None if found is None else str(found[0])

    def definitions(self) -> list[str]:
        """Return the texts of views."""
        views = "SELECT sql FROM sqlite_master WHERE type = 'view'"
        return [str(text) for (text,) in self._connection.execute(views).fetchall()]

    def run(self, statement: str) -> None:
        """Run a statement that returns nothing."""
        self._connection.execute(statement)

    def insert(self, table: Sequence[str], frame: pl.DataFrame) -> None:
        """Add rows to a table."""
        self._connection.executemany(
            f"INSERT INTO {qualified(table)} VALUES (?, ?)", frame.iter_rows()
        )


def open_sqlite(address: Address) -> Database:
    """Open a file to be read, and nothing else."""
    path = address.path
    check_file(path, address.name)
    uri = f"file:{quote(str(path.absolute()))}?mode=ro"
    with suppress(ImportError):
        import pyarrow as pa  # noqa: F401  which the driver needs to be of use
        from adbc_driver_sqlite import dbapi

        try:
            connection = dbapi.connect(uri, autocommit=True)
        except dbapi.Error as error:
            raise DataError(f"cannot be opened: {error}", address.name) from None
        return AdbcSqlite(connection, address.name, ours=True, address=address)
    plain = sqlite3.connect(uri, uri=True, check_same_thread=False)
    return Sqlite(plain, address.name, ours=True, address=address)


def write_sqlite(address: Address, path: Path) -> Sqlite:
    """Open a file to write a table into it."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
    if path != address.path:
        connection.execute("PRAGMA journal_mode = MEMORY")  # nobody wants half a new file
    return Sqlite(connection, address.name, ours=True, address=address)


def check_file(path: Path, name: str) -> None:
    """Raise unless a file is a SQLite database."""
    try:
        with path.open("rb") as file:
            head = file.read(len(MAGIC))
    except OSError as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise DataError(f"cannot be opened: {reason}", name) from None
    if head and head != MAGIC:
        raise DataError("is no SQLite database", name)


def _columns(description: Any) -> list[Column]:
    """Return the columns of a query in brackets, where SQLite calls a second "a" "a:1"."""
    names = [column[0] for column in description]
    twice = {name for name in names for other in names if other.startswith(f"{name}:")}
    return [
        column
        for name in names
        for column in [Column(name, "unknown")] * (2 if name in twice else 1)
    ]
