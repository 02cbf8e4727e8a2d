"""The least that any mapping without suppression must lose, with what makes it true.

The items that stay as they are have no conflicts among each other (`conflicts.py`), so they weigh
at most what `covers.py` proves. All others are in groups of two or more, and pay at least their
share, whatever the groups are:

- flat NCP: a group of s items costs s >= 2 for each occurrence of its items;
- NCP: each occurrence costs the leaves under the common ancestor of its group, which are no fewer
  than under the closest ancestor that the item shares with any other of its block;
- UL: a group costs (2^s - 1) * w * S, with S its supporting rows. S is at least the mean support of
  its items, (2^s - 1) / s >= 3/2, and w at least the least weight of a pair with the item: so each
  item pays 3/2 * (that weight) * (its support).

An item that is alone in its block can only stay: its neighbours cannot.

Whatever is merged, an item ends in a group within its block, which no more people have than have
something of the block. So where a rare item is in a block that fewer than k people have something
of, or two items with a conflict are in two blocks that fewer than k have something of both, nothing
can be published without suppression at all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from overcoat.algorithms.proof import times
from overcoat.context import QUIET, Stage
from overcoat.data.transactions import Transactions
from overcoat.least.conflicts import Conflicts, find_conflicts
from overcoat.least.covers import heaviest_independent, linear_programs
from overcoat.loss.error import count_pairs
from overcoat.policy.hierarchy import Tree
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.weights import DistanceWeights, TreeWeights
from overcoat.words import count_of

__all__ = ["Bounds", "find_bounds", "log2_of", "quick_bounds"]

Flags = NDArray[np.bool_]

_MOST_CONFLICTS = 300_000  # less than a second


@dataclass(frozen=True)
class Bounds:
    """What any mapping that meets the policy without suppression must lose at least.

    Attributes
    ----------
    n_items : M
    n_rare : items that cannot stay as they are, because fewer than k people have them
    n_conflicts : pairs of items that cannot both stay
    most_untouched : how many items can stay as they are, at most
    flat_ncp, ncp, ul : the least loss, exactly; None where there is no hierarchy for NCP, or where
        weights are a function, of which nothing is known
    possible : whether anything can be published without suppression, as far as single items and
        pairs tell; if not, the losses are None
    by : how it was computed: cliques, or a linear program over cliques
    whole : whether all pairs were looked at; if not, the bounds are true but weaker
    """

    n_items: int
    n_rare: int
    n_conflicts: int
    most_untouched: int
    flat_ncp: Fraction | None
    ncp: Fraction | None
    ul: Fraction | None
    possible: bool
    by: str
    whole: bool = True

    @property
    def least_touched(self) -> int:
        """How many items must be merged, at least."""
        return self.n_items - self.most_untouched

    @property
    def log2_ul(self) -> float | None:
        """The logarithm of the least UL; None where nothing must be lost, or nothing is known."""
        return log2_of(self.ul)

    def times_flat_ncp(self, found: float) -> float | None:
        """Return how many times the least possible a flat NCP is, at most."""
        return None if self.flat_ncp is None else _times(found, self.flat_ncp)

    def times_ncp(self, found: float) -> float | None:
        """Return how many times the least possible an NCP is, at most."""
        return None if self.ncp is None else _times(found, self.ncp)

    def __str__(self) -> str:
        """Render in words."""
        if not self.possible:
            return "without suppression the policy cannot be met at all"
        conflicts = "conflict" if self.n_conflicts == 1 else "conflicts"
        return (
            f"without suppression at least {count_of(self.least_touched, 'item')} of "
            f"{self.n_items:,} must be merged ({self.n_conflicts:,} {conflicts})"
        )


def log2_of(value: Fraction | None) -> float | None:
    """Return the logarithm of a positive fraction of any size, None of nothing.

    >>> log2_of(Fraction(1, 2**5000))
    -5000.0
    """
    return math.log2(value.numerator) - math.log2(value.denominator) if value else None


def _times(found: float, bound: Fraction) -> float:
    # What was found has been rounded to a double: by less than this.
    return times(Fraction(found), bound) if found > bound * (1 + Fraction(1, 10**12)) else 1.0


def find_bounds(
    data: Transactions, policy: BoundPolicy, *, program: bool = True, stage: Stage = QUIET
) -> Bounds:
    """Return what must be lost; see `overcoat.bounds`.

    Parameters
    ----------
    data, policy : the policy is bound to the data
    program : whether to use linear programs, where SciPy is there
    stage : called now and then
    """
    return _bounds(data, policy, find_conflicts(data, policy, stage=stage), program, stage)


def quick_bounds(data: Transactions, policy: BoundPolicy, *, stage: Stage = QUIET) -> Bounds | None:
    """Return what must be lost, without linear programs; None where it would take seconds."""
    conflicts = find_conflicts(data, policy, stage=stage)
    if len(conflicts.first) > _MOST_CONFLICTS:
        return None
    return _bounds(data, policy, conflicts, False, stage)


def _bounds(
    data: Transactions, policy: BoundPolicy, conflicts: Conflicts, program: bool, stage: Stage
) -> Bounds:
    block_of, n = policy.utility.block_of, data.n_items
    alone = np.bincount(block_of, minlength=1)[block_of] == 1 if n else np.zeros(0, bool)
    possible = _possible(data, policy, conflicts, stage)
    cover = _Cover(conflicts, alone, program, stage)
    occurrences: list[int] = data.supports.tolist()
    total = n * sum(occurrences)
    most = cover.untouched([1] * n)
    flat = Fraction(2 * cover.touched(occurrences), total) if total else Fraction(0)
    ncp = flat if policy.hierarchy is None else None
    if policy.hierarchy is not None and total:
        widths = _tree_widths(policy.hierarchy, block_of)
        ncp = Fraction(cover.touched(_products(widths, occurrences)), total)
    return Bounds(
        n_items=n,
        n_rare=int(conflicts.rare.sum()),
        n_conflicts=len(conflicts.first),
        most_untouched=most,
        flat_ncp=flat if possible else None,
        ncp=ncp if possible and policy.hierarchy is not None else None,
        ul=_least_ul(data, policy, cover) if possible else None,
        possible=possible,
        by="a linear program over cliques" if cover.programmed else "cliques",
        whole=conflicts.counted,
    )


def _possible(data: Transactions, policy: BoundPolicy, conflicts: Conflicts, stage: Stage) -> bool:
    """Whether merging whole blocks would give each rare item and each conflict its crowd."""
    names = [str(block) for block in policy.utility.block_of.tolist()]
    blocks = data.relabelled(names, stage=stage)
    held_by = np.array([blocks.vocabulary.code(name) for name in names], np.int64)
    if (blocks.supports[held_by[conflicts.rare]] < policy.k).any():
        return False
    first, second = held_by[conflicts.first], held_by[conflicts.second]
    across = first != second
    if not across.any():
        return True
    n = blocks.n_items
    one, other, together = count_pairs(blocks.offsets, blocks.codes, blocks.counts, n, stage)
    few = together < policy.k
    keys = np.minimum(first, second)[across] * n + np.maximum(first, second)[across]
    return not bool(np.isin(keys, one[few] * n + other[few]).any())


class _Cover:
    """The conflict graph without what is decided: who must be touched, and who cannot be."""

    def __init__(self, conflicts: Conflicts, alone: Flags, program: bool, stage: Stage) -> None:
        first, second = conflicts.first, conflicts.second
        forced = conflicts.rare.copy()
        forced[second[alone[first]]] = True
        forced[first[alone[second]]] = True
        free = ~forced & ~alone
        number = np.cumsum(free) - 1
        inside = free[first] & free[second]
        self._edges = number[first[inside]], number[second[inside]]
        self._free, self._forced = free, forced & ~alone
        self._program, self._stage = program, stage
        self.programmed = program and linear_programs() and bool(inside.any())
        self._known: dict[tuple[int, ...], int] = {}

    def touched(self, prices: Sequence[int]) -> int:
        """Return what those that are touched pay at least, each its price."""
        forced = sum(prices[item] for item in np.flatnonzero(self._forced).tolist())
        among = [prices[item] for item in np.flatnonzero(self._free).tolist()]
        unit = math.gcd(*among) or 1  # so that the same question is asked once
        key = tuple(price // unit for price in among)
        if key not in self._known:
            self._known[key] = heaviest_independent(
                len(key), self._edges, key, program=self._program, stage=self._stage
            )
        return forced + sum(among) - unit * self._known[key]

    def untouched(self, prices: Sequence[int]) -> int:
        """Return what those that stay weigh at most."""
        return sum(prices) - self.touched(prices)


def _products(widths: Sequence[int], occurrences: Sequence[int]) -> list[int]:
    return [width * held for width, held in zip(widths, occurrences, strict=True)]


def _least_ul(data: Transactions, policy: BoundPolicy, cover: _Cover) -> Fraction | None:
    weights, block_of = policy.weights, policy.utility.block_of
    if isinstance(weights, TreeWeights):
        widths = _tree_widths(weights.tree, block_of)
    elif isinstance(weights, DistanceWeights):
        widths = _distance_widths(weights.matrix, block_of)
    else:
        return None
    if not data.n_items:
        return Fraction(0)
    paid = cover.touched(_products(widths, data.supports.tolist()))
    whole = ((1 << data.n_items) - 1) * weights.denominator * data.n_transactions
    return Fraction(3 * paid, 2 * whole)


def _tree_widths(tree: Tree, block_of: NDArray[np.int32]) -> list[int]:
    """Return the weight at the closest ancestor that each item shares with one of its block."""
    parent = tree.parent.tolist()
    blocks = block_of.tolist()
    under: Counter[tuple[int, int]] = Counter()
    paths = []
    for item, block in enumerate(blocks):
        path, node = [], item
        while node >= 0:
            path.append(node)
            under[node, block] += 1
            node = parent[node]
        paths.append(path)
    found = []
    for path, block in zip(paths, blocks, strict=True):
        shared = next((node for node in path if under[node, block] > 1), None)
        found.append(0 if shared is None else int(tree.weight[shared]))
    return found


def _distance_widths(matrix: NDArray[np.int32], block_of: NDArray[np.int32]) -> list[int]:
    found = []
    for item, block in enumerate(block_of.tolist()):
        others = block_of == block
        others[item] = False
        found.append(int(matrix[item, others].min()) if others.any() else 0)
    return found
