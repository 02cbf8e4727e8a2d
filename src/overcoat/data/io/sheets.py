"""Writing workbooks (.xlsx): a sheet of text cells, so that no code becomes a number or a formula.

Written by hand, because a workbook is a few small texts in a zip archive: the bytes are then the
same whenever and wherever they are written, and rows go out as they come.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import BinaryIO
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET
from overcoat.data.io.long import expand
from overcoat.data.io.problems import Problems
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError

__all__ = ["ROWS", "require_room", "write_sheet", "write_workbook"]

ROWS = 1_048_576  # that a sheet can have
_CHARACTERS = 32_767  # that a cell can have
_BATCH = 1 << 14  # rows between two calls of the stage

_ODD = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_RELATIONS = "application/vnd.openxmlformats-package.relationships+xml"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

# All that a workbook of one sheet needs. Format 49 is text.
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
    f'<Default Extension="rels" ContentType="{_RELATIONS}"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPE}.worksheet+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles+xml"/>'
    f'<Override PartName="/xl/sharedStrings.xml" ContentType="{_TYPE}.sharedStrings+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
    f'Type="{_RELATION}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATION}"><sheets>'
    '<sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_RELATION}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="rId2" Type="{_RELATION}/styles" Target="styles.xml"/>'
    f'<Relationship Id="rId3" Type="{_RELATION}/sharedStrings" Target="sharedStrings.xml"/>'
    "</Relationships>",
    "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><fonts count="1"><font/></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="1"><border/></borders>'
    '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf numFmtId="0"/>'
    '<xf numFmtId="49" applyNumberFormat="1"/></cellXfs><cellStyles count="1">'
    '<cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
}


def require_room(n_rows: int, file: str | None = None) -> None:
    """Raise unless a sheet has room for so many rows below its header."""
    if n_rows + 1 > ROWS:
        raise DataError(
            f"a sheet has {ROWS:,} rows at most, and this takes up to {n_rows + 1:,}; write .csv "
            "or .parquet",
            file,
        )


def write_workbook(
    transactions: Transactions,
    parts: Iterable[NDArray[np.int64]],
    target: BinaryIO,
    layout: Layout,
    tell: Callable[[], None] = QUIET,
) -> None:
    """Write distinct rows, given in `parts`, in their order, as a long table."""
    pairs = transactions.counts * np.maximum(transactions.lengths, 1)
    require_room(int(pairs.sum()))
    labels = transactions.vocabulary.labels
    strings = _Strings([layout.id, layout.item, *labels])
    shift = strings.numbers([layout.id, layout.item])
    places = np.array(strings.numbers(labels), np.int64)

    def rows() -> Iterator[str]:
        yield _row(1, [f's="1" t="s"><v>{place}' for place in shift])
        number, done = 2, 0
        for part in parts:
            who, what = expand(transactions, part)
            cells = places[what] if len(places) else what
            for one, cell, held in zip(
                (who + done + 1).tolist(), cells.tolist(), (what >= 0).tolist(), strict=True
            ):
                yield _pair(number, one, cell if held else None)
                number += 1
            done += len(part)

    _write(target, strings, rows(), f"A1:B{int(pairs.sum()) + 1}", tell)


def write_sheet(
    target: BinaryIO, columns: Sequence[str], rows: Iterable[Sequence[str | int | None]]
) -> None:
    """Write a small table: texts as text, numbers as numbers, None as an empty cell."""
    every = [columns, *rows]
    require_room(len(every) - 1)
    strings = _Strings(value for row in every for value in row if isinstance(value, str))

    def cell(value: str | int | None) -> str | None:
        if isinstance(value, str):
            return f's="1" t="s"><v>{strings.numbers([value])[0]}'
        return None if value is None else f"><v>{value}"

    written = (_row(n, [cell(value) for value in row]) for n, row in enumerate(every, start=1))
    _write(target, strings, written, f"A1:{_letter(len(columns) - 1)}{len(every)}", QUIET)


def _letter(place: int) -> str:
    return chr(ord("A") + place)


def _row(number: int, cells: Sequence[str | None]) -> str:
    inside = "".join(
        f'<c r="{_letter(place)}{number}" {cell}</v></c>'
        for place, cell in enumerate(cells)
        if cell is not None
    )
    return f'<row r="{number}">{inside}</row>'


def _pair(number: int, one: int, cell: int | None) -> str:
    start = f'<row r="{number}"><c r="A{number}"><v>{one}</v></c>'
    return start + (
        "</row>" if cell is None else f'<c r="B{number}" s="1" t="s"><v>{cell}</v></c></row>'
    )


class _Strings:
    """The texts of a workbook, each kept once."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._numbers: dict[str, int] = {}
        problems = Problems()
        for text in texts:
            if text not in self._numbers and len(text) > _CHARACTERS // 2:
                length = len(text.encode("utf-16-le")) // 2
                if length > _CHARACTERS:
                    problems.add(
                        f"item {text[:20]!r}… has {length:,} characters, more than a cell can "
                        "hold; write .csv or .parquet"
                    )
            self._numbers.setdefault(text, len(self._numbers))
        problems.check()

    def numbers(self, texts: Iterable[str]) -> list[int]:
        """Return the numbers of texts."""
        return [self._numbers[text] for text in texts]

    def blocks(self) -> Iterator[str]:
        """Yield the text of their list."""
        yield f'{_HEAD}<sst xmlns="{_MAIN}" uniqueCount="{len(self._numbers)}">'
        for text in self._numbers:
            yield f'<si><t xml:space="preserve">{_escaped(text)}</t></si>'
        yield "</sst>"


def _escaped(text: str) -> str:
    r"""Return a text as XML; what XML has no place for is written as Excel does.

    >>> _escaped("a\rb & <_x0041_>")
    'a_x000D_b &amp; &lt;_x005F_x0041_&gt;'
    """
    return escape(_ODD.sub(lambda found: f"_x{ord(found[0]):04X}_", text))


def _write(
    target: BinaryIO, strings: _Strings, rows: Iterable[str], area: str, tell: Callable[[], None]
) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in _PARTS.items():
            _add(archive, name, [_HEAD + text], tell)
        _add(archive, "xl/sharedStrings.xml", strings.blocks(), tell)
        _add(archive, "xl/worksheets/sheet1.xml", _sheet(rows, area), tell)


def _sheet(rows: Iterable[str], area: str) -> Iterator[str]:
    yield f'{_HEAD}<worksheet xmlns="{_MAIN}"><dimension ref="{area}"/><sheetData>'
    yield from rows
    yield "</sheetData></worksheet>"


def _add(
    archive: zipfile.ZipFile, name: str, blocks: Iterable[str], tell: Callable[[], None]
) -> None:
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, 0  # whatever wrote it
    with archive.open(info, "w") as stream:
        some: list[str] = []
        for block in blocks:
            some.append(block)
            if len(some) >= _BATCH:
                stream.write("".join(some).encode())
                some = []
                tell()
        stream.write("".join(some).encode())
