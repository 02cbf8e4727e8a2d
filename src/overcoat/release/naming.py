"""Names for groups: that of the utility set, or of the node of the hierarchy, that a group is.

A name must not claim what is not so. A group that is all of a set has its name; one that is most of
it has the name with both numbers, ``lungs(8/10)``; any other keeps the label that lists its items.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from overcoat.errors import DataError, PolicyError
from overcoat.partition import Partition
from overcoat.policy.hierarchy import Tree
from overcoat.policy.policy import BoundPolicy

__all__ = ["LabelFrom", "check_label_from", "check_names", "group_names"]

LabelFrom = Literal["utility", "hierarchy"]

_NEARLY = 0.8  # of the items of a set or a node: more than half, so that only one group can be it


def check_label_from(policy: BoundPolicy, label_from: str | None) -> None:
    """Raise unless the policy has what names are to be taken from."""
    if label_from is None:
        return
    if label_from not in get_args(LabelFrom):
        raise PolicyError(f"labels come from utility or hierarchy, not from {label_from!r}")
    if label_from == "hierarchy" and policy.hierarchy is None:
        raise PolicyError("labels from the hierarchy need one: give it too")
    if label_from == "utility" and not any(block.named for block in policy.utility.named):
        raise PolicyError("labels from utility sets need sets that have names")


def check_names(policy: BoundPolicy, label_from: str | None, file: str | None) -> None:
    """Raise if names cannot stand in a file that is split at white space."""
    if label_from is None:
        return
    tree = policy.hierarchy
    blocks = [block.name for block in policy.utility.named if block.named]
    names = tree.names if label_from == "hierarchy" and tree is not None else blocks
    wrong = [name for name in names if len(name.split()) != 1]
    if wrong:
        raise DataError(
            f"labels such as {wrong[0]!r} contain white space, which separates the items of this "
            "file; write .csv",
            file,
        )


def group_names(
    policy: BoundPolicy, partition: Partition, label_from: str | None
) -> list[str | None]:
    """Return the name of each group, None where it has none; groups as in the partition.

    >>> from overcoat.data.transactions import Transactions
    >>> from overcoat.policy.policy import Policy
    >>> policy = Policy(1, (), {"first": list("abcde"), "last": ["f", "g"]})
    >>> bound = policy.bind(Transactions.of([list("abcdefg")]), privacy=False)
    >>> group_names(bound, Partition.of([[0, 1, 2, 3], [4], [5, 6]], 7), "utility")
    ['first(4/5)', None, 'last']
    """
    find = _node if label_from == "hierarchy" else _block
    return [
        find(policy, group) if label_from is not None and len(group) > 1 else None
        for group in partition.groups
    ]


def _called(name: str, size: int, of: int) -> str | None:
    if size == of:
        return name
    return f"{name}({size}/{of})" if size >= _NEARLY * of else None


def _block(policy: BoundPolicy, group: NDArray[np.integer]) -> str | None:
    blocks = {int(block) for block in policy.utility.block_of[group]}
    number = blocks.pop()
    if blocks or number >= len(policy.utility.named):
        return None
    block = policy.utility.named[number]
    return _called(block.name, len(group), len(block.codes)) if block.named else None


def _node(policy: BoundPolicy, group: NDArray[np.integer]) -> str | None:
    tree = policy.hierarchy
    assert tree is not None
    node = _common(tree, group.tolist())
    if tree.parent[node] < 0:  # the root is everything
        return None
    n_items = len(policy.vocabulary)
    return _called(tree.names[node - n_items], len(group), int(tree.weight[node]))


def _common(tree: Tree, items: Iterable[int]) -> int:
    """Return the lowest node above all items."""
    first, *others = items
    path = _upwards(tree, first)
    place = {node: number for number, node in enumerate(path)}
    highest = 0
    for item in others:
        node = item
        while node not in place:
            node = int(tree.parent[node])
        highest = max(highest, place[node])
    return path[highest]


def _upwards(tree: Tree, item: int) -> list[int]:
    path = [item]
    while tree.parent[path[-1]] >= 0:
        path.append(int(tree.parent[path[-1]]))
    return path
