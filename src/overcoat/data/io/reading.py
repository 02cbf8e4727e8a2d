"""Reading a table: recognised, its columns settled, its rows gathered."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace

from overcoat.context import QUIET, Stage
from overcoat.data.io.asked import Asked
from overcoat.data.io.basket import read_basket
from overcoat.data.io.columns import look_alikes, wanted_columns
from overcoat.data.io.dialects import (
    basket_dialect,
    glued_items,
    in_words,
    refuse_table,
    separator_in_words,
    table_dialect,
)
from overcoat.data.io.long import Table
from overcoat.data.io.names import input_layout
from overcoat.data.io.pairs import Pairs
from overcoat.data.io.parquet import ParquetTable
from overcoat.data.io.problems import Problems
from overcoat.data.io.source import Source
from overcoat.data.io.workbook import WorkbookTable, check_asked, in_workbook
from overcoat.data.layout import Layout
from overcoat.data.memory import require_memory
from overcoat.data.origin import Origin
from overcoat.data.spill import Spill
from overcoat.data.transactions import Transactions, TransactionsBuilder
from overcoat.errors import DataError

__all__ = ["MEMORY", "Reading"]

MEMORY = 5  # times the size of a file, to read it: measured on short labels, which take most


class Reading:
    """Transactions that are being read, from one file or from several that are one table.

    Parameters
    ----------
    asked : what the user says; the rest is recognised
    layout : the layout, where it is known
    keep_order : see `read`
    spill : where to put what memory does not hold
    builder : what takes the rows, if it is not to be an ordinary one

    >>> from overcoat.data.io.source import open_source
    >>> import io
    >>> reading = Reading(Asked())
    >>> for text in (b"a b", b"c"):
    ...     with open_source(io.BytesIO(text)) as source:
    ...         reading.add(source)
    >>> list(reading.finish())
    [(('a', 'b'), 1), (('c',), 1)]
    """

    def __init__(
        self,
        asked: Asked | None = None,
        layout: Layout | None = None,
        *,
        keep_order: bool = False,
        spill: Spill | None = None,
        builder: TransactionsBuilder | None = None,
    ) -> None:
        self.asked, self._given = asked or Asked(), layout
        self._is_given = builder is not None
        self._builder = builder or TransactionsBuilder(keep_order=keep_order, spill=spill)
        self._pairs: Pairs | None = None
        # Of the first file, to which the others must be alike.
        self._layout: Layout | None = None
        self._first, self._ids, self._n_columns = "", "", 0
        # Of all files.
        self._digests: dict[str, str] = {}
        self._encodings: dict[str, None] = {}
        self._notes: dict[str, None] = {}
        self._sheets: dict[str, None] = {}
        self._marked = False

    @property
    def keeps_all(self) -> bool:
        """Whether memory has to hold all that is read; a builder that was given may let it go."""
        return self._builder.spill is None and not self._is_given

    def add(
        self, source: Source, keys: Mapping[str, str] | None = None, name: str | None = None
    ) -> None:
        """Add a source.

        Parameters
        ----------
        source : just opened
        keys : columns that it does not have, with the one value each has for all its rows
        name : by which it is known among several
        """
        if source.empty:
            raise DataError("the file is empty", source.name, 1)
        source.check_text()
        layout = self._recognise(source, keys or {})
        if self.keeps_all or layout.workbook:
            needed = MEMORY * source.size
            require_memory(needed, "reading it", source.name, limit=source.stage.memory)
        problems = Problems(source.name)
        if layout.parquet:
            guess = self.asked.items is None and self.asked.format is None and self._given is None
            with source.on_disk() as path:
                stored = ParquetTable(path, layout, problems, keys, guess=guess)
                pairs = self._settle(stored.layout, stored.columns, source.name, stored.ids)
                stored.read(pairs, source.tell)
        elif layout.workbook:
            with source.on_disk() as path:
                check_asked(path, layout, self.asked, source.name)
                book = WorkbookTable(path, layout, problems, self.asked.sheet, source.tell)
                with closing(book):
                    book.read(self._settle(book.layout, book.columns, source.name))
            self._sheets[book.words] = None
            self._notes.update(dict.fromkeys(book.notes))
        elif layout.format == "long":
            table = Table(source.stream, layout, problems, keys)
            pairs = self._settle(table.layout, table.columns, source.name)
            table.read(pairs, source.tell)
        else:
            self._settle(layout, [], source.name)
            read_basket(
                *(source.stream, layout, self._builder, problems, source.tell), stage=source.stage
            )
        problems.check()
        self._digests[name or source.name] = source.digest()
        self._encodings[source.encoding] = None
        self._marked |= source.marked

    def _recognise(self, source: Source, keys: Mapping[str, str]) -> Layout:
        """Return the layout of a source, whose columns are not settled yet."""
        asked = self.asked
        if asked.encoding is not None and source.parquet:
            raise DataError("--encoding is for texts; this is Parquet", source.name)
        layout = self._given
        if layout is None:
            layout = input_layout(source.suffix, asked, parquet=source.parquet)
            layout = in_workbook(layout, source, asked)
        if layout.parquet or layout.workbook:
            return layout
        if self._given is None:
            head = source.first_lines()
            if layout.format == "long":
                layout = table_dialect(head, layout, sep=asked.sep, more=[*keys])
            else:
                like = None if self._layout is None else self._layout.sep
                layout = basket_dialect(head, layout, sep=asked.sep, like=like)
                if not {"sep", "header", "format"} & {*asked.said}:
                    refuse_table(head, layout, source.name)
                    self._notes.update(dict.fromkeys(glued_items(head, layout)))
        quoted = layout.format == "long" or layout.sep is not None
        source.settle_line_ends(quote=layout.quote if quoted else "")
        return layout

    def _settle(self, layout: Layout, columns: list[str], name: str, ids: str = "") -> Pairs:
        """Take the layout of the first file, or compare with it; return where pairs go."""
        if self._layout is None or self._pairs is None:
            self._layout, self._n_columns = layout, len(columns)
            self._first, self._ids = name, ids
            self._pairs = Pairs(self._builder, by_row=layout.by_row)
        elif replace(layout, quote=self._layout.quote) != self._layout:
            raise DataError(
                f"is laid out unlike {self._first}: {_difference(layout, self._layout)}; read them "
                "apart, or make them alike",
                name,
            )
        elif ids != self._ids:
            raise DataError(
                f"column {layout.id!r} holds {ids}, in {self._first} {self._ids}; make them alike",
                name,
            )
        self._notes.update(dict.fromkeys(look_alikes(layout, columns)))
        return self._pairs

    def finish(
        self, stage: Stage = QUIET, name: str | None = None, notes: Iterable[str] = ()
    ) -> Transactions:
        """Return the transactions.

        Parameters
        ----------
        stage : may end this
        name : of what was read
        notes : further ones, on how it was found
        """
        layout = self._layout
        assert layout is not None
        assert self._pairs is not None
        if layout.format == "long":
            self._pairs.finish(stage)
        words = in_words(layout, self._n_columns, self._encodings, len(self._digests))
        words = ", ".join([*self._sheets, *filter(None, [words])])
        if self._marked or {*self._encodings} - {"", "UTF-8"}:
            layout = replace(layout, bom=True)
        digest, *others = self._digests.values()
        parts: tuple[str, ...] = ()
        if others:
            parts = (digest, *others)
            list_of = "".join(f"{one}  {where}\n" for where, one in self._digests.items())
            digest = hashlib.sha256(list_of.encode("utf-8", "surrogateescape")).hexdigest()
        told = (*notes, *self._notes)
        origin = Origin(layout, digest, words, told, parts=parts)
        data = self._builder.build(origin=origin, stage=stage)
        if not data.n_transactions:
            what = "files hold" if others else "file holds"
            raise DataError(f"the {what} no transactions", name or self._first)
        return data


def _difference(one: Layout, other: Layout) -> str:
    """Say how two layouts differ."""
    if (one.parquet, one.format) == (other.parquet, other.format) and one.sep != other.sep:
        return f"separated by {separator_in_words(one.sep)}, not {separator_in_words(other.sep)}"
    names = (", ".join(wanted_columns(layout)) for layout in (one, other))
    return "its columns are {}, not {}".format(*names)
