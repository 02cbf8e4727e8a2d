"""Files that appear whole or not at all.

A file is written beside its target, under a hidden name, and renamed when it is complete. A journal
says what has to be undone if the process is killed while several are renamed.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from overcoat.data.io.journal import Journal, Move, clean, sync, sync_folder
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
    (['.commit', '.part', '.part'], ['mapping.json', 'released.csv'])
    """

    def __init__(self) -> None:
        self._staged: list[_Staged] = []
        self._journals: dict[Path, Journal] = {}  # by folder

    def __enter__(self) -> Staging:
        return self

    def stage(self, path: str | os.PathLike[str]) -> Path:
        """Return the path to write to instead of `path`; the file exists and is empty."""
        name = os.fspath(path)
        try:
            if Path(name).absolute().parts[:2] in (("/", "dev"), ("/", "proc")):
                # It may lead to a file that somebody else is writing to, such as a log.
                raise DataError("is not a regular file; use - for standard output", name)
            target = Path(name).resolve()  # of a link, what it points to is replaced
            if target.is_symlink():  # a loop of links, which Python 3.13 no longer complains of
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            if target.is_dir() or name.endswith(("/", os.sep)):
                raise DataError("is a directory; name a file", name)
            if target.exists() and not target.is_file():
                raise DataError("is not a regular file; use - for standard output", name)
            if any(target == staged.target for staged in self._staged):
                raise DataError("two outputs would go to this one file", name)
            temporary = self._journal(target.parent).name("part")
            self._staged.append(_Staged(name, target, temporary))
            mode = target.stat().st_mode & 0o777 if target.exists() else None
            # Not mkstemp: its files are for their owner only, these get the usual permissions,
            # or those of the file they replace.
            os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            if mode is not None:
                temporary.chmod(mode)
        except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
            raise _data_error(error, name) from error
        return temporary

    def _journal(self, folder: Path) -> Journal:
        if folder not in self._journals:
            clean(folder)
            # Noted before it exists, so that an interrupt in between leaves nothing behind.
            self._journals[folder] = Journal(folder)
            self._journals[folder].open()
        return self._journals[folder]

    def commit(self, last: Callable[[], None] | None = None) -> None:
        """Give every staged file its name; if one cannot get it, none keeps it.

        Several files do so together even if the process is killed on the way: what has been done
        by then is undone by the next one that stages a file there.

        `last` is a commit elsewhere, such as that of a database, which comes when all files have
        their names: if it fails, or the process is killed before it is over, they lose them again.
        """
        moves: list[Move] = []
        journals = list(self._journals.values())
        name = ""
        try:
            for staged in self._staged:
                name = staged.name
                sync(staged.temporary)
                moves.append(Move.of(staged.temporary, staged.target, self._keep(staged.target)))
            if len(moves) > 1 or (moves and last is not None):
                for journal in reversed(journals):  # the one that decides comes last
                    journal.write(moves, journals)
                for journal in journals:
                    sync_folder(journal.folder)
            for staged in self._staged:
                name = staged.name
                os.replace(staged.temporary, staged.target)
            for journal in journals:
                sync_folder(journal.folder)
            if last is not None:
                name = ""
                last()
            for journal in journals:
                journal.clear()
        except BaseException as error:
            self._undo(moves)
            if isinstance(error, OSError):
                raise _data_error(error, name) from error
            raise
        self._end()

    def _keep(self, target: Path) -> Path | None:
        """Give the file that is going to be replaced another name; None if there is none."""
        if not target.exists():
            return None
        backup = self._journals[target.parent].name("old")
        try:
            os.link(target, backup)
        except OSError:  # a file system without hard links
            shutil.copy2(target, backup)
        sync(backup)
        return backup

    def _undo(self, moves: list[Move]) -> None:
        try:
            for move in moves:
                move.undo()
            for journal in self._journals.values():
                journal.clear()
        except OSError:  # then the next process may be able to
            for journal in self._journals.values():
                journal.leave()
            self._journals.clear()

    def _end(self) -> None:
        for journal in self._journals.values():
            journal.end()
        self._journals.clear()
        self._staged.clear()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # The user knows the targets, not our temporary names.
        names = {str(staged.temporary): staged.name for staged in self._staged}
        self._end()
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


def _data_error(error: BaseException, name: str) -> DataError:
    reason = getattr(error, "strerror", None) or str(error)
    return DataError(f"cannot be written: {reason}", name)
