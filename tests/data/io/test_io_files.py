"""Folders, patterns and partitions: several files that are one table."""

import gzip
import hashlib
import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from overcoat.context import Context, Stage
from overcoat.data.io import output_layout, read, reads, write
from overcoat.data.io.files import find_parts
from overcoat.data.transactions import Transactions
from overcoat.errors import CancelledError, DataError
from platforms import needs_posix, needs_user

LONG: dict[str, Any] = {"id": "id", "item": "item"}
Files = Mapping[str, str | bytes | dict[str, Any]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def save(folder: Path, files: Files) -> None:
    """Write texts, bytes, and tables as Parquet."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, dict):
            pl.DataFrame(content).write_parquet(path)
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)


def rows(data: Transactions) -> list[tuple[str, ...]]:
    return [row for row, count in data for _ in range(count)]


JANUARY, FEBRUARY = "id,item\n1,a\n2,b\n", "id,item\n2,c\n3,a\n"
TABLES: dict[str, Files] = {
    "csv": {"2026-01.csv": JANUARY, "2026-02.csv": FEBRUARY},
    "gz": {"1.csv": JANUARY, "2.csv.gz": gzip.compress(FEBRUARY.encode())},
    "other order of columns": {"1.csv": JANUARY, "2.csv": "item,x,id\nc,,2\na,,3\n"},
    "other encoding": {"1.csv": JANUARY, "2.csv": FEBRUARY.encode("utf-16")},
    "header only": {"1.csv": JANUARY, "2.csv": FEBRUARY, "3.csv": "id,item\n"},
    "parquet": {
        "1.parquet": {"id": [1, 2], "item": ["a", "b"]},
        "2.parquet": {"id": [2, 3], "item": ["c", "a"]},
    },
    "parquet of other integers": {
        "1.parquet": {"id": pl.Series([1, 2], dtype=pl.Int8), "item": ["a", "b"]},
        "2.pq": {"id": pl.Series([2, 3], dtype=pl.UInt64), "item": ["c", "a"]},
    },
    "partitions": {
        "year=2025/month=1/a.parquet": {"id": [1], "item": ["a"]},
        "year=2025/month=2/a.parquet": {"id": [2], "item": ["b"]},
        "year=2026/month=1/a.parquet": {"id": [2, 3], "item": ["c", "a"]},
    },
    "what tools write beside it": {
        "part-00000.csv": JANUARY,
        "part-00001.csv": FEBRUARY,
        ".part-00000.csv.crc": b"crc",
        "part-00000.csv.crc": b"crc",
        "_SUCCESS": b"",
        "_committed_1": b"x",
        "_delta_log/0.json": "{}",
        ".hidden.csv": "nonsense",
    },
}


@pytest.mark.parametrize("files", TABLES.values(), ids=TABLES.keys())
def test_a_folder_is_one_table(files: Files, folder: Path) -> None:
    """Somebody who is in two files is one person."""
    save(folder, files)
    for source in ("in", Path("in"), folder, "in/"):
        data = read(source, **LONG, keep_order=True)
        assert rows(data) == [("a",), ("a",), ("b", "c")]
        assert data.positions is not None
        assert data.positions.tolist() == [0, 1, 0]
        assert not data.origin.notes


def test_baskets_follow_each_other(folder: Path) -> None:
    save(folder, {"b.dat": "c\n", "a.dat": "a b\nb", "c.txt": "a\n"})
    data = read("in", keep_order=True)
    distinct = [row for row, _ in data]
    assert data.positions is not None
    assert [distinct[row] for row in data.positions.tolist()] == [
        *(("a", "b"), ("b",), ("c",), ("a",))
    ]
    assert data.origin.read_as == "3 files, baskets, items separated by white space"


def test_lists_and_wide_tables(folder: Path) -> None:
    save(folder, {"1.parquet": {"items": [["a"], []]}, "2.parquet": {"items": [["b", "a"]]}})
    assert rows(read("in")) == [(), ("a",), ("a", "b")]
    assert rows(read("in", items="items")) == [(), ("a",), ("a", "b")]
    save(folder / "wide", {"1.csv": "id;x;y\n1;a;b\n", "2.csv": "id;x;y\n1;c;\n2;;\n"})
    assert rows(read("in/wide", id="id", item="x,y")) == [(), ("a", "b", "c")]
    assert rows(read("in/wide", item="x,y")) == [(), ("a", "b"), ("c",)]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("in/2026-*.csv", ["2026-01.csv", "2026-02.csv"]),
        ("in/2026-0[12].csv", ["2026-01.csv", "2026-02.csv"]),
        ("in/202?-01.csv", ["2025-01.csv", "2026-01.csv"]),
        ("in/*/x.csv", ["old/x.csv"]),
        ("in/**/x*.csv", ["old/new/x.csv", "old/x.csv"]),
        ("in/**/2*.csv", ["2025-01.csv", "2026-01.csv", "2026-02.csv"]),
        ("i?/old/x.csv", ["in/old/x.csv"]),
        ("in/old/**", ["new/x.csv", "x.csv"]),
        ("in/[o]ld", ["old/x.csv"]),
    ],
)
def test_patterns(pattern: str, found: list[str], folder: Path) -> None:
    names = ["2025-01.csv", "2026-01.csv", "2026-02.csv", "old/x.csv", "old/new/x.csv", "x.txt"]
    save(folder, dict.fromkeys([*names, ".2026-01.csv", "_2026-01.csv", ".git/x.csv"], JANUARY))
    for source in (pattern, Path(pattern), str(folder.parent / pattern)):
        parts = find_parts(source)
        assert parts is not None
        assert [part.name for part in parts.files] == found


def test_a_name_that_is_there_is_never_a_pattern(folder: Path) -> None:
    save(folder, {"[1].csv": JANUARY, "1.csv": FEBRUARY, "*.csv": "id,item\n9,z\n"})
    assert rows(read("in/[1].csv", **LONG)) == [("a",), ("b",)]
    assert rows(read("in/*.csv", **LONG)) == [("z",)]
    (folder / "[1].csv").unlink()
    assert rows(read("in/[1].csv", **LONG)) == [("a",), ("c",)]


def test_a_part_of_the_path_can_be_named(folder: Path) -> None:
    save(
        folder,
        {
            "code=250.00/year=2025/a.parquet": {"id": [1, 2], "x": [0, 0]},
            "code=a%2Fb/year=2025/a.parquet": {"id": [1], "x": [0]},
            "code=__HIVE_DEFAULT_PARTITION__/year=2025/a.parquet": {"id": [3], "x": [0]},
        },
    )
    assert rows(read("in", id="id", item="code")) == [(), ("250.00",), ("250.00", "a/b")]
    with pytest.raises(DataError, match="row 1: the id is missing"):
        read("in", id="code", item="id")
    (folder / "code=__HIVE_DEFAULT_PARTITION__" / "year=2025" / "a.parquet").unlink()
    assert rows(read("in", id="code", item="id")) == [("1",), ("1", "2")]
    save(folder / "text", {"patient=7/a.csv": "item\na\n", "patient=8/a.csv": "item\nb\nc\n"})
    assert rows(read("in/text", id="patient", item="item")) == [("a",), ("b", "c")]
    assert rows(read("in/text/*/a.csv", id="patient", item="item")) == [("a",), ("b", "c")]
    # What the file itself says, counts.
    save(folder / "both", {"item=x/a.csv": "id,item\n1,a\n", "item=y/a.csv": "id,item\n1,b\n"})
    assert rows(read("in/both", **LONG)) == [("a", "b")]


@pytest.mark.parametrize("fast", [False, True], ids=["plain", "fast"])
def test_a_part_of_the_path_in_both_ways(
    fast: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from overcoat.data.io import long

    if fast:
        monkeypatch.setattr(long, "POLARS_PAYS_FROM", 0)
        monkeypatch.setattr(long.Table, "_add", None)
    save(folder, {"y=1/a.csv": "id,item\n1,a\n2,b\n", "y=2/a.csv": "id,item\n1,c\n"})
    assert rows(read("in", id="id", item="item,y")) == [("1", "2", "a", "c"), ("1", "b")]


def test_the_digest_is_of_all_files_and_of_nothing_else(folder: Path) -> None:
    files = {"b/x.csv": FEBRUARY, "a.csv": JANUARY}
    save(folder, {name.replace("b/", "y=1/"): text for name, text in files.items()})
    data = read("in", **LONG)
    lines = [
        f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n"
        for name, text in (("a.csv", JANUARY), ("y=1/x.csv", FEBRUARY))
    ]
    assert data.file_digest == hashlib.sha256("".join(lines).encode()).hexdigest()
    assert data.origin.parts == tuple(line[:64] for line in lines)
    os.rename("in", "elsewhere")
    assert read("elsewhere", **LONG).file_digest == data.file_digest
    (Path("elsewhere") / "y=1" / "x.csv").write_text(FEBRUARY + "4,d\n")
    assert read("elsewhere", **LONG).file_digest != data.file_digest
    (Path("elsewhere") / "y=1" / "x.csv").unlink()
    assert read("elsewhere", **LONG).file_digest == hashlib.sha256(JANUARY.encode()).hexdigest()


def test_how_many_files_is_said(folder: Path) -> None:
    save(folder, {"1.csv": JANUARY, "2.csv": "id,item\n1,é\n".encode("latin-1")})
    data = read("in", **LONG)
    assert data.origin.read_as == "2 files, long table, 2 columns separated by commas, Windows-1252"
    assert data.layout is not None
    assert data.layout.bom
    stream = io.BytesIO()
    write(data, stream, layout=output_layout("r.csv", data.layout))
    assert stream.getvalue().startswith(b"\xef\xbb\xbfid,item\n")


# -- what is not read, and why ------------------------------------------------------------------


def test_what_is_not_read_is_told(folder: Path) -> None:
    save(folder, {"1.csv": JANUARY, "README.md": "x", "old/1.csv": FEBRUARY, "_x.csv": "y"})
    data = read("in", **LONG)
    assert rows(data) == [("a",), ("b",)]
    assert data.origin.notes == (
        "not read, by their names: README.md, _x.csv",
        "not read, as they are no partitions: old",
    )


def test_empty_files_of_a_job_that_is_done(folder: Path) -> None:
    save(folder, {"part-0": "a b\n", "part-1": b"", "_SUCCESS": b""})
    data = read("in")
    assert rows(data) == [("a", "b")]
    assert data.origin.notes == (f"{Path('in/part-1')} is empty, and was not read",)


@needs_posix
def test_one_file_under_two_names_is_read_once(folder: Path) -> None:
    save(folder, {"2026-01.dat": "a\n", "2026-02.dat": "b\n"})
    (folder / "latest.dat").symlink_to("2026-02.dat")
    data = read("in")
    assert rows(data) == [("a",), ("b",)]
    assert data.origin.notes == (
        "in/latest.dat is the same file as in/2026-02.dat, and was read once",
    )


@needs_posix
def test_links_that_go_round(folder: Path) -> None:
    save(folder, {"year=1/a.dat": "a\n"})
    (folder / "year=1" / "year=2").symlink_to(folder)
    with pytest.raises(DataError, match="year=2: is a link to a folder that it is in; remove it"):
        read("in")
    (folder / "year=1" / "year=2").unlink()
    (folder / "again").symlink_to(folder)
    assert rows(read("in/**/*.dat")) == [("a",)]
    (folder / "loop.dat").symlink_to("loop.dat")
    with pytest.raises(DataError, match=r"loop.dat: cannot be read: Too many levels of symbolic"):
        read("in")
    with pytest.raises(DataError, match=r"loop.dat: cannot be read: Too many levels of symbolic"):
        read("in/loop.dat")
    (folder / "loop.dat").unlink()
    (folder / "gone.dat").symlink_to("nowhere.dat")
    with pytest.raises(DataError, match=r"gone.dat: no such file"):
        read("in")


KINDS = "in: holds files of several kinds"
BAD: list[tuple[Files, str, dict[str, Any], str]] = [
    (
        {},
        "in",
        {},
        "in: no data file (.csv, .dat, .parquet, .pq, .tsv, .txt, .xlsx) is in this folder",
    ),
    ({"x.md": "", "sub/a.csv": ""}, "in", {}, "is in this folder; there is sub, x.md"),
    ({"1.csv": JANUARY}, "in/2*.csv", {}, "in/2*.csv: no such file, and as a pattern it matches"),
    ({"1.csv": JANUARY}, "no*/*.csv", {}, "no*/*.csv: no such file, and as a pattern it matches"),
    ({"1.csv": JANUARY}, "in/no.csv", {}, "in/no.csv: no such file"),
    ({"1.csv": JANUARY, "2.txt": "x"}, "in", LONG, f"{KINDS} (.csv, .txt); name those to read by"),
    ({"1.csv": "", "a.parquet": ""}, "in", LONG, f"{KINDS} (.csv, .parquet); name those to"),
    # unlike layouts
    (
        {"1.csv": JANUARY, "2.csv": FEBRUARY.replace(",", ";")},
        "in",
        LONG,
        "in/2.csv: is laid out unlike in/1.csv: separated by semicolons, not commas; read them",
    ),
    ({"1.csv": JANUARY, "2.csv": "id,code\n"}, "in", LONG, "in/2.csv:1: no column 'item'; the"),
    ({"1.csv": "a,b\n", "2.csv": "a;b\n"}, "in", {}, "in/2.csv: is laid out unlike in/1.csv: "),
    (
        {"1.parquet": {"id": [1], "item": ["a"]}, "2.parquet": {"id": ["1"], "item": ["a"]}},
        "in",
        LONG,
        "in/2.parquet: column 'id' holds String, in in/1.parquet whole numbers; make them alike",
    ),
    (
        {"1.parquet": {"items": [["a"]]}, "2.parquet": {"codes": [["a"]]}},
        "in",
        {},
        "in/2.parquet: is laid out unlike in/1.parquet: its columns are codes, not items; read",
    ),
    (
        {"y=1/a.csv": "id\n1\n", "z=1/a.csv": "id\n1\n"},
        "in",
        {"id": "id", "item": "y"},
        "in/z=1/a.csv:1: no column 'y'; the columns are 'id', 'z'",
    ),
    ({"1.csv": JANUARY, "2.csv": "id,item\n1\n"}, "in", LONG, "in/2.csv:2: 1 fields where the"),
    ({"1.csv": "id,item\n", "2.csv": "id,item\n"}, "in", LONG, "in: the files hold no transac"),
    # half-written
    ({"1.csv": JANUARY, "2.csv": ""}, "in", LONG, "in/2.csv: is empty; if it is not half-written"),
    ({"1.csv": JANUARY, "2.csv.inprogress": "x"}, "in", LONG, "in/2.csv.inprogress: is half-"),
    ({"1.csv": JANUARY, "2.csv.crdownload": "x"}, "in", LONG, "in/2.csv.crdownload: is half-"),
    ({"1.csv": JANUARY, "2.csv.part": "x"}, "in/*", LONG, "in/2.csv.part: is half-written, by its"),
    ({"1.csv": JANUARY, "_temporary/0/2.csv": "x"}, "in", LONG, "in: a job is writing here, or"),
    ({"1.parquet": {"a": [1]}, "2.parquet": b"PAR1\x15"}, "in/2*", {}, "not a sound Parquet file"),
    ({"_SUCCESS": "", "1.csv": "", "2.csv": ""}, "in", LONG, "in/1.csv: the file is empty"),
]


@pytest.mark.parametrize(("files", "source", "options", "message"), BAD)
def test_bad_folders(
    files: Files, source: str, options: dict[str, Any], message: str, folder: Path
) -> None:
    save(folder, files)
    with pytest.raises(DataError) as caught:
        read(source, **options)
    assert message in str(caught.value).replace(os.sep, "/")


@needs_user
def test_no_permission(folder: Path) -> None:
    save(folder, {"y=1/1.csv": JANUARY})
    (folder / "y=1").chmod(0)
    for source in ("in", "in/*/*.csv"):
        with pytest.raises(DataError, match="in/y=1: no permission to read it"):
            read(source, **LONG)
    (folder / "y=1").chmod(0o700)
    (folder / "y=1" / "1.csv").chmod(0)
    with pytest.raises(DataError, match=r"in/y=1/1.csv: no permission to read it"):
        read("in", **LONG)


def test_progress_is_of_all_files(folder: Path) -> None:
    save(folder, {"1.csv": JANUARY * 1, "2.csv": FEBRUARY})
    told: list[tuple[int, int]] = []

    class Watch(Stage):
        def __call__(self, done: int = 0, of: int = 0) -> None:
            told.append((done, of))
            if len(told) == end:
                raise CancelledError("enough")

    end = 0
    read("in", **LONG, stage=Watch("read", Context(threads=1)))
    size = len(JANUARY) + len(FEBRUARY)
    assert {of for _, of in told} == {size}
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1] == (size, size)
    for call in range(1, len(told)):
        end = call
        told.clear()
        with pytest.raises(CancelledError):
            read("in", **LONG, stage=Watch("read", Context(threads=1)))


def test_memory_is_that_of_all_files(folder: Path) -> None:
    save(folder, {"1.csv": JANUARY, "2.csv": FEBRUARY})
    stage = Context(memory=5 * len(JANUARY) + 1).start("read")
    assert read("in/1.csv", **LONG, keep_order=True, stage=stage).n_transactions == 2
    with pytest.raises(DataError, match=r"^in: reading it needs about"):
        read("in", **LONG, keep_order=True, stage=stage)


@pytest.mark.parametrize(
    ("source", "path", "found"),
    [
        ("in", "in/new.csv", True),
        ("in", "in/y=1/new.csv", True),
        ("in", "in.csv", False),
        ("in", "other/new.csv", False),
        ("in/*.csv", "in/new.csv", True),
        ("in/*.csv", "in/new.dat", False),
        ("in/*.csv", "in/sub/new.csv", False),
        ("in/**/*.csv", "in/sub/sub/new.csv", True),
        ("in/1.csv", "in/1.csv", True),
        ("in/1.csv", "./in/../in/1.csv", True),
        ("in/1.csv", "in/2.csv", False),
        ("no.csv", "in/1.csv", False),
        ("-", "in/1.csv", False),
    ],
)
def test_what_would_be_read(source: str, path: str, found: bool, folder: Path) -> None:
    save(folder, {"1.csv": JANUARY, "2.csv": FEBRUARY})
    assert reads(source, path) is found


def test_a_folder_of_workbooks(folder: Path) -> None:
    from openpyxl import Workbook

    for number in (1, 2):
        made = Workbook()
        sheet = made.active
        assert sheet is not None
        for row in (["id", "item"], [number, "038"], [3, "401"]):
            sheet.append(row)
        made.save(folder / f"{number}.xlsx")
    save(folder, {"~$1.xlsx": b"what Excel keeps beside a workbook that is open"})
    data = read(folder, **LONG)
    assert rows(data) == [("038",), ("038",), ("401",)]
    assert data.origin.notes == ()
    assert rows(read("in/*.xlsx", **LONG)) == rows(data)

    save(folder, {"3.csv": "id,item\n9,a\n"})  # a table as text, and workbooks beside it
    data = read(folder, **LONG)
    assert rows(data) == [("a",)]
    assert data.origin.notes == ("not read, by their names: 1.xlsx, 2.xlsx",)
