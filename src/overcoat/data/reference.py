"""The slow, obvious twins of the compiled parts of `data`: rows and text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET, Stage

__all__ = [
    "Tokenizer",
    "canonical_rows",
    "contained_rows",
    "first_unsorted",
    "format_rows",
    "gathered_rows",
    "give_back_memory",
    "item_supports",
    "rows_by_item",
]

Ints = NDArray[np.integer[Any]]
_BLANKS = b" \t"


def _rows(offsets: Ints, codes: Ints, stage: Stage) -> Iterator[list[int]]:
    for row, (start, stop) in enumerate(pairwise(offsets.tolist())):
        stage(row, len(offsets) - 1)
        yield codes[start:stop].tolist()


def canonical_rows(
    offsets: Ints,
    codes: Ints,
    counts: Ints,
    *,
    labels: Ints | None = None,
    positions: bool = True,
    stage: Stage = QUIET,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], Any]:
    """Bring weighted rows into canonical form.

    Parameters
    ----------
    offsets, codes : IN, rows of codes in any order, repetitions allowed
    counts : IN, the weight of each row
    labels : IN, what each code is to become first, -1 if it goes; by default it stays
    positions : whether they are wanted
    stage : told how far this has got, and may end it; its threads share the work

    Returns
    -------
    offsets, codes : distinct rows in lexicographic order (a prefix first), each ascending
    counts : the sum of the weights of each
    positions : the distinct row that each input row became; None if not wanted

    >>> [array.tolist() for array in canonical_rows(
    ...     np.array([0, 2, 5]), np.array([1, 0, 0, 1, 1]), np.array([3, 4]))]
    [[0, 2], [0, 1], [7], [0, 0]]
    """
    became = range(int(codes.max(initial=-1)) + 1) if labels is None else labels.tolist()
    relabelled = ([became[code] for code in row] for row in _rows(offsets, codes, stage))
    rows = [tuple(sorted({code for code in row if code >= 0})) for row in relabelled]
    distinct = sorted(set(rows))
    number = {row: index for index, row in enumerate(distinct)}
    places = np.array([number[row] for row in rows], np.int64)
    totals = np.zeros(len(distinct), np.int64)
    np.add.at(totals, places, counts)
    return (
        np.concatenate([[0], np.cumsum([len(row) for row in distinct])]).astype(np.int64),
        np.array([code for row in distinct for code in row], np.int32),
        totals,
        places if positions else None,
    )


def gathered_rows(
    batches: list[Any],
    *,
    labels: Ints | None = None,
    positions: bool = True,
    stage: Stage = QUIET,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], Any]:
    """Bring rows in batches into canonical form; each batch is let go when its rows are placed.

    Parameters
    ----------
    batches : INOUT, offsets (from 0, int64), codes (int32) and counts (int64) of each; empty in the
        end
    labels, positions, stage : see `canonical_rows`, which returns the same of all rows

    >>> batch = np.array([0, 1]), np.array([5], np.int32), np.array([3])
    >>> [array.tolist() for array in gathered_rows([batch, batch])]
    [[0, 1], [5], [6], [0, 0]]
    """
    ends = np.cumsum([0, *(len(codes) for _, codes, _ in batches)])
    offsets = [end + offsets[1:] for end, (offsets, _, _) in zip(ends, batches, strict=False)]
    codes = np.concatenate([np.empty(0, np.int32), *(codes for _, codes, _ in batches)])
    counts = np.concatenate([np.empty(0, np.int64), *(counts for _, _, counts in batches)])
    batches.clear()
    starts = np.concatenate([[0], *offsets]).astype(np.int64)
    return canonical_rows(starts, codes, counts, labels=labels, positions=positions, stage=stage)


def contained_rows(offsets: Ints, codes: Ints, *, stage: Stage = QUIET) -> NDArray[np.bool_]:
    """Return which of some distinct rows another one contains; for `stage` see `canonical_rows`.

    >>> contained_rows(np.array([0, 1, 3, 4]), np.array([0, 0, 1, 2])).tolist()
    [True, False, False]
    """
    rows = [frozenset(row) for row in _rows(offsets, codes, stage)]
    holders: dict[int, list[frozenset[int]]] = {}
    for row in rows:
        for code in row:
            holders.setdefault(code, []).append(row)
    contained: list[bool] = []
    for row in rows:
        stage(len(contained), len(rows))
        others = min((holders[code] for code in row), key=len) if row else rows
        contained.append(any(row < other for other in others))
    return np.array(contained, bool)


def first_unsorted(offsets: Ints, codes: Ints) -> int:
    """Return the first row that does not ascend or is not after the one before it, or -1.

    >>> first_unsorted(np.array([0, 1, 3, 4]), np.array([0, 0, 1, 0]))
    2
    """
    before: list[int] | None = None
    for number, (start, stop) in enumerate(pairwise(offsets.tolist())):
        row = codes[start:stop].tolist()
        if row != sorted(set(row)) or (before is not None and row <= before):
            return number
        before = row
    return -1


def item_supports(offsets: Ints, codes: Ints, counts: Ints, n_items: int) -> NDArray[np.int64]:
    """Return the support of each item.

    >>> item_supports(np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([5, 7]), 3).tolist()
    [12, 5, 0]
    """
    supports = np.zeros(n_items, np.int64)
    np.add.at(supports, codes, np.repeat(counts, np.diff(offsets)))
    return supports


def rows_by_item(
    offsets: Ints, codes: Ints, n_items: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the rows that hold each item, ascending; CSR arrays.

    >>> [array.tolist() for array in rows_by_item(np.array([0, 2, 3]), np.array([0, 2, 0]), 3)]
    [[0, 2, 2, 3], [0, 1, 0]]
    """
    rows: list[list[int]] = [[] for _ in range(n_items)]
    for row, held in enumerate(_rows(offsets, codes, QUIET)):
        for code in held:
            rows[code].append(row)
    bounds = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return bounds, np.array([row for some in rows for row in some], np.int32)


