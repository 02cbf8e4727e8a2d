"""An OMOP common data model in a folder: a file, or a folder of files, for each table."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from overcoat.context import Stage
from overcoat.data.io import delimited
from overcoat.data.io.delimited import Dialect, take
from overcoat.data.io.dialects import table_dialect
from overcoat.data.io.files import Part, find_parts
from overcoat.data.io.long import Table
from overcoat.data.io.names import plain_suffix
from overcoat.data.io.omop.domains import Domain
from overcoat.data.io.omop.model import ANCESTORS, CONCEPTS, PEOPLE, Model
from overcoat.data.io.pairs import Pairs
from overcoat.data.io.parquet import ParquetTable
from overcoat.data.io.problems import Problems
from overcoat.data.io.source import Source, open_source
from overcoat.data.layout import Layout
from overcoat.data.memory import require_polars
from overcoat.data.origin import Origin
from overcoat.data.transactions import Transactions, TransactionsBuilder
from overcoat.errors import DataError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FolderModel"]

Tell = Callable[[], None]

_SUFFIXES = (".csv", ".tsv", ".txt", ".parquet", ".pq")
_NOTHING = "no item"  # a column that no file has
_ROWS = 1 << 18  # of Parquet, decoded at once


class FolderModel(Model):
    """The tables in a folder: ``condition_occurrence.csv``, ``PERSON.parquet``, ``concept/…``."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        require_polars("reading an OMOP model", os.fspath(folder))
        self.name, self.title = os.fspath(folder), "a folder"
        self._tables: dict[str, Path] = {}
        for path in sorted(Path(folder).iterdir()):
            suffix = plain_suffix(path.name)
            if path.name.startswith((".", "_")) or not (path.is_dir() or suffix in _SUFFIXES):
                continue
            table = path.name.lower().removesuffix(".gz").removesuffix(suffix)
            other = self._tables.setdefault(table, path)
            if other is not path:
                raise DataError(
                    f"{other.name} and {path.name} are both the table {table}; remove one",
                    self.name,
                )

    def has(self, table: str) -> bool:
        """Say whether there is such a table."""
        return table in self._tables

    def _parts(self, table: str) -> list[Part]:
        self.require(table)
        path = self._tables[table]
        found = find_parts(path) if path.is_dir() else None
        return [Part(path, path.name, {})] if found is None else found.files

    # -- people ---------------------------------------------------------------------------------

    def people(self, domains: Sequence[Domain], *, keep_order: bool, stage: Stage) -> Transactions:
        """Return who has which concepts; whoever is in ``person`` is a transaction."""
        builder = TransactionsBuilder(keep_order=keep_order)
        pairs = Pairs(builder)
        wanted = [(domain.table, domain.concept) for domain in domains]
        if self.has(PEOPLE):
            wanted.append((PEOPLE, _NOTHING))
        todo = [(part, item) for table, item in wanted for part in self._parts(table)]
        sizes = [part.path.stat().st_size for part, _ in todo]
        digests: dict[str, str] = {}
        kinds: dict[bool, str] = {}  # text or Parquet, and the first file of that kind
        for number, (part, item) in enumerate(todo):
            share = stage.share(sum(sizes[:number]), sum(sizes))
            with open_source(part.path, share) as opened:
                other = kinds.setdefault(opened.parquet, opened.name)
                if len(kinds) > 1:
                    raise DataError(
                        f"is not of one kind with {kinds[not opened.parquet]}; have the records "
                        "and the people all as text, or all as Parquet",
                        other,
                    )
                _add_people(opened, part, item, builder, pairs)
                digests[part.path.relative_to(self.name).as_posix()] = opened.digest()
        pairs.finish(stage.still(sum(sizes), sum(sizes)))
        layout = Layout("long", id="person_id", item="concept_id")
        list_of = "".join(f"{digest}  {name}\n" for name, digest in digests.items())
        digest = hashlib.sha256(list_of.encode("utf-8", "surrogateescape")).hexdigest()
        data = builder.build(
            origin=Origin(layout, digest, parts=tuple(digests.values())),
            stage=stage.still(sum(sizes), sum(sizes)),
        )
        if not data.n_transactions:
            raise DataError("there are no records", self.name)
        return data

    def concepts(self, domains: Sequence[Domain], tell: Tell) -> set[int]:
        """Return the concepts that anybody has, but 0."""
        found: set[int] = set()
        for domain in domains:
            for frame in self._frames(domain.table, [domain.concept], tell):
                found |= set(frame.get_columns()[0].drop_nulls().unique().to_list())
        return found - {0}

    # -- concepts -------------------------------------------------------------------------------

    def names(self, concepts: Iterable[int], tell: Tell) -> dict[int, str]:
        """Return what concepts are called."""
        import polars as pl

        wanted = pl.Series(sorted(concepts), dtype=pl.Int64)
        found: dict[int, str] = {}
        columns = ["concept_id", "concept_name"]
        for frame in self._frames(CONCEPTS, columns, tell, text=["concept_name"]):
            found.update(frame.filter(pl.col("concept_id").is_in(wanted.implode())).iter_rows())
        return {concept: name for concept, name in found.items() if name}

    def parents(self, domains: Sequence[Domain], concepts: set[int], tell: Tell) -> dict[int, int]:
        """Return the least parent of every concept."""
        import polars as pl

        columns = ["descendant_concept_id", "ancestor_concept_id", "min_levels_of_separation"]
        below, above, levels = map(pl.col, columns)
        found = [pl.DataFrame(schema=dict.fromkeys(columns[:2], pl.Int64))]
        for frame in self._frames(ANCESTORS, columns, tell):
            near = frame.filter((levels == 1) & (below != above))
            found.append(near.group_by(below).agg(above.min()))
            if len(found) > 16:
                found = [pl.concat(found).group_by(below).agg(above.min())]
        return dict(pl.concat(found).group_by(below).agg(above.min()).iter_rows())

    def below(
        self, ancestors: Sequence[int], concepts: set[int], tell: Tell
    ) -> list[tuple[int, int]]:
        """Return pairs of an ancestor and a concept below it."""
        import polars as pl

        columns = ["ancestor_concept_id", "descendant_concept_id"]
        wanted = [
            pl.Series(sorted(some), dtype=pl.Int64).implode() for some in (ancestors, concepts)
        ]
        found: list[tuple[int, int]] = []
        for frame in self._frames(ANCESTORS, columns, tell):
            chosen = [pl.col(name).is_in(some) for name, some in zip(columns, wanted, strict=True)]
            found += frame.filter(*chosen).iter_rows()
        return found

    def _frames(
        self, table: str, columns: Sequence[str], tell: Tell, text: Sequence[str] = ()
    ) -> Iterator[pl.DataFrame]:
        """Yield columns of a table, some rows at a time; they are whole numbers, but for `text`."""
        import polars as pl

        kinds = {name: pl.String if name in text else pl.Int64 for name in columns}
        for part in self._parts(table):
            with open_source(part.path) as opened:
                frames = _parquet_frames if opened.parquet else _text_frames
                for frame in frames(opened, columns):
                    tell()
                    try:
                        yield frame.cast(kinds)  # type: ignore[arg-type]
                    except pl.exceptions.PolarsError:
                        raise DataError(
                            f"not all of {', '.join(columns)} are whole numbers", opened.name
                        ) from None


