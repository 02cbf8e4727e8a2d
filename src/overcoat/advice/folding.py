"""Utility sets that clash, folded into their nearest neighbours of the hierarchy."""

from __future__ import annotations

import numpy as np

from overcoat.context import QUIET, Stage
from overcoat.data.transactions import Transactions
from overcoat.feasibility.clashes import clashes_under
from overcoat.policy.hierarchy import Tree
from overcoat.policy.policy import BoundPolicy

__all__ = ["Climb", "fold_sets"]

_SHARE = 4  # a round folds one in so many of the sets that clash


def fold_sets(
    data: Transactions, policy: BoundPolicy, *, stage: Stage = QUIET
) -> list[list[int]] | None:
    """Return which utility sets to join so that what is left clashes no more.

    Round by round the sets with the fewest people among those that clash are joined with the set
    that is nearest in the hierarchy: the one whose common ancestor with it has fewest items below.
    None where there is no hierarchy, or where even a single set clashes with the rest.

    >>> from overcoat.policy.policy import Policy
    >>> from overcoat.policy.privacy import AllItemsets
    >>> from overcoat.policy.hierarchy import Hierarchy
    >>> tree = Hierarchy.of([("a", "A", "*"), ("b", "A", "*"), ("c", "*"), ("d", "*")])
    >>> data = Transactions.of([{"a", "c"}, {"b", "c"}, {"a"}, {"b"}, {"c"}, {"d"}, {"d"}])
    >>> sets = {"x": ["a"], "y": ["b"], "z": ["c"]}
    >>> fold_sets(data, Policy(2, AllItemsets(2), sets, hierarchy=tree).bind(data))
    [[0, 1], [2]]
    """
    tree = policy.hierarchy
    if tree is None or policy.utility.rest != "together":
        return None
    groups = [[number] for number in range(len(policy.utility.named))]
    climb = Climb(tree)
    nodes = [climb.above_all(block.codes) for block in policy.utility.named]
    while groups:
        stage()
        group_of = np.full(len(policy.utility.named) + 1, len(groups), np.int32)
        for number, blocks in enumerate(groups):
            group_of[blocks] = number
        block_of = group_of[policy.utility.block_of]
        names = tuple(str(number) for number in range(len(groups)))
        clashes = clashes_under(data, policy, block_of, names, stage=stage)
        if not clashes.found:
            return groups
        if len(groups) == 1:
            return None
        involved = {block for one in clashes.found for block in one.blocks} - {clashes.rest}
        order = sorted(involved or range(len(groups)), key=lambda one: (clashes.people[one], one))
        touched: set[int] = set()
        joined: list[tuple[int, int]] = []
        for one in order[: max(1, len(order) // _SHARE)]:
            free = [o for o in range(len(groups)) if o != one and o not in touched]
            if one in touched or not free:
                continue
            near = min(
                free, key=lambda o: (climb.width(nodes[one], nodes[o]), clashes.people[o], o)
            )
            touched |= {one, near}
            joined.append((min(one, near), max(one, near)))
        for first, second in joined:
            groups[first] = sorted(groups[first] + groups[second])
            nodes[first] = climb.above(nodes[first], nodes[second])
        gone = {second for _, second in joined}
        groups = [group for number, group in enumerate(groups) if number not in gone]
        nodes = [node for number, node in enumerate(nodes) if number not in gone]
    return None


class Climb:
    """Closest common ancestors in a tree; items are its first nodes."""

    def __init__(self, tree: Tree) -> None:
        self._parent = tree.parent.tolist()
        self._weight = tree.weight.tolist()
        self._depth = [self._steps(node) for node in range(len(self._parent))]

    def _steps(self, node: int) -> int:
        steps = 0
        while self._parent[node] >= 0:
            node, steps = self._parent[node], steps + 1
        return steps

    def above(self, one: int, other: int) -> int:
        """Return the closest common ancestor of two nodes."""
        while one != other:
            if self._depth[one] < self._depth[other]:
                one, other = other, one
            one = self._parent[one]
        return one

    def above_all(self, items: tuple[int, ...]) -> int:
        """Return the closest common ancestor of some items."""
        node = items[0]
        for item in items[1:]:
            node = self.above(node, item)
        return node

    def is_root(self, node: int) -> bool:
        """Whether nothing is above a node."""
        return bool(self._parent[node] < 0)

    def width(self, one: int, other: int) -> int:
        """Return how many items lie below the closest common ancestor."""
        return int(self._weight[self.above(one, other)])
