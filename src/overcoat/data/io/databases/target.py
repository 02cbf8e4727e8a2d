"""A database that a table is written to, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from overcoat.data.io.databases.database import Database
from overcoat.data.io.databases.sql import qualified, quoted
from overcoat.data.layout import Layout

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Target"]


class Target(Database):
    """A connection that can be written to.

    Everything between `begin` and `commit` is one transaction: others see all of it or nothing. The
    same connection reads it back in between.

    Attributes
    ----------
    has_lists : whether a column can hold lists
    types : of the ids, the items and lists of items
    begins : the statement that begins a transaction
    """

    has_lists: ClassVar[bool] = False
    types: ClassVar[tuple[str, str, str]] = ("BIGINT", "VARCHAR", "VARCHAR[]")
    begins: ClassVar[str] = "BEGIN TRANSACTION"
    _active = False

    def resolve(self, table: Sequence[str]) -> tuple[str, ...]:
        """Return a table with all that its name needs."""
        return tuple(table)

    def relation(self, table: Sequence[str]) -> str | None:
        """Return what a name stands for, such as ``table`` or ``view``; None for nothing."""
        raise NotImplementedError

    def definitions(self) -> list[str]:
        """Return the texts of views, macros and the like: whatever a query may read through."""
        raise NotImplementedError

    def run(self, statement: str) -> None:
        """Run a statement that returns nothing."""
        raise NotImplementedError

    def insert(self, table: Sequence[str], frame: pl.DataFrame) -> None:
        """Add rows to a table."""
        raise NotImplementedError

    def begin(self) -> None:
        """Begin the transaction."""
        self.run(self.begins)
        self._active = True

    def create(self, table: Sequence[str], layout: Layout) -> None:
        """Create a table of ids and items, or of lists."""
        number, text, texts = self.types
        columns = f"{quoted(layout.id)} {number} NOT NULL, {quoted(layout.item)} {text}"
        if layout.format == "list":
            columns = f"{quoted(layout.items)} {texts} NOT NULL"
        self.run(f"CREATE TABLE {qualified(table)} ({columns})")

    def drop(self, table: Sequence[str]) -> None:
        """Drop a table."""
        self.run(f"DROP TABLE {qualified(table)}")

    def commit(self) -> None:
        """Make it public."""
        self.run("COMMIT")
        self._active = False

    def rollback(self) -> None:
        """Undo everything since `begin`, if anything is under way."""
        if self._active:
            self._active = False
            self.run("ROLLBACK")
