"""Files appear whole or not at all."""

import errno
import os
import stat
from pathlib import Path

import pytest

from overcoat.data.io import Staging, open_atomic, write
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError
from platforms import needs_posix, needs_user


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_committed_together(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old a")
    with Staging() as staging:
        staging.stage(tmp_path / "a").write_text("new a")
        staging.stage(str(tmp_path / "b")).write_text("new b")
        assert (tmp_path / "a").read_text() == "old a"
        assert not (tmp_path / "b").exists()
        assert all(name == "a" or name.startswith(".") for name in names(tmp_path))
        staging.commit()
    assert names(tmp_path) == ["a", "b"]
    assert (tmp_path / "a").read_text() == "new a"
    assert (tmp_path / "b").read_text() == "new b"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, None])
def test_nothing_without_a_commit(error: type[BaseException] | None, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old a")

    def attempt() -> None:
        with Staging() as staging:
            staging.stage(tmp_path / "a").write_text("new a")
            staging.stage(tmp_path / "b").write_text("half of")
            if error is not None:
                raise error

    if error is None:
        attempt()
    else:
        with pytest.raises(error):
            attempt()
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old a"


@pytest.mark.parametrize(
    "error", [PermissionError(errno.EPERM, "not permitted"), KeyboardInterrupt()]
)
@pytest.mark.parametrize("links", [True, False])
def test_a_commit_that_fails_half_way_is_undone(
    error: BaseException, links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("old a")
    (tmp_path / "c").write_text("old c")
    replace = os.replace

    def fail_for_c(source: Path, target: Path) -> None:
        if target.name == "c":
            raise error
        replace(source, target)

    def no_links(source: Path, target: Path) -> None:
        raise PermissionError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "replace", fail_for_c)
    if not links:
        monkeypatch.setattr(os, "link", no_links)

    def attempt() -> None:
        with Staging() as staging:
            for name in "abc":
                staging.stage(tmp_path / name).write_text(f"new {name}")
            staging.commit()

    expected = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else DataError
    with pytest.raises(expected) as caught:
        attempt()
    if expected is DataError:
        assert str(caught.value) == f"{tmp_path / 'c'}: cannot be written: not permitted"
    assert names(tmp_path) == ["a", "c"]
    assert (tmp_path / "a").read_text() == "old a"
    assert (tmp_path / "c").read_text() == "old c"


def test_open_atomic(tmp_path: Path) -> None:
    target = tmp_path / "a"
    with open_atomic(target) as stream:
        stream.write(b"first")
    assert target.read_bytes() == b"first"

    def interrupted() -> None:
        with open_atomic(target) as stream:
            stream.write(b"second")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert target.read_bytes() == b"first"
    assert names(tmp_path) == ["a"]


@needs_posix
def test_permissions(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with open_atomic(tmp_path / "new"):
            pass
        (tmp_path / "old").touch(0o600)
        with open_atomic(tmp_path / "old"):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "old").stat().st_mode) == 0o600


@needs_posix
def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "file")
    with open_atomic(tmp_path / "link") as stream:
        stream.write(b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "file").read_bytes() == b"x"


@needs_posix
def test_targets_that_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    Path("folder").mkdir()
    with Staging() as staging:
        with pytest.raises(DataError, match=r"^folder: is a directory; name a file$"):
            staging.stage("folder")
        with pytest.raises(DataError, match=r"^no/such/file: cannot be written: No such file"):
            staging.stage("no/such/file")
        with pytest.raises(DataError, match=r"^loop: cannot be written: "):
            staging.stage("loop")
        with pytest.raises(DataError, match=r"^/dev/null: is not a regular file; use -"):
            staging.stage("/dev/null")
        staging.stage("a")
        with pytest.raises(DataError, match=r"^\./a: two outputs would go to this one file$"):
            staging.stage("./a")
    assert names(tmp_path) == ["folder", "loop"]


@needs_user
def test_no_permission(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(0o500)
    with Staging() as staging, pytest.raises(DataError, match="cannot be written: Permission"):
        staging.stage(tmp_path / "locked" / "a")


@needs_posix
def test_names_as_long_as_they_may_be(tmp_path: Path) -> None:
    with open_atomic(tmp_path / ("x" * 255)) as stream:
        stream.write(b"x")
    assert names(tmp_path) == ["x" * 255]


def test_errors_name_the_target_not_the_temporary(tmp_path: Path) -> None:
    target = tmp_path / "a.dat"
    data = Transactions.of([{"a"}])

    def full_disk() -> None:
        with open_atomic(target):
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(DataError) as caught:
        full_disk()
    assert str(caught.value) == f"{target}: cannot be written: No space left on device"

    def locked() -> None:
        with Staging() as staging:
            temporary = staging.stage(target)
            temporary.unlink()
            temporary.mkdir()
            try:
                write(data, temporary, layout=Layout("basket"))
            finally:
                temporary.rmdir()

    with pytest.raises(DataError) as caught:
        locked()
    assert str(caught.value) == f"{target}: cannot be written: Is a directory"

    def other() -> None:
        with Staging() as staging:
            staging.stage(target)
            Path(tmp_path / "missing").read_text()

    with pytest.raises(FileNotFoundError):
        other()
    assert names(tmp_path) == []


@pytest.mark.parametrize("files", ["a", "ab"])
def test_a_disk_that_fails_after_the_renaming(
    files: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then nothing is known to be on it, so the earlier file is put back."""
    (tmp_path / "a").write_text("old a")
    renamed, replace, fsync = [], os.replace, os.fsync

    def note(source: Path, target: Path) -> None:
        replace(source, target)
        renamed.append(target.name)

    def fail(descriptor: int) -> None:
        if len(renamed) == len(files):
            renamed.append("and undone")
            raise OSError(errno.EIO, "Input/output error")
        fsync(descriptor)

    monkeypatch.setattr(os, "replace", note)
    monkeypatch.setattr(os, "fsync", fail)

    def attempt() -> None:
        with Staging() as staging:
            for name in files:
                staging.stage(tmp_path / name).write_text(f"new {name}")
            staging.commit()

    with pytest.raises(DataError, match="cannot be written: Input/output error"):
        attempt()
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old a"
