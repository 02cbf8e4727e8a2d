"""Utility: which items may be merged with which."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from overcoat.checks import check_choice
from overcoat.policy.binding import Domain, ItemSet, Lint
from overcoat.policy.sets import Sets

__all__ = ["BoundUtility", "NamedBlock", "Rest", "Utility"]

Rest = Literal["together", "intact"]


@dataclass(frozen=True, slots=True)
class NamedBlock:
    """A block the user wrote down."""

    name: str
    codes: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class BoundUtility:
    """A partition of one domain.

    Attributes
    ----------
    block_of : int32, (M,); the block of each item
    named : the blocks the user wrote down; block b of `block_of` is ``named[b]`` while there is
        one, the rest follows
    rest : what becomes of the items in none of them
    """

    block_of: NDArray[np.int32]
    named: tuple[NamedBlock, ...]
    rest: Rest


@dataclass(frozen=True, init=False, repr=False)
class Utility:
    """The sets of items that may be merged, and what becomes of the rest.

    Parameters
    ----------
    sets : iterable of disjoint sets of items, or a mapping from names to them
    rest : ``together``, the items left over are one more block (the paper's recipe); ``intact``,
        each stays an untouched singleton

    >>> Utility({"diabetes": ["250.00", "250.02"]}, rest="intact")
    Utility(1 set, rest='intact')
    """

    sets: Sets
    rest: Rest

    def __init__(self, sets: Any = (), *, rest: Rest = "together") -> None:
        object.__setattr__(self, "rest", check_choice("rest", rest, get_args(Rest)))
        object.__setattr__(self, "sets", Sets.of(sets))

    @classmethod
    def of(cls, given: Any) -> Utility:
        """Take a utility, a file of one, sets of items, or nothing."""
        if isinstance(given, Utility):
            return given
        if isinstance(given, (str, Path)):
            return cls.read(given)
        return cls(() if given is None else given)

    @classmethod
    def read(cls, path: str | Path, *, rest: Rest = "together", sep: str | None = "") -> Utility:
        """Read a constraint file; see `Sets.read`."""
        return cls(Sets.read(path, sep=sep), rest=rest)

    def bind(self, domain: Domain, lint: Lint) -> BoundUtility:
        """Return the partition of the domain, recording overlaps and the like in `lint`."""
        owner: dict[str, ItemSet] = {}
        names: dict[str, ItemSet] = {}
        named: list[NamedBlock] = []
        block_of = np.full(len(domain.vocabulary), -1, np.int32)
        for entry in self.sets.resolve(domain, lint):
            for item in entry.items:
                other = owner.setdefault(item, entry)
                if other is not entry:
                    lint.error(
                        *(f"item {item!r} is in {_called(other)} already", entry),
                        many="items are in another set already",
                        what=repr(item),
                    )
            if entry.name is not None and names.setdefault(entry.name, entry) is not entry:
                lint.error(
                    *(f"the name {entry.name!r} was given before", entry),
                    many="names were given before",
                    what=repr(entry.name),
                )
            if entry.items:
                codes = tuple(domain.vocabulary.code(item) for item in entry.items)
                block_of[list(codes)] = len(named)
                named.append(NamedBlock(entry.name or str(entry), codes))
        left = block_of < 0
        block_of[left] = len(named)
        if self.rest == "intact":
            block_of[left] += np.arange(int(left.sum()), dtype=np.int32)
        return BoundUtility(block_of, tuple(named), self.rest)

    def to_json(self) -> dict[str, Any]:
        """Return the sets and the rest as plain values."""
        return {"sets": self.sets.to_json(), "rest": self.rest}

    @classmethod
    def from_json(cls, content: Any) -> Utility:
        """Build from what `to_json` returned."""
        return cls(Sets.from_json(content["sets"]), rest=content["rest"])

    def __repr__(self) -> str:
        n = len(self.sets)
        return f"Utility({n} set{'s' * (n != 1)}, rest={self.rest!r})"


def _called(entry: ItemSet) -> str:
    called = f"set {entry.name!r}" if entry.name else "another set"
    return called + (f" (line {entry.line})" if entry.line is not None else "")
