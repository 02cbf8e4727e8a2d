"""The slow twin of `annealing`: the same steps, from the definitions, one partition at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from overcoat.kernels.problem import (
    ERROR_BITS,
    GUESS_BITS,
    Limits,
    Price,
    Rules,
    cooling_table,
    guesses,
)
from overcoat.kernels.reference import Tell, nothing

__all__ = ["Annealing"]

REACH = 16  # a target so many temperatures above the cheapest is never taken
HUGE = 1 << 60

Slots = tuple[int, ...]  # the slot of each item; -1 when it is suppressed
Losses = tuple[int, int, int]


class Annealing:
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
        self._rules, self._limits, self._price = rules, limits, price
        numbers = {group: n for n, group in enumerate(sorted(set(group_of.tolist()) - {-1}))}
        self._slots: Slots = tuple(numbers.get(group, -1) for group in group_of.tolist())
        self._rows = [
            (frozenset(rules.codes[start:end].tolist()), int(count))
            for start, end, count in zip(
                rules.offsets[:-1], rules.offsets[1:], rules.counts, strict=True
            )
        ]
        self._support = [self._held(frozenset([x])) for x in range(len(group_of))]
        self._guess = guesses(len(group_of)).tolist()
        self._cooling = cooling_table().tolist()
        self._exponent = max((self._slots.count(s) for s in numbers.values()), default=0) - 900
        self._random, self._tell = seed, tell
        gone = self._slots.count(-1)
        self._budget = max(rules.budget, gone)
        self._now = self._total(self._slots)
        self._best = self._now if gone <= rules.budget else math.inf
        self._fewest = gone if gone > rules.budget else 0
        self._best_slots, self._moves = self._slots, 0

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

    # -- steps ----------------------------------------------------------------------------

    def anneal(self, steps: int, temperature: float, tell: Tell = nothing) -> None:
        """Take so many steps at a temperature: each time some item goes where chance sends it."""
        self._tell = tell
        if not self._slots:
            return
        self._now = self._total(self._slots)
        for _ in range(steps):
            x = self._draw() % len(self._slots)
            if self._heat_bath(x, temperature) and self._now < self._best:
                self._remember()

    def descend(self, tell: Tell = nothing) -> None:
        """Go from the best there was to where no item can move, no group be undone, with a gain."""
        self._tell = tell
        self._slots = self._best_slots
        self._now = self._total(self._slots)
        x, better = 0, True
        while better:
            better, idle = False, 0
            while idle < len(self._slots):
                idle = 0 if self._improve(x) else idle + 1
                x = (x + 1) % len(self._slots)
            slot = 0
            while slot <= max(self._slots, default=-1):
                if self._slots.count(slot) > 1 and self._undo(slot):
                    better = True
                slot += 1
        self._now = self._total(self._slots)
        if self._now < self._best or self._best == math.inf:
            self._remember()

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
            if self._attempt(x, targets[i], changes[i]):
                return True
            odds[i] = 0

    def _improve(self, x: int) -> bool:
        gains = [
            (change, number, target)
            for number, target in enumerate(self._targets(x))
            if (change := self._change(x, target)) < 0
        ]
        return any(self._attempt(x, target, change) for change, _, target in sorted(gains))

    def _attempt(self, x: int, target: int, change: float) -> bool:
        after = self._moved(x, target)
        if not self._is_allowed(after):
            return False
        self._slots, self._now = after, self._now + change
        self._moves += 1
        return True

    def _undo(self, slot: int) -> bool:
        after = self._slots
        for x in [x for x, home in enumerate(self._slots) if home == slot][1:]:
            after = (*after[:x], _lowest_free(after), *after[x + 1 :])
        if not (self._total(after) < self._total(self._slots) and self._is_allowed(after)):
            return False
        self._moves += self._slots.count(slot) - 1
        self._slots = after
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

    def _moved(self, x: int, target: int) -> Slots:
        return (*self._slots[:x], target, *self._slots[x + 1 :])

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
        if self._rules.pairs:
            found = [target for target in found if self._pairs_hold(self._moved(x, target))]
        return found

    def _is_allowed(self, after: Slots) -> bool:
        limits = (self._limits.flat, self._limits.ncp, self._limits.ul)
        within = zip(self._losses(after), limits, self._losses(self._slots), strict=True)
        return all(new <= max(limit, now) for new, limit, now in within) and self._satisfied(after)

    # -- what must hold -------------------------------------------------------------------

    def _pairs_hold(self, slots: Slots) -> bool:
        groups = sorted(set(slots) - {-1})
        sets = [*combinations(groups, 1), *combinations(groups, 2)]
        return not any(0 < self._met(frozenset(one), slots) < self._rules.k for one in sets)

    def _satisfied(self, slots: Slots) -> bool:
        """Whether every family holds, by the definitions."""
        rules, k = self._rules, self._rules.k
        for m, linkable in rules.all_sets:
            groups = sorted({s for x, s in enumerate(slots) if s >= 0 and linkable[x]})
            for size in range(1, m + 1):
                for one in combinations(groups, size):
                    if 0 < self._met(frozenset(one), slots) < k:
                        return False
        for start, end in zip(rules.set_offsets[:-1], rules.set_offsets[1:], strict=True):
            image = frozenset(slots[x] for x in rules.set_codes[start:end].tolist()) - {-1}
            met = self._met(image, slots) if image else k
            if met >= k:
                continue
            parts = {frozenset(slots[x] for x in row) & image for row, _ in self._rows} - {
                frozenset()
            }
            if met > 0 or any(self._met(part, slots) < k for part in parts):
                return False
        return True

    def _met(self, groups: frozenset[int], slots: Slots) -> int:
        """How many transactions hold all of some groups."""
        return sum(count for row, count in self._rows if groups <= {slots[x] for x in row})

    def _held(self, items: frozenset[int]) -> int:
        return sum(count for row, count in self._rows if items <= row)

    # -- what it costs --------------------------------------------------------------------

    def _losses(self, slots: Slots) -> Losses:
        limits, n = self._limits, len(slots)
        flat = ncp = ul = 0
        for slot in sorted(set(slots)):
            items = [x for x, home in enumerate(slots) if home == slot]
            occurrences = sum(self._support[x] for x in items)
            if slot < 0:
                flat, ncp = flat + n * occurrences, ncp + n * occurrences
                ul += sum(int(limits.penalties[x]) for x in items)
            elif len(items) > 1:
                flat += len(items) * occurrences
                if len(limits.ncp_parent):
                    node = _ancestor(limits.ncp_parent, items)
                    ncp += int(limits.ncp_weight[node]) * occurrences
                ul += self._ul_term(len(items), self._weighed(items, slot, slots))
        return flat, ncp if len(limits.ncp_parent) else flat, ul

    def _weighed(self, items: Sequence[int], slot: int, slots: Slots) -> int:
        limits = self._limits
        if limits.weigh is not None:
            weight = limits.weigh(np.array(items, np.int32))
        else:
            weight = int(limits.weight[_ancestor(limits.parent, items)])
        return weight * self._met(frozenset([slot]), slots)

    def _ul_term(self, size: int, loss: int) -> int:
        shift, bits = size - self._limits.ul_shift, loss.bit_length()
        if not loss:
            return 0
        if self._limits.ul_shift == 0:
            return HUGE if size + bits > 58 else ((1 << size) - 1) * loss
        if shift >= 0:
            return HUGE if shift + bits > 58 else loss << shift
        return 1 if shift < -62 else (loss >> -shift) + 1

    def _real_term(self, size: int, loss: int) -> float:
        exponent = self._exponent
        return math.ldexp(float(loss), size - exponent) - math.ldexp(float(loss), -exponent)

    def _real_penalty(self, x: int) -> float:
        penalty = float(self._limits.penalties[x])
        return math.ldexp(penalty, self._limits.ul_shift - self._exponent)

    def _real_ul(self, slot: int, slots: Slots) -> float:
        items = [x for x, home in enumerate(slots) if home == slot]
        if len(items) < 2:
            return 0.0
        return self._real_term(len(items), self._weighed(items, slot, slots))

    def _change(self, x: int, target: int) -> float:
        """Return how much the cost grows when an item moves."""
        after = self._moved(x, target)
        if self._price.only == "ul":
            home, change = self._slots[x], 0.0
            gone = self._real_penalty(x)
            if home >= 0:
                change -= self._real_ul(home, self._slots)
                change += self._real_ul(home, after)
            else:
                change -= gone
            if target < 0:
                return change + gone
            change -= self._real_ul(target, self._slots)
            return change + self._real_ul(target, after)
        if self._price.only == "ncp":
            return float(self._losses(after)[1] - self._losses(self._slots)[1])
        return float(self._cost(after) - self._cost(self._slots))

    def _total(self, slots: Slots) -> float:
        if self._price.only == "ncp":
            return float(self._losses(slots)[1])
        if self._price.only == "":
            return float(self._cost(slots))
        loss = 0.0
        for slot in sorted(set(slots) - {-1}):
            loss += self._real_ul(slot, slots)
        for x, slot in enumerate(slots):
            if slot < 0:
                loss += self._real_penalty(x)
        return loss

    def _cost(self, slots: Slots) -> int:
        """Return flat NCP and the errors of items and pairs, at their prices."""
        price = self._price
        cost = price.flat * self._losses(slots)[0]
        size = [slots.count(slot) if slot >= 0 else 0 for slot in slots]
        for x, slot in enumerate(slots):
            met = 0 if slot < 0 else self._met(frozenset([slot]), slots)
            estimate = met * self._guess[size[x]] >> (GUESS_BITS - ERROR_BITS)
            cost += int(price.item[x]) * abs((self._support[x] << ERROR_BITS) - estimate)
            for j in range(int(price.starts[x]), int(price.starts[x + 1])):
                other = int(price.others[j])
                if other < x:
                    continue
                image = frozenset([slot, slots[other]])
                met = 0 if -1 in image else self._met(image, slots)
                chance = self._guess[size[x]] * self._guess[size[other]] >> GUESS_BITS
                estimate = met * chance >> (GUESS_BITS - ERROR_BITS)
                off = abs((int(price.supports[j]) << ERROR_BITS) - estimate)
                cost += int(price.prices[j]) * off
        return cost


def _lowest_free(slots: Slots) -> int:
    return min(set(range(len(slots) + 1)) - set(slots))


def _ancestor(parent: NDArray[np.int32], items: Sequence[int]) -> int:
    """Return the closest common ancestor; nodes are numbered children first."""
    common = items[0]
    for item in items[1:]:
        node = item
        while node != common:
            if node < common:
                node = int(parent[node])
            else:
                common = int(parent[common])
    return common
