"""An OMOP common data model in a database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any

from overcoat.context import Stage
from overcoat.data.io.databases.database import Column, Database
from overcoat.data.io.databases.opening import open_database
from overcoat.data.io.databases.reading import Rows, gather
from overcoat.data.io.databases.sql import qualified, quoted
from overcoat.data.io.omop.domains import Domain
from overcoat.data.io.omop.model import ANCESTORS, CONCEPTS, PEOPLE, Model
from overcoat.data.layout import Layout
from overcoat.data.memory import require_polars
from overcoat.data.origin import Origin
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError

__all__ = ["DatabaseModel"]

Tell = Callable[[], None]

_TOGETHER = 5000  # ids in one statement


class DatabaseModel(Model):
    """The tables of one schema."""

    def __init__(self, database: Database, schema: str | None, tell: Tell) -> None:
        self._database, self._schema = database, schema
        self.name, self.title = database.name, database.title
        self._tables = {name.lower(): name for name in database.table_names(schema, tell)}
        self._known: dict[str, list[Column]] = {}

    @classmethod
    def open(cls, source: Any, tell: Tell) -> DatabaseModel:
        """Open a database; what an address names after the ``#`` is the schema."""
        require_polars("reading a database")
        database, table = open_database(source, tell)
        try:
            if len(table) > 1:
                raise DataError("after the # comes the schema of the model alone", database.name)
            return cls(database, table[0] if table else None, tell)
        except BaseException:
            database.close()
            raise

    def close(self) -> None:
        """End the connection."""
        self._database.close()

    def has(self, table: str) -> bool:
        """Say whether there is such a table."""
        return table in self._tables

    # -- asking ---------------------------------------------------------------------------------

    def _rows(self, query: str, tell: Tell) -> Iterator[tuple[str, ...]]:
        """Yield the rows of a query, as text."""
        import polars as pl

        columns = self._database.columns(query, tell)
        names = [column.name for column in columns]
        frames = self._database.rows(query, columns, names, text_ids=True, tell=tell)
        with closing(frames):
            for frame in frames:
                yield from frame.cast(pl.String).iter_rows()

    def _numbers(self, query: str, tell: Tell) -> Iterator[tuple[int, ...]]:
        """Yield the rows of a query that are all whole numbers."""
        for row in self._rows(query, tell):
            try:
                yield tuple(map(int, row))
            except (TypeError, ValueError):
                raise DataError(f"{row!r} are no concept ids", self.name) from None

    def _named(self, table: str, *columns: str, tell: Tell) -> list[str]:
        """Return a table and some of its columns as they are to be written."""
        self.require(table)
        where = [self._schema] if self._schema else []
        name = qualified([*where, self._tables[table]])
        if table not in self._known:
            self._known[table] = self._database.columns(f"SELECT * FROM {name}", tell)
        known = {column.name.lower(): column.name for column in self._known[table]}
        for column in columns:
            if column not in known:
                raise DataError(f"table {table} has no column {column}", self.name)
        return [name, *(quoted(known[column]) for column in columns)]

    # -- people ---------------------------------------------------------------------------------

    def people(self, domains: Sequence[Domain], *, keep_order: bool, stage: Stage) -> Transactions:
        """Return who has which concepts; whoever is in ``person`` is a transaction."""
        queries = []
        for domain in domains:
            wanted = (domain.table, "person_id", domain.concept)
            table, person, concept = self._named(*wanted, tell=stage)
            queries.append(f"SELECT {person} AS person_id, {concept} AS concept_id FROM {table}")
        if self.has(PEOPLE):
            table, person = self._named(PEOPLE, "person_id", tell=stage)
            queries.append(f"SELECT {person} AS person_id, NULL AS concept_id FROM {table}")
        layout = Layout("long", id="person_id", item="concept_id")
        rows = [Rows(query, self._database.columns(query, stage), layout) for query in queries]
        self._check(rows[:-1] if self.has(PEOPLE) else rows)
        return gather(self._database, rows, Origin(layout), keep_order=keep_order, stage=stage)

    def _check(self, rows: Sequence[Rows]) -> None:
        for some in rows:
            concept = some.columns[1]
            if concept.holds not in ("integer", "unknown", "text"):
                raise DataError(f"the concepts are {concept.told}, not whole numbers", self.name)

    # -- concepts -------------------------------------------------------------------------------

    def _held(self, domains: Sequence[Domain], tell: Tell) -> str:
        """Return the query for the concepts that anybody has."""
        queries = []
        for domain in domains:
            table, concept = self._named(domain.table, domain.concept, tell=tell)
            held = f"SELECT DISTINCT {concept} AS concept_id FROM {table}"
            queries.append(f"{held} WHERE {concept} <> 0 AND {concept} IS NOT NULL")
        return " UNION ".join(queries)

    def concepts(self, domains: Sequence[Domain], tell: Tell) -> set[int]:
        """Return the concepts that anybody has, but 0."""
        return {concept for (concept,) in self._numbers(self._held(domains, tell), tell)}

    def names(self, concepts: Iterable[int], tell: Tell) -> dict[int, str]:
        """Return what concepts are called."""
        table, concept, name = self._named(CONCEPTS, "concept_id", "concept_name", tell=tell)
        found: dict[int, str] = {}
        for some in _together(concepts):
            query = f"SELECT {concept} AS c, {name} AS n FROM {table} WHERE {concept} IN ({some})"
            found.update((int(c), n) for c, n in self._rows(query, tell) if n)
        return found

    def parents(self, domains: Sequence[Domain], concepts: set[int], tell: Tell) -> dict[int, int]:
        """Return the least parent of each of some concepts, and of all their ancestors."""
        wanted = ("ancestor_concept_id", "descendant_concept_id", "min_levels_of_separation")
        table, above, below, levels = self._named(ANCESTORS, *wanted, tell=tell)
        held = self._held(domains, tell)
        near = f"SELECT {above} FROM {table} WHERE {below} IN ({held})"
        query = (
            f"SELECT {below} AS b, min({above}) AS a FROM {table} WHERE {levels} = 1 AND "
            f"{above} <> {below} AND ({below} IN ({near}) OR {below} IN ({held})) GROUP BY {below}"
        )
        return dict(self._numbers(query, tell))  # type: ignore[arg-type]

    def below(
        self, ancestors: Sequence[int], concepts: set[int], tell: Tell
    ) -> list[tuple[int, int]]:
        """Return pairs of an ancestor and a concept below it."""
        wanted = ("ancestor_concept_id", "descendant_concept_id")
        table, above, below = self._named(ANCESTORS, *wanted, tell=tell)
        found = []
        for some in _together(ancestors):
            query = f"SELECT {above} AS a, {below} AS b FROM {table} WHERE {above} IN ({some})"
            found += [(a, b) for a, b in self._numbers(query, tell) if b in concepts]
        return found


def _together(numbers: Iterable[int]) -> Iterator[str]:
    """Yield lists of numbers that are not too long for a statement."""
    ordered = sorted(numbers)
    for start in range(0, len(ordered), _TOGETHER):
        yield ", ".join(map(str, ordered[start : start + _TOGETHER]))
