"""The slow twin of `annealing`: the same steps, from the definitions, one partition at a time."""

from __future__ import annotations

from overcoat.kernels.descents import Descending, lowest_free
from overcoat.kernels.reference import Tell, nothing
from overcoat.kernels.states import Slots

__all__ = ["Annealing"]

REACH = 16  # a target so many temperatures above the cheapest is never taken


class Annealing(Descending):
    """Partitions that items move between: by chance, or where there is a gain.

    Groups lie in slots; a new one takes the lowest that is free.

    Parameters
    ----------
    rules, limits, price : see `problem`
    group_of : the start, which satisfies the rules, but may suppress too much
    seed : of the draws
    tell : called now and then; the call may raise
    """

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
        self._tell, self._loose, self._descends = tell, loose, False
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

    # -- several items at once --------------------------------------------------------------

    def _new_place(self, slots: Slots, x: int) -> int:
        slot = lowest_free(slots)
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
