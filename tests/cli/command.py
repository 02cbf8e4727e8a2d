"""Running `overcoat`: in this process where that is enough, as a process of its own where not."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest

import overcoat.cli

# The command imports these when it runs: after a test has replaced a part of them, if not before.
import overcoat.release
import overcoat.reports.json
import overcoat.reports.text

Content = str | bytes
COMMAND = [sys.executable, "-m", "overcoat"]

DATA = "a b c\na b\na c d\nb c\na b\na d\ne f\n"


def words(command: str) -> list[str]:
    """Split a command as a shell does."""
    return shlex.split(command)


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    status: int
    out: bytes
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one JSON object on standard output; anything else there is a failure."""
        content = json.loads(self.out.decode("utf-8"))
        assert isinstance(content, dict)
        assert self.out.count(b"\n") == 1
        return content


class Desk:
    """A folder to work in, and the command."""

    def __init__(
        self,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        capture: pytest.CaptureFixture[bytes],
    ) -> None:
        self.folder = folder
        self._monkeypatch = monkeypatch
        self._capture = capture

    def write(self, files: Mapping[str, Content]) -> None:
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def lines(self, name: str) -> list[str]:
        return self.read(name).decode().splitlines()

    def mapping(self, name: str = "map.json") -> dict[str, Any]:
        content = json.loads(self.read(name))
        assert isinstance(content, dict)
        return content

    def files(self) -> dict[str, bytes | None]:
        """Everything there is, hidden and temporary files too."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes() if path.is_file() else None
            for path in self.folder.rglob("*")
        }

    def run(self, *arguments: str, stdin: bytes = b"") -> Done:
        """Run the command in this process."""
        self._capture.readouterr()
        with self._monkeypatch.context() as patch:
            patch.chdir(self.folder)
            patch.setattr(sys, "argv", ["overcoat", *arguments])
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            status = overcoat.cli._run()
        captured = self._capture.readouterr()
        return Done(status, captured.out, captured.err.decode())

    def start(
        self,
        *arguments: str,
        stdin: int | IO[bytes] = subprocess.DEVNULL,
        stdout: int | IO[bytes] = subprocess.PIPE,
        stderr: int | IO[bytes] = subprocess.PIPE,
        **environment: str,
    ) -> subprocess.Popen[bytes]:
        """Start the command as a process of its own."""
        return subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=self.folder,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env={**os.environ, **environment},
        )

    def run_process(self, *arguments: str, **options: Any) -> Done:
        """Run the command as a process of its own."""
        with self.start(*arguments, **options) as process:
            out, err = process.communicate(timeout=60)
        return Done(process.returncode, out or b"", (err or b"").decode())
