"""Same input, same bytes; and labels that try to be something else."""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter

import polars as pl
import pytest

from cli.command import Desk, words

RUN = words("anonymize d.csv --id patient --item code -k 3 --km 2")


def test_same_input_same_bytes(desk: Desk) -> None:
    random_ = random.Random(5)
    codes = [f"{letter}{number}" for letter in "xyzäß" for number in range(8)]
    pairs = sorted({(random_.randrange(120), random_.choice(codes)) for _ in range(600)})
    desk.write(
        {
            "d.csv": "patient,code\n" + "".join(f"{i},{code}\n" for i, code in pairs),
            "u.txt": "".join(f"{x}: {','.join(c for c in codes if c[0] == x)}\n" for x in "zxy"),
            "p.txt": "\n".join(f"x{n},y{n},z{n}" for n in range(8)),
        }
    )
    more = words("-s 20 --privacy p.txt --utility u.txt --hierarchy balanced:4")
    for seed in ("0", "1"):
        for suffix in ("csv", "parquet", "csv.gz"):
            out = ("-o", f"{seed}.{suffix}", "--mapping", f"{seed}.{suffix}.json")
            if suffix == "csv":
                done = desk.run_process(*RUN, *more, *out, "-q", PYTHONHASHSEED=seed)
            else:
                done = desk.run(*RUN, *more, *out, "-q")
            assert done.status == 0, done.err
    for suffix in ("csv", "parquet", "csv.gz"):
        assert desk.read(f"0.{suffix}") == desk.read(f"1.{suffix}")
        assert desk.read(f"0.{suffix}.json") == desk.read("1.csv.json")


HOSTILE = [
    "a",
    "b",
    "(a|b)",
    "(a|b)#2",
    "|",
    "#",
    "# no comment",
    "x: y",
    'say "hi"',
    '"',
    "a,b",
    "a;b",
    "two words",
    "tab\there",
    "038",
    "38",
    "1e5",
    "NULL",
    "nan",
    "🙂",
    "é",
    "é",  # two code points
    "-",
    "'",
    "\\",
    "=1+1",
]


def hostile_rows() -> list[list[str]]:
    random_ = random.Random(3)
    return [random_.sample(HOSTILE, random_.randrange(1, 6)) for _ in range(60)]


