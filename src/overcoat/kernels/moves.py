"""The slow twin of `annealing`: the same steps, from the definitions, one partition at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from overcoat.kernels.problem import (
    ERROR_BITS,
    FEW_ITEMS,
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
        self._leader: list[int] = rules.leaders().tolist()
        leading = [x for x, leader in enumerate(self._leader) if leader == x]
        self._mates = {
            block: [x for x in leading if rules.block_of[x] == block]
            for block in set(rules.block_of.tolist())
        }
        self._loose = False
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
        x, better = 0, True
        while better:
            idle = 0
            while idle < len(self._slots):
                idle = 0 if self._improve(x) else idle + 1
                x = (x + 1) % len(self._slots)
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
        return [target for target in found if self._pairs_hold(x, target)]

    def _is_allowed(self, after: Slots) -> bool:
        limits = (self._limits.flat, self._limits.ncp, self._limits.ul)
        within = zip(self._losses(after), limits, self._losses(self._slots), strict=True)
        good = self._loose or all(new <= max(limit, now) for new, limit, now in within)
        return good and self._satisfied(after)

    # -- what must hold -------------------------------------------------------------------

    def _pairs_hold(self, x: int, target: int) -> bool:
        """Whether single groups and pairs hold after a move; some are asked only once it is drawn.

        These are the target, alone or with a third group that it is held with already, where no
        family asked for them before the item came.
        """
        before, after = self._slots, self._moved(x, target)
        k, home, known = self._rules.k, self._slots[x], target in self._slots
        for one in self._asked(after):
            if not 0 < self._met(frozenset(one), after) < k:
                continue
            late = known and target in one and home not in one and one not in self._asked(before)
            if not late or (len(one) == 2 and not self._met(frozenset(one), before)):
                return False
        return True

    def _asked(self, slots: Slots) -> set[tuple[int, ...]]:
        """Return the single groups and the pairs of them that any family asks for."""
        families = [*self._rules.all_sets]
        if self._rules.pairs:
            families.append((2, np.ones(len(slots), np.uint8)))
        found: set[tuple[int, ...]] = set()
        for m, linkable in families:
            groups = sorted({s for x, s in enumerate(slots) if s >= 0 and linkable[x]})
            for size in range(1, min(m, 2) + 1):
                found |= {*combinations(groups, size)}
        return found

    def _satisfied(self, slots: Slots) -> bool:
        """Whether every family holds, by the definitions."""
        return self._all_sets_hold(slots) and all(
            self._set_holds(p, slots) for p in self._explicit()
        )

    def _all_sets_hold(self, slots: Slots, group: int | None = None) -> bool:
        """Whether all m-itemsets hold, or those with a group."""
        for m, linkable in self._rules.all_sets:
            groups = sorted({s for x, s in enumerate(slots) if s >= 0 and linkable[x]})
            for size in range(1, m + 1):
                for one in combinations(groups, size):
                    met = self._met(frozenset(one), slots) if group in (None, *one) else 0
                    if 0 < met < self._rules.k:
                        return False
        return True

    def _explicit(self) -> Iterator[list[int]]:
        rules = self._rules
        for start, end in zip(rules.set_offsets[:-1], rules.set_offsets[1:], strict=True):
            yield rules.set_codes[start:end].tolist()

    def _set_holds(self, itemset: list[int], slots: Slots) -> bool:
        k = self._rules.k
        image = frozenset(slots[x] for x in itemset) - {-1}
        met = self._met(image, slots) if image else k
        if met >= k:
            return True
        parts = {frozenset(slots[x] for x in row) & image for row, _ in self._rows} - {frozenset()}
        return met == 0 and all(self._met(part, slots) >= k for part in parts)

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
        if self._price.only == "own":
            home = self._slots[x]
            change = self._own(home, after) - self._own(home, self._slots)
            if home < 0:
                change = -float(self._price.own_items[x])
            if target < 0:
                return change + float(self._price.own_items[x])
            return change + (self._own(target, after) - self._own(target, self._slots))
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
        own = self._price.only == "own"
        for slot in sorted(set(slots) - {-1}):
            loss += self._own(slot, slots) if own else self._real_ul(slot, slots)
        for x, slot in enumerate(slots):
            if slot < 0:
                loss += float(self._price.own_items[x]) if own else self._real_penalty(x)
        return loss

    def _own(self, slot: int, slots: Slots) -> float:
        """Return the user's loss of a group."""
        items = [x for x, home in enumerate(slots) if home == slot and slot >= 0]
        if len(items) < 2 or self._price.own is None:
            return 0.0
        return self._price.own(np.array(items, np.int32), self._met(frozenset([slot]), slots))

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
