"""A start for a search where another method refused: as little suppression as can be found.

Merging never breaks a pair of groups: the sum of two counts of k or more, or of none, is so, too.
So where all pairs are protected, the state in which every utility block is one group breaks least,
and what is broken there can only be mended by suppression. A method that merges step by step
suppresses whole groups. But two blocks that 1 to k-1 people have together are told apart by single
items: of every two items, one of each, that somebody has, one has to go. The items that stay are a
set in which no such two are: an independent set of a graph, the larger the better. Suppression
may leave other blocks with 1 to k-1 people; they are told apart, too, until nothing is broken.
Where there are few ways to choose what is suppressed, all are tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from overcoat.algorithms.independent import largest_without
from overcoat.algorithms.objective import limits_of, rules_of
from overcoat.context import Stage
from overcoat.data.transactions import Transactions
from overcoat.kernels import annealing_class
from overcoat.kernels.problem import Price
from overcoat.partition import Partition
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.privacy import BoundItemsets

__all__ = ["coarsest", "edges_of", "least_suppressed"]

_FEW = 5000  # choices of what to suppress: then all are tried
_ROUNDS = 30
_MOST_ITEMS = 4000  # beyond, independent sets take too long
_MOST_ROWS = 20_000_000  # looked at for all sets of groups that are asked for


def coarsest(policy: BoundPolicy) -> Partition:
    """Return the partition in which every utility block is one group."""
    return Partition(policy.utility.block_of)


def least_suppressed(
    data: Transactions, policy: BoundPolicy, known: Partition, stage: Stage
) -> Partition:
    """Return a partition that meets the policy, s apart, with few suppressed items.

    Parameters
    ----------
    known : one that does; returned where nothing better is found
    """
    start = coarsest(policy)
    n_asked = sum(1 for _ in _asked(policy, start.group_of))
    if data.n_items > _MOST_ITEMS or n_asked * data.n_distinct > _MOST_ROWS:
        return known
    rules, limits = rules_of(data, policy), limits_of(data, policy, start)
    price = Price.nothing(data.n_items)
    kernel = annealing_class(stage.engine)(rules, limits, price, start.group_of, 0)
    home = kernel.slots()
    few = sum(math.comb(data.n_items, size) for size in range(policy.budget + 1))
    if few <= _FEW:  # all choices
        for size in range(policy.budget + 1):
            for chosen in combinations(range(data.n_items), size):
                stage()
                for item in chosen:
                    kernel.move(item, -1)
                if not kernel.broken():
                    return Partition(kernel.slots())
                for item in chosen:
                    kernel.move(item, int(home[item]))
        return known
    edges: set[frozenset[int]] = set()
    gone: set[int] = set()
    for number in range(_ROUNDS):  # mostly two or three
        stage(number, _ROUNDS)
        more = edges_of(data, policy, kernel.slots()) - edges
        if not more:
            break
        edges |= more
        kept = largest_without(data.n_items, sorted(edges, key=sorted), data.supports.tolist())
        now = set(range(data.n_items)) - set(kept)
        for item in sorted(now ^ gone):
            kernel.move(item, -1 if item in now else int(home[item]))
        gone = now
        if len(gone) >= len(known.suppressed) or len(gone) > policy.budget:
            return known
    if not kernel.holds():
        return known
    for item in sorted(gone, key=lambda one: (-int(data.supports[one]), one)):
        kernel.move(item, int(home[item]))
        if kernel.broken():
            kernel.move(item, -1)
    found = Partition(kernel.slots())
    return found if len(found.suppressed) < len(known.suppressed) else known


def edges_of(
    data: Transactions, policy: BoundPolicy, group_of: NDArray[np.int32]
) -> set[frozenset[int]]:
    """Return the sets of items not all of which can stay, if the groups are to stay whole.

    Of each set of groups that 1 to k-1 people have, those of one item of each that somebody has.
    """
    rows: list[dict[int, list[int]]] = []  # the items of each row, by their groups
    for start, end in zip(data.offsets[:-1].tolist(), data.offsets[1:].tolist(), strict=True):
        held: dict[int, list[int]] = {}
        for item in data.codes[start:end].tolist():
            if group_of[item] >= 0:
                held.setdefault(int(group_of[item]), []).append(item)
        rows.append(held)
    counts: dict[tuple[int, ...], int] = {}
    where: dict[tuple[int, ...], list[int]] = {}
    for wanted, size in _asked(policy, group_of):
        known = set(counts)  # those of other families
        for number, held in enumerate(rows):
            for chosen in combinations(sorted(wanted & held.keys()), size):
                if chosen not in known:
                    counts[chosen] = counts.get(chosen, 0) + int(data.counts[number])
                    if counts[chosen] < policy.k:
                        where.setdefault(chosen, []).append(number)
    found = set()
    for chosen, count in counts.items():
        if count < policy.k:
            for number in where[chosen]:
                found |= {frozenset(one) for one in product(*(rows[number][g] for g in chosen))}
    return found


def _asked(policy: BoundPolicy, group_of: NDArray[np.int32]) -> Iterator[tuple[set[int], int]]:
    """Yield groups, and how many of them at a time are asked for; each only once."""
    for family in policy.families:
        if isinstance(family, BoundItemsets):
            for index in range(family.n_constraints):
                image = {int(group_of[item]) for item in family.itemset(index).tolist()} - {-1}
                for size in range(1, len(image) + 1):
                    yield image, size
        else:
            linked = {int(one) for one in group_of[family.linkable] if one >= 0}
            for size in range(1, family.largest + 1):
                yield linked, size
