"""PostgreSQL, by ADBC: rows as Arrow batches through COPY, in and out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from overcoat.data.io.databases.address import Address
from overcoat.data.io.databases.arrow import adbc_batches, columns_of, frame_of
from overcoat.data.io.databases.database import Column, driver, first_line
from overcoat.data.io.databases.sql import literal
from overcoat.data.io.databases.target import Target
from overcoat.errors import DataError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Postgres", "open_postgresql", "write_postgresql"]

_BATCH = {"adbc.postgresql.batch_size_hint_bytes": str(8 << 20)}
# All questions of one reader are about one moment, and none can change anything.
_READ = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_PATIENCE = "SET LOCAL lock_timeout = '30s'"
_ORNAMENTS = re.compile(r"^.*?\b(?:ERROR|FATAL|PANIC):\s*|^(?:[A-Z_]+: )?(?:\[libpq\] )?")
_GONE = (
    "server closed the connection",
    "terminating connection",
    "connection to client lost",
    "no connection to the server",
    "SSL connection has been closed",
    "Connection reset",
    "could not receive data from server",
)


class Postgres(Target):
    """A PostgreSQL connection of ADBC."""

    title = "PostgreSQL, by ADBC"
    types = ("BIGINT", "TEXT", "TEXT[]")
    begins = _PATIENCE  # the driver itself begins transactions

    def __init__(
        self, connection: Any, name: str, *, ours: bool, address: Address | None = None
    ) -> None:
        super().__init__(name, address)
        self._connection, self._ours = connection, ours
        self._cursor: Any = None
        self.errors = (*self.errors, connection.Error)

    def sentence(self, doing: str, reason: str) -> str:
        """Return what went wrong, from what the driver says."""
        reason = _ORNAMENTS.sub("", reason)
        if any(words in reason for words in _GONE):
            return f"the server went away in the middle ({reason})"
        if "read-only transaction" in reason:
            return f"the query would change the database, which is only read ({reason})"
        if "lock timeout" in reason:
            return "the table is in use by others; try again when they are done"
        return f"{doing} failed: {reason}"

    def tables(self, schema: str | None) -> str:
        """Return the query for the names of all tables and views of a schema."""
        named = f"= {literal(schema)}" if schema else "= ANY(current_schemas(false))"
        return (
            "SELECT relname::text AS name FROM pg_class JOIN pg_namespace AS n ON n.oid = "
            f"relnamespace WHERE nspname {named} AND relkind IN ('r', 'p', 'v', 'm', 'f')"
        )

    def recover(self) -> bool:
        """Begin another transaction, unless this one is somebody else's."""
        if self._ours:
            self._connection.rollback()
            self.run(_READ)
        return self._ours

    def _columns(self, query: str) -> list[Column]:
        statement = f"SELECT * FROM ({query}\n) AS rows_of_query LIMIT 0"
        with self._connection.cursor() as cursor:
            cursor.execute(statement)
            with cursor.fetch_record_batch() as reader:
                return columns_of(reader.schema)

    def _batches(self, statement: str, text_ids: bool) -> Iterator[Any]:
        return adbc_batches(self._connection, statement, _BATCH)

    def _frame(self, batch: Any, text_ids: bool) -> pl.DataFrame:
        """Return a batch as a frame."""
        return frame_of(batch)

    def _interrupt(self) -> bool:
        with suppress(*self.errors):  # nothing to cancel, or nobody to ask
            self._connection.adbc_cancel()
        return True

    def _close(self) -> None:
        if self._ours:
            self._connection.close()

    def resolve(self, table: Sequence[str]) -> tuple[str, ...]:
        """Return a table with its schema: where it would be created."""
        return (self._ask("SELECT current_schema()") or "public", *table)[-2:]

    def relation(self, table: Sequence[str]) -> str | None:
        """Return what a name stands for; raise if there is no such schema."""
        schema, name = map(literal, table)
        if not self._ask(f"SELECT count(*) FROM pg_namespace WHERE nspname = {schema}"):
            raise DataError(f"there is no schema {table[0]!r} in the database", self.name)
        kind = self._ask(
            "SELECT min(relkind::text) FROM pg_class JOIN pg_namespace AS n ON n.oid = "
            f"relnamespace WHERE nspname = {schema} AND relname = {name}"
        )
        return None if kind is None else "table" if kind in ("r", "p") else "view"

    def definitions(self) -> list[str]:
        """Return the texts of views and functions."""
        ours = "NOT IN ('pg_catalog', 'information_schema')"
        text = self._ask(
            "SELECT coalesce(string_agg(text, chr(10)), '') FROM (SELECT definition AS text FROM "
            f"pg_views WHERE schemaname {ours} UNION ALL SELECT definition FROM pg_matviews "
            "UNION ALL SELECT prosrc FROM pg_proc JOIN pg_namespace AS n ON n.oid = pronamespace "
            f"WHERE nspname {ours}) AS told"
        )
        return [str(text)]

    def _ask(self, query: str) -> Any:
        with self._connection.cursor() as cursor:
            cursor.execute(query)
            return cursor.fetchone()[0]

    def run(self, statement: str) -> None:
        """Run a statement that returns nothing."""
        if statement == "COMMIT":
            self._connection.commit()
        elif statement == "ROLLBACK":
            self._connection.rollback()
        else:
            with self._connection.cursor() as cursor:
                cursor.execute(statement)

    def insert(self, table: Sequence[str], frame: pl.DataFrame) -> None:
        """Add rows to a table."""
        schema, name = table
        with self._connection.cursor() as cursor:
            cursor.adbc_ingest(name, frame.to_arrow(), mode="append", db_schema_name=schema)


def open_postgresql(address: Address) -> Postgres:
    """Connect to be read, and nothing else."""
    database = write_postgresql(address)
    try:
        with database.sound("reading"):
            database.run(_READ)
    except BaseException:
        database.close()
        raise
    return database


def write_postgresql(address: Address) -> Postgres:
    """Connect to write a table."""
    what = "PostgreSQL"
    dbapi = driver("adbc_driver_postgresql.dbapi", "postgresql", what, address.name)
    try:
        connection = dbapi.connect(address.uri)
    except (dbapi.Error, OSError) as error:
        reason = address.hide(_ORNAMENTS.sub("", first_line(error)))
        raise DataError(f"cannot connect: {reason}", address.name) from None
    return Postgres(connection, address.name, ours=True, address=address)
