"""The slow, obvious twin of the compiled kernels: sets of row numbers, nothing else.

Tests hold the two together; it also serves, with a warning, where the compiled one is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["CountTree", "Grouping", "TooManySetsError", "find_moles", "loses_less"]

Ints = NDArray[np.integer[Any]]
# What takes long calls this some fifty times a second; the call may raise, and the work is over.
Tell = Callable[[], object]


def loses_less(size_x: int, x: int, size_y: int, y: int) -> bool:
    """Whether (2^size_x - 1) x < (2^size_y - 1) y: the comparison of losses, exactly.

    x and y are weight (its numerator) times support; what all losses share is left out.
    """
    return ((1 << size_x) - 1) * x < ((1 << size_y) - 1) * y


def nothing() -> None:
    """Do nothing: what a kernel calls now and then when it is given nothing to call."""


class Grouping:
    """The rows as they would be published now: which items are merged, which are gone.

    A group is known by its first item in item order, that is by its smallest code. Weighted rows
    come in once; `merge` and `suppress` change the grouping, everything else only asks.

    Parameters
    ----------
    offsets, codes, counts : IN, distinct rows and how often each occurs
    block_of : IN, (M,); the utility block of each item
    parent, weight : IN, tree over items and inner nodes and the numerators of its weights
    tell : called some fifty times a second by whatever takes long. It may raise; then the work is
        over, and so is the use of the grouping.
    """

    def __init__(
        self,
        offsets: Ints,
        codes: Ints,
        counts: Ints,
        block_of: Ints,
        parent: Ints,
        weight: Ints,
        tell: Tell = nothing,
    ) -> None:
        self._counts, self._tell = counts.tolist(), tell
        self._block_of = block_of.tolist()
        self._parent, self._weight = parent.tolist(), weight.tolist()
        n_items = len(self._block_of)
        self._group_of: list[int] = list(range(n_items))
        self._members: dict[int, list[int]] = {item: [item] for item in range(n_items)}
        self._rows: dict[int, set[int]] = {item: set() for item in range(n_items)}
        for row in range(len(counts)):
            tell()
            for code in codes[offsets[row] : offsets[row + 1]].tolist():
                self._rows[code].add(row)

    # -- asking ---------------------------------------------------------------------------

    def groups(self) -> NDArray[np.int32]:
        """Return all groups, ascending."""
        return np.array(sorted(self._members), np.int32)

    def group_of(self) -> NDArray[np.int32]:
        """Return the group of each item, -1 where it is suppressed; (M,)."""
        return np.array(self._group_of, np.int32)

    def group(self, item: int) -> int:
        """Return the group of one item, -1 if it is suppressed."""
        return self._group_of[item]

    def members(self, group: int) -> NDArray[np.int32]:
        """Return the items of a group, ascending."""
        return np.array(sorted(self._members[group]), np.int32)

    def size(self, group: int) -> int:
        """Return the number of items of a group."""
        return len(self._members[group])

    def image(self, items: Ints) -> NDArray[np.int32]:
        """Return the distinct groups of some items, ascending, without the suppressed ones."""
        return np.array(sorted({self._group_of[item] for item in items} - {-1}), np.int32)

    def has_partner(self, group: int) -> bool:
        """Whether the block of a group holds another one."""
        return len(self._block(group)) > 1

    def support(self, groups: Ints) -> int:
        """Return the number of transactions with all these groups (at least one is given)."""
        return self._total(set.intersection(*(self._rows[int(group)] for group in groups)))

    def group_support(self, group: int) -> int:
        """Return the number of transactions with a group."""
        return self._total(self._rows[group])

    def supports(self, offsets: Ints, codes: Ints, which: Ints, limit: int) -> NDArray[np.int64]:
        """Return min(support, limit) of the images of some itemsets; limit for an empty image."""
        images = []
        for index in which:
            self._tell()
            images.append(self.image(codes[offsets[index] : offsets[index + 1]]))
        return np.array(
            [min(self.support(image), limit) if len(image) else limit for image in images],
            np.int64,
        )

    def worst_part(self, groups: Ints, k: int) -> NDArray[np.int32] | None:
        """Return the violated part of largest support of some groups, ascending; None if none is.

        A part is violated when somebody, but fewer than k, hold it. Of equals it is the first in
        lexicographic order, a prefix first. Nobody holds all of `groups`.
        """
        in_order = groups.tolist()
        best: tuple[int, ...] | None = None
        best_support = 0
        parts: list[tuple[tuple[int, ...], set[int]]] = [
            ((group,), self._rows[group]) for group in reversed(in_order)
        ]
        while parts and best_support < k - 1:
            self._tell()
            part, rows = parts.pop()  # parts are met in lexicographic order
            support = self._total(rows)
            # A part below k needs no extension: a larger one has no more support and comes later.
            if support < k:
                if support > best_support:
                    best, best_support = part, support
                continue
            later = [group for group in in_order if group > part[-1] and self._rows[group] & rows]
            # Without a group that all rows hold a part has the same support, and comes later.
            apart = (at for at, group in enumerate(later) if not rows <= self._rows[group])
            n_common = next(apart, len(later))
            part, later = (*part, *later[:n_common]), later[n_common:]
            # Below a part there is a violated one only if fewer than k hold all that some row has.
            shares = (
                [self._rows[group] for group in later if row in self._rows[group]] for row in rows
            )
            if any(self._total(rows.intersection(*share)) < k for share in shares):
                parts += [((*part, group), rows & self._rows[group]) for group in reversed(later)]
        return None if best is None else np.array(best, np.int32)

    def violations(
        self,
        group: int,
        size: int,
        k: int,
        above: bool,
        linkable: NDArray[np.uint8],
        limit: int,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the most supported sets of `size` linkable groups that fewer than k support.

        The sets hold `group`; their other members come after `group` if `above`. Sets are grown
        from `group` in item order, and what fewer than k support already is not grown further: it
        is violated itself, at a smaller size.

        Returns
        -------
        supports : at most `limit` of them, descending; sets of equal support in lexicographic order
        groups : the members of each set, ascending; (n, size)
        """
        others = [
            other
            for other in sorted(self._members)
            if linkable[other] and (other > group if above else other != group)
        ]
        found: list[tuple[int, tuple[int, ...]]] = []
        for rest in combinations(others, size - 1) if linkable[group] else ():
            self._tell()
            grown = [(group, *rest[:taken]) for taken in range(size)]
            *supports, support = [self.support(np.array(groups)) for groups in grown]
            if 0 < support < k and not any(0 < smaller < k for smaller in supports[1:]):
                found.append((-support, tuple(sorted((group, *rest)))))
        found = sorted(found)[:limit]
        return (
            np.array([-minus_support for minus_support, _ in found], np.int64),
            np.array([groups for _, groups in found], np.int32).reshape(len(found), size),
        )

    def cheapest_merge(
        self,
        groups: Iterable[int],
        weigh: Callable[[int, NDArray[np.int32]], Ints] | None = None,
    ) -> tuple[int, int]:
        """Return one of `groups` and its partner: the union within a block of smallest UL.

        Among equals the first of `groups`, and of its partners the first in item order. At least
        one of `groups` must have a partner. `weigh(group, candidates)` gives the numerators of the
        unions' weights; without it they come from the tree.
        """
        best, best_size, best_loss = (-1, -1), 0, 0
        for group in groups:
            candidates = [other for other in self._block(group) if other != group]
            if weigh is None:
                numerators = [self._common_weight(group, other) for other in candidates]
            else:
                numerators = weigh(group, np.array(candidates, np.int32)).tolist()
            self._tell()
            for other, numerator in zip(candidates, numerators, strict=True):
                size = len(self._members[group]) + len(self._members[other])
                loss = numerator * self._total(self._rows[group] | self._rows[other])
                if best[0] < 0 or loses_less(size, loss, best_size, best_loss):
                    best, best_size, best_loss = (group, other), size, loss
        return best

    # -- changing -------------------------------------------------------------------------

    def merge(self, one: int, other: int) -> int:
        """Unite two groups; return the union."""
        group, gone = min(one, other), max(one, other)
        for item in self._members[gone]:
            self._group_of[item] = group
        self._members[group] += self._members.pop(gone)
        self._rows[group] |= self._rows.pop(gone)
        return group

    def suppress(self, group: int) -> None:
        """Remove a group, with all its items."""
        for item in self._members.pop(group):
            self._group_of[item] = -1
        del self._rows[group]

    # -- helpers --------------------------------------------------------------------------

    def _total(self, rows: set[int]) -> int:
        return sum(self._counts[row] for row in rows)

    def _block(self, group: int) -> list[int]:
        block = self._block_of[group]
        return [other for other in sorted(self._members) if self._block_of[other] == block]

    def _path(self, item: int) -> list[int]:
        path = [item]
        while (node := self._parent[path[-1]]) >= 0:
            path.append(node)
        return path

    def _common_weight(self, one: int, other: int) -> int:
        """Return the weight of the closest common ancestor of the items of two groups."""
        paths = [self._path(item) for item in (*self._members[one], *self._members[other])]
        common = set.intersection(*map(set, paths))
        return int(self._weight[next(node for node in paths[0] if node in common)])


