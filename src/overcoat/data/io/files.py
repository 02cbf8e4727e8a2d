"""Several files that are one table: a folder, a pattern, partitions."""

from __future__ import annotations

import fnmatch
import glob
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from overcoat.data.io.names import SUFFIXES, WORKBOOK, plain_suffix
from overcoat.errors import DataError
from overcoat.words import listed

__all__ = ["Part", "Parts", "find_parts", "reads"]

# What tools write beside their data, and what a name says of a file that is not whole yet.
_MARKS = ("_SUCCESS", "_metadata", "_common_metadata", "_delta_log", "_started", "_committed")
_HALF = (".inprogress", ".tmp", ".temp", ".part", ".partial", ".crdownload", ".filepart")
_TEMPORARY = "_temporary"
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class Part:
    """One of several files.

    Attributes
    ----------
    path : the file
    name : its place below what was named, which tells it from others wherever the folder stands
    keys : what its folders say of it: ``year=2025``
    """

    path: Path
    name: str
    keys: dict[str, str]


@dataclass
class Parts:
    """The files that are one table, in the order of their names, and what to say of others."""

    files: list[Part] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _others: list[str] = field(default_factory=list)
    _folders: list[str] = field(default_factory=list)
    _books: list[Part] = field(default_factory=list)  # workbooks, read where there is nothing else
    _finished: set[Path] = field(default_factory=set)  # folders in which a job says it is done

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(found.st_size for part in self.files if (found := _stat(part.path)))


def find_parts(source: str | os.PathLike[str]) -> Parts | None:
    """Return the files that a folder or a pattern means; None where a source is one file.

    A name that is there is never a pattern. Hidden files do not count, nor do those that tools
    write beside their data. Folders are entered if they are partitions (``year=2025``).
    """
    name = os.fspath(source)
    path = Path(name)
    parts = Parts()
    if name and os.path.isdir(path):
        _enter(path, path, parts, [])
        if parts.files:
            parts._others += [book.name for book in parts._books]
        else:
            parts.files = parts._books
        _check_kinds(parts, name)
        if parts._others:
            parts.notes.append(f"not read, by their names: {listed(parts._others)}")
        if parts._folders:
            parts.notes.append(f"not read, as they are no partitions: {listed(parts._folders)}")
    elif not os.path.lexists(path) and glob.has_magic(name):
        fixed = _fixed(path)
        for found in dict.fromkeys(_matches(Path(path.anchor), _below(path))):
            if found.is_dir():
                _enter(found, fixed, parts, [])
            else:
                _take(found, fixed, parts, named=True)
        if not parts.files:
            raise DataError("no such file, and as a pattern it matches none", name)
    else:
        return None
    parts.files.sort(key=lambda part: Path(part.name).parts)
    _drop_empty(parts)
    _drop_twins(parts)
    return parts


def reads(source: str, path: str) -> bool:
    """Say whether a file of that path is read, or would be if it were there, with `source`.

    >>> reads("in/*.csv", "in/released.csv"), reads("in/*.csv", "out/released.csv")
    (True, False)
    """
    inside, real = os.path.realpath(source), os.path.realpath(path)
    if os.path.isdir(inside):
        return os.path.commonpath([inside, real]) == inside if _same_drive(inside, real) else False
    if os.path.lexists(source):
        return os.path.exists(inside) and os.path.exists(real) and os.path.samefile(inside, real)
    return glob.has_magic(source) and _fits(
        Path(os.path.abspath(path)).parts, Path(os.path.abspath(source)).parts
    )


def _same_drive(one: str, other: str) -> bool:
    return os.path.splitdrive(one)[0] == os.path.splitdrive(other)[0]


def _fits(names: tuple[str, ...], patterns: tuple[str, ...]) -> bool:
    if not patterns:
        return not names
    if patterns[0] == "**":
        return _fits(names, patterns[1:]) or (bool(names) and _fits(names[1:], patterns))
    return (
        bool(names)
        and fnmatch.fnmatchcase(names[0], patterns[0])
        and _fits(names[1:], patterns[1:])
    )


# -- looking around -----------------------------------------------------------------------------


@contextmanager
def _readable(folder: Path) -> Iterator[None]:
    try:
        yield
    except PermissionError:
        raise DataError("no permission to read it", str(folder)) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", str(folder)) from error


