"""Reading: which reader a source needs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import IO, Any, TypeGuard

from overcoat.context import QUIET, Stage
from overcoat.data.codes import Shape, in_shape
from overcoat.data.io.asked import Asked
from overcoat.data.io.databases.known import is_database, refuse_database_file
from overcoat.data.io.fhir import fhir_files, is_fhir, read_fhir
from overcoat.data.io.files import Parts, find_parts
from overcoat.data.io.fitting import refuse_for_files
from overcoat.data.io.frames import home, read_frame, read_sparse
from overcoat.data.io.names import plain_suffix
from overcoat.data.io.omop.domains import refuse_model
from overcoat.data.io.reading import MEMORY, Reading
from overcoat.data.io.source import open_source
from overcoat.data.layout import Layout
from overcoat.data.memory import require_memory
from overcoat.data.spill import Spill, spilling
from overcoat.data.transactions import Transactions, TransactionsBuilder
from overcoat.errors import DataError

__all__ = ["read", "read_as", "read_source"]

File = str | os.PathLike[str] | IO[Any]


def read(
    source: Any,
    *,
    id: str | None = None,  # noqa: A002
    item: str | Sequence[str] | None = None,
    items: str | Sequence[str] | None = None,
    sep: str | None = None,
    encoding: str | None = None,
    header: bool = False,
    format: str | None = None,  # noqa: A002
    sheet: str | int | None = None,
    query: str | None = None,
    omop: bool = False,
    domain: str | None = None,
    system: str | None = None,
    pad: int | None = None,
    trim: bool = False,
    upper: bool = False,
    keep_order: bool = False,
    stage: Stage = QUIET,
) -> Transactions:
    r"""Read transactions from a file, a stream, a frame or Python objects.

    Parameters
    ----------
    source : a path, ``-`` (standard input), a binary stream; a folder or a pattern (``*.csv``) of
        files that are one table; a pandas or polars frame, or anything
        that gives an Arrow stream (pyarrow's tables, DuckDB's relations); a SciPy sparse matrix; an
        iterable of collections of strings; or transactions, returned as they are
    id, item : the columns of a long table; several columns of items make it a wide one
    items : the list column; for a sparse matrix the labels of its columns
    sep : separator of the items of a basket or the fields of a table, where it cannot be told
    encoding : of a text, where it cannot be told
    header : the basket file starts with a header line
    format : basket, long or list, when the other arguments do not say it
    sheet : of a workbook, by its name or its number from 1; by default the first that is shown
    query : the statement whose rows are read from a database
    omop, domain : read an OMOP common data model: its conditions, or another domain
    system : of several codings of a FHIR resource, the one to take
    pad, trim, upper : bring codes into shape: zeros in front up to so many digits, no blanks
        around, capital letters
    keep_order : remember the order of the transactions in `Transactions.positions`
    stage : told how many bytes of a file are read, and of how many

    Raises
    ------
    DataError
        with file and line, when the source cannot be read as transactions

    Examples
    --------
    >>> read([{"bread", "milk"}, {"milk"}, {"milk", "bread"}])
    Transactions(3 transactions, 2 distinct, 2 items)
    >>> import io
    >>> list(read(io.BytesIO(b"milk bread\n\nmilk\n")))
    [((), 1), (('bread', 'milk'), 1), (('milk',), 1)]
    """
    asked = Asked(
        id=id,
        item=item,
        items=items,
        sep=sep,
        encoding=encoding,
        header=header,
        format=format,
        sheet=sheet,
        query=query,
        omop=omop,
        domain=domain,
        system=system,
        pad=pad,
        trim=trim,
        upper=upper,
    )
    return read_source(source, asked, keep_order=keep_order, stage=stage)


def read_source(
    source: Any, asked: Asked, *, keep_order: bool = False, stage: Stage = QUIET
) -> Transactions:
    """Read transactions as was asked; see `read`."""
    with spilling(stage, keep_order=keep_order) as spill:
        data = _read_unshaped(source, asked, spill, keep_order=keep_order, stage=stage)
    return in_shape(data, Shape(asked.pad, asked.trim, asked.upper), stage=stage)


def _read_unshaped(
    source: Any, asked: Asked, spill: Spill | None, *, keep_order: bool, stage: Stage
) -> Transactions:
    if isinstance(source, Transactions):
        return source
    if asked.omop:
        from overcoat.data.io.omop.reading import read_omop

        return read_omop(source, asked, keep_order=keep_order, stage=stage)
    if is_database(source):
        from overcoat.data.io.databases.reading import read_database

        return read_database(source, asked, spill, keep_order=keep_order, stage=stage)
    library = home(source)
    if library == "scipy":
        return read_sparse(source, asked.items, keep_order=keep_order)
    if asked.items is not None and not isinstance(asked.items, str):
        raise DataError("a sequence of items is for sparse matrices; here it is a column's name")
    if library is not None:
        refuse_for_files(asked, None)
        if asked.encoding is not None:
            raise DataError("an encoding is for texts; this is a frame")
        return read_frame(source, asked, keep_order=keep_order)
    if not _is_file(source):
        if isinstance(source, (bytes, bytearray)):
            raise DataError(f"cannot read transactions from {type(source).__name__}")
        if unfit := [name for name in asked.said if name not in ("pad", "trim", "upper")]:
            raise DataError(
                f"{', '.join(unfit)} cannot be said of a {type(source).__name__}, which is taken "
                "as sets of items; give a file, a frame or a database connection"
            )
        return Transactions.of(source, keep_order=keep_order)

    if resources := fhir_files(source):
        return read_fhir(resources, asked, name=str(source), keep_order=keep_order, stage=stage)
    reading = Reading(asked, keep_order=keep_order, spill=spill)
    if isinstance(source, (str, os.PathLike)) and source != "-":
        if os.path.isdir(source):
            refuse_model(os.listdir(source), os.fspath(source))
        parts = find_parts(source)
        if parts is not None:
            paths = [part.path for part in parts.files]
            if is_fhir(plain_suffix(paths[0].name), b""):
                name = os.fspath(source)
                return read_fhir(paths, asked, name=name, keep_order=keep_order, stage=stage)
            refuse_for_files(asked, os.fspath(source))
            return _read_parts(parts, os.fspath(source), reading, stage)
    with open_source(source, stage, asked.encoding) as opened:
        name = opened.name
        refuse_database_file(opened.head(16), name)
        if is_fhir(opened.suffix, opened.head(1 << 12)):
            return read_fhir([opened], asked, name=name, keep_order=keep_order, stage=stage)
        refuse_for_files(asked, name)
        reading.add(opened)
        return reading.finish(stage.still(opened.size, opened.size))


def _read_parts(parts: Parts, name: str, reading: Reading, stage: Stage) -> Transactions:
    """Read files that are one table."""
    done, size = 0, parts.size
    if reading.keeps_all:
        require_memory(MEMORY * size, "reading it", name, limit=stage.memory)
    for part in parts.files:
        share = stage.share(done, size)
        with open_source(part.path, share, reading.asked.encoding) as opened:
            reading.add(opened, part.keys, part.name)
            done += opened.size
    return reading.finish(stage.still(size, size), name, parts.notes)


def read_as(
    source: File,
    layout: Layout,
    *,
    keep_order: bool = False,
    into: TransactionsBuilder | None = None,
    stage: Stage = QUIET,
) -> Transactions:
    r"""Read a file of known layout, whatever its name; gzip is recognised by its first bytes.

    `into` is what takes the rows, if it is not to be an ordinary builder.

    >>> import io
    >>> list(read_as(io.BytesIO(b"a;b\n"), Layout("basket", sep=";")))
    [(('a', 'b'), 1)]
    """
    with spilling(stage, keep_order=keep_order) as spill, open_source(source, stage) as opened:
        reading = Reading(layout=layout, keep_order=keep_order, spill=spill, builder=into)
        reading.add(opened)
        return reading.finish(stage.still(opened.size, opened.size))


def _is_file(source: object) -> TypeGuard[File]:
    return isinstance(source, (str, os.PathLike)) or hasattr(source, "read")
