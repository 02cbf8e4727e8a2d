"""Long tables as text: a header, then one (transaction, item) pair a line."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET
from overcoat.data.io import delimited
from overcoat.data.io.delimited import TOLD, Dialect, decode, take
from overcoat.data.io.pairs import Pairs
from overcoat.data.io.problems import Problems
from overcoat.data.layout import Layout
from overcoat.data.memory import polars_fits
from overcoat.data.native import format_rows
from overcoat.data.transactions import Transactions, TransactionsBuilder
from overcoat.errors import DataError

__all__ = ["expand", "find_column", "long_blocks", "read_long"]

# Importing polars takes as long as reading this many bytes without it.
POLARS_PAYS_FROM = 1 << 20


def read_long(
    stream: BinaryIO,
    layout: Layout,
    builder: TransactionsBuilder,
    problems: Problems,
    tell: Callable[[], None] = QUIET,
) -> None:
    r"""Add the transactions of a long text table to `builder`; `tell` is called now and then.

    >>> text = b"patient,code\n1,038\n2,\n1,401\n"
    >>> builder = TransactionsBuilder()
    >>> layout = Layout("long", sep=",", id="patient", item="code")
    >>> read_long(io.BytesIO(text), layout, builder, Problems())
    >>> list(builder.build())
    [((), 1), (('038', '401'), 1)]
    """
    table = _Table(layout, take(stream), builder, problems)
    while block := take(stream, delimited.BLOCK):
        # The plain way reads everything; the fast one only what is certainly in order.
        if len(block) < POLARS_PAYS_FROM or not table.add_fast(block):
            table.add(block, tell)
        tell()
    table.pairs.finish(tell)


def find_column(name: str, columns: list[str], file: str | None, line: int | None = None) -> int:
    """Return the position of column `name`, or raise and list the columns there are."""
    if columns.count(name) == 1:
        return columns.index(name)
    why = f"more than one column is called {name!r}" if name in columns else f"no column {name!r}"
    raise DataError(f"{why}; the columns are {', '.join(map(repr, columns))}", file, line)


class _Table:
    """A long table whose header has been read."""

    def __init__(
        self, layout: Layout, header: bytes, builder: TransactionsBuilder, problems: Problems
    ) -> None:
        self.pairs = Pairs(builder)
        self._dialect = Dialect(layout.sep or ",", trim=False)
        self._problems = problems
        self._line = 1
        text = decode(header, 1, problems)
        problems.check()
        records = self._dialect.records(text or "", 1, problems)
        _, columns = next(records, (1, [""]))
        self._line += header.count(b"\n")
        self._n_columns = len(columns)
        self._id = find_column(layout.id, columns, problems.file, 1)
        self._item = find_column(layout.item, columns, problems.file, 1)

    def add(self, block: bytes, tell: Callable[[], None]) -> None:
        """Add a block record by record, noting what is wrong in which line."""
        text = decode(block, self._line, self._problems)
        ids, items = [], []
        for line, fields in self._dialect.records(text or "", self._line, self._problems):
            if line % TOLD == 0:
                tell()
            if len(fields) != self._n_columns:
                if fields != [""]:  # a blank line says nothing, so nothing is lost with it
                    self._problems.add(
                        *(f"{len(fields)} fields where the header has {self._n_columns}", line),
                        many=f"lines have not the {self._n_columns} fields of the header",
                        what=f"{len(fields)} fields",
                    )
            elif not fields[self._id]:
                self._problems.add("the id is empty", line, many="lines have an empty id")
            else:
                ids.append(fields[self._id])
                items.append(fields[self._item])
        self.pairs.add(ids, items)
        self._line += block.count(b"\n")

    def add_fast(self, block: bytes) -> bool:
        """Add a block through polars if every record is sound; say whether that was so."""
        sep = self._dialect.sep
        if not (sep.isascii() and sep not in " \r" and is_sound(block, ord(sep), self._n_columns)):
            return False
        if not polars_fits():
            return False
        import polars as pl

        from overcoat.data.io.tables import encode

        try:
            frame = pl.read_csv(
                io.BytesIO(block),
                has_header=False,
                infer_schema=False,
                separator=sep,
                columns=sorted({self._id, self._item}),
            )
        except pl.exceptions.PolarsError:
            return False  # the plain way will say in which line and why
        first, second = frame.get_columns()
        ids, items = (first, second) if self._id < self._item else (second, first)
        if ids.null_count() or (ids == "").any():
            return False
        self.pairs.add_columns(ids, encode(items, self.pairs.encode_items))
        self._line += block.count(b"\n")
        return True


def is_sound(block: bytes, sep: int, n_columns: int) -> bool:
    r"""Say whether each record of `block` has `n_columns` fields and its quotes where they belong.

    Cautious: a block it refuses may still be fine.

    >>> is_sound(b'1,a\n2,"b, c"\n', ord(","), 2)
    True
    >>> is_sound(b'1,a\n2\n', ord(","), 2)
    False
    """
    if block.startswith(b"\xef\xbb\xbf") or block.count(b"\r") != block.count(b"\r\n"):
        return False
    if not block.endswith(b"\n"):
        block += b"\n"
    data = np.frombuffer(block, np.uint8)
    end, quote = ord("\n"), ord('"')
    breaks = (data == sep) | (data == end)
    if b'"' in block:
        quotes = data == quote
        inside = np.cumsum(quotes, dtype=np.uint8) & 1 == 1  # wraps at 256, which is even
        if inside[-1]:
            return False
        edges = breaks | quotes
        before = np.concatenate([[True], edges[:-1]])
        after = np.concatenate([(edges | (data == ord("\r")))[1:], [False]])
        if not (before[quotes & inside].all() and after[quotes & ~inside].all()):
            return False
        breaks &= ~inside
    # Fields of a record: its breaks, up to and including the line break that ends it.
    kinds = data[breaks]
    ends = np.flatnonzero(kinds == end)
    return bool((np.diff(ends, prepend=-1) == n_columns).all())


def long_blocks(
    transactions: Transactions, parts: Iterable[NDArray[np.int64]], layout: Layout
) -> Iterator[bytes]:
    r"""Yield the text of a long table for distinct rows, given in `parts`, with running ids.

    >>> data = Transactions.of([{"a", "b"}, set()])
    >>> list(long_blocks(data, [np.array([1, 0])], Layout("long", sep=",", id="who", item="code")))
    [b'who,code\n', b'1,a\n1,b\n2,\n']
    """
    sep = layout.sep or ","
    quote = Dialect(sep, trim=False).quote
    yield f"{quote(layout.id)}{sep}{quote(layout.item)}\n".encode()
    # A line is a row of two labels: the id's and the item's, where "" stands for no item.
    items = [b"", *(quote(label).encode("utf-8") for label in transactions.vocabulary)]
    done = 0
    for rows in parts:
        numbers = range(done + 1, done + len(rows) + 1)
        ids = [(quote(str(n)) if sep.isdigit() else str(n)).encode() for n in numbers]
        who, what = expand(transactions, rows)
        lines = np.column_stack([who + len(items), what + 1])  # (lines, 2)
        ends = np.arange(0, 2 * len(lines) + 1, 2)
        every = np.arange(len(lines))
        yield format_rows(ends, lines.reshape(-1), every, items + ids, sep.encode())
        done += len(rows)


def expand(
    transactions: Transactions, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return pairs for distinct `rows`: the place in `rows`, the code; -1 for an empty row.

    >>> who, what = expand(Transactions.of([{"a", "b"}, set()]), np.array([1, 0]))
    >>> who.tolist(), what.tolist()
    ([0, 0, 1], [0, 1, -1])
    """
    lengths = transactions.lengths[rows]
    sizes = np.maximum(lengths, 1)  # an empty transaction is one pair without an item
    who = np.repeat(np.arange(len(rows)), sizes)
    inside = np.arange(len(who)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    places = np.repeat(transactions.offsets[rows], sizes) + inside
    held = np.repeat(lengths > 0, sizes)
    what = np.full(len(who), -1, np.int64)
    what[held] = transactions.codes[places[held]]
    return who, what
