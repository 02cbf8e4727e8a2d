"""Baskets: one transaction a line."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET, Stage
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
    *,
    stage: Stage = QUIET,
) -> None:
    r"""Add the transactions of a basket file to `builder`; `tell` is called now and then.

    The threads of the stage split the text ahead.

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

    def blocks() -> Iterator[bytes]:
        while block := take(stream, delimited.BLOCK, quote=mark.decode()):
            yield block

    def split(block: bytes, part: Stage) -> tuple[bytes, _Split | None]:
        quoted = dialect is not None and ((mark and mark in block) or len(dialect.sep.encode()) > 1)
        return block, None if quoted else plain.split(block)

    for block, found in stage.in_order(split, blocks()):
        if not sound:
            decode(block, line, problems)  # nothing will be built; look for more bad lines
        elif found is None:
            assert dialect is not None
            _add_quoted(block, line, dialect, builder, problems, tell)
        else:
            try:
                plain.add(found, stage)
            except UnicodeDecodeError:
                sound = decode(block, line, problems) is not None
            except _QuoteError:
                sound = False
                _note_quotes(block, line, layout.sep, problems)
                assert problems
        line += block.count(b"\n")
        tell()


class _QuoteError(ValueError):
    """An item that starts with a quote, where quotes are letters."""


def _note_quotes(block: bytes, line: int, sep: str | None, problems: Problems) -> None:
    starts = re.compile(rb"(?:\A|%b)[ \t]*\"" % re.escape((sep or " ").encode()))
    for number, text in enumerate(block.split(b"\n"), line):
        if starts.search(text):
            note_quote(problems, number)


@dataclass
class _Split:
    """A block, split: its rows over the labels of one tokenizer, and those that are new to it."""

    tokenizer: Any  # which is compiled, or its twin
    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]
    new: list[bytes]


class _Plain:
    """Adds blocks without quotes to a builder; a label is decoded once, at first sight.

    Each thread has a tokenizer of its own. It takes blocks in their order, so what is new to it is
    in the order in which its blocks are added.

    With `letters`, quotes are letters; but no item starts with one.
    """

    def __init__(self, sep: str | None, builder: TransactionsBuilder, *, letters: bool) -> None:
        self._sep = None if sep is None else sep.encode()
        self._builder, self._letters = builder, letters
        self._own = threading.local()
        # The builder's code of each label of a tokenizer.
        self._codes: dict[int, NDArray[np.int32]] = {}

    def split(self, block: bytes) -> _Split:
        if not hasattr(self._own, "tokenizer"):
            self._own.tokenizer = Tokenizer(self._sep)
        tokenizer = self._own.tokenizer
        return _Split(tokenizer, *tokenizer.feed(block))

    def add(self, found: _Split, stage: Stage) -> None:
        if self._letters and any(label.startswith(b'"') for label in found.new):
            raise _QuoteError
        known = self._codes.get(id(found.tokenizer), np.empty(0, np.int32))
        new = [self._builder.code(label.decode("utf-8")) for label in found.new]
        codes = self._codes[id(found.tokenizer)] = np.concatenate([known, np.array(new, np.int32)])
        self._builder.add_new_rows(found.offsets, codes[found.codes], stage=stage)


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


def check_labels(labels: Iterable[str], layout: Layout) -> None:
    """Raise if one of some labels cannot stand in a basket file: where white space splits them."""
    if layout.format != "basket" or layout.sep is not None:
        return
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


def basket_blocks(
    transactions: Transactions,
    parts: Iterable[NDArray[np.int64]],
    layout: Layout,
    stage: Stage = QUIET,
) -> Iterator[bytes]:
    r"""Yield the text of a basket file for distinct rows, given in `parts`, in their order.

    >>> data = Transactions.of([{"a", "b, c"}])
    >>> list(basket_blocks(data, [np.array([0, 0])], Layout("basket", sep=",")))
    [b'a,"b, c"\na,"b, c"\n']
    """
    labels: Iterable[str] = transactions.vocabulary
    check_labels(labels, layout)
    if layout.sep is not None:
        labels = map(Dialect(layout.sep, trim=True).quote, labels)
    written = [label.encode("utf-8") for label in labels]
    sep = " " if layout.sep is None else layout.sep
    if layout.header:
        yield b"items\n"

    def text(rows: NDArray[np.int64], part: Stage) -> bytes:
        return format_rows(transactions.offsets, transactions.codes, rows, written, sep.encode())

    yield from stage.in_order(text, parts)
