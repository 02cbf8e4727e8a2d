"""Columns of polars tables: what Parquet files and frames have in common.

Needs polars, so it is imported where a table has been seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overcoat.data.io.columns import listed_columns, settle_columns, wanted_columns
from overcoat.data.io.long import expand
from overcoat.data.io.pairs import Pairs
from overcoat.data.io.problems import NO_ID, NULL_ITEMS, Problems
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError

__all__ = [
    "Labels",
    "add_lists",
    "add_pairs",
    "check_types",
    "frame_of",
    "frames_of",
    "only_list_column",
]

Schema = Mapping[str, pl.DataType]

_LISTS = 1 << 14  # made at once: they take much memory on the way


def only_list_column(schema: Schema, file: str | None = None) -> str:
    """Return the one column that holds lists of strings, or raise.

    >>> only_list_column({"name": pl.String(), "items": pl.List(pl.String)})
    'items'
    """
    found = [name for name, dtype in schema.items() if dtype in (pl.List(pl.String), pl.List)]
    found = [name for name in found if _is_label(schema[name].inner)]  # type: ignore[attr-defined]
    if len(found) == 1:
        return found[0]
    raise DataError(
        "say which columns hold the transactions: id and item (one pair a row), or items "
        f"(lists); the columns are {listed_columns(list(schema))}",
        file,
    )


def check_types(schema: Schema, layout: Layout, file: str | None = None) -> Layout:
    """Return the layout with its columns settled; raise unless they are what it says.

    >>> layout = Layout("long", id="p", item="a,b", columns=("a", "b"))
    >>> check_types(dict.fromkeys("pab", pl.String()), layout).columns
    ('a', 'b')
    """
    layout = settle_columns(layout, list(schema), file)
    names = wanted_columns(layout)
    if layout.format == "long" and not layout.by_row and schema[names.pop(0)].is_nested():
        raise DataError(f"column {layout.id!r} holds {schema[layout.id]}, not ids", file)
    for name in names:
        dtype = schema[name]
        if layout.format == "list":
            if not isinstance(dtype, (pl.List, pl.Array)):
                raise DataError(f"column {name!r} holds {dtype}, not lists", file)
            dtype = dtype.inner  # type: ignore[assignment]
        if not (_is_label(dtype) or dtype.is_integer() or dtype == pl.Null):
            raise DataError(
                f"column {name!r} holds {dtype}; items are strings, so cast it to string first",
                file,
            )
    return layout


def _is_label(dtype: Any) -> bool:
    return dtype in (pl.String, pl.Categorical, pl.Enum)


class Labels:
    """Codes of labels in columns: each label is looked up once, however many columns there are.

    Parameters
    ----------
    numbers : returns the code of each of some labels, -1 for one that is no item

    >>> asked = []
    >>> labels = Labels(lambda some: asked.extend(some) or [len(label) for label in some])
    >>> labels.codes(pl.Series(["b", "aa", None, "b"]))
    array([ 1,  2, -1,  1], dtype=int32)
    >>> labels.codes(pl.Series(["ccc", "b"])).tolist(), asked
    ([3, 1], ['b', 'aa', 'ccc'])
    """

    def __init__(self, numbers: Callable[[list[str]], Sequence[int] | NDArray[np.int32]]) -> None:
        self._numbers = numbers
        # Polars numbers the labels of all columns of one kind together, by one pass over each, and
        # forgets its numbers when the last such column goes: so one is kept. Its "" is no item.
        self._kind = pl.Categorical(pl.Categories.random())
        self._kept = pl.Series([""]).cast(self._kind)
        self._codes = np.array([-1], np.int32)  # by polars' number

    def codes(self, column: pl.Series) -> NDArray[np.int32]:
        """Return the code of each value, -1 for null."""
        column = column.cast(pl.String).cast(self._kind)
        numbers = column.to_physical()  # (rows,)
        highest: Any = numbers.max()
        n_known, n_needed = len(self._codes), (highest or 0) + 1
        if n_needed > n_known:
            new = column.filter(numbers >= n_known).unique(maintain_order=True)
            self._codes = np.concatenate([self._codes, np.full(n_needed - n_known, -1, np.int32)])
            self._codes[new.to_physical().to_numpy()] = self._numbers(new.cast(pl.String).to_list())
        codes: NDArray[np.int32] = self._codes[numbers.fill_null(0).to_numpy()]
        return codes


def add_pairs(
    pairs: Pairs, frame: pl.DataFrame, layout: Layout, problems: Problems, first_row: int = 1
) -> None:
    """Add the rows of a long or wide table; `first_row` is the number of the first in its file.

    `layout` is one that `check_types` returned.
    """
    codes = [pairs.labels.codes(frame[name]) for name in layout.columns or (layout.item,)]
    if layout.by_row:
        pairs.add_columns(None, *codes)
        return
    ids = frame[layout.id]
    if isinstance(ids.dtype, (pl.Categorical, pl.Enum)):
        ids = ids.cast(pl.String)
    missing = ids.is_null()
    if ids.dtype.is_float():
        missing |= ids.is_nan().fill_null(False)
    elif ids.dtype == pl.String:
        missing |= (ids == "").fill_null(False)
    for row in missing.arg_true():
        where = f"row {first_row + row}"
        problems.add(f"{where}: the id is missing", many=NO_ID, what=where)
    pairs.add_columns(ids, *codes)


def add_lists(pairs: Pairs, column: pl.Series, problems: Problems, first_row: int = 1) -> None:
    """Add the lists of a column, each a transaction of its own; a null list is an empty one.

    >>> from overcoat.data.transactions import TransactionsBuilder
    >>> builder = TransactionsBuilder()
    >>> add_lists(Pairs(builder), pl.Series([["a", "b"], None, [], ["a"]]), Problems())
    >>> list(builder.build())
    [((), 2), (('a',), 1), (('a', 'b'), 1)]
    """
    lists = column.cast(pl.List(pl.String))
    lengths = lists.list.len().fill_null(0).to_numpy()
    labels = lists.filter(pl.Series(lengths > 0)).explode()  # an empty list would give a null
    missing = labels.is_null() | (labels == "").fill_null(False)
    for row in np.unique(np.repeat(np.arange(len(lists)), lengths)[missing.to_numpy()]).tolist():
        where = f"row {first_row + row}"
        problems.add(f"{where}: a null or an empty string in the list", many=NULL_ITEMS, what=where)
    problems.check()

    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    pairs.builder.add_rows(offsets, pairs.labels.codes(labels))


def frame_of(
    transactions: Transactions, parts: Iterable[NDArray[np.int64]], layout: Layout
) -> pl.DataFrame:
    """Return distinct rows, given in `parts`, in their order, as a long table or as lists.

    >>> data = Transactions.of([{"a", "b"}, set()])
    >>> frame_of(data, [np.array([1, 0])], Layout("long")).rows()
    [(1, 'a'), (1, 'b'), (2, None)]
    >>> frame_of(data, [np.array([1]), np.array([0])], Layout("list")).rows()
    [(['a', 'b'],), ([],)]
    """
    return pl.concat(frames_of(transactions, chain([np.empty(0, np.int64)], parts), layout))


def frames_of(
    transactions: Transactions, parts: Iterable[NDArray[np.int64]], layout: Layout
) -> Iterator[pl.DataFrame]:
    """Yield what `frame_of` returns, part by part.

    >>> data = Transactions.of([{"a", "b"}, set()])
    >>> parts = [np.array([1]), np.array([0])]
    >>> [frame.rows() for frame in frames_of(data, parts, Layout("long"))]
    [[(1, 'a'), (1, 'b')], [(2, None)]]
    """
    labels = pl.Series(layout.item, list(transactions.vocabulary), dtype=pl.String)
    done = 0
    for rows in parts:
        if layout.format == "long":
            yield _pairs_frame(transactions, rows, done, labels, layout)
        else:
            for start in range(0, max(len(rows), 1), _LISTS):
                some = rows[start : start + _LISTS]
                yield _lists_frame(transactions, some, labels, layout)
        done += len(rows)


def _pairs_frame(
    transactions: Transactions,
    rows: NDArray[np.int64],
    done: int,
    labels: pl.Series,
    layout: Layout,
) -> pl.DataFrame:
    """Return some rows as a long table; `done` is how many come before them."""
    who, what = expand(transactions, rows)
    known = pl.Series(what, dtype=pl.Int64)
    items = labels.gather(known.set(known < 0, None))
    return pl.DataFrame([pl.Series(layout.id, who + (done + 1)), items])


def _lists_frame(
    transactions: Transactions, rows: NDArray[np.int64], labels: pl.Series, layout: Layout
) -> pl.DataFrame:
    """Return some rows as lists."""
    distinct, places = np.unique(rows, return_inverse=True)
    who, what = expand(transactions, distinct)
    held = what >= 0
    occurrences = pl.DataFrame({"row": who[held], "item": labels.gather(what[held])})
    lists = occurrences.group_by("row", maintain_order=True).agg("item")["item"]
    if len(lists) < len(distinct):  # the empty row has no part in that; it is the first one
        lists = pl.concat([pl.Series("item", [[]], dtype=pl.List(pl.String)), lists])
    return lists.gather(places).alias(layout.items).to_frame()
