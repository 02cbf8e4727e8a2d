"""What a user says about a source, besides its name."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass, fields
from io import BytesIO, TextIOWrapper

from overcoat.checks import check_count
from overcoat.data.io.names import check_format, check_sep
from overcoat.errors import DataError

__all__ = ["Asked"]

_FLAGS = ("header", "omop", "trim", "upper")


@dataclass(frozen=True)
class Asked:
    """How a source is to be read; None where nothing was said.

    Attributes
    ----------
    id, item : the columns of a long table; several columns of items (a wide table) are given as a
        sequence, or as one string with commas between them
    items : the list column; for a sparse matrix the labels of its columns
    sep : what separates the items of a basket or the columns of a table
    encoding : of a text
    header : the basket file starts with a header line
    format : basket, long or list, where the rest does not say it
    sheet : of a workbook, by its name or its number from 1
    query : the statement whose rows are read from a database
    omop, domain : read an OMOP common data model: its conditions, or those of another domain
    system : of several codings of a FHIR resource, the one to take
    pad, trim, upper : bring codes into shape: zeros in front up to so many digits, no blanks
        around, capital letters
    """

    id: str | None = None
    item: str | Sequence[str] | None = None
    items: str | Sequence[str] | None = None
    sep: str | None = None
    encoding: str | None = None
    header: bool = False
    format: str | None = None
    sheet: str | int | None = None
    query: str | None = None
    omop: bool = False
    domain: str | None = None
    system: str | None = None
    pad: int | None = None
    trim: bool = False
    upper: bool = False

    def __post_init__(self) -> None:
        for name in ("id", "sep", "encoding", "query", "domain", "system"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise DataError(f"{name} must be a string, not {value!r}")
        for name in _FLAGS:
            if not isinstance(getattr(self, name), bool):
                raise DataError(f"{name} must be True or False, not {getattr(self, name)!r}")
        for name in ("item", "items"):
            value = getattr(self, name)
            if isinstance(value, str) or value is None:
                continue
            if not isinstance(value, Sequence) or not all(isinstance(one, str) for one in value):
                raise DataError(f"{name} must be a name or a list of names, not {value!r}")
            object.__setattr__(self, name, tuple(value))
        check_sep(self.sep)
        check_format(self.format)
        if self.pad is not None:
            check_count("pad", self.pad)
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
                TextIOWrapper(BytesIO(), self.encoding).close()
            except (LookupError, ValueError):  # unknown, or not one of texts
                raise DataError(
                    f"there is no encoding {self.encoding!r}; usual ones are utf-8, utf-16, "
                    "windows-1252 and latin-1"
                ) from None

    @property
    def said(self) -> list[str]:
        """The names of what was said."""
        return [one.name for one in fields(self) if getattr(self, one.name) != one.default]
