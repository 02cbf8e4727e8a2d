"""Placing an item that an earlier mapping does not know: with its nearest relative.

COAT would merge it where UL is least, which is nearly always with one of the smallest groups,
however far away. Who compares one release with the next wants a new code where its kin are. The
weight of the whole union does not tell: large groups reach across the hierarchy, so all of them
would be equally far.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from overcoat.kernels.reference import Grouping, Tell, loses_less
from overcoat.policy.hierarchy import Tree
from overcoat.policy.policy import BoundPolicy

__all__ = ["nearest"]


def nearest(grouping: Grouping, item: int, cheapest: int, policy: BoundPolicy, tell: Tell) -> int:
    """Return the group of an item's block that holds its nearest relative.

    That is the item with which its weight is least. If several groups hold such a one, it is the
    group with which the loss is least, of these the first in item order. So without a hierarchy or
    other weights it is the cheapest.

    Parameters
    ----------
    grouping : IN
    item : stands alone; its block holds another group
    cheapest : the group it is cheapest to merge it with
    policy : IN
    tell : called now and then; it may raise
    """
    groups = grouping.groups()
    block_of = policy.utility.block_of
    candidates = groups[(block_of[groups] == block_of[item]) & (groups != item)]
    tree = policy.weights.tree
    if tree is not None:
        weights = _least_weights(tree, item, grouping.group_of())[candidates]
    else:
        weights = np.empty(len(candidates), np.int64)
        for number, group in enumerate(candidates.tolist()):
            tell()  # weights may be a function of the user, which takes its time
            pairs = (np.array([item, other], np.int32) for other in grouping.members(group))
            weights[number] = min(map(policy.weights.weight, pairs))
    near = candidates[weights == weights.min()]
    if len(near) == len(candidates):
        return cheapest  # all are as near as each other
    alone = grouping.group_support(item)
    best, best_size, best_support = -1, 0, 0
    for group in near.tolist():
        both = grouping.support(np.array(sorted((item, group)), np.int32))
        size = 1 + grouping.size(group)
        support = alone + grouping.group_support(group) - both
        if best < 0 or loses_less(size, support, best_size, best_support):
            best, best_size, best_support = group, size, support
    return best


def _least_weights(tree: Tree, item: int, group_of: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return, for each group, the weight of an item with its nearest relative there; (M,)."""
    place = np.full(len(tree.parent), -1, np.int64)  # of each node above the item, from below
    path: list[int] = []
    node = item
    while node >= 0:
        place[node] = len(path)
        path.append(node)
        node = int(tree.parent[node])
    nodes = np.arange(len(group_of))
    while len(below := np.flatnonzero(place[nodes] < 0)):
        nodes[below] = tree.parent[nodes[below]]
    heights = np.full(len(group_of), len(path) - 1)
    kept = group_of >= 0
    np.minimum.at(heights, group_of[kept], place[nodes][kept])
    weights: NDArray[np.int64] = np.asarray(tree.weight, np.int64)[path][heights]
    return weights
