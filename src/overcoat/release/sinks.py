"""Where a release goes: a file, standard output, a table, later a folder on a cluster.

A sink takes the released rows where nobody sees them yet, gives back what it holds, and makes it
public when it is told to. What is published is checked at every one of them.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overcoat.context import Stage
from overcoat.data.echo import Echo
from overcoat.data.io import Staging, output_layout, read_as, send, write
from overcoat.data.io.basket import check_labels
from overcoat.data.io.databases.address import is_address
from overcoat.data.io.names import is_gzip_name
from overcoat.data.io.sheets import require_room
from overcoat.data.io.workbook import require_openpyxl
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError

__all__ = ["FileSink", "Sink", "StandardOutput", "sink_for"]


class Sink:
    """A place for one release: `stage`, `read_back`, `send`; then files get their names.

    Attributes
    ----------
    name : for messages and reports
    staged : the file that was staged, where there is one
    files : those it is going to write, by their names
    commits : whether `commit` does anything: files and it are then one
    """

    name: str
    files: tuple[str, ...] = ()
    staged: Path | None = None
    commits: bool = False

    def __enter__(self) -> Sink:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def check(self, *, source: object = None, query: str | None = None, stage: Stage) -> None:
        """Find out before the work whether this can be written; files are tried by others.

        `source` and `query` are what is read, and must not be written over.
        """

    def check_beside(self, *paths: str | os.PathLike[str] | None) -> None:
        """Refuse files that would be written over the place of the release."""

    def layout(self, like: Layout | None, to: str | None = None) -> Layout:
        """Return how the release is laid out here, by default like the input."""
        raise TypeError(f"{type(self).__name__} has no layout")

    def check_room(self, data: Transactions, layout: Layout) -> None:
        """Raise, before the work, if a release of these data may not find room here."""

    def check_labels(self, labels: Iterable[str], layout: Layout) -> None:
        """Raise, before the work, if a release with such labels cannot be written here."""

    def stage(
        self,
        staging: Staging,
        released: Transactions,
        layout: Layout,
        order: NDArray[np.int64] | None,
        stage: Stage,
    ) -> None:
        """Write the rows where nobody sees them yet; files belong to `staging`."""
        raise TypeError(f"{type(self).__name__} cannot be written to")

    def read_back(self, layout: Layout, *, keep_order: bool, stage: Stage) -> Transactions:
        """Return what was staged, read as anybody would read it."""
        raise TypeError(f"{type(self).__name__} cannot be read back")

    def send(self, *, alone: bool) -> None:
        """Send away what cannot be taken back; `alone` if no file goes with it."""

    def commit(self) -> None:
        """Make public what is not a file of the staging, when all files have their names."""

    def end(self) -> None:
        """Undo what was staged and not committed, and let go of everything."""


class _Bytes(Sink):
    """Bytes, on a path or in memory: what `write` and `read_as` take."""

    path = "-"  # as the user writes it
    _echo: Echo | None = None  # of what was written

    def layout(self, like: Layout | None, to: str | None = None) -> Layout:
        """Return the layout that the path, or `to`, asks for; else that of the input."""
        return output_layout(self.path, like, to)

    def check_room(self, data: Transactions, layout: Layout) -> None:
        """Raise if a sheet cannot hold as many rows as the original has pairs."""
        if layout.workbook:
            require_openpyxl(self.name)  # to read it back
            require_room(int((data.counts * np.maximum(data.lengths, 1)).sum()), self.name)

    def check_labels(self, labels: Iterable[str], layout: Layout) -> None:
        """Raise if a label has white space in it, and that is what splits a row."""
        try:
            check_labels(labels, layout)
        except DataError as error:
            raise DataError(replace(one, file=self.name) for one in error.problems) from None

    def stage(
        self,
        staging: Staging,
        released: Transactions,
        layout: Layout,
        order: NDArray[np.int64] | None,
        stage: Stage,
    ) -> None:
        """Write the rows to the target."""
        packed = is_gzip_name(self.path)
        self._echo = Echo(released, order)
        write(released, self._target(staging), layout=layout, order=order, gzip=packed, stage=stage)

    def read_back(self, layout: Layout, *, keep_order: bool, stage: Stage) -> Transactions:
        """Read the target, and hold it against what was written, row by row."""
        return read_as(self._written(), layout, keep_order=keep_order, into=self._echo, stage=stage)

    def _target(self, staging: Staging) -> Path | io.BytesIO:
        """Return where to write."""
        raise TypeError(f"{type(self).__name__} has no target")

    def _written(self) -> Path | io.BytesIO:
        """Return where it was written."""
        raise TypeError(f"{type(self).__name__} has no target")


class FileSink(_Bytes):
    """A file, which gets its name when the staging is committed."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = self.path = os.fspath(path)
        self.files = (self.path,)

    def _target(self, staging: Staging) -> Path:
        self.staged = staging.stage(self.path)
        return self.staged

    def _written(self) -> Path:
        assert self.staged is not None
        return self.staged


class StandardOutput(_Bytes):
    """Standard output, which gets everything at once when all else is ready."""

    name = "standard output"

    def __init__(self) -> None:
        self._content = io.BytesIO()

    def _target(self, staging: Staging) -> io.BytesIO:
        return self._content

    def _written(self) -> io.BytesIO:
        self._content.seek(0)
        return self._content

    def send(self, *, alone: bool) -> None:
        """Send it all; who leaves early is no error, unless files would say it was taken."""
        send(self._content.getvalue(), whole=not alone)


def sink_for(target: Any, *, replace: bool = False) -> Sink:
    """Return the sink that a target means: a path, ``-``, the address of a table, or a sink.

    `replace` lets a table be replaced; files always are.

    >>> sink_for("-").name, sink_for("released.csv").name
    ('standard output', 'released.csv')
    """
    if isinstance(target, Sink):
        return target
    if is_address(target):
        from overcoat.release.tables import TableSink

        return TableSink(target, replaces=replace)
    if isinstance(target, (str, os.PathLike)):
        return StandardOutput() if os.fspath(target) == "-" else FileSink(target)
    raise DataError(f"a release is written to a path, -, a table or a Sink, not to {target!r}")
