"""Where a release goes: a file, standard output, later a table or a folder on a cluster.

A sink takes the released rows where nobody sees them yet, gives back what it holds, and makes it
public when it is told to. What is published is checked at every one of them.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overcoat.context import Stage
from overcoat.data.io import Staging, output_layout, read_as, send, write
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError

__all__ = ["FileSink", "Sink", "StandardOutput", "sink_for"]


class Sink:
    """A place for one release: `stage`, `read_back`, `send`; then files get their names.

    Attributes
    ----------
    name : for messages and reports
    """

    name: str

    def layout(self, like: Layout | None, to: str | None = None) -> Layout:
        """Return how the release is laid out here, by default like the input."""
        raise TypeError(f"{type(self).__name__} has no layout")

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
        """Make public what is not a file of the staging; `alone` if no file goes with it."""


class FileSink(Sink):
    """A file, which gets its name when the staging is committed."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fspath(path)
        self.staged: Path | None = None

    def layout(self, like: Layout | None, to: str | None = None) -> Layout:
        """Return the layout that the name of the file, or `to`, asks for."""
        return output_layout(self.name, like, to)

    def stage(
        self,
        staging: Staging,
        released: Transactions,
        layout: Layout,
        order: NDArray[np.int64] | None,
        stage: Stage,
    ) -> None:
        """Write the rows beside the file."""
        self.staged = staging.stage(self.name)
        compressed = self.name.lower().endswith(".gz")
        write(released, self.staged, layout=layout, order=order, gzip=compressed, stage=stage)

    def read_back(self, layout: Layout, *, keep_order: bool, stage: Stage) -> Transactions:
        """Read the staged file."""
        assert self.staged is not None
        return read_as(self.staged, layout, keep_order=keep_order, stage=stage)


class StandardOutput(Sink):
    """Standard output, which gets everything at once when all else is ready."""

    name = "standard output"

    def __init__(self) -> None:
        self._content = io.BytesIO()

    def layout(self, like: Layout | None, to: str | None = None) -> Layout:
        """Return the layout of the input, or the one that `to` asks for."""
        return output_layout("-", like, to)

    def stage(
        self,
        staging: Staging,
        released: Transactions,
        layout: Layout,
        order: NDArray[np.int64] | None,
        stage: Stage,
    ) -> None:
        """Keep the rows in memory."""
        write(released, self._content, layout=layout, order=order, stage=stage)

    def read_back(self, layout: Layout, *, keep_order: bool, stage: Stage) -> Transactions:
        """Read what is kept."""
        self._content.seek(0)
        return read_as(self._content, layout, keep_order=keep_order, stage=stage)

    def send(self, *, alone: bool) -> None:
        """Send it all; who leaves early is no error, unless files would say it was taken."""
        send(self._content.getvalue(), whole=not alone)


def sink_for(target: Any) -> Sink:
    """Return the sink that a target means: a path, ``-``, or a sink.

    >>> sink_for("-").name, sink_for("released.csv").name
    ('standard output', 'released.csv')
    """
    if isinstance(target, Sink):
        return target
    if isinstance(target, (str, os.PathLike)):
        return StandardOutput() if os.fspath(target) == "-" else FileSink(target)
    raise DataError(f"a release is written to a path, - or a Sink, not to {target!r}")
