"""Transactions from a database: the rows of a query, or a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from overcoat.context import QUIET, Stage
from overcoat.data.io.asked import Asked
from overcoat.data.io.columns import (
    listed_columns,
    look_alikes,
    nearest,
    settle_columns,
    wanted_columns,
)
from overcoat.data.io.databases.address import Address, parse_address, parse_table, shown
from overcoat.data.io.databases.database import Column, Database, MixedIdsError
from overcoat.data.io.databases.opening import open_database
from overcoat.data.io.databases.sql import quoted, tidy
from overcoat.data.io.fitting import refuse_options
from overcoat.data.io.names import check_format, input_layout
from overcoat.data.io.pairs import Pairs
from overcoat.data.io.problems import Problems
from overcoat.data.layout import Format, Layout
from overcoat.data.memory import require_memory, require_polars
from overcoat.data.origin import Origin
from overcoat.data.spill import Spill
from overcoat.data.transactions import Transactions, TransactionsBuilder
from overcoat.errors import DataError
from overcoat.words import listed

__all__ = [
    "Rows",
    "gather",
    "read_back",
    "read_database",
    "read_table",
    "table_layout",
]

_ROW = 24  # bytes that a row takes until all are read and gathered; measured
# What SQLite, DuckDB and PostgreSQL say of a table that is not there.
_NO_TABLE = re.compile(
    r'no such table: (.+)|Table with name (.+?) does not exist|relation "(.+)" does not exist'
)
_LOOKED = 1 << 22  # rows between two looks at the memory


def read_database(
    source: Any,
    asked: Asked,
    spill: Spill | None = None,
    *,
    keep_order: bool = False,
    stage: Stage = QUIET,
) -> Transactions:
    """Read the rows of a query, or a whole table; see `overcoat.read`."""
    name = shown(source) if isinstance(source, str) else None
    refuse_options(asked, {"id", "item", "items", "format", "query"}, "a database", name)
    require_polars("reading a database", name)
    database, table = open_database(source, stage)
    with database:
        query = _query(database, table, asked)
        columns = _columns(database, query, stage)
        layout = _layout(columns, asked, database.name)
        what = f"table {'.'.join(table)}" if table else "a query"
        held = f"lists in {layout.items}"
        if layout.format == "long":
            held = f"transactions by {layout.id}, items in {', '.join(wanted_columns(layout)[1:])}"
        origin = Origin(
            layout,
            read_as=f"{what} ({database.title}), {held}",
            notes=tuple(look_alikes(layout, [column.name for column in columns])),
        )
        rows = [Rows(query, columns, layout)]
        return gather(database, rows, origin, spill, keep_order=keep_order, stage=stage)


def table_layout(like: Layout | None, to: str | None, address: Address) -> Layout:
    """Return the layout of a released table: pairs, unless lists are asked for.

    >>> from overcoat.data.io.databases.address import parse_address
    >>> table_layout(Layout("basket"), None, parse_address("sqlite:///ward.db#released")).format
    'long'
    """
    before = like or Layout("long")
    if check_format(to) not in (None, "long", "list"):
        raise DataError("a table is long, or list in DuckDB; baskets are text", address.name)
    if to == "list" and address.kind != "duckdb":
        raise DataError("of the databases here only DuckDB holds lists; use long", address.name)
    kind: Format = "list" if to == "list" else "long"
    return Layout(kind, id=before.id, item=before.item, items=before.items)


def read_table(
    source: str, like: Layout | None, to: str | None = None, *, stage: Stage = QUIET
) -> Transactions:
    """Read a released table; its columns are called as in the original."""
    layout = table_layout(like, to, parse_address(source))
    asked = Asked(id=layout.id, item=[layout.item])  # one column, whatever its name holds
    if layout.format == "list":
        asked = Asked(items=layout.items)
    return read_database(source, asked, stage=stage)


def read_back(
    database: Database,
    table: Sequence[str],
    layout: Layout,
    *,
    keep_order: bool = False,
    stage: Stage = QUIET,
) -> Transactions:
    """Read a table that was just written, over the same connection."""
    query = database.table(table)
    if keep_order and layout.format == "long":
        query += f" ORDER BY {quoted(layout.id)}"  # tables have no order, but running numbers do
    rows = [Rows(query, database.columns(query, stage), layout)]
    return gather(database, rows, Origin(layout), keep_order=keep_order, stage=stage)


def _query(database: Database, table: Sequence[str], asked: Asked) -> str:
    if asked.query is not None and table:
        raise DataError("give a query or a table after the #, not both", database.name)
    if table:
        return database.table(table)
    if asked.query is None:
        raise DataError(
            "say what to read: a query (query, --query 'SELECT …'), a table after a # "
            "(…#diagnoses), or omop (--omop)",
            database.name,
        )
    try:
        return tidy(asked.query)
    except DataError as error:
        raise DataError(error.problems[0].message, database.name) from None


def _columns(database: Database, query: str, stage: Stage) -> list[Column]:
    """Return the columns of a query; of a table that is not there, say which are."""
    try:
        return database.columns(query, stage)
    except DataError as error:
        found = _NO_TABLE.search(error.problems[0].message)
        if found is None:
            raise
        missing = next(filter(None, found.groups()))
        if query.lower().startswith(f"{missing.lower()} "):  # SQLite takes it for a table
            message = f"the query failed: it begins with {missing}, not with SELECT"
            raise DataError(message, database.name) from None
        try:
            parts = parse_table(missing)
            if not database.recover():
                raise error
            names = sorted(database.table_names(parts[0] if parts[1:] else None, stage))
        except DataError:
            raise error from None
        near = nearest(parts[-1], names)
        hint = f" (did you mean {near!r}?)" if near else ""
        there = f"the tables are {listed(names)}" if names else "there are none"
        raise DataError(f"there is no table {missing!r}{hint}; {there}", database.name) from None


def _layout(columns: Sequence[Column], asked: Asked, name: str) -> Layout:
    """Return how the rows are laid out; refuse columns that cannot be what they are said to be."""
    known = [column.name for column in columns]
    lists = [column.name for column in columns if column.holds == "list"]
    if asked.id is None and asked.items is None and (asked.item is not None or len(lists) != 1):
        raise DataError(
            "say which columns hold the transactions: id and item (--id, --item), one pair a row; "
            f"the columns are {listed_columns(known)}",
            name,
        )
    parsed = input_layout(None, asked, parquet=True)
    layout = replace(parsed, parquet=False)
    if layout.format == "list" and asked.items is None:
        layout = replace(layout, items=lists[0])
    layout = settle_columns(layout, known, name)
    wanted = wanted_columns(layout)
    if layout.format == "long":
        _check(wanted[1:], columns, {"text", "integer", "null", "unknown"}, name)
    else:
        _check(wanted, columns, {"list", "null"}, name)
    return layout


def _check(names: Sequence[str], columns: Sequence[Column], fit: set[str], file: str) -> None:
    """Refuse columns of items, or of lists of items, that hold something else."""
    problems = Problems(file)
    for column in columns:
        if column.name in names and column.holds not in fit:
            held, wanted = f"column {column.name!r} holds {column.told}", "lists of text"
            if "list" not in fit:
                cure = f"CAST({column.name} AS VARCHAR) AS {column.name}"
                wanted = (
                    f"text or whole numbers: write {cure} in a query, and see that the codes are "
                    "as they should be (250.0 is not 250.00)"
                )
            problems.add(f"{held}, not {wanted}")
    problems.check()


@dataclass(frozen=True)
class Rows:
    """Rows to read: a query, its columns, and what these hold."""

    query: str
    columns: Sequence[Column]
    layout: Layout


def gather(
    database: Database,
    rows: Sequence[Rows],
    origin: Origin,
    spill: Spill | None = None,
    *,
    keep_order: bool = False,
    stage: Stage = QUIET,
) -> Transactions:
    """Read rows, of one query or of several that are about the same people."""
    for text_ids in (False, True):
        builder = TransactionsBuilder(keep_order=keep_order, spill=spill)
        adding = _Adding(database, builder, text_ids, stage)
        try:
            for some in rows:
                adding.add(some)
            adding.pairs.finish(adding.tell)
        except MixedIdsError:
            continue
        if not adding.n_rows:
            raise DataError("there are no rows", database.name)
        done = adding.n_rows
        return adding.builder.build(origin=origin, stage=stage.still(done, done))
    raise AssertionError("text ids are of one kind")


class _Adding:
    """Transactions that rows are being added to."""

    def __init__(
        self, database: Database, builder: TransactionsBuilder, text_ids: bool, stage: Stage
    ) -> None:
        self._database, self._text_ids, self._stage = database, text_ids, stage
        self.builder, self.pairs = builder, Pairs(builder)
        self.n_rows = self._looked = 0

    def tell(self) -> None:
        self._stage(self.n_rows, 0)

    def add(self, rows: Rows) -> None:
        from overcoat.data.io.tables import add_lists, add_pairs

        layout, problems, first = rows.layout, Problems(self._database.name), self.n_rows
        frames = self._database.rows(
            rows.query,
            rows.columns,
            wanted_columns(layout),
            text_ids=self._text_ids,
            tell=self.tell,
        )
        # Closed here, not when nobody needs it any more: what is raised then would be lost.
        with closing(frames):
            for frame in frames:
                self.tell()
                at = self.n_rows - first + 1
                if layout.format == "list":
                    add_lists(self.pairs, frame[layout.items], problems, at)
                else:
                    add_pairs(self.pairs, frame, layout, problems, at)
                self.n_rows += len(frame)
                self._look()
        problems.check()

    def _look(self) -> None:
        """Look whether there is memory for what comes."""
        if self.builder.spill is None and self.n_rows - self._looked >= _LOOKED:
            self._looked = self.n_rows
            name, limit = self._database.name, self._stage.memory
            require_memory(_ROW * self.n_rows, "reading it", name, limit=limit)
