"""What was published, by itself: its files are read as they are, and must belong together."""

from __future__ import annotations

import sqlite3

import polars as pl
import pytest

from cli.command import Desk, words

WIDE = "person;first;second\n1;a;b\n2;a;b\n3;a;c\n4;a;c\n5;b;c\n6;b;c\n7;a;c\n"
POLICY = ("-k", "2", "--km", "2")


def publish(desk: Desk, command: str) -> None:
    done = desk.run("anonymize", *words(command), *POLICY, "--mapping", "map.json", "-q")
    assert done.status == 0, done.err


@pytest.fixture
def wide(desk: Desk) -> Desk:
    desk.write({"wide.csv": WIDE})
    publish(desk, "wide.csv --id person --item first,second -o o.csv --external-report ex.html")
    return desk


@pytest.mark.parametrize("columns", ["--id person --item first,second", "--id person --item item"])
def test_a_wide_table_becomes_a_long_one(wide: Desk, columns: str) -> None:
    assert wide.lines("o.csv")[0] == "person;item"
    done = wide.run("verify", "o.csv", *words(columns), "--mapping", "map.json", *POLICY)
    assert done.status == 0, done.err
    report = ("report", "o.csv", *words(columns), "--mapping", "map.json", *POLICY)
    assert wide.run(*report, "-o", "again.html").status == 0
    assert wide.read("again.html") == wide.read("ex.html")
    assert b"overcoat verify RELEASED --id person --item item --mapping" in wide.read("ex.html")


def test_what_is_wrong_is_said_of_what_was_named(wide: Desk) -> None:
    done = wide.run(*words("verify o.csv --id who --item first --mapping map.json"), *POLICY)
    assert done.status == 2
    assert "no column 'who', no column 'first'" in done.err


@pytest.mark.parametrize("target", ["o.csv", "o.parquet", "o.parquet --to long"])
def test_lists_may_become_something_else(desk: Desk, target: str) -> None:
    lists = [["a", "b"], ["a", "b"], ["a", "c"], ["a", "c"]]
    pl.DataFrame({"codes": lists}).write_parquet(desk.folder / "d.parquet")
    publish(desk, f"d.parquet --items codes -o {target} --external-report ex.html")
    name = target.split(maxsplit=1)[0]
    for command in (
        f"verify {name} --items codes --mapping map.json",
        f"verify d.parquet {name} --items codes --mapping map.json",
        f"risk d.parquet {name} --items codes --mapping map.json",
        f"report {name} --items codes --mapping map.json -o again.html",
    ):
        policy = () if command.startswith("risk") else POLICY
        done = desk.run(*words(command), *policy)
        assert done.status == 0, done.err
    assert desk.read("again.html") == desk.read("ex.html")


def test_a_long_table_may_become_lists(desk: Desk) -> None:
    desk.write({"d.csv": "who,what\n1,a\n1,b\n2,a\n2,b\n"})
    publish(desk, "d.csv --id who --item what -o o.parquet --to list")
    for command in ("verify o.parquet", "verify d.csv o.parquet"):
        columns = words("--id who --item what --mapping map.json")
        assert desk.run(*words(command), *columns, *POLICY).status == 0


def test_the_separator_of_a_release_is_found(desk: Desk) -> None:
    desk.write({"d.csv": "who,what\n1,a\n1,b\n2,a\n2,b\n"})
    publish(desk, "d.csv --id who --item what -o o.csv")
    desk.write({"o.csv": desk.read("o.csv").decode().replace(",", ";")})
    done = desk.run(*words("verify d.csv o.csv --id who --item what --mapping map.json"), *POLICY)
    assert done.status == 0, done.err


def test_a_mapping_of_another_release_is_told(wide: Desk) -> None:
    # The same labels, so that nothing else can be wrong with them.
    content = wide.read("o.csv").decode()
    wide.write({"o.csv": content + "8;a\n8;c\n"})
    columns = words("--id person --item item --mapping map.json")
    for command in (("verify", "o.csv"), ("report", "o.csv", "-o", "again.html")):
        done = wide.run(*command, *columns, *POLICY)
        assert done.status == 0, done.err
        assert "note: map.json: was written with another release than this one" in done.err


@pytest.mark.parametrize(
    ("option", "status", "told"),
    [
        ("-k 2", 0, "certified   yes"),
        ("-k 3", 4, "policy.k: certified 2, found 3"),
        ("-s 7", 4, 'policy.max_suppressed: certified "1/2", found "7"'),
        ("--utility u.txt", 4, "policy.utility"),
        ("--linkable u.txt", 2, "linkable items need km"),
        ("--km 1", 2, "k is missing"),
    ],
)
def test_a_lone_option_stands_beside_the_certified_policy(
    wide: Desk, option: str, status: int, told: str
) -> None:
    publish(wide, "wide.csv --id person --item first,second -o o.csv --certificate c.json")
    wide.write({"u.txt": "x: a, b, c\n"})
    done = wide.run(
        *words("verify wide.csv o.csv --id person --item first,second --mapping map.json"),
        *("--certificate", "c.json", *words(option)),
    )
    assert done.status == status, done.err
    assert told in done.err


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("out/", "out/: is a directory; name a file"),
        ("o.dat.zst", "o.dat.zst: cannot compress to .zst; name the file o.dat or o.dat.gz"),
        ("o.tsv.bz2", "o.tsv.bz2: cannot compress to .bz2; name the file o.tsv or o.tsv.gz"),
    ],
)
def test_names_that_promise_what_is_not_written(desk: Desk, target: str, told: str) -> None:
    done = desk.run("anonymize", "d.dat", *POLICY, "-s", "50", "-o", target)
    assert (done.status, told in done.err) == (2, True)
    assert {*desk.files()} == {"d.dat"}


def test_a_table_may_have_a_point_in_its_name(desk: Desk) -> None:
    for number, name in enumerate(("my.table", "main.mine", '"main.too"')):
        command = f"anonymize d.dat -o 'sqlite:///x.db#{name}' -s 50 -q"
        done = desk.run(*words(command), *POLICY)
        assert done.status == 0, (number, done.err)
    with sqlite3.connect(desk.folder / "x.db") as database:
        rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    assert {name for (name,) in rows} == {"my.table", "mine", "main.too"}
    read = "anonymize sqlite:///x.db#my.table --id id --item item -o again.dat -q -s 50"
    assert desk.run(*words(read), *POLICY).status == 0


def test_labels_that_a_spreadsheet_takes_for_formulas(desk: Desk) -> None:
    desk.write({"d.csv": "p,c\n1,=1+1\n1,-5\n2,=1+1\n2,-5\n3,@x\n4,@x\n"})
    columns = words("--id p --item c")
    for target, number in (("o.csv", 2), ("o.xlsx", 0), ("o.parquet", 0)):
        done = desk.run(
            "anonymize", "d.csv", *columns, *POLICY, "-o", target, "--codebook", "b.tsv"
        )
        assert done.status == 0, done.err
        told = "2 labels begin like a formula of a spreadsheet, such as '=1+1'"
        assert done.err.count(told) == (number > 0) + 1
        assert ("note: o.csv: " + told in done.err) == (number > 0)
