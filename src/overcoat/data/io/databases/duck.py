"""DuckDB: rows as Arrow batches, in and out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overcoat.data.io.databases.address import Address
from overcoat.data.io.databases.arrow import columns_of, frame_of
from overcoat.data.io.databases.database import ROWS, Column, driver, first_line
from overcoat.data.io.databases.sql import literal, qualified
from overcoat.data.io.databases.target import Target
from overcoat.errors import DataError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Duck", "open_duckdb", "write_duckdb"]

MAGIC = slice(8, 12), b"DUCK"  # where in a file it stands
_STAGED = "overcoat_rows"
_ORNAMENTS = re.compile(r"^(?:Catalog|Binder|Parser) Error: ")
# A table that is not there must not be taken from the variables of this program.
_OWN = {"python_enable_replacements": False}


class Duck(Target):
    """A DuckDB connection."""

    title = "DuckDB"
    has_lists = True

    def __init__(
        self, connection: Any, name: str, *, ours: bool, address: Address | None = None
    ) -> None:
        super().__init__(name, address)
        self._connection, self._ours = connection, ours
        self.errors = (*self.errors, driver("duckdb", "duckdb", "DuckDB").Error)

    def sentence(self, doing: str, reason: str) -> str:
        """Return what went wrong, from what the driver says."""
        return _sentence(doing, reason)

    def tables(self, schema: str | None) -> str:
        """Return the query for the names of all tables and views of a schema."""
        named = literal(schema) if schema else "current_schema()"
        return (
            "SELECT table_name AS name FROM information_schema.tables WHERE table_catalog = "
            f"current_catalog() AND lower(table_schema) = lower({named})"
        )

    def _reader(self, statement: str) -> Any:
        found = self._connection.sql(statement)
        to_reader = getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader
        return to_reader(ROWS)

    def _columns(self, query: str) -> list[Column]:
        statements = self._connection.extract_statements(query)
        if len(statements) != 1 or statements[0].type.name != "SELECT":
            raise DataError("the query must be one SELECT: a database is only read", self.name)
        # Asked for no rows: for types a query need not run. That renames a second "a", so:
        names = self._connection.sql(query).columns
        columns = columns_of(self._reader(f"SELECT * FROM ({query}\n) LIMIT 0").schema)
        return [replace(column, name=name) for column, name in zip(columns, names, strict=True)]

    def _batches(self, statement: str, text_ids: bool) -> Iterator[Any]:
        yield from self._reader(statement)

    def _frame(self, batch: Any, text_ids: bool) -> pl.DataFrame:
        """Return a batch as a frame."""
        return frame_of(batch)

    def _interrupt(self) -> bool:
        self._connection.interrupt()
        return True

    def _close(self) -> None:
        if self._ours:
            self._connection.close()

    def relation(self, table: Sequence[str]) -> str | None:
        """Return what a name stands for; DuckDB does not tell capital letters from others."""
        schema = literal(table[0]) if len(table) > 1 else "current_schema()"
        found = self._connection.execute(
            "SELECT table_type FROM information_schema.tables WHERE table_catalog = "
            f"current_catalog() AND lower(table_schema) = lower({schema}) AND lower(table_name) = "
            f"lower({literal(table[-1])})"
        ).fetchone()
        return None if found is None else "view" if found[0] == "VIEW" else "table"

    def definitions(self) -> list[str]:
        """Return the texts of views and macros."""
        found = self._connection.execute(
            "SELECT sql FROM duckdb_views() WHERE NOT internal UNION ALL SELECT macro_definition "
            "FROM duckdb_functions() WHERE NOT internal AND macro_definition IS NOT NULL"
        ).fetchall()
        return [str(text) for (text,) in found]

    def run(self, statement: str) -> None:
        """Run a statement that returns nothing."""
        self._connection.execute(statement)

    def insert(self, table: Sequence[str], frame: pl.DataFrame) -> None:
        """Add rows to a table."""
        self._connection.register(_STAGED, frame.to_arrow())
        try:
            self.run(f"INSERT INTO {qualified(table)} SELECT * FROM {_STAGED}")
        finally:
            self._connection.unregister(_STAGED)


def open_duckdb(address: Address) -> Duck:
    """Open a file to be read, and nothing else."""
    check_file(address.path, address.name)
    return _open(address, address.path, read_only=True)


def write_duckdb(address: Address, path: Path) -> Duck:
    """Open a file to write a table into it."""
    return _open(address, path, read_only=False)


def _open(address: Address, path: Path, *, read_only: bool) -> Duck:
    duckdb = driver("duckdb", "duckdb", "DuckDB", address.name)
    try:
        connection = duckdb.connect(str(path), read_only=read_only, config=_OWN)
    except (duckdb.Error, OSError) as error:
        raise DataError(_sentence("opening it", first_line(error)), address.name) from None
    return Duck(connection, address.name, ours=True, address=address)


def _sentence(doing: str, reason: str) -> str:
    if "read-only mode" in reason:
        return "the query would change the database, which is only read; give a SELECT"
    if "different configuration" in reason:
        return "is open in this program already; give that connection, or close it first"
    if "lock on file" in reason:
        return "is in use by another program; try again when that is done"
    return f"{doing} failed: {_ORNAMENTS.sub('', reason)}"


def check_file(path: Path, name: str) -> None:
    """Raise unless a file is a DuckDB database.

    DuckDB itself would look for an extension, on the web, that might know what the file is.
    """
    place, magic = MAGIC
    try:
        with path.open("rb") as file:
            head = file.read(place.stop)
    except OSError as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise DataError(f"cannot be opened: {reason}", name) from None
    if head[place] != magic:
        raise DataError("is no DuckDB database", name)
