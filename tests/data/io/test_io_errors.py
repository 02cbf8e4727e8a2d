"""Bad inputs and what is said about them."""

import gzip
import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from overcoat.data.io import delimited, long, read
from overcoat.errors import DataError
from platforms import needs_user

UTF8 = "not UTF-8, as the rest of the file is; save it in one encoding, or name it (--encoding)"
SOUND = "äöü".encode()
LONG: dict[str, Any] = {"id": "id", "item": "item"}
TRUNCATED = "x.dat.gz: the gzip file is truncated; copy it again"
UNCLOSED = "a quote opens here and never closes"

Bad = tuple[str, bytes, dict[str, Any], list[str]]
BAD: list[Bad] = [
    ("x.dat", b"", {}, ["x.dat:1: the file is empty"]),
    ("x.csv", b"", LONG, ["x.csv:1: the file is empty"]),
    ("x.dat", b"\xef\xbb\xbf", {}, ["x.dat: the file holds no transactions"]),
    ("x.dat", b"items\n", {"header": True}, ["x.dat: the file holds no transactions"]),
    ("x.csv", b"id,item\n", LONG, ["x.csv: the file holds no transactions"]),
    # encoding: every bad line, not only the first
    ("x.dat", SOUND + b"\n\xe9\nb\n\xe9 c\n", {}, [f"x.dat:2: {UTF8}", f"x.dat:4: {UTF8}"]),
    ("x.csv", SOUND + b"\n\xe9\nb\n\xe9,c\n", {}, [f"x.csv:2: {UTF8}", f"x.csv:4: {UTF8}"]),
    ("x.csv", SOUND + b'\n"\xe9"\nb\n\xe9,c\n', {}, [f"x.csv:2: {UTF8}", f"x.csv:4: {UTF8}"]),
    (
        "x.csv",
        b"id,item,%b\n1,\xe9,a\n2,b,\xe9\n\xe9,b,c\n" % SOUND,
        LONG,
        [f"x.csv:2: {UTF8}", f"x.csv:4: {UTF8}"],
    ),
    (
        "x.csv",
        b"PK\x03\x04rest",
        {},
        ["x.csv: not a sound workbook (File is not a zip file); save it again"],
    ),
    # quotes
    ("x.csv", b'a\nb,"c\nd\n', {}, [f"x.csv:2: {UNCLOSED}"]),
    ("x.csv", b'"a\nb","c\nd\n', {}, [f"x.csv:2: {UNCLOSED}"]),
    (
        "x.csv",
        b'"a"\n5" disk\n',
        {},
        ["x.csv:2: a quote inside an item; put the item in quotes and write the inner quote twice"],
    ),
    (
        "x.csv",
        b'a\n"b"c,"d"\n',
        {},
        ["x.csv:2: text after a closing quote; a quote inside an item is written twice"],
    ),
    ("x.csv", b'a\nb,""\n', {}, ["x.csv:2: an item cannot be the empty string"]),
    ("x.csv", b'id,item\n1,a\n2,"b\n3,c\n', LONG, [f"x.csv:3: {UNCLOSED}"]),
    # ragged rows and ids
    (
        "x.csv",
        b"id,item\n1\n2,b\n3,c,d\n",
        LONG,
        ["x.csv:2: 1 fields where the header has 2", "x.csv:4: 3 fields where the header has 2"],
    ),
    ("x.csv", b'id,item\n1,"a\nb"\n,c\n', LONG, ["x.csv:4: the id is empty"]),
    # columns
    (
        "x.csv",
        b"a,b\n1,2\n",
        LONG,
        ["x.csv:1: no column 'id', no column 'item'; the columns are 'a', 'b'"],
    ),
    (
        "x.csv",
        b"id,item,item\n1,2,3\n",
        LONG,
        ["x.csv:1: more than one column is called 'item'; the columns are 'id', 'item', 'item'"],
    ),
    # arguments
    ("x.csv", b"a\n", {"id": "id"}, ["a long table needs both columns: the id and the item"]),
    (
        "x.csv",
        b"a\n",
        {"id": "a", "item": "a"},
        ["the id and the item cannot be one column, 'a'"],
    ),
    (
        "x.csv",
        b"a\n",
        {"items": "a"},
        ["a list column needs Parquet or a frame; this is a text file"],
    ),
    ("x.csv", b"a\n", {"format": "wide"}, ["unknown format 'wide'; there are basket, long, list"]),
    (
        "x.csv",
        b"a\n",
        {"format": "basket", **LONG},
        ["the id and item columns are for a long table, not for format 'basket'"],
    ),
    *(
        (
            "x.csv",
            b"a\n",
            {"sep": sep},
            [f"the separator must be one character, not a quote or a line break; got {sep!r}"],
        )
        for sep in ("", "::", '"', "\n", "\r", "\ud800")
    ),
    # containers
    ("x.dat.gz", gzip.compress(b"a\n" * 9)[:-4], {}, [TRUNCATED]),
    ("x.dat.gz", b"a b\n", {}, ["x.dat.gz: not a sound gzip file (Not a gzipped file (b'a '))"]),
]  # fmt: skip


