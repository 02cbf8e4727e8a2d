"""Hierarchies: trees over items, read from files of paths ``leaf;parent;…;root``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from overcoat.checks import check_count
from overcoat.data.io.delimited import Dialect
from overcoat.data.io.problems import Problems
from overcoat.data.io.text import read_text
from overcoat.data.vocabulary import Vocabulary, item_order
from overcoat.errors import DataError, PolicyError, Problem

__all__ = [
    "OMOP",
    "AnyHierarchy",
    "Balanced",
    "Hierarchy",
    "Tree",
    "hierarchy_from_json",
    "is_balanced",
    "is_no_file",
    "take_hierarchy",
]


@dataclass(frozen=True, eq=False)
class Tree:
    """A rooted tree over the items of a domain, as arrays.

    Nodes 0 … M-1 are the items themselves, by code; inner nodes follow; the root comes last.

    Attributes
    ----------
    parent : int32, (n_nodes,); the parent of each node, -1 for the root
    weight : int64, (n_nodes,); numerator of the weight of a group whose closest common
        ancestor is the node
    denominator : what the numerators are divided by
    names : names of the inner nodes, in the order of their numbers
    """

    parent: NDArray[np.int32]
    weight: NDArray[np.int64]
    denominator: int
    names: tuple[str, ...] = ()

    @classmethod
    def star(cls, n_items: int) -> Tree:
        """Return the tree that weighs every group with 1: all items right below the root."""
        parent = np.full(n_items + 1, n_items, np.int32)
        parent[-1] = -1
        return cls(parent, np.ones(n_items + 1, np.int64), 1, ("*",))


@dataclass(frozen=True, repr=False)
class Hierarchy:
    """A tree over items: each leaf with its ancestors, from its parent up to the root.

    Leaves and inner nodes have names of their own: a leaf ``042`` may stand below a node ``042``.

    >>> tree = Hierarchy.of([("a", "abc", "*"), ("b", "abc", "*"), ("d", "defgh", "*")])
    >>> tree.ancestors["a"]
    ('abc', '*')
    """

    ancestors: dict[str, tuple[str, ...]]
    file: str | None = field(default=None, compare=False)

    def __hash__(self) -> int:
        return hash(frozenset(self.ancestors))

    @classmethod
    def of(cls, paths: Iterable[Sequence[str]]) -> Hierarchy:
        """Build from paths, each from a leaf up to the root."""
        return cls._checked(((number, tuple(path)) for number, path in enumerate(paths, 1)), None)

    @classmethod
    def read(cls, path: str | Path) -> Hierarchy:
        """Read a file with one path a line, ``leaf;parent;…;root`` (``.gz`` too)."""
        text = read_text(path, error=PolicyError, quotes=True)
        records = Dialect(";", trim=True, keep_empty=True).records(text, 1, Problems(str(path)))
        try:
            paths = [(number, tuple(fields)) for number, fields in records if any(fields)]
        except DataError as error:
            raise PolicyError(error.problems) from None
        return cls._checked(paths, str(path))

    @classmethod
    def balanced(cls, items: Iterable[str], fanout: int = 5) -> Hierarchy:
        """Build a balanced hierarchy over `items` in item order.

        Runs of `fanout` neighbours share a parent, runs of `fanout` parents a grandparent, and
        so on up to one root.

        >>> Hierarchy.balanced(["1", "2", "3", "4", "5"], fanout=2).ancestors["5"]
        ('1.2', '2.1', '*')
        """
        check_count("the fan-out of a hierarchy", fanout, 2)
        ordered = item_order(items)
        ancestors: dict[str, tuple[str, ...]] = {}
        for start in range(0, len(ordered), fanout):
            path, number, width, level = [], start, len(ordered), 0
            while width > fanout:
                number, width, level = number // fanout, -(-width // fanout), level + 1
                path.append(f"{level}.{number}")
            ancestors |= dict.fromkeys(ordered[start : start + fanout], (*path, "*"))
        return cls(ancestors)

    @classmethod
    def omop(cls, source: Any, domain: str | None = None) -> Hierarchy:
        """Build from ``concept_ancestor`` of an OMOP model, over the concepts that anybody has.

        Of several parents of a concept, the one with the smallest concept id is taken: see
        docs/sources.md.

        Parameters
        ----------
        source : a database (its schema after a ``#``), a connection, or a folder of tables
        domain : condition (the default), drug, procedure, or several with commas between them
        """
        from overcoat.data.io.omop.concepts import concept_paths

        return cls.of(concept_paths(source, domain))

    @classmethod
    def _checked(cls, rows: Iterable[tuple[int, tuple[str, ...]]], file: str | None) -> Hierarchy:
        """Check that the numbered paths form one tree; report everything that does not."""
        problems: list[Problem] = []
        ancestors: dict[str, tuple[str, ...]] = {}
        parents: dict[str, tuple[str | None, int]] = {}  # inner node -> its parent, line
        root: tuple[str, int] | None = None
        for number, path in rows:

            def complain(message: str, many: str, what: str = "", number: int = number) -> None:
                problems.append(Problem(message, file, number, many, what))

            if len(path) < 2:
                needs = "at least a leaf and a root: leaf;parent;…;root"
                complain(f"a path needs {needs}", f"paths lack {needs}")
                continue
            if not all(path):
                complain("empty name in the path " + ";".join(path), "paths have an empty name")
                continue
            leaf, *above = path
            if len(set(above)) < len(above):
                twice = f"a node stands twice on the path of {leaf!r}"
                complain(twice, "leaves have a node twice on their path", repr(leaf))
                continue
            if leaf in ancestors:
                complain(
                    *(f"leaf {leaf!r} has a path already", "leaves have a path already"), repr(leaf)
                )
                continue
            if root is None:
                root = (above[-1], number)
            elif above[-1] != root[0]:
                is_root = f"the root is {root[0]!r} (line {root[1]})"
                complain(
                    f"the path ends in {above[-1]!r}, but {is_root}; end every path with the "
                    "same root",
                    f"paths do not end in the root; {is_root}",
                    repr(above[-1]),
                )
                continue
            ancestors[leaf] = tuple(above)
            for node, parent in zip(above, [*above[1:], None], strict=True):
                known, line = parents.setdefault(node, (parent, number))
                if known != parent:
                    complain(
                        f"node {node!r} has parent {known!r} in line {line}, here {parent!r}",
                        "nodes have another parent than before",
                        f"{node!r} below {parent!r}",
                    )
        if not ancestors and not problems:
            problems.append(Problem("the hierarchy is empty", file, 1 if file else None))
        if problems:
            raise PolicyError(problems)
        return cls(ancestors, file)

    def to_json(self) -> dict[str, Any]:
        """Return the ancestors of each leaf as plain values."""
        return {"leaves": {leaf: list(self.ancestors[leaf]) for leaf in sorted(self.ancestors)}}

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.ancestors)} leaves)"

    def __contains__(self, item: object) -> bool:
        return item in self.ancestors

    def tree(self, vocabulary: Vocabulary) -> Tree:
        """Return the tree restricted to the domain; weights are leaf counts / M.

        See docs/how-it-works.md. Items of the hierarchy that never occur count nowhere.
        """
        missing = [item for item in vocabulary if item not in self.ancestors]
        if missing:
            inner = {node for path in self.ancestors.values() for node in path}
            raise PolicyError(
                Problem(
                    f"item {item!r} of the data is not in the hierarchy"
                    + (" (it is an inner node there, not a leaf)" if item in inner else ""),
                    self.file,
                    many="items of the data are not in the hierarchy",
                    what=repr(item),
                    hint="an inner node there, not a leaf" if item in inner else "",
                )
                for item in missing
            )
        # Root last, parents after children: a node is numbered by its height above the root.
        depth: dict[str, int] = {}
        up: dict[str, str | None] = {}
        for path in dict.fromkeys(map(self.ancestors.__getitem__, vocabulary)):  # once each
            for height, node in enumerate(reversed(path)):
                depth[node] = height
            up |= zip(path, [*path[1:], None], strict=True)
        nodes = sorted(depth, key=lambda node: -depth[node])
        first = len(vocabulary)
        number = {node: first + position for position, node in enumerate(nodes)}
        parent = np.full(first + len(nodes), -1, np.int32)
        leaves = np.zeros(first + len(nodes), np.int64)
        leaves[:first] = 1
        for code, item in enumerate(vocabulary):
            parent[code] = number[self.ancestors[item][0]]
        for node in nodes:
            above = up[node]
            if above is not None:
                parent[number[node]] = number[above]
        for below in range(first + len(nodes) - 1):  # children first, the root has no parent
            leaves[parent[below]] += leaves[below]
        return Tree(parent, leaves, max(first, 1), tuple(nodes))


@dataclass(frozen=True)
class Balanced:
    """The balanced hierarchy over whatever items there are, in item order.

    >>> Balanced(2).tree(Vocabulary(["1", "2", "3", "4", "5"])).names[-1]
    '*'
    """

    fanout: int = 5
    file: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        check_count("the fan-out of a hierarchy", self.fanout, 2)

    def tree(self, vocabulary: Vocabulary) -> Tree:
        """Return the tree over the domain."""
        return Hierarchy.balanced(vocabulary, self.fanout).tree(vocabulary)

    def to_json(self) -> dict[str, Any]:
        """Return the fan-out as plain values."""
        return {"balanced": self.fanout}


AnyHierarchy = Hierarchy | Balanced
OMOP = "omop"  # instead of a file: the hierarchy of the model that is read
_BALANCED = re.compile(r"balanced(?::(\d+))?")


def is_balanced(text: str) -> bool:
    """Say whether a text asks for a balanced hierarchy rather than naming a file.

    >>> is_balanced("balanced:5"), is_balanced("icd9.csv")
    (True, False)
    """
    return _BALANCED.fullmatch(text) is not None


def is_no_file(text: str) -> bool:
    """Say whether a setting that may name a file asks for something else.

    >>> is_no_file("balanced:5"), is_no_file("omop"), is_no_file("omop:201826")
    (True, True, True)
    """
    return is_balanced(text) or text == OMOP or text.startswith(f"{OMOP}:")


def take_hierarchy(given: Any) -> AnyHierarchy | None:
    """Take a hierarchy, a file of one, ``balanced:FANOUT``, paths, or nothing."""
    if given is None or isinstance(given, (Hierarchy, Balanced)):
        return given
    if given == OMOP:
        raise PolicyError("a hierarchy omop needs an OMOP model as data: --omop, Hierarchy.omop")
    if isinstance(given, (str, Path)):
        found = _BALANCED.fullmatch(str(given))
        return Balanced(int(found[1] or 5)) if found else Hierarchy.read(given)
    if isinstance(given, Iterable):
        return Hierarchy.of(given)
    raise PolicyError(f"a hierarchy is a Hierarchy, a file or balanced:FANOUT, not {given!r}")


def hierarchy_from_json(content: Any) -> AnyHierarchy | None:
    """Build from what `to_json` of a hierarchy returned."""
    match content:
        case None:
            return None
        case {"balanced": fanout}:
            return Balanced(fanout)
        case {"leaves": dict() as leaves}:
            return Hierarchy.of([leaf, *above] for leaf, above in leaves.items())
    raise PolicyError(f"{content!r} does not say what hierarchy it is")
