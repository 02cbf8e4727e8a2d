"""Every example in the documentation is run.

The blocks of a page run in order, in one empty folder of their own:

- ``sh`` with lines that start with ``$ ``: these are commands, the lines below each are what it
  prints (compared when there are any; ``[...]`` stands for anything, alone on a line for any number
  of lines). A command must end with status 0 unless ``$ echo $?`` follows it.
- ``sh`` without such lines: every line is a command that must succeed.
- ``python``: a doctest if it holds ``>>>``, else run as it is. Names stay for later blocks.
- any block with a file name after its language, such as ``toml policy.toml``: a file to save.
- anything else, such as ``text``, is only read by people.

Commands that build or install (``make``, ``pip``, ``git``) are not run.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from platforms import needs_posix

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOT_RUN = ("make", "pip", "git")
MARK = "\x1e"


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    language: str
    file: str | None
    text: str

    @property
    def where(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@dataclass(frozen=True)
class Command:
    text: str
    expected: tuple[str, ...]


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    fenced = re.finditer(r"^```(\w+)(?: +(\S+))?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [
        Block(page, text.count("\n", 0, found.start()) + 1, found[1], found[2], found[3])
        for found in fenced
    ]


def commands(text: str) -> list[Command]:
    """Split a shell block into its commands, each with the lines it should print."""
    shows_output = any(line.startswith("$ ") for line in text.splitlines())
    found: list[tuple[list[str], list[str]]] = []
    for line in text.splitlines():
        goes_on = bool(found) and found[-1][0][-1].endswith("\\") and not found[-1][1]
        if goes_on:
            found[-1][0].append(line)
        elif not shows_output:
            found.append(([line], []))
        elif line.startswith("$ "):
            found.append(([line.removeprefix("$ ")], []))
        else:
            found[-1][1].append(line)
    runnable = [(c, e) for c, e in found if c[0].split(maxsplit=1)[0] not in NOT_RUN]
    return [Command("\n".join(lines), tuple(expected)) for lines, expected in runnable]


def run_shell(todo: list[Command], folder: Path) -> list[tuple[int, str]]:
    """Run commands in one shell; return the status and the output of each."""
    script = "rc=0\n" + "\n".join(
        f"(exit $rc)\n{command.text}\nrc=$?\nprintf '{MARK}%s{MARK}' $rc" for command in todo
    )
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=os.environ | {"PATH": path, "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    parts = done.stdout.split(MARK)
    assert len(parts) == 2 * len(todo) + 1, done.stdout
    return [(int(status), output) for output, status in zip(parts[::2], parts[1::2], strict=False)]


def matches(expected: tuple[str, ...], output: str) -> bool:
    pattern = "".join(
        r"(?:.*\n)*?"
        if line.strip() == "[...]"
        else re.escape(line.rstrip()).replace(re.escape("[...]"), ".*") + r"[ ]*\n"
        for line in expected
    )
    return re.fullmatch(pattern, output.rstrip("\n") + "\n") is not None


def check_shell(block: Block, folder: Path) -> None:
    todo = commands(block.text)
    results = run_shell(todo, folder)
    for number, (command, (status, output)) in enumerate(zip(todo, results, strict=True)):
        shown = f"{block.where}: $ {command.text}\n{output}"
        told = number + 1 < len(todo) and todo[number + 1].text == "echo $?"
        assert status == 0 or told, f"{shown}\nended with status {status}"
        if command.expected:
            assert matches(command.expected, output), f"{shown}\nis not what the page shows"


def check_python(block: Block, names: dict[str, Any]) -> None:
    if ">>>" not in block.text:
        exec(compile(block.text, block.where, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, block.where, None, block.line)
    lines: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test, out=lines.append, clear_globs=False)
    names |= test.globs
    assert not runner.failures, "".join(lines)


@needs_posix
@pytest.mark.compiled(reason="examples run on thousands of patients, again and again")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.file is not None:
            Path(block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "sh":
            check_shell(block, tmp_path)
        elif block.language == "python":
            check_python(block, names)


def test_blocks_are_understood() -> None:
    """A block in another language is a mistake: it would silently not be run."""
    known = {"sh", "python", "text", "toml", "json", "csv"}
    strange = [b.where for page in PAGES for b in blocks(page) if b.language not in known]
    assert not strange


def test_commands_are_split() -> None:
    text = "$ overcoat a \\\n  b\nout\n[...]\n$ echo $?\n3\n"
    assert commands(text) == [
        Command("overcoat a \\\n  b", ("out", "[...]")),
        Command("echo $?", ("3",)),
    ]
    assert [c.text for c in commands("make demo\nls\n")] == ["ls"]


def test_output_is_compared() -> None:
    assert matches(("a", "[...]", "d [...] f"), "a\nb\nc\nd e f\n")
    assert not matches(("a",), "a\nb\n")
    assert not matches(("[...]", "b"), "a\n")
