"""Files that appear whole or not at all.

A file is written beside its target, under a hidden name, and renamed when it is complete.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from overcoat.errors import DataError, InputError

__all__ = ["Staging", "open_atomic"]

# What writing to an open file can fail with, through no fault of the program.
_WRITE_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS}


@dataclass(frozen=True)
class _Staged:
    name: str  # as the user wrote it
    target: Path
    temporary: Path


class Staging:
    """Several files that come into being together.

    Stage each, write to the temporary paths, then commit; leaving the block without a commit, by
    whatever way, removes the temporaries and leaves earlier targets as they were.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with Staging() as staging:
    ...     _ = staging.stage(folder / "released.csv").write_text("a,b")
    ...     _ = staging.stage(folder / "mapping.json").write_text("{}")
    ...     before = sorted(path.suffix for path in folder.iterdir())
    ...     staging.commit()
    >>> before, sorted(path.name for path in folder.iterdir())
    (['.part', '.part'], ['mapping.json', 'released.csv'])
    """

    def __init__(self) -> None:
        self._staged: list[_Staged] = []

    def __enter__(self) -> Staging:
        return self

    def stage(self, path: str | os.PathLike[str]) -> Path:
        """Return the path to write to instead of `path`; the file exists and is empty."""
        name = os.fspath(path)
        try:
            target = Path(name).resolve()  # of a link, what it points to is replaced
            if target.is_symlink():  # a loop of links, which Python 3.13 no longer complains of
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            if target.is_dir():
                raise DataError("is a directory; name a file", name)
            if target.exists() and not target.is_file():
                raise DataError("is not a regular file; use - for standard output", name)
            if any(target == staged.target for staged in self._staged):
                raise DataError("two outputs would go to this one file", name)
            mode = target.stat().st_mode & 0o777 if target.exists() else None
            temporary = _beside(target, "part")
            # Registered before it exists, so that an interrupt in between leaves nothing behind.
            self._staged.append(_Staged(name, target, temporary))
            # Not mkstemp: its files are for their owner only, these get the usual permissions,
            # or those of the file they replace.
            os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            if mode is not None:
                temporary.chmod(mode)
        except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
            raise _data_error(error, name) from error
        return temporary

    def commit(self) -> None:
        """Give every staged file its name; if one cannot get it, none keeps it."""
        undo: list[tuple[Path, Path | None]] = []
        backups: list[Path] = []
        name = ""
        try:
            for staged in self._staged:
                name = staged.name
                _sync(staged.temporary)
            for staged in self._staged:
                name = staged.name
                backup = None
                if len(self._staged) > 1 and staged.target.exists():
                    backup = _beside(staged.target, "old")
                    backups.append(backup)
                    _copy(staged.target, backup)
                undo.append((staged.target, backup))
                os.replace(staged.temporary, staged.target)
            for folder in {staged.target.parent for staged in self._staged}:
                _sync(folder)
        except BaseException as error:
            renamed = [not staged.temporary.exists() for staged in self._staged]
            for (target, backup), done in zip(undo, renamed, strict=False):
                if done:
                    with suppress(OSError):
                        os.replace(backup, target) if backup else target.unlink()
            if isinstance(error, OSError):
                raise _data_error(error, name) from error
            raise
        finally:
            for path in backups:
                with suppress(OSError):
                    path.unlink(missing_ok=True)
        self._staged.clear()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for staged in self._staged:
            with suppress(OSError):
                staged.temporary.unlink(missing_ok=True)
        # The user knows the targets, not our temporary names.
        names = {str(staged.temporary): staged.name for staged in self._staged}
        if isinstance(error, InputError):
            problems = [replace(p, file=names.get(p.file or "", p.file)) for p in error.problems]
            if problems != list(error.problems):
                raise type(error)(problems) from error.__cause__
        elif isinstance(error, OSError):
            if error.filename is not None and str(error.filename) in names:
                raise _data_error(error, names[str(error.filename)]) from error
            if error.filename is None and error.errno in _WRITE_ERRORS and names:
                raise _data_error(error, ", ".join(names.values())) from error


@contextmanager
def open_atomic(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing bytes that takes its name when the block ends well.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "mapping.json"
    >>> with open_atomic(target) as stream:
    ...     _ = stream.write(b"{}")
    ...     target.exists()
    False
    >>> target.read_text()
    '{}'
    """
    with Staging() as staging:
        with staging.stage(path).open("wb") as stream:
            yield stream
        staging.commit()


def _beside(target: Path, suffix: str) -> Path:
    # A short name of its own: the target's may already be as long as the file system allows.
    return target.parent / f".overcoat-{secrets.token_hex(8)}.{suffix}"


def _copy(path: Path, copy: Path) -> None:
    try:
        os.link(path, copy)
    except OSError:  # a file system without hard links
        shutil.copy2(path, copy)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that has nothing to say about it
            raise
    finally:
        os.close(descriptor)


def _data_error(error: BaseException, name: str) -> DataError:
    reason = getattr(error, "strerror", None) or str(error)
    return DataError(f"cannot be written: {reason}", name)
