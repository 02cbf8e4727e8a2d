"""How a run ends: signals, bugs, lost rows, full disks. Never with half a file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.command import DATA, Desk, words
from overcoat.data.io import write as write_properly
from overcoat.mapping import Mapping
from overcoat.partition import Partition
from platforms import needs_full_device, needs_posix

EARLIER = {"o.dat": "an earlier release\n", "map.json": "an earlier mapping\n"}
RUN = words("anonymize d.dat -k 2 --km 2 -o o.dat --mapping map.json")
READ = "anonymize fifo -k 2 --km 2 -o o.dat --mapping map.json"
SIGNALS = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]

# Whoever started the tests may have had these ignored, as nohup does.
DRIVER = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
{}
from overcoat.cli import main
main()
"""


def drive(desk: Desk, *arguments: str, before: str = "") -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER.format(before), *arguments],
        cwd=desk.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def open_when_read(fifo: Path, process: subprocess.Popen[bytes]) -> int:
    """Open a pipe for writing as soon as the process has it open for reading."""
    while process.poll() is None:
        try:
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads it yet
            os.sched_yield()
    raise AssertionError(process.communicate()[1])


@needs_posix
@pytest.mark.parametrize(
    ("command", "number", "earlier"),
    [
        *((READ, number, EARLIER) for number in SIGNALS),
        (READ, signal.SIGINT, {}),
        ("pgen fifo -k 2 -o o.dat", signal.SIGINT, EARLIER),
        ("verify d.dat fifo -k 2 --km 2 --mapping m.json", signal.SIGINT, {}),
    ],
)
def test_a_signal_while_reading(
    desk: Desk, command: str, number: signal.Signals, earlier: dict[str, str]
) -> None:
    desk.write({**earlier, "m.json": '{"items": {}, "groups": {}}'})
    before = desk.files()
    fifo = desk.folder / "fifo"
    os.mkfifo(fifo)
    with drive(desk, *words(command)) as process:
        pipe = open_when_read(fifo, process)
        try:
            os.write(pipe, b"a b\n" * 1000)  # it can neither fail nor finish: there may be more
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
        finally:
            os.close(pipe)
    assert process.returncode == 130, err
    assert out == b""
    assert err.decode().strip() == "overcoat: interrupted; nothing was written"
    fifo.unlink()
    assert desk.files() == before


@needs_posix
@pytest.mark.parametrize(
    ("number", "earlier"),
    [*((number, EARLIER) for number in SIGNALS), (signal.SIGINT, {})],
)
def test_a_signal_while_writing(
    desk: Desk, number: signal.Signals, earlier: dict[str, str]
) -> None:
    desk.write(earlier)
    before = desk.files()
    half = """
import os, overcoat.release.publish, overcoat.release.sinks
def half(released, path, **options):
    path.write_text("half a line")
    os.write(1, b"writing")
    signal.pause()
overcoat.release.sinks.write = half
"""
    with drive(desk, *RUN, before=half) as process:
        assert process.stdout is not None
        assert process.stdout.read(7) == b"writing"
        assert any(name.startswith(".overcoat-") for name in desk.files())
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert desk.files() == before


@needs_posix
def test_an_impatient_second_signal_does_not_stop_the_cleaning_up(desk: Desk) -> None:
    desk.write(EARLIER)
    before = desk.files()
    twice = """
import os, overcoat.release.publish, overcoat.release.sinks
from overcoat.data.io import Staging
def half(released, path, **options):
    path.write_text("half a line")
    os.kill(os.getpid(), signal.SIGINT)
def leave(staging, *error, leave=Staging.__exit__):
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGTERM)
    leave(staging, *error)
overcoat.release.sinks.write = half
overcoat.release.publish.Staging = type("Staging", (Staging,), {"__exit__": leave})
"""
    with drive(desk, *RUN, before=twice) as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert err.decode().strip() == "overcoat: interrupted; nothing was written"
    assert desk.files() == before


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError], ids=lambda e: e.__name__)
@pytest.mark.parametrize("earlier", [{}, EARLIER], ids=["", "earlier"])
@pytest.mark.parametrize(
    "where",
    [
        "overcoat.application.said.read_source",
        "overcoat.policy.policy.Policy.bind",
        "overcoat.application.said.take_method",
        "overcoat.release.walk.verify",
        "overcoat.release.walk.measure_loss",
        "overcoat.release.sinks.write",
        "overcoat.release.sinks.read_as",
        "overcoat.mapping.Mapping.dumps",
        "overcoat.data.io.Staging.commit",
        "os.replace",
    ],
)
def test_failing_anywhere_writes_nothing(
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    earlier: dict[str, str],
    error: type[BaseException],
) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise error("boom")

    desk.write(earlier)
    before = desk.files()
    monkeypatch.setattr(where, fail)
    done = desk.run(*RUN)
    monkeypatch.undo()
    assert desk.files() == before
    assert done.out == b""
    if error is KeyboardInterrupt:
        assert done.status == 130
        assert "interrupted; nothing was written" in done.err
    else:
        assert done.status == 70
        assert "RuntimeError: boom" in done.err
        assert "this is a bug in Overcoat" in done.err
        assert "Nothing was written" in done.err


