"""`--help` shows examples that run; it and `--version` answer without loading anything heavy."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

import overcoat
from cli.command import Desk, words
from overcoat.cli import cli

COMMANDS = sorted(cli.commands)
HEAVY = ("numpy", "scipy", "polars", "rich", "pandas", "pyarrow", "overcoat.data")

LONG = "patient,code\n" + "".join(
    f"{patient},{code}\n" for patient in range(40) for code in ("401", "715", f"V{patient % 3}")
)
CODES = ("401", "715", "V0", "V1", "V2")
FILES = {
    "baskets.dat": "a b c\na b\na c\nb c\nb c\na b c\na c\na b\na b\n" * 2,
    "patients.csv": LONG,
    "2026-01.csv": "patient;diag_1;diag_2\n" + "".join(f"{n};401;V{n % 3}\n" for n in range(40)),
    "march.csv": LONG.replace("39,", "0,"),
    "february.json": json.dumps(
        {"items": {code: code for code in CODES}, "groups": {code: [code] for code in CODES}}
    ),
    "earlier.json": json.dumps(
        {"items": {"a": "x", "b": "x", "c": "c"}, "groups": {"x": ["a", "b"], "c": ["c"]}}
    ),
    "disorders.txt": "hypertension: 401, 715\nsupplementary: V0, V1, V2\n",
    "icd9.csv": "".join(f"{code};{code[0]};*\n" for code in CODES),
    "policy.toml": "k = 5\nkm = 2\n",
    "strict.toml": "k = 5\nkm = 2\n",
    "loose.toml": "k = 2\nkm = 1\n",
}


def examples(text: str) -> list[list[str]]:
    """The commands of a help text; a line that is indented further goes on with the one before."""
    joined = re.sub(r"\n {6,}(?!overcoat)", " ", text)
    return [shlex.split(line)[1:] for line in re.findall(r"^ +(overcoat \S.*)$", joined, re.M)]


def test_the_front_page(desk: Desk) -> None:
    desk.write(FILES)
    done = desk.run("--help")
    assert done.status == 0
    assert done.err == ""
    text = done.out.decode()
    for name in COMMANDS:
        assert re.search(rf"^  {name} ", text, re.M)
    for status in ("0", "2", "3", "4", "130", "70"):
        assert re.search(rf"^    {status} ", text, re.M)
    shown = examples(text)
    assert len(shown) == 2
    for arguments in shown:
        assert desk.run(*arguments).status == 0


# `serve` runs until it is ended: see tests/web.
@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "serve"])
def test_the_examples_run(desk: Desk, name: str) -> None:
    desk.write(FILES)
    if name in (
        "apply",
        "evaluate",
        "explain",
        "report",
        "risk",
        "verify",
    ):  # they need what another has written
        data = ("march.csv", "--id", "patient", "--item", "code") if name == "apply" else ()
        policy = words("-k 5 --km 2 -o released.dat --mapping map.json")
        papers = words("--certificate cert.json --public-certificate public.json")
        assert desk.run("anonymize", *(data or ("baskets.dat",)), *policy, *papers).status == 0
    if name == "anonymize":
        with closing(sqlite3.connect(desk.folder / "ward.db")) as ward:
            ward.execute("CREATE TABLE diagnoses (patient TEXT, code TEXT)")
            ward.executemany(
                "INSERT INTO diagnoses VALUES (?, ?)", [(str(n), "a") for n in range(9)]
            )
            ward.commit()
    done = desk.run(name, "--help")
    assert done.status == 0
    shown = examples(done.out.decode())
    assert shown
    for arguments in shown:
        assert arguments[0] == name
        here = [part.replace("/tmp/", f"{desk.folder}/") for part in arguments]
        done = desk.run(*here)
        assert done.status == 0, done.err
        assert desk.run(*here, "--json").json
    assert desk.run(name, "-h").status == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(name: str) -> None:
    import click

    for parameter in cli.commands[name].params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


def test_version(desk: Desk) -> None:
    done = desk.run("--version")
    assert done.status == 0
    assert done.out.decode() == f"overcoat {overcoat.__version__}\n"


@pytest.mark.parametrize("arguments", ["--version", "--help", "anonymize --help", "nonsense"])
def test_nothing_heavy_is_loaded(arguments: str) -> None:
    code = (
        "import sys\n"
        "from overcoat.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit:\n    print('loaded:', *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words(arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    loaded = done.stdout.rpartition("loaded:")[2].split()
    assert "click" in loaded
    assert [name for name in loaded if name.startswith(HEAVY)] == []


def test_help_has_sections() -> None:
    from click.testing import CliRunner

    text = CliRunner().invoke(cli, ["anonymize", "--help"]).output
    titles = re.findall(r"^(\w[\w ]*):$", text, re.M)
    assert titles == ["Privacy", "Utility", "Policy files", "Method", "Data", "Machine", "Output"]
    text = CliRunner().invoke(cli, ["risk", "--help"]).output
    assert re.findall(r"^(\w[\w ]*):$", text, re.M)[0] == "Options"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_stands_in_one_section(name: str) -> None:
    from click.testing import CliRunner

    text = CliRunner().invoke(cli, [name, "--help"]).output
    for parameter in cli.commands[name].params:
        for option in parameter.opts:
            if option.startswith("-"):
                lines = re.findall(rf"^  (?:-\w, )?{re.escape(option)}(?![\w-])", text, re.M)
                assert len(lines) == 1, option


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("anonymize baskets.dat --algoritm coat", "--algorithm"),
        ("anonymize baskets.dat -k 2 --km 2 --algorithm caot -o o.dat", "did you mean 'coat'?"),
        ("explain aa baskets.dat -k 2 --km 2", "near: 'a'"),
        ("explain 411 patients.csv --id patient --item code -k 2 --km 2", "near: '401'"),
    ],
)
def test_did_you_mean(desk: Desk, arguments: str, says: str) -> None:
    desk.write(FILES)
    done = desk.run(*words(arguments))
    assert done.status == 2
    assert says in done.err
