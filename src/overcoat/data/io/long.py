"""Tables as text: a header, then one (transaction, item) pair a line, or several items."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET, Stage
from overcoat.data.io import delimited
from overcoat.data.io.columns import settle_columns, wanted_columns
from overcoat.data.io.delimited import STRAYS, TOLD, Dialect, note_quote, note_stray, take
from overcoat.data.io.dialects import is_sep_line
from overcoat.data.io.pairs import Pairs
from overcoat.data.io.problems import Problems
from overcoat.data.layout import Layout
from overcoat.data.memory import polars_fits
from overcoat.data.native import format_rows
from overcoat.data.transactions import Transactions, TransactionsBuilder

__all__ = ["Table", "expand", "long_blocks", "read_long"]

# Importing polars takes as long as reading this many bytes without it.
POLARS_PAYS_FROM = 1 << 20
# Stands for bytes that are not UTF-8, which polars refuses anywhere; no text has it.
_NO_CHARACTER = "\ufdd0"


def read_long(
    stream: BinaryIO,
    layout: Layout,
    builder: TransactionsBuilder,
    problems: Problems,
    tell: Callable[[], None] = QUIET,
) -> None:
    r"""Add the transactions of a text table to `builder`; `tell` is called now and then.

    >>> text = b"patient,code\n1,038\n2,\n1,401\n"
    >>> builder = TransactionsBuilder()
    >>> layout = Layout("long", sep=",", id="patient", item="code")
    >>> read_long(io.BytesIO(text), layout, builder, Problems())
    >>> list(builder.build())
    [((), 1), (('038', '401'), 1)]
    """
    table = Table(stream, layout, problems)
    pairs = Pairs(builder, by_row=table.layout.by_row)
    table.read(pairs, tell)
    pairs.finish(tell)


class Table:
    r"""A text table whose header has been read.

    Parameters
    ----------
    stream : the text, in UTF-8
    layout : with the separator, the quotes and the names of the columns
    problems : of this file
    keys : columns that the file does not have, with the one value each has for all its rows

    Attributes
    ----------
    layout : the layout, settled
    columns : all that the table has, `keys` included
    """

    def __init__(
        self,
        stream: BinaryIO,
        layout: Layout,
        problems: Problems,
        keys: Mapping[str, str] | None = None,
    ) -> None:
        self._stream, self._problems = stream, problems
        self._dialect = Dialect(layout.sep or ",", trim=False, mark=layout.quote)
        self._line = 1
        header = take(stream, quote=layout.quote)
        if is_sep_line(header.decode("utf-8", "replace")) is not None:
            self._line += 1
            header = take(stream, quote=layout.quote)
        # A name that is not UTF-8 may be there, as long as nobody needs it.
        text = header.decode("utf-8", "surrogateescape")
        first = self._line
        _, columns = next(self._dialect.records(text, first, problems), (1, [""]))
        self._line += header.count(b"\n")
        self._n_columns = len(columns)
        self._keys = [(name, value) for name, value in (keys or {}).items() if name not in columns]
        self.columns = [*columns, *(name for name, _ in self._keys)]
        self.layout = settle_columns(layout, self.columns, problems.file, first)
        # The places of the id and of the items; those of keys come after the fields.
        places = [self.columns.index(name) for name in wanted_columns(self.layout)]
        self._id = None if self.layout.by_row else places[0]
        self._items = places if self.layout.by_row else places[1:]

    def read(self, pairs: Pairs, tell: Callable[[], None] = QUIET) -> None:
        """Add what follows the header."""
        while block := take(self._stream, delimited.BLOCK, quote=self._dialect.mark):
            # The plain way reads everything; the fast one only what is certainly in order.
            if len(block) < POLARS_PAYS_FROM or not self._add_fast(block, pairs):
                self._add(block, pairs, tell)
            tell()

    def _add(self, block: bytes, pairs: Pairs, tell: Callable[[], None]) -> None:
        """Add a block record by record, noting what is wrong in which line."""
        odd = not self._dialect.mark
        try:
            text = block.decode("utf-8")
        except UnicodeDecodeError:
            text, odd = block.decode("utf-8", "surrogateescape"), True
        ids: list[str] = []
        items: list[list[str]] = [[] for _ in self._items]
        n_columns, of_id = self._n_columns, self._id
        kept = list(zip(self._items, (column.append for column in items), strict=True))
        if of_id is not None:
            kept.append((of_id, ids.append))
        for line, fields in self._dialect.records(text, self._line, self._problems):
            if line % TOLD == 0:
                tell()
            if len(fields) != n_columns:
                if fields != [""]:  # a blank line says nothing, so nothing is lost with it
                    self._problems.add(
                        *(f"{len(fields)} fields where the header has {n_columns}", line),
                        many=f"lines have not the {n_columns} fields of the header",
                        what=f"{len(fields)} fields",
                    )
                continue
            if self._keys:
                fields.extend(value for _, value in self._keys)
            if of_id is not None and not fields[of_id]:
                self._problems.add("the id is empty", line, many="lines have an empty id")
            elif not odd or self._is_even(fields, line):
                for place, keep in kept:
                    keep(fields[place])
        pairs.add(ids, *items)
        self._line += block.count(b"\n")

    def _is_even(self, fields: list[str], line: int) -> bool:
        """Say whether the fields that are needed are UTF-8, and quotes in them letters if any."""
        places = self._items if self._id is None else [self._id, *self._items]
        needed = [fields[place] for place in places]
        if any(STRAYS.search(field) for field in needed):
            note_stray(self._problems, line)
            return False
        if not self._dialect.mark and any(field.startswith('"') for field in needed):
            note_quote(self._problems, line)
            return False
        return True

    def _add_fast(self, block: bytes, pairs: Pairs) -> bool:
        """Add a block through polars if every record is sound; say whether that was so."""
        sep, mark = self._dialect.sep, self._dialect.mark
        if not (sep.isascii() and sep not in " \r"):
            return False
        if not is_sound(block, ord(sep), self._n_columns, mark) or not polars_fits():
            return False
        import polars as pl

        columns = sorted({*self._items, *([] if self._id is None else [self._id])})

        def parse(text: bytes) -> pl.DataFrame:
            return pl.read_csv(
                io.BytesIO(text),
                has_header=False,
                infer_schema=False,
                separator=sep,
                quote_char=mark or None,
                columns=[place for place in columns if place < self._n_columns],
            )

        strays = False
        try:
            try:
                frame = parse(block)
            except pl.exceptions.PolarsError:
                frame, strays = parse(_mark_strays(block)), True
        except pl.exceptions.PolarsError:
            return False  # the plain way will say in which line and why
        found = dict(zip(columns, frame.get_columns(), strict=False))
        for place, (name, value) in enumerate(self._keys, self._n_columns):
            found[place] = pl.repeat(value, len(frame), dtype=pl.String, eager=True).rename(name)
        ids = None if self._id is None else found[self._id]
        if ids is not None and (ids.null_count() or (ids == "").any()):
            return False
        needed = list(found.values())
        if strays and any(x.str.contains(_NO_CHARACTER, literal=True).any() for x in needed):
            return False
        if not mark and any(x.str.starts_with('"').any() for x in needed):
            return False
        items = [pairs.labels.codes(found[place]) for place in self._items]
        pairs.add_columns(ids, *items)
        self._line += block.count(b"\n")
        return True


def _mark_strays(block: bytes) -> bytes:
    """Return a block with what is not UTF-8 in it marked: only columns nobody needs may have it."""
    return STRAYS.sub(_NO_CHARACTER, block.decode("utf-8", "surrogateescape")).encode("utf-8")


def is_sound(block: bytes, sep: int, n_columns: int, mark: str = '"') -> bool:
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
    end = ord("\n")
    breaks = (data == sep) | (data == end)
    if mark and mark.encode() in block:
        quotes = data == ord(mark)
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
    transactions: Transactions,
    parts: Iterable[NDArray[np.int64]],
    layout: Layout,
    stage: Stage = QUIET,
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

    def numbered() -> Iterator[tuple[int, NDArray[np.int64]]]:
        done = 0
        for rows in parts:
            yield done, rows
            done += len(rows)

    def text(some: tuple[int, NDArray[np.int64]], part: Stage) -> bytes:
        done, rows = some
        numbers = range(done + 1, done + len(rows) + 1)
        ids = [(quote(str(n)) if sep.isdigit() else str(n)).encode() for n in numbers]
        who, what = expand(transactions, rows)
        lines = np.column_stack([who + len(items), what + 1])  # (lines, 2)
        ends = np.arange(0, 2 * len(lines) + 1, 2)
        every = np.arange(len(lines))
        return format_rows(ends, lines.reshape(-1), every, items + ids, sep.encode())

    yield from stage.in_order(text, numbered())


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
