"""Every format in and out: layout, order, identifiers, and that `verify` takes what was written."""

from __future__ import annotations

import csv
import gzip
import io
import random
from collections import Counter
from dataclasses import dataclass

import polars as pl
import pytest

from cli.command import DATA, Desk, words

# Two rows are equal, one is empty, and codes start with zeros.
ROWS = [
    ("038", "401"),
    ("401", "038", "715"),
    ("715",),
    (),
    ("38", "401"),
    ("038", "715"),
    ("038", "401"),
    ("V72", "401", "715"),
    ("V72", "038"),
]
IDS = [f"patient-{number}" for number in (31, 7, 12, 90, 2, 55, 6, 44, 1)]
POLICY = ("-k", "2", "--km", "2")

Table = list[tuple[str, ...]]


# -- writing the inputs, and reading the outputs, without Overcoat ------------------------------


def basket(sep: str, header: str = "") -> bytes:
    return (header + "".join(sep.join(row) + "\n" for row in ROWS)).encode()


def long_text(sep: str) -> bytes:
    pairs = [(i, item) for i, row in zip(IDS, ROWS, strict=True) for item in row or ("",)]
    random.Random(1).shuffle(pairs)
    lines = [f"patient{sep}visit{sep}code", *(f"{i}{sep}x{sep}{item}" for i, item in pairs)]
    return ("\n".join(lines) + "\n").encode()


def long_parquet() -> bytes:
    pairs = [(i, item) for i, row in zip(IDS, ROWS, strict=True) for item in row or (None,)]
    frame = pl.DataFrame(pairs, schema={"patient": pl.String, "code": pl.String}, orient="row")
    stream = io.BytesIO()
    frame.write_parquet(stream)
    return stream.getvalue()


def list_parquet() -> bytes:
    stream = io.BytesIO()
    pl.DataFrame({"codes": [list(row) for row in ROWS]}).write_parquet(stream)
    return stream.getvalue()


def parse_basket(content: bytes, sep: str | None, header: bool = False) -> Table:
    lines = content.decode().splitlines()[header:]
    if sep is None:
        return [tuple(line.split()) for line in lines]
    # csv gives no row at all for an empty line
    return [tuple(next(csv.reader([line], delimiter=sep), ())) for line in lines]


def parse_pairs(pairs: list[tuple[object, str | None]]) -> Table:
    """Rows in the order of their ids, which must run from 1."""
    rows: dict[int, list[str]] = {}
    for number, item in pairs:
        rows.setdefault(int(str(number)), []).extend([item] if item else [])
    assert list(rows) == list(range(1, len(rows) + 1))
    return [tuple(row) for row in rows.values()]


def parse_long(content: bytes, sep: str) -> Table:
    header, *pairs = csv.reader(io.StringIO(content.decode()), delimiter=sep)
    assert header == ["patient", "code"]
    return parse_pairs([(number, item) for number, item in pairs])


def parse_parquet(content: bytes) -> Table:
    frame = pl.read_parquet(content)
    if frame.columns == ["patient", "code"]:
        return parse_pairs(frame.rows())
    (column,) = frame.columns
    return [tuple(row) for row in frame[column].to_list()]


LONG = ("--id", "patient", "--item", "code")


@dataclass(frozen=True)
class Input:
    content: bytes
    options: tuple[str, ...] = ()


INPUTS = {
    "in.dat": Input(basket(" ")),
    "in.txt": Input(basket("\t")),
    "in.csv": Input(basket(",")),
    "in.tsv": Input(basket("\t")),
    "semi.dat": Input(basket(";"), ("--sep", ";")),
    "tab.csv": Input(basket("\t"), ("--sep", "tab")),
    "head.csv": Input(basket(",", "first,second\n"), ("--header",)),
    "in.dat.gz": Input(gzip.compress(basket(" "))),
    "long.csv": Input(long_text(","), LONG),
    "long.tsv": Input(long_text("\t"), LONG),
    "long.txt": Input(long_text(";"), (*LONG, "--sep", ";")),
    "long.csv.gz": Input(gzip.compress(long_text(",")), LONG),
    "long.parquet": Input(long_parquet(), LONG),
    "list.parquet": Input(list_parquet(), ("--items", "codes")),
    "only.parquet": Input(list_parquet()),
}


