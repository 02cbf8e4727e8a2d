"""Folders of projects: everything that `overcoat serve` keeps is a file in one of them.

::

    projects/ID/project.json     its name, and which choices are the latest
    projects/ID/files/           what was given, and what the policy needs beside it
    projects/ID/choices/ID.json  what was chosen, under the digest of its content
    projects/ID/jobs/ID/         what a job has found, under the digest of its task

What is written is whole or not there: it is written beside its place and renamed.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import sqlite3
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from overcoat.errors import DataError
from overcoat.web.choices import Choices, digest_of

__all__ = ["Project", "Workspace", "safe_path", "write_json"]

_ID = re.compile(r"[0-9a-f]{8,32}", re.ASCII)
_LONGEST_NAME, _DEEPEST = 120, 4
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.ASCII)


def safe_path(name: str) -> PurePosixPath:
    """Return a name from outside as a path that stays where it is put, or raise.

    >>> safe_path("ward/2026.csv")
    PurePosixPath('ward/2026.csv')
    >>> safe_path("../secret")
    Traceback (most recent call last):
    overcoat.errors.DataError: this name cannot be used for a file: '../secret'
    """
    parts = unicodedata.normalize("NFC", name).replace("\\", "/").split("/")
    fine = 0 < len(parts) <= _DEEPEST and all(map(_is_safe, parts))
    if not fine:
        raise DataError(f"this name cannot be used for a file: {name[:_LONGEST_NAME]!r}")
    return PurePosixPath(*parts)


def _is_safe(part: str) -> bool:
    return (
        0 < len(part.encode("utf-8", "surrogatepass")) <= 2 * _LONGEST_NAME
        and part[0] not in ".-~"
        and part.strip() == part
        and part[-1] != "."
        and not _RESERVED.fullmatch(part)
        and not any(unicodedata.category(c)[0] == "C" or c in '<>:"|?*' for c in part)
    )


def write_json(path: Path, content: Any) -> None:
    """Write a value as JSON, whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(content, file, ensure_ascii=False)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