def _add_people(
    opened: Source, part: Part, item: str, builder: TransactionsBuilder, pairs: Pairs
) -> None:
    """Add the records of a file, or the people of ``person``."""
    problems = Problems(opened.name)
    layout = Layout("long", sep=",", id="person_id", item=item)
    keys = {**part.keys, _NOTHING: ""}
    if opened.empty:
        raise DataError("the file is empty", opened.name, 1)
    if opened.parquet:
        with opened.on_disk() as path:
            columns = _parquet_columns(path, opened.name)
            layout = _as_written(replace(layout, parquet=True), columns)
            ParquetTable(path, layout, problems, keys).read(pairs, opened.tell)
    else:
        head = opened.first_lines()
        layout = _as_written(layout, _header(head, table_dialect(head.lower(), layout)))
        layout = table_dialect(head, layout, more=[*keys])
        opened.settle_line_ends(quote=layout.quote)
        Table(opened.stream, layout, problems, keys).read(pairs, opened.tell)
    problems.check()


def _as_written(layout: Layout, columns: Sequence[str]) -> Layout:
    """Return the layout with the names of columns as they are written in a file."""
    written = {name.lower(): name for name in columns}
    return replace(
        layout,
        id=written.get(layout.id, layout.id),
        item=written.get(layout.item, layout.item),
    )


def _header(head: bytes, layout: Layout) -> list[str]:
    text = head.decode("utf-8", "replace").splitlines()[0]
    return Dialect(layout.sep or ",", trim=True, mark=layout.quote).split(text)


def _parquet_columns(path: Path, name: str) -> list[str]:
    import polars as pl

    try:
        return pl.scan_parquet(path, glob=False).collect_schema().names()
    except pl.exceptions.PolarsError as error:
        raise DataError(f"not a sound Parquet file ({error})", name) from None


def _parquet_frames(opened: Source, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
    import polars as pl

    with opened.on_disk() as path:
        written = {name.lower(): name for name in _parquet_columns(path, opened.name)}
        _require(columns, written, opened.name)
        table = pl.scan_parquet(path, glob=False)
        table = table.select(pl.col(written[name]).alias(name) for name in columns)
        n_rows = table.select(pl.len()).collect().item()
        for start in range(0, n_rows, _ROWS):
            yield table.slice(start, _ROWS).collect()


def _text_frames(opened: Source, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Yield columns of a text that a machine wrote: with tabs it has no quotes, as from Athena."""
    import polars as pl

    head = opened.first_lines().decode("utf-8", "replace").splitlines()
    sep = "\t" if head and "\t" in head[0] else ","
    quote = "" if sep == "\t" else '"'
    opened.settle_line_ends(quote=quote)
    header = take(opened.stream, quote=quote).decode("utf-8", "replace").strip("\r\n")
    written = {
        name.lower(): place
        for place, name in enumerate(Dialect(sep, trim=True, mark=quote).split(header))
    }
    _require(columns, written, opened.name)
    places = [written[name] for name in columns]
    while block := take(opened.stream, delimited.BLOCK, quote=quote):
        try:
            frame = pl.read_csv(
                io.BytesIO(block),
                has_header=False,
                infer_schema=False,
                separator=sep,
                quote_char=quote or None,
                columns=sorted(places),
                encoding="utf8-lossy",
            )
        except pl.exceptions.PolarsError as error:
            raise DataError(f"cannot be read: {str(error).splitlines()[0]}", opened.name) from None
        ordered = dict(zip(sorted(places), frame.get_columns(), strict=True))
        yield pl.DataFrame([ordered[written[name]].alias(name) for name in columns])


def _require(columns: Iterable[str], written: Iterable[str], name: str) -> None:
    known = set(written)
    missing = [column for column in columns if column not in known]
    if missing:
        raise DataError(f"has no column {', '.join(missing)}", name)
