"""Workbooks: cells as they are shown, odd sheets, damaged files; and what is written comes back."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook, load_workbook

from overcoat.context import Context
from overcoat.data.io import output_layout, read, read_as, write
from overcoat.data.io import sheets as sheets_module
from overcoat.data.io.sheets import require_room, write_sheet
from overcoat.data.io.shown import shown
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions
from overcoat.errors import CancelledError, DataError

LONG: dict[str, Any] = {"id": "patient", "item": "code"}


def book(
    rows: Iterable[Sequence[Any]], formats: dict[str, str] | None = None, title: str = "Data"
) -> Workbook:
    made = Workbook()
    sheet = made.active
    assert sheet is not None
    sheet.title = title
    for row in rows:
        sheet.append(list(row))
    for cell, number_format in (formats or {}).items():
        sheet[cell].number_format = number_format
    return made


def saved(made: Workbook, folder: Path, name: str = "d.xlsx") -> Path:
    made.save(folder / name)
    return folder / name


def items_of(data: Transactions) -> list[tuple[str, ...]]:
    return sorted(row for row, count in data for _ in range(count))


@pytest.mark.parametrize(
    ("value", "number_format", "expected"),
    [
        (38, "000", "038"),
        (38.0, "000", "038"),
        (7.1, "000.0", "007.1"),
        (250, "0.00", "250.00"),
        (250.005, "0.00", "250.01"),  # as Excel rounds, not to even
        (250, "General", "250"),
        (250.1, "General", "250.1"),
        (250.0, "@", "250"),
        (0, "0", "0"),
        (0, "000", "000"),
        (12, "0", "12"),
        (1234.5, "#,##0.00", "1234.50"),
        (3.14159, "0.0##", "3.142"),
        (3, "0.0##", "3.0"),
        (7, '"P"000', "P007"),
        (7, "\\P000", "P007"),
        (123456789, "000-00-0000", "123-45-6789"),
        (1234, "00-00", "12-34"),
        (12345, "00-00", "123-45"),
        (38, "[Red]000;[Blue]-000", "038"),
        (-5, "000", "-5"),
        (0.5, "0%", "0.5"),
        (12, "0.00E+00", "12"),
        (5551234567, "[<=9999999]###-####;(###) ###-####", "5551234567"),
        (45000, "yyyy-mm-dd", "45000"),  # openpyxl has made a date of it before
        (10**20, "General", "1" + "0" * 20),
        (1e20, "General", "1" + "0" * 20),
        (0.1 + 0.2, "General", "0.3"),
        (True, "General", "TRUE"),
        ("038", "000", "038"),
        ("a_x000D_b", "@", "a\rb"),
        ("_x005F_x0041_", "@", "_x0041_"),
        (None, "General", ""),
        (dt.datetime(1958, 3, 31), "d.m.yy", "1958-03-31"),
        (dt.datetime(1958, 3, 31, 12, 30), "d.m.yy", "1958-03-31 12:30:00"),
        (dt.time(12, 30), "h:mm", "12:30:00"),
        (dt.timedelta(hours=30), "[h]:mm", "1 day, 6:00:00"),
    ],
)
def test_a_cell_as_it_is_shown(value: Any, number_format: str, expected: str) -> None:
    assert shown(value, number_format) == expected


@given(
    value=st.integers(0, 10**9) | st.floats(0, 1e6),
    number_format=st.text(alphabet='0#?.,-/ "\\[]P%E+;_*@', max_size=9),
)
@settings(derandomize=True, deadline=None, max_examples=300)
def test_any_format_gives_some_text(value: float, number_format: str) -> None:
    assert isinstance(shown(value, number_format), str)


def test_codes_as_shown(tmp_path: Path) -> None:
    rows = [("patient", "code"), (1, 38), (1, 250), ("P2", "V45"), (2.0, 401), (3, None)]
    made = book(rows, {"B2": "000", "B3": "0.00"})
    data = read(saved(made, tmp_path), **LONG)
    assert items_of(data) == [(), ("038", "250.00"), ("401",), ("V45",)]
    assert data.origin.read_as == "sheet 'Data', long table, 2 columns"
    assert data.origin.notes == ()
    assert data.layout == Layout("long", workbook=True, id="patient", item="code")
    assert data.file_digest is not None


def test_a_workbook_is_known_by_its_content(tmp_path: Path) -> None:
    path = saved(book([("patient", "code"), (1, "a")]), tmp_path)
    for name in ("d.csv", "d", "d.xlsm"):
        copy = tmp_path / name
        copy.write_bytes(path.read_bytes())
        assert read(copy, **LONG).n_items == 1
    assert read(io.BytesIO(path.read_bytes()), **LONG).n_items == 1


def test_the_header_is_found_below_titles(tmp_path: Path) -> None:
    rows: list[tuple[Any, ...]] = [
        ("Diagnoses 2024",),
        (),
        ("made by", "Ann"),
        (None, "code ", "x", " patient"),
        (),
    ]
    rows += [(None, "a", 1, 7), (None, None, None, None), (None, "b", 1, 7)]
    data = read(saved(book(rows), tmp_path), **LONG)
    assert items_of(data) == [("a", "b")]
    assert data.origin.read_as == "sheet 'Data', header in row 4, long table, 4 columns"
    assert data.origin.notes == ("rows 1 to 3 are above the header, row 4, and not read",)


def test_wide_tables(tmp_path: Path) -> None:
    rows = [("id", "diag_1", "diag_2", "diag_3"), (1, "a", "b", None), (2, None, None, None)]
    rows += [(3, "a", None, "c"), (1, "d", None, None)]
    path = saved(book(rows), tmp_path)
    data = read(path, id="id", item="diag_1,diag_2,diag_3")
    assert items_of(data) == [(), ("a", "b", "d"), ("a", "c")]
    assert read(path, id="id", item=["diag_1", "diag_2", "diag_3"]) == data
    assert items_of(read(path, item="diag_1,diag_2")) == [("a",), ("a", "b"), ("d",)]
    some = read(path, id="id", item="diag_1")
    assert "columns 'diag_2', 'diag_3' look like 'diag_1'" in some.origin.notes[0]


def test_ids_that_are_merged_count_for_their_rows(tmp_path: Path) -> None:
    made = book(
        [("patient", "code"), ("P1", "a"), (None, "b"), (None, "c"), ("P2", "a"), ("P3", "b")]
    )
    sheet = made.active
    assert sheet is not None
    sheet.merge_cells("A2:A4")
    data = read(saved(made, tmp_path), **LONG)
    assert items_of(data) == [("a",), ("a", "b", "c"), ("b",)]
    assert data.origin.notes == (
        "cells of 'patient' are merged over several rows in one place; their value counts for all "
        "of these rows",
    )
    sheet["B6"] = None
    sheet.merge_cells("B5:B6")
    notes = read(saved(made, tmp_path), **LONG).origin.notes
    assert notes[1].startswith("items are merged over several rows in 1 place; they count for the")


def test_an_id_that_is_missing_is_told_with_its_row(tmp_path: Path) -> None:
    rows = [("patient", "code"), (1, "a"), (None, "b"), (None, None), (2, "c")]
    with pytest.raises(DataError, match=r"d\.xlsx:3: the id is empty; if it stands only in the"):
        read(saved(book(rows), tmp_path), **LONG)
    rows += [(None, "x")] * 50
    with pytest.raises(DataError, match=r"51 rows have an item and no id; .*: line 3, line 6"):
        read(saved(book(rows), tmp_path), **LONG)


def test_sheets(tmp_path: Path) -> None:
    made = book([("patient", "code"), (1, "a")], title="First")
    for title, state, item in [
        ("Hidden", "hidden", "h"),
        ("2", "visible", "x"),
        ("Z", "visible", "z"),
    ]:
        sheet = made.create_sheet(title)
        sheet.sheet_state = state
        sheet.append(["patient", "code"])
        sheet.append([1, item])
    path = saved(made, tmp_path)
    data = read(path, **LONG)
    assert items_of(data) == [("a",)]
    assert data.origin.notes == (
        "the workbook has the sheets 'First', 'Hidden' (hidden), '2', 'Z'; 'First' was read, "
        "--sheet names another",
    )
    assert items_of(read(path, sheet="Z", **LONG)) == [("z",)]
    assert items_of(read(path, sheet="2", **LONG)) == [("x",)], "a name goes before a number"
    assert items_of(read(path, sheet=4, **LONG)) == [("z",)]
    hidden = read(path, sheet="Hidden", **LONG)
    assert items_of(hidden) == [("h",)]
    assert hidden.origin.notes == ("sheet 'Hidden' is hidden in the workbook; it was read",)
    with pytest.raises(DataError, match=r"d\.xlsx: no sheet 'Q'; the sheets are 'First', 'Hidden'"):
        read(path, sheet="Q", **LONG)
    made["2"].sheet_state = made["Z"].sheet_state = "hidden"
    with pytest.raises(DataError, match=r"every sheet is hidden .*; name one: --sheet"):
        read(hide_all(saved(made, tmp_path)), **LONG)


def hide_all(path: Path) -> Path:
    """Hide every sheet, which openpyxl refuses to write."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    text = content["xl/workbook.xml"].decode().replace('state="visible"', 'state="hidden"')
    content["xl/workbook.xml"] = text.encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, part in content.items():
            archive.writestr(name, part)
    return path