@dataclass(frozen=True)
class Project:
    """One release that is being prepared: a folder.

    Attributes
    ----------
    id : by which it is addressed
    folder : where all of it is
    """

    id: str
    folder: Path

    @property
    def files(self) -> Path:
        """Where its files are; jobs work there, so that names in messages are plain."""
        return self.folder / "files"

    @property
    def jobs(self) -> Path:
        """Where what jobs have found is kept."""
        return self.folder / "jobs"

    @property
    def info(self) -> dict[str, Any]:
        """What is known of it: `name`, `latest`."""
        content = json.loads((self.folder / "project.json").read_text("utf-8"))
        assert isinstance(content, dict)
        return content

    def update(self, **changes: Any) -> None:
        """Change what is known of it."""
        write_json(self.folder / "project.json", self.info | changes)

    # -- choices -----------------------------------------------------------------------------------

    def keep(self, choices: Choices, *, latest: bool = True) -> str:
        """Keep what was chosen; return its digest, by which it is addressed from now on."""
        path = self.folder / "choices" / f"{choices.digest}.json"
        if not path.exists():
            write_json(path, choices.to_json())
        if latest and self.info.get("latest") != choices.digest:
            self.update(latest=choices.digest)
        return choices.digest

    def choices(self, digest: str) -> Choices | None:
        """Return what was chosen; None if nothing with this digest was."""
        if not _ID.fullmatch(digest):
            return None
        try:
            text = (self.folder / "choices" / f"{digest}.json").read_text("utf-8")
        except FileNotFoundError:
            return None
        return Choices.from_json(json.loads(text))

    def latest(self) -> Choices:
        """Return what was chosen last."""
        return self.choices(self.info.get("latest", "")) or Choices()

    # -- files -------------------------------------------------------------------------------------

    def path_of(self, name: str) -> Path:
        """Return where a file of that name is, or would be."""
        path = self.files / safe_path(name)
        if not path.resolve().is_relative_to(self.files.resolve()):
            raise DataError(f"this name cannot be used for a file: {name!r}")
        return path

    def listed_files(self) -> list[tuple[str, int]]:
        """Return the names and sizes of its files."""
        found = [
            (path.relative_to(self.files).as_posix(), path.stat().st_size)
            for path in self.files.rglob("*")
            if path.is_file() and not path.name.startswith(".")
        ]
        return sorted(found)

    @contextmanager
    def incoming(self, name: str) -> Iterator[Path]:
        """Give a path to write a file to; it gets its name when the block ends well."""
        target = self.path_of(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, staged = tempfile.mkstemp(dir=self.folder, prefix=".incoming-")
        os.close(handle)
        try:
            yield Path(staged)
            os.replace(staged, target)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(staged)

    def place_sets(self, sets: Mapping[str, Sequence[str]]) -> str:
        """Write named sets to a file of their own, called after its content; return its name."""
        content = json.dumps(sets, ensure_ascii=False, indent=1)
        name = f"sets-{digest_of(content)[:8]}.json"
        with self.incoming(name) as path:
            path.write_text(content, encoding="utf-8", newline="\n")
        return name

    def sets(self, name: str) -> dict[str, list[str]]:
        """Return the named sets of such a file."""
        return self.sets_of(self.path_of(name))

    @staticmethod
    def sets_of(path: Path) -> dict[str, list[str]]:
        """Return the named sets of a JSON file."""
        content = json.loads(path.read_text("utf-8"))
        if not isinstance(content, dict):
            raise DataError("does not hold named sets", path.name)
        return content


class Workspace:
    """The folder of all projects; a temporary one ends with the server.

    Parameters
    ----------
    folder : of the user's choice, which is kept; None for a temporary one
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.kept = folder is not None
        if folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="overcoat-serve-"))
        else:
            self.folder = Path(folder).absolute()
        try:
            self.projects.mkdir(parents=True, exist_ok=True)
            os.chmod(self.folder, 0o700)  # only its owner looks in
        except OSError as error:
            raise DataError(f"cannot be a workspace: {error.strerror}", str(folder)) from None
        # Two servers would delete what the other is writing. This lock ends with the process,
        # however it ends, and on every system.
        self._lock = sqlite3.connect(self.folder / ".lock", timeout=0, isolation_level=None)
        try:
            self._lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            self._lock.close()
            why = (
                "is in use by another overcoat serve: end that one, or give another folder"
                if error.sqlite_errorcode == sqlite3.SQLITE_BUSY
                else f"cannot be a workspace: {error}"
            )
            raise DataError(why, str(folder)) from None
        for path in self.projects.glob("*/.incoming-*"):  # of a server that was killed
            path.unlink(missing_ok=True)
        for path in self.projects.glob("*/jobs/*.part"):
            shutil.rmtree(path, ignore_errors=True)

    @property
    def projects(self) -> Path:
        """Where the projects are."""
        return self.folder / "projects"

    def create(self, name: str) -> Project:
        """Begin a project."""
        project = Project(secrets.token_hex(4), Path())
        project = Project(project.id, self.projects / project.id)
        for folder in (project.files, project.jobs, project.folder / "choices"):
            folder.mkdir(parents=True)
        number = len([*self.projects.iterdir()])
        write_json(project.folder / "project.json", {"name": name, "number": number})
        return project

    def project(self, identifier: str) -> Project | None:
        """Return a project; None if there is none of that name."""
        if not _ID.fullmatch(identifier):
            return None
        project = Project(identifier, self.projects / identifier)
        return project if (project.folder / "project.json").is_file() else None

    def listed(self) -> list[Project]:
        """Return all projects, the latest first."""
        found = filter(None, (self.project(path.name) for path in self.projects.iterdir()))
        return sorted(found, key=lambda one: (one.info.get("number", 0), one.id), reverse=True)

    def delete(self, project: Project) -> None:
        """Delete a project with all its files."""
        shutil.rmtree(project.folder, ignore_errors=True)

    def end(self) -> None:
        """Give the folder free; delete everything in it, unless it is to be kept."""
        self._lock.close()
        if not self.kept:
            shutil.rmtree(self.folder, ignore_errors=True)
