"""Transactions: distinct sorted rows with counts, a vocabulary, immutable.

Repeated rows are kept once with their count, so that they cost nothing: every algorithm works on
weighted rows.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from overcoat.checks import check_count
from overcoat.context import QUIET, Stage
from overcoat.data.batches import Batches
from overcoat.data.canonical import (
    check_codes,
    check_counts,
    check_number,
    check_people,
    check_rows,
    checked_arrays,
    digest_of,
    total,
    whole_numbers,
)
from overcoat.data.layout import Layout
from overcoat.data.native import canonical_rows, gathered_rows, item_supports
from overcoat.data.origin import NOWHERE, Origin
from overcoat.data.spill import Spill
from overcoat.data.view import transactions_html
from overcoat.data.vocabulary import Vocabulary, check_label
from overcoat.errors import DataError, InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FrameLayout", "Transactions", "TransactionsBuilder"]

FrameLayout = Literal["list", "long"]
Codes = NDArray[np.int32]
Counts = NDArray[np.int64]

_BATCH = 1 << 17  # rows gathered before they are brought into canonical form
_ARRAYS = ("offsets", "codes", "counts", "positions")


@dataclass(frozen=True, eq=False, repr=False)
class Transactions:
    """Transactions of people: which distinct sets of items occur, and how often.

    Made by `read`, `of` or a `TransactionsBuilder`. The constructor itself takes arrays that are
    canonical already, checks that they are, and copies them.

    Attributes
    ----------
    vocabulary : the domain, exactly the items that occur (M = ``n_items``)
    offsets : int64, (n_distinct + 1,); row r is ``codes[offsets[r]:offsets[r + 1]]``
    codes : int32; each row ascending, rows in lexicographic order, no two equal
    counts : int64, (n_distinct,); how many transactions are that row, all positive
    positions : int64, (n_transactions,) or None; the row of each transaction in the order of the
        input, kept only on request
    origin : where they came from, and how they were understood

    >>> data = Transactions.of([{"b", "a"}, {"a"}, {"a", "b"}, set()])
    >>> data
    Transactions(4 transactions, 3 distinct, 2 items)
    >>> list(data)
    [((), 1), (('a',), 1), (('a', 'b'), 2)]
    """

    vocabulary: Vocabulary
    offsets: NDArray[np.int64]
    codes: Codes
    counts: Counts
    positions: NDArray[np.int64] | None = None
    origin: Origin = NOWHERE

    def __post_init__(self) -> None:
        arrays = checked_arrays(
            self.vocabulary, self.offsets, self.codes, self.counts, self.positions
        )
        self._hold(*arrays)

    def _hold(self, *arrays: NDArray[Any] | None) -> None:
        for name, values in zip(_ARRAYS, arrays, strict=True):
            if values is not None:
                values.flags.writeable = False
            object.__setattr__(self, name, values)  # the way of a frozen data class

    @classmethod
    def _of_canonical(
        cls,
        vocabulary: Vocabulary,
        offsets: NDArray[np.int64],
        codes: Codes,
        counts: Counts,
        positions: NDArray[np.int64] | None = None,
        origin: Origin = NOWHERE,
    ) -> Transactions:
        """Take over arrays that were just made canonical and belong to nobody else."""
        check_number(len(counts), "distinct rows")
        self = cls.__new__(cls)
        self._hold(offsets, codes, counts, positions)
        object.__setattr__(self, "vocabulary", vocabulary)
        object.__setattr__(self, "origin", origin)
        return self

    @classmethod
    def of(
        cls,
        rows: Iterable[Iterable[str]],
        *,
        counts: Iterable[int] | None = None,
        keep_order: bool = False,
    ) -> Transactions:
        """Build from any iterable of collections of strings.

        Parameters
        ----------
        rows : one a transaction
        counts : how many transactions each row stands for, by default one
        keep_order : remember the order of the transactions in `positions`

        >>> list(Transactions.of([{"a"}, {"a", "b"}, {"a"}], counts=[5, 1, 2]))
        [(('a',), 7), (('a', 'b'), 1)]
        """
        if not isinstance(rows, Iterable):
            raise DataError(f"cannot read transactions from {type(rows).__name__}")
        builder = TransactionsBuilder(keep_order=keep_order)
        many = repeat(1) if counts is None else iter(counts)
        number = 0
        for number, row in enumerate(rows, start=1):
            if isinstance(row, (str, bytes)):
                raise DataError(f"transaction {number} is a string; expected a set of items")
            if not isinstance(row, Iterable) or isinstance(row, Mapping):
                raise DataError(f"transaction {number} is {row!r}; expected a set of items")
            count = next(many, None)
            if count is None:
                raise DataError(f"transaction {number} has no count")
            try:
                builder.add([builder.code(label) for label in row], check_count("count", count))
            except InputError as error:
                raise DataError(f"transaction {number}: {error}") from None
        if counts is not None and next(many, None) is not None:
            raise DataError(f"more counts than the {number} transactions")
        return builder.build()

    @property
    def layout(self) -> Layout | None:
        """How the input was laid out; None for Python objects."""
        return self.origin.layout

    @property
    def file_digest(self) -> str | None:
        """SHA-256 of the input file; None for Python objects."""
        return self.origin.file_digest

    @cached_property
    def n_transactions(self) -> int:
        """N: how many transactions there are, duplicates and empty ones included."""
        return int(self.counts.sum())

    @property
    def n_items(self) -> int:
        """M: how many items occur."""
        return len(self.vocabulary)

    @property
    def n_distinct(self) -> int:
        """How many distinct rows there are."""
        return len(self.counts)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Number of items of each distinct row."""
        lengths = np.diff(self.offsets)
        lengths.flags.writeable = False
        return lengths

    @cached_property
    def supports(self) -> Counts:
        """Support of each item, by code."""
        supports = item_supports(self.offsets, self.codes, self.counts, self.n_items)
        supports.flags.writeable = False
        return supports

    @cached_property
    def content_digest(self) -> str:
        """SHA-256 of the transactions themselves: equal exactly when they are, however read."""
        return digest_of(self.vocabulary, self.offsets, self.codes, self.counts)

    def row(self, index: int) -> Codes:
        """Return the codes of distinct row `index`."""
        return self.codes[self.offsets[index] : self.offsets[index + 1]]

    def to_polars(self, layout: FrameLayout | None = None) -> pl.DataFrame:
        """Return a polars frame, in canonical order, with one row for each transaction or pair.

        Parameters
        ----------
        layout : ``list``: a column of lists of items; ``long``: a running number and an item a row
            (no item for an empty transaction). By default ``long`` if the input was a long table.
            Columns are called as they were in the input, else ``items``, ``id`` and ``item``.

        >>> data = Transactions.of([{"b", "a"}, set(), {"b", "a"}])
        >>> data.to_polars().rows()
        [([],), (['a', 'b'],), (['a', 'b'],)]
        >>> data.to_polars("long").rows()
        [(1, None), (2, 'a'), (2, 'b'), (3, 'a'), (3, 'b')]
        """
        return _frames().to_polars(self, layout)  # type: ignore[no-any-return]

    def to_pandas(self, layout: FrameLayout | None = None) -> Any:
        """Return a pandas frame, laid out like that of `to_polars`."""
        return _frames().to_pandas(self, layout)

    def to_arrow(self, layout: FrameLayout | None = None) -> Any:
        """Return a pyarrow table, laid out like the frame of `to_polars`."""
        return _frames().to_arrow(self, layout)

    def to_lists(self) -> list[list[str]]:
        """Return a list of the items of each transaction, in canonical order.

        >>> Transactions.of([{"b", "a"}, set(), {"b", "a"}]).to_lists()
        [[], ['a', 'b'], ['a', 'b']]
        """
        return _frames().to_lists(self)  # type: ignore[no-any-return]

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Hand out the frame of `to_polars` to whatever reads Arrow: DuckDB, pyarrow, polars."""
        return self.to_polars().__arrow_c_stream__(requested_schema)

    def relabelled(self, labels: Sequence[str | None], *, stage: Stage = QUIET) -> Transactions:
        """Return the transactions with each item replaced by a label, once per transaction.

        Parameters
        ----------
        labels : of each item, in the order of the vocabulary; None where the item goes
        stage : is told how far this has got, and may end it

        >>> list(Transactions.of([{"a", "b"}, {"c"}]).relabelled(["x", "x", None]))
        [((), 1), (('x',), 1)]
        """
        # The labels of items that occur occur too, so these are the new vocabulary.
        vocabulary = Vocabulary(label for label in labels if label is not None)
        became = [-1 if label is None else vocabulary.code(label) for label in labels]
        stage()
        offsets, rows, counts, places = canonical_rows(
            *(self.offsets, self.codes, self.counts),
            labels=np.array(became, np.int32),
            positions=self.positions is not None,
            stage=stage,
        )
        positions = None if self.positions is None else places[self.positions]
        origin = Origin(self.layout)
        return Transactions._of_canonical(vocabulary, offsets, rows, counts, positions, origin)

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], int]]:
        labels = self.vocabulary.labels
        for index, count in enumerate(self.counts.tolist()):
            yield tuple(labels[code] for code in self.row(index).tolist()), count

    def __len__(self) -> int:
        return self.n_transactions

    def __eq__(self, other: object) -> bool:
        """Equal when they hold the same transactions, however they were read."""
        return (
            isinstance(other, Transactions)
            and self.vocabulary == other.vocabulary
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.codes, other.codes)
            and np.array_equal(self.counts, other.counts)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"Transactions({self.n_transactions:,} transactions, "
            f"{self.n_distinct:,} distinct, {self.n_items:,} items)"
        )

    def _repr_html_(self) -> str:
        return transactions_html(self)


def _frames() -> Any:
    from overcoat.data.io import frames  # which knows transactions, and is needed by few

    return frames


class TransactionsBuilder:
    """Collects rows, keeping each distinct row of a batch once.

    Codes are handed out in order of first sight while reading and renumbered in item order at
    the end, so memory follows the distinct rows, not the file. With a `spill`, batches are made one
    when they have grown, and what is too much even then goes to disk, to be counted part by part.

    >>> builder = TransactionsBuilder()
    >>> builder.add([builder.code("b"), builder.code("a"), builder.code("b")])
    >>> list(builder.build())
    [(('a', 'b'), 1)]
    """

    def __init__(self, *, keep_order: bool = False, spill: Spill | None = None) -> None:
        self.spill = None if keep_order else spill
        self._codes: dict[str, int] = {}
        self._batches = Batches(self.spill)
        self._positions: list[NDArray[np.int64]] | None = [] if keep_order else None
        self._n_rows = self._n_transactions = 0  # of all batches
        self._collapses = True  # whether batches hold many equal rows
        self._loose_codes, self._loose_ends = array("i"), array("q", [0])
        self._loose_counts = array("q")

    def code(self, label: str) -> int:
        """Return the provisional code of `label`, a new one at first sight."""
        code = self._codes.get(label)
        if code is None:
            check_number(len(self._codes) + 1, "items")
            code = self._codes[check_label(label)] = len(self._codes)
        return code

    def add(self, codes: Iterable[int], count: int = 1) -> None:
        """Add a transaction with these provisional codes, in any order, or `count` of them."""
        self._loose_codes.extend(codes)
        self._loose_ends.append(len(self._loose_codes))
        self._loose_counts.append(count)
        if len(self._loose_counts) >= _BATCH:
            self._gather_loose()

    def add_rows(
        self, offsets: Any, codes: Any, counts: Any = None, *, stage: Stage = QUIET
    ) -> None:
        """Add many transactions at once, given as CSR arrays of provisional codes.

        The cheap way to bring together what was counted in parts, by many machines: each part sends
        its labels, its distinct rows and their counts.

        Parameters
        ----------
        offsets : IN, (rows + 1,); row r is ``codes[offsets[r]:offsets[r + 1]]``
        codes : IN, from `code`, in any order
        counts : IN, (rows,); how many transactions each row stands for, by default one
        stage : may end this; its threads share the work

        >>> builder = TransactionsBuilder()
        >>> for rows in ([{"a"}, {"a", "b"}], [{"b"}, {"a", "b"}]):
        ...     part = Transactions.of(rows)
        ...     codes = np.array([builder.code(label) for label in part.vocabulary])
        ...     builder.add_rows(part.offsets, codes[part.codes], part.counts)
        >>> list(builder.build())
        [(('a',), 1), (('a', 'b'), 2), (('b',), 1)]
        """
        self._gather_loose()
        offsets, codes = whole_numbers("offsets", offsets), whole_numbers("codes", codes, np.int32)
        check_rows(offsets, len(codes))
        check_codes(codes, len(self._codes))
        if counts is None:
            counts = np.ones(len(offsets) - 1, np.int64)
        else:
            counts = whole_numbers("counts", counts)
            check_counts(counts, len(offsets) - 1)
        self._add_batch(offsets, codes, counts, stage)

    def add_new_rows(self, offsets: Any, codes: Codes, *, stage: Stage = QUIET) -> None:
        """Add rows that were just made, of codes from `code`, and belong to nobody else."""
        self._gather_loose()
        self._add_batch(offsets, codes, np.ones(len(offsets) - 1, np.int64), stage)

    def mark(self) -> Callable[[], None]:
        """Return what takes back all that is added from now on; codes stay as they are."""
        self._gather_loose()
        n_parts = 0 if self._positions is None else len(self._positions)
        state = self._n_rows, self._n_transactions, self._collapses
        take_back = self._batches.mark()

        def go_back() -> None:
            take_back()
            if self._positions is not None:
                del self._positions[n_parts:]
            self._n_rows, self._n_transactions, self._collapses = state

        return go_back

    def build(self, *, origin: Origin = NOWHERE, stage: Stage = QUIET) -> Transactions:
        """Return what was added, in canonical form; items that never occurred are left out.

        `stage` is told how far this has got, and may end it; its threads share the work.
        """
        self._gather_loose()
        self._batches.fetch(stage)
        labels = list(self._codes)
        occurs = np.zeros(len(labels), bool)
        for codes in self._batches.codes():
            stage()
            occurs[codes] = True
        occurring = np.flatnonzero(occurs).tolist()
        vocabulary = Vocabulary(labels[code] for code in occurring)
        final = np.full(len(labels), -1, np.int32)
        final[occurring] = [vocabulary.code(labels[code]) for code in occurring]

        offsets, codes, counts, became = gathered_rows(
            self._batches.take(),
            labels=final,
            positions=self._positions is not None,
            stage=stage,
        )
        positions = None
        if self._positions is not None:
            positions = became[np.concatenate([np.empty(0, np.int64), *self._positions])]
        return Transactions._of_canonical(vocabulary, offsets, codes, counts, positions, origin)

    def _gather_loose(self) -> None:
        if self._loose_counts:
            ends, codes = np.array(self._loose_ends), np.array(self._loose_codes, np.int32)
            counts = np.array(self._loose_counts)
            self._loose_codes, self._loose_ends = array("i"), array("q", [0])
            self._loose_counts = array("q")
            self._add_batch(ends, codes, counts)

    def _add_batch(
        self, ends: NDArray[np.int64], codes: Codes, counts: Counts, stage: Stage = QUIET
    ) -> None:
        self._n_transactions += total(counts)
        check_people(self._n_transactions)
        n_rows, places, became = len(counts), counts, None
        if self._collapses:
            ends, codes, counts, became = canonical_rows(
                *(ends, codes, counts), positions=self._positions is not None, stage=stage
            )
            self._collapses = len(counts) < 0.9 * n_rows
        self._batches.add(ends - ends[0], codes[ends[0] : ends[-1]], counts, stage)
        if self._positions is not None:
            became = np.arange(n_rows) if became is None else became
            self._positions.append(np.repeat(became + self._n_rows, places))
        self._n_rows += len(counts)
