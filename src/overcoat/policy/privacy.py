"""Privacy: the families of itemsets that must match at least k people or nobody.

A policy is a union of families. None is expanded when that would not fit in memory: all pairs over
3,340 items are 5.6 million constraints, all triples 6.2 billion, and a family of them is two
numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overcoat.checks import check_count, check_percent
from overcoat.errors import PolicyError, Problem
from overcoat.policy.binding import Domain, ItemSet, Lint
from overcoat.policy.pgen import maximal_infrequent
from overcoat.policy.sets import Sets

__all__ = [
    "AllItemsets",
    "BoundAllItemsets",
    "BoundCoherence",
    "BoundFamily",
    "BoundItemsets",
    "BoundPgen",
    "Coherence",
    "Families",
    "Family",
    "Itemsets",
    "Pgen",
    "family_from_json",
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


@dataclass(frozen=True, eq=False)
class BoundPgen(BoundItemsets):
    """The maximal infrequent itemsets of the data, for the k they were computed with.

    Attributes
    ----------
    supports : of each in the data
    """

    supports: NDArray[np.int64]


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


@dataclass(frozen=True, eq=False)
class BoundCoherence(BoundAllItemsets):
    """All itemsets of m public items, and what those who match one may have in common.

    Attributes
    ----------
    private : bool, (M,); the items nobody may be found to have. The linkable ones are the public
    h : of the transactions with a set of public items, at most so many percent may hold one and the
        same private item
    """

    private: NDArray[np.bool_]
    h: Fraction

    @property
    def limits_private(self) -> bool:
        """Whether h asks for anything; if not, these are all m-itemsets of the public items."""
        return self.h < _ALL and bool(self.private.any())


BoundFamily = BoundItemsets | BoundAllItemsets

_ALL = 100  # percent

# Beyond these, all m-itemsets of the longest transactions are too many to be looked at.
_LARGE_M = 6
_LONG = 20


class Family:
    """A family of itemsets to protect; ``a | b`` is the union of two. A frozen value."""

    def bind(self, domain: Domain, k: int, lint: Lint) -> BoundFamily:
        """Return the family over the codes of a domain, recording problems in `lint`."""
        raise TypeError(f"{type(self).__name__} cannot be bound")

    def settled(self, domain: Domain) -> Family:
        """Return the family with the lines of its files read; see `Sets.settled`."""
        return self

    def to_json(self) -> dict[str, Any]:
        """Return the family as plain values."""
        raise PolicyError(f"{type(self).__name__} cannot be written down")

    def __or__(self, other: Family | Iterable[Family]) -> Families:
        return Families((self,)) | other

    def __ror__(self, other: Iterable[Family]) -> Families:
        return Families(other) | self


class Families(tuple[Family, ...]):
    """A union of families, in the order of the policy.

    >>> (AllItemsets(2) | Pgen()) | (AllItemsets(3) | Pgen())
    (AllItemsets(2), Pgen(), AllItemsets(3), Pgen())
    """

    __slots__ = ()

    @classmethod
    def of(cls, families: Family | Iterable[Family]) -> Families:
        """Take one family, or several; what is none is found when the policy is bound."""
        if isinstance(families, (Family, str, bytes)) or not isinstance(families, Iterable):
            families = (families,)
        return cls(families)

    def __or__(self, other: Family | Iterable[Family]) -> Families:
        return Families((*self, *Families.of(other)))

    def __ror__(self, other: Family | Iterable[Family]) -> Families:
        return Families((*Families.of(other), *self))


@dataclass(frozen=True, init=False, repr=False)
class Itemsets(Family):
    """Explicit itemsets.

    Parameters
    ----------
    sets : iterable of sets of items, or a mapping from names to them

    >>> Itemsets([{"a", "b", "c"}]) | AllItemsets(2)
    (Itemsets(1 set), AllItemsets(2))
    """

    sets: Sets

    def __init__(self, sets: Any) -> None:
        object.__setattr__(self, "sets", Sets.of(sets))

    @classmethod
    def read(cls, path: str | Path, *, sep: str | None = "") -> Itemsets:
        """Read a constraint file; see `Sets.read`."""
        return cls(Sets.read(path, sep=sep))

    def bind(self, domain: Domain, k: int, lint: Lint) -> BoundItemsets:
        """Return the itemsets over codes; repeated ones are told and kept once."""
        bound: dict[tuple[int, ...], ItemSet] = {}
        for entry in self.sets.resolve(domain, lint):
            codes = tuple(domain.vocabulary.code(item) for item in entry.items)
            if len(codes) > domain.longest:
                lint.note(
                    f"the set has {len(codes)} items, the largest transaction {domain.longest}: "
                    "nobody matches it whole, its parts are protected",
                    entry,
                    many=f"sets have more items than the largest transaction ({domain.longest}): "
                    "nobody matches them whole, their parts are protected",
                )
            if codes in bound:
                first = bound[codes]
                where = f" (line {first.line})" if first.line is not None else ""
                lint.note(f"the set was given before{where}", entry, many="sets were given before")
            elif codes:
                bound[codes] = entry
        title = f"itemsets of {self.sets.file}" if self.sets.file else "explicit itemsets"
        ends = np.cumsum([0, *map(len, bound)], dtype=np.int64)
        flat = np.array([code for itemset in bound for code in itemset], np.int32)
        return BoundItemsets(ends, flat, title)

    def settled(self, domain: Domain) -> Itemsets:
        """Return the family with the lines of its files read."""
        return Itemsets(self.sets.settled(domain))

    def to_json(self) -> dict[str, Any]:
        """Return the family as plain values."""
        return {"family": "itemsets", "sets": self.sets.to_json()}

    def __repr__(self) -> str:
        return f"Itemsets({len(self.sets)} set{'s' * (len(self.sets) != 1)})"


@dataclass(frozen=True, init=False, repr=False)
class AllItemsets(Family):
    """All itemsets of `m` items, over the whole domain (k^m-anonymity) or over linkable items.

    Protecting them protects all smaller ones too. When there are fewer than m linkable items, the
    set of all of them is the one constraint.

    Parameters
    ----------
    m : how many items an attacker may know
    linkable : the items an attacker may know; None for all
    """

    m: int
    linkable: Sets | None

    def __init__(self, m: int, linkable: Any = None) -> None:
        object.__setattr__(self, "m", check_count("m", m))
        object.__setattr__(self, "linkable", _items(linkable, "linkable"))

    def bind(self, domain: Domain, k: int, lint: Lint) -> BoundAllItemsets:
        """Return the family over codes."""
        title = f"all {self.m}-itemsets"
        linkable = np.ones(len(domain.vocabulary), bool)
        if self.linkable is not None:
            linkable = _mask(self.linkable.resolve(domain, lint), domain)
            title += f" over {int(linkable.sum())} linkable items"
        _note_large(self.m, domain, lint)
        return BoundAllItemsets(min(self.m, int(linkable.sum())), linkable, title, domain.longest)

    def settled(self, domain: Domain) -> AllItemsets:
        """Return the family with the lines of its files read."""
        return AllItemsets(self.m, _settled(self.linkable, domain))

    def to_json(self) -> dict[str, Any]:
        """Return the family as plain values."""
        return {"family": "all itemsets", "m": self.m, "linkable": _json(self.linkable)}

    def __repr__(self) -> str:
        return f"AllItemsets({self.m}{', linkable=…' if self.linkable else ''})"


@dataclass(frozen=True, init=False, repr=False)
class Coherence(Family):
    """(h,k,p)-coherence: who knows up to `p` public items finds neither a person nor a secret.

    Every set of at most p public items matches nobody, or at least k people of whom at most `h`
    percent have one and the same private item. With h = 100 private items are merely items that no
    attacker knows.

    Parameters
    ----------
    p : how many public items an attacker may know
    private : the items nobody may be found to have; all others are public
    h : percent, exactly as written: 33.3 means 333/1000
    linkable : the public items, where these are not all that are not private

    >>> Coherence(2, private=["hiv"], h=50)
    Coherence(2, private=…, h=50)
    """

    p: int
    private: Sets | None
    h: Fraction
    linkable: Sets | None

    def __init__(self, p: int, private: Any = None, h: Any = _ALL, linkable: Any = None) -> None:
        wrong: list[Problem] = []

        def attempt(name: str, check: Callable[[], Any]) -> None:
            try:
                object.__setattr__(self, name, check())
            except PolicyError as error:
                wrong.extend(error.problems)

        attempt("p", lambda: check_count("p", p))
        attempt("h", lambda: check_percent("h", h))
        attempt("private", lambda: _items(private, "private"))
        attempt("linkable", lambda: _items(linkable, "linkable"))
        if not wrong and self.h < _ALL and private is None:
            wrong.append(Problem(f"h = {h} needs private items: of what may people not have much?"))
        if wrong:
            raise PolicyError(wrong)

    def bind(self, domain: Domain, k: int, lint: Lint) -> BoundCoherence:
        """Return the family over codes."""
        secret = self.private.resolve(domain, lint) if self.private else []
        private = _mask(secret, domain)
        public = ~private
        if self.linkable is not None:
            public = _mask(self.linkable.resolve(domain, lint), domain)
        for entry in secret:
            for item in entry.items:
                if public[domain.vocabulary.code(item)]:
                    lint.error(
                        *(f"item {item!r} is private and cannot be linkable too", entry),
                        many="items are private and cannot be linkable too",
                        what=repr(item),
                    )
        title = f"all {self.p}-itemsets over {int(public.sum())} public items"
        if self.h < _ALL:
            title += f", at most {_decimal(self.h)} % sharing a private item"
            if not private.any():
                lint.note("no private item occurs in the data: h asks for nothing")
        _note_large(self.p, domain, lint)
        n_public = int(public.sum())
        return BoundCoherence(min(self.p, n_public), public, title, domain.longest, private, self.h)

    def settled(self, domain: Domain) -> Coherence:
        """Return the family with the lines of its files read."""
        private, linkable = _settled(self.private, domain), _settled(self.linkable, domain)
        return Coherence(self.p, private, self.h, linkable)

    def to_json(self) -> dict[str, Any]:
        """Return the family as plain values."""
        sets = {"private": _json(self.private), "linkable": _json(self.linkable)}
        return {"family": "coherence", "p": self.p, "h": str(self.h), **sets}

    def __repr__(self) -> str:
        said = [str(self.p)] + ["private=…"] * (self.private is not None)
        said += [f"h={_decimal(self.h)}"] * (self.h < _ALL)
        return f"Coherence({', '.join(said + ['linkable=…'] * (self.linkable is not None))})"


def _items(items: Any, called: str) -> Sets | None:
    """Take a list of items, as one set."""
    if items is None or isinstance(items, Sets):
        return items
    if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
        raise PolicyError(f"{items!r} is not a list of {called} items")
    return Sets.of([list(items)])


def _settled(sets: Sets | None, domain: Domain) -> Sets | None:
    return None if sets is None else sets.settled(domain)


def _json(sets: Sets | None) -> Any:
    return None if sets is None else sets.to_json()


def _mask(entries: Iterable[ItemSet], domain: Domain) -> NDArray[np.bool_]:
    """Return which items of the domain stand in any of the sets; (M,)."""
    mask = np.zeros(len(domain.vocabulary), bool)
    for entry in entries:
        mask[[domain.vocabulary.code(item) for item in entry.items]] = True
    return mask


def _note_large(m: int, domain: Domain, lint: Lint) -> None:
    if m > _LARGE_M and domain.longest > _LONG:
        lint.note(
            f"m = {m} may take very long with transactions of {domain.longest} items; "
            "Pgen protects every part of every transaction, and is fast"
        )


def _decimal(number: Fraction) -> str:
    """Return a percentage as people write it."""
    return str(number) if number.denominator == 1 else f"{float(number):g}"


@dataclass(frozen=True, repr=False)
class Pgen(Family):
    """Everything: no part of any transaction may identify anyone.

    Its itemsets are the maximal infrequent ones of the data.
    """

    def bind(self, domain: Domain, k: int, lint: Lint) -> BoundItemsets:
        """Compute the itemsets for the data and this k.

        Without the data there are none to tell; verification needs the released rows only.
        """
        ends, codes, supports = np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.int64)
        if (data := domain.data) is not None:
            rows = maximal_infrequent(data, k, stage=domain.stage)
            supports = data.counts[rows]  # no other row contains them
            ends = np.concatenate([ends, np.cumsum(data.lengths[rows])])
            kept = np.zeros(data.n_distinct, bool)
            kept[rows] = True
            codes = data.codes[np.repeat(kept, data.lengths)]
        return BoundPgen(ends, codes, "every part of every transaction (Pgen)", supports)

    def to_json(self) -> dict[str, Any]:
        """Return the family as plain values."""
        return {"family": "pgen"}

    def __repr__(self) -> str:
        return "Pgen()"


def family_from_json(content: Any) -> Family:
    """Build a family from what its `to_json` returned."""

    def items(sets: Any) -> Sets | None:
        return None if sets is None else Sets.from_json(sets)

    match content:
        case {"family": "itemsets", "sets": sets}:
            return Itemsets(Sets.from_json(sets))
        case {"family": "all itemsets", "m": m, "linkable": linkable}:
            return AllItemsets(m, items(linkable))
        case {"family": "coherence", "p": p, "h": h, "private": private, "linkable": linkable}:
            return Coherence(p, items(private), Fraction(h), items(linkable))
        case {"family": "pgen"}:
            return Pgen()
    raise PolicyError(f"{content!r} does not say what family it is")