class Tokenizer:
    r"""Splits blocks of basket lines into codes, numbering labels in order of first sight.

    Parameters
    ----------
    sep : the byte between labels, with spaces and tabs around labels dropped; None splits on
        ASCII white space. There are no quotes.

    >>> tokenizer = Tokenizer(None)
    >>> offsets, codes, new = tokenizer.feed(b"b a\n\nb\n")
    >>> offsets.tolist(), codes.tolist(), new
    ([0, 2, 2, 3], [0, 1, 0], [b'b', b'a'])
    """

    def __init__(self, sep: bytes | None) -> None:
        self._sep = sep
        self._numbers: dict[bytes, int] = {}

    def feed(self, block: bytes) -> tuple[NDArray[np.int64], NDArray[np.int32], list[bytes]]:
        """Return the rows of a block of whole lines, and the labels seen for the first time."""
        lines = block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        known = len(self._numbers)
        rows = [
            [self._numbers.setdefault(label, len(self._numbers)) for label in self._split(line)]
            for line in lines
        ]
        return (
            np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64),
            np.array([code for row in rows for code in row], np.int32),
            list(self._numbers)[known:],
        )

    def _split(self, line: bytes) -> list[bytes]:
        if self._sep is None:
            return line.split()
        blanks = _BLANKS.replace(self._sep, b"")
        fields = line.removesuffix(b"\r").split(self._sep)
        return [label for field in fields if (label := field.strip(blanks))]


def format_rows(offsets: Ints, codes: Ints, rows: Ints, labels: list[bytes], sep: bytes) -> bytes:
    r"""Return the lines of some rows: labels with `sep` between them.

    >>> format_rows(np.array([0, 0, 2]), np.array([0, 1]), np.array([1, 0]), [b"a", b"b"], b" ")
    b'a b\n\n'
    """
    lines = (
        sep.join(labels[code] for code in codes[offsets[row] : offsets[row + 1]]) for row in rows
    )
    return b"".join(line + b"\n" for line in lines)


def give_back_memory() -> None:
    """Give back to the system what was let go, where the C library can; here it cannot."""