@pytest.mark.parametrize("earlier", [{}, EARLIER], ids=["", "earlier"])
def test_the_second_of_two_files_cannot_get_its_name(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, earlier: dict[str, str]
) -> None:
    rename = os.replace

    def fail(source: Path, target: Path) -> None:
        if target.name == "map.json" and source.suffix == ".part":
            raise OSError(28, "No space left on device")
        rename(source, target)

    desk.write(earlier)
    before = desk.files()
    monkeypatch.setattr("os.replace", fail)
    done = desk.run(*RUN)
    assert done.status == 2
    assert "map.json: cannot be written: No space left on device" in done.err
    assert desk.files() == before


@pytest.mark.parametrize("earlier", [{}, EARLIER], ids=["", "earlier"])
def test_killed_between_the_release_and_its_mapping(desk: Desk, earlier: dict[str, str]) -> None:
    """Whoever reads one of them is told; the next run leaves both new."""
    desk.write(earlier)
    halfway = """
import os
def replace_and_die(source, target, replace=os.replace):
    replace(source, target)
    os.kill(os.getpid(), signal.SIGKILL)
os.replace = replace_and_die
"""
    with drive(desk, *RUN, before=halfway) as process:
        process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    killed = desk.files()
    assert "o.dat" in killed
    told = "map.json and o.dat were being replaced together by a run that was killed; run it again"
    verify = desk.run(*words("verify d.dat o.dat -k 2 --km 2 --mapping map.json"))
    assert (verify.status, verify.out) == (2, b"")
    assert told in verify.err
    assert desk.run(*words("anonymize o.dat -k 2 --km 2 -o other/o2.dat")).status == 2
    assert desk.files() == killed

    done = desk.run(*words("anonymize d.dat -k 9999 --km 2 -o o.dat --mapping map.json"))
    assert done.status == 3
    assert {name: (content or b"").decode() for name, content in desk.files().items()} == {
        "d.dat": DATA,
        **earlier,
    }
    assert desk.run(*RUN).status == 0
    assert desk.run(*words("verify d.dat o.dat -k 2 --km 2 --mapping map.json")).status == 0
    assert set(desk.files()) == {"d.dat", "o.dat", "map.json"}


# -- what is written is what was verified -------------------------------------------------------


def change(how: Callable[[list[str]], list[str]]) -> Callable[..., None]:
    """Return a writer that spoils the lines it writes."""

    def write(released: Any, path: Path, **options: Any) -> None:
        write_properly(released, path, **options)
        path.write_text("".join(how(path.read_text().splitlines(keepends=True))))

    return write


BROKEN = {
    "a row lost": change(lambda lines: lines[1:]),
    "a row twice": change(lambda lines: [lines[0], *lines]),
    "an empty row more": change(lambda lines: [*lines, "\n"]),
    "an item lost": change(lambda lines: [*lines[:-1], "(b|c)\n", "x\n"]),
    "the original": change(lambda lines: ["a b c\n", *lines[1:]]),
}


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("earlier", [{}, EARLIER], ids=["", "earlier"])
def test_a_broken_writer_publishes_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, how: str, earlier: dict[str, str]
) -> None:
    desk.write(earlier)
    before = desk.files()
    monkeypatch.setattr("overcoat.release.sinks.write", BROKEN[how])
    done = desk.run(*RUN)
    assert done.status == 4
    assert "does not read back as what was verified" in done.err
    assert desk.files() == before


