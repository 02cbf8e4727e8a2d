"""The proven optimum, by branch and bound: for blocks of about a dozen items.

Items are placed one after the other: in a group of their block that is there already, alone, or
nowhere (suppressed, within s). A state is left as soon as it is known to come to nothing: groups
only grow, and

- what is placed costs at least what it costs now (`Prices.least`);
- of two groups that are violated together at least one has to grow, by items not placed yet; an
  unplaced item that is violated with a group, or with another unplaced one, has to be touched, or
  that other. So those that change are a vertex cover of the graph of what is violated now. Each has
  a share of the cost to come (`algorithms/prices.py`), and by any packing of the edges within these
  shares no cover costs less than the packing (weak duality);
- a violated set of groups none of which can grow any more stays violated, and so does a pair whose
  support stays below k even with everything that is left.

That finds the least loss. A second pass, in the order of the items, then finds the first of all
partitions with exactly this loss, so that the answer does not depend on how it was searched for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from overcoat.algorithms.prices import Prices
from overcoat.algorithms.scopes import Scopes, bits
from overcoat.context import QUIET, Stage
from overcoat.partition import Partition

__all__ = ["Found", "Optimiser", "Place"]

# A state: the groups as bits, how many are suppressed, the cost so far.
Groups = tuple[int, ...]


@dataclass(frozen=True)
class Place:
    """A state of the search.

    Attributes
    ----------
    bound : what any partition that comes of it costs at least
    depth : how many items are placed
    groups : of the placed ones, as bits
    n_gone : how many of the placed ones are suppressed
    gone : what these cost
    """

    bound: int
    depth: int
    groups: Groups
    n_gone: int
    gone: int


@dataclass(frozen=True)
class Found:
    """What a search came to.

    Attributes
    ----------
    partition : the best; None where there is none within the budget, or none was found in time
    cost : of it
    bound : no partition costs less; equal to the cost where it is proven
    proven : whether the search came to its end
    nodes : how many states were looked at
    """

    partition: Partition | None
    cost: int
    bound: int
    proven: bool
    nodes: int


class Optimiser:
    """Finds the partition of least cost that satisfies all constraints.

    Parameters
    ----------
    scopes, prices : the constraints, and what groups cost
    n_items : M
    budget : how many items may be suppressed
    nodes : how many states are looked at, at most
    limits : prices by which a partition may cost so much at most
    """

    def __init__(
        self,
        scopes: Scopes,
        prices: Prices,
        n_items: int,
        budget: int,
        nodes: int,
        stage: Stage = QUIET,
        limits: Sequence[tuple[Prices, int]] = (),
    ) -> None:
        self._scopes, self._prices, self._n, self._stage = scopes, prices, n_items, stage
        self._budget, self._limit = budget, nodes
        self._limits = limits
        self._nodes = 0
        self._infinite = prices.infinite
        touch = [prices.touch(item) for item in range(n_items)]
        self._kept = [self._infinite if one is None else one for one in touch]
        self._either = [min(one, prices.gone(item)) for item, one in enumerate(self._kept)]

    def find(self, known: Partition | None = None) -> Found:
        """Return the optimum; `known` is a partition that satisfies everything, if one is known."""
        most = self._infinite if known is None else self._prices.of(known)
        best, bound = self._search(self._hardest_first(), most, first=False)
        partition = known if best is None else best
        if bound is not None:  # the limit was reached
            cost = self._infinite if partition is None else self._prices.of(partition)
            return Found(partition, cost, min(bound, cost), False, self._nodes)
        if partition is None:
            return Found(None, self._infinite, self._infinite, True, self._nodes)
        cost = self._prices.of(partition)
        # Among equals, the first in the order of the items. As many states again may be looked at.
        self._limit += self._nodes
        first, _ = self._search(list(range(self._n)), cost, first=True)
        return Found(first or partition, cost, cost, True, self._nodes)

    def _search(
        self, order: Sequence[int], most: int, *, first: bool
    ) -> tuple[Partition | None, int | None]:
        """Search depth first, items in this order; no more than `most` is to be paid.

        Returns the best, or the `first` of those that cost `most` at the most, and where the limit
        was reached a bound for all that was not looked at.
        """
        left = [0] * (self._n + 1)  # the items not placed yet at each depth
        for depth in range(self._n - 1, -1, -1):
            left[depth] = left[depth + 1] | 1 << order[depth]
        best: Groups | None = None
        stack = [Place(self._bound(0, (), 0, left[0]), 0, (), 0, 0)]
        while stack:
            if self._nodes >= self._limit:
                return self._partition(best), min(place.bound for place in stack)
            place = stack.pop()
            # Before something is found what costs the same is welcome, then only what costs less.
            if place.bound > most or (best is not None and place.bound >= most):
                continue
            if place.depth == self._n:
                if self._scopes.hold(list(place.groups)):
                    best, most = place.groups, place.bound
                    if first:
                        break
                continue
            self._nodes += 1
            if self._nodes % 64 == 0:
                self._stage(self._nodes, self._limit)
            within = most if best is None else most - 1
            children = [
                child
                for child in self._children(place, order[place.depth], left[place.depth + 1])
                if child.bound <= within
            ]
            if not first:
                children.sort(key=lambda child: child.bound)
            stack.extend(reversed(children))
        return self._partition(best), None

    def _children(self, place: Place, item: int, left: int) -> Iterator[Place]:
        """Yield where an item can go, in the order of the groups' first items; nowhere is last."""
        block, depth = self._prices.block[item], place.depth + 1
        homes = [number for number, group in enumerate(place.groups) if group & block]
        for number in sorted(homes, key=lambda one: place.groups[one] & -place.groups[one]):
            groups = list(place.groups)
            groups[number] |= 1 << item
            yield self._place(depth, tuple(groups), place.n_gone, place.gone, left)
        alone = (*place.groups, 1 << item)
        yield self._place(depth, alone, place.n_gone, place.gone, left)
        if place.n_gone < self._budget:
            gone = place.gone + self._prices.gone(item)
            yield self._place(depth, place.groups, place.n_gone + 1, gone, left)

    def _place(self, depth: int, groups: Groups, n_gone: int, gone: int, left: int) -> Place:
        bound = self._bound(gone, groups, n_gone, left)
        return Place(bound, depth, groups, n_gone, gone)

    def _bound(self, gone: int, groups: Groups, n_gone: int, left: int) -> int:
        """Return what must be paid at least; what is impossible costs infinitely much."""
        scopes, prices, infinite = self._scopes, self._prices, self._infinite
        if self._limits and not self._within_limits(groups, left):
            return infinite
        if not left:
            return gone + sum(map(prices.cost, groups))
        spent = gone + sum(map(prices.least, groups))
        rests = [left & prices.block[(group & -group).bit_length() - 1] for group in groups]
        shares = [
            prices.growth(group, rest) if rest else infinite
            for group, rest in zip(groups, rests, strict=True)
        ]
        unplaced = bits(left)
        touch = self._either if n_gone < self._budget else self._kept
        vertices = [*groups, *(1 << item for item in unplaced)]
        shares += [touch[item] for item in unplaced]
        for place, vertex in enumerate(vertices):
            if scopes.rare_alone(vertex):
                spent += shares[place]
                shares[place] = 0
                if place < len(groups) and scopes.hopeless(
                    *(vertex, rests[place], vertex, rests[place])
                ):
                    return infinite
        if spent >= infinite:
            return infinite
        rare = scopes.rare
        for place, vertex in enumerate(vertices):
            for other in range(place):
                if rare(vertices[other], vertex):
                    packed = min(shares[other], shares[place])
                    if packed:
                        shares[other] -= packed
                        shares[place] -= packed
                        spent += packed
                    if place < len(groups) and scopes.hopeless(
                        *(vertices[other], rests[other], vertex, rests[place])
                    ):
                        return infinite
        if scopes.has_threes:
            spent += self._pack_threes(vertices, shares)
        if spent >= infinite:
            return infinite
        closed = [group for group, rest in zip(groups, rests, strict=True) if not rest]
        if len(closed) > 2 and not scopes.hold(closed):
            return infinite
        return spent

    def _within_limits(self, groups: Groups, left: int) -> bool:
        """Whether what is placed keeps all limits so far; it never costs less later."""
        nowhere = bits((1 << self._n) - 1 & ~left & ~sum(groups))
        return all(
            sum(map(prices.least, groups)) + sum(map(prices.gone, nowhere)) <= most
            for prices, most in self._limits
        )

    def _pack_threes(self, vertices: list[int], shares: list[int]) -> int:
        """Return what violated threes add to the packing: of each, at least one changes."""
        rare, packed = self._scopes.rare_three, 0
        free = [place for place, share in enumerate(shares) if share]
        for last in range(2, len(free)):
            for middle in range(1, last):
                for first in range(middle):
                    places = free[first], free[middle], free[last]
                    more = min(shares[place] for place in places)
                    if more and rare(*(vertices[place] for place in places)):
                        packed += more
                        for place in places:
                            shares[place] -= more
        return packed

    def _hardest_first(self) -> list[int]:
        """Return the items, block by block, those in most violated pairs first."""
        scopes, every = self._scopes, range(self._n)
        degree = [
            sum(scopes.rare(1 << item, 1 << other) for other in every if other != item)
            + self._n * scopes.rare_alone(1 << item)
            for item in every
        ]
        block_size: Callable[[int], int] = lambda item: self._prices.block[item].bit_count()  # noqa: E731
        return sorted(
            every, key=lambda item: (block_size(item), self._prices.block[item], -degree[item])
        )

    def _partition(self, groups: Groups | None) -> Partition | None:
        return None if groups is None else Partition.of(map(bits, groups), self._n)
