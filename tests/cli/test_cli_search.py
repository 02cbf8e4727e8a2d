"""The search on the command line: its options, its JSON, and Ctrl-C."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from click.testing import CliRunner

import overcoat.cli as surface
from overcoat.algorithms.outcome import Searched
from overcoat.cli.progress import Patience

ROWS = "a b\na b c\na\nb\nb c\nc d\nd a\nd\ne a\ne b\ne\nc\n"


def run(tmp_path: Path, *more: str) -> tuple[int, str]:
    (tmp_path / "data.dat").write_text(ROWS)
    out = CliRunner().invoke(
        surface.cli,
        [
            *("anonymize", str(tmp_path / "data.dat"), "-k", "2", "--km", "2"),
            *("-o", str(tmp_path / "out.dat"), "--json", *more),
        ],
    )
    return out.exit_code, out.stdout if out.exception is None else repr(out.exception)


def test_a_search_tells_how_it_went_and_can_be_repeated(tmp_path: Path) -> None:
    status, text = run(tmp_path, "--algorithm", "search", "--steps", "400", "--seed", "3")
    assert status == 0
    told = json.loads(text)["search"]
    assert (told["steps"], told["cooling"], told["seed"]) == (400, 400, 3)
    assert told["objective_after"] <= told["objective_before"] == 1
    released = (tmp_path / "out.dat").read_bytes()
    run(tmp_path, "--algorithm", "search", "--steps", "400", "--seed", "3")
    assert (tmp_path / "out.dat").read_bytes() == released


def test_a_search_that_the_clock_ended_can_be_repeated(tmp_path: Path) -> None:
    status, text = run(tmp_path, "--algorithm", "search", "--seconds", "0.05")
    assert status == 0
    told = json.loads(text)["search"]
    assert len(told["cooling"]) == 10
    assert sum(told["cooling"]) >= told["steps"]
    assert told["at_rest"] in (True, False)
    released = (tmp_path / "out.dat").read_bytes()
    cooling = ",".join(map(str, told["cooling"]))
    again = ["--algorithm", "search", "--steps", str(told["steps"]), "--cooling", cooling]
    status, text = run(tmp_path, *again)
    assert status == 0
    assert json.loads(text)["search"]["trace"] == told["trace"]
    assert (tmp_path / "out.dat").read_bytes() == released


def test_the_text_tells_how_to_repeat_a_search() -> None:
    def searched(steps: int, cooling: int | tuple[int, ...], *, at_rest: bool = True) -> str:
        return str(Searched("ul", 1.0, 0.25, steps, cooling, 7, 2.0, (), at_rest))

    assert searched(50, 50) == "ul from 1 to 0.25, at rest; --steps 50 --seed 7 repeats it"
    assert "to 0.25, ended before it came to rest; " in searched(50, 50, at_rest=False)
    assert "--steps 50 --cooling 80 --seed 7 repeats it" in searched(50, 80)
    assert "--steps 9 --cooling 5,4,3,2,1 --seed 7" in searched(9, (5, 4, 3, 2, 1))


def test_queries_with_weights(tmp_path: Path) -> None:
    """However they are written: the same run."""
    told = []
    for text in (
        "a b\n3: c d\ne\n",
        "query,weight\na b,1\nc d,3\ne,1\n",
        "weight;query;item\n1;x;a\n1;x;b\n3;y;c\n3;y;d\n1;z;e\n",
    ):
        (tmp_path / "queries.txt").write_text(text)
        queries = ["--queries", str(tmp_path / "queries.txt"), "--steps", "200"]
        status, out = run(tmp_path, "--algorithm", "search", "--minimise", "queries", *queries)
        assert status == 0
        told.append(json.loads(out)["search"])
        del told[-1]["seconds"]
    assert told[0]["minimise"] == "queries"
    assert told[0] == told[1] == told[2]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("query,weight\na b,many\n", "queries.csv:2: 'many' is no weight"),
        ("query,weight\na b\n", "queries.csv:2: has 1 columns, not 2"),
        ("query,weight\n", "the table has no query"),
        ("query,item,weight\nx,a,1\nx,b,2\n", "queries.csv:3: query 'x' has two weights"),
    ],
)
def test_a_broken_table_of_queries_is_refused(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "queries.csv").write_text(text)
    queries = ["--minimise", "queries", "--queries", str(tmp_path / "queries.csv")]
    _, out = run(tmp_path, "--algorithm", "search", *queries)
    assert why in out.replace("\\", "")
    assert not (tmp_path / "out.dat").exists()


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--steps", "5"], "coat takes no steps"),
        (["--algorithm", "search", "--minimise", "beauty"], "minimise must be"),
        (["--algorithm", "search", "--minimise", "queries"], "queries and minimise = queries"),
        (["--algorithm", "search", "--steps", "-1"], "steps must be"),
        (["--algorithm", "search", "--cooling", "5,5"], "cooling must be a whole number, or 5 of"),
        (["--algorithm", "search", "--steps", "9", "--cooling", "8"], "cooling must be at least"),
        (["--algorithm", "search", "--cooling", "9,0,0,0,5"], "here a search takes 10"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, more: list[str], why: str) -> None:
    _, text = run(tmp_path, *more)
    assert why in text
    assert not (tmp_path / "out.dat").exists()


def test_ctrl_c_ends_the_search_first(monkeypatch: pytest.MonkeyPatch) -> None:
    patience = Patience()
    monkeypatch.setattr(surface, "PATIENCE", patience)
    monkeypatch.setattr(signal, "signal", lambda *given: None)
    with pytest.raises(KeyboardInterrupt):  # nothing is being searched yet
        surface._interrupt(signal.SIGINT, None)
    assert not patience()
    surface._interrupt(signal.SIGINT, None)
    assert patience()
    with pytest.raises(KeyboardInterrupt):
        surface._interrupt(signal.SIGINT, None)
    later = Patience()
    monkeypatch.setattr(surface, "PATIENCE", later)
    assert not later()
    later.over()
    with pytest.raises(KeyboardInterrupt):
        surface._interrupt(signal.SIGINT, None)


def test_what_the_target_cannot_hold_is_told_before_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels of groups list their items."""
    (tmp_path / "data.csv").write_text("a b,c\na b,c\nc\n")

    def reached(*given: object, **more: object) -> None:
        raise AssertionError

    monkeypatch.setattr("overcoat.application.making.find_release", reached)
    asked = [str(tmp_path / "data.csv"), "-k", "2", "--km", "1"]
    for target, told in (("out.dat", True), ("out.csv", False)):
        made = CliRunner().invoke(surface.cli, ["anonymize", *asked, "-o", str(tmp_path / target)])
        assert ("item 'a b' contains white space" in str(made.exception)) == told
