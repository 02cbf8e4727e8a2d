"""Exact: the least loss that the policy allows, proven. For small domains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from overcoat.algorithms.coat import coat
from overcoat.algorithms.optimum import Optimiser
from overcoat.algorithms.outcome import Outcome
from overcoat.algorithms.prices import Objective, prices_of
from overcoat.algorithms.proof import Proof
from overcoat.algorithms.scopes import Scopes
from overcoat.context import QUIET, Stage
from overcoat.data.transactions import Transactions
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.weights import CallableWeights

__all__ = ["MOST_ITEMS", "exact", "exact_problems"]

# About what can be searched: beyond, even a state costs too much, and none is ever proven.
MOST_ITEMS = 48  # that have a partner
_LARGEST = 20  # items of a block
_LARGEST_ASKED = 12  # the same where every group has to be asked for: 2^12 questions


def exact(
    data: Transactions,
    policy: BoundPolicy,
    minimise: Objective = "ul",
    nodes: int = 200_000,
    stage: Stage = QUIET,
) -> Outcome:
    """Return the partition of least loss that meets the policy; the first of equals.

    Where COAT meets the policy its loss is where the search starts. When nothing meets the policy
    within s, the outcome has the least suppression that does, as far as that is found.
    """
    start = coat(data, policy, stage)
    scopes, prices = Scopes(data, policy), prices_of(minimise, data, policy)

    def search(budget: int, limit: int) -> Optimiser:
        return Optimiser(scopes, prices, data.n_items, budget, limit, stage)

    found = search(policy.budget, nodes).find(None if start.unmet else start.partition)
    if found.partition is not None:
        loss, bound = prices.as_fraction(found.cost), prices.as_fraction(found.bound)
        return Outcome(found.partition, proof=Proof(minimise, loss, bound, found.nodes))
    partition, left = start.partition, nodes
    for budget in range(policy.budget + 1, len(start.partition.suppressed)):
        more = search(budget, left).find()
        left -= more.nodes
        if more.partition is not None:
            partition = more.partition
        if more.partition is not None or left <= 0:
            break
    return replace(start, partition=partition, steps=())


def exact_problems(policy: BoundPolicy) -> Iterator[str]:
    """Say why a policy is beyond reach, before the work starts."""
    sizes = np.bincount(policy.utility.block_of) if len(policy.utility.block_of) else np.zeros(1)
    largest, free = int(sizes.max()), int(sizes[sizes > 1].sum())
    most = _LARGEST_ASKED if isinstance(policy.weights, CallableWeights) else _LARGEST
    if largest > most:
        asked = " where weights are a function" if most < _LARGEST else ""
        yield (
            f"exact looks at every way to sort the items of a block into groups, and can do that "
            f"for blocks of about 12 items, at most {most}{asked}; the largest has {largest:,}. "
            "Name smaller utility sets (--rest intact leaves the others alone), or take another "
            "method: `overcoat evaluate --bounds` says how far from the least its loss can be"
        )
    elif free > MOST_ITEMS:
        yield (
            f"exact can search at most {MOST_ITEMS} items that may be merged; here "
            f"{free:,} may. Name fewer utility sets with --rest intact, or take another method"
        )
