"""What a file's name, and what the user said, tell about its layout."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, get_args

from overcoat.data.io.columns import named_items
from overcoat.data.layout import Format, Layout
from overcoat.errors import DataError

if TYPE_CHECKING:
    from overcoat.data.io.asked import Asked

__all__ = [
    "STDIN",
    "SUFFIXES",
    "check_format",
    "check_sep",
    "default_sep",
    "ending_note",
    "formula_note",
    "input_layout",
    "is_gzip_name",
    "is_parquet_name",
    "output_layout",
    "plain_suffix",
]

STDIN = "standard input"
WORKBOOK = ".xlsx"

_PARQUET = {".parquet", ".pq"}
_SEPARATORS: dict[str, str | None] = {".dat": None, ".txt": None, ".csv": ",", ".tsv": "\t"}
SUFFIXES = frozenset(_PARQUET.union(_SEPARATORS))  # of data files
# Files of one family are read alike, so a separator carries over from one to another.
_FAMILIES = {".dat": ".dat", ".txt": ".dat", ".csv": ".csv", ".tsv": ".tsv"}


# What else a name may promise, and would not keep.
_OTHER = frozenset(
    {".arrow", ".feather", ".html", ".json", ".ndjson", ".ods", ".xls", ".xlsm", ".zip"}
)
_PACKED = frozenset({".br", ".bz2", ".lz4", ".xz", ".zst"})  # what is not written, nor read
_FORMULA = re.compile(r"[=@\t]|[+-](?![\d.,]*$)")
_DATABASES = frozenset({".db", ".duckdb", ".sqlite", ".sqlite3"})


def is_gzip_name(name: str) -> bool:
    """Say whether `name` promises gzip."""
    return name.lower().endswith(".gz")


def plain_suffix(name: str) -> str:
    """Return the suffix of `name` in lower case, ``.gz`` left out.

    >>> plain_suffix("Released.CSV.gz")
    '.csv'
    """
    path = PurePath(name.lower())
    return (path.with_suffix("") if path.suffix == ".gz" and path.stem else path).suffix


def is_parquet_name(name: str) -> bool:
    """Say whether `name` promises Parquet."""
    return plain_suffix(name) in _PARQUET


def default_sep(suffix: str | None) -> str | None:
    """Return what separates the items of a basket file of that name; None is white space."""
    return _SEPARATORS.get(suffix or "")


def check_sep(sep: str | None) -> None:
    """Raise unless `sep` can separate items; None is white space."""
    if sep is not None and (len(sep) != 1 or sep in '"\r\n' or "\ud800" <= sep <= "\udfff"):
        raise DataError(
            f"the separator must be one character, not a quote or a line break; got {sep!r}"
        )


def check_format(format: str | None) -> Format | None:  # noqa: A002
    """Return `format` if it is one, else raise."""
    for known in get_args(Format):
        if format == known:
            return known  # type: ignore[no-any-return]
    if format is not None:
        raise DataError(f"unknown format {format!r}; there are {', '.join(get_args(Format))}")
    return None


def input_layout(suffix: str | None, asked: Asked, *, parquet: bool = False) -> Layout:
    """Return the layout of an input, from its name and what the user said.

    >>> from overcoat.data.io.asked import Asked
    >>> input_layout(".csv", Asked()).sep, input_layout(".dat", Asked()).sep
    (',', None)
    >>> input_layout(".tsv", Asked(id="patient", item="code")).format
    'long'
    """
    id, items = asked.id, asked.items  # noqa: A001
    item, columns = named_items(asked.item)
    kind = check_format(asked.format)
    by_row = bool(columns) and id is None
    if (id is None) != (item is None) and kind != "long" and not by_row:
        raise DataError("a long table needs both columns: the id and the item")
    if id is not None and id == item:
        raise DataError(f"the id and the item cannot be one column, {id!r}")
    implied: Format = "list" if items is not None or parquet else "basket"
    if id is not None or item is not None:
        if items is not None:
            raise DataError("give either the id and item columns or the items column, not both")
        implied = "long"
    kind = kind or implied
    if implied == "long" and kind != "long":
        raise DataError(f"the id and item columns are for a long table, not for format {kind!r}")
    if items is not None and kind != "list":
        raise DataError(f"an items column is for the list format, not for format {kind!r}")
    if kind == "basket" and parquet:
        raise DataError("a Parquet file cannot be a basket; it holds a long table or lists")
    if kind == "list" and not parquet:
        raise DataError("a list column needs Parquet or a frame; this is a text file")
    default = default_sep(suffix)
    if kind == "long":
        default = default or ","
    return Layout(
        format=kind,
        parquet=parquet,
        sep=None if parquet else asked.sep or default,
        header=asked.header and kind == "basket",
        id=id or "id",
        item=item or "item",
        items=items if isinstance(items, str) else "items",
        columns=columns,
        by_row=by_row,
        suffix=suffix,
    )


def output_layout(
    path: str | os.PathLike[str],
    layout: Layout | None,
    to: str | None = None,
    sep: str | None = None,
) -> Layout:
    """Return the layout of an output: the input's unless the name or `to` says otherwise.

    Parameters
    ----------
    path : the output's name, or ``-``
    layout : the input's layout; None when it was a Python object
    to : basket, long or list
    sep : separator of a text output

    >>> output_layout("released.csv", Layout("long", sep=";", suffix=".csv")).sep
    ';'
    >>> output_layout("released.parquet", Layout("basket")).format
    'list'
    >>> output_layout("released.csv", None, to="list")
    Traceback (most recent call last):
    overcoat.errors.DataError: released.csv: lists need Parquet; name the file .parquet
    """
    check_sep(sep)
    name = os.fspath(path)
    suffix = plain_suffix(name)
    before = layout or Layout("basket")
    parquet = suffix in _PARQUET
    text = suffix in _SEPARATORS
    if suffix in _DATABASES:
        scheme = "duckdb" if suffix == ".duckdb" else "sqlite"
        raise DataError(f"a database holds tables; name one: {scheme}:///{name}#released", name)
    if suffix in _PACKED:
        plain = name[: -len(suffix)]
        raise DataError(f"cannot compress to {suffix}; name the file {plain} or {plain}.gz", name)
    if suffix in _OTHER:
        raise DataError(f"cannot write {suffix}; name the file .csv, .dat, .parquet or .xlsx", name)
    if suffix == WORKBOOK or (before.workbook and not text and not parquet and to is None):
        return _workbook_layout(before, to, suffix, name)

    kind: Format = before.format
    if suffix in {".dat", ".txt"} or (text and kind == "list"):
        kind = "basket"
    elif parquet and kind == "basket":
        kind = "list"
    kind = check_format(to) or kind

    if kind == "list" and text:
        raise DataError("lists need Parquet; name the file .parquet", name)
    if kind == "basket" and parquet:
        raise DataError("a basket is text; name the file .dat, .txt, .csv or .tsv", name)
    if not text and not parquet:
        parquet = kind == "list" or (kind == "long" and before.parquet)
    if parquet and is_gzip_name(name):
        raise DataError("Parquet is compressed already; leave .gz out of the name", name)
    return replace(
        before,
        format=kind,
        parquet=parquet,
        workbook=False,
        sep=None if parquet else sep or _output_sep(suffix, kind, before),
        header=before.header and kind == "basket",
        columns=(),
        by_row=False,
        quote='"',
        bom=before.bom and name != "-",
        suffix=suffix or before.suffix,
    )


def ending_note(path: str | os.PathLike[str], layout: Layout) -> str | None:
    """Return what to say of a name whose ending promises nothing; `layout` is that of the output.

    >>> ending_note("released.foo", Layout("long", sep=";"))
    "released.foo: the ending .foo says no format; it is text like the input, separated by ';'"
    >>> ending_note("released.csv", Layout("long", sep=";"))
    """
    name = os.fspath(path)
    suffix = plain_suffix(name)
    if name == "-" or not suffix or suffix in SUFFIXES or suffix == WORKBOOK:
        return None
    what = "Parquet" if layout.parquet else "a workbook" if layout.workbook else "text"
    between = "" if layout.parquet or layout.workbook else f", separated by {layout.sep or ' '!r}"
    return f"{name}: the ending {suffix} says no format; it is {what} like the input{between}"


def formula_note(path: str | os.PathLike[str], layout: Layout, labels: Iterable[str]) -> str | None:
    """Return what to say of a text whose labels a spreadsheet may take for formulas.

    They are written as they are, since whoever reads the text must find them so.

    >>> formula_note("released.csv", Layout("long", sep=","), ["=1+1", "-5", "flu", "(=1+1|a)"])
    "released.csv: 1 label begins like a formula of a spreadsheet, such as '=1+1'; people who open \
it in one are safer with .xlsx, where it is text"
    >>> formula_note("released.xlsx", Layout("long", workbook=True), ["=1+1"])
    """
    name = os.fspath(path)
    if layout.parquet or layout.workbook or layout.sep is None:
        return None
    found = sorted(label for label in labels if _FORMULA.match(label))
    if not found:
        return None
    begins = "label begins" if len(found) == 1 else "labels begin"
    return (
        f"{name}: {len(found):,} {begins} like a formula of a spreadsheet, such as {found[0]!r}; "
        f"people who open it in one are safer with .xlsx, where {_it(len(found))} text"
    )


def _it(number: int) -> str:
    return "it is" if number == 1 else "they are"


def _workbook_layout(before: Layout, to: str | None, suffix: str, name: str) -> Layout:
    if check_format(to) not in (None, "long"):
        raise DataError(f"a workbook holds a long table, not the format {to!r}", name)
    if is_gzip_name(name):
        raise DataError("a workbook is compressed already; leave .gz out of the name", name)
    return Layout(
        "long", workbook=True, id=before.id, item=before.item, suffix=suffix or before.suffix
    )


def _output_sep(suffix: str, kind: Format, before: Layout) -> str | None:
    same_family = _FAMILIES.get(suffix) == _FAMILIES.get(before.suffix or "")
    keeps = suffix not in _SEPARATORS or (same_family and not before.parquet)
    sep = before.sep if keeps else _SEPARATORS[suffix]
    return sep or ("," if kind == "long" else None)
