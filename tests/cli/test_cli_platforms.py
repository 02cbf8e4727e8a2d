"""The command on systems that are not like this one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cli.command import Desk, words

# What Windows or macOS do not have, as far as Python shows it.
POORER = """
import os, signal, sys
for module, names in {
    signal: ("SIGHUP", "SIGPIPE", "SIGALRM", "pause"),
    os: ("sched_getaffinity", "sysconf", "geteuid", "getuid", "fchmod", "chown", "mkfifo"),
}.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
for name in ("resource", "pwd", "grp", "termios", "pty", "syslog"):
    sys.modules[name] = None
from overcoat.cli import main
main()
"""


@pytest.mark.parametrize(
    "command",
    [
        "anonymize d.dat -k 2 --km 2 -o o.dat --mapping map.json",
        "anonymize d.dat -k 2 --km 2 -o o.dat --mapping map.json --json",
        "demo --out demo",
    ],
)
def test_a_system_that_has_less(desk: Desk, command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", POORER, *words(command)],
        cwd=desk.folder,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp437"])
def test_standard_output_is_utf8_whatever_the_habit_of_the_system(
    desk: Desk, encoding: str
) -> None:
    desk.write({"p.txt": "\u2192 a\n"})
    bad = words("anonymize d.dat -k 2 --privacy p.txt -o o.dat --json")
    done = desk.run_process(*bad, PYTHONIOENCODING=encoding)
    assert done.status == 2
    assert "\u2192" in done.json["error"]["message"]

    done = desk.run_process("anonymize", "--help", PYTHONIOENCODING=encoding)
    assert done.status == 0
    assert done.out == desk.run_process("anonymize", "--help", PYTHONIOENCODING="utf-8").out