def test_hidden_rows_and_dates_are_noted(tmp_path: Path) -> None:
    rows = [("patient", "code"), (1, "a"), (2, dt.datetime(2024, 2, 1)), (3, "b")]
    made = book(rows)
    sheet = made.active
    assert sheet is not None
    sheet.row_dimensions[2].hidden = True
    data = read(saved(made, tmp_path), **LONG)
    assert data.origin.notes == (
        "1 hidden row of the sheet was read, too",
        "1 item is a date in the workbook, such as 2024-02-01: Excel makes dates of codes such as "
        "1-2",
    )
    assert items_of(data) == [("2024-02-01",), ("a",), ("b",)]


def test_formulas_need_values(tmp_path: Path) -> None:
    rows = [("patient", "code", "n"), (1, "a", "=1+1"), (2, '="a"&"b"', None), (3, "c", None)]
    path = saved(book(rows), tmp_path)
    with pytest.raises(
        DataError, match=r"d\.xlsx:3: cell B3 holds a formula whose value is not in"
    ):
        read(path, **LONG)
    with_values = set_value(path, '<f>"a"&amp;"b"</f><v />', '<f>"a"&amp;"b"</f><v>ab</v>')
    assert items_of(read(with_values, **LONG)) == [("a",), ("ab",), ("c",)]


