"""What is in the archive of a workbook, besides the cells that openpyxl reads."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from xml.etree.ElementTree import iterparse

from overcoat.errors import DataError

__all__ = ["Plan", "refuse_other_files", "shared_strings"]

_CHUNK = 1 << 18
_TOLD = 1 << 10  # elements between two calls of the stage
_OLE = b"\xd0\xcf\x11\xe0"
_LOCKED = "EncryptedPackage".encode("utf-16-le")


def refuse_other_files(path: Path, file: str | None) -> None:
    """Raise unless a zip archive or a compound file is a workbook that can be read."""
    with path.open("rb") as stream:
        start = stream.read(4)
        if start == _OLE:
            content = start + stream.read()
            if _LOCKED in content:
                raise DataError(
                    "is locked with a password; open it in Excel and save it without one", file
                )
            raise DataError("is an old Excel file (.xls); save it as .xlsx or as CSV", file)
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            kind = archive.read("mimetype")[:80] if "mimetype" in names else b""
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise DataError(f"not a sound workbook ({error}); save it again", file) from None
    if b"opendocument" in kind:
        raise DataError("is an OpenDocument file; save it as .xlsx or as CSV", file)
    if "xl/workbook.bin" in names:
        raise DataError("is a binary workbook (.xlsb); save it as .xlsx or as CSV", file)
    if not any(name.startswith("xl/") for name in names):
        raise DataError("is a zip archive, not a workbook; unpack it first", file)


@dataclass
class Plan:
    """What the text of a sheet tells: merged cells, hidden rows, formulas.

    Attributes
    ----------
    merged : first column, first row, last column and last row of merged cells, counted from 1
    n_hidden : hidden rows
    formulas : whether there are any
    """

    merged: list[tuple[int, int, int, int]] = field(default_factory=list)
    n_hidden: int = 0
    formulas: bool = False

    _MERGED = re.compile(rb'<(?:\w+:)?mergeCell [^>]*ref="([A-Z]+)(\d+):([A-Z]+)(\d+)"')
    _HIDDEN = re.compile(rb'<(?:\w+:)?row [^>]*hidden="(?:1|true)"')
    _FORMULA = re.compile(rb"<(?:\w+:)?f[ >/]")

    @classmethod
    def read(cls, path: Path, member: str, tell: Callable[[], None]) -> Plan:
        """Look through the text of a sheet."""
        plan, rest = cls(), b""
        with zipfile.ZipFile(path) as archive, archive.open(member) as stream:
            while more := stream.read(_CHUNK):
                tell()
                whole, end, rest = (rest + more).rpartition(b">")
                text = whole + end
                for first, top, last, bottom in cls._MERGED.findall(text):
                    plan.merged.append((_column(first), int(top), _column(last), int(bottom)))
                plan.n_hidden += len(cls._HIDDEN.findall(text))
                plan.formulas = plan.formulas or cls._FORMULA.search(text) is not None
        return plan


def _column(letters: bytes) -> int:
    """Return the number of a column, from 1.

    >>> _column(b"A"), _column(b"AB")
    (1, 28)
    """
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number


def shared_strings(path: Path, tell: Callable[[], None]) -> list[str]:
    """Return the texts of a workbook, as they are written.

    openpyxl drops what Excel puts before a text that looks like ``_x0041_``; then nobody can tell
    it from an A.
    """
    with zipfile.ZipFile(path) as archive:
        found = [name for name in archive.namelist() if name.endswith("/sharedStrings.xml")]
        if not found:
            return []
        with archive.open(found[0]) as stream:
            return list(_strings(stream, tell))


def _strings(stream: IO[bytes], tell: Callable[[], None]) -> Iterator[str]:
    """Yield the texts of a list of strings, which may be in parts of different looks."""
    for number, (_, element) in enumerate(iterparse(stream)):
        name = element.tag.rpartition("}")[2]
        if name == "rPh":  # how to pronounce it
            element.clear()
        elif name == "si":
            yield "".join(part.text or "" for part in element.iter() if part.tag.endswith("}t"))
            element.clear()
        if number % _TOLD == 0:
            tell()
