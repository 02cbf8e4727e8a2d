"""Privacy: the families of itemsets that must match at least k people or nobody.

A policy is a union of families. None is expanded when that would not fit in memory: all pairs over
3,340 items are 5.6 million constraints, all triples 6.2 billion, and a family of them is two
numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overcoat.data.transactions import Transactions
from overcoat.errors import PolicyError
from overcoat.policy.pgen import maximal_infrequent
from overcoat.policy.sets import Domain, ItemSet, Lint, Sets

__all__ = [
    "AllItemsets",
    "BoundAllItemsets",
    "BoundItemsets",
    "BoundPgen",
    "Family",
    "Itemsets",
    "Pgen",
]


@dataclass(frozen=True, eq=False)
class BoundItemsets:
    """Explicit itemsets over the codes of one domain, in policy order.

    Attributes
    ----------
    offsets, codes : itemset i is ``codes[offsets[i]:offsets[i + 1]]``, ascending
    title : what the family is called in reports
    """

    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]
    title: str

    @property
    def n_constraints(self) -> int:
        """How many itemsets the family has."""
        return len(self.offsets) - 1

    def itemset(self, index: int) -> NDArray[np.int32]:
        """Return the codes of itemset `index`."""
        return self.codes[self.offsets[index] : self.offsets[index + 1]]


class BoundPgen(BoundItemsets):
    """The maximal infrequent itemsets of the data, for the k they were computed with."""


@dataclass(frozen=True, eq=False)
class BoundAllItemsets:
    """All itemsets of m linkable items, over the codes of one domain.

    Attributes
    ----------
    m : size of the itemsets, at most the number of linkable items
    linkable : bool, (M,); which items an attacker may know
    title : what the family is called in reports
    longest : size of the largest transaction; nobody holds a larger set
    """

    m: int
    linkable: NDArray[np.bool_]
    title: str
    longest: int

    @property
    def n_constraints(self) -> int:
        """How many itemsets the family has."""
        return comb(int(self.linkable.sum()), self.m) if self.m else 0

    @property
    def largest(self) -> int:
        """Size of the largest sets that need to be looked at."""
        return min(self.m, self.longest)

    @property
    def whole_domain(self) -> bool:
        """Whether every item is linkable: k^m-anonymity."""
        return bool(self.linkable.all())


BoundFamily = BoundItemsets | BoundAllItemsets

# Beyond these, all m-itemsets of the longest transactions are too many to be looked at.
_LARGE_M = 6
_LONG = 20


class Family:
    """A family of itemsets to protect; ``a | b`` is the union of two."""

    def bind(self, data: Transactions, domain: Domain, k: int, lint: Lint) -> BoundFamily:
        """Return the family over the codes of `data`, recording problems in `lint`."""
        raise TypeError(f"{type(self).__name__} cannot be bound")

    def __or__(self, other: Family | tuple[Family, ...]) -> tuple[Family, ...]:
        return (self, *(other if isinstance(other, tuple) else (other,)))

    def __ror__(self, other: tuple[Family, ...]) -> tuple[Family, ...]:
        return (*other, self)


class Itemsets(Family):
    """Explicit itemsets.

    Parameters
    ----------
    sets : iterable of sets of items, or a mapping from names to them

    >>> Itemsets([{"a", "b", "c"}]) | AllItemsets(2)
    (Itemsets(1 set), AllItemsets(2))
    """

    def __init__(self, sets: Any) -> None:
        self.sets = Sets.of(sets)

    @classmethod
    def read(cls, path: str | Path, *, sep: str | None = "") -> Itemsets:
        """Read a constraint file; see `Sets.read`."""
        return cls(Sets.read(path, sep=sep))

    def bind(self, data: Transactions, domain: Domain, k: int, lint: Lint) -> BoundItemsets:
        """Return the itemsets over codes; repeated ones are told and kept once."""
        bound: dict[tuple[int, ...], ItemSet] = {}
        for entry in self.sets.resolve(domain, lint):
            codes = tuple(domain.vocabulary.code(item) for item in entry.items)
            if len(codes) > domain.longest:
                lint.note(
                    f"the set has {len(codes)} items, the largest transaction {domain.longest}: "
                    "nobody matches it whole, its parts are protected",
                    entry,
                )
            if codes in bound:
                first = bound[codes]
                where = f" (line {first.line})" if first.line is not None else ""
                lint.note(f"the set was given before{where}", entry)
            elif codes:
                bound[codes] = entry
        title = f"itemsets of {self.sets.file}" if self.sets.file else "explicit itemsets"
        ends = np.cumsum([0, *map(len, bound)], dtype=np.int64)
        flat = np.array([code for itemset in bound for code in itemset], np.int32)
        return BoundItemsets(ends, flat, title)

    def __repr__(self) -> str:
        return f"Itemsets({len(self.sets)} set{'s' * (len(self.sets) != 1)})"


class AllItemsets(Family):
    """All itemsets of `m` items, over the whole domain (k^m-anonymity) or over linkable items.

    Protecting them protects all smaller ones too. When there are fewer than m linkable items, the
    set of all of them is the one constraint.

    Parameters
    ----------
    m : how many items an attacker may know
    linkable : the items an attacker may know; None for all
    """

    def __init__(self, m: int, linkable: Any = None) -> None:
        if isinstance(m, bool) or not isinstance(m, int) or m < 1:
            raise PolicyError(f"m must be a whole number of at least 1, not {m!r}")
        self.m = m
        if linkable is not None and not isinstance(linkable, Sets):
            if isinstance(linkable, (str, bytes)) or not isinstance(linkable, Iterable):
                raise PolicyError(f"{linkable!r} is not a list of linkable items")
            linkable = Sets.of([list(linkable)])
        self.linkable: Sets | None = linkable

    def bind(self, data: Transactions, domain: Domain, k: int, lint: Lint) -> BoundAllItemsets:
        """Return the family over codes."""
        title = f"all {self.m}-itemsets"
        linkable = np.ones(data.n_items, bool)
        if self.linkable is not None:
            linkable[:] = False
            for entry in self.linkable.resolve(domain, lint):
                linkable[[domain.vocabulary.code(item) for item in entry.items]] = True
            title += f" over {int(linkable.sum())} linkable items"
        if self.m > _LARGE_M and domain.longest > _LONG:
            lint.note(
                f"m = {self.m} may take very long with transactions of {domain.longest} items; "
                "Pgen protects every part of every transaction, and is fast"
            )
        return BoundAllItemsets(min(self.m, int(linkable.sum())), linkable, title, domain.longest)

    def __repr__(self) -> str:
        return f"AllItemsets({self.m}{', linkable=…' if self.linkable else ''})"


class Pgen(Family):
    """Everything: no part of any transaction may identify anyone.

    Its itemsets are the maximal infrequent ones of the data.
    """

    def bind(self, data: Transactions, domain: Domain, k: int, lint: Lint) -> BoundItemsets:
        """Compute the itemsets for this data and this k."""
        rows = maximal_infrequent(data, k)
        parts = [data.row(row) for row in rows]
        return BoundPgen(
            np.concatenate([[0], np.cumsum(data.lengths[rows])]),
            np.concatenate([np.empty(0, np.int32), *parts]),
            "every part of every transaction (Pgen)",
        )

    def __repr__(self) -> str:
        return "Pgen()"
