"""Apriori: k^m-anonymity by moving a cut up a hierarchy (Terrovitis, Mamoulis, Kalnis 2008).

Their algorithm AA. For sets of one node, two nodes, … m nodes of the hierarchy it walks the count
tree of what transactions hold; a set that fewer than k people have is generalized, and with it
whole subtrees. docs/methods.md says what we had to settle.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

import numpy as np

from overcoat.algorithms.cut import Cut
from overcoat.algorithms.outcome import Outcome, Step, telling
from overcoat.context import QUIET, Stage
from overcoat.data.native import canonical_rows
from overcoat.data.transactions import Transactions
from overcoat.kernels import count_tree_class
from overcoat.kernels.reference import CountTree
from overcoat.partition import Partition
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.privacy import BoundAllItemsets

__all__ = ["apriori", "apriori_problems"]

ROOT = 0


def apriori_problems(policy: BoundPolicy) -> Iterator[str]:
    """Say what of a policy Apriori cannot honour."""
    if policy.hierarchy is None:
        yield (
            "apriori generalizes along a hierarchy, and none was given: "
            "add one (--hierarchy FILE, or --hierarchy balanced:5)"
        )
    if policy.weights.tree is None:
        yield (
            "apriori takes its loss from the hierarchy and cannot heed other weights: "
            "leave out the distances or the function"
        )
    if len(policy.families) != 1 or not isinstance(policy.families[0], BoundAllItemsets):
        named = ", ".join(family.title for family in policy.families)
        yield (
            "apriori protects all itemsets of m items (--km M), once and nothing else; "
            f"here it is {named}"
        )
    if len(np.unique(policy.utility.block_of)) > 1:
        yield (
            "apriori merges whole subtrees of the hierarchy and cannot heed utility sets: "
            "leave them out, or use coat"
        )


def apriori(
    data: Transactions,
    policy: BoundPolicy,
    stage: Stage = QUIET,
) -> Outcome:
    """Move the cut up where that costs least, until no set of up to m nodes is rare.

    Parameters as for `coat.coat`; the policy must have no `apriori_problems`.

    >>> from overcoat.policy.hierarchy import Hierarchy
    >>> from overcoat.policy.policy import Policy
    >>> from overcoat.policy.privacy import AllItemsets
    >>> data = Transactions.of(map(set, ["ab", "ac", "ac", "bd", "bd"]))
    >>> tree = Hierarchy.balanced("abcd", fanout=2)  # a and b, c and d have a parent each
    >>> apriori(data, Policy(2, (AllItemsets(2),), hierarchy=tree).bind(data)).partition.group_of
    array([0, 0, 2, 3], dtype=int32)
    """
    family = policy.families[0]
    assert isinstance(family, BoundAllItemsets)
    if not data.n_items:
        return Outcome(Partition(()))
    run = _Run(data, policy, family, stage)
    if run.supports[ROOT] < policy.k:
        return run.suppress_all()
    size = 1
    while size <= family.largest:
        changed = run.generalize_all(size)
        # A linkable group that takes in others is met by more people than before, perhaps by one
        # person together with a group that nobody had with it: then smaller sets are looked at
        # again. If all items are linkable, sets that were passed stay as they were.
        size = 1 if changed and not family.whole_domain else size + 1
    return Outcome(run.cut.partition(), tuple(run.steps))


class _Run:
    """The state of one run: the cut and the steps taken."""

    def __init__(
        self,
        data: Transactions,
        policy: BoundPolicy,
        family: BoundAllItemsets,
        stage: Stage,
    ) -> None:
        assert policy.hierarchy is not None
        self._data, self._policy, self._family = data, policy, family
        self._count_tree = count_tree_class(stage.engine)
        self.steps: list[Step] = []
        self._tell = telling(stage, self.steps)
        self.cut = cut = Cut(policy.hierarchy, data.supports, self._tell)
        # A node is linkable when an item under it is; it is then known by the first such item.
        n_nodes = len(cut.parent)
        self._linkable_item = np.full(n_nodes, data.n_items, np.int32)
        self._linkable_item[cut.node_of[family.linkable]] = np.flatnonzero(family.linkable)
        for node in range(n_nodes - 1, 0, -1):
            self._tell()
            above = cut.parent[node]
            first = min(self._linkable_item[above], self._linkable_item[node])
            self._linkable_item[above] = first
        self._tree = self._plant()
        # The order of the walk: by descending support, the larger node first, then item order.
        # So parents come before their children.
        self.supports = self._tree.node_supports()
        self._order = np.lexsort((cut.first, -cut.n_items, -self.supports))

    def generalize_all(self, size: int) -> bool:
        """Generalize the rare sets of `size` nodes; return whether there were any."""
        n_steps = len(self.steps)
        for nodes in self._tree.walk(size, self._policy.k, self._order):
            example = self._tree.example(nodes)
            constraint = tuple(sorted(self._linkable_item[list(example)].tolist()))
            for node in self._cheapest(nodes):
                self._move_up(node, constraint)
            self._tell()
        changed = len(self.steps) > n_steps
        if changed:
            self._tree = self._plant()
        return changed

    def suppress_all(self) -> Outcome:
        """Suppress what is linkable: so few people have anything that no group has k."""
        group_of = np.arange(self._data.n_items, dtype=np.int32)
        unmet = []
        for done, item in enumerate(np.flatnonzero(self._family.linkable).tolist(), 1):
            self._tell()
            support = int(self._data.supports[item])
            self.steps.append(Step("suppress", item, -1, support, 0, (item,)))
            group_of[item] = -1
            if done > self._policy.budget:
                unmet.append((item,))
        return Outcome(Partition(group_of), tuple(self.steps), tuple(unmet))

    def _plant(self) -> CountTree:
        """Return the count tree of the rows as the cut publishes them."""
        data, cut = self._data, self.cut
        nodes = cut.home[cut.node_of][data.codes]
        offsets, nodes, counts, _ = canonical_rows(data.offsets, nodes, data.counts)
        linkable = self._linkable_item < data.n_items
        return self._count_tree(
            *(offsets, nodes, counts, cut.parent, cut.end, linkable, cut.home, self._tell)
        )

    def _cheapest(self, nodes: tuple[int, ...]) -> list[int]:
        """Return where to move the cut so that k people have the generalization of `nodes`.

        Each node stays or becomes one of its ancestors, its `height` says which. Combinations are
        tried by their loss, then by their heights: going higher never loses less, so each is
        reached from one that was tried before it.
        """
        paths = [self.cut.path(node) for node in nodes]
        start = (0,) * len(nodes)
        heap = [(0, start)]
        reached = {start}
        while True:
            _, heights = heappop(heap)
            chosen = [path[height] for path, height in zip(paths, heights, strict=True)]
            if self._tree.support(self._topmost(chosen), self._policy.k) >= self._policy.k:
                return self._moved(chosen, heights)
            for position, height in enumerate(heights):
                higher = (*heights[:position], height + 1, *heights[position + 1 :])
                if height + 1 < len(paths[position]) and higher not in reached:
                    reached.add(higher)
                    chosen = [path[height] for path, height in zip(paths, higher, strict=True)]
                    loss = sum(map(self.cut.loss, self._moved(chosen, higher)))
                    heappush(heap, (loss, higher))

    def _moved(self, chosen: list[int], heights: tuple[int, ...]) -> list[int]:
        """Return the chosen ancestors, without those under others."""
        pairs = zip(chosen, heights, strict=True)
        return self._topmost([node for node, height in pairs if height])

    def _topmost(self, nodes: list[int]) -> list[int]:
        """Return these nodes without those under others."""
        found: list[int] = []
        for node in sorted(set(nodes)):
            if not found or node >= self.cut.end[found[-1]]:
                found.append(node)
        return found

    def _move_up(self, node: int, constraint: tuple[int, ...]) -> None:
        """Move the cut up to a node: what it replaces is merged one after the other."""
        replaced = self.cut.move_up(node)
        group, *partners = self.cut.first[replaced].tolist()
        supports = self._tree.unions(replaced)[1:]
        for partner, support in zip(partners, supports, strict=True):
            self.steps.append(Step("merge", group, partner, support, 0, constraint))
