"""Frames of pandas, polars and Arrow, in and out, and SciPy sparse matrices, in.

None of the libraries is imported before it is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from overcoat.data.io.asked import Asked
from overcoat.data.io.columns import (
    listed_columns,
    look_alikes,
    settle_columns,
    wanted_columns,
)
from overcoat.data.io.dialects import in_words
from overcoat.data.io.names import input_layout
from overcoat.data.io.pairs import Pairs
from overcoat.data.io.problems import NO_ID, NULL_ITEMS, Problems
from overcoat.data.layout import Layout
from overcoat.data.memory import require_memory, require_polars
from overcoat.data.origin import Origin
from overcoat.data.transactions import FrameLayout, Transactions, TransactionsBuilder
from overcoat.errors import DataError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["home", "read_frame", "read_sparse", "to_arrow", "to_lists", "to_pandas", "to_polars"]

_PAIR = 65  # bytes that an occurrence of an item takes while a frame is made; measured


def home(thing: object) -> str | None:
    """Return the library of a frame or a sparse matrix: pandas, polars, scipy or None.

    ``arrow`` is that of whatever gives an Arrow stream: pyarrow's tables, DuckDB's relations, ...

    >>> home([1, 2]) is None
    True
    """
    for parent in type(thing).__mro__:
        library, _, rest = parent.__module__.partition(".")
        if library in ("pandas", "polars") or (library == "scipy" and rest.startswith("sparse")):
            return library
        if library == "pyarrow":
            return "arrow"
    return "arrow" if hasattr(thing, "__arrow_c_stream__") else None


def read_frame(frame: Any, asked: Asked, *, keep_order: bool = False) -> Transactions:
    """Read a long frame (`id` and `item`) or one with a list column (`items`).

    >>> import polars as pl
    >>> frame = pl.DataFrame({"patient": [1, 1, 2], "code": ["038", "401", None]})
    >>> list(read_frame(frame, Asked(id="patient", item="code")))
    [((), 1), (('038', '401'), 1)]
    """
    layout = input_layout(None, asked, parquet=True)
    builder = TransactionsBuilder(keep_order=keep_order)
    read = _read_pandas if home(frame) == "pandas" else _read_polars
    layout, columns = read(frame, layout, asked.items is None, builder)
    notes = tuple(look_alikes(layout, columns))
    return builder.build(origin=Origin(layout, read_as=in_words(layout, len(columns)), notes=notes))


_Found = tuple[Layout, list[str]]  # the layout, settled; the columns there are


def _read_polars(frame: Any, layout: Layout, guess: bool, builder: TransactionsBuilder) -> _Found:
    require_polars("reading a frame")
    import polars as pl

    from overcoat.data.io.tables import add_lists, add_pairs, check_types, only_list_column

    if home(frame) == "arrow":
        try:
            frame = pl.from_arrow(frame)
        except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
            raise DataError(f"cannot read this Arrow object: {error}") from None
        if isinstance(frame, pl.Series) and isinstance(frame.dtype, pl.Struct):
            frame = frame.struct.unnest()  # a stream of batches; what it was called says nothing
    if isinstance(frame, pl.Series):
        frame = frame.to_frame(frame.name or layout.items)
    table = frame.lazy()
    schema = table.collect_schema()
    if layout.format == "list" and guess:
        layout = _with_items(layout, only_list_column(schema))
    layout = check_types(schema, layout)
    problems = Problems()
    found = table.select(wanted_columns(layout)).collect()
    pairs = Pairs(builder, by_row=layout.by_row)
    if layout.format == "long":
        add_pairs(pairs, found, layout, problems)
        problems.check()
        pairs.finish()
    else:
        add_lists(pairs, found[layout.items], problems)
    return layout, list(schema)


def _with_items(layout: Layout, items: str) -> Layout:
    return Layout(layout.format, parquet=layout.parquet, items=items)


def _read_pandas(frame: Any, layout: Layout, guess: bool, builder: TransactionsBuilder) -> _Found:
    # Not through polars, which needs pyarrow to take over a pandas frame.
    if frame.ndim == 1:
        frame = frame.to_frame(frame.name or layout.items)
    if layout.format == "list" and guess:
        layout = _with_items(layout, _only_pandas_list_column(frame))
    problems = Problems()
    layout = settle_columns(layout, list(frame.columns))
    if layout.format == "long":
        labels: list[list[str | None]] = []
        for name in layout.columns or (layout.item,):
            items = frame[name]
            kind = getattr(_categories(items).dtype, "kind", "O")
            # An empty column of a wide table comes as one of numbers that are missing.
            if kind not in "OUTiu" and not (kind == "f" and items.isna().all()):
                raise DataError(
                    f"column {name!r} holds {items.dtype}; items are strings, so cast it to "
                    "string first"
                )
            labels.append(
                [
                    None if label is None else _label(label, row, problems)
                    for row, label in enumerate(_values(items), 1)
                ]
            )
        ids = [] if layout.by_row else _values(frame[layout.id])
        for row, value in enumerate(ids, 1):
            if value is None or value == "":
                missing = f"row {row}: the id is missing"
                problems.add(missing, many=NO_ID, what=f"row {row}")
        problems.check()
        pairs = Pairs(builder, by_row=layout.by_row)
        try:
            pairs.add(ids, *labels)
            pairs.finish()
        except TypeError:  # not hashable
            raise DataError(
                f"column {layout.id!r} does not hold ids; an id is a number or a string"
            ) from None
    else:
        for row, values in enumerate(_values(frame[layout.items]), 1):
            if isinstance(values, (str, bytes)) or not isinstance(values, Iterable | None):
                wrong = f"row {row}: {values!r} is not a list of items"
                problems.add(wrong, many="rows are not lists of items", what=f"row {row}")
                continue
            members = [_label(value, row, problems) for value in (() if values is None else values)]
            if "" in members:
                empty = f"row {row}: a null or an empty string in the list"
                problems.add(empty, many=NULL_ITEMS, what=f"row {row}")
                continue
            builder.add(map(builder.code, members))
        problems.check()
    return layout, list(frame.columns)


def _only_pandas_list_column(frame: Any) -> str:
    def holds_lists(column: Any) -> bool:
        some = column.dropna()
        return len(some) > 0 and all(
            isinstance(value, Iterable) and not isinstance(value, (str, bytes)) for value in some
        )

    columns = list(frame.columns)
    found = [name for name in columns if columns.count(name) == 1 and holds_lists(frame[name])]
    if len(found) == 1:
        return str(found[0])
    raise DataError(
        "say which columns hold the transactions: id and item (one pair a row), or items "
        f"(lists); the columns are {listed_columns(columns)}"
    )


def _categories(column: Any) -> Any:
    return column.cat.categories if hasattr(column, "cat") else column


def _values(column: Any) -> list[Any]:
    missing = column.isna().tolist()
    return [None if gone else value for value, gone in zip(column.tolist(), missing, strict=True)]


def _label(value: Any, row: int, problems: Problems) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(value)
    if value is not None and value == value:  # noqa: PLR0124  NaN differs from itself
        problems.add(
            f"row {row}: item {value!r} is not a string; cast it to string first",
            many="items are not strings; cast them to strings first",
            what=f"{value!r} in row {row}",
        )
        return "?"  # never seen: the problem is raised before anything is built
    return ""


def read_sparse(
    matrix: Any, items: Sequence[str] | None = None, *, keep_order: bool = False
) -> Transactions:
    """Read a SciPy sparse matrix: a row a transaction, a column an item, non-zero is present.

    >>> from scipy.sparse import csr_array
    >>> list(read_sparse(csr_array([[1, 0], [0, 0], [1, 2]]), items=["a", "b"]))
    [((), 1), (('a',), 1), (('a', 'b'), 1)]
    """
    if matrix.ndim != 2:
        raise DataError(f"a sparse matrix has rows and columns; this has {matrix.ndim} dimensions")
    labels = [str(column) for column in range(matrix.shape[1])] if items is None else list(items)
    if isinstance(items, str) or len(labels) != matrix.shape[1]:
        raise DataError(
            f"items must have one label for each of the {matrix.shape[1]} columns, not {items!r}"
            if isinstance(items, str)
            else f"{len(labels)} labels for {matrix.shape[1]} columns"
        )
    if len(set(labels)) != len(labels):
        twice = sorted({label for label in labels if labels.count(label) > 1})
        raise DataError(f"labels that more than one column has: {', '.join(map(repr, twice))}")
    builder = TransactionsBuilder(keep_order=keep_order)
    for label in labels:
        builder.code(label)
    rows = matrix.tocsr(copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    builder.add_rows(rows.indptr.astype(np.int64), rows.indices.astype(np.int64))
    return builder.build()


# -- out --------------------------------------------------------------------------------------


def to_polars(transactions: Transactions, layout: FrameLayout | None = None) -> pl.DataFrame:
    """Return a polars frame; see `Transactions.to_polars`."""
    require_polars("a frame")
    from overcoat.data.io.tables import frame_of

    columns = _columns(transactions, layout)
    return frame_of(transactions, [_every_row(transactions)], columns)


def to_pandas(transactions: Transactions, layout: FrameLayout | None = None) -> Any:
    """Return a pandas frame; see `Transactions.to_pandas`."""
    pandas = _library("pandas", "a pandas frame")
    columns = _columns(transactions, layout)
    if columns.format == "list":
        return pandas.DataFrame(
            {columns.items: pandas.Series(to_lists(transactions), dtype=object)}
        )
    from overcoat.data.io.long import expand

    who, what = expand(transactions, _every_row(transactions))
    labels = np.array([*transactions.vocabulary, None], object)  # the last for an empty transaction
    return pandas.DataFrame({columns.id: who + 1, columns.item: labels[what]})


def to_arrow(transactions: Transactions, layout: FrameLayout | None = None) -> Any:
    """Return a pyarrow table; see `Transactions.to_arrow`."""
    _library("pyarrow", "an Arrow table")
    return to_polars(transactions, layout).to_arrow()


def to_lists(transactions: Transactions) -> list[list[str]]:
    """Return the items of each transaction; see `Transactions.to_lists`."""
    _require_memory(transactions)
    return [list(row) for row, count in transactions for _ in range(count)]


def _columns(transactions: Transactions, layout: str | None) -> Layout:
    """Return how a frame is laid out: like the input, unless it is said how."""
    before = transactions.layout or Layout("list")
    if layout is None:
        layout = "long" if before.format == "long" else "list"
    for known in get_args(FrameLayout):
        if layout == known:
            return replace(before, format=known)
    raise DataError(f"a frame is laid out as {' or '.join(get_args(FrameLayout))}, not {layout!r}")


def _every_row(transactions: Transactions) -> Any:
    """Return the distinct row of each transaction, in canonical order."""
    _require_memory(transactions)
    return np.repeat(np.arange(transactions.n_distinct), transactions.counts)


def _require_memory(transactions: Transactions) -> None:
    pairs = transactions.n_transactions + int(transactions.supports.sum())
    require_memory(_PAIR * pairs, f"a frame of {transactions.n_transactions:,} transactions")


def _library(name: str, what: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise DataError(f"{what} needs {name}: pip install {name}") from None
