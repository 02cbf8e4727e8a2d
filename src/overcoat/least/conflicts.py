"""Which items cannot stay as they are, and which two cannot both: the conflict graph.

Two items that 1 to k-1 people have together, and that a family protects together, cannot both be
published as they are: their pair would be violated. An item that fewer than k have cannot be,
either. This says nothing about what becomes of them, so it holds for every mapping without
suppression; with suppression an item may go, and take its conflicts with it.

Larger sets only add to this (all triples protect all pairs, too), so it holds for every m.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET, Stage
from overcoat.data.transactions import Transactions
from overcoat.loss.error import ExpectedError, count_pairs, n_pairs
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.privacy import BoundItemsets, BoundPgen

__all__ = ["Conflicts", "find_conflicts"]

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]

_MOST_PARTS = 20_000_000  # pairs within explicit itemsets that are looked at


@dataclass(frozen=True, eq=False)
class Conflicts:
    """What cannot stay.

    Attributes
    ----------
    rare : bool, (M,); items that cannot stay as they are
    first, second : pairs of items that cannot both
    counted : whether all pairs were looked at; if not, there may be more
    """

    rare: Flags
    first: Numbers
    second: Numbers
    counted: bool = True


def find_conflicts(data: Transactions, policy: BoundPolicy, *, stage: Stage = QUIET) -> Conflicts:
    """Return the conflicts of all families.

    >>> from overcoat.policy.policy import Policy
    >>> from overcoat.policy.privacy import AllItemsets
    >>> data = Transactions.of([{"a", "b"}, {"a"}, {"b"}, {"c"}])
    >>> found = find_conflicts(data, Policy(2, AllItemsets(2)).bind(data))
    >>> found.rare.tolist(), list(zip(found.first.tolist(), found.second.tolist()))
    ([False, False, True], [(0, 1)])
    """
    n, k = data.n_items, policy.k
    single = np.zeros(n, bool)
    wide: list[Flags] = []  # every pair of these items is protected
    given: list[Numbers] = []  # pairs that explicit itemsets protect, as keys
    room = _MOST_PARTS
    whole = True
    for family in policy.families:
        if isinstance(family, BoundPgen):
            # A pair that 1 to k-1 people have is part of a row of Pgen: of one that holds it and
            # that no other contains.
            single[:] = True
            wide.append(np.ones(n, bool))
        elif isinstance(family, BoundItemsets):
            single[family.codes] = True
            for index in range(family.n_constraints):
                itemset = family.itemset(index).astype(np.int64)
                if index % 256 == 0:
                    stage()
                room -= len(itemset) ** 2
                if room < 0:
                    whole = False
                    break
                pairs = list(combinations(itemset.tolist(), 2))
                given.append(np.array([a * n + b for a, b in pairs], np.int64))
        elif family.m:
            single |= family.linkable
            if family.m > 1:
                wide.append(family.linkable)
    rare = single & (data.supports < k)
    none = np.empty(0, np.int64)
    if n_pairs(data) > ExpectedError.MOST:
        return Conflicts(rare, none, none, counted=False)
    first, second, together = count_pairs(data.offsets, data.codes, data.counts, n, stage)
    few = together < k
    first, second = first[few], second[few]
    kept = np.zeros(len(first), bool)
    for linkable in wide:
        kept |= linkable[first] & linkable[second]
    if given:
        kept |= np.isin(first * n + second, np.concatenate(given))
    return Conflicts(rare, first[kept], second[kept], whole)
