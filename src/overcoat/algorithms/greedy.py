"""Greedy: (h,k,p)-coherence by suppression (Xu, Wang, Fu, Yu, KDD 2008).

A *mole* is a set of at most p public items that somebody holds, but fewer than k, or more than h
percent of whose holders have one and the same private item. The data are coherent when there is
none. Symbols in comments are the paper's.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from heapq import heapify, heappop, heapreplace

import numpy as np
from numpy.typing import NDArray

from overcoat.algorithms.outcome import Outcome, Step
from overcoat.context import QUIET, Stage
from overcoat.data.memory import available_memory
from overcoat.data.native import rows_by_item
from overcoat.data.transactions import Transactions
from overcoat.errors import PolicyError
from overcoat.kernels import TooManySetsError, mole_finder
from overcoat.partition import Partition
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.privacy import BoundAllItemsets, BoundCoherence

__all__ = ["greedy", "greedy_problems"]


def greedy_problems(policy: BoundPolicy) -> Iterable[str]:
    """Say what of a policy greedy cannot honour."""
    if len(policy.families) > 1:
        yield "greedy takes one family of itemsets: give km (its p) alone, or use coat"
    for family in policy.families:
        if not isinstance(family, BoundAllItemsets):
            yield f"greedy protects all itemsets of up to p items, not {family.title}; use coat"


def greedy(
    data: Transactions,
    policy: BoundPolicy,
    stage: Stage = QUIET,
) -> Outcome:
    """Suppress the public item with the most minimal moles per holder, until no mole is left.

    Parameters as for `coat.coat`. Utility sets do not matter: what is left stands alone, and so
    inside any block.

    >>> from overcoat.policy.policy import Policy
    >>> from overcoat.policy.privacy import AllItemsets
    >>> data = Transactions.of(map(set, ["abc", "abc", "ab", "ac", "bd", "bd"]))
    >>> outcome = greedy(data, Policy(3, (AllItemsets(2),), max_suppressed=100).bind(data))
    >>> outcome.partition.group_of  # d is too rare; bc is matched by two
    array([ 0,  1, -1, -1], dtype=int32)
    """
    (family,) = policy.families
    assert isinstance(family, BoundAllItemsets)
    run = _Run(data, policy, _find_moles(data, family, policy.k, stage))
    # Nothing but the item itself is in a mole of one item: it has to go.
    for single in run.singles:
        run.suppress(single)
        stage(len(run.steps))
    while (item := run.best()) is not None:
        run.suppress(item)
        stage(len(run.steps))
    return run.outcome()


def _find_moles(
    data: Transactions, family: BoundAllItemsets, k: int, stage: Stage
) -> list[NDArray[np.int32]]:
    """Return the minimal moles, by size."""
    private, share = np.zeros(data.n_items, bool), Fraction(1)
    if isinstance(family, BoundCoherence) and family.limits_private:
        private, share = family.private, _largest_share(family.h / 100, data.n_transactions)
    free = available_memory()
    most = 1 << 40 if free is None else free // _BYTES
    try:
        return mole_finder(stage.engine)(
            *(data.offsets, data.codes, data.counts, family.linkable, private),
            *(share.as_integer_ratio(), family.largest, k, most, stage),
        )
    except TooManySetsError as error:
        raise PolicyError(
            f"the sets of {error.size} items that greedy has to look at do not fit in memory; "
            f"take a smaller p (it is {family.m}), a larger k or fewer public items"
        ) from None


def _largest_share(h: Fraction, n: int) -> Fraction:
    """Return the largest fraction up to h, from 0 to 1, with a denominator of at most n.

    No more than so many of at most n people are as many as no more than h of them; and its terms
    are no larger than the data, however h is written.

    >>> _largest_share(Fraction("0.33333333333333333333"), 10)
    Fraction(3, 10)
    """
    n = max(n, 1)
    nearest = h.limit_denominator(n)
    if nearest <= h:
        return nearest
    # The one before a / b in order is c / d with a d - b c = 1 and the largest d that there is.
    a, b = nearest.as_integer_ratio()
    inverse = pow(a, -1, b) if b > 1 else 1
    d = inverse + (n - inverse) // b * b
    return Fraction((a * d - 1) // b, d)


# What an item of a mole takes: itself, its place in the index, and what sorting the index takes.
_BYTES = 32


class _Run:
    """The moles that are left, and what was suppressed.

    The minimal moles are found once. Suppressing an item takes away the sets that hold it; all
    others keep their supports and the private items of their holders, so that what was a mole
    remains one, what was none does not become one, and no minimal mole is new.
    """

    def __init__(
        self, data: Transactions, policy: BoundPolicy, moles: list[NDArray[np.int32]]
    ) -> None:
        self.steps: list[Step] = []
        self.singles: list[int] = moles[0].ravel().tolist() if moles else []
        self._budget = policy.budget
        self._group_of = np.arange(data.n_items, dtype=np.int32)
        self._unmet: dict[tuple[int, ...], None] = {}
        self._loss = data.supports  # IL(e)
        self._moles = [_Moles(sets, data.n_items) for sets in moles]
        self._n_moles = sum(
            (left.n_of_item for left in self._moles), np.zeros(data.n_items, np.int64)
        )  # MM(e)
        # (-MM(e) / IL(e), e); the number of moles only falls, so an old entry comes too early
        self._heap = [self._entry(item) for item in np.flatnonzero(self._n_moles).tolist()]
        heapify(self._heap)

    def best(self) -> int | None:
        """Return the item of largest MM(e) / IL(e), the first among equals, None without moles."""
        while self._heap:
            quotient, item = self._heap[0]
            if not self._n_moles[item]:
                heappop(self._heap)
            elif self._entry(item)[0] != quotient:
                heapreplace(self._heap, self._entry(item))
            else:
                return item
        return None

    def _entry(self, item: int) -> tuple[Fraction, int]:
        return Fraction(-int(self._n_moles[item]), int(self._loss[item])), item

    def suppress(self, item: int) -> None:
        """Take an item away, and the moles that hold it."""
        constraint = next(
            first for moles in self._moles if (first := moles.first_with(item)) is not None
        )
        self.steps.append(Step("suppress", item, -1, int(self._loss[item]), 0, constraint))
        self._group_of[item] = -1
        for moles in self._moles:
            np.subtract.at(self._n_moles, moles.remove(item).ravel(), 1)
        if len(self.steps) > self._budget:
            self._unmet[constraint] = None  # and goes on, to learn how much it takes

    def outcome(self) -> Outcome:
        """Return what the run came to."""
        return Outcome(Partition(self._group_of), tuple(self.steps), tuple(self._unmet))


class _Moles:
    """The minimal moles of one size, and in which of them each item is."""

    def __init__(self, sets: NDArray[np.int32], n_items: int) -> None:
        self._sets = sets
        self._left = np.ones(len(sets), bool)
        offsets = np.arange(len(sets) + 1) * sets.shape[1]
        self._first, self._moles_of = rows_by_item(offsets, sets.ravel(), n_items)
        self.n_of_item = np.diff(self._first)

    def first_with(self, item: int) -> tuple[int, ...] | None:
        """Return the first mole left that holds an item."""
        left = self._with(item)
        return tuple(self._sets[left[0]].tolist()) if len(left) else None

    def remove(self, item: int) -> NDArray[np.int32]:
        """Remove the moles that hold an item, and return them."""
        gone = self._with(item)
        self._left[gone] = False
        return self._sets[gone]

    def _with(self, item: int) -> NDArray[np.int32]:
        held: NDArray[np.int32] = self._moles_of[self._first[item] : self._first[item + 1]]
        return held[self._left[held]]
