"""What the arrays of transactions must be: everything that works on them relies on it.

Compiled code does not look twice, so what comes from outside is looked at here, once.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overcoat.data.native import first_unsorted
from overcoat.data.vocabulary import Vocabulary
from overcoat.errors import DataError

__all__ = [
    "MOST",
    "check_codes",
    "check_counts",
    "check_number",
    "check_people",
    "check_rows",
    "checked_arrays",
    "digest_of",
    "total",
    "whole_numbers",
]

MOST = (1 << 31) - 1  # distinct rows, and items: their numbers take 32 bits
MOST_PEOPLE = 1 << 62  # transactions: their numbers are added up in 64 bits

Arrays = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64] | None]


def check_number(n: int, what: str) -> None:
    """Raise unless so many rows or items can be numbered.

    >>> check_number(3_000_000_000, "distinct rows")
    Traceback (most recent call last):
    overcoat.errors.DataError: 3,000,000,000 distinct rows are more than the 2,147,483,647 that \
can be worked on at once; split the data into parts that are released apart
    """
    if n > MOST:
        raise DataError(
            f"{n:,} {what} are more than the {MOST:,} that can be worked on at once; split the "
            "data into parts that are released apart"
        )


def whole_numbers(name: str, values: Any, dtype: type = np.int64) -> NDArray[Any]:
    """Return a copy of some whole numbers in one dimension; nobody else holds it.

    >>> whole_numbers("counts", [0.5])
    Traceback (most recent call last):
    overcoat.errors.DataError: counts must be whole numbers, not float64
    """
    given = np.asarray(values)
    if given.ndim != 1:
        raise DataError(f"{name} must have one dimension, not {given.ndim}")
    if given.dtype.kind not in "iu" and len(given):
        raise DataError(f"{name} must be whole numbers, not {given.dtype}")
    limits = np.iinfo(dtype)
    for value in (given.min(), given.max()) if len(given) else ():
        if not limits.min <= int(value) <= limits.max:
            raise DataError(f"{name} must fit in {limits.bits} bits, which {value} does not")
    return given.astype(dtype)  # always a copy


def check_rows(offsets: NDArray[Any], n_codes: int) -> None:
    """Raise unless these are the bounds of rows within so many codes."""
    if not len(offsets):
        raise DataError("offsets must have one entry more than there are rows; they are empty")
    if (np.diff(offsets) < 0).any():
        row = int(np.argmax(np.diff(offsets) < 0))
        raise DataError(f"offsets must not fall; row {row} ends before it starts")
    if offsets[0] < 0 or offsets[-1] > n_codes:
        raise DataError(
            f"offsets reach from {offsets[0]} to {offsets[-1]}, beyond the {n_codes} codes"
        )


def check_codes(codes: NDArray[Any], n_items: int) -> None:
    """Raise unless each code is that of an item."""
    if len(codes) and (codes.min() < 0 or codes.max() >= n_items):
        wrong = int(codes.min()) if codes.min() < 0 else int(codes.max())
        raise DataError(f"code {wrong} is that of no item; there are {n_items}")


def check_counts(counts: NDArray[np.int64], n_rows: int) -> None:
    """Raise unless these say how often each row occurs."""
    if len(counts) != n_rows:
        raise DataError(f"{len(counts)} counts for {n_rows} rows")
    if len(counts) and counts.min() < 1:
        row = int(np.argmin(counts))
        raise DataError(f"counts must be at least 1; that of row {row} is {counts[row]}")
    check_people(total(counts))


def check_people(n: int) -> None:
    """Raise unless so many transactions can be added up."""
    if n >= MOST_PEOPLE:
        raise DataError("the counts add up to more than any number of people")


def total(counts: NDArray[np.int64]) -> int:
    """Return the sum of some counts, exactly, also where 64 bits do not hold it.

    >>> total(np.array([1 << 62, 1 << 62]))
    9223372036854775808
    """
    return (int((counts >> 32).sum()) << 32) + int((counts & 0xFFFFFFFF).sum())


def checked_arrays(
    vocabulary: Any, offsets: Any, codes: Any, counts: Any, positions: Any = None
) -> Arrays:
    """Return copies of arrays that are canonical, or raise a DataError that says what is not.

    >>> checked_arrays(Vocabulary("ab"), [0, 1, 2], [1, 0], [1, 1])
    Traceback (most recent call last):
    overcoat.errors.DataError: rows must be in lexicographic order, each once; row 1 is not after \
row 0
    """
    if not isinstance(vocabulary, Vocabulary):
        raise DataError(f"the vocabulary must be a Vocabulary, not {type(vocabulary).__name__}")
    codes = whole_numbers("codes", codes, np.int32)
    offsets, counts = whole_numbers("offsets", offsets), whole_numbers("counts", counts)
    check_rows(offsets, len(codes))
    if offsets[0] != 0 or offsets[-1] != len(codes):
        raise DataError(
            f"offsets must reach from 0 to {len(codes)}, the number of codes; they reach from "
            f"{offsets[0]} to {offsets[-1]}"
        )
    check_number(len(offsets) - 1, "distinct rows")
    check_counts(counts, len(offsets) - 1)
    _check_items(codes, vocabulary)
    row = first_unsorted(offsets, codes)
    if row >= 0:
        inside = codes[offsets[row] : offsets[row + 1]]
        if (np.diff(inside) <= 0).any():
            raise DataError(f"the codes of each row must ascend; those of row {row} do not")
        raise DataError(
            f"rows must be in lexicographic order, each once; row {row} is not after row {row - 1}"
        )
    if positions is not None:
        positions = whole_numbers("positions", positions)
        _check_positions(positions, counts)
    return offsets, codes, counts, positions


def _check_items(codes: NDArray[np.int32], vocabulary: Vocabulary) -> None:
    check_codes(codes, len(vocabulary))
    occurs = np.zeros(len(vocabulary), bool)
    occurs[codes] = True
    if not occurs.all():
        missing = vocabulary[int(np.argmin(occurs))]
        raise DataError(
            f"the vocabulary must be exactly what occurs; item {missing!r} is in no row"
        )


def _check_positions(positions: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
    in_range = not len(positions) or (positions.min() >= 0 and positions.max() < len(counts))
    if not in_range or not np.array_equal(np.bincount(positions, minlength=len(counts)), counts):
        raise DataError("positions must hold each row as often as it counts")


def digest_of(
    vocabulary: Vocabulary,
    offsets: NDArray[np.int64],
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
) -> str:
    """Return the SHA-256 of canonical rows and their labels, the same on every machine.

    Over their numbers (items, rows, occurrences), then each label in UTF-8 after its length, then
    offsets, codes and counts; codes take four bytes, other numbers eight, the least byte first.
    """
    sha256 = hashlib.sha256()
    labels = [label.encode("utf-8") for label in vocabulary]
    sha256.update(np.array([len(labels), len(counts), len(codes)], "<i8").tobytes())
    for label in labels:
        sha256.update(len(label).to_bytes(8, "little"))
        sha256.update(label)
    for values, kind in ((offsets, "<i8"), (codes, "<i4"), (counts, "<i8")):
        sha256.update(np.ascontiguousarray(values, kind).data)
    return sha256.hexdigest()
