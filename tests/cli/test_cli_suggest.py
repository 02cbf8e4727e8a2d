"""`anonymize --suggest`: policies that are met, and can be run from their files."""

from __future__ import annotations

import pytest

from cli.command import Desk, words


@pytest.fixture
def clashing(desk: Desk) -> Desk:
    rows = ["a c", "a d", "a", "a", "a", "c", "c", "c", "d", "d", "d b", "b"]
    desk.write(
        {
            "d.dat": "\n".join(rows) + "\n",
            "u.txt": "x: a\ny: c\n",
            "h.csv": "a;*\nb;*\nc;*\nd;*\n",
        }
    )
    return desk


def test_the_command_writes_policies_that_are_met(clashing: Desk) -> None:
    done = clashing.run(
        *words("anonymize d.dat -k 2 --km 2 --utility u.txt --hierarchy h.csv -s 0 -o o.dat"),
        *words("--suggest near --json"),
    )
    assert done.status == 3
    proposals = done.json["proposals"]
    assert "near/sets.toml" in proposals
    assert "'x' and 'y': 1 person" in done.json["error"]["message"]
    assert "o.dat" not in clashing.files()
    for file in proposals:
        again = clashing.run(*words(f"anonymize d.dat --policy {file} -o o.dat --json"))
        assert again.status == 0, again.err
        assert again.json["verified"]


def test_without_a_folder_the_way_is_told(clashing: Desk) -> None:
    done = clashing.run(*words("anonymize d.dat -k 2 --km 2 --utility u.txt -s 0 -o o.dat"))
    assert done.status == 3
    assert "2 of 2 utility sets clash with others" in done.err
    assert "--suggest DIR tries policies near this one" in done.err


def test_itemsets_and_odd_names_survive_the_files(clashing: Desk) -> None:
    clashing.write(
        {
            "u.json": '{"x: \\"odd\\", name": ["a"], "y": ["c"]}',
            "p.txt": "a c\nb d\n",
            "q.txt": "a d\n",
            "l.txt": "a c d\n",
        }
    )
    done = clashing.run(
        *words("anonymize d.dat -k 2 --privacy p.txt --privacy q.txt --km 1 --linkable l.txt"),
        *words("--utility u.json -s 0 -o o.dat --suggest near --json"),
    )
    assert done.status == 3, done.err
    assert done.json["proposals"]
    for file in done.json["proposals"]:
        again = clashing.run(*words(f"anonymize d.dat --policy {file} -o o.dat --json"))
        assert again.status == 0, (file, again.err)


ASKED = "anonymize d.dat -k 2 --km 2 --utility u.txt -s 0 -o o.dat"


def test_a_folder_that_cannot_be_made_is_told_before_the_work(clashing: Desk) -> None:
    clashing.write({"near": "a file"})
    for folder in ("near", "near/below"):
        done = clashing.run(*words(f"{ASKED} --suggest {folder}"))
        assert done.status == 2
        assert "near: cannot be made a folder" in done.err
    assert clashing.files()["near"] == b"a file"


def test_a_dry_run_writes_no_suggestions(clashing: Desk) -> None:
    done = clashing.run(*words(f"{ASKED} --suggest near --dry-run"))
    assert done.status == 3
    assert "(not written: this is a dry run)" in done.err
    assert not [name for name in clashing.files() if name.startswith("near")]


def test_suggestions_of_an_earlier_run_are_told_apart(clashing: Desk) -> None:
    first = clashing.run(*words(f"{ASKED} --suggest near"))
    assert "not of this run" not in first.err
    clashing.write({"near/old.toml": "k = 2\n"})
    again = clashing.run(*words(f"{ASKED} --suggest near"))
    assert "not of this run, but in near, too: old.toml" in again.err


def test_sets_of_a_level_are_written_instead_of_it(desk: Desk) -> None:
    rows = ["a c", "a d", "a", "a", "c", "c", "d", "d"]
    tree = "a;A;*\nc;C;*\nd;D;*\n"
    desk.write({"d.dat": "\n".join(rows) + "\n", "h.csv": tree})
    asked = "anonymize d.dat -k 2 --km 2 -s 0 --hierarchy h.csv --utility-level 1 -o o.dat"
    assert desk.run(*words(f"{asked} --suggest near")).status == 3
    proposals = [name for name in desk.files() if name.endswith(".toml")]
    assert "near/sets.toml" in proposals or "near/joined.toml" in proposals
    for name in proposals:
        done = desk.run(*words(f"anonymize d.dat --policy {name} -o o.dat"))
        assert done.status == 0, done.err
