"""Parquet: long tables and tables with a list column."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from overcoat.data.io.pairs import Pairs
from overcoat.data.io.problems import Problems
from overcoat.data.layout import Layout
from overcoat.data.memory import require_polars
from overcoat.data.transactions import Transactions, TransactionsBuilder
from overcoat.errors import DataError

__all__ = ["list_column", "read_parquet", "write_parquet"]

_ROWS = 1 << 20  # decoded at once
_ROW_GROUP = 1 << 18


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
    path: Path, layout: Layout, builder: TransactionsBuilder, problems: Problems
) -> None:
    """Add the transactions of a Parquet file to `builder`, some row groups at a time."""
    require_polars("reading Parquet", problems.file)
    import polars as pl

    from overcoat.data.io.tables import add_lists, add_pairs, check_types

    pairs = Pairs(builder)
    with _sound(problems.file):
        table = pl.scan_parquet(path, glob=False)  # a name, never a pattern
        check_types(table.collect_schema(), layout, problems.file)
        columns = [layout.id, layout.item] if layout.format == "long" else [layout.items]
        n_rows = table.select(pl.len()).collect().item()
        for start in range(0, n_rows, _ROWS):
            frame = table.select(columns).slice(start, _ROWS).collect()
            if layout.format == "long":
                add_pairs(pairs, frame, layout, problems, start + 1)
            else:
                add_lists(builder, frame[layout.items], problems, start + 1)
    problems.check()
    pairs.finish()


def write_parquet(
    transactions: Transactions, rows: NDArray[np.int64], target: Path | BinaryIO, layout: Layout
) -> None:
    """Write these distinct `rows`, in their order, as a long table or as lists."""
    require_polars("writing Parquet")
    import polars as pl

    from overcoat.data.io.tables import frame_of

    frame = frame_of(transactions, rows, layout)
    # The size of the row groups is fixed, so that the bytes are the same on every machine.
    try:
        frame.write_parquet(target, compression="zstd", statistics=False, row_group_size=_ROW_GROUP)
    except pl.exceptions.PolarsError as error:  # in which polars wraps what the system said
        raise OSError(str(error).rsplit(": ", 1)[-1]) from error
