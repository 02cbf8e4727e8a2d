"""Which database a source means: an address, a connection, an engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overcoat.context import QUIET
from overcoat.data.io.databases.address import Address, Kind, is_address, parse_address
from overcoat.data.io.databases.connections import take_connection
from overcoat.data.io.databases.database import Database, Tell
from overcoat.data.io.databases.duck import open_duckdb
from overcoat.data.io.databases.fetching import Fetching
from overcoat.data.io.databases.postgresql import open_postgresql
from overcoat.data.io.databases.sqlite import open_sqlite

__all__ = ["open_database"]

_OPEN: dict[Kind, Callable[[Address], Database]] = {
    "sqlite": open_sqlite,
    "duckdb": open_duckdb,
    "postgresql": open_postgresql,
}


def open_database(source: Any, tell: Tell = QUIET) -> tuple[Database, tuple[str, ...]]:
    """Open a database to read it; return it and the table that its address names, if any."""
    if not is_address(source):
        return take_connection(source), ()
    address = parse_address(source)
    # To connect may take long, and must be possible to end.
    asking = Fetching(interrupt=lambda: False, close=lambda: None)
    return asking.wait(lambda: _OPEN[address.kind](address), tell), address.table
