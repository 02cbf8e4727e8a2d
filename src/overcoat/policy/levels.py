"""Utility sets that are the nodes of a hierarchy at one level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from overcoat.checks import check_count
from overcoat.errors import PolicyError
from overcoat.policy.binding import Domain, ItemSet, Lint
from overcoat.policy.hierarchy import AnyHierarchy, Balanced, Hierarchy, hierarchy_from_json
from overcoat.policy.sets import Sets

__all__ = ["Nodes", "take_level"]


def take_level(level: Any) -> int | str:
    """Take a level as users write it: a number from the root, or a name.

    >>> take_level("2"), take_level("S")
    (2, 'S')
    """
    if isinstance(level, str):
        return int(level) if level.isascii() and level.isdecimal() else level
    return check_count("a level of the hierarchy", level)


@dataclass(frozen=True, repr=False)
class Nodes:
    """The nodes of a hierarchy at one level, each a set of the items below it.

    An item without a node at that level keeps to itself.

    Attributes
    ----------
    hierarchy : the tree
    level : how many steps below the root, which is 0; or a name: what stands before a colon in the
        names of the nodes of that level (``S`` of ``S:Skin``), or the name of one of them

    >>> from overcoat.data.vocabulary import Vocabulary
    >>> tree = Hierarchy.of([("a", "ab", "*"), ("b", "ab", "*"), ("c", "*")])
    >>> nodes = Nodes(tree, 1)
    >>> [str(one) for one in nodes.resolve(Domain(Vocabulary("abc"), 2), Lint())]
    ['ab = {a, b}', 'c = {c}']
    """

    hierarchy: AnyHierarchy
    level: int | str

    def __post_init__(self) -> None:
        if not isinstance(self.hierarchy, (Hierarchy, Balanced)):
            raise PolicyError(f"a level is one of a hierarchy, not of {self.hierarchy!r}")
        object.__setattr__(self, "level", take_level(self.level))

    def resolve(self, domain: Domain, lint: Lint) -> list[ItemSet]:
        """Return the sets of the items that occur, recording in `lint` what is wrong."""
        return lint.attempt(lambda: self._sets(domain), [])

    def settled(self, domain: Domain) -> Sets:
        """Return the sets of the items that occur, whatever data come later."""
        return Sets(tuple(self._sets(domain)))

    def to_json(self) -> dict[str, Any]:
        """Return the level and the hierarchy as plain values."""
        return {"level": self.level, "hierarchy": self.hierarchy.to_json()}

    @classmethod
    def from_json(cls, content: Any) -> Nodes:
        """Build from what `to_json` returned."""
        hierarchy = hierarchy_from_json(content["hierarchy"])
        if hierarchy is None:
            raise PolicyError("a level needs a hierarchy")
        return cls(hierarchy, content["level"])

    def _sets(self, domain: Domain) -> list[ItemSet]:
        tree = self.hierarchy
        if isinstance(tree, Balanced):
            tree = Hierarchy.balanced(domain.vocabulary, tree.fanout)
        members: dict[tuple[str, bool], list[str]] = {}
        find = self._find(tree)
        for item in domain.vocabulary:
            # What the hierarchy does not know is told where it is bound itself.
            node = find(tree.ancestors.get(item, ()))
            members.setdefault((item if node is None else node, node is None), []).append(item)
        return [
            ItemSet(tuple(items), None if alone and (name, False) in members else name, tree.file)
            for (name, alone), items in members.items()
        ]

    def _find(self, tree: Hierarchy) -> Any:
        """Return the function from the ancestors of an item to its node at this level."""
        paths = tree.ancestors.values()
        deepest = max(map(len, paths)) - 1
        level = self.level
        if isinstance(level, str):
            prefix = f"{level}:"
            if any(node.startswith(prefix) for path in paths for node in path):
                return lambda path: next((one for one in path if one.startswith(prefix)), None)
            depths = {len(path) - 1 - path.index(level) for path in paths if level in path}
            if not depths:
                prefixes = {
                    node.partition(":")[0] for path in paths for node in path if ":" in node
                }
                known = f"; names there are {', '.join(sorted(prefixes)[:10])}" if prefixes else ""
                raise PolicyError(
                    f"the hierarchy has no level {level!r}; levels are numbers from 1, below the "
                    f"root, to {deepest}{known}",
                    tree.file,
                )
            (level,) = depths  # a node has one place in a tree
        if not 0 < level <= deepest:
            raise PolicyError(
                f"the hierarchy has no level {level}: below its root, level 0, there are levels 1 "
                f"to {deepest}",
                tree.file,
            )
        return lambda path: path[-1 - level] if len(path) > level else None

    def __len__(self) -> int:
        if isinstance(self.hierarchy, Balanced):
            return 0  # nobody knows before there are items
        find = self._find(self.hierarchy)
        return len({find(path) or leaf for leaf, path in self.hierarchy.ancestors.items()})

    def __repr__(self) -> str:
        return f"Nodes({self.hierarchy!r}, level={self.level!r})"