def parse(name: str, content: bytes, like: str = "") -> Table:
    """Read a release by its name and, where that leaves it open, by the name of its input."""
    if name.endswith(".gz"):
        name, content = name.removesuffix(".gz"), gzip.decompress(content)
    like = like.removesuffix(".gz")
    if name.endswith(".parquet"):
        return parse_parquet(content)
    sep = {"csv": ",", "tsv": "\t"}.get(name.rpartition(".")[2])
    if like.startswith("long") and not name.endswith((".dat", ".txt")):
        return parse_long(content, sep or ",")
    return parse_basket(content, sep)


def expected(desk: Desk, mapping: str = "map.json") -> Counter[frozenset[str]]:
    label_of = desk.mapping(mapping)["items"]
    return Counter(frozenset(label_of[item] for item in row) - {None} for row in ROWS)


def check(desk: Desk, rows: Table, content: bytes) -> None:
    """The rows are the image of the data, say nothing of its order, and name no patient."""
    assert Counter(map(frozenset, rows)) == expected(desk)
    assert all(len(set(row)) == len(row) for row in rows)
    assert rows == sorted(tuple(sorted(row)) for row in rows)
    assert b"patient-" not in content


def anonymize(desk: Desk, name: str, *more: str) -> None:
    given = INPUTS[name]
    desk.write({name: given.content})
    done = desk.run("anonymize", name, *given.options, *POLICY, *more)
    assert done.status == 0, done.err


def verify(desk: Desk, name: str, released: str, *more: str) -> None:
    options = INPUTS[name].options
    done = desk.run(
        "verify", name, released, *options, "--mapping", "map.json", *POLICY, *more, "--json"
    )
    assert done.status == 0, done.err
    assert done.json["verified"] is True


@pytest.mark.parametrize("name", INPUTS)
def test_the_release_looks_like_its_input(desk: Desk, name: str) -> None:
    released = f"out.{name.partition('.')[2]}"
    anonymize(desk, name, "-o", released, "--mapping", "map.json")
    content = desk.read(released)
    plain = gzip.decompress(content) if name.endswith(".gz") else content
    match name:
        case "semi.dat":
            rows = parse_basket(content, ";")
        case "tab.csv":
            rows = parse_basket(content, "\t")
        case "head.csv":
            assert content.startswith(b"items\n")
            rows = parse_basket(content, ",", header=True)
        case "long.txt":
            rows = parse_basket(content, ";")  # .txt says basket
        case _:
            rows = parse(released, content, like=name)
    if name in ("list.parquet", "only.parquet"):
        assert pl.read_parquet(content).columns == ["codes"]
    check(desk, rows, plain)
    verify(desk, name, released)


OUTPUTS = ["o.dat", "o.txt", "o.csv", "o.tsv", "o.parquet", "o.csv.gz", "o.dat.gz", "o"]


@pytest.mark.parametrize("released", OUTPUTS)
@pytest.mark.parametrize("name", ["in.dat", "in.csv", "long.csv", "long.parquet", "list.parquet"])
def test_the_name_of_the_release_decides(desk: Desk, name: str, released: str) -> None:
    anonymize(desk, name, "-o", released, "--mapping", "map.json")
    content = desk.read(released)
    suffix = name.partition(".")[2]
    rows = parse(released if "." in released else f"o.{suffix}", content, like=name)
    check(desk, rows, gzip.decompress(content) if released.endswith(".gz") else content)
    verify(desk, name, released)


@pytest.mark.parametrize(
    ("name", "to", "released"),
    [
        ("in.dat", "long", "o.csv"),
        ("in.dat", "long", "o.parquet"),
        ("in.dat", "list", "o.parquet"),
        ("long.csv", "basket", "o.csv"),
        ("long.csv", "list", "o.parquet"),
        ("long.parquet", "list", "o.parquet"),
        ("list.parquet", "long", "o.tsv"),
        ("list.parquet", "basket", "o.tsv"),
    ],
)
def test_to_decides(desk: Desk, name: str, to: str, released: str) -> None:
    anonymize(desk, name, "-o", released, "--to", to, "--mapping", "map.json")
    content = desk.read(released)
    sep = "\t" if released.endswith(".tsv") else ","
    if released.endswith(".parquet"):
        frame = pl.read_parquet(content)
        rows = parse_pairs(frame.rows()) if to == "long" else parse_parquet(content)
        assert len(frame.columns) == (2 if to == "long" else 1)
    elif to == "long":
        header, *pairs = csv.reader(io.StringIO(content.decode()), delimiter=sep)
        assert header == ["id", "item"]
        rows = parse_pairs([(number, item) for number, item in pairs])
    else:
        rows = parse_basket(content, sep)
    check(desk, rows, content)
    verify(desk, name, released, "--to", to)


