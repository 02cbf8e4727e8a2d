"""Which database a table is written to, and whether it can be."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path

from overcoat.data.io.databases.address import Address
from overcoat.data.io.databases.database import Tell
from overcoat.data.io.databases.duck import check_file as check_duckdb
from overcoat.data.io.databases.duck import write_duckdb
from overcoat.data.io.databases.fetching import Fetching
from overcoat.data.io.databases.postgresql import write_postgresql
from overcoat.data.io.databases.sqlite import check_file as check_sqlite
from overcoat.data.io.databases.sqlite import write_sqlite
from overcoat.data.io.databases.target import Target
from overcoat.data.layout import Layout
from overcoat.errors import DataError

__all__ = ["is_new", "open_target", "prepare", "try_out"]

_TRIED = Layout("long")


def is_new(address: Address) -> bool:
    """Say whether the database would be a file that is not there yet."""
    return address.kind != "postgresql" and not address.path.exists()


def open_target(address: Address, tell: Tell, path: Path | None = None) -> Target:
    """Open a database to write to it; `path` is where a file that is new is made."""

    def connect() -> Target:
        if address.kind == "postgresql":
            return write_postgresql(address)
        if address.kind == "sqlite":
            if path is None:
                check_sqlite(address.path, address.name)
            return write_sqlite(address, path or address.path)
        if path is None:
            check_duckdb(address.path, address.name)
        return write_duckdb(address, path or address.path)

    return Fetching(interrupt=lambda: False, close=lambda: None).wait(connect, tell)


def prepare(target: Target, table: Sequence[str], *, replace: bool) -> tuple[str, ...]:
    """Begin a transaction, and return the table that can be created in it, perhaps anew."""
    target.begin()
    table = target.resolve(table)
    found = target.relation(table)
    if found is not None:
        named = ".".join(table)
        if found != "table":
            raise DataError(f"{named} is a {found}; name a table of its own", target.name)
        if not replace:
            raise DataError(
                f"the table {named} exists; name another, or say that it is to be replaced "
                "(--replace, replace=True)",
                target.name,
            )
    return table


def try_out(target: Target, table: Sequence[str], *, replace: bool) -> None:
    """Find out whether a table could be written, and leave no trace."""
    *schema, _ = prepare(target, table, replace=replace)
    # Under a name of its own: to try it on the table itself would lock out those who read it.
    target.create((*schema, f"overcoat_{secrets.token_hex(8)}"), _TRIED)
    target.rollback()
