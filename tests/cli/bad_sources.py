"""Rows of the table of bad inputs: workbooks, databases, OMOP models and FHIR resources."""

from __future__ import annotations

import io
import sqlite3
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
from openpyxl import Workbook

__all__ = ["SOURCES", "Row"]

Row = tuple[str, str, tuple[str, ...], Mapping[str, str | bytes]]

COLUMNS = "--id patient --item code"
POLICY = "-k 2 --km 2 -o o.dat --mapping map.json"
ROWS: list[list[Any]] = [["patient", "code"], [1, "a"], [1, "b"], [2, "a"], [2, "b"]]
QUERY = "--query 'SELECT * FROM diag'"
CONDITION = (
    '{"resourceType": "Condition", "subject": {"reference": "Patient/%d"}, '
    '"code": {"coding": [{"system": "s", "code": "a"}]}}\n'
)


# What Excel makes of a workbook with a password: a box of the old kind, with these names in it.
LOCKED = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(512) + "EncryptedPackage".encode("utf-16-le")


def book(rows: Sequence[Sequence[Any]] = ROWS, *, hidden: bool = False, merged: str = "") -> bytes:
    """Return the bytes of a workbook."""
    made = Workbook()
    sheet = made.active
    assert sheet is not None
    for row in rows:
        sheet.append(list(row))
    if merged:
        sheet.merge_cells(merged)
    if hidden:
        sheet.sheet_state = "hidden"
        # A workbook needs one that is shown to be saved; it is hidden afterwards.
        made.create_sheet("other")
    stream = io.BytesIO()
    made.save(stream)
    return _all_hidden(stream) if hidden else stream.getvalue()


def _all_hidden(stream: io.BytesIO) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(stream) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "xl/workbook.xml":
                content = content.replace(b'state="visible"', b'state="hidden"')
            new.writestr(name, content)
    return out.getvalue()


def lite(*statements: str) -> bytes:
    """Return the bytes of a SQLite database."""
    with sqlite3.connect(":memory:") as made:
        for statement in statements:
            made.execute(statement)
        made.commit()
        return made.serialize()


