"""Baskets: one transaction a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import numpy as np

from overcoat.data.io import delimited
from overcoat.data.io.delimited import NOT_UTF8, Dialect, decode, take
from overcoat.data.io.problems import Problems
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions, TransactionsBuilder
from overcoat.errors import DataError

__all__ = ["basket_lines", "read_basket"]

# What bytes.split splits on. Not str.isspace: a no-break space may be part of a label.
_WHITE_SPACE = re.compile("[ \t\n\r\v\f]")


def read_basket(
    stream: BinaryIO, layout: Layout, builder: TransactionsBuilder, problems: Problems
) -> None:
    r"""Add the transactions of a basket file to `builder`.

    >>> import io
    >>> builder = TransactionsBuilder()
    >>> read_basket(io.BytesIO(b"b a\n\na b b\n"), Layout("basket"), builder, Problems())
    >>> list(builder.build())
    [((), 1), (('a', 'b'), 2)]
    """
    if layout.sep is None:
        _read_white_space(stream, layout.header, builder, problems)
    else:
        _read_separated(stream, layout.sep, layout.header, builder, problems)


class _CodesOfBytes(dict[bytes, int]):
    """The code of each label as it stands in the file; a label is decoded once, at first sight."""

    def __init__(self, builder: TransactionsBuilder) -> None:
        self._code = builder.code

    def __missing__(self, raw: bytes) -> int:
        code = self[raw] = self._code(raw.decode("utf-8"))
        return code


def _read_white_space(
    stream: BinaryIO, header: bool, builder: TransactionsBuilder, problems: Problems
) -> None:
    if header:
        stream.readline()
    code = _CodesOfBytes(builder).__getitem__
    for number, line in enumerate(stream, start=1 + header):
        try:
            builder.add(map(code, line.split()))
        except UnicodeDecodeError:
            problems.add(NOT_UTF8, number)


def _read_separated(
    stream: BinaryIO, sep: str, header: bool, builder: TransactionsBuilder, problems: Problems
) -> None:
    dialect = Dialect(sep, trim=True)
    line = 1
    if header:
        line += take(stream).count(b"\n")
    while block := take(stream, delimited.BLOCK):
        text = decode(block, line, problems)
        if text is not None:
            for number, labels in dialect.records(text, line, problems):
                try:
                    builder.add(map(builder.code, labels))
                except DataError as error:
                    problems.add(str(error), number)
        line += block.count(b"\n")


def basket_lines(transactions: Transactions, rows: Iterable[int], layout: Layout) -> Iterator[str]:
    r"""Yield the lines of a basket file for these distinct `rows`, in their order.

    >>> data = Transactions.of([{"a", "b, c"}])
    >>> list(basket_lines(data, [0], Layout("basket", sep=",")))
    ['a,"b, c"\n']
    """
    if layout.sep is None:
        labels: Iterable[str] = transactions.vocabulary
        problems = Problems()
        for label in labels:
            if _WHITE_SPACE.search(label):
                problems.add(
                    f"item {label!r} contains white space, which separates the items of this "
                    "layout; write .csv or choose a separator"
                )
        problems.check()
    else:
        labels = map(Dialect(layout.sep, trim=True).quote, transactions.vocabulary)
    sep = " " if layout.sep is None else layout.sep
    written = np.array([*labels, None], object)[:-1]  # the None: never an array of arrays
    if layout.header:
        yield "items\n"
    last, line = -1, ""
    for row in rows:
        if row != last:  # in canonical order equal rows come together
            last, line = row, sep.join(written[transactions.row(row)]) + "\n"
        yield line
