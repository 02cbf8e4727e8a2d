"""Placing an item that an earlier mapping does not know: with the group it is nearest to.

COAT would merge it where UL is least, which is nearly always with one of the smallest groups,
however far away. Who compares one release with the next wants a new code where its kin are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from overcoat.kernels.reference import Grouping, loses_less
from overcoat.policy.hierarchy import Tree
from overcoat.policy.policy import BoundPolicy

__all__ = ["nearest"]

Weigh = Callable[[int, NDArray[np.int32]], NDArray[np.int64]]


def nearest(
    grouping: Grouping, item: int, cheapest: int, policy: BoundPolicy, weigh: Weigh | None
) -> int:
    """Return the group of an item's block such that the weight of the union is least.

    Of equals it is the one where the loss is least, of these the first in item order. So without a
    hierarchy or other weights it is the cheapest.

    Parameters
    ----------
    grouping : IN
    item : stands alone; its block holds another group
    cheapest : the group it is cheapest to merge it with
    policy : IN
    weigh : the weights of the unions of one group with others, where no tree has them
    """
    groups = grouping.groups()
    block_of = policy.utility.block_of
    candidates = groups[(block_of[groups] == block_of[item]) & (groups != item)]
    if weigh is None:
        tree = policy.weights.tree
        assert tree is not None
        weights = _common_weights(tree, item, grouping.group_of())[candidates]
    else:
        weights = weigh(item, candidates)
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


def _common_weights(tree: Tree, item: int, group_of: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return, for each group, the weight of the lowest node above it and an item; (M,)."""
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
    heights = np.zeros(len(group_of), np.int64)
    kept = group_of >= 0
    np.maximum.at(heights, group_of[kept], place[nodes][kept])
    weights: NDArray[np.int64] = np.asarray(tree.weight, np.int64)[path][heights]
    return weights
