"""Search: annealing from the result of another method, always within the policy (docs/search.md).

Some chains, side by side; the best one is kept. Everything that decides is counted in steps, so
that a run can be repeated, whatever stopped it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from overcoat.algorithms.method import Method
from overcoat.algorithms.objective import Aim, limits_of, rules_of
from overcoat.algorithms.outcome import Outcome, Searched
from overcoat.algorithms.rescue import coarsest, least_suppressed
from overcoat.context import Stage
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError
from overcoat.kernels import annealing_class
from overcoat.kernels.moves import Annealing
from overcoat.kernels.problem import FEW_ITEMS, Limits, Price, cooling_table
from overcoat.log import event
from overcoat.loss.flat import FlatPenalty
from overcoat.loss.ncp import CertaintyPenalty
from overcoat.loss.separable import Separable
from overcoat.loss.ul import UtilityLoss
from overcoat.mapping import Mapping
from overcoat.partition import Partition
from overcoat.policy.policy import BoundPolicy

__all__ = ["default_steps", "search"]

CHAINS = 2
CHAINS_FOR_FEW = 8  # where there are so few items that they cost nothing
BLOCKS = 200  # a temperature each
HOT = 0.5  # divided by M: the first temperature, where the start costs 1
COOL = 4.907  # so many halvings later it is a thirtieth of that
LATER_HOT, LATER_COOL = 0.1, 3.322  # of the second part, which goes on from a good place
UL_HOT = 5.0  # where UL is minimised, which a few moves change by orders of magnitude
FIRST_PART = 31 / 32  # of the steps look at what is cheap to know
SMALL = 64  # items: of fewer, half the steps move several items at once, and no thread is worth it
_MOST = 1 << 40  # transactions
_LEAST_STEPS = 4000
_RESERVE = 0.5  # of the seconds is kept for the descent, at most
_PASSES = 3  # of all items, which a descent is likely to take
_PILOT = 0.06  # of the seconds goes to learning how long a step takes
_CHUNK = 0.05  # seconds between two looks at the clock


def default_steps(n_items: int) -> int:
    """Return how many steps a chain takes unless a number is given.

    >>> default_steps(497), default_steps(8)
    (79520, 4000)
    """
    return min(max(160 * n_items, _LEAST_STEPS), 400_000)


def search(
    data: Transactions,
    policy: BoundPolicy,
    stage: Stage,
    *,
    base: Method,
    minimise: str,
    objective: Callable[[Partition], Aim],
    own: Separable | None,
    start: Mapping | None,
    steps: int | None,
    cooling: int | None,
    seconds: float | None,
    seed: int,
) -> Outcome:
    """Find a partition that costs less than that of another method, and loses no more.

    Parameters
    ----------
    data, policy : IN
    base : what finds the start
    minimise : what the objective is called
    objective : makes it, given the start
    own : the loss that is minimised, where it is one of the user's own
    start : the mapping of an earlier release, whose groups stay together
    steps : of each chain
    cooling : over how many steps the temperature falls; by default all of them
    seconds : when to stop, if the steps are not over by then
    seed : of all draws
    """
    if data.n_transactions > _MOST:
        raise DataError(
            f"search counts errors exactly for up to {_MOST:,} transactions, and there are "
            f"{data.n_transactions:,}; use another method, such as coat"
        )
    found = base.find(data, policy, stage)
    began = time.perf_counter()
    first = found.partition
    if found.unmet and start is None:
        first = least_suppressed(data, policy, first, stage)
    if not data.n_items or first == Partition.untouched(data.n_items):
        return replace(found, searched=Searched(minimise, 1.0, 1.0, 0, 0, seed, 0.0, ()))
    aim = objective(first)
    task = _Task(data, policy, first, aim, own, start, bool(found.unmet), seed, stage)
    reserve = 0.0
    if steps is None and cooling is None and seconds is not None:
        each, last = task.time_steps(seconds)
        reserve = min(_RESERVE * seconds, _PASSES * data.n_items * last)
        left = seconds - reserve - (time.perf_counter() - began)
        cooling = max(BLOCKS, int(left / each))
    planned = cooling or steps or default_steps(data.n_items)
    steps = planned if steps is None else steps
    deadline = None if seconds is None else began + seconds - reserve
    best, searched = task.run(steps, planned, deadline)
    searched = replace(
        searched, minimise=minimise, seconds=round(time.perf_counter() - began, 6), seed=seed
    )
    if best is None:  # nothing was found within s
        return replace(found, searched=searched)
    return Outcome(best, searched=searched, start=found.start)


class _Block(NamedTuple):
    """Some steps at one temperature, up to the end."""

    end: int
    first: bool  # whether they look only at what is cheap to know
    temperature: float


class _Task:
    """One search: what all its chains share."""

    def __init__(
        self,
        data: Transactions,
        policy: BoundPolicy,
        first: Partition,
        aim: Aim,
        own: Separable | None,
        start: Mapping | None,
        rescue: bool,
        seed: int,
        stage: Stage,
    ) -> None:
        self.data, self.policy, self.first, self.stage = data, policy, first, stage
        self.aim, self.own, self.rescue, self.seed = aim, own, rescue, seed
        self.rules = rules_of(data, policy, start)
        self.make = annealing_class(stage.engine)
        self.limits = limits_of(data, policy, first)
        self.jumps = 128 if data.n_items <= SMALL else 0
        # The part of the price that is cheap to know, if there is another.
        price = aim.price
        self.cheap: Price | None = None
        if len(price.others) and price.flat:
            self.cheap = Price(price.flat, price.item, 0 * price.starts)
        kernel = self._kernel(self.limits, price, first, 0)
        self.unit = kernel.cost_now  # what the start costs, in the kernel's numbers
        if not rescue:
            flat, ncp, ul = kernel.losses()
            self.limits = replace(self.limits, flat=flat, ncp=ncp, ul=ul)

    def _kernel(self, limits: Limits, price: Price, start: Partition, seed: int) -> Annealing:
        return self.make(self.rules, limits, price, start.group_of, seed, self.stage)

    def time_steps(self, seconds: float) -> tuple[float, float]:
        """Return how long a step is likely to take, on the average, and one of the last part.

        What is found later has more, and smaller, groups to choose from: a quick search first.
        """
        prices = [(self.cheap, FIRST_PART), (self.aim.price, 1 - FIRST_PART)]
        if self.cheap is None:
            prices = [(self.aim.price, 1.0)]
        taken = last = 0.0
        at, share = self.first, _PILOT * seconds / (len(prices) + 1)
        for price, of_steps in prices:
            assert price is not None
            kernel = self._kernel(self.limits, price, at, 0)
            if at is self.first:
                hot, end = HOT / self.data.n_items * kernel.cost_now, time.perf_counter() + share
                while (left := end - time.perf_counter()) > 0:
                    kernel.anneal(
                        16, hot * max(left / share, 1 / 30), self.jumps, False, self.stage
                    )
                at = Partition(kernel.best_group_of())
            cold = LATER_HOT / self.data.n_items * kernel.cost_now
            began, done = time.perf_counter(), 0
            while time.perf_counter() - began < share and done < 1 << 20:
                kernel.anneal(16, cold, self.jumps, False, self.stage)
                done += 16
            last = 1.1 * (time.perf_counter() - began) / max(done, 1)
            taken += of_steps * last
        return taken, last

    def run(
        self, steps: int, planned: int, deadline: float | None
    ) -> tuple[Partition | None, Searched]:
        """Run the chains, and return the best that is no worse than the start in anything."""
        chains, unit = self._first_chains(), self.unit or 1.0
        trace = [(0, 1.0)]
        done, later, chunk = 0, self.cheap is None, planned
        blocks = self._blocks(planned)
        for number, block in enumerate(blocks):
            if not block.first and not later:
                later, chains = True, self._turned(chains)
            # UL can fall by powers of ten: then so does the temperature.
            heats = [block.temperature * (1 if self.aim.scale else one.cost_now) for one in chains]
            end, over = min(block.end, steps), False
            while done < end and not over:
                size, began = min(chunk, end - done), time.perf_counter()
                self._anneal(chains, size, heats, done, steps)
                done += size
                if deadline is not None:
                    now = time.perf_counter()
                    chunk = max(16, int(size * min(_CHUNK / max(now - began, 1e-9), 4)))
                    over = now > deadline
            telling = number % (BLOCKS // 20) == 0
            if later or number % (BLOCKS // 8) == 0:
                trace.append((done, self._cost(chains, later) / unit))
                self.stage.note = f"objective {trace[-1][1]:.3f}"
            if telling:
                event("search", f"objective {trace[-1][1]:.4f} after {done:,} steps", steps=done)
            if over or done == steps or self.stage.enough():
                break
        self.stage.search_is_over()
        if not later:
            chains = self._turned(chains)
        self._side_by_side([one.descend for one in chains], done, steps)
        self.stage.note = ""
        best, cost = self._choose(chains)
        trace.append((done, cost / unit))
        return best, Searched("", 1.0, cost / unit, done, planned, self.seed, 0.0, tuple(trace))

    # -- chains ---------------------------------------------------------------------------

    def _first_chains(self) -> list[Annealing]:
        """Return the chains; of few items, half begin where every block is one group."""
        price, n = self.cheap or self.aim.price, CHAINS
        starts = [self.first]
        if self.data.n_items <= FEW_ITEMS:
            n = CHAINS_FOR_FEW
            if not len(self.rules.tied):
                coarse = self._kernel(self.limits, price, coarsest(self.policy), 0)
                starts += [coarsest(self.policy)] if coarse.holds() else [self.first]
        return [
            self._kernel(self.limits, price, starts[number % len(starts)], n * self.seed + number)
            for number in range(n)
        ]

    def _turned(self, chains: Sequence[Annealing]) -> list[Annealing]:
        """Return chains that go on from the best of each, and look at everything."""
        return [
            self._kernel(
                *(self.limits, self.aim.price, Partition(one.best_group_of())),
                len(chains) * self.seed + number,
            )
            for number, one in enumerate(chains)
        ]

    def _anneal(
        self, chains: Sequence[Annealing], size: int, heats: Sequence[float], done: int, of: int
    ) -> None:
        # Of few items, every other chain may be worse than the start on its way.
        few = self.data.n_items <= FEW_ITEMS
        self._side_by_side(
            [
                partial(one.anneal, size, heat, self.jumps, few and number % 2 == 1)
                for number, (one, heat) in enumerate(zip(chains, heats, strict=True))
            ],
            done,
            of,
        )

    def _side_by_side(
        self, jobs: list[Callable[[Callable[[], None]], None]], done: int, of: int
    ) -> None:
        def telling(job: Callable[[Callable[[], None]], None]) -> Callable[[Stage], None]:
            return lambda part: job(lambda: part(done, of))

        if self.data.n_items <= SMALL:
            for job in jobs:
                job(lambda: self.stage(done, of))
            return
        self.stage.side_by_side([telling(job) for job in jobs])

    def _cost(self, chains: Sequence[Annealing], later: bool) -> float:
        """Return the best objective so far; in the first part the chains do not know it."""
        best = min(chains, key=lambda one: one.cost_of_best)
        if later:
            return min(best.cost_of_best, self.unit)
        at = Partition(best.best_group_of())
        return self._kernel(self.limits, self.aim.price, at, 0).cost_now

    # -- the schedule -----------------------------------------------------------------------

    def _blocks(self, planned: int) -> list[_Block]:
        """Return the blocks of all steps, with their temperatures; the same on every machine."""
        parts = [(0, planned, BLOCKS, False, HOT, COOL)]
        if self.cheap is not None:
            turn = int(planned * FIRST_PART)
            parts = [
                (0, turn, BLOCKS // 2, True, HOT, COOL),
                (turn, planned, BLOCKS // 2, False, LATER_HOT, LATER_COOL),
            ]
        found = []
        for begin, end, n, first, hot, bits in parts:
            hottest = UL_HOT if self.aim.price.only == "ul" else hot
            for number in range(n):
                power = int(bits * 256 * number / n)
                falling = int(cooling_table()[power & 255]) / (1 << 31) / (1 << (power >> 8))
                temperature = hottest / self.data.n_items * falling * (self.aim.scale or 1.0)
                found.append(_Block(begin + (end - begin) * (number + 1) // n, first, temperature))
        return found

    # -- the last word ------------------------------------------------------------------------

    def _choose(self, chains: Sequence[Annealing]) -> tuple[Partition | None, float]:
        """Return the cheapest result that is no worse than the start; ties by the partition."""
        results = [
            (one.cost_of_best, tuple(Partition(one.best_group_of()).group_of.tolist()))
            for one in chains
            if one.cost_of_best != float("inf")
        ]
        for cost, group_of in sorted(results):
            partition = Partition(list(group_of))
            if self.rescue or (cost <= self.unit and self._is_no_worse(partition)):
                return partition, cost
        if self.rescue:
            return None, float("inf")
        # Rounding made UL look smaller than it is, or chance led nowhere: plain descent, with a
        # limit that is safe.
        limits = replace(self.limits, ul=self.limits.safe_ul)
        kernel = self._kernel(limits, self.aim.price, self.first, 0)
        kernel.descend(self.stage)
        partition = Partition(kernel.best_group_of())
        if kernel.cost_of_best <= self.unit and self._is_no_worse(partition):
            return partition, kernel.cost_of_best
        return self.first, self.unit

    def _is_no_worse(self, partition: Partition) -> bool:
        """Whether no loss is larger than at the start, exactly."""
        data, policy = self.data, self.policy
        losses: list[Separable] = [
            FlatPenalty(data),
            UtilityLoss(data, policy.weights, policy.penalties),
        ]
        if policy.hierarchy is not None:
            losses.append(CertaintyPenalty(data, policy.hierarchy))
        if self.own is not None:
            losses.append(self.own)
        return all(loss.total(partition) <= loss.total(self.first) for loss in losses)
