"""What a killed process leaves, the next one undoes; what a living one has, it leaves alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from overcoat.data.io import Staging, journal, open_atomic, read, unfinished
from overcoat.data.io.journal import Journal
from overcoat.errors import DataError

DRIVER = Path(__file__).with_name("killed.py")
WORDS = "a and b were being replaced together by a run that was killed; run it again"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_killed_at_every_step(tmp_path: Path) -> None:
    """All old or all new, never a mixture and nothing hidden, after the next one."""
    done = subprocess.run(
        [sys.executable, str(DRIVER)],
        env={**os.environ, "TMPDIR": str(tmp_path), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 11
    for line in lines:
        # One file can only be the old or the new one; two must have been caught in between.
        mixture = ", old after a mixture" if line.startswith("2") else ""
        assert line.endswith(f", old{mixture}, new")


def kill_between(folder: Path, before: str = "") -> None:
    """Replace a and b in `folder` by a process that is killed when one has its name."""
    script = f"""
import os, signal, sys
from pathlib import Path
from overcoat.data.io import Staging, journal
replace = os.replace
def replace_and_die(source, target):
    replace(source, target)
    os.kill(os.getpid(), signal.SIGKILL)
{before}
with Staging() as staging:
    for name in "ab":
        staging.stage(Path(sys.argv[1]) / name).write_text("new " + name)
    os.replace = replace_and_die
    staging.commit()
"""
    done = subprocess.run([sys.executable, "-c", script, str(folder)], check=False)
    assert done.returncode == -9


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A folder with a new a and an old b."""
    for name in "ab":
        (tmp_path / name).write_text(f"old {name}")
    kill_between(tmp_path)
    assert [(tmp_path / name).read_text() for name in "ab"] == ["new a", "old b"]
    return tmp_path


def is_undone(folder: Path) -> bool:
    return [(folder / name).read_text() for name in "ab"] == ["old a", "old b"]


def test_readers_are_told_and_change_nothing(mixed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = names(mixed)
    (mixed / "link").symlink_to("a")
    for name in ("a", "b", "link"):
        assert unfinished(mixed / name) == WORDS
    monkeypatch.chdir(mixed)
    with pytest.raises(DataError) as caught:
        read("a")
    assert str(caught.value) == f"a: {WORDS}"
    assert unfinished("c") is None
    assert unfinished("no/such/folder") is None
    assert names(mixed) == sorted([*before, "link"])


def test_the_next_run_goes_on_from_what_was_there(mixed: Path) -> None:
    with open_atomic(mixed / "b") as stream:
        assert is_undone(mixed)
        assert unfinished(mixed / "a") is None
        stream.write(b"newer b")
    assert names(mixed) == ["a", "b"]
    assert [(mixed / name).read_text() for name in "ab"] == ["old a", "newer b"]


def test_a_folder_may_be_moved_in_between(mixed: Path) -> None:
    moved = mixed.rename(mixed.with_name("moved"))
    assert unfinished(moved / "a") == WORDS
    with Staging() as staging:
        staging.stage(moved / "c")
    assert is_undone(moved)


def test_what_was_mended_by_hand_stays(mixed: Path) -> None:
    (mixed / "a").write_text("mended")
    with Staging() as staging:
        staging.stage(mixed / "a")
    assert names(mixed) == ["a", "b"]
    assert [(mixed / name).read_text() for name in "ab"] == ["mended", "old b"]


@pytest.mark.parametrize("why", ["another host", "no locks", "another user"])
def test_whose_owner_nobody_can_tell(
    why: str, mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may live. After a day it does not; but what is another user's is left to that one."""
    before = names(mixed)
    if why == "another host":
        monkeypatch.setattr(journal, "_host", lambda: "01234567")
    elif why == "no locks":
        monkeypatch.setattr(journal, "_lock", lambda descriptor, shared=False: None)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    for day in (journal._DAY, -1):
        assert names(mixed) == before
        assert not is_undone(mixed)
        assert unfinished(mixed / "a") == WORDS
        monkeypatch.setattr(journal, "_DAY", day)
        with Staging() as staging:
            staging.stage(mixed / "c").write_text("c")
            staging.commit()
        (mixed / "c").unlink()
    if why == "another user":
        assert names(mixed) == before
    else:
        assert names(mixed) == ["a", "b"]
        assert is_undone(mixed)


def test_files_that_nobody_owns_go_after_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = [".overcoat", ".overcoat-policy.toml", ".overcoat-0123456789abcdef.html"]
    hidden = [f".overcoat-{'0' * 16}.part", f".overcoat-{'1' * 8}-{'2' * 16}-0.old"]
    for name in kept + hidden:
        (tmp_path / name).touch()
    for day, left in ((journal._DAY, kept + hidden), (-1, kept)):
        monkeypatch.setattr(journal, "_DAY", day)
        with Staging() as staging:
            staging.stage(tmp_path / "a")
        assert names(tmp_path) == sorted(left)


def test_two_at_the_same_time(tmp_path: Path) -> None:
    """A process that is about to write is not disturbed by another that comes and goes."""
    script = """
import sys
from pathlib import Path
from overcoat.data.io import Staging
with Staging() as staging:
    for name in "ab":
        staging.stage(Path(sys.argv[1]) / name).write_text("theirs " + name)
    print("staged", flush=True)
    sys.stdin.read()
    staging.commit()
"""
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"staged\n"
        theirs = names(tmp_path)
        assert len(theirs) == 3
        with Staging() as staging:
            for name in "bc":
                staging.stage(tmp_path / name).write_text(f"ours {name}")
            staging.commit()
        assert names(tmp_path) == sorted([*theirs, "b", "c"])
        other.communicate(timeout=60)
    assert other.returncode == 0
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "a": "theirs a",
        "b": "theirs b",
        "c": "ours c",
    }


def test_two_in_one_process(tmp_path: Path) -> None:
    with Staging() as one, Staging() as other:
        one.stage(tmp_path / "a").write_text("a")
        other.stage(tmp_path / "b").write_text("b")
        one.commit()
        other.commit()
    assert names(tmp_path) == ["a", "b"]


def test_a_journal_that_is_taken_for_a_dead_one_before_it_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = journal._lock
    taken: list[bool] = []

    def too_late(descriptor: int, *, shared: bool = False) -> bool | None:
        if not taken:
            taken.append(True)
            journal.clean(tmp_path)
        return lock(descriptor, shared=shared)

    monkeypatch.setattr(journal, "_lock", too_late)
    one = Journal(tmp_path)
    one.open()
    assert names(tmp_path) == [one.path.name]
    one.end()
    assert names(tmp_path) == []


def test_what_cannot_be_undone_now_is_undone_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "ab":
        (tmp_path / name).write_text(f"old {name}")
    replace, calls = os.replace, []

    def once(source: Path, target: Path) -> None:
        calls.append(target.name)
        if len(calls) > 1:
            raise PermissionError(1, "not now")
        replace(source, target)

    monkeypatch.setattr(os, "replace", once)

    def attempt() -> None:
        with Staging() as staging:
            for name in "ab":
                staging.stage(tmp_path / name).write_text(f"new {name}")
            staging.commit()

    with pytest.raises(DataError, match="b: cannot be written: not now"):
        attempt()
    assert calls == ["a", "b", "a"]
    assert unfinished(tmp_path / "b") == WORDS
    monkeypatch.setattr(os, "replace", replace)
    with Staging() as staging:
        staging.stage(tmp_path / "b")
    assert names(tmp_path) == ["a", "b"]
    assert is_undone(tmp_path)
