"""Workbooks on the command line, from one to another."""

from __future__ import annotations

from pathlib import Path

import pytest
from openpyxl import Workbook, load_workbook

from cli.command import Desk, words


def save(folder: Path) -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Diagnoses"])
    sheet.append(["patient", "diag_1", "diag_2"])
    for number in range(6):
        sheet.append([number, 38, "=x" if number % 2 else None])
        sheet.cell(number + 3, 2).number_format = "000"
        sheet.cell(number + 3, 3).data_type = "s"
    book.save(folder / "d.xlsx")


RUN = "anonymize d.xlsx --id patient --item diag_1,diag_2 -k 2 --km 2"


def test_from_a_workbook_to_a_workbook(desk: Desk) -> None:
    save(desk.folder)
    done = desk.run(*words(f"{RUN} -o o.xlsx --mapping m.json"))
    assert done.status == 0, done.err
    assert (
        "read as     sheet 'Sheet', header in row 2, wide table, 3 columns, 2 of them" in done.err
    )
    sheet = load_workbook(desk.folder / "o.xlsx").active
    assert sheet is not None
    rows = [[cell.value for cell in row] for row in sheet]
    assert rows[0] == ["patient", "item"]
    assert rows[1:4] == [[1, "038"], [2, "038"], [3, "038"]]
    assert rows[5] == [4, "=x"]
    first = desk.read("o.xlsx")
    assert desk.run(*words(f"{RUN} -o p.xlsx")).status == 0
    assert desk.read("p.xlsx") == first

    shape = "--id patient --item diag_1,diag_2 -k 2 --km 2"
    assert desk.run(*words(f"verify d.xlsx o.xlsx --mapping m.json {shape}")).status == 0
    assert desk.run(*words(f"apply d.xlsx --use m.json {shape} -o q.csv")).status == 0
    assert desk.lines("q.csv")[:2] == ["patient,item", "1,038"]


def test_too_many_rows_are_refused_before_the_work(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from overcoat.algorithms.methods import Coat
    from overcoat.data.io import sheets

    monkeypatch.setattr(sheets, "ROWS", 5)
    monkeypatch.setattr(Coat, "find", lambda *_: pytest.fail("the work has begun"))
    done = desk.run(*words("anonymize d.dat -k 2 --km 2 -o o.xlsx"))
    assert done.status == 2
    assert "o.xlsx: a sheet has 5 rows at most" in done.err
    assert "o.xlsx" not in desk.files()


def test_a_missing_library_is_told_before_the_work(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "openpyxl", None)
    done = desk.run(*words("anonymize d.dat -k 2 --km 2 -o o.xlsx"))
    assert done.status == 2
    assert "o.xlsx: a workbook needs openpyxl: pip install 'overcoat[excel]'" in done.err


def test_a_codebook_and_names(desk: Desk) -> None:
    desk.write({"u.json": '{"first one": ["a", "b", "c"], "d": ["d", "e", "f"]}'})
    run = "anonymize d.dat -k 3 --km 1 -s 100 --utility u.json --label-from utility"
    done = desk.run(*words(f"{run} -o o.csv --mapping m.json --codebook b.csv --json"))
    assert done.status == 0, done.err
    assert done.json["codebook"] == "b.csv"
    assert done.json["label_from"] == "utility"
    book = desk.lines("b.csv")
    assert book[0] == "item,description,label,group_size,set,exact"
    assert len(book) == 7
    assert "d#2" in desk.mapping("m.json")["groups"]
    told = desk.run(*words(f"{run} -o o.csv --codebook b.xlsx"))
    assert "codebook    b.xlsx" in told.err
    assert load_workbook(desk.folder / "b.xlsx").active is not None

    before = desk.files()
    for more, says in [
        ("-o o.dat", "o.dat: labels such as 'first one' contain white space"),
        ("-o o.csv --codebook b.doc", "b.doc: a codebook is a table"),
        ("-o o.csv --codebook -", "--codebook needs a file"),
        ("-o o.csv --codebook o.csv", "o.csv"),
        ("-o o.csv --codebook d.dat", "d.dat: a codebook is a table"),
    ]:
        done = desk.run(*words(f"{run} {more}"))
        assert done.status == 2, more
        assert says in done.err
    assert desk.files() == before
