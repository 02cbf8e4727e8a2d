"""A table in a database, as a place for a release: one transaction, all or nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET, Stage
from overcoat.data.io import Staging
from overcoat.data.io.databases.address import is_address, parse_address
from overcoat.data.io.databases.reading import table_layout
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError
from overcoat.release.sinks import Sink

if TYPE_CHECKING:
    from overcoat.data.io.databases.target import Target

__all__ = ["TableSink"]

T = TypeVar("T")


class TableSink(Sink):
    """A table, which others see when the transaction is committed, and not before.

    A file of SQLite or DuckDB that is not there yet is made under a hidden name, like any other
    file, and gets its name together with the mapping.

    Parameters
    ----------
    target : the address of a database, with a table after a ``#``
    replaces : the table may exist, and is replaced
    """

    def __init__(self, target: str, *, replaces: bool = False) -> None:
        self._address = parse_address(target)
        self.name = self._address.name
        self._replaces = replaces
        self._database: Target | None = None
        self._new: Path | None = None  # the hidden name of a new file
        self._table: tuple[str, ...] = self._address.table
        if not self._table:
            raise DataError("say which table, after a #: …#released", self.name)

    def check(self, *, source: object = None, query: str | None = None, stage: Stage) -> None:
        """Find out before the work whether the table can be written; leave no trace."""
        from overcoat.data.io.databases.writing import is_new, open_target, try_out

        self._refuse_source(source, query)
        if is_new(self._address):
            with Staging() as staging:
                database = open_target(self._address, stage, self._stage_file(staging))
                database.close()
                self._forget_file()
            return
        database = open_target(self._address, stage)
        try:
            database.wait(
                lambda: try_out(database, self._table, replace=self._replaces),
                stage,
                doing="writing a table",
            )
            if self._replaces and self._shares_database(source):
                database.wait(lambda: self._refuse_views(database), stage, doing="writing a table")
        finally:
            with suppress(DataError):
                database.wait(database.rollback)
            database.close()

    def _refuse_source(self, source: object, query: str | None) -> None:
        """Refuse to replace what is read; a query that has the name in it may read it."""
        if not self._shares_database(source):
            return
        read, name = parse_address(str(source)), self._table[-1].lower()
        named = [part.lower() for part in read.table[-1:]]
        if name in named or name in (query or "").lower():
            raise DataError("is read by the query; name another table for the output", self.name)

    def _shares_database(self, source: object) -> bool:
        if not is_address(source):
            return False
        read = parse_address(str(source))
        return (read.kind, read.place) == (self._address.kind, self._address.place)

    def _refuse_views(self, database: Target) -> None:
        """Refuse to replace a table that a view of the source's database may read."""
        name = self._table[-1].lower()
        if database.relation(database.resolve(self._table)) is not None and any(
            name in text.lower() for text in database.definitions()
        ):
            raise DataError(
                "may be read through a view or a function of the database that the data come from; "
                "name another table for the output, or drop this one yourself",
                self.name,
            )

    def check_beside(self, *paths: str | os.PathLike[str] | None) -> None:
        """Refuse files that would be written over the database."""
        if self._address.kind == "postgresql":
            return
        here = self._address.path.resolve()
        for path in paths:
            if path is not None and Path(path).resolve() == here:
                name = os.fspath(path)
                raise DataError("is the database of the release; name another file", name)

    def layout(self, like: Layout | None, to: str | None = None) -> Layout:
        """Return the columns of the table, called as in the input where that has names."""
        layout = table_layout(like, to, self._address)
        if layout.format == "long" and layout.id.lower() == layout.item.lower():
            raise DataError(
                f"no table can have the columns {layout.id!r} and {layout.item!r}; rename one",
                self.name,
            )
        return layout

    def stage(
        self,
        staging: Staging,
        released: Transactions,
        layout: Layout,
        order: NDArray[np.int64] | None,
        stage: Stage,
    ) -> None:
        """Create the table and fill it, in a transaction that is not over."""
        from overcoat.data.io.databases.writing import is_new, open_target, prepare
        from overcoat.data.io.tables import frames_of
        from overcoat.data.io.writer import row_parts

        if is_new(self._address):
            self._stage_file(staging)
        database = self._database = open_target(self._address, stage, self._new)
        n_rows, done = released.n_transactions, 0

        def tell() -> None:
            stage(done, n_rows)

        def create() -> None:
            self._table = prepare(database, self._table, replace=self._replaces)
            if database.relation(self._table) is not None:
                database.drop(self._table)
            database.create(self._table, layout)

        self._do(create, tell)
        for frame in frames_of(released, row_parts(released, order), layout):
            tell()
            self._do(lambda frame=frame: database.insert(self._table, frame), tell)  # type: ignore[misc]
            done = min(done + (1 << 16), n_rows)

    def read_back(self, layout: Layout, *, keep_order: bool, stage: Stage) -> Transactions:
        """Read the table, in the same transaction."""
        from overcoat.data.io.databases.reading import read_back

        assert self._database is not None
        return read_back(self._database, self._table, layout, keep_order=keep_order, stage=stage)

    def send(self, *, alone: bool) -> None:
        """Finish a file that is new; it gets its name with the others."""
        if self._new is not None and self._database is not None:
            if self._address.path.exists():
                raise DataError("came into being in the meantime; run it again", self.name)
            self._do(self._database.commit, QUIET, doing="writing the table")
            self._database.close()
            self._database = None

    @property
    def commits(self) -> bool:  # type: ignore[override]
        """Whether the table is in a database that is there already."""
        return self._new is None

    def commit(self) -> None:
        """Make the table public."""
        assert self._database is not None
        self._do(self._database.commit, QUIET, doing="committing the table")

    def end(self) -> None:
        """Undo what was not committed, and let go of the database."""
        database, self._database = self._database, None
        if database is not None:
            with suppress(DataError):  # the server may be away, and has undone it then
                database.wait(database.rollback)
            database.close()
        self._forget_file()

    def _do(
        self, act: Callable[[], T], tell: Callable[[], None], doing: str = "writing the table"
    ) -> T:
        assert self._database is not None
        return self._database.wait(act, tell, doing=doing)

    def _stage_file(self, staging: Staging) -> Path:
        """Return the hidden name of a new file, which is not there yet."""
        self._new = staging.stage(self._address.path)
        self._new.unlink()  # DuckDB makes no database of an empty file
        return self._new

    def _forget_file(self) -> None:
        """Remove what DuckDB leaves beside a file that is not finished."""
        if self._new is not None:
            self._new.with_name(f"{self._new.name}.wal").unlink(missing_ok=True)
            self._new = None
