"""The slow twin of `descending`: where items can move, and descent, from the definitions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from overcoat.kernels.problem import FEW_ITEMS, Limits, Price, Rules
from overcoat.kernels.reference import Tell, nothing
from overcoat.kernels.states import Losses, Slots, State

__all__ = ["Descending", "lowest_free"]


class Descending(State):
    """Partitions that items leave where that gains; see `overcoat.kernels.moves.Annealing`."""

    def __init__(
        self,
        rules: Rules,
        limits: Limits,
        price: Price,
        group_of: NDArray[np.int32],
        seed: int,
        tell: Tell = nothing,
    ) -> None:
        super().__init__(rules, limits, price, group_of)
        self._tell, self._random = tell, seed
        gone = self._slots.count(-1)
        self._budget = max(rules.budget, gone)
        self._leader: list[int] = rules.leaders().tolist()
        leading = [x for x, leader in enumerate(self._leader) if leader == x]
        self._mates = {
            block: [x for x in leading if rules.block_of[x] == block]
            for block in set(rules.block_of.tolist())
        }
        self._now = self._total(self._slots)
        self._best, self._fewest = math.inf, gone
        self._best_slots, self._moves = self._slots, 0
        self._remember()
        self._descends, self._looks, self._rests = False, 0, False

    # -- what is asked --------------------------------------------------------------------

    def slots(self) -> NDArray[np.int32]:
        """Return the slot of each item; -1 when it is suppressed."""
        return np.array(self._slots, np.int32)

    def losses(self) -> Losses:
        """Return flat NCP, NCP and UL, in the units of the limits."""
        return self._losses(self._slots)

    def holds(self) -> bool:
        """Whether the whole policy holds now, the budget apart."""
        return self._satisfied(self._slots)

    @property
    def cost_now(self) -> float:
        """What the partition costs."""
        return self._total(self._slots)

    @property
    def cost_of_best(self) -> float:
        """What the best partition so far costs."""
        return self._best

    @property
    def moves(self) -> int:
        """How many moves were made."""
        return self._moves

    @property
    def looks(self) -> int:
        """How many looks the descent has taken."""
        return self._looks

    @property
    def at_rest(self) -> bool:
        """Whether the descent has found that no item can move, no group be undone, with a gain."""
        return self._rests

    def best_group_of(self) -> NDArray[np.int32]:
        """Return the slot of each item in the best partition so far."""
        return np.array(self._best_slots, np.int32)

    def targets(self, x: int) -> dict[int, float]:
        """Return where an item may go, and by how much the cost then grows; for tests.

        Slots; one that is empty stands for a group of its own, -1 for none.
        """
        return {
            target: self._change(x, target)
            for target in self._targets(x)
            if self._is_allowed(self._moved(x, target))
        }

    def move(self, x: int, target: int) -> None:
        """Move an item, whatever that breaks; for tests."""
        self._slots, self._descends = self._moved(x, target), False
        self._now = self._total(self._slots)

    def broken(self) -> int:
        """Return by how much the policy is broken: 0 where it holds, the budget apart.

        Whatever 1 to k-1 hold counts as many as hold it: they all have to be told apart no more.
        """
        k, slots, total = self._rules.k, self._slots, 0
        seen = self._asked(slots)
        total += sum(met for one in seen if (met := self._met(frozenset(one), slots)) < k)
        if not total:
            total += sum(
                not self._all_sets_hold(slots, group) for group in sorted(set(slots) - {-1})
            )
        return total + sum(not self._set_holds(p, slots) for p in self._explicit())

    # -- descent ----------------------------------------------------------------------------

    def descend(self, looks: int, tell: Tell = nothing) -> None:
        """Go from the best there was to where no item can move, no group be undone, with a gain.

        When it has taken so many looks in all it ends there, and may go on at the next call. Each
        is at an item, or at a group and as many as it has items.
        """
        self._tell, self._loose = tell, False
        if not self._descends:
            self._slots, self._now = self._best_slots, self._total(self._best_slots)
            self._descends, self._looks, self._ahead = True, 0, self._descent()
            self._next = next(self._ahead, 0)
        while self._next and self._looks < looks:
            self._looks += self._next
            self._next = next(self._ahead, 0)
        self._rests = not self._next
        self._now = self._total(self._slots)
        if self._slots.count(-1) <= self._rules.budget and (
            self._now < self._best or self._best == math.inf
        ):
            self._remember()

    def _descent(self) -> Iterator[int]:
        """Descend look by look: yield, before each, how many it counts for."""
        better = True
        while better:
            yield from self._settle_down()
            better, slot = False, 0
            while slot <= max(self._slots, default=-1):
                if (size := self._slots.count(slot)) > 1:
                    yield size
                    better = self._keep_if_better(self._undone(slot)) or better
                slot += 1
            if not better and len(self._slots) <= FEW_ITEMS:
                better = any(map(self._keep_if_better, self._joint_moves()))

    def _settle_down(self) -> Iterator[int]:
        """Move items until none gains: by turns all, and those whose groups have changed."""
        everyone, awake = True, set[int]()
        while True:
            moved = False
            for x in range(len(self._slots)):
                if not everyone and x not in awake:
                    continue
                yield 1
                awake.discard(x)
                home = self._slots[x]
                if self._improve(x):
                    moved = True
                    touched = {home, self._slots[x]} - {-1}
                    awake |= {y for y, slot in enumerate(self._slots) if slot in touched}
            if everyone and not moved:
                return
            everyone = not moved

    def _is_bundle(self, x: int) -> bool:
        return self._leader[x] != x or self._leader.count(x) > 1

    def _carried(self, slots: Slots, x: int, target: int) -> Slots:
        """Move an item, and those that stay with it, whatever that breaks."""
        return tuple(
            target if leader == self._leader[x] else slot
            for slot, leader in zip(slots, self._leader, strict=True)
        )

    def _undone(self, slot: int) -> Slots:
        after = self._slots
        of_slot = [x for x, home in enumerate(after) if home == slot and self._leader[x] == x]
        for x in of_slot[1:]:
            after = self._carried(after, x, lowest_free(after))
        return after

    def _joint_moves(self) -> Iterator[Slots]:
        """Yield what comes of moving two items, of merging two groups, of splitting one."""
        slots, n = self._slots, len(self._slots)
        leading = [x for x in range(n) if self._leader[x] == x]
        n_slots = max(slots, default=-1) + 1
        for x, y in combinations(leading, 2):
            for one in range(-1, n_slots + 1):
                if self._may_enter(slots, x, one):
                    after = self._carried(slots, x, one)
                    for other in range(-1, n_slots + 2):
                        if self._may_enter(after, y, other):
                            yield self._carried(after, y, other)
        block_of = {slot: int(self._rules.block_of[x]) for x, slot in enumerate(slots)}
        for one, other in combinations(range(n_slots), 2):
            if one in slots and other in slots and block_of[one] == block_of[other]:
                yield tuple(one if slot == other else slot for slot in slots)
        for one in range(n_slots):
            inside = [x for x in leading if slots[x] == one]
            for mask in range(1, (1 << len(inside) - 1) - 1 if len(inside) > 3 else 1):
                after, free = slots, lowest_free(slots)
                for i, x in enumerate(inside[1:]):
                    if mask >> i & 1:
                        after = self._carried(after, x, free)
                yield after

    def _may_enter(self, slots: Slots, x: int, target: int) -> bool:
        if target < 0:
            return self._budget > 0 and slots[x] >= 0
        if target == slots[x] or target >= len(slots):
            return False
        if target not in slots:
            return target == lowest_free(slots)
        return bool(self._rules.block_of[slots.index(target)] == self._rules.block_of[x])

    def _keep_if_better(self, after: Slots) -> bool:
        if after == self._slots or not self._total(after) < self._total(self._slots):
            return False
        return self._keep(after)

    def _keep(self, after: Slots) -> bool:
        if after.count(-1) > self._budget or not self._is_allowed(after):
            return False
        self._slots, self._now = after, self._total(after)
        self._moves += 1
        return True

    def _improve(self, x: int) -> bool:
        if self._is_bundle(x):
            return self._leader[x] == x and any(
                self._may_enter(self._slots, x, target)
                and self._keep_if_better(self._carried(self._slots, x, target))
                for target in range(-1, max(self._slots) + 2)
            )
        gains = [
            (change, number, target)
            for number, target in enumerate(self._targets(x))
            if (change := self._change(x, target)) < 0
        ]
        return any(self._attempt(x, target) for _, _, target in sorted(gains))

    def _attempt(self, x: int, target: int) -> bool:
        after = self._moved(x, target)
        if not self._is_allowed(after):
            return False
        self._slots, self._now = after, self._total(after)
        self._moves += 1
        return True

    def _remember(self) -> None:
        limits, gone = self._limits, self._slots.count(-1)
        if gone > self._rules.budget:
            if gone < self._fewest:  # on the way to a result
                self._fewest, self._best_slots = gone, self._slots
            return
        flat, ncp, ul = self._losses(self._slots)
        within = (
            flat <= limits.flat
            and (ncp <= limits.ncp or not len(limits.ncp_parent))
            and ul <= limits.ul
        )
        if within:
            self._best, self._best_slots = self._now, self._slots

    # -- moves ----------------------------------------------------------------------------

    def _targets(self, x: int) -> list[int]:
        """Return where an item may go: other slots of its block, a new one, none."""
        self._tell()
        home, block_of = self._slots[x], self._rules.block_of
        found = sorted(
            {
                slot
                for other, slot in enumerate(self._slots)
                if slot not in (-1, home) and block_of[other] == block_of[x]
            }
        )
        if home < 0 or self._slots.count(home) > 1:
            found.append(lowest_free(self._slots))
        if home >= 0 and self._slots.count(-1) < self._budget:
            found.append(-1)
        return [target for target in found if self._pairs_hold(x, target)]

    def _is_allowed(self, after: Slots) -> bool:
        limits = (self._limits.flat, self._limits.ncp, self._limits.ul)
        within = zip(self._losses(after), limits, self._losses(self._slots), strict=True)
        good = self._loose or all(new <= max(limit, now) for new, limit, now in within)
        return good and self._satisfied(after)


def lowest_free(slots: Slots) -> int:
    """Return the lowest slot without a group."""
    return min(set(range(len(slots) + 1)) - set(slots))
