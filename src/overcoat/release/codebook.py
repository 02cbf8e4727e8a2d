"""The codebook: what became of each item, as a table for people."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from gzip import decompress as gunzip
from pathlib import Path
from typing import TYPE_CHECKING

from overcoat.data.io.delimited import Dialect
from overcoat.data.io.names import WORKBOOK, is_gzip_name, plain_suffix
from overcoat.data.io.packing import pack
from overcoat.data.io.problems import Problems
from overcoat.data.io.sheets import write_sheet
from overcoat.errors import DataError

if TYPE_CHECKING:
    from overcoat.release.result import Result

__all__ = [
    "COLUMNS",
    "check_codebook",
    "codebook_bytes",
    "codebook_cells",
    "codebook_columns",
    "codebook_rows",
    "read_codebook",
]

COLUMNS = ("item", "description", "label", "group_size", "set", "exact")
EARLIER = "earlier_label"  # one more, where a release goes on from an earlier one
Row = tuple[str | int | None, ...]

_SEPARATORS = {".csv": ",", ".tsv": "\t"}


def check_codebook(path: str | os.PathLike[str] | None) -> None:
    """Raise unless a codebook can be written under this name."""
    if path is None:
        return
    name = os.fspath(path)
    suffix = plain_suffix(name)
    if suffix not in _SEPARATORS and suffix != WORKBOOK:
        raise DataError("a codebook is a table; name the file .csv, .tsv or .xlsx", name)
    if suffix == WORKBOOK and is_gzip_name(name):
        raise DataError("a workbook is compressed already; leave .gz out of the name", name)


def codebook_rows(result: Result) -> list[Row]:
    """Return a row for each item of the domain, in item order.

    Its description where the source, or a list beside it, has one; its label and how many items
    have it, None where it is suppressed; the named utility set it belongs to, and whether the count
    of that set is exact. If the release goes on from an earlier one, also its label there.
    """
    names = {**result.data.origin.names, **result.described}
    blocks = result.policy.utility.named
    exact = {count.name: "yes" if count.exact else "no" for count in result.counts}
    block_of = {
        result.data.vocabulary[code]: block.name for block in blocks for code in block.codes
    }
    sizes = {label: len(items) for label, items in result.mapping.groups.items()}
    start = None if result.method is None else result.method.start
    rows: list[Row] = []
    for item, label in result.mapping.items():
        block = block_of.get(item)
        rows.append(
            (
                item,
                names.get(item),
                label,
                None if label is None else sizes[label],
                block,
                None if block is None else exact.get(block),
                *(() if start is None else (start.get(item),)),
            )
        )
    return rows


def codebook_columns(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the names of the columns of some rows."""
    return (*COLUMNS, EARLIER) if rows and len(rows[0]) > len(COLUMNS) else COLUMNS


def read_codebook(path: Path, name: str, *, like: str | None = None) -> list[list[str]]:
    """Return the cells of a codebook that was written under a name, as anybody would read them."""
    suffix = plain_suffix(name)
    if suffix == WORKBOOK:
        from overcoat.data.io.workbook import sheet_rows

        rows = [cells for _, cells in sheet_rows(path, name)]
        return [[*cells, *[""] * (len(rows[0]) - len(cells))] for cells in rows]
    content = path.read_bytes()
    text = (gunzip(content) if is_gzip_name(name) else content).decode("utf-8-sig")
    dialect = Dialect(_separator(suffix, like), trim=False, keep_empty=True)
    problems = Problems(name)
    found = [cells for _, cells in dialect.records(text, 1, problems)]
    problems.check()
    return found


def codebook_cells(rows: Sequence[Row]) -> list[list[str]]:
    """Return what the cells of a codebook have to say."""
    return [
        ["" if value is None else str(value) for value in row]
        for row in [codebook_columns(rows), *rows]
    ]


def _separator(suffix: str, like: str | None) -> str:
    return ";" if like == ";" and suffix == ".csv" else _SEPARATORS[suffix]


def codebook_bytes(
    path: str | os.PathLike[str], rows: Sequence[Row], *, bom: bool = False, like: str | None = None
) -> bytes:
    """Return the content of a codebook file; with `bom`, of a text that Excel takes for UTF-8.

    `like` is what separates the columns of the release: a ``.csv`` with semicolons comes in two.
    """
    check_codebook(path)
    suffix = plain_suffix(os.fspath(path))
    if suffix == WORKBOOK:
        stream = io.BytesIO()
        write_sheet(stream, codebook_columns(rows), rows)
        return stream.getvalue()
    sep = _separator(suffix, like)
    quote = Dialect(sep, trim=False).quote
    lines = [sep.join(quote(cell) if cell else "" for cell in row) for row in codebook_cells(rows)]
    text = "\n".join(lines) + "\n"
    return pack(path, text.encode("utf-8-sig" if bom else "utf-8"))
