"""Utility: which items may be merged with which."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from overcoat.checks import check_choice
from overcoat.errors import PolicyError
from overcoat.policy.binding import Domain, ItemSet, Lint
from overcoat.policy.hierarchy import AnyHierarchy, take_hierarchy
from overcoat.policy.levels import Nodes
from overcoat.policy.sets import Sets

__all__ = ["BoundUtility", "NamedBlock", "Rest", "Utility"]

Rest = Literal["together", "intact"]


@dataclass(frozen=True, slots=True)
class NamedBlock:
    """A block the user wrote down; `named` if its name is the user's own."""

    name: str
    codes: tuple[int, ...]
    named: bool = True


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
    sets : iterable of disjoint sets of items; a mapping from names to them, or from each item to
        the name of its set
    rest : ``together``, the items left over are one more block (the paper's recipe); ``intact``,
        each stays an untouched singleton

    >>> Utility({"diabetes": ["250.00", "250.02"]}, rest="intact")
    Utility(1 set, rest='intact')
    """

    sets: Sets | Nodes
    rest: Rest

    def __init__(self, sets: Any = (), *, rest: Rest = "together") -> None:
        object.__setattr__(self, "rest", check_choice("rest", rest, get_args(Rest)))
        object.__setattr__(self, "sets", sets if isinstance(sets, Nodes) else Sets.of(sets))

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
        """Read a constraint file, or a table of items and their sets.

        Parameters
        ----------
        path : one set a line; or two columns, an item and the name of its set, in either order,
            with a header or without; or three as in files of the CCS: a number, the name of a set,
            its items. ``.json``: a list of lists, name -> items, or item -> name
        rest : what becomes of the items in no set
        sep : what splits items or columns; None is white space; "" takes that of the data
        """
        return cls(Sets.read(path, sep=sep), rest=rest)

    @classmethod
    def omop(
        cls,
        source: Any,
        ancestors: Iterable[int],
        *,
        domain: str | None = None,
        rest: Rest = "together",
        ignore_unknown: bool = False,
    ) -> Utility:
        """Take what lies below some concepts of an OMOP model, a set each, called like the concept.

        Parameters
        ----------
        source, domain : see `Hierarchy.omop`
        ancestors : concept ids; nothing may lie below two of them
        rest : see above
        ignore_unknown : leave out ancestors below which nobody has anything
        """
        from overcoat.data.io.omop.concepts import concept_sets

        sets = concept_sets(source, list(ancestors), domain, ignore_unknown=ignore_unknown)
        return cls(sets, rest=rest)

    @classmethod
    def level(
        cls, hierarchy: AnyHierarchy | str | Path, level: int | str, *, rest: Rest = "together"
    ) -> Utility:
        """Take the nodes of a hierarchy at one level for sets.

        Parameters
        ----------
        hierarchy : a `Hierarchy`, a file, or ``balanced:FANOUT``
        level : how many steps below the root; or a name, either what stands before the colon in the
            names of a level's nodes (``S`` of ``S:Skin``), or that of one of its nodes
        rest : what becomes of items in no set; here there are none

        >>> from overcoat.policy.hierarchy import Hierarchy
        >>> tree = Hierarchy.of([("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*")])
        >>> Utility.level(tree, 1)
        Utility(2 sets, rest='together')
        """
        taken = take_hierarchy(hierarchy)
        if taken is None:
            raise PolicyError("a level needs a hierarchy")
        return cls(Nodes(taken, level), rest=rest)

    def settled(self, domain: Domain) -> Utility:
        """Return the utility with its files read as `bind` reads them, whatever data come later."""
        sets = self.sets
        read = (
            sets.settled(domain) if isinstance(sets, Nodes) else sets.settled(domain, tables=True)
        )
        return Utility(read, rest=self.rest)

    def _resolve(self, domain: Domain, lint: Lint) -> list[ItemSet]:
        if isinstance(self.sets, Nodes):
            return self.sets.resolve(domain, lint)
        return self.sets.resolve(domain, lint, tables=True)

    def bind(self, domain: Domain, lint: Lint) -> BoundUtility:
        """Return the partition of the domain, recording overlaps and the like in `lint`."""
        owner: dict[str, ItemSet] = {}
        names: dict[str, ItemSet] = {}
        named: list[NamedBlock] = []
        block_of = np.full(len(domain.vocabulary), -1, np.int32)
        for entry in self._resolve(domain, lint):
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
                named.append(NamedBlock(entry.name or str(entry), codes, bool(entry.name)))
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
        sets = content["sets"]
        is_level = isinstance(sets, dict) and "level" in sets
        read = Nodes.from_json(sets) if is_level else Sets.from_json(sets)
        return cls(read, rest=content["rest"])

    def __repr__(self) -> str:
        n = len(self.sets)
        return f"Utility({n} set{'s' * (n != 1)}, rest={self.rest!r})"


def _called(entry: ItemSet) -> str:
    called = f"set {entry.name!r}" if entry.name else "another set"
    return called + (f" (line {entry.line})" if entry.line is not None else "")
