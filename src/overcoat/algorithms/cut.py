"""A cut through a hierarchy: which node stands for each item, and what moving it up loses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from overcoat.kernels.reference import Tell, nothing
from overcoat.loss.ncp import confusion
from overcoat.partition import Partition
from overcoat.policy.hierarchy import Tree

__all__ = ["Cut"]

Ints = NDArray[np.int32]


class Cut:
    """The nodes of a hierarchy, and those among them that are published now.

    Nodes with the same items are one node: an inner node with one child is that child. Nodes are
    numbered in preorder, so what lies under node v, itself included, is ``range(v, end[v])``. The
    cut starts at the items and only moves up.

    Parameters
    ----------
    tree : IN, over the items of the domain; at least one
    supports : IN, (M,); how many transactions have each item
    tell : called now and then; it may raise

    Attributes
    ----------
    node_of : int32, (M,); the node of each item
    first : int32, (n_nodes,); the first item under each node
    n_items : int64, (n_nodes,); how many items lie under each node
    parent : int32, (n_nodes,); -1 for the root, which is node 0
    end : int32, (n_nodes,)
    home : int32, (n_nodes,); the node of the cut at or above each node, -1 for nodes above the cut

    >>> tree = Tree(np.array([4, 4, 5, 5, 6, 6, -1], np.int32), np.ones(7, np.int64), 4)
    >>> cut = Cut(tree, np.array([5, 2, 1, 1]))
    >>> cut.node_of, cut.end
    (array([2, 3, 5, 6], dtype=int32), array([7, 4, 3, 4, 7, 6, 7], dtype=int32))
    >>> cut.loss(1), cut.loss(4)  # (5 + 2) times 2 items, (1 + 1) times 2 items
    (14, 4)
    >>> cut.move_up(4)
    [5, 6]
    >>> cut.partition().group_of
    array([0, 1, 2, 2], dtype=int32)
    """

    def __init__(self, tree: Tree, supports: NDArray[np.int64], tell: Tell = nothing) -> None:
        n_items = len(supports)
        above: list[int] = tree.parent.tolist()
        children: list[list[int]] = [[] for _ in above]
        first_below = list(range(n_items)) + [n_items] * (len(above) - n_items)
        for node, parent in enumerate(above[:-1]):  # children come before their parents
            children[parent].append(node)
            first_below[parent] = min(first_below[parent], first_below[node])

        self.node_of = np.empty(n_items, np.int32)
        parents: list[int] = []
        first: list[int] = []
        stack = [(len(above) - 1, -1)]
        while stack:
            tell()
            node, parent = stack.pop()
            while len(children[node]) == 1:
                node = children[node][0]
            number = len(parents)
            parents.append(parent)
            first.append(first_below[node])
            if node < n_items:
                self.node_of[node] = number
            below = sorted(children[node], key=first_below.__getitem__, reverse=True)
            stack += [(child, number) for child in below]

        n_nodes = len(parents)
        self.parent, self.first = np.array(parents, np.int32), np.array(first, np.int32)
        self.end = np.arange(1, n_nodes + 1, dtype=np.int32)
        self.n_items = np.zeros(n_nodes, np.int64)
        self.n_items[self.node_of] = 1
        occurrences = [0] * n_nodes
        for node, support in zip(self.node_of.tolist(), supports.tolist(), strict=True):
            occurrences[node] = support
        for node in range(n_nodes - 1, 0, -1):  # parents come before their children
            tell()
            self.end[parents[node]] = max(self.end[parents[node]], self.end[node])
            self.n_items[parents[node]] += self.n_items[node]
            occurrences[parents[node]] += occurrences[node]
        self.home = np.full(n_nodes, -1, np.int32)
        self.home[self.node_of] = self.node_of
        # NCP of the data, without its constant denominator: each occurrence of an item counts the
        # items it can be confused with, none if it is published as it is.
        # The products may leave 64 bits; Python's integers do not mind.
        self._full = [  # were the node in the cut
            confusion(size, number)
            for size, number in zip(self.n_items.tolist(), occurrences, strict=True)
        ]
        self._now = [0] * n_nodes

    def path(self, node: int) -> list[int]:
        """Return a node and its ancestors, from below."""
        path = [node]
        while (node := int(self.parent[node])) >= 0:
            path.append(node)
        return path

    def loss(self, node: int) -> int:
        """Return the loss of moving the cut up to a node."""
        return self._full[node] - self._now[node]

    def move_up(self, node: int) -> list[int]:
        """Move the cut up to a node; return the nodes it replaces, by their first items."""
        below = self.home[node : self.end[node]]
        replaced = np.unique(below[below >= 0])
        below[:] = node
        loss = self.loss(node)
        for ancestor in self.path(node):
            self._now[ancestor] += loss
        ordered: list[int] = replaced[np.argsort(self.first[replaced])].tolist()
        return ordered

    def partition(self) -> Partition:
        """Return the groups of items that are published now."""
        return Partition(self.home[self.node_of])
