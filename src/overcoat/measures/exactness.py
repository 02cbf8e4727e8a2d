"""How exactly a release tells what people have: as it is, as one of several, or not at all.

There are two ways to count. `exactness_of` counts what people have in the *original*: every item of
every person, and what became of it. `published_exactness` counts what the *release* shows: every
label of every row. It needs published things only, so it may be told outside; it knows nothing of
suppressed items, and several items of a person in one group are one label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from overcoat.data.transactions import Transactions
from overcoat.errors import MappingError
from overcoat.mapping import Mapping
from overcoat.words import listed

__all__ = ["Exactness", "count_blank", "exactness_of", "published_exactness"]

_MOST_SCALE = 10**6


@dataclass(frozen=True, slots=True)
class Exactness:
    """Of all occurrences (an item of a person), how many are told how exactly.

    Attributes
    ----------
    of : what was counted: the items of people in the ``original``, or the labels of rows in the
        ``release``
    exact : told as they are
    grouped : told as one of several
    suppressed : not told at all; None where only the release is known
    smallest, largest : the sizes of the groups that tell them; 0 where there are none
    median : half of those in groups are in groups of this size or smaller
    """

    of: Literal["original", "release"]
    exact: int
    grouped: int
    suppressed: int | None
    smallest: int
    median: int
    largest: int

    @property
    def total(self) -> int:
        """All occurrences."""
        return self.exact + self.grouped + (self.suppressed or 0)

    def to_json(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return {
            "of": self.of,
            "exact": self.exact,
            "grouped": self.grouped,
            "suppressed": self.suppressed,
            "smallest_group": self.smallest,
            "median_group": self.median,
            "largest_group": self.largest,
        }

    def __str__(self) -> str:
        """Render in words, of a hundred, or of more where a hundred would hide somebody.

        >>> print(Exactness("original", 340, 660, 0, 2, 7, 40))
        of 100 items that people have, 34 are told exactly, 66 are told as one of 2 to 40 (half \
of these as one of at most 7)
        >>> print(Exactness("original", 3, 0, 1, 0, 0, 0))
        of 4 items that people have, 3 are told exactly, 1 is not told at all
        """
        if not self.total:
            return "there is nothing to tell"
        noun = "items that people have" if self.of == "original" else "labels in the release"
        shares = _shares((self.exact, self.grouped, self.suppressed or 0))
        fates = ("told exactly", f"told {self._sizes()}", "not told at all")
        parts = [
            f"{share:,} {'is' if share == 1 else 'are'} {fate}"
            for share, fate in zip(shares, fates, strict=True)
            if share
        ]
        if len(parts) == 1:
            return f"all {self.total:,} {noun} {parts[0].split(' ', 1)[1]}"
        return f"of {sum(shares):,} {noun}, {', '.join(parts)}"

    def _sizes(self) -> str:
        if self.smallest == self.largest:
            return f"as one of {self.largest}"
        told = f"as one of {self.smallest:,} to {self.largest:,}"
        if self.median == self.largest:
            return told
        return f"{told} (half of these as one of at most {self.median:,})"


def count_blank(rows: Transactions) -> int:
    """Return how many people have nothing in their row.

    >>> count_blank(Transactions.of([{"a"}, set(), {"a", "b"}]))
    1
    """
    return int(rows.counts[rows.lengths == 0].sum())


def _shares(numbers: tuple[int, ...]) -> list[int]:
    """Return numbers as shares of 100, or of as many more as it takes to see each of them.

    They are rounded so that they add up.

    >>> _shares((1, 2, 0)), _shares((664, 335, 1)), _shares((335, 335, 330))
    ([1, 2, 0], [664, 335, 1], [34, 33, 33])
    """
    total = sum(numbers)
    scale = 100
    while scale < total:
        shares = _rounded(numbers, total, scale)
        if all(share or not number for share, number in zip(shares, numbers, strict=True)):
            return shares
        if scale >= _MOST_SCALE:
            break
        scale *= 10
    return list(numbers)


def _rounded(numbers: tuple[int, ...], total: int, scale: int) -> list[int]:
    shares = [number * scale // total for number in numbers]
    left = [number * scale % total for number in numbers]
    for place in sorted(range(len(numbers)), key=lambda one: -left[one])[: scale - sum(shares)]:
        shares[place] += 1
    return shares


def exactness_of(data: Transactions, mapping: Mapping) -> Exactness:
    """Count what becomes of the items that people have; only for those who hold the original.

    >>> data = Transactions.of([{"a", "b"}, {"a"}, {"c"}, {"d"}])
    >>> print(exactness_of(data, Mapping.of("abcd", [["a", "b"], ["c"]])))
    of 5 items that people have, 1 is told exactly, 3 are told as one of 2, 1 is not told at all
    """
    return _counted("original", mapping.partition_of(data).size_of, data.supports)


def published_exactness(released: Transactions, mapping: Mapping) -> Exactness:
    """Count how exact the labels of a release are; from published things alone.

    >>> mapping = Mapping.of("abcd", [["a", "b"], ["c"]])
    >>> released = Transactions.of([{"(a|b)"}, {"(a|b)"}, {"c"}])
    >>> print(published_exactness(released, mapping))
    of 3 labels in the release, 1 is told exactly, 2 are told as one of 2
    """
    groups = mapping.groups
    if strange := [label for label in released.vocabulary if label not in groups]:
        raise MappingError(f"the mapping does not know {listed(strange)} of the release")
    sizes = np.array([len(groups[label]) for label in released.vocabulary], np.int64)
    return _counted("release", sizes, released.supports)


def _counted(
    of: Literal["original", "release"],
    sizes: NDArray[np.int64],
    occurrences: NDArray[np.int64],
) -> Exactness:
    merged = sizes > 1
    by_size = np.zeros(int(sizes.max(initial=0)) + 1, np.int64)
    np.add.at(by_size, sizes[merged], occurrences[merged])
    grouped = int(by_size.sum())
    found = np.flatnonzero(by_size)
    smallest, median, largest = 0, 0, 0
    if grouped:
        smallest, largest = int(found[0]), int(found[-1])
        median = int(np.searchsorted(2 * np.cumsum(by_size), grouped))
    gone = None if of == "release" else int(occurrences[sizes == 0].sum())
    return Exactness(
        of, int(occurrences[sizes == 1].sum()), grouped, gone, smallest, median, largest
    )
