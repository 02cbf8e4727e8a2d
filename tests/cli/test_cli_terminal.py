"""Progress is for terminals; elsewhere there is the summary and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from cli.command import Desk, words
from overcoat.cli import progress

pty = pytest.importorskip("pty", reason="needs POSIX: terminals")

RUN = words("anonymize d.dat -k 2 --km 2 -o")
SUMMARY = [
    "data",
    "policy",
    "changed",
    "suppressed",
    "told",
    "loss",
    "verified",
    "risk",
    "released",
]

# Shows every stage at once, so that the test does not have to wait for a long run.
AT_ONCE = """
import overcoat.cli.progress
overcoat.cli.progress._PATIENCE = 0
from overcoat.cli import main
main()
"""


def test_only_the_summary(desk: Desk) -> None:
    done = desk.run_process(*RUN, "o.dat", TERM="xterm-256color", FORCE_COLOR="1")
    assert done.status == 0
    assert done.out == b""
    assert [line.split()[0] for line in done.err.splitlines()] == SUMMARY
    assert "\x1b" not in done.err
    assert "\r" not in done.err


def test_quiet(desk: Desk) -> None:
    done = desk.run(*RUN, "o.dat", "-q")
    assert (done.status, done.out, done.err) == (0, b"", "")
    done = desk.run(*RUN, "o.dat", "-q", "--km", "0")
    assert done.status == 2
    assert done.err


def on_a_terminal(desk: Desk, *arguments: str, both: bool = False) -> tuple[int, bytes, bytes]:
    """Run with standard error on a terminal; return status, standard output, what it showed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", AT_ONCE, *arguments],
        cwd=desk.folder,
        stdin=subprocess.DEVNULL,
        stdout=theirs if both else subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"},
    )
    os.close(theirs)
    shown = b""
    try:
        while more := os.read(ours, 1 << 16):
            shown += more
    except OSError:  # how Linux tells the end of a terminal
        pass
    finally:
        os.close(ours)
    out, _ = process.communicate(timeout=60)
    return process.returncode, out or b"", shown


def test_a_terminal_shows_progress_and_standard_output_stays_clean(desk: Desk) -> None:
    assert desk.run(*RUN, "o.dat").status == 0
    status, out, shown = on_a_terminal(desk, *RUN, "-")
    assert status == 0
    assert out == desk.read("o.dat")
    # Which stages are seen depends on how long each takes; at least one is.
    assert any(word.encode() in shown for word in progress._WORDS.values())
    assert b"verified    yes" in shown
    assert shown.rstrip().endswith(b"standard output")


def test_json_on_a_terminal(desk: Desk) -> None:
    status, out, shown = on_a_terminal(desk, *RUN, "o.dat", "--json")
    assert status == 0
    assert out.startswith(b"{")
    assert out.count(b"\n") == 1
    assert b"{" not in shown

    status, _, shown = on_a_terminal(desk, *RUN, "o.dat", "--json", both=True)
    assert status == 0
    # The status line has been wiped before the object is printed.
    before, _, _ = shown.partition(b'{"overcoat"')
    assert before.rstrip().endswith((b"\x1b[2K", b"\x1b[?25h")), before


@pytest.mark.parametrize("more", ["-q", "--km 0"])
def test_a_terminal_that_is_told_little(desk: Desk, more: str) -> None:
    status, out, shown = on_a_terminal(desk, *RUN, "o.dat", *words(more))
    assert out == b""
    if more == "-q":
        assert (status, shown) == (0, b"")
    else:
        assert status == 2
        assert b"overcoat: error: m must be a whole number" in shown
