"""`overcoat compare`: tables, plots, one object as JSON; bad input is told before the work."""

from __future__ import annotations

import csv
import io

import pytest

from cli.command import Desk, words

ROWS = "".join(f"{a} {b}\n" for a in "abcd" for b in "aabbcde")
FIELD = "compare d.dat -k 3 --km 2 --algorithms coat,pcta --sweep k=2,3 --q 1 -o out"


@pytest.fixture
def busy(desk: Desk) -> Desk:
    desk.write({"d.dat": ROWS, "queries.txt": "a b\nx: c\n"})
    return desk


def test_files_and_table(busy: Desk) -> None:
    done = busy.run(*words(FIELD), "--queries", "queries.txt")
    assert done.status == 0, done.err
    assert done.out == b""
    assert "algorithm" in done.err
    assert "written to out: results.csv, results.parquet, error.svg" in done.err
    rows = list(csv.DictReader(io.StringIO(busy.read("out/results.csv").decode())))
    assert [(row["algorithm"], row["k"]) for row in rows] == [
        ("coat", "2"),
        ("pcta", "2"),
        ("coat", "3"),
        ("pcta", "3"),
    ]
    assert {row["status"] for row in rows} == {"met"}
    assert {"avg_re_q1", "avg_re_own"} <= set(rows[0])


def test_own_queries_instead_of_drawn_ones(busy: Desk) -> None:
    done = busy.run(*words("compare d.dat -k 3 --km 2 --queries queries.txt -o out --json"))
    assert [name for name in done.json["rows"][0] if name.startswith("avg_re")] == ["avg_re_own"]


def test_json(busy: Desk) -> None:
    done = busy.run(*words(FIELD), "--json")
    assert done.status == 0, done.err
    assert [row["k"] for row in done.json["rows"]] == [2, 2, 3, 3]
    assert "out/results.csv" in done.json["files"]


def test_the_same_command_again_gives_the_same(busy: Desk) -> None:
    busy.run(*words(FIELD))
    first = busy.read("out/results.csv")
    busy.run(*words(FIELD))
    assert busy.read("out/results.csv") == first


def test_policy_files(busy: Desk) -> None:
    busy.write({"strict.toml": "k = 4\nkm = 2\n", "loose.toml": "k = 2\nkm = 1\n"})
    done = busy.run(*words("compare d.dat --sweep policy=strict.toml,loose.toml -o out --json"))
    assert done.status == 0, done.err
    assert [row["policy"] for row in done.json["rows"]] == ["strict", "strict", "loose", "loose"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--sweep q=1", "expected k=…, m=…, s=… or policy=…"),
        ("--sweep k=", "expected k=…, m=…, s=… or policy=…"),
        ("--sweep k=2,two", "expected numbers"),
        ("--q one", "expected sizes such as 1,2,3"),
        ("--algorithms coat,caot", "no algorithm 'caot'"),
        ("--sweep k=0", "k must be a whole number of at least 1"),
        ("--sweep s=200", "percentage from 0 to 100"),
        ("--q 9", "9"),
        ("--queries nothing.txt", "nothing.txt"),
        ("--sweep policy=missing.toml", "missing.toml"),
    ],
)
def test_bad_input(busy: Desk, options: str, message: str) -> None:
    base = "compare d.dat -k 3 --km 2 -o out"
    done = busy.run(*words(f"{base} {options}"))
    assert done.status == 2
    assert message in done.err
    assert "out/results.csv" not in busy.files()


def test_an_input_is_never_overwritten(busy: Desk) -> None:
    busy.write({"results.csv": ROWS.replace(" ", ",")})
    done = busy.run(*words("compare results.csv --sep , -k 3 --km 2 -o ."))
    assert done.status == 2
    assert "is an input" in done.err
    assert busy.read("results.csv").decode() == ROWS.replace(" ", ",")


def test_a_folder_that_cannot_be_made(busy: Desk) -> None:
    busy.write({"file": "x"})
    for folder in ("file", "file/out"):
        done = busy.run(*words(f"compare d.dat -k 3 --km 2 -o {folder}"))
        assert done.status == 2
        assert "folder" in done.err


def test_by_default_methods_that_can_take_the_policy(busy: Desk) -> None:
    busy.write({"u.txt": "a b c d e\n"})
    base = "compare d.dat -k 3 --km 2 --hierarchy balanced:2 --q 1 -o out --json"
    for options, expected in (
        ("", ["coat", "pcta", "apriori"]),
        ("--pgen", ["coat", "pcta"]),
        ("--algorithm greedy -s 100", ["greedy"]),
        ("--algorithms 'pcta, coat,pcta'", ["pcta", "coat"]),
    ):
        done = busy.run(*words(f"{base} {options}"))
        assert [row["algorithm"] for row in done.json["rows"]] == expected


def test_an_interruption_tells_what_is_kept(busy: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("overcoat.comparison.compare.run_all", interrupted)
    done = busy.run(*words(FIELD))
    assert done.status == 130
    assert "interrupted; finished runs are kept in out" in done.err
    assert "nothing was written" not in done.err


def test_notes_are_told(busy: Desk) -> None:
    assert "k = 1 protects nobody" in busy.run(*words("compare d.dat -k 1 --km 2 -o out")).err
