"""Transactions: distinct sorted rows with counts, a vocabulary, immutable.

Repeated rows are kept once with their count, so that they cost nothing: every algorithm works on
weighted rows.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overcoat.data.layout import Layout
from overcoat.data.vocabulary import Vocabulary
from overcoat.errors import DataError

__all__ = ["Transactions", "TransactionsBuilder", "check_label"]

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]

# Codes are kept big-endian while rows are compared as bytes: then the order of the bytes is the
# order of the rows (by first code, then second, …; a prefix first).
_BIG_ENDIAN = np.dtype(">i4")
_INT_SIZE = array("i").itemsize  # of the provisional codes


@dataclass(frozen=True, eq=False, repr=False)
class Transactions:
    """Transactions of people: which distinct sets of items occur, and how often.

    Attributes
    ----------
    vocabulary : the domain, exactly the items that occur (M = ``n_items``)
    offsets : int64, (n_distinct + 1,); row r is ``codes[offsets[r]:offsets[r + 1]]``
    codes : int32; each row ascending, rows in lexicographic order, no two equal
    counts : int64, (n_distinct,); how many transactions are that row, all positive
    positions : int64, (n_transactions,) or None; the row of each transaction in the order of the
        input, kept only on request
    layout : how the input was laid out, None for Python objects
    digest : SHA-256 of the input file, None for Python objects

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
    layout: Layout | None = None
    digest: str | None = None

    def __post_init__(self) -> None:
        for values in (self.offsets, self.codes, self.counts, self.positions):
            if values is not None:
                values.flags.writeable = False

    @classmethod
    def of(cls, rows: Iterable[Iterable[str]], *, keep_order: bool = False) -> Transactions:
        """Build from any iterable of collections of strings, one a transaction."""
        builder = TransactionsBuilder(keep_order=keep_order)
        for number, row in enumerate(rows, start=1):
            if isinstance(row, (str, bytes)):
                raise DataError(f"transaction {number} is a string; expected a set of items")
            try:
                builder.add([builder.code(label) for label in row])
            except DataError as error:
                raise DataError(f"transaction {number}: {error}") from None
        return builder.build()

    @property
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
        return np.diff(self.offsets)

    @cached_property
    def supports(self) -> Counts:
        """Support of each item, by code."""
        weights = np.repeat(self.counts, self.lengths)
        supports = np.zeros(self.n_items, np.int64)
        np.add.at(supports, self.codes, weights)
        return supports

    def row(self, index: int) -> Codes:
        """Return the codes of distinct row `index`."""
        return self.codes[self.offsets[index] : self.offsets[index + 1]]

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


def check_label(label: Any) -> str:
    """Return `label` if it can be an item, else raise a DataError that says why not."""
    if not isinstance(label, str):
        raise DataError(f"item {label!r} is not a string; items are strings, always")
    if not label:
        raise DataError("an item cannot be the empty string")
    try:
        label.encode("utf-8")
    except UnicodeEncodeError:
        raise DataError(f"item {label!r} is not valid Unicode (a lone surrogate)") from None
    return label


class TransactionsBuilder:
    """Collects rows one by one, keeping each distinct row once.

    Codes are handed out in order of first sight while reading and renumbered in item order at
    the end, so memory follows the distinct rows, not the file.

    >>> builder = TransactionsBuilder()
    >>> builder.add([builder.code("b"), builder.code("a"), builder.code("b")])
    >>> list(builder.build())
    [(('a', 'b'), 1)]
    """

    def __init__(self, *, keep_order: bool = False) -> None:
        self._codes: dict[str, int] = {}
        self._rows: dict[bytes, int] = {}  # row -> its number, in order of first sight
        self._counts: list[int] = []
        self._positions: list[int] | None = [] if keep_order else None

    def code(self, label: str) -> int:
        """Return the provisional code of `label`, a new one at first sight."""
        code = self._codes.get(label)
        if code is None:
            code = self._codes[check_label(label)] = len(self._codes)
        return code

    def add(self, codes: Iterable[int], count: int = 1) -> None:
        """Add a transaction (`count` of them) with these provisional codes, in any order."""
        self._add(array("i", sorted(set(codes))).tobytes(), count)

    def _add(self, row: bytes, count: int = 1) -> None:
        number = self._rows.setdefault(row, len(self._counts))
        if number == len(self._counts):
            self._counts.append(0)
        self._counts[number] += count
        if self._positions is not None:
            self._positions.extend([number] * count)

    def add_rows(self, offsets: NDArray[np.integer[Any]], codes: NDArray[np.integer[Any]]) -> None:
        """Add many transactions at once, given as CSR arrays of provisional codes."""
        n_rows = len(offsets) - 1
        n_codes = len(self._codes) or 1
        # Sort and deduplicate inside the rows: row number and code in one key.
        keys = np.repeat(np.arange(n_rows), np.diff(offsets)) * n_codes
        keys += codes[offsets[0] : offsets[-1]]
        keys.sort()
        keys = keys[np.diff(keys, prepend=-1) > 0]
        bounds = np.searchsorted(keys, np.arange(n_rows + 1) * n_codes)
        raw = (keys % n_codes).astype(np.intc).tobytes()
        starts = (_INT_SIZE * bounds).tolist()
        for start, stop in pairwise(starts):
            self._add(raw[start:stop])

    def build(self, *, layout: Layout | None = None, digest: str | None = None) -> Transactions:
        """Return what was added, in canonical form; items that never occurred are left out."""
        sizes = np.fromiter(map(len, self._rows), np.int64, len(self._rows)) // _INT_SIZE
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        provisional = np.frombuffer(b"".join(self._rows), np.intc).astype(np.int64)

        occurring = np.zeros(len(self._codes), bool)
        occurring[provisional] = True
        labels = list(self._codes)
        vocabulary = Vocabulary(labels[code] for code in np.flatnonzero(occurring))
        final = np.full(len(labels), -1, np.int64)
        for code in np.flatnonzero(occurring).tolist():
            final[code] = vocabulary.code(labels[code])

        # Renumber, then sort inside the rows: row number and code in one key.
        keys = np.repeat(np.arange(len(sizes)), sizes) * max(len(vocabulary), 1)
        keys += final[provisional]
        keys.sort()
        codes = (keys % max(len(vocabulary), 1)).astype(_BIG_ENDIAN)
        raw = codes.tobytes()
        starts = (4 * offsets).tolist()
        rows = [raw[starts[r] : starts[r + 1]] for r in range(len(sizes))]
        order = np.array(sorted(range(len(rows)), key=rows.__getitem__), np.int64)
        positions = None
        if self._positions is not None:
            rank = np.empty(len(order), np.int64)
            rank[order] = np.arange(len(order))
            positions = rank[np.array(self._positions, np.int64)]
        return Transactions(
            vocabulary=vocabulary,
            offsets=np.concatenate([[0], np.cumsum(sizes[order])]),
            codes=np.frombuffer(b"".join(rows[r] for r in order), _BIG_ENDIAN).astype(np.int32),
            counts=np.array(self._counts, np.int64)[order],
            positions=positions,
            layout=layout,
            digest=digest,
        )
