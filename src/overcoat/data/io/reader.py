"""Reading: which reader a source needs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import IO, Any, TypeGuard

from overcoat.context import QUIET, Stage
from overcoat.data.codes import Shape, in_shape
from overcoat.data.io.asked import Asked
from overcoat.data.io.basket import read_basket
from overcoat.data.io.delimited import Dialect
from overcoat.data.io.frames import home, read_frame, read_sparse
from overcoat.data.io.long import read_long
from overcoat.data.io.names import input_layout
from overcoat.data.io.parquet import list_column, read_parquet
from overcoat.data.io.problems import Problems
from overcoat.data.io.source import Source, open_source
from overcoat.data.layout import Layout
from overcoat.data.memory import require_memory
from overcoat.data.origin import Origin
from overcoat.data.transactions import Transactions, TransactionsBuilder
from overcoat.errors import DataError

__all__ = ["read", "read_as", "read_source"]

File = str | os.PathLike[str] | IO[Any]

_MEMORY = 5  # times the size of a file, to read it: measured on short labels, which take most
_HEAD = 1 << 15  # bytes looked at to tell a table from baskets
_ENOUGH = 20  # lines that are enough to tell


def read(
    source: Any,
    *,
    id: str | None = None,  # noqa: A002
    item: str | Sequence[str] | None = None,
    items: str | Sequence[str] | None = None,
    sep: str | None = None,
    encoding: str | None = None,
    header: bool = False,
    format: str | None = None,  # noqa: A002
    sheet: str | int | None = None,
    query: str | None = None,
    omop: bool = False,
    domain: str | None = None,
    system: str | None = None,
    pad: int | None = None,
    trim: bool = False,
    upper: bool = False,
    keep_order: bool = False,
    stage: Stage = QUIET,
) -> Transactions:
    r"""Read transactions from a file, a stream, a frame or Python objects.

    Parameters
    ----------
    source : a path, ``-`` (standard input), a binary stream; a pandas or polars frame, or anything
        that gives an Arrow stream (pyarrow's tables, DuckDB's relations); a SciPy sparse matrix; an
        iterable of collections of strings; or transactions, returned as they are
    id, item : the columns of a long table; several columns of items make it a wide one
    items : the list column; for a sparse matrix the labels of its columns
    sep : separator of the items of a basket or the fields of a table, where it cannot be told
    encoding : of a text, where it cannot be told
    header : the basket file starts with a header line
    format : basket, long or list, when the other arguments do not say it
    sheet : of a workbook, by its name or its number from 1; by default the first that is shown
    query : the statement whose rows are read from a database
    omop, domain : read an OMOP common data model: its conditions, or another domain
    system : of several codings of a FHIR resource, the one to take
    pad, trim, upper : bring codes into shape: zeros in front up to so many digits, no blanks
        around, capital letters
    keep_order : remember the order of the transactions in `Transactions.positions`
    stage : told how many bytes of a file are read, and of how many

    Raises
    ------
    DataError
        with file and line, when the source cannot be read as transactions

    Examples
    --------
    >>> read([{"bread", "milk"}, {"milk"}, {"milk", "bread"}])
    Transactions(3 transactions, 2 distinct, 2 items)
    >>> import io
    >>> list(read(io.BytesIO(b"milk bread\n\nmilk\n")))
    [((), 1), (('bread', 'milk'), 1), (('milk',), 1)]
    """
    asked = Asked(
        id=id,
        item=item,
        items=items,
        sep=sep,
        encoding=encoding,
        header=header,
        format=format,
        sheet=sheet,
        query=query,
        omop=omop,
        domain=domain,
        system=system,
        pad=pad,
        trim=trim,
        upper=upper,
    )
    return read_source(source, asked, keep_order=keep_order, stage=stage)


def read_source(
    source: Any, asked: Asked, *, keep_order: bool = False, stage: Stage = QUIET
) -> Transactions:
    """Read transactions as was asked; see `read`."""
    data = _read_unshaped(source, asked, keep_order=keep_order, stage=stage)
    return in_shape(data, Shape(asked.pad, asked.trim, asked.upper), stage=stage)


def _read_unshaped(source: Any, asked: Asked, *, keep_order: bool, stage: Stage) -> Transactions:
    if isinstance(source, Transactions):
        return source
    library = home(source)
    if library == "scipy":
        return read_sparse(source, asked.items, keep_order=keep_order)
    if asked.items is not None and not isinstance(asked.items, str):
        raise DataError("a sequence of items is for sparse matrices; here it is a column's name")
    if library is not None:
        return read_frame(source, asked, keep_order=keep_order)
    if not _is_file(source):
        if isinstance(source, (bytes, bytearray)):
            raise DataError(f"cannot read transactions from {type(source).__name__}")
        return Transactions.of(source, keep_order=keep_order)

    with open_source(source, stage) as opened:
        layout = input_layout(opened.suffix, asked, parquet=opened.parquet)
        _settle_line_ends(opened, layout)
        if layout.format == "basket" and not {"sep", "header", "format"} & {*asked.said}:
            _refuse_table(opened, layout)
        guess = asked.items is None and asked.format is None
        return _read_file(opened, layout, keep_order, guess=guess)


def read_as(
    source: File, layout: Layout, *, keep_order: bool = False, stage: Stage = QUIET
) -> Transactions:
    r"""Read a file of known layout, whatever its name; gzip is recognised by its first bytes.

    >>> import io
    >>> list(read_as(io.BytesIO(b"a;b\n"), Layout("basket", sep=";")))
    [(('a', 'b'), 1)]
    """
    with open_source(source, stage) as opened:
        _settle_line_ends(opened, layout)
        return _read_file(opened, layout, keep_order)


def _settle_line_ends(source: Source, layout: Layout) -> None:
    if not layout.parquet:
        source.settle_line_ends(quotes=layout.format == "long" or layout.sep is not None)


def _refuse_table(source: Source, layout: Layout) -> None:
    """Refuse a table that nobody called one: its ids would be published as items."""
    if layout.parquet:
        return
    text = source.head(_HEAD).decode("utf-8", "replace")
    text = text[: text.rfind("\n") + 1]  # whole lines
    for sep in dict.fromkeys([layout.sep or ",", *",;\t"]):
        rows = _rows(text, sep)
        if len(rows) >= _ENOUGH and _looks_like_table(rows):
            raise DataError(
                f"looks like a table with the columns {', '.join(rows[0])}: name those of the "
                "transaction and of the item (id and item, --id and --item); if each line is a "
                "basket, say what separates its items (sep, --sep)",
                source.name,
                1,
            )


def _rows(text: str, sep: str) -> list[list[str]]:
    """Return the fields of each record; where quotes are not in order, they are as any letter."""
    rows = []
    try:
        for _, fields in Dialect(sep, trim=False).records(text, 1, Problems()):
            rows.append(fields)
    except DataError:  # a stray quote, or the text ends inside quotes
        if len(rows) < _ENOUGH:
            return [line.split(sep) for line in text.split("\n")[:-1]]
    return rows


def _looks_like_table(rows: list[list[str]]) -> bool:
    """Say whether all rows are as long as the first, whose values, its columns, never recur."""
    header, *rest = rows
    if len(header) < 2 or any(len(row) != len(header) for row in rest):
        return False
    return set(header).isdisjoint(value for row in rest for value in row)


def _is_file(source: object) -> TypeGuard[File]:
    return isinstance(source, (str, os.PathLike)) or hasattr(source, "read")


def _read_file(
    source: Source, layout: Layout, keep_order: bool, guess: bool = False
) -> Transactions:
    problems = Problems(source.name)
    builder = TransactionsBuilder(keep_order=keep_order)
    if source.empty:
        raise DataError("the file is empty", source.name, 1)
    limit = source.stage.memory
    require_memory(_MEMORY * source.size, "reading it", source.name, limit=limit)
    if layout.parquet:
        with source.on_disk() as path:
            if guess and layout.format == "list":
                items = list_column(path, source.name)
                layout = Layout("list", parquet=True, items=items, suffix=layout.suffix)
            read_parquet(path, layout, builder, problems, source.tell)
    elif layout.format == "long":
        read_long(source.stream, layout, builder, problems, source.tell)
    else:
        read_basket(source.stream, layout, builder, problems, source.tell)
    problems.check()
    data = builder.build(
        origin=Origin(layout, source.digest()),
        stage=source.stage.still(source.size, source.size),
    )
    if not data.n_transactions:
        raise DataError("the file holds no transactions", source.name)
    return data