def set_value(path: Path, before: str, after: str) -> Path:
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    text = content[sheet].decode()
    assert before in text, text
    text = text.replace(before, after).replace('<c r="B3">', '<c r="B3" t="str">')
    with zipfile.ZipFile(path, "w") as archive:
        for name, part in (content | {sheet: text.encode()}).items():
            archive.writestr(name, part)
    return path


def test_errors_in_cells(tmp_path: Path) -> None:
    rows = [("patient", "code", "other"), (1, "#N/A", "#REF!"), (2, "b", None)]
    with pytest.raises(DataError, match=r"d\.xlsx:2: cell B2 holds the error #N/A"):
        read(saved(book(rows), tmp_path), **LONG)


BAD: dict[str, tuple[bytes, str]] = {
    "cut.xlsx": (b"PK\x03\x04rest", "not a sound workbook"),
    "locked.xlsx": (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 99 + "EncryptedPackage".encode("utf-16-le"),
        "is locked with a password",
    ),
    "old.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 99, "is an old Excel file"),
    "text.xlsx": (b"patient,code\n1,a\n", "is no workbook in spite of its name"),
    "page.xls": (b" <html><table>", "is a web page in spite of its name"),
    "page.xlsx": (b"<table>", "is a web page in spite of its name"),
}


def archive_of(names: dict[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, text in names.items():
            archive.writestr(name, text)
    return stream.getvalue()


BAD |= {
    "zip.zip": (archive_of({"data.csv": "a,b"}), "is a zip archive, not a workbook; unpack it"),
    "open.ods": (
        archive_of({"mimetype": "application/vnd.oasis.opendocument.spreadsheet"}),
        "is an OpenDocument file",
    ),
    "binary.xlsb": (archive_of({"xl/workbook.bin": ""}), "is a binary workbook"),
    "empty.xlsx": (archive_of({"xl/nothing": ""}), "not a sound workbook"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_workbook_is_called_by_its_name(tmp_path: Path, name: str) -> None:
    content, words = BAD[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=words) as caught:
        read(tmp_path / name, **LONG)
    assert caught.value.problems[0].file == str(tmp_path / name)


def test_a_damaged_sheet(tmp_path: Path) -> None:
    path = saved(book([("patient", "code"), *((n, "a") for n in range(500))]), tmp_path)
    raw = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo("xl/worksheets/sheet1.xml").header_offset
    raw[start + 200 : start + 260] = b"x" * 60
    path.write_bytes(raw)
    with pytest.raises(DataError, match=r"d\.xlsx: not a sound workbook"):
        read(path, **LONG)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "a workbook holds a table with the columns .*: name those of the id"),
        ({"id": "patient"}, "both columns"),
        ({"items": "code"}, "needs Parquet"),
        ({"format": "basket"}, "a workbook holds a table"),
        ({**LONG, "sep": ","}, "--sep is for texts; this is a workbook"),
        ({**LONG, "encoding": "latin-1"}, "--encoding is for texts"),
        (
            {"id": "patient", "item": "cod"},
            "no column 'cod' .did you mean 'code'.*'patient', 'code'",
        ),
        (
            {"id": "x", "item": "y"},
            "no column 'x', no column 'y'; the columns are 'patient', 'code'",
        ),
    ],
)
def test_options_that_do_not_fit(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    path = saved(book([("title",), ("patient", "code"), (1, "a")]), tmp_path)
    with pytest.raises(DataError, match=words):
        read(path, **options)


def test_a_sheet_is_for_workbooks(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("patient,code\n1,a\n")
    with pytest.raises(DataError, match="--sheet is for workbooks; this is a text"):
        read(tmp_path / "d.csv", sheet=1, **LONG)


def test_an_empty_sheet(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the sheet 'Data' is empty"):
        read(saved(book([]), tmp_path), **LONG)
    with pytest.raises(DataError, match="holds no transactions"):
        read(saved(book([("patient", "code")]), tmp_path), **LONG)


def test_openpyxl_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(book([("patient", "code"), (1, "a")]), tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(DataError, match=r"needs openpyxl: pip install 'overcoat\[excel\]'"):
        read(path, **LONG)


def test_reading_can_be_ended(tmp_path: Path) -> None:
    path = saved(book([("patient", "code"), *((n, "a") for n in range(2000))]), tmp_path)
    calls = iter([False] * 6 + [True] * 100)
    stage = Context(cancelled=lambda: next(calls)).start("read")
    with pytest.raises(CancelledError):
        read(path, stage=stage, **LONG)


# -- out ------------------------------------------------------------------------------------------

HOSTILE = [
    *("a", "038", "250.00", "1e5", "=1+1", "+1", "-1", "@x", "#N/A", "TRUE", "2024-01-02", "'x"),
    *(" lead", "trail ", "\ttab", "a\nb", "a\r\nb", "\r", "\x00", "\x1f", "\x7f", "\ufffe", "\x0b"),
    *(
        "_x0041_",
        "_x000D_",
        "__x0041__",
        "_x005F_x0041_",
        "<&>",
        '"',
        "\U0001f9a0",
        "\u2028",
        "x" * 32767,
    ),
]
LABELS = st.sampled_from(HOSTILE) | st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5
)
LAYOUT = Layout("long", workbook=True, id=" patient", item="code & <x>")


@given(rows=st.lists(st.frozensets(LABELS, max_size=4), min_size=1, max_size=8))
@example(rows=[frozenset()])
@example(rows=[frozenset(HOSTILE)])
@example(rows=[frozenset({" patient", "code & <x>"})])
@settings(derandomize=True, deadline=None, max_examples=60)
def test_every_label_comes_back(rows: list[frozenset[str]]) -> None:
    data = Transactions.of(rows, keep_order=True)
    for order in (None, data.positions):
        written, again = io.BytesIO(), io.BytesIO()
        write(data, written, layout=LAYOUT, order=order)
        write(data, again, layout=LAYOUT, order=order)
        assert written.getvalue() == again.getvalue()
        back = read_as(io.BytesIO(written.getvalue()), LAYOUT, keep_order=order is not None)
        assert back == data
        if order is not None:
            assert back.positions is not None
            assert back.positions.tolist() == order.tolist()


def test_cells_are_texts_and_time_is_not_told(tmp_path: Path) -> None:
    data = Transactions.of([{"=1+1", "038"}, {"250.00"}, set()])
    write(data, tmp_path / "o.xlsx", layout=LAYOUT)
    sheet = load_workbook(tmp_path / "o.xlsx").active
    assert sheet is not None
    rows = [[(cell.value, cell.data_type, cell.number_format) for cell in row] for row in sheet]
    assert rows[0] == [(" patient", "s", "@"), ("code & <x>", "s", "@")]
    assert rows[1][1] == (None, "n", "General")
    assert [row[1] for row in rows[2:]] == [
        *(("038", "s", "@"), ("=1+1", "s", "@"), ("250.00", "s", "@"))
    ]
    with zipfile.ZipFile(tmp_path / "o.xlsx") as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_the_name_says_it() -> None:
    layout = output_layout("o.xlsx", Layout("basket", sep=","))
    assert layout == Layout("long", workbook=True)
    long = Layout("long", sep=";", id="p", item="c", suffix=".csv")
    assert output_layout("O.XLSX", long) == Layout("long", workbook=True, id="p", item="c")
    book = Layout("long", workbook=True, id="p", item="c", suffix=".xlsx")
    assert output_layout("o.csv", book) == Layout("long", sep=",", id="p", item="c")
    assert output_layout("o.parquet", book).parquet
    assert not output_layout("o.parquet", book).workbook
    assert output_layout("-", book).workbook
    for name, to, words in [
        ("o.xlsx", "basket", "a workbook holds a long table, not the format 'basket'"),
        ("o.xlsx.gz", None, "leave .gz out"),
        ("o.xls", None, "cannot write .xls; name the file .csv"),
        ("o.xlsm", None, "cannot write .xlsm"),
    ]:
        with pytest.raises(DataError, match=words):
            output_layout(name, long, to)


def test_a_sheet_has_its_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_room(1_048_575)
    with pytest.raises(DataError, match=r"1,048,576 rows at most, and this takes up to 1,048,577"):
        require_room(1_048_576)
    monkeypatch.setattr(sheets_module, "ROWS", 4)
    data = Transactions.of([{"a", "b"}, set(), {"c"}])
    with pytest.raises(DataError, match=r"o\.xlsx: a sheet has 4 rows at most.* up to 5; write"):
        write(data, tmp_path / "o.xlsx", layout=LAYOUT)
    with pytest.raises(DataError, match=r"'xxxxxxxxxxxxxxxxxxxx'… has 32,768 characters"):
        write(Transactions.of([{"x" * 32768}]), io.BytesIO(), layout=LAYOUT)
    with pytest.raises(DataError, match="40,000 characters"):
        write(Transactions.of([{"\U0001f9a0" * 20_000}]), io.BytesIO(), layout=LAYOUT)
    with pytest.raises(DataError, match="a workbook is compressed already"):
        write(data, io.BytesIO(), layout=LAYOUT, gzip=True)


def test_a_small_table(tmp_path: Path) -> None:
    with (tmp_path / "t.xlsx").open("wb") as stream:
        write_sheet(stream, ["item", "size", "note"], [("038", 3, None), ("=x", 1, "038")])
    sheet = load_workbook(tmp_path / "t.xlsx").active
    assert sheet is not None
    assert [[cell.value for cell in row] for row in sheet] == [
        *(["item", "size", "note"], ["038", 3, None], ["=x", 1, "038"])
    ]


def test_large_sheets_go_out_in_parts(tmp_path: Path) -> None:
    n = 40_000
    data = Transactions.of([[str(number % 7), "x"] for number in range(n)])
    write(data, tmp_path / "o.xlsx", layout=LAYOUT)
    assert read_as(tmp_path / "o.xlsx", LAYOUT) == data
    assert int(np.sum(data.counts)) == n
