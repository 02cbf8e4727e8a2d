"""Search: annealing from the result of another method, always within the policy (docs/search.md).

Some chains, side by side; the best one is kept. Everything that decides is counted in steps, so
that a run can be repeated, whatever stopped it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial

from overcoat.algorithms.method import Method
from overcoat.algorithms.objective import Aim, Loss, limits_of, rules_of
from overcoat.algorithms.outcome import Cooling, Outcome, Searched
from overcoat.algorithms.rescue import coarsest, least_suppressed
from overcoat.algorithms.schedule import STRETCHES, Block, Clock, Schedule, default_steps
from overcoat.context import Stage
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError
from overcoat.kernels import annealing_class
from overcoat.kernels.moves import Annealing
from overcoat.kernels.problem import FEW_ITEMS, Limits, Price
from overcoat.log import event
from overcoat.loss.flat import FlatPenalty
from overcoat.loss.ncp import CertaintyPenalty
from overcoat.loss.separable import Separable
from overcoat.loss.ul import UtilityLoss
from overcoat.mapping import Mapping
from overcoat.partition import Partition
from overcoat.policy.policy import BoundPolicy

__all__ = ["search"]

CHAINS = 2
CHAINS_FOR_FEW = 8  # where there are so few items that they cost nothing
SMALL = 64  # items: of fewer, half the steps move several items at once, and no thread is worth it
_MOST = 1 << 40  # transactions
_RESERVE = 0.6  # of the seconds is kept for the descent, at most
_PASSES = 4  # of all items, which a descent is likely to take
_PILOT = 0.06  # of the seconds goes to learning how long a step takes
_CHUNK = 0.05  # seconds between two looks at the clock


def search(
    data: Transactions,
    policy: BoundPolicy,
    stage: Stage,
    *,
    base: Method,
    minimise: str,
    objective: Callable[[Partition], Aim],
    own: Separable | None,
    keep: Collection[Loss],
    start: Mapping | None,
    steps: int | None,
    cooling: Cooling | None,
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
    keep : the losses that may not be larger in the end than at the start
    start : the mapping of an earlier release, whose groups stay together
    steps : of each chain
    cooling : over how many steps the temperature falls, in all or in each stretch; by default in
        all those that are taken
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
    kept = {*keep, minimise}
    if policy.hierarchy is None and "ncp" in kept:  # it is flat then
        kept.add("flat")
    task = _Task(data, policy, first, aim, own, kept, start, bool(found.unmet), seed, stage)
    deadline = None if seconds is None else began + seconds
    if steps is None and cooling is None and seconds is not None:
        best, searched = task.run_for(seconds, began)
    else:
        planned = cooling or steps or default_steps(data.n_items)
        best, searched = task.run(steps, planned, deadline)
    searched = replace(
        searched, minimise=minimise, seconds=round(time.perf_counter() - began, 6), seed=seed
    )
    if best is None:  # nothing was found within s
        return replace(found, searched=searched)
    return Outcome(best, searched=searched, start=found.start)


class _Task:
    """One search: what all its chains share."""

    def __init__(
        self,
        data: Transactions,
        policy: BoundPolicy,
        first: Partition,
        aim: Aim,
        own: Separable | None,
        keep: set[str],
        start: Mapping | None,
        rescue: bool,
        seed: int,
        stage: Stage,
    ) -> None:
        self.data, self.policy, self.first, self.stage = data, policy, first, stage
        self.aim, self.own, self.keep, self.rescue, self.seed = aim, own, keep, rescue, seed
        self.rules = rules_of(data, policy, start)
        self.make = annealing_class(stage.engine)
        self.limits = limits_of(data, policy, first)
        self.jumps = 128 if data.n_items <= SMALL else 0
        # The part of the price that is cheap to know, if there is another.
        price = aim.price
        self.cheap: Price | None = None
        if len(price.others) and price.flat:
            self.cheap = Price(price.flat, price.item, 0 * price.starts)
        self.schedule = Schedule(
            *(data.n_items, aim.scale or 1.0, price.only), in_two_parts=self.cheap is not None
        )
        kernel = self._kernel(self.limits, price, first, 0)
        self.unit = kernel.cost_now  # what the start costs, in the kernel's numbers
        if not rescue:
            self.limits = self.limits.keeping(keep, kernel.losses())

    def _kernel(self, limits: Limits, price: Price, start: Partition, seed: int) -> Annealing:
        return self.make(self.rules, limits, price, start.group_of, seed, self.stage)

    def run_for(self, seconds: float, began: float) -> tuple[Partition | None, Searched]:
        """Run the chains for some seconds; what the descent is likely to take is kept for it."""
        each, last = self.times(_PILOT * seconds)
        reserve = min(_RESERVE * seconds, _PASSES * self.data.n_items * last)
        deadline = began + seconds - reserve
        clock = Clock(deadline, each, last, in_two_parts=self.cheap is not None)
        return self.run(None, clock, deadline)

    def times(self, seconds: float) -> tuple[float, float]:
        """Return how long a step is likely to take, and one of the last stretch: a quick search."""
        chains, found = self._first_chains(), []
        for stretch in (0, STRETCHES - 1):
            if stretch and self.cheap is not None:
                chains = self._turned(chains)
            blocks, spent, size, done = self.schedule.blocks(stretch, 0, 1), 0.0, 4, 0
            while spent < seconds / 2:
                block = blocks[int(spent / seconds * 2 * len(blocks))]
                began = time.perf_counter()
                self._anneal(chains, size, self._heats(block, chains), 0, 1)
                taken = max(time.perf_counter() - began, 1e-9)
                spent, done = spent + taken, done + size
                size = max(1, min(4 * size, int(size * seconds / (100 * taken))))
            found.append(max(spent, 1e-9) / max(done, 1))
        return found[0], found[1]

    def run(
        self, steps: int | None, cooling: Cooling | Clock, deadline: float | None
    ) -> tuple[Partition | None, Searched]:
        """Run the chains, and return the best that is no worse than the start in anything."""
        chains, unit = self._first_chains(), self.unit or 1.0
        trace = [(0, 1.0)]
        done, later, chunk, over = 0, self.cheap is None, 1 << 10, False
        lengths: list[int] = []
        planned = self.schedule.spread(cooling) if isinstance(cooling, int) else cooling
        for stretch in range(STRETCHES):
            lengths.append(
                planned.plan(stretch, lengths) if isinstance(planned, Clock) else planned[stretch]
            )
            if stretch == STRETCHES - 1 and not later:
                later, chains = True, self._turned(chains)
            blocks = self.schedule.blocks(stretch, done, lengths[-1])
            for number, block in enumerate(blocks):
                heats = self._heats(block, chains)
                end = block.end if steps is None else min(block.end, steps)
                while done < end and not over:
                    size, began = min(chunk, end - done), time.perf_counter()
                    self._anneal(chains, size, heats, done, max(sum(lengths), steps or 0))
                    done += size
                    if deadline is not None:
                        now = time.perf_counter()
                        chunk = max(16, int(size * min(_CHUNK / max(now - began, 1e-9), 4)))
                        over = now > deadline
                if later or number % (len(blocks) // 2 + 1) == 0:
                    trace.append((done, self._cost(chains, later) / unit))
                    self.stage.note = f"objective {trace[-1][1]:.3f}"
                if number % (len(blocks) // 5) == 0:
                    event(
                        "search", f"objective {trace[-1][1]:.4f} after {done:,} steps", steps=done
                    )
                over = over or done == steps or self.stage.enough()
                if over:
                    break
            if over:
                break
        self.stage.search_is_over()
        if not later:
            chains = self._turned(chains)
        self._side_by_side([one.descend for one in chains], done, max(done, 1))
        self.stage.note = ""
        best, cost = self._choose(chains)
        trace.append((done, cost / unit))
        lengths += [0] * (STRETCHES - len(lengths))
        cooled = cooling if isinstance(cooling, int) else tuple(lengths)
        return best, Searched("", 1.0, cost / unit, done, cooled, self.seed, 0.0, tuple(trace))

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

    def _heats(self, block: Block, chains: Sequence[Annealing]) -> list[float]:
        """Return how hot it is for each chain: UL can fall by powers of ten, and heat with it."""
        return [block.temperature * (1 if self.aim.scale else one.cost_now) for one in chains]

    def _cost(self, chains: Sequence[Annealing], later: bool) -> float:
        """Return the best objective so far; in the first part the chains do not know it."""
        best = min(chains, key=lambda one: one.cost_of_best)
        if later:
            return min(best.cost_of_best, self.unit)
        at = Partition(best.best_group_of())
        return self._kernel(self.limits, self.aim.price, at, 0).cost_now

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
        limits = self.limits
        if "ul" in self.keep:
            limits = replace(limits, ul=limits.safe_ul)
        kernel = self._kernel(limits, self.aim.price, self.first, 0)
        kernel.descend(self.stage)
        partition = Partition(kernel.best_group_of())
        if kernel.cost_of_best <= self.unit and self._is_no_worse(partition):
            return partition, kernel.cost_of_best
        return self.first, self.unit

    def _is_no_worse(self, partition: Partition) -> bool:
        """Whether no loss that counts is larger than at the start, exactly."""
        data, policy = self.data, self.policy
        losses: list[Separable] = []
        if "flat" in self.keep:
            losses.append(FlatPenalty(data))
        if "ul" in self.keep:
            losses.append(UtilityLoss(data, policy.weights, policy.penalties))
        if "ncp" in self.keep and policy.hierarchy is not None:
            losses.append(CertaintyPenalty(data, policy.hierarchy))
        if self.own is not None:
            losses.append(self.own)
        return all(loss.total(partition) <= loss.total(self.first) for loss in losses)
