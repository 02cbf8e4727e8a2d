"""Where a release on a cluster goes: staged where nobody looks, named when it is verified.

A folder is written under a hidden name beside its own, and renamed. Where nothing can be renamed at
once (object stores, a file system that only the cluster sees), it lies in a hidden folder inside,
and a marker says which: without one there is no release. A table of the catalogue is renamed.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from overcoat.context import QUIET, Stage
from overcoat.errors import DataError
from overcoat.spark.jobs import Jobs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["MARKER", "Target", "open_table", "target_for"]

MARKER = "_RELEASED"
_TABLE = "table:"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_NAME = re.compile(r"\w+(\.\w+){0,2}", re.ASCII)
_WRITE = "write the release"
_LOOKS, _PAUSE = 20, 0.1  # how often it is seen to that nothing is left, seconds between two looks


class Target:
    """A place for a release."""

    def __init__(self, name: str, form: str, *, replaces: bool) -> None:
        self.name, self._form, self._replaces = name, form, replaces
        self._id = uuid4().hex[:12]

    def check(self, jobs: Jobs, stage: Stage) -> None:
        """Raise, before the work, if this cannot be written to."""
        if not self._replaces and self._exists(jobs, stage):
            raise DataError("exists already; name another place, or let it be replaced", self.name)

    def stage(self, frame: DataFrame, jobs: Jobs, stage: Stage) -> DataFrame:
        """Write where nobody looks, and return what is there, to be read from there."""
        raise NotImplementedError

    def commit(self, jobs: Jobs) -> None:
        """Give the release its name."""
        raise NotImplementedError

    def end(self, jobs: Jobs) -> None:
        """Remove what has no name."""
        raise NotImplementedError

    def open(self, session: SparkSession) -> DataFrame:
        """Return the release under its name."""
        raise NotImplementedError

    def _exists(self, jobs: Jobs, stage: Stage) -> bool:
        raise NotImplementedError


class Table(Target):
    """A table of the catalogue."""

    def __init__(self, name: str, form: str, *, replaces: bool) -> None:
        super().__init__(name, form, replaces=replaces)
        self._table = name.removeprefix(_TABLE)
        if not _NAME.fullmatch(self._table):
            raise DataError(f"{self._table!r} is no name of a table", name)
        self._staged = f"{self._table}__overcoat_{self._id}"
        self._old = f"{self._staged}_old"

    def stage(self, frame: DataFrame, jobs: Jobs, stage: Stage) -> DataFrame:
        """Write a table of another name."""
        writer = frame.write.format(self._form)
        jobs.run(_WRITE, lambda: writer.saveAsTable(self._staged), stage)
        return jobs.session.table(self._staged)

    def commit(self, jobs: Jobs) -> None:
        """Rename it; what had the name is dropped when that is done."""
        replaced = self._replaces and self._exists(jobs, QUIET)
        if replaced:
            self._rename(self._table, self._old, jobs)
        try:
            self._rename(self._staged, self._table, jobs)
        except BaseException:
            if replaced:
                self._rename(self._old, self._table, jobs)
            raise
        if replaced:
            self._drop(self._old, jobs)

    def end(self, jobs: Jobs) -> None:
        """Drop the table without a name."""
        with suppress(Exception):
            self._drop(self._staged, jobs)

    def open(self, session: SparkSession) -> DataFrame:
        """Return the table."""
        return session.table(self._table)

    def _exists(self, jobs: Jobs, stage: Stage) -> bool:
        look = lambda: jobs.session.catalog.tableExists(self._table)  # noqa: E731
        return bool(jobs.run("look for the table", look, stage))

    def _rename(self, one: str, other: str, jobs: Jobs) -> None:
        said = f"ALTER TABLE {_quoted(one)} RENAME TO {_quoted(other)}"
        jobs.run("rename the table", lambda: jobs.session.sql(said).count(), QUIET)

    def _drop(self, table: str, jobs: Jobs) -> None:
        said = f"DROP TABLE IF EXISTS {_quoted(table)}"
        jobs.run("drop a table", lambda: jobs.session.sql(said).count(), QUIET)


class Folder(Target):
    """A folder on a file system that this process sees, too: staged beside, and renamed."""

    def __init__(self, name: str, form: str, *, replaces: bool) -> None:
        super().__init__(name, form, replaces=replaces)
        self._path = Path(os.path.abspath(name.removeprefix("file://").removeprefix("file:")))
        self._home = self._path.parent / f".{self._path.name}.{_owner()}-{self._id}"
        self._is_written = False

    def check(self, jobs: Jobs, stage: Stage) -> None:
        """Raise if it exists, or its parent does not; remove what dead processes have left."""
        super().check(jobs, stage)
        if not self._path.parent.is_dir():
            raise DataError(f"there is no folder {self._path.parent}", self.name)
        if self._path.is_file():
            raise DataError("is a file; a release on a cluster is a folder", self.name)
        for left in self._path.parent.glob(f".{self._path.name}.{_owner('*')}-*"):
            if not _alive(left.name):
                shutil.rmtree(left, ignore_errors=True)

    def stage(self, frame: DataFrame, jobs: Jobs, stage: Stage) -> DataFrame:
        """Write the folder under a hidden name."""
        place = (self._home / "data").as_uri()
        self._is_written = True
        jobs.run(_WRITE, lambda: frame.write.format(self._form).save(place), stage)
        self._is_written = False
        if not (self._home / "data" / "_SUCCESS").exists() and self._form == "parquet":
            raise DataError(
                "was written where this process cannot see it: give an address that says where the "
                "file system is (hdfs://…, s3a://…)",
                self.name,
            )
        return jobs.session.read.format(self._form).load(place)

    def commit(self, jobs: Jobs) -> None:
        """Rename it; what had the name is removed when that is done."""
        old = self._home / "old"
        replaced = self._path.exists()
        if replaced:
            if not self._replaces:
                raise DataError("exists already; name another place", self.name)
            self._path.rename(old)
        try:
            (self._home / "data").rename(self._path)
        except BaseException:
            if replaced:
                old.rename(self._path)
            raise

    def end(self, jobs: Jobs) -> None:
        """Remove what is left under the hidden name.

        Tasks that were told to end write on for a moment, and make the folder again for that.
        """
        for _ in range(_LOOKS if self._is_written else 1):
            shutil.rmtree(self._home, ignore_errors=True)
            if self._is_written:
                time.sleep(_PAUSE)
        shutil.rmtree(self._home, ignore_errors=True)

    def open(self, session: SparkSession) -> DataFrame:
        """Read the folder."""
        return session.read.format(self._form).load(self._path.as_uri())

    def _exists(self, jobs: Jobs, stage: Stage) -> bool:
        return self._path.exists()


class Store(Target):
    """A folder that only the cluster sees, where nothing can be renamed: a marker is the commit."""

    def __init__(self, name: str, form: str, *, replaces: bool) -> None:
        super().__init__(name.rstrip("/"), form, replaces=replaces)
        self._folder = f"_release-{self._id}"

    def stage(self, frame: DataFrame, jobs: Jobs, stage: Stage) -> DataFrame:
        """Write a folder that readers of the whole pass over."""
        place = f"{self.name}/{self._folder}/data"
        jobs.run(_WRITE, lambda: frame.write.format(self._form).save(place), stage)
        return jobs.session.read.format(self._form).load(place)

    def commit(self, jobs: Jobs) -> None:
        """Write the marker, which says which folder is the release."""
        marker = jobs.session.createDataFrame(
            [(self._folder, self._form)], "folder string, form string"
        )
        writer = marker.coalesce(1).write.format("json")
        mode = "overwrite" if self._replaces else "errorifexists"
        jobs.run(_WRITE, lambda: writer.mode(mode).save(f"{self.name}/{MARKER}"), QUIET)

    def end(self, jobs: Jobs) -> None:
        """Leave it: the next marker names another folder."""

    def open(self, session: SparkSession) -> DataFrame:
        """Read the folder that the marker names."""
        return _marked(session, self.name)

    def _exists(self, jobs: Jobs, stage: Stage) -> bool:
        try:
            jobs.run("look for the release", lambda: _marked(jobs.session, self.name), stage)
        except DataError:
            return False
        return True


def _marked(session: SparkSession, name: str) -> DataFrame:
    marker = session.read.json(f"{name}/{MARKER}/part-*").collect()[0]
    return session.read.format(marker["form"]).load(f"{name}/{marker['folder']}/data")


def target_for(given: Any, form: str, *, replace: bool = False) -> Target:
    """Return the target that a name means: ``table:NAME``, a path, or an address of a store.

    >>> type(target_for("table:lab.released", "parquet")).__name__
    'Table'
    >>> type(target_for("s3a://bucket/released", "parquet")).__name__
    'Store'
    """
    if not isinstance(given, (str, os.PathLike)):
        raise DataError(f"a release on a cluster is a folder or table:NAME, not {given!r}")
    name = os.fspath(given)
    if name.startswith(_TABLE):
        return Table(name, form, replaces=replace)
    if _SCHEME.match(name) and not name.startswith("file:"):
        return Store(name, form, replaces=replace)
    return Folder(name, form, replaces=replace)


def open_table(session: SparkSession, name: str, form: str = "parquet") -> DataFrame:
    """Return the data frame that a name means: ``table:NAME``, or the address of a folder.

    A release that has a marker is read where that points to.
    """
    if name.startswith(_TABLE):
        return session.table(name.removeprefix(_TABLE))
    if _SCHEME.match(name) and not name.startswith("file:"):
        with suppress(Exception):
            return _marked(session, name.rstrip("/"))
        return session.read.format(form).load(name)
    path = Path(os.path.abspath(name.removeprefix("file://").removeprefix("file:")))
    if not path.exists():
        raise DataError("no such file or folder", name)
    return session.read.format(form).load(path.as_uri())


def _quoted(table: str) -> str:
    return ".".join(f"`{part}`" for part in table.split("."))


def _owner(pid: object = None) -> str:
    """Return a name for this process, by which a later one can tell that it is no more."""
    return f"overcoat-{socket.gethostname()}-{os.getpid() if pid is None else pid}"


def _alive(name: str) -> bool:
    try:
        os.kill(int(name.rsplit("-", 2)[1]), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, ValueError):
        return True
    return True
