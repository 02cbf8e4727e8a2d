"""The slow twin of `annealing`: the same steps, from the definitions, one partition at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from overcoat.kernels.problem import FEW_ITEMS, Limits, Price, Rules
from overcoat.kernels.reference import Tell, nothing
from overcoat.kernels.states import Losses, Slots, State

__all__ = ["Annealing"]

REACH = 16  # a target so many temperatures above the cheapest is never taken


class Annealing(State):
    """Partitions that items move between: by chance, or where there is a gain.

    Groups lie in slots; a new one takes the lowest that is free.

    Parameters
    ----------
    rules, limits, price : see `problem`
    group_of : the start, which satisfies the rules, but may suppress too much
    seed : of the draws
    tell : called now and then; the call may raise
    """

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
        self._random, self._tell = seed, tell
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
        self._slots = self._moved(x, target)
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

    # -- steps ----------------------------------------------------------------------------

    def anneal(
        self,
        steps: int,
        temperature: float,
        jumps: int = 0,
        loose: bool = False,
        tell: Tell = nothing,
    ) -> None:
        """Take so many steps at a temperature: each time some item goes where chance sends it.

        Of 256 steps, `jumps` are moves of several items at once. Where it is `loose`, the limits
        count only for what is remembered.
        """
        self._tell, self._loose = tell, loose
        if not self._slots:
            return
        self._now = self._total(self._slots)
        for _ in range(steps):
            x = self._leader[self._draw() % len(self._slots)]
            if x < 0:
                continue
            if jumps and (self._draw() & 255) < jumps:
                moved = self._accept(self._jump(x), temperature)
            elif self._is_bundle(x):
                after = self._carried(self._slots, x, self._somewhere(self._slots, x))
                moved = self._accept(after, temperature)
            else:
                moved = self._heat_bath(x, temperature)
            if moved and self._now < self._best:
                self._remember()

    def descend(self, tell: Tell = nothing) -> None:
        """Go from the best there was to where no item can move, no group be undone, with a gain."""
        self._tell, self._loose = tell, False
        self._slots = self._best_slots
        self._now = self._total(self._slots)
        better = True
        while better:
            self._settle_down()
            better, slot = False, 0
            while slot <= max(self._slots, default=-1):
                if self._slots.count(slot) > 1 and self._keep_if_better(self._undone(slot)):
                    better = True
                slot += 1
            if not better and len(self._slots) <= FEW_ITEMS:
                better = any(map(self._keep_if_better, self._joint_moves()))
        self._now = self._total(self._slots)
        if self._now < self._best or self._best == math.inf:
            self._remember()

    # -- several items at once --------------------------------------------------------------

    def _is_bundle(self, x: int) -> bool:
        return self._leader[x] != x or self._leader.count(x) > 1

    def _carried(self, slots: Slots, x: int, target: int) -> Slots:
        """Move an item, and those that stay with it, whatever that breaks."""
        return tuple(
            target if leader == self._leader[x] else slot
            for slot, leader in zip(slots, self._leader, strict=True)
        )

    def _new_place(self, slots: Slots, x: int) -> int:
        slot = _lowest_free(slots)
        return slot if slot < len(slots) else slots[x]

    def _somewhere(self, slots: Slots, x: int) -> int:
        mates = self._mates[int(self._rules.block_of[x])]
        drawn = self._draw() % (len(mates) + 1)
        if drawn == len(mates):
            return -1 if self._budget else self._new_place(slots, x)
        return self._new_place(slots, x) if mates[drawn] == x else slots[mates[drawn]]

    def _jump(self, x: int) -> Slots:
        """Draw a move of several items, one of them given."""
        kind, slots = self._draw() % 6, self._slots
        mates = self._mates[int(self._rules.block_of[x])]
        y, home = mates[self._draw() % len(mates)], slots[x]
        leading = [z for z in mates if slots[z] == home]
        if kind == 0:
            slots = self._carried(slots, x, self._somewhere(slots, x))
            slots = self._carried(slots, y, self._somewhere(slots, y))
        elif kind == 1:
            slots = self._carried(self._carried(slots, y, home), x, slots[y])
        elif kind == 2:
            target = self._somewhere(slots, x)
            slots = self._carried(self._carried(slots, x, target), y, target)
        elif kind == 3:
            for z in leading:
                slots = self._carried(slots, z, self._slots[y])
        elif kind == 4 and home >= 0:
            target = self._somewhere(slots, x)
            for z in leading:
                if self._draw() & 1:
                    slots = self._carried(slots, z, target)
        elif kind == 5 and home >= 0:
            for z in leading:
                slots = self._carried(slots, z, self._somewhere(slots, z))
        return slots

    def _undone(self, slot: int) -> Slots:
        after = self._slots
        of_slot = [x for x, home in enumerate(after) if home == slot and self._leader[x] == x]
        for x in of_slot[1:]:
            after = self._carried(after, x, _lowest_free(after))
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
                after, free = slots, _lowest_free(slots)
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
            return target == _lowest_free(slots)
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

    def _accept(self, after: Slots, temperature: float) -> bool:
        """Keep what was tried, with odds exp(-change / temperature), if it is allowed."""
        change = self._total(after) - self._total(self._slots)
        if change > 0:
            if not change < REACH * temperature:
                return False
            exponent = int(change * 256 / temperature)
            odds = self._cooling[exponent & 255] >> (exponent >> 8)
            if not (self._draw() & ((1 << 31) - 1)) < odds:
                return False
        return after != self._slots and self._keep(after)

    # -- one item -----------------------------------------------------------------------------

    def _draw(self) -> int:
        """Return 63 random bits (splitmix64)."""
        mask = (1 << 64) - 1
        self._random = (self._random + 0x9E3779B97F4A7C15) & mask
        value = self._random
        value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & mask
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & mask
        return (value ^ (value >> 31)) >> 1

    def _heat_bath(self, x: int, temperature: float) -> bool:
        targets = self._targets(x)
        if not targets:
            return False
        changes = [*(self._change(x, target) for target in targets), 0.0]
        least = min(changes)
        odds = [0] * len(changes)
        for i, change in enumerate(changes):
            if change - least < REACH * temperature:
                exponent = int((change - least) * 256 / temperature)
                odds[i] = self._cooling[exponent & 255] >> (exponent >> 8)
        while True:
            drawn = self._draw() % sum(odds) if sum(odds) else 0
            i = 0
            while i < len(targets) and drawn >= odds[i]:
                drawn -= odds[i]
                i += 1
            if i == len(targets) or not sum(odds):
                return False
            if self._attempt(x, targets[i]):
                return True
            odds[i] = 0

    def _settle_down(self) -> None:
        """Move items until none gains: by turns all, and those whose groups have changed."""
        everyone, awake = True, set[int]()
        while True:
            moved = False
            for x in range(len(self._slots)):
                if not everyone and x not in awake:
                    continue
                awake.discard(x)
                home = self._slots[x]
                if self._improve(x):
                    moved = True
                    touched = {home, self._slots[x]} - {-1}
                    awake |= {y for y, slot in enumerate(self._slots) if slot in touched}
            if everyone and not moved:
                return
            everyone = not moved

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
            found.append(_lowest_free(self._slots))
        if home >= 0 and self._slots.count(-1) < self._budget:
            found.append(-1)
        return [target for target in found if self._pairs_hold(x, target)]

    def _is_allowed(self, after: Slots) -> bool:
        limits = (self._limits.flat, self._limits.ncp, self._limits.ul)
        within = zip(self._losses(after), limits, self._losses(self._slots), strict=True)
        good = self._loose or all(new <= max(limit, now) for new, limit, now in within)
        return good and self._satisfied(after)


def _lowest_free(slots: Slots) -> int:
    return min(set(range(len(slots) + 1)) - set(slots))