class CountTree:
    """The sets of `size` nodes of a hierarchy, none above another, as a tree to walk in preorder.

    A row holds a node when it holds anything under it. Nodes are numbered in preorder: what is
    under node v is ``range(v, end[v])``. Of the nodes in rows, some are linkable; a set is *shown*
    when some row holds a linkable one under each of its nodes.

    Parameters
    ----------
    offsets, codes, counts : IN, distinct rows of nodes of a cut, and how often each occurs
    parent, end : IN, (n_nodes,)
    linkable : IN, (n_nodes,); a node above a linkable one is linkable
    home : IN, (n_nodes,); the node of the cut at or above each node, -1 above the cut. The caller
        may move the cut up while a walk is under way; it then passes over what lies below.
    tell : called some fifty times a second by whatever takes long; it may raise
    """

    def __init__(
        self,
        offsets: Ints,
        codes: Ints,
        counts: Ints,
        parent: Ints,
        end: Ints,
        linkable: NDArray[np.bool_],
        home: Ints,
        tell: Tell = nothing,
    ) -> None:
        self._tell = tell
        self._rows = [
            (codes[offsets[row] : offsets[row + 1]].tolist(), count)
            for row, count in enumerate(counts.tolist())
        ]
        self._end, self._linkable, self._home = end, linkable, home

    def node_supports(self) -> NDArray[np.int64]:
        """Return how many transactions hold each node; (n_nodes,)."""
        n = sum(count for _, count in self._rows)
        return np.array([self.support([node], n) for node in range(len(self._end))], np.int64)

    def walk(self, size: int, k: int, order: Ints) -> Iterator[tuple[int, ...]]:
        """Yield, in lexicographic order, the sets that are shown and that fewer than k support.

        Parameters
        ----------
        order : IN, (n_nodes,); all nodes, parents before their children
        """
        nodes = [node for node in order.tolist() if self._linkable[node]]
        for chosen in combinations(nodes, size):
            self._tell()
            if any(self._home[node] not in (node, -1) for node in chosen):
                continue
            if any(self._is_under(low, high) for high, low in combinations(chosen, 2)):
                continue
            if self.support(chosen, k) < k and self.example(chosen):
                yield chosen

    def support(self, nodes: Sequence[int], limit: int) -> int:
        """Return min(support, limit) of some nodes, none above another."""
        holders = (
            count for row, count in self._rows if all(self._held(row, node) for node in nodes)
        )
        return min(int(sum(holders)), limit)

    def example(self, nodes: Sequence[int]) -> tuple[int, ...]:
        """Return linkable nodes, one under each of `nodes`, that some row holds; () if none does.

        The first of them in lexicographic order.
        """
        found = []
        for row, _ in self._rows:
            held = [[n for n in self._held(row, node) if self._linkable[n]] for node in nodes]
            if all(held):
                found.append(tuple(map(min, held)))
        return min(found, default=())

    def unions(self, nodes: Sequence[int]) -> list[int]:
        """Return how many transactions hold the first, any of the first two, and so on."""
        return [
            sum(count for row, count in self._rows if any(self._held(row, n) for n in nodes[:many]))
            for many in range(1, len(nodes) + 1)
        ]

    def _is_under(self, low: int, high: int) -> bool:
        return bool(high <= low < self._end[high])

    def _held(self, row: list[int], node: int) -> list[int]:
        return [held for held in row if self._is_under(held, node)]