def write_long(rows: list[list[str]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["patient", "code"])
    writer.writerows((number, item) for number, row in enumerate(rows) for item in row)
    return stream.getvalue()


def read_long(text: str) -> Counter[frozenset[str]]:
    rows: dict[str, set[str]] = {}
    for number, item in list(csv.reader(io.StringIO(text)))[1:]:
        rows.setdefault(number, set()).add(item)
    return Counter(map(frozenset, rows.values()))


@pytest.mark.parametrize("released", ["o.csv", "o.parquet"])
def test_hostile_labels(desk: Desk, released: str) -> None:
    rows = hostile_rows()
    assert {item for row in rows for item in row} == set(HOSTILE)
    desk.write(
        {
            "d.csv": write_long(rows),
            # One block has a and b only, so that their group would like to be called (a|b).
            "u.json": json.dumps({"ab": ["a", "b"], "x: y": ["x: y", "#", '"', "|"]}),
            "p.json": json.dumps([["a", "🙂"], ["# no comment", "x: y"], ["(a|b)", "b"]]),
        }
    )
    policy = words("--privacy p.json --utility u.json -k 14 --km 1 -s 10")
    files = ["--id", "patient", "--item", "code", *policy]
    done = desk.run("anonymize", "d.csv", *files, "-o", released, "--mapping", "map.json")
    assert done.status == 0, done.err

    mapping = desk.mapping()
    items, groups = mapping["items"], mapping["groups"]
    assert set(items) == set(HOSTILE)
    assert items["a"] == items["b"] not in HOSTILE
    assert all(groups[label] == [label] for label in groups if label in items)
    assert {label for label in items.values() if label is not None} == set(groups)
    wanted = Counter(frozenset(items[item] for item in row) - {None} for row in rows)
    if released == "o.csv":
        found = read_long(desk.read(released).decode())
        assert sum((wanted - found).values()) == wanted[frozenset()]
    else:
        frame = pl.read_parquet(desk.read(released))
        grouped = frame.group_by("patient").agg("code")["code"].to_list()
        found = Counter(frozenset(row) - {None} for row in grouped)
        assert found == wanted
    done = desk.run("verify", "d.csv", released, *files, "--mapping", "map.json")
    assert done.status == 0, done.err

    done = desk.run("apply", "d.csv", *files, "--use", "map.json", "-o", f"again-{released}")
    assert done.status == 0, done.err
    assert desk.read(f"again-{released}") == desk.read(released)


def test_hostile_baskets(desk: Desk) -> None:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(hostile_rows())
    desk.write({"d.csv": stream.getvalue()})
    out = words("-o o.csv --mapping map.json")
    done = desk.run("anonymize", "d.csv", *words("-k 9 --km 1"), *out)
    assert done.status == 0, done.err
    done = desk.run("verify", "d.csv", "o.csv", *words("-k 9 --km 1 --mapping map.json"))
    assert done.status == 0, done.err
    assert set(desk.mapping()["items"]) == set(HOSTILE)

    done = desk.run(*words("pgen d.csv -k 5 -o p.txt --json"))
    assert done.status == 0, done.err
    n_constraints = done.json["n_constraints"]
    for file in ("p.txt", "p.json"):
        assert desk.run("pgen", "d.csv", "-k", "5", "-o", file).status == 0
        policy = ("-k", "5", "--privacy", file)
        done = desk.run("anonymize", "d.csv", *policy, "-o", f"{file}.csv", "--json")
        assert done.status == 0, done.err
        assert done.json["n_constraints"] == n_constraints
        assert done.json["notes"] == []
    done = desk.run(*words("anonymize d.csv -k 5 --pgen -o pgen.csv --json"))
    assert done.json["n_constraints"] == n_constraints
    assert desk.read("p.txt.csv") == desk.read("p.json.csv") == desk.read("pgen.csv")


def test_items_of_several_words_in_set_files(desk: Desk) -> None:
    codes = ("two words", "flu", "two words", "flu", "a: b", "a: b")
    rows = "".join(f"{number // 2},{code}\n" for number, code in enumerate(codes))
    desk.write(
        {
            "d.csv": "patient,code\n" + rows,
            "p.txt": "two words\nx: two words, flu\na: b\ny: a: b\n",
            "u.txt": "x: two words\ny: flu\n",
        }
    )
    files = words("--privacy p.txt --utility u.txt --rest intact -s 100 -o o.csv --json")
    done = desk.run(*words("anonymize d.csv --id patient --item code -k 2"), *files)
    assert done.status == 0, done.err
    assert done.json["n_constraints"] == 3
    assert done.json["notes"][0] == "p.txt:4: the set was given before (line 3)"


def test_hostile_names_in_set_files(desk: Desk) -> None:
    rows = "x:y,z\nx:y,z\nx:y,#q\nz,#q\n"
    desk.write({"d.csv": rows, "p.txt": '# comment\nx:y,z\nname: "#q",x:y\n"#q"\n'})
    done = desk.run(*words("anonymize d.csv -k 2 --privacy p.txt -o o.csv --json"))
    assert done.status == 0, done.err
    assert done.json["n_constraints"] == 3


@pytest.mark.parametrize(
    ("name", "text", "released"),
    [
        ("x.csv", 'a,"\r",b\n', '"\r",a,b\n'),
        ("x.csv", '"a\rb"\nc\rd,e\n', '"a\rb"\n"c\rd",e\n'),
        ("x.dat", "a\rb c\nd\n", "a b c\nd\n"),
    ],
)
def test_a_carriage_return_is_like_any_other_character(
    desk: Desk, name: str, text: str, released: str
) -> None:
    desk.write({name: text})
    out = f"o{name[1:]}"
    assert desk.run(*words(f"anonymize {name} -k 1 --km 1 -o {out}")).status == 0
    assert desk.read(out).decode() == released
    assert desk.run(*words(f"anonymize {out} -k 1 --km 1 -o again.{out}")).status == 0
    assert desk.read(f"again.{out}").decode() == released
