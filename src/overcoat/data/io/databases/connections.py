"""Connections and engines that a program has already: read from, never closed nor committed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from overcoat.data.io.databases.arrow import adbc_batches, columns_of, frame_of
from overcoat.data.io.databases.database import ROWS, Column, Database, MixedIdsError
from overcoat.data.io.databases.duck import Duck
from overcoat.data.io.databases.known import library_of
from overcoat.data.io.databases.postgresql import Postgres
from overcoat.data.io.databases.sqlite import AdbcSqlite, Sqlite
from overcoat.errors import DataError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["take_connection"]

_HERE = {"sqlite3": "SQLite", "duckdb": "DuckDB", "_duckdb": "DuckDB"}


def take_connection(connection: Any) -> Database:
    """Return the database that a connection or an engine speaks to."""
    library = library_of(connection)
    if library == "sqlalchemy":
        return _take_sqlalchemy(connection)
    name = f"the {_HERE.get(library, 'database')} connection"
    if isinstance(connection, sqlite3.Connection):
        return Sqlite(connection, name, ours=False)
    if library in ("duckdb", "_duckdb"):
        return Duck(connection, name, ours=False)
    if library.startswith("adbc_driver"):
        vendor = str(connection.adbc_get_info().get("vendor_name"))
        name = f"the {vendor} connection"
        if vendor == "SQLite":
            return AdbcSqlite(connection, name, ours=False)
        if vendor == "PostgreSQL":
            return Postgres(connection, name, ours=False)
        return _Adbc(connection, name)
    return _DbApi(connection, name)


def _take_sqlalchemy(given: Any) -> Database:
    """Return the database of SQLAlchemy's engine or connection: that of the driver below it."""
    if given.dialect.is_async:
        raise DataError("an asynchronous engine cannot be read from; give a plain one")
    # An engine lends a connection, which goes back when we are done; a connection stays as it is.
    lent = given.raw_connection() if hasattr(given, "raw_connection") else None
    below = (given.connection if lent is None else lent).driver_connection
    database = take_connection(below)
    if lent is not None:
        database.closes(lent.close)
    return database


class _Picking(Database):
    """A database whose way with SQL is not known: its queries are run as they are."""

    def __init__(self, connection: Any, name: str, *, threaded: bool) -> None:
        super().__init__(name, threaded=threaded)
        self._connection = connection
        self._picked: list[int] = []

    def statement(
        self, query: str, columns: Sequence[Column], names: Sequence[str], *, text_ids: bool
    ) -> str:
        """Return the query, and remember which of its columns to read."""
        known = [column.name for column in columns]
        self._picked = [known.index(name) for name in names]
        return query


class _Adbc(_Picking):
    """Any database that ADBC has a driver for."""

    title = "ADBC"

    def __init__(self, connection: Any, name: str) -> None:
        super().__init__(connection, name, threaded=True)
        self.errors = (*self.errors, connection.Error)

    def _columns(self, query: str) -> list[Column]:
        with self._connection.cursor() as cursor:
            cursor.execute(query)
            with cursor.fetch_record_batch() as reader:
                return columns_of(reader.schema)

    def _batches(self, statement: str, text_ids: bool) -> Iterator[Any]:
        return adbc_batches(self._connection, statement, {}, self._picked)

    def _frame(self, batch: Any, text_ids: bool) -> pl.DataFrame:
        """Return a batch as a frame."""
        import polars as pl

        frame = frame_of(batch)
        if text_ids:
            return frame.with_columns(frame.get_columns()[0].cast(pl.String))
        return frame

    def _interrupt(self) -> bool:
        try:
            self._connection.adbc_cancel()
        except self.errors:  # not all drivers know it
            return False
        return True


class _DbApi(_Picking):
    """Any driver that keeps to Python's DB-API: rows as tuples."""

    title = "a DB-API connection"
    errors = (Exception,)  # each driver has its own

    def __init__(self, connection: Any, name: str) -> None:
        super().__init__(connection, name, threaded=False)
        self._begun: tuple[str, Any, Any] | None = None  # a query, its cursor, its first rows

    def _run(self, query: str) -> tuple[Any, Any]:
        """Return a cursor and its first rows; a query that was begun is not begun again."""
        if self._begun is not None and self._begun[0] == query:
            _, cursor, rows = self._begun
            self._begun = None
            return cursor, rows
        cursor = self._cursor()
        cursor.execute(query)
        return cursor, cursor.fetchmany(ROWS)

    def _cursor(self) -> Any:
        if library_of(self._connection).startswith("psycopg") and not self._connection.autocommit:
            return self._connection.cursor("overcoat")  # on the server, which sends part by part
        return self._connection.cursor()

    def _columns(self, query: str) -> list[Column]:
        self._begun = (query, *self._run(query))
        description = self._begun[1].description or ()
        return [Column(str(column[0]), "unknown") for column in description]

    def _batches(self, statement: str, text_ids: bool) -> Iterator[pl.DataFrame]:
        import polars as pl

        cursor, rows = self._run(statement)
        try:
            names = [str(column[0]) for column in cursor.description]
            first, *others = self._picked
            while rows:
                ids = [row[first] for row in rows]
                if text_ids:
                    ids = [None if value is None else str(value) for value in ids]
                elif not all(value is None or _is_whole(value) for value in ids):
                    raise MixedIdsError
                kind = pl.String if text_ids else pl.Int64
                columns = [pl.Series(names[first], ids, dtype=kind, strict=True)]
                for number in others:
                    items = [self._item(row[number], names[number]) for row in rows]
                    columns.append(pl.Series(names[number], items, dtype=pl.String))
                yield pl.DataFrame(columns)
                rows = cursor.fetchmany(ROWS)
        finally:
            cursor.close()

    def _item(self, value: Any, column: str) -> str | None:
        if value is None or isinstance(value, str):
            return value
        if _is_whole(value):
            return str(value)
        raise DataError(
            f"column {column!r} holds {type(value).__name__}; items are text or whole numbers: "
            f"write CAST({column} AS VARCHAR) AS {column} in the query",
            self.name,
        )

    def _close(self) -> None:
        if self._begun is not None:
            self._begun[1].close()


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