@pytest.mark.parametrize("name", ["in.dat", "in.dat.gz", "long.csv", "list.parquet"])
def test_standard_input_and_output(desk: Desk, name: str) -> None:
    given = INPUTS[name]
    options = (*given.options, *POLICY)
    anonymize(desk, name, "-o", "out", "--mapping", "map.json")

    done = desk.run("anonymize", "-", *options, "-o", "-", stdin=given.content)
    assert done.status == 0, done.err
    assert done.out == desk.read("out")
    assert "standard output" in done.err

    done = desk.run("verify", name, "-", "--mapping", "map.json", *options, stdin=done.out)
    assert done.status == 0, done.err
    done = desk.run("verify", "-", "out", "--mapping", "map.json", *options, stdin=given.content)
    assert done.status == 0, done.err


def test_a_real_pipe(desk: Desk) -> None:
    desk.write({"in.csv": INPUTS["long.csv"].content})
    with (desk.folder / "in.csv").open("rb") as stdin:
        done = desk.run_process("anonymize", "-", *LONG, *POLICY, "-o", "-", stdin=stdin)
    assert done.status == 0, done.err
    desk.run("anonymize", "in.csv", *LONG, *POLICY, "-o", "o.csv", "--mapping", "map.json")
    assert done.out == desk.read("o.csv")
    check(desk, parse_long(done.out, ","), done.out)


@pytest.mark.parametrize("name", ["in.dat", "list.parquet"])
def test_keep_order(desk: Desk, name: str) -> None:
    given = INPUTS[name]
    desk.write({name: given.content})
    run = ("anonymize", name, *given.options, *POLICY, "--mapping", "map.json", "--keep-order")
    released = f"o.{name.partition('.')[2]}"
    done = desk.run(*run, "-o", released)
    assert done.status == 0
    assert "warning: the rows keep the order of the input" in done.err
    label_of = desk.mapping()["items"]
    rows = parse(released, desk.read(released))
    assert [set(row) for row in rows] == [{label_of[item] for item in row} for row in ROWS]
    assert desk.mapping()["keep_order"] is True
    assert desk.run(*run, "-o", released, "--json").json["keep_order"] is True
    verify(desk, name, released)


def test_order_is_not_kept_or_recorded_unless_asked(desk: Desk) -> None:
    anonymize(desk, "in.dat", "-o", "o.dat", "--mapping", "map.json")
    released = desk.read("o.dat")
    assert "keep_order" not in desk.mapping()
    lines = INPUTS["in.dat"].content.splitlines(keepends=True)
    random.Random(7).shuffle(lines)
    desk.write({"shuffled.dat": b"".join(lines)})
    done = desk.run("anonymize", "shuffled.dat", *POLICY, "-o", "o2.dat")
    assert done.status == 0
    assert desk.read("o2.dat") == released


def test_byte_order_mark_and_windows_lines(desk: Desk) -> None:
    anonymize(desk, "in.csv", "-o", "o.csv", "--mapping", "map.json")
    content = INPUTS["in.csv"].content.replace(b"\n", b"\r\n")
    desk.write({"windows.csv": b"\xef\xbb\xbf" + content})
    done = desk.run("anonymize", "windows.csv", *POLICY, "-o", "o2.csv")
    assert done.status == 0
    assert desk.read("o2.csv") == b"\xef\xbb\xbf" + desk.read("o.csv")  # Excel opens it, too


def test_old_macintosh_files(desk: Desk) -> None:
    """Their lines end in CR, and so do those of the files of the policy."""
    desk.write({"m.dat": DATA.replace("\n", "\r"), "u.txt": "one: a b\rtwo: c d\r"})
    desk.write({"lf.txt": "one: a b\ntwo: c d\n"})
    policy = words("-k 2 --km 2 -s 50 -q")
    assert desk.run("anonymize", "m.dat", *policy, *words("--utility u.txt -o m.out")).status == 0
    assert desk.run("anonymize", "d.dat", *policy, *words("--utility lf.txt -o d.out")).status == 0
    assert desk.read("m.out") == desk.read("d.out")
    assert desk.read("m.out").count(b"\n") == 7
