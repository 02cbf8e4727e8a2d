"""`overcoat init`: a policy that is met, asked for on a terminal only."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import pytest

from cli.command import Desk, words

pty = pytest.importorskip("pty", reason="needs POSIX: terminals")

ROWS = ["a c", "a d", "a", "a", "a", "c", "c", "c", "d", "d", "d b", "b"]


@pytest.fixture
def desk_with_data(desk: Desk) -> Desk:
    desk.write(
        {
            "d.dat": "\n".join(ROWS) + "\n",
            "u.txt": "x: a\ny: c\n",
            "h.csv": "a;A;*\nb;B;*\nc;A;*\nd;B;*\n",
        }
    )
    return desk


def test_a_policy_that_is_met(desk_with_data: Desk) -> None:
    desk = desk_with_data
    done = desk.run(*words("init d.dat -k 2"))
    assert done.status == 0, done.err
    assert "written to policy.toml" in done.err
    text = desk.read("policy.toml").decode()
    assert "is met; verified" in text
    assert "k = 2\n" in text
    again = desk.run(*words("anonymize d.dat --policy policy.toml -o o.dat --json"))
    assert again.status == 0, again.err
    assert again.json["verified"]


def test_the_same_bytes_and_no_policy_is_lost(desk_with_data: Desk) -> None:
    desk = desk_with_data
    first = desk.run(*words("init d.dat -o -")).out
    assert first == desk.run(*words("init d.dat -o -")).out
    desk.write({"policy.toml": "k = 3\n"})
    done = desk.run(*words("init d.dat"))
    assert done.status == 2
    assert "policy.toml exists" in done.err
    assert desk.read("policy.toml") == b"k = 3\n"
    assert desk.run(*words("init d.dat -k 2 -o policy.toml")).status == 0


def test_sets_that_cannot_all_be_kept(desk_with_data: Desk) -> None:
    desk = desk_with_data
    done = desk.run(*words("init d.dat -k 2 -s 0 --utility u.txt --hierarchy h.csv --json"))
    assert done.status == 0, done.err
    assert done.json["changed"]
    assert done.json["cost"]["n_exact"] == done.json["cost"]["n_sets"]
    assert desk.run(*words("anonymize d.dat --policy policy.toml -o o.dat")).status == 0


def test_files_are_named_from_where_the_policy_is(desk_with_data: Desk) -> None:
    desk = desk_with_data
    desk.write({"deep/er/x": ""})
    done = desk.run(*words("init d.dat -k 2 --hierarchy h.csv -o deep/er/p.toml"))
    assert done.status == 0, done.err
    assert 'hierarchy = "../../h.csv"' in desk.read("deep/er/p.toml").decode()
    assert desk.run(*words("anonymize d.dat --policy deep/er/p.toml -o o.dat")).status == 0


@pytest.mark.parametrize("seed", range(12))
def test_whatever_the_items_are_called(desk: Desk, seed: int) -> None:
    rng = random.Random(seed)
    items = ["é", 'q"q', "a\\b", "#x", "[t]", "k = 3", "'", "\U0001f9a0", "9", "x]"]
    rows = [rng.sample(items, rng.choice([1, 1, 2, 3])) for _ in range(60)]
    desk.write(
        {
            "d.txt": "".join("\t".join(row) + "\n" for row in rows),
            "u.json": '{"x \\"y\\" = [": ["é", "q\\"q"], "z.#": ["a\\\\b", "#x"], "w": ["9"]}',
        }
    )
    done = desk.run(*words("init d.txt --sep tab -k 4 --utility u.json --json"))
    assert done.status == 0, done.err
    again = desk.run(*words("anonymize d.txt --sep tab --policy policy.toml -o o.txt"))
    assert again.status == 0, again.err


def test_what_cannot_be_met_at_all(desk: Desk) -> None:
    desk.write({"d.dat": "a\n"})
    done = desk.run(*words("init d.dat"))
    assert done.status == 3
    assert "policy.toml" not in desk.files()


def test_nothing_is_asked_when_piped(desk_with_data: Desk) -> None:
    done = desk_with_data.run(*words("init d.dat -o -"), stdin=b"9\n9\n\n\n9\n")
    assert done.status == 0, done.err
    assert b"\nk = 5\n" in done.out
    assert "?" not in done.err


def asked(desk: Desk, answers: bytes, *arguments: str) -> tuple[int, str]:
    """Run with a terminal for everything; return the status and what was seen."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "overcoat", *arguments],
        cwd=desk.folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "dumb", "COLUMNS": "100"},
    )
    os.close(theirs)
    os.write(ours, answers)
    shown = b""
    try:
        while more := os.read(ours, 1 << 16):
            shown += more
    except OSError:  # how Linux tells the end of a terminal
        pass
    finally:
        os.close(ours)
    return process.wait(timeout=60), shown.decode()


def test_five_questions_on_a_terminal(desk_with_data: Desk) -> None:
    desk = desk_with_data
    status, shown = asked(desk, b"2\n1\nh.csv\n1\n10\n", *words("init d.dat"))
    assert status == 0, shown
    assert shown.count("?") == 5
    text = desk.read("policy.toml").decode()
    for line in ("k = 2", "km = 1", 'hierarchy = "h.csv"', "max_suppressed = 10.0"):
        assert f"{line}\n" in text
    assert 'utility_level = "1"' in text


def test_the_data_are_looked_at_before_anybody_is_asked(desk_with_data: Desk) -> None:
    desk = desk_with_data
    status, shown = asked(desk, b"\n\n\n\n\n", *words("init d.dat -o new.toml"))
    assert status == 0, shown
    profile = desk.run(*words("profile d.dat")).out.decode()
    assert profile.splitlines()[0] in shown
    assert shown.index("people ") < shown.index("How many people")
    status, shown = asked(desk, b"", *words("init absent.dat -o other.toml"))
    assert status == 2
    assert "absent.dat: no such file" in shown
    assert "?" not in shown


def test_a_wrong_answer_is_asked_for_again(desk_with_data: Desk) -> None:
    desk = desk_with_data
    answers = b"one\n1\n2\n0\n1\nabsent.csv\nu.txt\nh.csv\nh.csv\n1\n-1\nmuch\n10,5 %\n"
    status, shown = asked(desk, answers, *words("init d.dat -o new.toml"))
    assert status == 0, shown
    assert shown.count("Error: ") == 8
    for said in (
        "a whole number is needed here, 2 or more",
        "a whole number is needed here, 1 or more",
        "absent.csv: no such file",
        "do not occur in the data",
        "a number from 0 to 100 is needed here",
    ):
        assert said in shown
    assert 'hierarchy = "h.csv"\n' in desk.read("new.toml").decode()
    assert "max_suppressed = 10.5\n" in desk.read("new.toml").decode()


def test_files_of_options_are_read_before_anybody_is_asked(desk_with_data: Desk) -> None:
    command = words("init d.dat --utility h.csv -o new.toml")
    status, shown = asked(desk_with_data, b"", *command)
    assert status == 2
    assert "do not occur in the data" in shown
    assert "?" not in shown


def test_what_is_said_is_not_asked(desk_with_data: Desk) -> None:
    command = "init d.dat -k 2 --km 2 -s 1 --hierarchy h.csv --utility u.txt"
    status, shown = asked(desk_with_data, b"", *words(command))
    assert status == 0, shown
    assert "?" not in shown
