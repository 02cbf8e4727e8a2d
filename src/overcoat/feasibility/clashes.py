"""Which utility sets cannot all be kept, and which of them can.

Merging within a set only ever makes crowds larger. So what is still violated when every utility set
has become a single group can be repaired in two ways only: by suppressing, or by giving a set up.
That makes the question which sets can be kept one about the sets alone, whatever the method.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from overcoat.algorithms.independent import largest_without
from overcoat.context import QUIET, Stage
from overcoat.data.transactions import Transactions
from overcoat.errors import PolicyError
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.privacy import BoundAllItemsets, BoundItemsets, BoundPgen

__all__ = ["Clash", "Clashes", "clashes_under", "find_clashes", "keep_most"]

Blocks = frozenset[int]
# Sets of utility sets that are counted, at most: a few seconds.
_MOST_SETS = 8_000_000
_SMALL = 4  # blocks of a clash whose parts are looked up one by one


@dataclass(frozen=True)
class Clash:
    """Utility sets that cannot all stay, and how many people have something of each of them.

    Attributes
    ----------
    blocks : their numbers; the number after the last is that of the rest
    people : how many, fewer than k
    """

    blocks: Blocks
    people: int


@dataclass(frozen=True)
class Clashes:
    """What is still violated when every utility set is one group.

    Attributes
    ----------
    names : of the utility sets and, where the rest is left intact, of the items in none of them
    people : how many people have something of each, and of the rest
    found : the clashes none of which contains another, the smallest first
    n_sets : how many of the names are those of utility sets
    least : how many people the smallest crowd of all that is violated has
    whole : whether sets of every size were looked at
    """

    names: tuple[str, ...]
    people: tuple[int, ...]
    found: tuple[Clash, ...]
    n_sets: int
    least: int
    whole: bool = True

    @property
    def rest(self) -> int:
        """The number that stands for the items in no utility set."""
        return len(self.names)


def find_clashes(data: Transactions, policy: BoundPolicy, *, stage: Stage = QUIET) -> Clashes:
    """Return what no merging can repair.

    >>> from overcoat.policy.policy import Policy
    >>> from overcoat.policy.privacy import AllItemsets
    >>> data = Transactions.of([{"a", "c"}, {"a"}, {"a"}, {"c"}, {"c"}, {"d"}, {"d"}])
    >>> policy = Policy(2, AllItemsets(2), {"x": ["a"], "y": ["c"]}).bind(data)
    >>> [(sorted(one.blocks), one.people) for one in find_clashes(data, policy).found]
    [([0, 1], 1)]
    """
    block_of = policy.utility.block_of
    names = [block.name for block in policy.utility.named]
    n_sets = len(names)
    if policy.utility.rest == "intact":
        alone = np.flatnonzero(block_of >= n_sets)  # in the order of their blocks
        names += [data.vocabulary[item] for item in alone.tolist()]
    return _Merged(data, policy, block_of, stage).clashes(tuple(names), n_sets)


def clashes_under(
    data: Transactions,
    policy: BoundPolicy,
    block_of: NDArray[np.int32],
    names: tuple[str, ...],
    *,
    stage: Stage = QUIET,
) -> Clashes:
    """Return what is violated when each of these blocks is one group; the last is the rest."""
    return _Merged(data, policy, block_of, stage).clashes(names, len(names))


class _Merged:
    """The data with every block a single group."""

    def __init__(
        self,
        data: Transactions,
        policy: BoundPolicy,
        block_of: NDArray[np.int32],
        stage: Stage,
    ) -> None:
        self._policy, self._block_of, self._stage = policy, block_of, stage
        rows = data.relabelled([str(block) for block in block_of.tolist()], stage=stage)
        numbers = [int(label) for label in rows.vocabulary]
        self._rows: list[tuple[Blocks, int]] = []
        for index, count in enumerate(rows.counts.tolist()):
            if index % 1024 == 0:
                stage()
            held = frozenset(numbers[code] for code in rows.row(index).tolist())
            if held:
                self._rows.append((held, count))
        self._supports: dict[Blocks, int] = {}
        self._whole = True

    def clashes(self, names: tuple[str, ...], n_sets: int) -> Clashes:
        people = Counter[int]()
        for held, count in self._rows:
            for block in held:
                people[block] += count
        found: dict[Blocks, int] = {}
        for family in self._policy.families:
            if isinstance(family, BoundPgen):
                found |= self._of_rows()
            elif isinstance(family, BoundItemsets):
                found |= self._of_itemsets(family)
            else:
                found |= self._of_all(family)
        smallest: dict[Blocks, None] = {}
        for blocks in sorted(found, key=lambda one: (len(one), sorted(one))):
            self._stage()
            if len(blocks) <= _SMALL:
                sizes = range(1, len(blocks))
                parts = (frozenset(p) for size in sizes for p in combinations(blocks, size))
                contains = any(part in smallest for part in parts)
            else:
                contains = any(other <= blocks for other in smallest)
            if not contains:
                smallest[blocks] = None
        counted = tuple(people[block] for block in range(len(names) + 1))
        return Clashes(
            names,
            counted,
            tuple(Clash(one, found[one]) for one in smallest),
            n_sets,
            min(found.values(), default=0),
            self._whole,
        )

    def _support(self, blocks: Blocks) -> int:
        if blocks not in self._supports:
            self._stage()
            self._supports[blocks] = sum(n for held, n in self._rows if blocks <= held)
        return self._supports[blocks]

    def _of_all(self, family: BoundAllItemsets) -> dict[Blocks, int]:
        """Return sets of up to m blocks with a linkable item that 1 to k - 1 people have."""
        asked = frozenset(self._block_of[family.linkable].tolist())
        rows = [(sorted(held & asked), count) for held, count in self._rows]
        m = family.m
        while m > 1 and _n_sets(rows, m) > _MOST_SETS:
            m -= 1  # larger ones are left to the run itself
            self._whole = False
        people = Counter[tuple[int, ...]]()
        for number, (held, count) in enumerate(rows):
            if number % 1024 == 0:
                self._stage(number, len(rows))
            for size in range(1, min(m, len(held)) + 1):
                for some in combinations(held, size):
                    people[some] += count
        k = self._policy.k
        return {frozenset(some): n for some, n in people.items() if n < k}

    def _of_itemsets(self, family: BoundItemsets) -> dict[Blocks, int]:
        found: dict[Blocks, int] = {}
        images = {
            frozenset(self._block_of[family.itemset(index)].tolist())
            for index in range(family.n_constraints)
        }
        for image in sorted(images, key=sorted):
            support = self._support(image)
            if support >= self._policy.k:
                continue
            parts = [image] if support else {held & image for held, _ in self._rows} - {Blocks()}
            found |= {part: n for part in parts if (n := self._support(part)) < self._policy.k}
        return found

    def _of_rows(self) -> dict[Blocks, int]:
        return {
            held: support
            for held, _ in self._rows
            if (support := self._support(held)) < self._policy.k
        }


def _n_sets(rows: list[tuple[list[int], int]], m: int) -> int:
    return sum(sum(comb(len(held), size) for size in range(1, m + 1)) for held, _ in rows)


def keep_most(
    data: Transactions,
    policy: BoundPolicy,
    clashes: Clashes | None = None,
    *,
    stage: Stage = QUIET,
) -> tuple[list[int], list[int]]:
    """Return the utility sets that can all be kept, as many as were found, and those to give up.

    What is given up goes to the rest. Sets with more people are preferred among equals.

    >>> from overcoat.policy.policy import Policy
    >>> from overcoat.policy.privacy import AllItemsets
    >>> rows = [{"a", "c"}, {"a", "d"}, {"a"}, {"a"}, {"c"}, {"c"}, {"d"}, {"d"}]
    >>> data = Transactions.of(rows)
    >>> keep_most(data, Policy(2, AllItemsets(2), {"x": ["a"], "y": ["c"]}).bind(data))
    ([0], [1])
    """
    if policy.utility.rest == "intact":
        raise PolicyError("where the rest is left intact, no utility set can be folded into it")
    if clashes is None:
        clashes = find_clashes(data, policy, stage=stage)
    rest = clashes.rest
    weight = clashes.people
    edges = [one.blocks for one in clashes.found if rest not in one.blocks]
    kept = set(largest_without(rest, edges, weight, stage=stage))

    def clashes_of(some: set[int]) -> list[Blocks]:
        stays = np.isin(policy.utility.block_of, sorted(some))
        block_of = np.where(stays, policy.utility.block_of, rest).astype(np.int32)
        left = clashes_under(data, policy, block_of, clashes.names, stage=stage)
        return [one.blocks for one in left.found]

    # What was given up has changed the rest, which may clash now.
    while kept and (left := clashes_of(kept)):
        for blocks in left:
            among = blocks & kept or (kept if blocks == {rest} else set())
            if among:  # else one of them went already
                kept.discard(min(among, key=lambda block: (weight[block], block)))
    # Whoever went for another's sake may be able to come back.
    others: dict[int, list[Blocks]] = {block: [] for block in range(rest)}  # of the edges with it
    for edge in edges:
        for block in edge:
            others[block].append(edge - {block})
    for block in sorted(set(range(rest)) - kept, key=lambda block: (-weight[block], block)):
        if not any(edge <= kept for edge in others[block]) and not clashes_of(kept | {block}):
            kept.add(block)
    return sorted(kept), sorted(set(range(rest)) - kept)
