"""Where releases go: all of it to standard output, never over an input, again and again."""

from __future__ import annotations

import gzip
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


def test_what_is_called_gz_is_gzip(desk: Desk) -> None:
    """Every text that a command writes; and the same bytes whatever the name and the time."""
    desk.run(*words("anonymize d.dat -k 2 --km 2 -o o.dat --mapping map.json"))
    done = desk.run(*words("anonymize d.dat -k 2 --km 2 -o o.dat.gz --mapping map.json.gz"))
    assert done.status == 0
    evaluate = "evaluate d.dat o.dat --mapping map.json.gz -o"
    for command in (f"{evaluate} queries.csv", "pgen d.dat -k 2 -o pgen.txt"):
        assert desk.run(*words(command)).status == 0
        assert desk.run(*words(command + ".gz")).status == 0
    for name in ("o.dat", "map.json", "queries.csv", "pgen.txt"):
        packed = desk.read(f"{name}.gz")
        assert gzip.decompress(packed) == desk.read(name)
        assert packed[:10] == b"\x1f\x8b\x08" + bytes(6) + b"\xff"
    verify = "verify d.dat o.dat.gz -k 2 --km 2 --mapping map.json.gz"
    assert desk.run(*words(verify)).status == 0


@pytest.mark.parametrize("earlier", [{}, {"c/results.csv": "earlier"}], ids=["", "earlier"])
def test_a_comparison_that_cannot_be_told_is_not_written(
    desk: Desk, earlier: dict[str, str]
) -> None:
    desk.write(earlier)
    with Path("/dev/full").open("wb") as full:
        command = words("compare d.dat -k 2 --km 1 -s 50 --algorithms coat -o c --json")
        done = desk.run_process(*command, stdout=full)
    assert done.status == 2
    assert "standard output: cannot be written: No space left on device" in done.err
    runs = {name for name in desk.files() if name.startswith("c/runs")}
    assert set(desk.files()) - runs == {"d.dat", "c", *earlier}


def test_a_device_is_no_file(desk: Desk) -> None:
    """Behind it may be a log that somebody else is writing to."""
    desk.write({"log.txt": "a line\n"})
    with (desk.folder / "log.txt").open("ab") as log:
        done = desk.run_process(*words("anonymize d.dat -k 2 --km 2 -o /dev/stdout"), stdout=log)
    assert done.status == 2
    assert "use - for standard output" in done.err
    assert (desk.folder / "log.txt").read_text() == "a line\n"


def test_a_dry_run_writes_nothing(desk: Desk) -> None:
    before = desk.files()
    done = desk.run(*words("anonymize d.dat -k 2 --km 2 --dry-run"))
    assert done.status == 0
    assert done.out == b""
    assert "released    nothing was written (--dry-run)" in done.err
    done = desk.run(
        *words("anonymize d.dat -k 2 --km 2 -o o.dat --mapping m.json --dry-run --json")
    )
    assert done.json["verified"]
    assert done.json["dry_run"]
    assert desk.files() == before
    done = desk.run(*words("anonymize d.dat -k 2 --km 2 -o d.dat --dry-run"))
    assert done.status == 2  # what could not be written is told, too
    done = desk.run(*words("anonymize d.dat -k 2 --km 2"))
    assert done.status == 2
    assert "Missing option '-o' / '--output'" in done.err


def test_an_ending_that_says_nothing_is_noted(desk: Desk) -> None:
    done = desk.run(*words("anonymize d.dat -k 2 --km 1 -o o.foo"))
    said = "o.foo: the ending .foo says no format; it is text like the input, separated by ' '"
    assert done.status == 0
    assert f"note: {said}\n" in done.err
    assert said in desk.run(*words("anonymize d.dat -k 2 --km 1 -o o.foo --json")).json["notes"]
    for name in ("o", "o.dat", "o.csv", "o.dat.gz"):
        assert "ending" not in desk.run(*words(f"anonymize d.dat -k 2 --km 1 -o {name}")).err


def test_a_codebook_has_the_names_that_are_given(desk: Desk) -> None:
    desk.write({"names.csv": "code,description\na,Angina\n"})
    command = "anonymize d.dat -k 2 --km 1 -o o.dat --codebook book.csv --describe names.csv"
    assert desk.run(*words(command)).status == 0
    rows = [line.split(",")[:2] for line in desk.lines("book.csv")]
    assert ["a", "Angina"] in rows
    assert ["b", ""] in rows


@pytest.mark.parametrize("name", ["b.csv", "b.tsv", "b.csv.gz", "b.xlsx"])
def test_a_codebook_is_read_back(desk: Desk, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    from overcoat.release import codebook, publish

    command = words(f"anonymize d.dat -k 2 --km 1 -o o.dat --codebook {name}")
    assert desk.run(*command).status == 0
    before = desk.files()
    whole = codebook.codebook_bytes

    def damaged(path: str, rows: list[tuple[str, ...]], **more: object) -> bytes:
        return whole(path, rows[:-1], **more)  # type: ignore[arg-type]

    monkeypatch.setattr(publish, "codebook_bytes", damaged)
    done = desk.run(*command)
    assert done.status == 4
    assert "the codebook does not read back as it was written" in done.err
    assert desk.files() == before
