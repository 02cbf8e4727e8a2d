"""Parquet: long tables and tables with a list column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET
from overcoat.data.io.columns import wanted_columns
from overcoat.data.io.pairs import Pairs
from overcoat.data.io.problems import Problems
from overcoat.data.layout import Layout
from overcoat.data.memory import require_polars
from overcoat.data.transactions import Transactions, TransactionsBuilder
from overcoat.errors import DataError

__all__ = ["ParquetTable", "read_parquet", "write_parquet"]

_ROW_GROUP = 1 << 18  # rows written, and decoded, at once
# Lists take more memory than pairs. To decode fewer at once takes a little longer: with a million
# rows as many as here a tenth, and a third less memory in all.
_FEW = 1 << 16
_LISTS = 1 << 14  # added at once: numbering their labels takes memory, too
_PAUSE = 0.02  # seconds between two looks at what polars does


@contextmanager
def _sound(file: str | None) -> Iterator[None]:
    """Turn what polars says of a damaged file into a DataError."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"not a sound Parquet file ({reason})", file) from None


def read_parquet(
    path: Path,
    layout: Layout,
    builder: TransactionsBuilder,
    problems: Problems,
    tell: Callable[[float], None] | None = None,
) -> None:
    """Add the transactions of a Parquet file to `builder`; `tell` is called with the share done."""
    tell = tell or (lambda share: None)
    table = ParquetTable(path, layout, problems)
    pairs = Pairs(builder, by_row=table.layout.by_row)
    table.read(builder, pairs, tell)
    pairs.finish(lambda: tell(1.0))


class ParquetTable:
    """A Parquet file whose columns are known.

    Parameters
    ----------
    path : the file
    layout : with the names of the columns
    problems : of this file
    keys : columns that the file does not have, with the one value each has for all its rows
    guess : whether to look for the one column of lists

    Attributes
    ----------
    layout : the layout, settled
    columns : the names of all columns, `keys` included
    ids : what kind of ids it has, in words; empty where it has none
    """

    def __init__(
        self,
        path: Path,
        layout: Layout,
        problems: Problems,
        keys: Mapping[str, str] | None = None,
        *,
        guess: bool = False,
    ) -> None:
        require_polars("reading Parquet", problems.file)
        import polars as pl

        from overcoat.data.io.tables import check_types, only_list_column

        self._problems = problems
        with _sound(problems.file):
            # A name, never a pattern; what its folders say is in `keys`.
            self._table = pl.scan_parquet(path, glob=False, hive_partitioning=False)
            schema = self._table.collect_schema()
            self._n_rows = self._table.select(pl.len()).collect().item()
        given = {name: value for name, value in (keys or {}).items() if name not in schema}
        self._table = self._table.with_columns(**{name: pl.lit(x) for name, x in given.items()})
        every = {**schema, **dict.fromkeys(given, pl.String())}
        if guess and layout.format == "list":
            layout = replace(layout, items=only_list_column(every, problems.file))
        self.layout = check_types(every, layout, problems.file)
        self.columns = list(every)
        self.ids = ""
        if self.layout.format == "long" and not self.layout.by_row:
            dtype = every[self.layout.id]
            self.ids = "whole numbers" if dtype.is_integer() else str(dtype)

    def read(
        self, builder: TransactionsBuilder, pairs: Pairs, tell: Callable[[float], None]
    ) -> None:
        """Add all rows."""
        from overcoat.data.io.tables import add_lists, add_pairs

        layout, problems, n_rows = self.layout, self._problems, self._n_rows
        table = self._table.select(wanted_columns(layout))
        step = _ROW_GROUP
        if layout.format == "list":
            step = min(step, max(_FEW, n_rows // 16))
        with _sound(problems.file):
            for start in range(0, n_rows, step):
                frame = table.slice(start, step).collect()
                tell(start / n_rows)
                if layout.format == "long":
                    add_pairs(pairs, frame, layout, problems, start + 1)
                    continue
                for row in range(0, len(frame), _LISTS):
                    part = frame[layout.items][row : row + _LISTS]
                    add_lists(builder, part, problems, start + row + 1)
                    tell((start + row) / n_rows)
        problems.check()


def write_parquet(
    transactions: Transactions,
    parts: Iterable[NDArray[np.int64]],
    target: BinaryIO,
    layout: Layout,
    tell: Callable[[], None] = QUIET,
) -> None:
    """Write distinct rows, given in `parts`, in their order, as a long table or as lists."""
    require_polars("writing Parquet")
    from overcoat.data.io.tables import frame_of

    frame = frame_of(transactions, parts, layout)
    stream = _Stoppable(target)

    def write() -> None:
        # The size of the row groups is fixed, so that the bytes are the same on every machine.
        frame.write_parquet(
            stream,  # type: ignore[arg-type]
            compression="zstd",
            statistics=False,
            row_group_size=_ROW_GROUP,
        )

    # It writes from threads of its own, while this one waits; an interrupt would not reach it.
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(write)
        try:
            while not wait([future], _PAUSE).done:
                tell()
        finally:
            stream.is_open = False
    if stream.error is not None:
        raise stream.error
    future.result()


class _Stoppable:
    """A stream for polars to write to, which ends the writing when it is closed."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self.is_open = stream, True
        self.error: OSError | None = None  # polars would make it one of its own

    def write(self, content: bytes) -> int:
        if not self.is_open:
            raise InterruptedError("the writing was ended")
        try:
            self._stream.write(content)
        except OSError as error:
            self.error = error
            raise
        return len(content)

    def flush(self) -> None:
        self._stream.flush()
