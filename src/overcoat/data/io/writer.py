"""Writing: the same bytes for the same transactions, always."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET, Stage
from overcoat.data.io.basket import basket_blocks
from overcoat.data.io.encoding import BOM, HEAD, looks_binary, looks_wide
from overcoat.data.io.long import long_blocks
from overcoat.data.io.names import check_sep, is_gzip_name
from overcoat.data.io.packing import packed
from overcoat.data.io.parquet import write_parquet
from overcoat.data.io.sheets import write_workbook
from overcoat.data.io.source import PARQUET_MAGIC
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError

__all__ = ["row_parts", "write"]

_ROWS = 1 << 16  # formatted at once
_BYTES = 1 << 20  # written at once: to compress them takes a while


def write(
    transactions: Transactions,
    target: str | os.PathLike[str] | BinaryIO,
    *,
    layout: Layout,
    order: NDArray[np.int64] | None = None,
    gzip: bool | None = None,
    stage: Stage = QUIET,
) -> None:
    """Write transactions to exactly this path or stream.

    Parameters
    ----------
    transactions : what to write
    target : a path, or a binary stream, which stays open. To leave an earlier file alone until
        the new one is whole, write to a path from `Staging.stage`.
    layout : how, see `output_layout`
    order : the distinct row of each transaction, like `Transactions.positions`; canonical order
        when None, which tells nothing about the input's
    gzip : compress; None goes by the name of the path
    stage : told how many transactions are written, and of how many

    Raises
    ------
    DataError
        when the layout cannot hold a label, or the target cannot be written

    Examples
    --------
    >>> import io
    >>> stream = io.BytesIO()
    >>> data = Transactions.of([{"milk", "bread"}, {"milk"}, set()])
    >>> write(data, stream, layout=Layout("long", sep=",", id="customer"))
    >>> stream.getvalue().decode().splitlines()
    ['customer,item', '1,', '2,bread', '2,milk', '3,milk']
    """
    check_sep(layout.sep)
    if order is not None and not np.array_equal(
        np.bincount(order, minlength=transactions.n_distinct), transactions.counts
    ):
        raise ValueError("order does not hold each distinct row as often as it counts")
    path = None if hasattr(target, "write") else Path(target)
    if gzip is None:
        gzip = path is not None and is_gzip_name(path.name)
    if gzip and (layout.parquet or layout.workbook):
        what = "Parquet" if layout.parquet else "a workbook"
        raise DataError(f"{what} is compressed already; write it without gzip")
    if not layout.parquet and layout.format == "list":
        raise DataError("lists need Parquet")

    try:
        with ExitStack() as stack:
            stream: BinaryIO = (
                target if path is None else stack.enter_context(path.open("wb"))  # type: ignore[assignment]
            )
            tell = _Told(stage, transactions.n_transactions)
            parts = tell.count(row_parts(transactions, order))
            if layout.parquet:
                write_parquet(transactions, parts, stream, layout, tell)
                return
            if layout.workbook:
                write_workbook(transactions, parts, stream, layout, tell)
                return
            if gzip:
                stream = stack.enter_context(packed(stream))  # type: ignore[assignment]
            blocks = basket_blocks if layout.format == "basket" else long_blocks
            made = blocks(transactions, parts, layout, stage)
            _write_blocks(stream, made, layout, tell)
    except DataError as error:
        name = None if path is None else str(path)
        raise DataError(replace(p, file=p.file or name) for p in error.problems) from None
    except BrokenPipeError:
        raise  # nobody reads standard output any more; that is no error in the data
    except OSError as error:
        name = None if path is None else str(path)
        raise DataError(f"cannot be written: {error.strerror or error}", name) from error


def row_parts(
    transactions: Transactions, order: NDArray[np.int64] | None
) -> Iterator[NDArray[np.int64]]:
    """Yield the distinct row of each transaction, some at a time."""
    if order is not None:
        for start in range(0, len(order), _ROWS):
            yield order[start : start + _ROWS]
        return
    ends = np.cumsum(transactions.counts)
    for start in range(0, transactions.n_transactions, _ROWS):
        places = np.arange(start, min(start + _ROWS, transactions.n_transactions))
        yield np.searchsorted(ends, places, side="right")


class _Told:
    """Says how many rows are done."""

    def __init__(self, stage: Stage, n_rows: int) -> None:
        self._stage, self._done, self._n_rows = stage, 0, n_rows

    def __call__(self) -> None:
        self._stage(self._done, self._n_rows)

    def count(self, parts: Iterable[NDArray[np.int64]]) -> Iterator[NDArray[np.int64]]:
        """Yield parts of the rows; when the next is asked for, one is done."""
        for part in parts:
            self()
            yield part
            self._done += len(part)
        self()


def _write_blocks(
    stream: BinaryIO, blocks: Iterator[bytes], layout: Layout, tell: Callable[[], None]
) -> None:
    head = b""
    for block in blocks:
        head += block
        if len(head) >= HEAD:
            break
    if (layout.bom and layout.sep is not None) or _looks_odd(head):
        stream.write(BOM)
    for block in chain([head], blocks):
        for start in range(0, len(block), _BYTES):
            stream.write(block[start : start + _BYTES])
            tell()


def _looks_odd(head: bytes) -> bool:
    """Say whether labels look like a mark of the file, or like another encoding.

    `read` drops one byte order mark and believes it, so that after one all labels come back whole.
    """
    first = head[:HEAD]
    odd = looks_binary(first) or looks_wide(first) is not None
    return odd or head.startswith((BOM, PARQUET_MAGIC))
