"""Parquet: long tables and tables with a list column."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from queue import Full, Queue
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

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

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ParquetTable", "read_parquet", "write_parquet"]

_ROW_GROUP = 1 << 18  # rows written, and decoded, at once
# Lists take more memory than pairs. With a million rows, to decode as few as these at once takes a
# sixth longer and up to a third less memory in all, and to write them saves a quarter.
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
    table.read(pairs, tell)
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

    def read(self, pairs: Pairs, tell: Callable[[float], None]) -> None:
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
                    add_lists(pairs, part, problems, start + row + 1)
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
    import polars as pl
    from polars.io.plugins import register_io_source

    from overcoat.data.io.tables import frame_of, frames_of

    stream, frames = _Stoppable(target), _Frames()
    table = register_io_source(frames.take, schema=frame_of(transactions, [], layout).schema)

    def write() -> None:
        # The size of the row groups is fixed, so that the bytes are the same on every machine.
        table.sink_parquet(
            cast(IO[bytes], stream),
            compression="zstd",
            statistics=False,
            row_group_size=_FEW if layout.format == "list" else _ROW_GROUP,
        )

    # Polars writes from threads of its own, which an interrupt would not reach. This one makes
    # the frames, hands them over, and waits.
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(write)
        try:
            for frame in chain(frames_of(transactions, parts, layout), [None]):
                while not (taken := frames.give(frame)) and not future.done():
                    tell()
                if not taken:
                    break  # the writing has failed
            while not wait([future], _PAUSE).done:
                tell()
        finally:
            stream.is_open = False
            frames.end()
    if stream.error is not None:
        raise stream.error
    try:
        future.result()
    except pl.exceptions.PolarsError as error:
        raise DataError(f"cannot be written as Parquet: {error}") from None


class _Frames:
    """Hands frames over to polars, one at a time."""

    def __init__(self) -> None:
        self._next: Queue[pl.DataFrame | None] = Queue(1)
        self._ended = False

    def give(self, frame: pl.DataFrame | None) -> bool:
        """Hand a frame over, None after the last; say whether it was taken soon."""
        try:
            self._next.put(frame, timeout=_PAUSE)
        except Full:
            return False
        return True

    def take(self, *asked: object) -> Iterator[pl.DataFrame]:
        """Yield the frames; polars may ask for some columns or rows, but here wants all."""
        while not self._ended and (frame := self._next.get()) is not None:
            yield frame

    def end(self) -> None:
        """Let those go who wait for a frame."""
        self._ended = True
        with suppress(Full):
            self._next.put_nowait(None)


class _Stoppable(io.RawIOBase):
    """A stream for polars to write to, which ends the writing when it is no longer open."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self.is_open = stream, True
        self.error: OSError | None = None  # polars would make it one of its own

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        if not self.is_open:
            raise InterruptedError("the writing was ended")
        try:
            self._stream.write(content)
        except OSError as error:
            self.error = error
            raise
        return len(content)

    def flush(self) -> None:
        if self.is_open:  # it is called once more, when all is over
            self._stream.flush()
