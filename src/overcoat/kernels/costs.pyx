# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""What a move costs: the price that is minimised.

In whole numbers, so that sums do not depend on their order. A pair of items costs
price * |support - estimate|, and the estimate is the same for all pairs between two groups. So
these cost price * estimate - paid, summed, and twice what the estimate falls short for the few
pairs whose support is above it: each item has its pairs sorted by support, and only those are
visited.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from overcoat.kernels.losses cimport Losses
from overcoat.kernels.moving cimport Moving

from overcoat.kernels.problem import ERROR_BITS, GUESS_BITS, guesses

cdef int ERRORS = ERROR_BITS, GUESSES = GUESS_BITS
cdef int64_t NOTHING = <int64_t> 1 << 62
cdef Py_ssize_t KNOWN = 1 << 18  # answers of the user's loss that are kept


cdef inline int64_t distance(int64_t one, int64_t other) noexcept nogil:
    return one - other if one > other else other - one


cdef class Costs(Losses):
    """Groups that know what a move costs."""

    def __cinit__(self, *arguments):
        self._cells = NULL

    def __dealloc__(self):
        free(self._cells)

    def __init__(self, rules, limits, price, group_of, tell):
        one = max(len(group_of), 1)
        self._has_pairs = len(price.others) > 0
        self._guess = guesses(len(group_of))
        self._item_price, self._flat_price = price.item, price.flat
        self._starts, self._others = price.starts, price.others
        self._supports, self._prices = price.supports, price.prices
        self.mode = {"": PRICED, "ul": UL, "ncp": NCP, "own": OWN}[price.only]
        self._own, self._own_known, self._own_items = price.own, {}, price.own_items
        self._own_of = np.zeros(one)
        self._item_cost = np.zeros(one, np.int64)
        self._x_price, self._x_paid = np.zeros(one + 1, np.int64), np.zeros(one + 1, np.int64)
        self._estimates, self._short = np.zeros(one + 1, np.int64), np.zeros(one + 1, np.int64)
        self._left = np.zeros(one + 1, np.int64)
        self._x_high, self._x_groups = np.zeros(one + 1, np.int64), np.zeros(one, np.int32)
        Losses.__init__(self, rules, limits, group_of, tell)
        self._price_all()
        if self.mode == OWN:
            for slot in range(self.n_slots):
                self.ask_again(slot)

    cdef _price_all(self):
        """Price everything, from the start."""
        cdef:
            int32_t x, other, one, slot
            int64_t j
            Cell* cell
        self.cost = self._flat_price * self.flat
        for x in range(self.n_items):
            one = self._slot[x]
            if one < 0:
                self.cost += self._item_price[x] * (self._item_support[x] << ERRORS)
            for j in range(self._starts[x], self._starts[x + 1]):
                other = self._slot[self._others[j]]
                if one < 0 or other < 0:
                    if x < self._others[j]:
                        self.cost += self._prices[j] * (self._supports[j] << ERRORS)
                    continue
                if one == other and x > self._others[j]:
                    continue
                cell = self._cells + one * self._cell_room + other
                cell.price += self._prices[j]
                cell.paid += self._prices[j] * self._supports[j]
                cell.high = max(cell.high, self._supports[j])
            self._tell()
        for slot in range(self.n_slots):
            self._price_row(slot)
        for slot in range(self.n_slots):
            self.cost += self._item_cost[slot]
            if self._has_pairs:
                for other in range(slot + 1):
                    self.cost += self._cells[slot * self._cell_room + other].cost

    cdef int make_room(self, int64_t slots) except -1 nogil:
        cdef Cell* larger
        cdef int64_t row
        Moving.make_room(self, slots)
        if not self._has_pairs or self._room == self._cell_room:
            return 0
        larger = <Cell*> calloc(self._room * self._room, sizeof(Cell))
        if larger == NULL:
            with gil:
                raise MemoryError
        for row in range(self._cell_room):
            memcpy(larger + row * self._room, self._cells + row * self._cell_room,
                   self._cell_room * sizeof(Cell))
        free(self._cells)
        self._cells, self._cell_room = larger, self._room
        return 0

    # -- prices ---------------------------------------------------------------------------

    cdef void look_prices(self, int32_t x) noexcept nogil:
        """Sum up what the pairs of an item cost, by the group of the other item."""
        cdef int32_t i, group
        cdef int64_t j, paid
        for i in range(self._n_x_groups):
            group = self._x_groups[i]
            self._x_price[group] = self._x_paid[group] = self._x_high[group] = 0
        self._n_x_groups, self._x_paid_total = 0, 0
        for j in range(self._starts[x], self._starts[x + 1]):
            group = self._slot[self._others[j]]
            if group < 0:
                continue
            if self._x_high[group] == 0:
                self._x_groups[self._n_x_groups] = group
                self._n_x_groups += 1
                self._x_high[group] = self._supports[j]  # the first is the largest
            paid = self._prices[j] * self._supports[j]
            self._x_price[group] += self._prices[j]
            self._x_paid[group] += paid
            self._x_paid_total += paid
        self._work += self._starts[x + 1] - self._starts[x]

    cdef int64_t _estimate(self, int64_t met, int64_t one, int64_t other) noexcept nogil:
        """Return the estimate for two items of groups of such sizes that so many have."""
        return met * (self._guess[one] * self._guess[other] >> GUESSES) >> (GUESSES - ERRORS)

    cdef void _fall_short(self, int32_t item, int32_t without) noexcept nogil:
        """Add up, by group, what the estimates fall short of the pairs of an item."""
        cdef:
            int64_t j, short, least = self._least >> ERRORS, start = self._starts[item]
            const int32_t* others = &self._others[0]
            const int64_t* supports = &self._supports[0]
            const int64_t* prices = &self._prices[0]
            const int32_t* slots = &self._slot[0]
            const int64_t* estimates = &self._estimates[0]
            int64_t* shorts = &self._short[0]
            int32_t group
        for j in range(start, self._starts[item + 1]):
            if supports[j] <= least:
                break
            group = slots[others[j]]
            if group < 0 or others[j] == without:
                continue
            short = (supports[j] << ERRORS) - estimates[group]
            if short > 0:
                shorts[group] += prices[j] * short
        self._work += j - start

    cdef void _all_fall_short(self, int32_t slot, int32_t without) noexcept nogil:
        """Do so for all items of a group but one, if there is anything to find."""
        cdef int32_t item
        if self._least == NOTHING:
            return
        item = self._head[slot]
        while item >= 0:
            if item != without:
                self._fall_short(item, without)
            item = self._next[item]

    cdef inline int64_t _linear(
        self, int32_t group, int64_t price, int64_t paid, int64_t high, int64_t estimate
    ) noexcept nogil:
        """Return what pairs cost if none is above the estimate; take note if some may be."""
        self._estimates[group] = estimate
        self._short[group] = 0
        if (high << ERRORS) > estimate:
            self._least = min(self._least, estimate)
        return price * estimate - (paid << ERRORS)

    cdef int64_t _items_cost(
        self, int32_t slot, int64_t support, int64_t size, int32_t without, int32_t more
    ) noexcept nogil:
        """Return what the items of a group cost, without one of them or with one more."""
        cdef int64_t estimate = support * self._guess[size] >> (GUESSES - ERRORS), cost = 0
        cdef int32_t item = self._head[slot]
        while item >= 0:
            if item != without:
                cost += self._item_price[item] * distance(
                    self._item_support[item] << ERRORS, estimate)
            item = self._next[item]
        if more >= 0:
            cost += self._item_price[more] * distance(
                self._item_support[more] << ERRORS, estimate)
        return cost

    # -- moves ----------------------------------------------------------------------------

    cdef int prepare(self, int32_t x) except -1 nogil:
        """See all that the moves of an item depend on."""
        self.make_room(self.n_slots + 1)
        self.look(x)
        if self.mode == PRICED:
            if self._has_pairs:
                self.look_prices(x)
            self._leave_cost = self._leave(x)
        elif self.mode == OWN and self._slot[x] >= 0:
            self._own_left = self.ask(
                self._slot[x], x, -1, self._support[self._slot[x]] - self._alone_total)
        return 0

    cdef double change(self, int32_t x, int32_t target, bint least) except? -1 nogil:
        """Return how much the cost grows when the item seen moves to a target, or at least."""
        if self.mode == PRICED:
            return <double> (self._leave_cost + self._enter(x, target, least))
        if self.mode == OWN:
            return self._own_change(x, target)
        self.losses_after(x, target)
        if self.mode == UL:
            return self._ul_change
        return <double> (self._new_ncp - self.ncp)

    cdef double _own_change(self, int32_t x, int32_t target) except? -1 nogil:
        """Return by how much a loss of the user's own grows."""
        cdef int32_t home = self._slot[x]
        cdef double change
        if home >= 0:
            change = self._own_left - self._own_of[home]
        else:
            change = -self._own_items[x]
        if target < 0:
            return change + self._own_items[x]
        if target >= self.n_slots or self._size[target] == 0:
            return change
        return change + (self.ask(
            target, -1, x, self._support[target] + self._item_support[x] - self._together[target]
        ) - self._own_of[target])

    cdef double ask(
        self, int32_t slot, int32_t without, int32_t more, int64_t support
    ) except? -1 nogil:
        """Return the user's loss of a group, without one of its items or with one more."""
        cdef int32_t item
        if self._size[slot] - (without >= 0) + (more >= 0) < 2:
            return 0
        with gil:
            items = [more] if more >= 0 else []
            item = self._head[slot]
            while item >= 0:
                if item != without:
                    items.append(item)
                item = self._next[item]
            key = np.array(sorted(items), np.int32)
            found = self._own_known.get(key.tobytes())
            if found is None:
                if len(self._own_known) >= KNOWN:
                    self._own_known.clear()
                self._tell()  # what follows may take its time
                found = self._own_known[key.tobytes()] = self._own(key, support)
            return found

    cdef int ask_again(self, int32_t slot) except -1 nogil:
        """Compute the user's loss of a group anew."""
        self._own_of[slot] = self.ask(slot, -1, -1, self._support[slot]) if self._size[slot] else 0
        return 0

    cdef int64_t _leave(self, int32_t x) noexcept nogil:
        """Return what it costs that an item leaves its group, whatever it then does."""
        cdef:
            int32_t home = self._slot[x], group
            int64_t size, support = self._item_support[x], cost, met
            Cell* row
        if home < 0:
            cost = -self._item_price[x] * (support << ERRORS)
            cost -= self._flat_price * self.n_items * support
            return cost - (self._x_paid_total << ERRORS)
        size = self._size[home] - 1
        cost = -self._item_cost[home] - self._flat_price * self._flat_of[home]
        if size:
            cost += self._items_cost(home, self._support[home] - self._alone_total, size, x, -1)
        if size > 1:
            cost += self._flat_price * size * (self._occurrences[home] - support)
        if not self._has_pairs:
            return cost
        row = self._cells + home * self._cell_room
        self._least = NOTHING
        for group in range(self.n_slots):
            cost -= row[group].cost
            if size == 0:
                continue
            met = self._met[home * self._room + group] - self._alone[group]
            if group == home:
                met = self._support[home] - self._alone_total
            self._left[group] = self._linear(
                group, row[group].price - self._x_price[group],
                row[group].paid - self._x_paid[group], row[group].high,
                self._estimate(met, size, size if group == home else self._size[group]))
        self._work += self.n_slots
        if size == 0:
            return cost
        self._all_fall_short(home, x)
        for group in range(self.n_slots):
            self._left[group] += self._short[group] * (1 if group == home else 2)
            cost += self._left[group]
        return cost

    cdef int64_t _enter(self, int32_t x, int32_t target, bint least) noexcept nogil:
        """Return what it costs that an item, which has left its group, enters another.

        least: or less than that, which takes no visit to the pairs of the target.
        """
        cdef:
            int32_t home = self._slot[x], group, n_slots = self.n_slots
            int64_t support = self._item_support[x], size, cost, met, price, estimate, guess
            int64_t lowest = NOTHING, high, shared
            const Cell* row
            const int64_t* meets
            const int64_t* together = &self._together[0]
            int64_t* both = &self._both[0]
            const int64_t* x_price = &self._x_price[0]
            const int64_t* x_paid = &self._x_paid[0]
            const int64_t* guesses = &self._guess[0]
            const int32_t* sizes = &self._size[0]
            int64_t* estimates = &self._estimates[0]
            int64_t* shorts = &self._short[0]
        if target < 0:
            cost = self._item_price[x] * (support << ERRORS)
            cost += self._flat_price * self.n_items * support
            return cost + (self._x_paid_total << ERRORS)
        size = self._size[target] + 1
        met = self._support[target] + support - self._together[target]
        cost = 0
        if size > 1:
            cost -= self._item_cost[target] + self._flat_price * self._flat_of[target]
            cost += self._flat_price * size * (self._occurrences[target] + support)
        cost += self._items_cost(target, met, size, -1, x)
        if not self._has_pairs:
            return cost
        row = self._cells + target * self._cell_room
        meets = self._met + target * self._room
        guess = guesses[size]
        self.count_both(target)
        for group in range(n_slots):
            price, shared = row[group].price + x_price[group], both[group]
            both[group] = 0
            if price == 0 or group == target or group == home:
                if not least:
                    estimates[group] = NOTHING
                    shorts[group] = 0
                continue
            estimate = ((meets[group] + together[group] - shared)
                        * (guess * guesses[sizes[group]] >> GUESSES)) >> (GUESSES - ERRORS)
            cost += price * estimate - ((row[group].paid + x_paid[group]) << ERRORS)
            cost -= row[group].cost
            if not least:
                estimates[group] = estimate
                shorts[group] = 0
                high = max(row[group].high, self._x_high[group])
                if (high << ERRORS) > estimate and estimate < lowest:
                    lowest = estimate
        self._work += n_slots
        self._least = lowest
        self._estimates[target], self._short[target] = NOTHING, 0
        if size > 1:
            cost += self._linear(
                target, row[target].price + x_price[target], row[target].paid + x_paid[target],
                max(row[target].high, self._x_high[target]), self._estimate(met, size, size))
            cost -= row[target].cost
        if home >= 0 and self._size[home] > 1:
            # With what is left of its group: counted in `_leave` as if the target stayed.
            cost += self._linear(
                home, row[home].price - x_price[target] + x_price[home],
                row[home].paid - x_paid[target] + x_paid[home],
                max(row[home].high, self._x_high[home]),
                self._estimate(self.met_after(home, target), self._size[home] - 1, size))
            cost -= self._left[target] if size > 1 else 0
        if least or self._least == NOTHING:
            return cost
        # Pairs within the target are found from both ends, all others from this one.
        if size > 1:
            self._all_fall_short(target, x)
            cost -= self._short[target]
        self._fall_short(x, -1)
        for group in range(n_slots):
            cost += 2 * shorts[group]
        return cost

    cdef int64_t _row_cost(self, int32_t slot, int32_t other) noexcept nogil:
        """Return what a group costs: its items, and its pairs but those with another group."""
        cdef int64_t cost = self._item_cost[slot]
        cdef int32_t group
        if self._has_pairs:
            for group in range(self.n_slots):
                if group != other:
                    cost += self._cells[slot * self._cell_room + group].cost
        return cost

    cdef void _price_row(self, int32_t slot) noexcept nogil:
        """Compute what a group costs anew."""
        cdef int32_t group
        cdef int64_t size = self._size[slot], met
        cdef Cell* cell
        self._item_cost[slot] = self._items_cost(slot, self._support[slot], size, -1, -1)
        if not self._has_pairs:
            return
        self._least = NOTHING
        for group in range(self.n_slots):
            cell = self._cells + slot * self._cell_room + group
            met = self._support[slot] if group == slot else self._met[slot * self._room + group]
            if cell.price == 0:
                cell.high = 0
            cell.cost = self._linear(
                group, cell.price, cell.paid, cell.high,
                self._estimate(met, size, self._size[group]))
        self._all_fall_short(slot, -1)
        for group in range(self.n_slots):
            cell = self._cells + slot * self._cell_room + group
            cell.cost += self._short[group] * (1 if group == slot else 2)
            self._cells[group * self._cell_room + slot] = cell[0]
        self._work += self.n_slots

    cdef int shift(self, int32_t x, int32_t target) except -1 nogil:
        cdef int32_t home = self._slot[x], i, group, side, slot
        cdef int64_t sign, flat = self.flat
        cdef Cell* cell
        if self.mode != PRICED:
            Losses.shift(self, x, target)
            if self.mode == OWN and home >= 0:
                self.ask_again(home)
            if self.mode == OWN and target >= 0:
                self.ask_again(target)
            return 0
        self.make_room(max(self.n_slots, target + 1))
        if home >= 0:
            self.cost -= self._row_cost(home, -1)
        else:
            self.cost -= (self._item_price[x] * (self._item_support[x] << ERRORS)
                          + (self._x_paid_total << ERRORS))
        if target >= 0:
            self.cost -= self._row_cost(target, home)
        else:
            self.cost += (self._item_price[x] * (self._item_support[x] << ERRORS)
                          + (self._x_paid_total << ERRORS))
        if self._has_pairs:
            for side in range(2):
                slot, sign = (home, -1) if side == 0 else (target, 1)
                if slot < 0:
                    continue
                for i in range(self._n_x_groups):
                    group = self._x_groups[i]
                    cell = self._cells + slot * self._cell_room + group
                    cell.price += sign * self._x_price[group]
                    cell.paid += sign * self._x_paid[group]
                    if sign > 0:
                        cell.high = max(cell.high, self._x_high[group])
                    self._cells[group * self._cell_room + slot] = cell[0]
        Losses.shift(self, x, target)
        if home >= 0:
            self._price_row(home)
            if self._has_pairs and self._size[home] == 0:
                cell = self._cells + home * self._cell_room + home
                cell.price = cell.paid = cell.high = cell.cost = 0
        if target >= 0:
            self._price_row(target)
        if home >= 0:
            self.cost += self._row_cost(home, -1)
        if target >= 0:
            self.cost += self._row_cost(target, home)
        self.cost += self._flat_price * (self.flat - flat)
        return 0

    cdef double total(self) noexcept nogil:
        """Return the cost, whatever is minimised."""
        cdef double loss = 0
        cdef int32_t slot, x
        if self.mode == PRICED:
            return <double> self.cost
        if self.mode == NCP:
            return <double> self.ncp
        for slot in range(self.n_slots):
            loss += self._own_of[slot] if self.mode == OWN else self._real_ul[slot]
        for x in range(self.n_items):
            if self._slot[x] < 0:
                loss += self._own_items[x] if self.mode == OWN else self._real_penalty(x)
        return loss