@pytest.mark.parametrize("fast", [False, True], ids=["plain", "fast"])
@pytest.mark.parametrize("bad", BAD)
def test_bad_input(bad: Bad, fast: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, content, arguments, messages = bad
    monkeypatch.chdir(tmp_path)
    if fast:
        monkeypatch.setattr(long, "POLARS_PAYS_FROM", 0)
        monkeypatch.setattr(delimited, "BLOCK", 4)
    Path(name).write_bytes(content)
    with pytest.raises(DataError) as caught:
        read(name, **arguments)
    assert list(map(str, caught.value.problems)) == messages


def test_one_kind_of_problem_is_told_once() -> None:
    with pytest.raises(DataError) as caught:
        read(io.BytesIO(b"id,item\n" + b"1,a,b\n2\n,c\n" * 50), **LONG)
    assert len(caught.value.problems) == 150
    assert str(caught.value.problems[3]) == "standard input:5: 3 fields where the header has 2"
    assert str(caught.value).splitlines() == [
        "standard input: 100 lines have not the 2 fields of the header: 3 fields (line 2), "
        "1 fields (line 3), 3 fields (line 5), …",
        "standard input: 50 lines have an empty id: line 4, line 7, line 10, …",
    ]


def test_only_the_first_thousand() -> None:
    with pytest.raises(DataError) as caught:
        read(io.BytesIO(b"id,item\n" + b"1,a,b\n" * 5000), **LONG)
    assert len(caught.value.problems) == 1001
    assert str(caught.value).splitlines() == [
        "standard input: 1,000 lines have not the 2 fields of the header: 3 fields (line 2), "
        "3 fields (line 3), 3 fields (line 4), …",
        "standard input: there may be more; these are the first 1,000",
    ]


def test_a_quote_does_not_swallow_a_large_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_LONGEST_RECORD", 100)
    monkeypatch.setattr(delimited, "BLOCK", 10)
    stream = io.BytesIO(b'a\n"b\n' + b"c\n" * 1_000_000)
    with pytest.raises(DataError, match=f"standard input:2: {UNCLOSED}"):
        read(stream, sep=",")
    assert stream.tell() < 1_000_000


def test_missing_file_and_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=r"^x.dat: no such file$"):
        read("x.dat")
    Path("folder").mkdir()
    with pytest.raises(DataError, match=r"^folder: no data file \(.csv, .dat, .* in this folder$"):
        read("folder")
    with pytest.raises(DataError, match=r"^folder: no data file"):
        read(Path("folder"), **LONG)
    with pytest.raises(DataError, match=r"^\.: is a directory, not a file$"):
        read("")  # as where a variable is not set


@needs_user
def test_no_permission(tmp_path: Path) -> None:
    path = tmp_path / "x.dat"
    path.write_bytes(b"a\n")
    path.chmod(0)
    with pytest.raises(DataError, match="no permission to read it"):
        read(path)


def test_a_stream_that_fails() -> None:
    class Broken(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise OSError(5, "Input/output error")

    with pytest.raises(DataError, match=r"^standard input: cannot be read: Input/output error$"):
        read(Broken())


@pytest.mark.parametrize("damage", ["truncated", "overwritten", "not Parquet", "gz"])
def test_damaged_parquet(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    frame = pl.DataFrame({"items": [["a", "b"], ["c"]]})
    frame.write_parquet(path)
    raw = path.read_bytes()
    if damage == "truncated":
        path.write_bytes(raw[: len(raw) // 2])
    elif damage == "overwritten":
        path.write_bytes(raw[:8] + bytes(100) + raw[108:])
    elif damage == "not Parquet":
        path.write_bytes(b"a b\n")
    else:
        path = tmp_path / "x.parquet.gz"
        path.write_bytes(gzip.compress(raw)[:-20])
    with pytest.raises(DataError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_what_is_no_data() -> None:
    with pytest.raises(DataError, match="cannot read transactions from int"):
        read(5)
    with pytest.raises(DataError, match="cannot read transactions from bytes"):
        read(b"a b")
    with pytest.raises(DataError, match="transaction 1 is a string"):
        read(["ab", "c"])
    with pytest.raises(DataError, match="transaction 2: item 5 is not a string"):
        read([{"a"}, {5}])
    with pytest.raises(DataError, match="for sparse matrices"):
        read("x.dat", items=["a"])


def test_a_table_that_nobody_called_one_is_refused(tmp_path: Path) -> None:
    """Read as baskets, its ids would be published as items."""
    path = tmp_path / "patients.csv"
    path.write_text("patient,code\n" + "".join(f"{i},{i % 3}.{i % 2}\n" for i in range(99)))
    with pytest.raises(DataError, match=r"patients.csv:1: looks like a table .* patient, code"):
        read(path)
    assert read(path, id="patient", item="code").n_transactions == 99
    assert read(path, sep=",").n_transactions == 100
    with pytest.raises(DataError, match="looks like a table"):
        read(io.BytesIO(path.read_bytes()))  # as white space, each line would be one item
    path.write_text("a,b\nb,c\nc,d\nd,e\ne,f\nf,a\n" * 9)  # pairs, but of one kind of thing
    assert read(path).n_transactions == 54
    path.write_text("a,b\na,c\na,d\n" * 9)  # no line names columns
    assert read(path).n_transactions == 27


@pytest.mark.parametrize("row", ['{i},5" disk', '{i},"a\nb"', "{i},a\rb", '"{i}","c, d"'])
def test_quotes_and_line_breaks_do_not_hide_a_table(row: str, tmp_path: Path) -> None:
    path = tmp_path / "patients.txt"
    path.write_text(
        "patient,code\n" + "".join(row.format(i=i) + "\n" for i in range(5000)), newline=""
    )
    with pytest.raises(DataError, match=r"patients.txt:1: looks like a table .* patient, code"):
        read(path)