class TooManySetsError(MemoryError):
    """The sets of `size` items that a search has to keep do not fit in memory."""

    def __init__(self, size: int) -> None:
        super().__init__(f"too many sets of {size} items")
        self.size = size


def find_moles(
    offsets: Ints,
    codes: Ints,
    counts: Ints,
    public: NDArray[np.bool_],
    private: NDArray[np.bool_],
    share: tuple[int, int],
    p: int,
    k: int,
    most: int,
    tell: Tell = nothing,
) -> list[NDArray[np.int32]]:
    """Return the minimal moles of 1, 2, …, p public items.

    A mole is a set of public items that somebody holds, but fewer than k, or too many of whom have
    one and the same private item. It is minimal when no part of it is a mole.

    Parameters
    ----------
    offsets, codes, counts : IN, distinct rows and how often each occurs
    public, private : IN, bool, (M,)
    share : of some transactions, at most share[0] / share[1] may hold the same private item; both
        below 2^63
    most : the compiled twin gives up when the sets of one size hold more items together

    Returns
    -------
    For each size the moles in lexicographic order; int32, (n, size)

    Raises
    ------
    TooManySetsError : there are more than `most`, or memory is used up; compiled twin only

    >>> rows = np.array([0, 2, 4, 5]), np.array([0, 1, 0, 2, 0]), np.array([1, 2, 3])
    >>> everything, none = np.ones(3, bool), np.zeros(3, bool)
    >>> [moles.tolist() for moles in find_moles(*rows, everything, none, (1, 1), 2, 2, 9)]
    [[[1]], []]
    """
    supports = Counter[tuple[int, ...]]()
    sharing = dict[tuple[int, ...], Counter[int]]()
    above, below = share
    for (start, stop), count in zip(pairwise(offsets.tolist()), counts.tolist(), strict=True):
        row = codes[start:stop].tolist()
        secret = {item: count for item in row if private[item]}
        for size in range(1, p + 1):
            for items in combinations([item for item in row if public[item]], size):
                tell()
                supports[items] += count
                sharing.setdefault(items, Counter()).update(secret)
    moles = {
        items
        for items, support in supports.items()
        if support < k or any(n * below > support * above for n in sharing[items].values())
    }
    minimal = [
        items
        for items in sorted(moles)
        if not any(
            part in moles for size in range(1, len(items)) for part in combinations(items, size)
        )
    ]
    return [
        np.array([items for items in minimal if len(items) == size], np.int32).reshape(-1, size)
        for size in range(1, p + 1)
    ]
