"""Parquet: long tables and tables with a list column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET
from overcoat.data.io.pairs import Pairs
from overcoat.data.io.problems import Problems
from overcoat.data.layout import Layout
from overcoat.data.memory import require_polars
from overcoat.data.transactions import Transactions, TransactionsBuilder
from overcoat.errors import DataError

if TYPE_CHECKING:
    pass

__all__ = ["list_column", "read_parquet", "write_parquet"]

_ROW_GROUP = 1 << 18  # rows written, and decoded, at once
_LISTS = 1 << 15  # added at once: they take a while
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


def list_column(path: Path, file: str | None = None) -> str:
    """Return the name of the file's only list-of-strings column."""
    require_polars("reading Parquet", file)
    import polars as pl

    from overcoat.data.io.tables import only_list_column

    with _sound(file):
        schema = pl.scan_parquet(path, glob=False).collect_schema()
    return only_list_column(schema, file)


def read_parquet(
    path: Path,
    layout: Layout,
    builder: TransactionsBuilder,
    problems: Problems,
    tell: Callable[[float], None] | None = None,
) -> None:
    """Add the transactions of a Parquet file to `builder`; `tell` is called with the share done."""
    require_polars("reading Parquet", problems.file)
    tell = tell or (lambda share: None)
    import polars as pl

    from overcoat.data.io.tables import add_lists, add_pairs, check_types

    pairs = Pairs(builder)
    with _sound(problems.file):
        table = pl.scan_parquet(path, glob=False)  # a name, never a pattern
        check_types(table.collect_schema(), layout, problems.file)
        columns = [layout.id, layout.item] if layout.format == "long" else [layout.items]
        n_rows = table.select(pl.len()).collect().item()
        for start in range(0, n_rows, _ROW_GROUP):
            frame = table.select(columns).slice(start, _ROW_GROUP).collect()
            tell(start / n_rows)
            if layout.format == "long":
                add_pairs(pairs, frame, layout, problems, start + 1)
                continue
            for row in range(0, len(frame), _LISTS):
                part = frame[layout.items][row : row + _LISTS]
                add_lists(builder, part, problems, start + row + 1)
                tell((start + row) / n_rows)
    problems.check()
    pairs.finish(lambda: tell(1.0))


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