def _stat(path: Path) -> os.stat_result | None:
    """Return what is known of a file; None where it cannot be read: who opens it, will say why."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def _names(folder: Path) -> list[str]:
    with _readable(folder):
        return sorted(os.listdir(folder))


def _enter(folder: Path, base: Path, parts: Parts, above: list[os.stat_result]) -> None:
    """Take the files of a folder and of the partitions in it."""
    with _readable(folder):
        here = os.stat(folder)
    if any(os.path.samestat(here, other) for other in above):
        raise DataError("is a link to a folder that it is in; remove it", str(folder))
    for name in _names(folder):
        path = folder / name
        if name == _TEMPORARY and path.is_dir() and _names(path):
            raise DataError(
                f"a job is writing here, or has failed: wait for it, or remove {_TEMPORARY}",
                str(folder),
            )
        if name == "_SUCCESS":
            parts._finished.add(folder)
        if name.startswith((".", *_MARKS, _TEMPORARY)):
            continue
        if path.is_dir():
            if "=" in name:
                _enter(path, base, parts, [*above, here])
            else:
                parts._folders.append(name)
        else:
            _take(path, base, parts)


def _take(path: Path, base: Path, parts: Parts, *, named: bool = False) -> None:
    """Take a file, if it is one of data; one that a pattern names is, whatever it is called."""
    name = path.name
    if name.lower().endswith(".crc"):
        return
    if name.lower().endswith(_HALF) or ".inprogress." in name.lower():
        raise DataError("is half-written, by its name; wait until it is whole", str(path))
    plain = not Path(name).suffix and name.startswith("part-")  # as Hadoop calls them
    if name.startswith("~$"):  # what Excel keeps beside a workbook that is open
        return
    if not named and plain_suffix(name) == WORKBOOK and not name.startswith("_"):
        parts._books.append(_part(path, base))
        return
    if not named and (name.startswith("_") or not (plain or plain_suffix(name) in SUFFIXES)):
        parts._others.append(str(path.relative_to(base)))
        return
    parts.files.append(_part(path, base))


def _part(path: Path, base: Path) -> Part:
    keys = dict(part.split("=", 1) for part in path.parent.parts if "=" in part)
    told = {key: "" if value == _NO_VALUE else unquote(value) for key, value in keys.items()}
    return Part(path, path.relative_to(base).as_posix(), told)


def _fixed(pattern: Path) -> Path:
    """Return the folder below which a pattern looks."""
    fixed = Path(pattern.anchor)
    for part in _below(pattern)[:-1]:
        if glob.has_magic(part):
            break
        fixed /= part
    return fixed


def _below(path: Path) -> tuple[str, ...]:
    return path.parts[1:] if path.anchor else path.parts


def _matches(base: Path, rest: tuple[str, ...]) -> Iterator[Path]:
    """Yield what a pattern matches below a folder; `**` enters folders, but no links to them."""
    if not rest:
        yield base
        return
    first, others = rest[0], rest[1:]
    if first == "**":
        yield from _matches(base, others)
        for name in _names(base):
            if (base / name).is_dir() and not (base / name).is_symlink() and _shown(name, first):
                yield from _matches(base / name, rest)
    elif not glob.has_magic(first):
        if os.path.lexists(base / first):
            yield from _matches(base / first, others)
    elif base.is_dir() or base == Path():
        for name in _names(base):
            if fnmatch.fnmatchcase(name, first) and _shown(name, first):
                yield from _matches(base / name, others)


def _shown(name: str, pattern: str) -> bool:
    """Say whether a name counts: hidden ones do only if the pattern starts alike."""
    return not name.startswith((".", "_")) or name[0] == pattern[0]


# -- what is wrong ------------------------------------------------------------------------------


def _check_kinds(parts: Parts, folder: str) -> None:
    kinds: dict[str, list[Part]] = {}
    for part in parts.files:
        suffix = plain_suffix(part.path.name)
        kinds.setdefault({".pq": ".parquet", ".txt": ".dat"}.get(suffix, suffix), []).append(part)
    if len(kinds) > 1:
        some = sorted(plain_suffix(some[0].path.name) or "no suffix" for some in kinds.values())
        raise DataError(
            f"holds files of several kinds ({', '.join(some)}); name those to read by a pattern: "
            f"'{os.path.join(folder, '*' + some[-1])}'",
            folder,
        )
    if not kinds:
        there = [*parts._folders, *parts._others]
        raise DataError(
            f"no data file ({', '.join(sorted({*SUFFIXES, WORKBOOK}))}) is in this folder"
            + (f"; there is {listed(there)}" if there else ""),
            folder,
        )


def _drop_empty(parts: Parts) -> None:
    """Leave out files without a byte where a job says it is done; else they are half-written."""
    empty = [part for part in parts.files if (found := _stat(part.path)) and not found.st_size]
    for part in empty:
        if not parts._finished & set(part.path.parents):
            raise DataError(
                "is empty; if it is not half-written, remove it, as nobody can tell", str(part.path)
            )
        parts.files.remove(part)
        parts.notes.append(f"{part.path} is empty, and was not read")
    if empty and not parts.files:
        raise DataError("the file is empty", str(empty[0].path))


def _drop_twins(parts: Parts) -> None:
    """Leave out files that are another one under a second name: people would count twice."""
    seen: dict[tuple[int, int], Part] = {}
    for part in list(parts.files):
        found = _stat(part.path)
        if found is None:
            continue
        other = seen.setdefault((found.st_dev, found.st_ino), part)
        if other is not part and found.st_ino:
            parts.files.remove(part)
            parts.notes.append(f"{part.path} is the same file as {other.path}, and was read once")