def duck(*statements: str) -> bytes:
    """Return the bytes of a DuckDB database."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "d.duckdb"
        with duckdb.connect(str(path)) as made:
            for statement in statements:
                made.execute(statement)
        return path.read_bytes()


def sheet(what: str, content: bytes, *says: str, more: str = COLUMNS) -> Row:
    """Return a row for a workbook."""
    return (what, f"anonymize d.xlsx {more} {POLICY}", says, {"d.xlsx": content})


FILLED = (
    "CREATE TABLE diag (patient BIGINT, code VARCHAR)",
    "INSERT INTO diag VALUES (1, 'a'), (1, 'b'), (2, 'a')",
)
DUCK, LITE = duck(*FILLED), lite(*FILLED)


def base(what: str, more: str, *says: str, lite_: bytes = LITE, duck_: bytes = DUCK) -> list[Row]:
    """Return rows for SQLite and for DuckDB; DB stands for the address."""
    return [
        (
            f"{kind}: {what}",
            more.replace("DB", f"{kind}:///d.{kind}"),
            says,
            {f"d.{kind}": content},
        )
        for kind, content in (("sqlite", lite_), ("duckdb", duck_))
    ]


def both(*statements: str) -> dict[str, bytes]:
    """Return a database of both kinds."""
    return {"lite_": lite(*statements), "duck_": duck(*statements)}


def read(more: str) -> str:
    """Return the command that reads a database."""
    return f"anonymize DB {more} {COLUMNS} {POLICY}"


WORKBOOKS = [
    sheet("locked workbook", LOCKED, "d.xlsx: is locked with a password"),
    sheet("damaged workbook", book()[:-400], "d.xlsx: not a sound workbook"),
    sheet("no workbook", b"patient,code\n1,a\n", "d.xlsx: is no workbook in spite of its name"),
    sheet(
        "formula without value",
        book([*ROWS, [3, "=A2"]]),
        "d.xlsx:6: cell B6 holds a formula whose value is not in the file",
    ),
    sheet("error in a cell", book([*ROWS, [3, "#N/A"]]), "d.xlsx:6: cell B6 holds the error #N/A"),
    sheet("merged header", book(merged="A1:B1"), "no column 'code'"),
    sheet("hidden sheets", book(hidden=True), "every sheet is hidden", "name one: --sheet"),
    sheet(
        "no such sheet",
        book(),
        "no sheet 'Shet' (did you mean 'Sheet'?)",
        more=f"{COLUMNS} --sheet Shet",
    ),
    sheet("workbook without columns", book(), "with the columns 'patient', 'code'", more=""),
    sheet("empty sheet", book([]), "d.xlsx: the sheet 'Sheet' is empty"),
    sheet("id only once", book([*ROWS, [None, "a"]]), "d.xlsx:6: the id is empty"),
]

DATABASES = [
    *base("a query that fails", read("--query 'SELECT pat FROM diag'"), "the query failed:", "pat"),
    *base(
        "no such table",
        read("--query 'SELECT * FROM dag'"),
        "there is no table 'dag' (did you mean 'diag'?); the tables are diag",
    ),
    *base("no rows", read(f"{QUERY[:-1]} WHERE patient > 9'"), "there are no rows"),
    *base(
        "wrong columns",
        f"anonymize DB {QUERY} --id patient --item Code2 {POLICY}",
        "no column 'Code2' (did you mean 'code'?); the columns are 'patient', 'code'",
    ),
    *base(
        "no id",
        read(QUERY),
        "the id is missing",
        **both(FILLED[0], "INSERT INTO diag VALUES (1, 'a'), (NULL, 'b')"),
    ),
    *base(
        "numbers that are no codes",
        read(QUERY),
        "column 'code' holds",
        "CAST(code AS",
        **both(
            "CREATE TABLE diag (patient BIGINT, code DOUBLE)", "INSERT INTO diag VALUES (1, 250.0)"
        ),
    ),
    *base("a query that would change it", read("--query 'DROP TABLE diag'"), "DROP would change"),
    *base(
        "two statements",
        read("--query 'SELECT * FROM diag; DROP TABLE diag'"),
        "the query must be one SELECT",
    ),
    *base(
        "SQL in the name of a column",
        f"anonymize DB {QUERY} --id patient --item 'code\"; DROP TABLE diag; --' {POLICY}",
        "no column",
    ),
    *base(
        "a table that exists",
        "anonymize d.dat -k 2 --km 2 -o DB#diag",
        "the table diag exists; name another, or say that it is to be replaced",
    ),
    *base("no query", read(""), "say what to read: a query"),
    *base("no file", read(QUERY).replace("DB", "DB.gone"), "cannot be opened: no such file"),
    *base(
        "no database",
        read(QUERY),
        "is no ",
        lite_=b"patient,code\n1,a\n",
        duck_=b"patient,code\n1,a\n2,b\n",
    ),
    (
        "a database as a file",
        f"anonymize d.sqlite {COLUMNS} {POLICY}",
        ("is a database; name it sqlite:///d.sqlite",),
        {"d.sqlite": LITE},
    ),
    (
        "a server that is not there, and a password",
        f"anonymize postgresql://ann:hush@127.0.0.1:1/ward {QUERY} {COLUMNS} {POLICY}",
        ("postgresql://ann:***@127.0.0.1:1/ward: cannot connect:",),
        {},
    ),
    (
        "another kind of database",
        f"anonymize mysql://ann:hush@db/ward {QUERY} {COLUMNS} {POLICY}",
        ("mysql://ann:***@db/ward: no database is read by mysql://",),
        {},
    ),
]

CLINICAL: list[Row] = [
    (
        "one broken line of NDJSON",
        f"anonymize c.ndjson {POLICY}",
        ("c.ndjson:2: not JSON: Unterminated string starting at character 18",),
        {"c.ndjson": CONDITION % 1 + '{"resourceType": "Cond\n' + CONDITION % 2},
    ),
    (
        "OMOP without --omop",
        f"anonymize cdm {POLICY}",
        ("cdm: holds the tables of an OMOP model (condition_occurrence, person): add --omop",),
        {"cdm/person.csv": "person_id\n1\n", "cdm/condition_occurrence.csv": "person_id\n1\n"},
    ),
    (
        "no OMOP model",
        f"anonymize cdm --omop {POLICY}",
        ("cdm: there is no table condition_occurrence; is this an OMOP model?",),
        {"cdm/person.csv": "person_id\n1\n"},
    ),
    (
        "a half-written partition",
        f"anonymize in {COLUMNS} {POLICY}",
        ("not a sound Parquet file",),
        {"in/year=2025/a.parquet": b"PAR1\x15\x04\x15"},
    ),
]

SOURCES: list[Row] = [*WORKBOOKS, *DATABASES, *CLINICAL]
