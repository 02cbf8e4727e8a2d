"""What a state of the slow twin is, from the definitions: what holds of it, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
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

__all__ = ["HUGE", "Losses", "Slots", "State"]

HUGE = 1 << 60

Slots = tuple[int, ...]  # the slot of each item; -1 when it is suppressed
Losses = tuple[int, int, int]


class State:
    """Items in slots; see `overcoat.kernels.moves.Annealing`."""

    _loose = False  # whether the limits do not count now

    def __init__(
        self, rules: Rules, limits: Limits, price: Price, group_of: NDArray[np.int32]
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

    def _moved(self, x: int, target: int) -> Slots:
        return (*self._slots[:x], target, *self._slots[x + 1 :])

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
