"""What a source shows before it is read: its columns, its first rows, and how it may be meant."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from overcoat.context import QUIET, Stage
from overcoat.data.io.asked import Asked
from overcoat.data.io.databases.known import is_database
from overcoat.data.io.delimited import Dialect
from overcoat.data.io.dialects import basket_dialect, guess_columns, looks_like_table, table_dialect
from overcoat.data.io.fhir import fhir_files, is_fhir
from overcoat.data.io.files import find_parts
from overcoat.data.io.names import input_layout, plain_suffix
from overcoat.data.io.problems import Problems
from overcoat.data.io.source import Source, open_source
from overcoat.data.layout import Layout
from overcoat.errors import DataError

__all__ = ["Glimpse", "glimpse"]

_ROWS = 8
_SHORT = 3  # lines from which a table can be told when a person looks at what was guessed
_LONGEST = 200  # characters of a value
_MODEL = ("concept", "person")  # files that an OMOP folder has


@dataclass(frozen=True)
class Glimpse:
    """What a source shows.

    Attributes
    ----------
    kind : table, baskets (one person a line), lists (Parquet with a list column), database, fhir,
        or model (OMOP)
    columns : the names of its columns; none where it has none
    rows : the first rows
    guess : how it is to be read, as far as that can be told: values of `Asked`
    sep, encoding : of a text
    sheets : of a workbook
    tables : of a database
    n_files : how many files it is made of
    """

    kind: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    guess: dict[str, Any] = field(default_factory=dict)
    sep: str | None = None
    encoding: str = ""
    sheets: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    n_files: int = 1


def glimpse(source: str, asked: Asked, *, stage: Stage = QUIET) -> Glimpse:
    r"""Look at the first rows of a source.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "visits.csv")
    ...     _ = path.write_text("patient;code\n1;038\n1;250.00\n2;038\n")
    ...     seen = glimpse(str(path), Asked())
    >>> seen.kind, seen.columns, seen.sep, seen.guess
    ('table', ('patient', 'code'), ';', {'id': 'patient', 'item': 'code'})
    """
    if is_database(source):
        return _of_database(source, asked, stage)
    if os.path.isdir(source):
        names = {Path(name).name.lower().split(".")[0] for name in os.listdir(source)}
        if {*_MODEL} <= names:
            return Glimpse("model", guess={"omop": True}, n_files=len(names))
    if resources := fhir_files(source):
        return Glimpse("fhir", n_files=len(resources))
    parts = find_parts(source)
    if parts is None:
        return _of_file(source, asked, stage)
    first, *others = parts.files
    if is_fhir(plain_suffix(first.path.name), b""):
        return Glimpse("fhir", n_files=len(parts.files))
    return replace(_of_file(str(first.path), asked, stage), n_files=1 + len(others))


def _of_file(path: str, asked: Asked, stage: Stage) -> Glimpse:
    with open_source(path, stage, asked.encoding) as source:
        if source.empty:
            raise DataError("the file is empty", source.name, 1)
        if is_fhir(source.suffix, source.head(1 << 12)):
            return Glimpse("fhir")
        if source.parquet:
            with source.on_disk() as there:
                return _of_parquet(there)
        if source.workbook:
            with source.on_disk() as there:
                return _of_workbook(there, asked, source.name)
        source.check_text()
        return _of_text(source, asked)


def _of_text(source: Source, asked: Asked) -> Glimpse:
    head = source.first_lines()
    told = source.encoding or asked.encoding or ""
    layout = input_layout(source.suffix, asked)
    if layout.format == "basket":
        found = looks_like_table(head, layout, least=_SHORT)
        if found is None or "sep" in asked.said or asked.header or asked.format == "basket":
            layout = basket_dialect(head, layout, sep=asked.sep)
            text = head.decode("utf-8", "replace")
            lines = [line for line in text.split("\n") if line.strip()][: _ROWS + asked.header]
            split = [_fields(line, layout) for line in lines[asked.header :]]
            return Glimpse("baskets", rows=_cut(split), sep=layout.sep, encoding=told)
        layout = replace(layout, format="long", sep=found[1])
    else:
        layout, found = table_dialect(head, layout, sep=asked.sep), None
    text = head.decode("utf-8", "replace")
    text = text[: text.rfind("\n") + 1] or text
    records = Dialect(layout.sep or ",", trim=False, mark=layout.quote).records(text, 1, Problems())
    header, *rows = [fields for _, fields in islice(records, _ROWS + 1)]
    guess = {} if found is None else guess_columns(header, rows)
    return Glimpse("table", tuple(header), _cut(rows), guess, layout.sep, told)


def _fields(line: str, layout: Layout) -> list[str]:
    """Return the items of a line; where its quotes are not in order, they are as any letter."""
    line = line.rstrip("\r")
    if layout.sep is None:
        return line.split()
    try:
        return Dialect(layout.sep, trim=True, mark=layout.quote).split(line)
    except ValueError:
        return [part.strip() for part in line.split(layout.sep)]


def _of_parquet(path: Path) -> Glimpse:
    import polars as pl

    table = pl.scan_parquet(path, glob=False, hive_partitioning=False)
    schema = table.collect_schema()
    frame = table.head(_ROWS).collect()
    columns = tuple(schema)
    rows = _cut([[_shown(value) for value in row] for row in frame.iter_rows()])
    lists = [name for name, kind in schema.items() if isinstance(kind, pl.List)]
    if lists:
        return Glimpse("lists", columns, rows, {"items": lists[0]})
    return Glimpse("table", columns, rows, guess_columns(columns, rows))


def _of_workbook(path: Path, asked: Asked, name: str) -> Glimpse:
    from overcoat.data.io.workbook import require_openpyxl, sheet_rows

    with path.open("rb") as stream:
        book = require_openpyxl(name)(stream, read_only=True, data_only=True, keep_links=False)
        with closing(book):
            sheets = tuple(one.title for one in book.worksheets if one.sheet_state == "visible")
    rows = [cells for _, cells in sheet_rows(path, name, _ROWS + 4, asked.sheet)]
    wide = max((len(cells) for cells in rows), default=0)
    # The header is the first row that is as wide as any: above it stand titles.
    at = next((place for place, cells in enumerate(rows) if len(cells) == wide), 0)
    header = rows[at] if rows else []
    body = [[*cells, *[""] * (wide - len(cells))] for cells in rows[at + 1 :]][:_ROWS]
    guess = {} if asked.item is not None else guess_columns(header, body)
    return Glimpse("table", tuple(header), _cut(body), guess, sheets=sheets)


def _of_database(source: str, asked: Asked, stage: Stage) -> Glimpse:
    from overcoat.data.io.databases.opening import open_database

    database, table = open_database(source, stage)
    with database:
        tables = tuple(sorted(database.table_names(None, stage)))
        if {*_MODEL} <= {one.lower() for one in tables} and not table and asked.query is None:
            return Glimpse("model", guess={"omop": True}, tables=tables)
        if table:
            query = database.table(table)
        elif asked.query is not None:
            query = asked.query
        else:
            return Glimpse("database", tables=tables)
        columns = database.columns(query, stage)
        names = [column.name for column in columns]
        first = f"SELECT * FROM ({query}\n) AS first_rows LIMIT {_ROWS}"
        frames = database.rows(first, columns, names, text_ids=True, tell=stage)
        rows = [[_shown(value) for value in row] for frame in frames for row in frame.iter_rows()]
    guess = {} if asked.item is not None else guess_columns(names, rows)
    return Glimpse("database", tuple(names), _cut(rows[:_ROWS]), guess, tables=tables)


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value))
    return str(value)


def _cut(rows: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(value[:_LONGEST] for value in row) for row in rows)
