"""Baskets: one transaction a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET
from overcoat.data.io import delimited
from overcoat.data.io.delimited import TOLD, Dialect, decode, note_quote, take
from overcoat.data.io.problems import Problems
from overcoat.data.layout import Layout
from overcoat.data.native import Tokenizer, format_rows
from overcoat.data.transactions import Transactions, TransactionsBuilder
from overcoat.errors import DataError

__all__ = ["basket_blocks", "read_basket"]

# What bytes.split splits on. Not str.isspace: a no-break space may be part of a label.
_WHITE_SPACE = re.compile("[ \t\n\r\v\f]")


def read_basket(
    stream: BinaryIO,
    layout: Layout,
    builder: TransactionsBuilder,
    problems: Problems,
    tell: Callable[[], None] = QUIET,
) -> None:
    r"""Add the transactions of a basket file to `builder`; `tell` is called now and then.

    >>> import io
    >>> builder = TransactionsBuilder()
    >>> read_basket(io.BytesIO(b"b a\n\na b b\n"), Layout("basket"), builder, Problems())
    >>> list(builder.build())
    [((), 1), (('a', 'b'), 2)]
    """
    dialect = None
    if layout.sep is not None:
        dialect = Dialect(layout.sep, trim=True, mark=layout.quote)
    mark = b"" if dialect is None else dialect.mark.encode()
    plain = _Plain(layout.sep, builder, letters=dialect is not None and not mark)
    line, sound = 1, True
    if layout.header:
        line += take(stream, quote=mark.decode()).count(b"\n")
    while block := take(stream, delimited.BLOCK, quote=mark.decode()):
        if not sound:
            decode(block, line, problems)  # nothing will be built; look for more bad lines
        elif dialect is None or (not (mark and mark in block) and len(dialect.sep.encode()) == 1):
            try:
                plain.add(block)
            except UnicodeDecodeError:
                sound = decode(block, line, problems) is not None
            except _QuoteError:
                sound = False
                _note_quotes(block, line, layout.sep, problems)
                assert problems
        else:
            _add_quoted(block, line, dialect, builder, problems, tell)
        line += block.count(b"\n")
        tell()


class _QuoteError(ValueError):
    """An item that starts with a quote, where quotes are letters."""


def _note_quotes(block: bytes, line: int, sep: str | None, problems: Problems) -> None:
    starts = re.compile(rb"(?:\A|%b)[ \t]*\"" % re.escape((sep or " ").encode()))
    for number, text in enumerate(block.split(b"\n"), line):
        if starts.search(text):
            note_quote(problems, number)


class _Plain:
    """Adds blocks without quotes to a builder; a label is decoded once, at first sight.

    With `letters`, quotes are letters; but no item starts with one.
    """

    def __init__(self, sep: str | None, builder: TransactionsBuilder, *, letters: bool) -> None:
        self._tokenizer = Tokenizer(None if sep is None else sep.encode())
        self._builder, self._letters = builder, letters
        self._codes = np.empty(0, np.int32)  # the builder's code of each of the tokenizer's labels

    def add(self, block: bytes) -> None:
        offsets, codes, new = self._tokenizer.feed(block)
        if self._letters and any(label.startswith(b'"') for label in new):
            raise _QuoteError
        more = np.zeros(len(new), np.int32)
        self._codes = np.concatenate([self._codes, more])
        self._codes[len(self._codes) - len(new) :] = [
            self._builder.code(label.decode("utf-8")) for label in new
        ]
        self._builder.add_rows(offsets, self._codes[codes])


def _add_quoted(
    block: bytes,
    line: int,
    dialect: Dialect,
    builder: TransactionsBuilder,
    problems: Problems,
    tell: Callable[[], None],
) -> None:
    text = decode(block, line, problems)
    if text is None:
        return
    for number, labels in dialect.records(text, line, problems):
        if number % TOLD == 0:
            tell()
        try:
            builder.add(map(builder.code, labels))
        except DataError as error:
            problems.add(str(error), number, many="lines have no proper item", what=str(error))


def basket_blocks(
    transactions: Transactions, parts: Iterable[NDArray[np.int64]], layout: Layout
) -> Iterator[bytes]:
    r"""Yield the text of a basket file for distinct rows, given in `parts`, in their order.

    >>> data = Transactions.of([{"a", "b, c"}])
    >>> list(basket_blocks(data, [np.array([0, 0])], Layout("basket", sep=",")))
    [b'a,"b, c"\na,"b, c"\n']
    """
    labels: Iterable[str] = transactions.vocabulary
    if layout.sep is None:
        problems = Problems()
        for label in labels:
            if _WHITE_SPACE.search(label):
                problems.add(
                    f"item {label!r} contains white space, which separates the items of this "
                    "layout; write .csv or choose a separator",
                    many="items contain white space, which separates the items of this layout; "
                    "write .csv or choose a separator",
                    what=repr(label),
                )
        problems.check()
    else:
        labels = map(Dialect(layout.sep, trim=True).quote, labels)
    written = [label.encode("utf-8") for label in labels]
    sep = " " if layout.sep is None else layout.sep
    if layout.header:
        yield b"items\n"
    for rows in parts:
        yield format_rows(transactions.offsets, transactions.codes, rows, written, sep.encode())
