"""Where releases go: all of it to standard output, never over an input, again and again."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from cli.command import COMMAND, Desk, words
from overcoat.data import samples
from overcoat.data.io import send
from overcoat.errors import DataError

BIG = "anonymize big.dat -k 2 --km 1"


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_all_of_it_goes_through_a_pipe(desk: Desk, unbuffered: str) -> None:
    """Without a buffer, one write to a pipe takes a part only."""
    samples.write_baskets(desk.folder / "big.dat", 40_000, 50)
    assert desk.run(*words(f"{BIG} -o whole.dat")).status == 0
    process = subprocess.run(
        [*COMMAND, *words(f"{BIG} -o - -q")],
        cwd=desk.folder,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        capture_output=True,
        check=True,
    )
    assert len(process.stdout) > 1 << 18  # more than any pipe holds
    assert process.stdout == desk.read("whole.dat")


class _Unbuffered:
    """Standard output that takes a few bytes at a time, as a raw file may; or none."""

    def __init__(self, takes: list[int | None]) -> None:
        self.buffer, self.taken, self._takes = self, bytearray(), takes

    def write(self, content: memoryview) -> int | None:
        taken = self._takes.pop(0)
        if taken is not None:
            self.taken += content[:taken]
        return taken

    def flush(self) -> None:
        pass


def test_short_writes_are_continued(monkeypatch: pytest.MonkeyPatch) -> None:
    output = _Unbuffered([2, 1, 3])
    monkeypatch.setattr("sys.stdout", output)
    send(b"abcdef")
    assert bytes(output.taken) == b"abcdef"


def test_a_write_that_takes_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", _Unbuffered([2, None]))
    with pytest.raises(DataError, match="cannot be written"):
        send(b"abcdef")


def test_a_release_that_equals_its_input_can_be_made_again(desk: Desk) -> None:
    desk.write({"same.dat": "a b\na b\na b\nc\nc\n"})
    for _ in range(2):
        done = desk.run(*words("anonymize same.dat -k 2 --km 2 -o out.dat"))
        assert done.status == 0, done.err
        assert desk.read("out.dat") == desk.read("same.dat")


def test_a_way_round_to_the_input_is_seen(desk: Desk) -> None:
    before = desk.read("d.dat")
    for output in ("nowhere/../d.dat", "./d.dat"):
        done = desk.run(*words(f"anonymize d.dat -k 2 --km 2 -s 100 -o {output}"))
        assert done.status == 2
        assert "is an input" in done.err
    assert desk.read("d.dat") == before
    assert not Path(desk.folder, "nowhere").exists()
