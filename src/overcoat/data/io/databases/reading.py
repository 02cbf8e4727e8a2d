"""Transactions from a database: the rows of a query, or a table."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from overcoat.context import QUIET, Stage
from overcoat.data.io.asked import Asked
from overcoat.data.io.columns import (
    listed_columns,
    look_alikes,
    settle_columns,
    wanted_columns,
)
from overcoat.data.io.databases.address import Address, parse_address, shown
from overcoat.data.io.databases.database import Column, Database, MixedIdsError
from overcoat.data.io.databases.opening import open_database
from overcoat.data.io.databases.sql import quoted, tidy
from overcoat.data.io.names import check_format, input_layout
from overcoat.data.io.pairs import Pairs
from overcoat.data.io.problems import Problems
from overcoat.data.layout import Format, Layout
from overcoat.data.memory import require_memory, require_polars
from overcoat.data.origin import Origin
from overcoat.data.transactions import Transactions, TransactionsBuilder
from overcoat.errors import DataError

__all__ = ["gather", "read_back", "read_database", "read_table", "refuse_options", "table_layout"]

_ROW = 24  # bytes that a row takes until all are read and gathered; measured
_LOOKED = 1 << 22  # rows between two looks at the memory


def read_database(
    source: Any, asked: Asked, *, keep_order: bool = False, stage: Stage = QUIET
) -> Transactions:
    """Read the rows of a query, or a whole table; see `overcoat.read`."""
    name = shown(source) if isinstance(source, str) else None
    refuse_options(asked, {"id", "item", "items", "format", "query"}, "a database", name)
    require_polars("reading a database", name)
    database, table = open_database(source, stage)
    with database:
        query = _query(database, table, asked)
        columns = database.columns(query, stage)
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
        return gather(database, query, columns, origin, keep_order=keep_order, stage=stage)


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
    columns = database.columns(query, stage)
    return gather(database, query, columns, Origin(layout), keep_order=keep_order, stage=stage)


def refuse_options(asked: Asked, fitting: set[str], what: str, name: str | None) -> None:
    """Refuse what was said that does not fit the source.

    >>> refuse_options(Asked(sheet="2"), {"id"}, "a database", "ward")
    Traceback (most recent call last):
    overcoat.errors.DataError: ward: sheet does not fit a database; leave it out
    """
    strange = [one for one in asked.said if one not in {*fitting, "pad", "trim", "upper"}]
    if asked.format == "basket" and "format" in fitting:
        raise DataError("a basket is text; say which columns hold the id and the item", name)
    if strange:
        them = "them" if len(strange) > 1 else "it"
        raise DataError(
            f"{' and '.join(strange)} do{'' if len(strange) > 1 else 'es'} not fit {what}; "
            f"leave {them} out",
            name,
        )


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


def gather(
    database: Database,
    query: str,
    columns: Sequence[Column],
    origin: Origin,
    *,
    keep_order: bool = False,
    stage: Stage = QUIET,
) -> Transactions:
    """Read the rows of a query into transactions."""
    layout = origin.layout
    assert layout is not None
    for text_ids in (False, True):
        builder = TransactionsBuilder(keep_order=keep_order)
        try:
            n_rows = _add_rows(
                database, query, columns, layout, builder, text_ids=text_ids, stage=stage
            )
        except MixedIdsError:
            continue
        if not n_rows:
            raise DataError("there are no rows", database.name)
        return builder.build(origin=origin, stage=stage.still(n_rows, n_rows))
    raise AssertionError("text ids are of one kind")


def _add_rows(
    database: Database,
    query: str,
    columns: Sequence[Column],
    layout: Layout,
    builder: TransactionsBuilder,
    *,
    text_ids: bool,
    stage: Stage,
) -> int:
    from overcoat.data.io.tables import add_lists, add_pairs

    problems = Problems(database.name)
    pairs = Pairs(builder)
    names = wanted_columns(layout)
    n_rows = looked = 0

    def tell() -> None:
        stage(n_rows, 0)

    # Closed here, not when nobody needs it any more: what is raised then would be lost.
    with closing(database.rows(query, columns, names, text_ids=text_ids, tell=tell)) as frames:
        for frame in frames:
            tell()
            if layout.format == "list":
                add_lists(builder, frame[layout.items], problems, n_rows + 1)
            else:
                add_pairs(pairs, frame, layout, problems, n_rows + 1)
            n_rows += len(frame)
            if n_rows - looked >= _LOOKED:
                looked = n_rows
                require_memory(_ROW * n_rows, "reading it", database.name, limit=stage.memory)
    problems.check()
    pairs.finish(tell)
    return n_rows
