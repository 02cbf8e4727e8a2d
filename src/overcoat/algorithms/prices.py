"""What groups cost, in whole numbers: an exhaustive search adds and compares millions of them.

Every objective is a sum over groups of two or more items and over suppressed items, times a common
denominator. A search also needs to know what a state must at least pay when something in it has to
change; each objective has its own share for that:

- `touch(x)`: what an item that is not placed yet costs, if it does not stay alone and untouched;
- `growth(A, rest)`: what a group A costs more, if any of `rest` joins it, beyond their own shares.

They add up. With X the items that join A, cost(A and X) - cost(A) >= growth(A) + sum of touch(x)
over X, and a group of r >= 2 items that were not placed costs at least the sum of their shares:

- flat NCP, s * O for s items and O occurrences: touch = 2 * o, growth = O(A) + (s - 1) * (least o),
  of a single item 2 * o. For (s + r)(O + O(X)) - s * O - 2 * O(X) is least for r = 1.
- NCP, W * O with W the leaves under the common ancestor, which never falls: touch = (least W of a
  pair with x) * o, growth = (least W with one more - W) * O, of a single item (least W) * o.
- UL, (2^s - 1) * w * S with w and S (supporting rows) that never fall: touch = 3/2 * (least w of a
  pair with x) * o, because (2^r - 1) / r >= 3/2 and S is at least the mean of the o; growth =
  (2^s - 3/2) * (least w * S with one more), of a single item 3/2 times that.

A function of the user may weigh a larger group less. Then shares are 0, and a group counts for the
cheapest of all groups that it can become.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from overcoat.algorithms.scopes import bits
from overcoat.data.transactions import Transactions
from overcoat.partition import Partition
from overcoat.policy.hierarchy import Tree
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.weights import CallableWeights, TreeWeights, Weights

__all__ = ["FlatPrices", "NcpPrices", "Objective", "Prices", "UlPrices", "prices_of"]

Objective = Literal["ul", "ncp", "flat"]


def prices_of(objective: Objective, data: Transactions, policy: BoundPolicy) -> Prices:
    """Return the prices of an objective; NCP without a hierarchy is flat."""
    if objective == "ul":
        return UlPrices(data, policy)
    if objective == "ncp" and policy.hierarchy is not None:
        return NcpPrices(data, policy, policy.hierarchy)
    return FlatPrices(data, policy)


class Prices(ABC):
    """What groups and suppressed items cost, over `whole`.

    Attributes
    ----------
    whole : the common denominator of the costs
    infinite : more than any partition costs
    """

    whole: int

    def __init__(self, data: Transactions, policy: BoundPolicy) -> None:
        self.data = data
        self.occurrences: list[int] = data.supports.tolist()
        block_of = policy.utility.block_of
        self.block: list[int] = [0] * data.n_items  # the items of each item's block, as bits
        masks: dict[int, int] = {}
        for item, block in enumerate(block_of.tolist()):
            masks[block] = masks.get(block, 0) | 1 << item
        for item, block in enumerate(block_of.tolist()):
            self.block[item] = masks[block]
        self.blocks = list(masks.values())
        self._costs: dict[int, int] = {}
        self._growths: dict[tuple[int, int], int] = {}
        self._shares: dict[int, int | None] = {}

    @property
    def infinite(self) -> int:
        """More than any partition costs: all blocks whole and all items gone, twice over."""
        every = sum(map(self.cost, self.blocks))
        every += sum(self.gone(item) for item in range(self.data.n_items))
        return 2 * every + 1

    def cost(self, group: int) -> int:
        """Return what a group costs; a single item nothing."""
        found = self._costs.get(group)
        if found is None:
            found = self._cost(group) if group & (group - 1) else 0
            self._costs[group] = found
        return found

    def least(self, group: int) -> int:
        """Return what a group, or whatever it grows to, costs at least."""
        return self.cost(group)

    @abstractmethod
    def gone(self, item: int) -> int:
        """Return what a suppressed item costs."""

    def touch(self, item: int) -> int | None:
        """Return the share of an item that is not alone; None if it has nobody to be with."""
        if item not in self._shares:
            others = self.block[item] & ~(1 << item)
            self._shares[item] = self._touch(item, bits(others)) if others else None
        return self._shares[item]

    def growth(self, group: int, rest: int) -> int:
        """Return what a group costs more when any of `rest`, which are some, joins it."""
        found = self._growths.get((group, rest))
        if found is None:
            found = self._growth(group, bits(rest))
            self._growths[group, rest] = found
        return found

    def of(self, partition: Partition) -> int:
        """Return what a partition costs."""
        groups = (sum(1 << item for item in group.tolist()) for group in partition.groups)
        return sum(map(self.cost, groups)) + sum(map(self.gone, partition.suppressed.tolist()))

    def as_fraction(self, cost: int) -> Fraction:
        """Return a cost as the measure it is of."""
        return Fraction(cost, self.whole) if self.whole else Fraction(0)

    @abstractmethod
    def _cost(self, group: int) -> int:
        """Return what a group of two or more items costs."""

    @abstractmethod
    def _touch(self, item: int, others: list[int]) -> int:
        """Return the share of an item that is not alone, given whom it can be with."""

    @abstractmethod
    def _growth(self, group: int, rest: list[int]) -> int:
        """Return what a group costs more when any of the rest joins it."""

    def _held(self, group: int) -> int:
        """Return how often the items of a group occur."""
        return sum(self.occurrences[item] for item in bits(group))


class FlatPrices(Prices):
    """Flat NCP."""

    def __init__(self, data: Transactions, policy: BoundPolicy) -> None:
        super().__init__(data, policy)
        self.whole = data.n_items * sum(self.occurrences)

    def gone(self, item: int) -> int:
        """Return M times its occurrences."""
        return self.data.n_items * self.occurrences[item]

    def _cost(self, group: int) -> int:
        return group.bit_count() * self._held(group)

    def _touch(self, item: int, others: list[int]) -> int:
        return 2 * self.occurrences[item]

    def _growth(self, group: int, rest: list[int]) -> int:
        size, held = group.bit_count(), self._held(group)
        if size == 1:
            return 2 * held
        return held + (size - 1) * min(self.occurrences[item] for item in rest)


class NcpPrices(Prices):
    """NCP with a hierarchy."""

    def __init__(self, data: Transactions, policy: BoundPolicy, tree: Tree) -> None:
        super().__init__(data, policy)
        self._weights = TreeWeights(tree)
        self.whole = data.n_items * sum(self.occurrences)

    def gone(self, item: int) -> int:
        """Return M times its occurrences."""
        return self.data.n_items * self.occurrences[item]

    def _width(self, group: int) -> int:
        return self._weights.weight(np.array(bits(group), np.int32))

    def _cost(self, group: int) -> int:
        return self._width(group) * self._held(group)

    def _touch(self, item: int, others: list[int]) -> int:
        return min(self._width(1 << item | 1 << other) for other in others) * self._held(1 << item)

    def _growth(self, group: int, rest: list[int]) -> int:
        wider = min(self._width(group | 1 << item) for item in rest)
        before = self._width(group) if group & (group - 1) else 0
        return (wider - before) * self._held(group)


class UlPrices(Prices):
    """UL, twice over, so that halves are whole."""

    def __init__(self, data: Transactions, policy: BoundPolicy) -> None:
        super().__init__(data, policy)
        self._weights: Weights = policy.weights
        self._grows = not isinstance(policy.weights, CallableWeights)
        penalties = [Fraction(float(penalty)) for penalty in policy.penalties]
        self._scale = 2 * math.lcm(1, *(one.denominator for one in penalties))
        subsets = (1 << data.n_items) - 1
        self.whole = self._scale * subsets * policy.weights.denominator * data.n_transactions
        self._gone = [int(penalty * self.whole) for penalty in penalties]
        self._holders: dict[int, NDArray[np.bool_]] = {}
        self._supports: dict[int, int] = {}
        self._least: dict[int, int] = {}
        row_of = np.repeat(np.arange(data.n_distinct), data.lengths)
        for item in range(data.n_items):
            held = np.zeros(data.n_distinct, bool)
            held[row_of[data.codes == item]] = True
            self._holders[item] = held

    @property
    def infinite(self) -> int:
        """More than any partition costs; no weight exceeds 1."""
        size = max((block.bit_count() for block in self.blocks), default=0)
        return 2 * (len(self.block) + 1) * self.whole * ((1 << size) + 1) + 2 * sum(self._gone) + 1

    def gone(self, item: int) -> int:
        """Return the penalty of an item."""
        return self._gone[item]

    def least(self, group: int) -> int:
        """Return what a group, or whatever it grows to, costs at least."""
        if self._grows:
            return self.cost(group)
        found = self._least.get(group)
        if found is None:
            rest = self.block[(group & -group).bit_length() - 1] & ~group
            larger = (self.least(group | 1 << item) for item in bits(rest))
            found = min([self.cost(group), *larger])
            self._least[group] = found
        return found

    def _support(self, group: int) -> int:
        found = self._supports.get(group)
        if found is None:
            held = np.logical_or.reduce([self._holders[item] for item in bits(group)])
            found = int(self.data.counts[held].sum())
            self._supports[group] = found
        return found

    def _weighed(self, group: int) -> int:
        """Return w * S of a group of two or more."""
        weight = self._weights.weight(np.array(bits(group), np.int32))
        return weight * self._support(group) * self._scale

    def _cost(self, group: int) -> int:
        return ((1 << group.bit_count()) - 1) * self._weighed(group)

    def _touch(self, item: int, others: list[int]) -> int:
        if not self._grows:
            return 0
        weights = (self._weights.weight(np.array([item, other], np.int32)) for other in others)
        return 3 * min(weights) * self.occurrences[item] * self._scale // 2

    def _growth(self, group: int, rest: list[int]) -> int:
        if not self._grows:
            return 0
        least = min(self._weighed(group | 1 << item) for item in rest)
        size = group.bit_count()
        return 3 * least // 2 if size == 1 else ((2 << size) - 3) * least // 2
