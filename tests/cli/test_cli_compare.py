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


def test_without_matplotlib_the_extra_is_named(busy: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("overcoat.comparison.plots.can_draw", lambda: False)
    monkeypatch.setattr("overcoat.comparison.page.can_draw", lambda: False)
    done = busy.run(*words(FIELD))
    assert done.status == 0
    assert "note: plots need matplotlib: pip install 'overcoat[plots]'" in done.err


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
        ("--sweep q=1", "expected k=…, m=…, h=…, s=… or policy=…"),
        ("--sweep k=", "expected k=…, m=…, h=…, s=… or policy=…"),
        ("--sweep k=2,two", "expected numbers"),
        ("--sweep k=2 --sweep k=3", "given twice"),
        ("--pgen --privacy queries.txt --sweep h=5", "h can only be varied"),
        ("--q one", "expected sizes such as 1,2,3"),
        ("--algorithms coat,caot", "no algorithm 'caot'"),
        ("--sweep k=0", "k must be a whole number of at least 1"),
        ("--sweep s=200", "percentage from 0 to 100"),
        ("--q 9", "no query of 9 items can be drawn"),
        ("--among some", "'all', 'generalized'"),
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


def test_the_method_of_a_policy_file_is_heeded(busy: Desk) -> None:
    busy.write({"g.toml": 'k = 3\nkm = 2\nalgorithm = "greedy"\ns = 100\n'})
    done = busy.run(*words("compare d.dat --policy g.toml --q 1 -o out --json"))
    assert [row["algorithm"] for row in done.json["rows"]] == ["greedy"]


def test_policies_of_the_same_name_in_different_folders(busy: Desk) -> None:
    for folder, k in (("x", 2), ("y", 4)):
        (busy.folder / folder).mkdir()
        busy.write({f"{folder}/p.toml": f"k = {k}\nkm = 2\n"})
    sweep = "--sweep policy=x/p.toml,y/p.toml"
    done = busy.run(*words(f"compare d.dat {sweep} --algorithms coat --q 1 -o out --json"))
    assert [row["policy"] for row in done.json["rows"]] == ["x/p.toml", "y/p.toml"]


@pytest.mark.parametrize(
    "option", ["--among generalized", "--by occurrences", "--seed 5", "--n-queries 7"]
)
def test_every_option_of_the_queries_counts(busy: Desk, option: str) -> None:
    base = "compare d.dat -k 4 --km 2 --algorithms coat --q 1 -o out --json"
    first = busy.run(*words(base)).json["rows"][0]
    other = busy.run(*words(f"{base} {option}")).json["rows"][0]
    assert any(first[name] != other[name] for name in first if "_re_" in name)
    assert first["log2_ul"] == other["log2_ul"]


def test_a_method_that_refuses_is_told_and_the_others_go_on(busy: Desk) -> None:
    command = "compare d.dat -k 3 --pgen --algorithms coat,apriori --sweep k=2,3 --q 1 -o out"
    done = busy.run(*words(command))
    assert done.status == 0
    assert "refused: apriori, k = 2 and 1 more: apriori generalizes along a hierarchy" in done.err
    rows = busy.run(*words(command), "--json").json["rows"]
    assert [row["status"] for row in rows] == ["met", "refused", "met", "refused"]
    assert "hierarchy" in rows[1]["note"]
    assert rows[1]["log2_ul"] is None


def test_queries_nobody_matches_and_known_items(busy: Desk) -> None:
    busy.write({"queries.txt": "a b\nc d e\na z\n", "codes.txt": "z\n"})
    done = busy.run(*words("compare d.dat -k 3 --km 2 --queries queries.txt -o out"))
    assert done.status == 2
    assert "queries.txt:3" in done.err
    known = "compare d.dat -k 3 --km 2 --queries queries.txt --known codes.txt -o out"
    done = busy.run(*words(known))
    assert done.status == 0
    assert "note: queries.txt: 2 queries that nobody matches are left out" in done.err


def test_notes_are_told(busy: Desk) -> None:
    assert "k = 1 protects nobody" in busy.run(*words("compare d.dat -k 1 --km 2 -o out")).err


def test_price(desk: Desk) -> None:
    desk.write({"d.dat": "a c\na\na\nb c\nb\nc\nd\nd\nd\n", "sets.txt": "first: a d\nlast: c\n"})
    common = "compare d.dat -k 2 --km 2 --utility sets.txt -s 50 --algorithms coat --q 1 -o out"
    done = desk.run(*words(common), "--price", "1")
    assert done.status == 0, done.err
    assert "price: by how much it makes flat NCP larger" in done.err
    assert "1 utility set with fewer people not tried" in done.err
    assert b"<h2>Price</h2>" in desk.read("out/index.html")
    rows = list(csv.DictReader(io.StringIO(desk.read("out/prices.csv").decode())))
    assert [row["kind"] for row in rows] == ["", "family", "sets", "set"]
    told = desk.run(*words(common), "--price", "--json").json["prices"][""]
    assert [one["kind"] for one in told["without"]] == ["family", "sets", "set", "set"]
    desk.run(*words(common))  # a page without prices takes the old ones away
    assert not (desk.folder / "out" / "prices.csv").exists()
