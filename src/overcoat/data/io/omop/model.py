"""Where an OMOP common data model is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from overcoat.context import QUIET, Stage
from overcoat.data.io.databases.known import is_database
from overcoat.data.io.omop.domains import Domain
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError

__all__ = ["ANCESTORS", "CONCEPTS", "PEOPLE", "Model", "open_model"]

PEOPLE, CONCEPTS, ANCESTORS = "person", "concept", "concept_ancestor"


class Model:
    """The tables of a model; names are found whatever their case.

    Attributes
    ----------
    name : for messages
    title : what it is kept in
    """

    name: str
    title: str

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def has(self, table: str) -> bool:
        """Say whether there is such a table."""
        raise NotImplementedError

    def people(self, domains: Sequence[Domain], *, keep_order: bool, stage: Stage) -> Transactions:
        """Return who has which concepts; whoever is in ``person`` is a transaction."""
        raise NotImplementedError

    def concepts(self, domains: Sequence[Domain], tell: Callable[[], None]) -> set[int]:
        """Return the concepts that anybody has, but 0."""
        raise NotImplementedError

    def names(self, concepts: Iterable[int], tell: Callable[[], None]) -> dict[int, str]:
        """Return what concepts are called."""
        raise NotImplementedError

    def parents(
        self, domains: Sequence[Domain], concepts: set[int], tell: Callable[[], None]
    ) -> dict[int, int]:
        """Return the least parent of each of some concepts, and of all their ancestors."""
        raise NotImplementedError

    def below(
        self, ancestors: Sequence[int], concepts: set[int], tell: Callable[[], None]
    ) -> list[tuple[int, int]]:
        """Return pairs of an ancestor and a concept below it."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of it."""

    def require(self, table: str) -> None:
        """Raise unless there is such a table."""
        if not self.has(table):
            raise DataError(f"there is no table {table}; is this an OMOP model?", self.name)


def open_model(source: Any, tell: Callable[[], None] = QUIET) -> Model:
    """Open the model in a database (its schema after a ``#``) or in a folder."""
    if is_database(source):
        from overcoat.data.io.omop.database import DatabaseModel

        return DatabaseModel.open(source, tell)
    if isinstance(source, (str, os.PathLike)):
        if os.path.isdir(source):
            from overcoat.data.io.omop.folder import FolderModel

            return FolderModel(source)
        missing = "" if os.path.lexists(source) else ", and this is not there"
        raise DataError(
            f"an OMOP model is a database or a folder of its tables{missing}", os.fspath(source)
        )
    raise DataError(f"an OMOP model is a database or a folder, not {type(source).__name__}")
