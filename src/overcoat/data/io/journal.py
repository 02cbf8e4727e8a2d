"""Who is writing in a folder, and what: so that a run that was killed can be undone.

Whoever writes files has one hidden file more in each of their folders, a journal, and a lock on it.
The system takes the lock away with the process, however that ends, so a journal that nobody holds
is that of a dead one. (Process numbers would not tell: they are used again, and each container has
its own.) A journal is empty but for the moment in which several files get their names together.
Then it says what is moved where, which is enough to go back.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import platform
import re
import secrets
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Journal", "Move", "clean", "sync", "sync_folder", "unfinished"]

# Without a host: names that version 0.1 gave. With .wal: what DuckDB puts beside a file.
_HIDDEN = re.compile(
    r"(?P<run>\.overcoat-(?:(?P<host>[0-9a-f]{8})-)?[0-9a-f]{16})(?:\.commit|(?:-\d+)?\.(?:part(?:\.wal)?|old))"
)
# Links are not followed: a journal is a file of its own.
_FLAGS = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_DAY = 24 * 60 * 60  # seconds after which files are left over whose owner nobody can tell


@dataclass(frozen=True)
class Move:
    """A file that gets its name.

    Attributes
    ----------
    target : the name it gets
    temporary : the name it has before
    backup : another name of the file that is replaced, if there is one
    size, modified : of the new file, in bytes and ns; by these it is known when it has its name
    """

    target: Path
    temporary: Path
    backup: Path | None
    size: int
    modified: int

    @classmethod
    def of(cls, temporary: Path, target: Path, backup: Path | None) -> Move:
        """Return the move of a file that is complete."""
        about = temporary.stat()
        return cls(target, temporary, backup, about.st_size, about.st_mtime_ns)

    @classmethod
    def from_json(cls, content: dict[str, Any], folder: Path) -> Move:
        """Return a move from a journal in `folder`."""
        names = {key: content[key] for key in ("target", "temporary", "backup")}
        paths = {key: name and _absolute(name, folder) for key, name in names.items()}
        return cls(**paths, size=content["size"], modified=content["modified"])

    def to_json(self, folder: Path) -> dict[str, Any]:
        """Return what a journal in `folder` says of it."""
        names = {"target": self.target, "temporary": self.temporary, "backup": self.backup}
        paths = {key: path and _relative(path, folder) for key, path in names.items()}
        return {**paths, "size": self.size, "modified": self.modified}

    def undo(self) -> None:
        """Go back to what was there before; do nothing where that is there, or something else."""
        try:
            about = self.target.stat()
        except FileNotFoundError:
            return
        is_new = (about.st_size, about.st_mtime_ns) == (self.size, self.modified)
        if self.temporary.exists() or not is_new:
            return
        if self.backup is None:
            self.target.unlink()
        elif self.backup.exists():
            os.replace(self.backup, self.target)


class Journal:
    """The journal of one writer in one folder, and the hidden files beside it that are its own.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> journal = Journal(folder)
    >>> journal.open()
    >>> journal.name("part").touch()
    >>> sorted(path.suffix for path in folder.iterdir())
    ['.commit', '.part']
    >>> journal.end()
    >>> list(folder.iterdir())
    []
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = _new_path(folder)
        self._files: list[Path] = []
        self._descriptor = -1

    def open(self) -> None:
        """Begin the journal, and hold it."""
        while self._descriptor < 0:
            descriptor = os.open(self.path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o666)
            if _lock(descriptor) is not False and _is_at(descriptor, self.path):
                self._descriptor = descriptor
            else:  # in between, somebody took it for that of a dead process
                os.close(descriptor)
                self.path = _new_path(self.folder)

    @classmethod
    def take_over(cls, path: Path) -> Journal | None:
        """Take the journal of a dead process; None if its owner lives, or nobody can tell."""
        try:
            descriptor = os.open(path, _FLAGS)
        except OSError:  # gone by now, or not ours
            return None
        locked, about = _lock(descriptor), os.fstat(descriptor)
        dead = (locked and _host_of(path) == _host()) or (locked is not False and _is_old(about))
        # What another user wrote there we do not trust.
        if not (dead and _is_own(about) and _is_at(descriptor, path)):
            os.close(descriptor)
            return None
        journal = cls(path.parent)
        journal.path, journal._descriptor = path, descriptor
        journal._files = [file for file in _hidden(path.parent) if _journal_of(file) == path]
        return journal

    def name(self, suffix: str) -> Path:
        """Return a name for a hidden file, which goes when the journal ends."""
        # A short one: the target's may already be as long as the file system allows.
        file = self.folder / f"{self.path.stem}-{len(self._files)}.{suffix}"
        self._files.append(file)
        return file

    def write(self, moves: Iterable[Move], journals: Iterable[Journal]) -> None:
        """Write down what is going to be done, and in which journals this is written.

        The first of them decides: once it is cleared, nothing is undone any more.
        """
        content = {
            "host": platform.node(),
            "pid": os.getpid(),
            "journals": [_relative(journal.path, self.folder) for journal in journals],
            "moves": [move.to_json(self.folder) for move in moves],
        }
        text = json.dumps(content).encode()
        while text:
            text = text[os.write(self._descriptor, text) :]
        _flush(self._descriptor)

    def read(self) -> tuple[list[Move], list[Path]]:
        """Return what is written there: the moves, and the paths of the journals."""
        return _read(self._descriptor, self.folder)

    def clear(self) -> None:
        """Say that all is done, or all undone."""
        if os.fstat(self._descriptor).st_size:
            os.ftruncate(self._descriptor, 0)
            _flush(self._descriptor)

    def end(self) -> None:
        """Remove the hidden files, and after them the journal."""
        for file in self._files:
            with suppress(OSError):
                file.unlink(missing_ok=True)
        self.leave()  # an open file cannot be removed everywhere
        with suppress(OSError):
            self.path.unlink(missing_ok=True)

    def leave(self) -> None:
        """Let go of the journal, and let it lie."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1


def clean(folder: Path) -> None:
    """Undo what dead processes left unfinished in a folder, and remove what they left behind."""
    hidden = _hidden(folder)
    for path in hidden:
        if path.suffix == ".commit":
            journal = Journal.take_over(path)
            if journal is not None:
                _roll_back(journal)
    for path in hidden:
        if path.suffix != ".commit" and not _journal_of(path).exists():
            with suppress(OSError):
                about = path.lstat()
                if _is_own(about) and _is_old(about):
                    path.unlink()


def _roll_back(journal: Journal) -> None:
    """Undo what is written in the journal of a dead process, if need be, and end it."""
    moves, paths = journal.read()
    held = {journal.path: journal}
    try:
        for path in paths:
            other = held.get(path) or Journal.take_over(path)
            if other is not None:
                held[path] = other
            elif path.exists() or not path.parent.exists():
                return  # somebody else is at it, or one of the folders is away
        first = held.get(paths[0]) if paths else None
        if first is not None and (first is journal or first.read()[0]):
            for move in moves:
                move.undo()
            for target in {move.target.parent for move in moves}:
                sync_folder(target)
        journals = [held[path] for path in paths if path in held] or [journal]
        for each in journals:
            each.clear()
        for each in journals:
            each.end()
    finally:
        for each in held.values():
            each.leave()


def unfinished(path: str | os.PathLike[str]) -> str | None:
    """Say that a file is one of several that a killed run was replacing; None when it is not.

    Changes nothing: the next run that writes there will undo it.
    """
    target = Path(os.path.realpath(path))
    for journal in _hidden(target.parent):
        if journal.suffix == ".commit":
            targets = [move.target for move in _left_behind(journal)]
            if target in targets:
                *names, last = sorted(target.name for target in targets)
                others = f"{', '.join(names)} and {last}" if names else f"{last} and a table"
                return (
                    f"{others} were being replaced together by a run that was killed; run it again"
                )
    return None


def sync(path: Path) -> None:
    """Have a file written to the disk."""
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        _flush(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder written to the disk."""
    if os.name != "nt":  # where folders cannot be opened
        sync(folder)


