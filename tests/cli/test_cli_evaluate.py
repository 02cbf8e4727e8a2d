"""`overcoat evaluate`: what it prints, writes and refuses."""

from __future__ import annotations

import csv
import io

import pytest

from cli.command import Desk, words

POLICY = words("-k 2 --km 2")
EVALUATE = words("evaluate d.dat o.dat --mapping map.json")


@pytest.fixture
def released(desk: Desk) -> Desk:
    done = desk.run("anonymize", "d.dat", *POLICY, "-o", "o.dat", "--mapping", "map.json")
    assert done.status == 0, done.err
    return desk


def test_text(released: Desk) -> None:
    done = released.run(*EVALUATE, "--min-support", "20")
    assert done.status == 0, done.err
    assert done.out == b""
    names = [line[:11].strip() for line in done.err.splitlines()]
    assert names == [
        *("data", "untouched", "generalized", "suppressed", "told", "loss", "ncp"),
        *("queries", "queries", "queries", "", "itemsets", "rules", "top"),
    ]
    assert released.run(*EVALUATE, "-q").err == ""


def test_json(released: Desk) -> None:
    done = released.run(*EVALUATE, *words("--json --q 2 --n-queries 30 --min-support 20 --top 5"))
    assert done.status == 0, done.err
    assert done.err == ""
    content = done.json
    assert (content["n_transactions"], content["n_items"]) == (7, 6)
    assert sum(content["items"].values()) == 6
    assert sum(content["occurrences"].values()) == 16
    assert [one["n_queries"] for one in content["queries"]] == [30]
    assert content["patterns"]["min_count"] == 2
    assert content["patterns"]["top"] == 5
    assert 0 <= content["patterns"]["itemsets"]["recall"] <= 1
    again = released.run(*EVALUATE, *words("--json --q 2 --n-queries 30 --min-support 20 --top 5"))
    assert again.out == done.out


def test_what_a_policy_protects_is_not_looked_at(released: Desk) -> None:
    protects = (
        'k = 0\ns = 400\nkm = 0\nh = 101\nprivacy = "missing.txt"\nlinkable = "missing.txt"\n'
    )
    released.write({"p.toml": protects + '[utility]\nab = ["a", "b"]\n'})
    done = released.run(*EVALUATE, "--policy", "p.toml")
    assert done.status == 0, done.err
    assert " ab " in done.err
    released.write({"p.toml": 'k = 0\nutility = "missing.txt"\n'})
    assert released.run(*EVALUATE, "--policy", "p.toml").status == 2


def test_the_seed(released: Desk) -> None:
    tables = [
        released.run(*EVALUATE, *words(f"--q 1 --n-queries 50 --seed {seed} -q -o -")).out
        for seed in (0, 0, 1)
    ]
    assert tables[0] == tables[1] != tables[2]


def test_queries_of_ones_own(released: Desk) -> None:
    released.write({"q.txt": "first: a b\nd\nb d\n"})
    done = released.run(*EVALUATE, *words("--queries q.txt -o q.csv"))
    assert done.status == 0, done.err
    assert "note: q.txt: 1 query that nobody matches is left out" in done.err
    head, *rows = csv.reader(io.StringIO(released.read("q.csv").decode()))
    assert head == ["workload", "items", "actual", "estimate", "relative_error"]
    assert [row[:3] for row in rows] == [["q.txt", "a,b", "3"], ["q.txt", "d", "2"]]
    both = released.run(*EVALUATE, *words("--queries q.txt --q 1 --json")).json
    assert [one["title"] for one in both["queries"]] == ["q.txt", "1 item, drawn by items"]


def test_among_and_by(released: Desk) -> None:
    mapping = released.mapping()
    merged = {i for items in mapping["groups"].values() if len(items) > 1 for i in items}
    done = released.run(*EVALUATE, *words("--q 1 --among generalized --by occurrences -q -o -"))
    drawn = {row[1] for row in csv.reader(io.StringIO(done.out.decode()))} - {"items"}
    assert drawn == merged


def test_a_policy_file_will_do(released: Desk) -> None:
    tree = "".join(f"{item};{'abc' if item in 'abc' else 'def'};*\n" for item in "abcdef")
    released.write({"h.csv": tree, "policy.toml": 'k = 2\nkm = 2\nhierarchy = "h.csv"\n'})
    by_file = released.run(*EVALUATE, *words("--policy policy.toml --json")).json
    by_option = released.run(*EVALUATE, *words("--hierarchy h.csv --json")).json
    assert by_file == by_option
    assert by_file["ncp"] != released.run(*EVALUATE, "--json").json["ncp"]


@pytest.mark.parametrize(
    ("more", "status", "says"),
    [
        ("--q 1,x", 2, "expected sizes such as 1,2,3, not '1,x'"),
        ("--q 9", 2, "no query of 9 items can be drawn"),
        ("--q 0", 2, "q must be a whole number of at least 1"),
        ("--min-support 101", 2, "min_support is a percentage"),
        ("--queries typo.txt", 2, "typo.txt:1: item 'aa' does not occur in the data; near: 'a'"),
        ("--queries none.txt", 2, "none.txt: no such file"),
        ("--utility typo.txt", 2, "typo.txt:1: item 'aa' does not occur in the data"),
        ("--json -o -", 2, "--json and -o - both want standard output"),
        ("-o map.json", 2, "is an input; name another file"),
        ("--n-queries 0", 2, "0 is not in the range"),
    ],
)
def test_what_is_refused(released: Desk, more: str, status: int, says: str) -> None:
    released.write({"typo.txt": "aa b\n"})
    before = released.files()
    done = released.run(*EVALUATE, *words(more))
    assert done.status == status
    assert says in done.err
    assert released.files() == before


def test_another_release(released: Desk) -> None:
    released.write({"o.dat": released.read("o.dat").split(b"\n", 1)[1]})
    before = released.files()
    done = released.run(*EVALUATE, *words("-o q.csv --json"))
    assert done.status == done.json["exit_code"] == 4
    assert "the release is not the data under this mapping" in done.err
    assert released.files() == before


def test_bounds_say_how_far_from_the_least(released: Desk) -> None:
    released.write({"p.toml": "k = 2\nkm = 2\n"})
    done = released.run(*EVALUATE, "--policy", "p.toml", "--bounds", "--json")
    assert done.status == 0, done.err
    found = done.json["bounds"]
    assert found["possible"]
    assert found["without_suppression"]
    assert 0 < found["most_untouched"] < 6
    assert found["times_flat_ncp"] == pytest.approx(done.json["flat_ncp"] / found["flat_ncp"])
    told = released.run(*EVALUATE, "--policy", "p.toml", "--bounds").err
    assert "times the least possible without suppression" in told
    assert released.run(*EVALUATE, "--json").json["bounds"] is None
    refused = released.run(*EVALUATE, "--bounds")
    assert refused.status == 2
    assert "--bounds needs --policy" in refused.err
