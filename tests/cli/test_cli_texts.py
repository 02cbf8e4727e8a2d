"""Tables as people have them, from the input to the release and back."""

from __future__ import annotations

import json

import pytest

from cli.command import Desk, words

CODES = ["Übelkeit", "Gicht", "Grippe", "250.00"]
HEADER = "Fall;Patient;Größe;diag_1;diag_2;diag_3\r\n"
ROWS = "".join(
    f"{n};P{n // 2};1,8{n % 9};{CODES[n % 4]};{CODES[n % 3] if n % 2 else ''};\r\n"
    for n in range(60)
)
WIDE = "--id Patient --item diag_1,diag_2,diag_3"
POLICY = "-k 2 --km 2"


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8-sig", "utf-8"])
def test_a_hospital_from_end_to_end(desk: Desk, encoding: str) -> None:
    """What was read without a word is verified and measured without one, too."""
    desk.write({"faelle.csv": (HEADER + ROWS).encode(encoding)})
    desk.write({"utility.txt": "Magen: Übelkeit, Gicht\n".encode(encoding)})
    run = words(f"faelle.csv {WIDE} {POLICY} --utility utility.txt")
    done = desk.run("anonymize", *run, "-o", "frei.csv", "--mapping", "map.json", "--json")
    assert done.status == 0, done.err
    named = {"latin-1": ", Windows-1252", "utf-16": ", UTF-16"}.get(encoding, "")
    words_of = "wide table, 6 columns separated by semicolons, 3 of them items"
    assert done.json["read_as"] == words_of + named
    assert done.json["n_transactions"] == 30
    mark = b"" if encoding == "utf-8" else b"\xef\xbb\xbf"
    assert desk.read("frei.csv").startswith(mark + b"Patient;item\n1;")
    assert desk.run("verify", run[0], "frei.csv", "--mapping", "map.json", *run[1:]).status == 0
    costs = [*words(WIDE), "--utility", "utility.txt"]
    done = desk.run("evaluate", run[0], "frei.csv", "--mapping", "map.json", *costs, "--json")
    assert done.status == 0, done.err
    assert [count["exact"] for count in done.json["named_sets"]] == [True]
    again = desk.run("apply", *run, "--use", "map.json", "-o", "again.csv")
    assert again.status == 0
    assert f"read as     {words_of}{named}\n" in again.err
    assert desk.read("again.csv") == desk.read("frei.csv")


def test_a_pipe(desk: Desk) -> None:
    desk.write({})
    run = words(f"- {WIDE} {POLICY} -o -")
    done = desk.run("anonymize", *run, stdin=(HEADER + ROWS).encode("cp1252"))
    assert done.status == 0, done.err
    assert done.out.startswith(b"Patient;item\n1;")
    assert "Übelkeit".encode() in done.out


def test_one_of_several_columns_earns_a_note(desk: Desk) -> None:
    desk.write({"faelle.csv": (HEADER + ROWS).encode("latin-1")})
    run = words(f"anonymize faelle.csv --id Patient --item diag_1 {POLICY} -o frei.csv")
    note = (
        "columns 'diag_2', 'diag_3' look like 'diag_1' and were not read; if they hold items too, "
        "name all: --item diag_1,diag_2,diag_3"
    )
    assert f"note: {note}\n" in desk.run(*run).err
    assert note in desk.run(*run, "--json").json["notes"]


@pytest.mark.parametrize("source", ["in", "in/*.csv", "in/2026-0?.csv"])
def test_several_files_from_end_to_end(desk: Desk, source: str) -> None:
    lines = ROWS.splitlines(keepends=True)
    desk.write(
        {
            "in/2026-01.csv": (HEADER + "".join(lines[:25])).encode("latin-1"),
            "in/2026-02.csv": (HEADER + "".join(lines[25:])).encode("utf-8"),
            "one.csv": (HEADER + ROWS).encode("latin-1"),
        }
    )
    policy = words(f"{WIDE} {POLICY}")
    done = desk.run("anonymize", source, *policy, "-o", "o.csv", "--mapping", "m.json", "--json")
    assert done.status == 0, done.err
    assert done.json["read_as"].startswith("2 files, wide table, 6 columns")
    assert desk.run("anonymize", "one.csv", *policy, "-o", "one-out.csv").status == 0
    assert desk.read("o.csv") == desk.read("one-out.csv")
    assert desk.run("verify", source, "o.csv", "--mapping", "m.json", *policy).status == 0
    assert json.loads(desk.read("m.json"))["release"]


def test_the_digest_of_a_folder_does_not_depend_on_its_place(desk: Desk) -> None:
    desk.write({f"{folder}/{n}.dat": "a b\n" * 3 for folder in ("one", "two") for n in range(2)})
    first, second = (
        desk.run(*words(f"anonymize {name} {POLICY} -o o.dat --json")).json["input_sha256"]
        for name in ("one", "two")
    )
    assert first == second