def _flush(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that has nothing to say about it
            raise


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, *, shared: bool = False) -> bool | None:
        os.lseek(descriptor, 1 << 30, os.SEEK_SET)  # what is locked there cannot be read
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def _lock(descriptor: int, *, shared: bool = False) -> bool | None:
        """Lock a file as long as it is open; False if somebody has it, None if nobody can."""
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        except OSError:
            return None
        return True


def _read(descriptor: int, folder: Path) -> tuple[list[Move], list[Path]]:
    """Return what is written in a journal in `folder`.

    A journal that is only written in part is like an empty one: nothing has been moved then.
    """
    text = b"".join(iter(lambda: os.read(descriptor, 1 << 16), b""))
    try:
        content = json.loads(text)
    except ValueError:
        return [], []
    moves = [Move.from_json(move, folder) for move in content["moves"]]
    return moves, [_absolute(name, folder) for name in content["journals"]]


def _left_behind(path: Path) -> list[Move]:
    """Return the moves in a journal, unless somebody holds it or they are done."""
    try:
        descriptor = os.open(path, _FLAGS & ~os.O_RDWR | os.O_RDONLY)
    except OSError:
        return []
    try:
        # An empty one is not even touched: its owner may be about to lock it.
        if not os.fstat(descriptor).st_size or _lock(descriptor, shared=True) is False:
            return []
        moves, paths = _read(descriptor, path.parent)
        return moves if moves and paths[0].exists() and paths[0].stat().st_size else []
    finally:
        os.close(descriptor)


def _hidden(folder: Path) -> list[Path]:
    try:
        names = [name for name in os.listdir(folder) if _HIDDEN.fullmatch(name)]
    except OSError:  # a folder may be writable and yet not to be listed
        return []
    return [folder / name for name in sorted(names)]


def _journal_of(path: Path) -> Path:
    found = _HIDDEN.fullmatch(path.name)
    return path.with_name(f"{found['run'] if found else path.stem}.commit")


def _host() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _host_of(path: Path) -> str | None:
    found = _HIDDEN.fullmatch(path.name)
    return found["host"] if found else None


def _new_path(folder: Path) -> Path:
    return folder / f".overcoat-{_host()}-{secrets.token_hex(8)}.commit"


def _relative(path: Path, folder: Path) -> str:
    try:
        return os.path.relpath(path, folder)  # which stays true when the folder is moved
    except ValueError:  # on another drive
        return str(path)


def _absolute(name: str, folder: Path) -> Path:
    return Path(os.path.normpath(folder / name))


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _is_own(about: os.stat_result) -> bool:
    return os.name == "nt" or about.st_uid == os.geteuid()


def _is_old(about: os.stat_result) -> bool:
    # Another name of an old file, as backups are, is as old as its last name.
    return time.time() - max(about.st_mtime, about.st_ctime) > _DAY
