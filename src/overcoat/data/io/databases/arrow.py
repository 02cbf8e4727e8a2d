"""Arrow: how ADBC and DuckDB hand out rows."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from overcoat.data.io.databases.database import Column, Holds

if TYPE_CHECKING:
    import polars as pl

__all__ = ["adbc_batches", "columns_of", "frame_of"]


def columns_of(schema: Any) -> list[Column]:
    """Return the columns of an Arrow schema; what is not plain text or a whole number is other."""
    return [
        Column(field.name, _holds(field.type), _told(field))
        for field in (schema.field(number) for number in range(len(schema)))
    ]


def _holds(dtype: Any) -> Holds:
    from pyarrow import types

    if types.is_integer(dtype):
        return "integer"
    if types.is_dictionary(dtype):
        dtype = dtype.value_type
    if types.is_string(dtype) or types.is_large_string(dtype) or types.is_string_view(dtype):
        return "text"
    if types.is_list(dtype) or types.is_large_list(dtype) or types.is_fixed_size_list(dtype):
        return "list" if _holds(dtype.value_type) in ("text", "integer") else "other"
    return "null" if types.is_null(dtype) else "other"


def _told(field: Any) -> str:
    """Return what the database calls the type, where the driver says it."""
    metadata = field.metadata or {}
    for key in (b"ADBC:postgresql:typname", b"POSTGRESQL:type"):
        if key in metadata:
            return str(metadata[key].decode())
    return str(field.type)


def frame_of(batch: Any) -> pl.DataFrame:
    """Return a batch of rows as a frame; raise if a text in it is not UTF-8."""
    import polars as pl

    batch.validate(full=True)  # polars would take it as it is, and fail later, or not
    frame = pl.from_arrow(batch)
    assert isinstance(frame, pl.DataFrame)
    return frame


def adbc_batches(
    connection: Any, statement: str, options: Mapping[str, str], picked: Sequence[int] = ()
) -> Generator[Any, None, None]:
    """Yield the rows of a statement as Arrow batches; of some columns, if these are picked."""
    with connection.cursor() as cursor:
        cursor.adbc_statement.set_options(**options)
        cursor.execute(statement)
        with cursor.fetch_record_batch() as reader:
            for batch in reader:
                yield batch.select(list(picked)) if picked else batch
