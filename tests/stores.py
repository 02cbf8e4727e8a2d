"""The databases that tests are repeated on, each with the few things a test does to them."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from overcoat.data.io.databases.sql import literal, qualified, quoted
from postgres import Server

__all__ = ["EVERY", "Duck", "Postgres", "Sqlite", "Store", "make_store"]

# A test gets its `store` from this list: `@pytest.mark.parametrize("store", EVERY, indirect=True)`.
EVERY = [
    "sqlite",
    "sqlite-plain",
    "duckdb",
    pytest.param("postgresql", marks=pytest.mark.xdist_group("postgresql")),
]


class Store:
    """A database with its address."""

    url: str
    text = "TEXT"

    def run(self, *statements: str) -> list[Any]:
        """Run statements in one transaction, and return the rows of the last one."""
        raise NotImplementedError

    def fill(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Create a table; whole numbers are numbers, the rest is text."""
        first = rows[0] if rows else [""] * len(columns)
        kinds = ["BIGINT" if isinstance(value, int) else self.text for value in first]
        shapes = ", ".join(f"{quoted(c)} {k}" for c, k in zip(columns, kinds, strict=True))
        name = qualified(table.split("."))
        lines = ", ".join(f"({', '.join(map(_written, row))})" for row in rows)
        insert = [f"INSERT INTO {name} VALUES {lines}"] if rows else []
        self.run(f"CREATE TABLE {name} ({shapes})", *insert)

    def tables(self) -> list[str]:
        """Return the names of all tables."""
        raise NotImplementedError

    def rows(self, table: str) -> list[Any]:
        """Return the rows of a table, in order."""
        return self.run(f"SELECT * FROM {quoted(table)} ORDER BY 1, 2")


class Sqlite(Store):
    def __init__(self, path: Path) -> None:
        self.path, self.url = path, f"sqlite:///{path}"
        self.run("SELECT 1")

    def run(self, *statements: str) -> list[Any]:
        connection = sqlite3.connect(self.path)
        try:
            rows = [connection.execute(statement).fetchall() for statement in statements]
            connection.commit()
        finally:
            connection.close()
        return rows[-1]

    def tables(self) -> list[str]:
        found = self.run("SELECT name FROM sqlite_master ORDER BY name")
        return [name for (name,) in found]


class Duck(Store):
    def __init__(self, path: Path) -> None:
        self.path, self.url = path, f"duckdb:///{path}"
        self.run("SELECT 1")

    def run(self, *statements: str) -> list[Any]:
        import duckdb

        with duckdb.connect(str(self.path)) as connection:
            for statement in statements:
                found = connection.execute(statement)
            return list(found.fetchall())

    def tables(self) -> list[str]:
        return [name for (name,) in self.run("SELECT table_name FROM duckdb_tables() ORDER BY 1")]


class Postgres(Store):
    def __init__(self, server: Server, schema: str) -> None:
        self.server, self.schema = server, schema
        server.run(f"CREATE SCHEMA {quoted(schema)}")
        self.url = server.url(schema=schema)

    def run(self, *statements: str) -> list[Any]:
        path = f"SET search_path = {quoted(self.schema)}"
        return self.server.run(path, *statements)

    def tables(self) -> list[str]:
        where = f"WHERE schemaname = {literal(self.schema)}"
        found = self.run(f"SELECT tablename::text FROM pg_tables {where} ORDER BY 1")
        return [name for (name,) in found]


def make_store(
    kind: str, folder: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Store]:
    """Yield a database of a kind, of its own for this test."""
    if kind == "postgresql":
        server = request.getfixturevalue("postgresql")
        store = Postgres(server, f"test_{uuid4().hex}")
        yield store
        server.run(f"DROP SCHEMA {quoted(store.schema)} CASCADE")
        return
    if kind == "duckdb":
        pytest.importorskip("duckdb")
        yield Duck(folder / "store.duckdb")
        return
    if kind == "sqlite-plain":
        monkeypatch.setitem(sys.modules, "adbc_driver_sqlite", None)  # as if it were not installed
    else:
        pytest.importorskip("adbc_driver_sqlite")
    yield Sqlite(folder / "store.db")


def _written(value: Any) -> str:
    if value is None:
        return "NULL"
    return literal(value) if isinstance(value, str) else str(value)
