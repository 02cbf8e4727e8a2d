"""How transactions are laid out in a file, so that a release can look like its input."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Format", "Layout"]

Format = Literal["basket", "long", "list"]


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a data file.

    Attributes
    ----------
    format : basket (one transaction a line), long (one (transaction, item) pair a row) or list
        (a table with a list column)
    parquet : whether the container is Parquet; else it is text, or
    workbook : whether it is a workbook (.xlsx)
    sep : separator of the text; None is white space in a basket, a comma in a long table
    header : the basket file starts with a header line
    id, item : column names of a long table
    items : name of the list column
    columns : of a wide table, the columns that hold its items. Only an input is one: its release
        is a long table, since the order of the columns means something (the first diagnosis) that
        a release does not know
    by_row : each row of the wide table is a transaction; it has no id
    quote : what encloses fields of the text: ``"``, ``'``, or nothing where quotes are letters. A
        release has ``"``
    bom : the text starts with a byte order mark, so that Excel takes it for UTF-8. A matter of
        bytes, not of layout, so it does not take part in comparisons either.
    suffix : of the input's name, ``.gz`` left out; None when there was no name. It only helps to
        choose the separator of the output, so it does not take part in comparisons.
    """

    format: Format
    parquet: bool = False
    workbook: bool = False
    sep: str | None = None
    header: bool = False
    id: str = "id"
    item: str = "item"
    items: str = "items"
    columns: tuple[str, ...] = ()
    by_row: bool = False
    quote: str = '"'
    bom: bool = field(default=False, compare=False)
    suffix: str | None = field(default=None, compare=False)