def test_the_order_is_checked_too(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("overcoat.release.sinks.write", change(lambda lines: lines[::-1]))
    before = desk.files()
    assert desk.run(*RUN).status == 4  # any order but the canonical one could tell something
    assert desk.run(*RUN, "--keep-order").status == 4
    assert desk.files() == before


def test_a_broken_mapping_publishes_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(self: Mapping, **options: Any) -> str:
        return '{"items": {}, "groups": {}}'

    monkeypatch.setattr(Mapping, "dumps", nothing)
    before = desk.files()
    done = desk.run(*RUN)
    assert done.status == 4
    assert "mapping does not read back" in done.err
    assert desk.files() == before


def test_a_mapping_that_protects_nobody_is_never_published(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Mapping.over.__func__  # type: ignore[attr-defined]

    def untouched(cls: type[Mapping], vocabulary: Any, partition: Any, *names: Any) -> Any:
        return real(cls, vocabulary, Partition.untouched(len(vocabulary)))

    monkeypatch.setattr(Mapping, "over", classmethod(untouched))
    before = desk.files()
    done = desk.run(*RUN)
    assert done.status == 4
    assert "verification failed" in done.err
    assert "is supported by 1, fewer than k = 2" in done.err
    assert desk.files() == before


# -- standard output ----------------------------------------------------------------------------


@needs_full_device
@pytest.mark.parametrize(
    "command",
    [
        "anonymize d.dat -k 2 --km 2 -o - --mapping map.json",
        "anonymize d.dat -k 2 --km 2 -o o.dat --mapping map.json --json",
    ],
)
def test_a_full_disk_behind_standard_output(desk: Desk, command: str) -> None:
    before = desk.files()
    with Path("/dev/full").open("wb") as full:
        done = desk.run_process(*words(command), stdout=full)
    assert done.status == 2
    assert done.err == (
        "overcoat: error: standard output: cannot be written: No space left on device\n"
    )
    assert desk.files() == before


@needs_posix
@pytest.mark.parametrize("command", ["-o -", "-o o.dat --mapping map.json --json"])
def test_a_reader_who_leaves_early_is_no_error(desk: Desk, command: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        run = words("anonymize d.dat -k 2 --km 2")
        done = desk.run_process(*run, *words(command), "-q", stdout=pipe)
    assert (done.status, done.err) == (0, "")
    assert "--json" not in command or desk.mapping()


@pytest.mark.parametrize("takes", [0, 1000])
@pytest.mark.parametrize("earlier", [{}, {"map.json": "an earlier mapping"}], ids=["", "earlier"])
def test_a_mapping_is_not_written_for_data_that_nobody_took(
    desk: Desk, takes: int, earlier: dict[str, str]
) -> None:
    desk.write({"d.dat": "".join(f"a{n % 90} b{n % 91}\n" for n in range(20_000)), **earlier})
    before = desk.files()
    command = words("anonymize d.dat -k 2 --km 1 -o - --mapping map.json -q")
    with desk.start(*command) as process:
        assert process.stdout is not None
        assert len(process.stdout.read(takes)) == takes  # a pipe holds less than there is
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read().decode()
    assert process.returncode == 2
    assert err == (
        "overcoat: error: standard output was closed before everything was written; "
        "nothing else was written\n"
    )
    assert desk.files() == before


@needs_posix
def test_a_reader_who_leaves_early_does_not_turn_no_into_yes(desk: Desk) -> None:
    desk.run(*RUN)
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        verify = words("verify d.dat d.dat --mapping map.json -k 2 --km 2 --json")
        done = desk.run_process(*verify, stdout=pipe)
    assert done.status == 4
    assert done.err == "note: map.json: was written with another release than this one\n"


@needs_posix
@pytest.mark.parametrize(
    ("closed", "status"), [(">&- -o -", 2), (">&- -o o.dat --json", 2), ("2>&- -o o.dat", 0)]
)
def test_closed_streams(desk: Desk, closed: str, status: int) -> None:
    redirection, _, more = closed.partition(" ")
    command = f'"{sys.executable}" -m overcoat anonymize d.dat -k 2 --km 2 {more} {redirection}'
    done = subprocess.run(
        command, shell=True, cwd=desk.folder, stderr=subprocess.PIPE, timeout=60, check=False
    )
    assert done.returncode == status
    if status:
        assert done.stderr == b"overcoat: error: standard output: is closed\n"
        assert set(desk.files()) == {"d.dat"}
