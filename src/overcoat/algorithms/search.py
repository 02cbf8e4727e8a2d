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
from overcoat.algorithms.pace import Clock, Pace
from overcoat.algorithms.rescue import coarsest, least_suppressed
from overcoat.algorithms.schedule import NUMBERS, STRETCHES, Block, Schedule, default_steps
from overcoat.context import Stage
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError, PolicyError
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
_PILOT = 0.06  # of the seconds goes to learning how long a step takes
_SPARE = 0.01  # of the seconds is for what cannot be foreseen
_LAST_WORD = 1.5  # times what the exact losses of the start took is kept for those of the result


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
    cooling : over how many steps the temperature falls: in all, or the steps of each stretch and
        the looks of each descent; by default in all those that are taken
    seconds : when all has to be over, after the start was found
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
    if steps is None and cooling is None and seconds is not None:
        best, searched = task.run_for(seconds, began)
    else:
        end = None if seconds is None else task.end_of(seconds, began)
        best, searched = task.run(steps, cooling or steps or default_steps(data.n_items), end)
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
        self.prices = [price] if self.cheap is None else [self.cheap, price]
        self.schedule = Schedule(data.n_items, aim.scale or 1.0, price.only, len(self.prices))
        kernel = self._kernel(self.limits, price, first, 0)
        self.unit = kernel.cost_now  # what the start costs, in the kernel's numbers
        if not rescue:
            self.limits = self.limits.keeping(keep, kernel.losses())
        self.exact = self._exact_losses()
        began = time.perf_counter()
        self.at_start = [loss.total(first) for loss in self.exact]
        self.checking = time.perf_counter() - began  # seconds

    def _kernel(self, limits: Limits, price: Price, start: Partition, seed: int) -> Annealing:
        return self.make(self.rules, limits, price, start.group_of, seed, self.stage)

    def run_for(self, seconds: float, began: float) -> tuple[Partition | None, Searched]:
        """Run the chains for some seconds, all that comes before and after included."""
        speeds = self.speeds(_PILOT * seconds)
        end = self.end_of(seconds, began)
        return self.run(None, Clock(self.data.n_items, end, speeds), end)

    def end_of(self, seconds: float, began: float) -> float:
        """Return when the last descent has to be over for all to be over in so many seconds."""
        return began + (1 - _SPARE) * seconds - _LAST_WORD * self.checking

    def speeds(self, seconds: float) -> list[float]:
        """Return how long a step of each part is likely to take: a quick search."""
        chains, found = self._first_chains(), []
        for part in range(len(self.prices)):
            chains = self._turned(chains) if part else chains
            blocks, spent, size, done = self.schedule.blocks(part, 0, 0, 1), 0.0, 1, 0
            while spent < seconds / len(self.prices):
                block = blocks[int(spent / seconds * len(blocks))]
                began = time.perf_counter()
                self._anneal(chains, size, self._heats(block, chains), 0, 1)
                taken = max(time.perf_counter() - began, 1e-9)
                spent, done = spent + taken, done + size
                size = max(1, min(4 * size, int(size * seconds / (100 * taken))))
            found.append(max(spent, 1e-9) / max(done, 1))
        return found

    def run(
        self, steps: int | None, cooling: Cooling | Clock, end: float | None
    ) -> tuple[Partition | None, Searched]:
        """Run the chains, and return the best that is no worse than the start in anything.

        end : when the last descent has to be over, if there is such a time
        """
        if isinstance(cooling, tuple) and len(cooling) != NUMBERS * len(self.prices):
            raise PolicyError(
                f"cooling has {len(cooling)} numbers, but here a search takes "
                f"{NUMBERS * len(self.prices)}: {STRETCHES} stretches and a descent a part"
            )
        pace = Pace(self.schedule, steps, cooling, end)
        chains, unit, trace = self._first_chains(), self.unit or 1.0, [(0, 1.0)]
        for part in range(len(self.prices)):
            chains = self._turned(chains) if part else chains
            last = part == len(self.prices) - 1
            pace.begin(part)
            for stretch in range(STRETCHES):
                begin, length = pace.done, pace.plan()
                blocks = self.schedule.blocks(part, stretch, begin, length)
                for number, block in enumerate(blocks, 1):
                    before = pace.done
                    self._go_to(pace, block, chains)
                    # What everything costs is known only in the last part.
                    telling = last or (stretch % 2 and number == len(blocks))
                    if pace.done > before and telling:
                        trace.append((pace.done, self._cost(chains, last) / unit))
                        self.stage.note = f"objective {trace[-1][1]:.3f}"
                if pace.done > begin:
                    told = f"objective {trace[-1][1]:.4f} after {pace.done:,} steps"
                    event("search", told, steps=pace.done)
            if last or not pace.over:
                chains = self._descend(pace, chains)
        self.stage.search_is_over()
        self.stage.note = ""
        best, cost, at_rest = self._choose(chains, pace.looks)
        trace.append((pace.done, cost / unit))
        found = ("", 1.0, cost / unit, pace.done, pace.cooling, self.seed, 0.0, tuple(trace))
        return best, Searched(*found, at_rest)

    def _go_to(self, pace: Pace, block: Block, chains: Sequence[Annealing]) -> None:
        """Anneal up to the end of a block, unless that is over before."""
        heats = self._heats(block, chains)
        end = min(block.end, pace.steps)
        while pace.done < end and not pace.over:
            size = pace.chunk(end - pace.done)
            self._anneal(chains, size, heats, pace.done, pace.of)
            pace.did(size, enough=pace.done + size == end and self.stage.enough())

    def _descend(self, pace: Pace, chains: Sequence[Annealing]) -> list[Annealing]:
        """Let the chains descend, and return them: one for all that begin at the same place."""
        places = [one.best_group_of().tobytes() for one in chains]
        first = dict(zip(places[::-1], chains[::-1], strict=True))
        patient = not self.stage.enough()  # who has ended the annealing has it come to rest
        for looks in pace.descents():
            jobs = [partial(one.descend, looks) for one in first.values() if not one.at_rest]
            self._side_by_side(jobs, pace.done, pace.of)
            if all(one.at_rest for one in first.values()):
                break
            if patient and self.stage.enough():
                pace.end_descent()
        pace.descended(max(one.looks for one in first.values()))
        return [first[place] for place in places]

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
        """Return chains that go on from the best of each, and look at everything.

        Of many items, all go on from the best of all: how good a place is shows only now.
        """
        price, seed = self.aim.price, len(chains) * self.seed
        turned = []
        for number, one in enumerate(chains):
            start = Partition(one.best_group_of())
            turned.append(self._kernel(self.limits, price, start, seed + number))
        if self.data.n_items > SMALL:
            best = min(turned, key=lambda one: one.cost_now)
            for number, one in enumerate(turned):
                if one is not best:
                    start = Partition(best.slots())
                    turned[number] = self._kernel(self.limits, price, start, seed + number)
        return turned

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
        self, jobs: Sequence[Callable[[Callable[[], None]], None]], done: int, of: int
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

    def _choose(
        self, chains: Sequence[Annealing], looks: int
    ) -> tuple[Partition | None, float, bool]:
        """Return the cheapest result that is no worse than the start; ties by the partition.

        And what it costs, and whether it is at rest. `looks` is what a descent may take.
        """
        results = [
            (
                one.cost_of_best,
                tuple(Partition(one.best_group_of()).group_of.tolist()),
                one.at_rest,
            )
            for one in chains
            if one.cost_of_best != float("inf")
        ]
        for cost, group_of, at_rest in sorted(results):
            partition = Partition(list(group_of))
            if self.rescue or (cost <= self.unit and self._is_no_worse(partition)):
                return partition, cost, at_rest
        if self.rescue:
            return None, float("inf"), False
        # Rounding made UL look smaller than it is, or chance led nowhere: plain descent, with a
        # limit that is safe.
        limits = self.limits
        if "ul" in self.keep:
            limits = replace(limits, ul=limits.safe_ul)
        kernel = self._kernel(limits, self.aim.price, self.first, 0)
        kernel.descend(looks, self.stage)
        partition = Partition(kernel.best_group_of())
        if kernel.cost_of_best <= self.unit and self._is_no_worse(partition):
            return partition, kernel.cost_of_best, kernel.at_rest
        return self.first, self.unit, False

    def _is_no_worse(self, partition: Partition) -> bool:
        """Whether no loss that counts is larger than at the start, exactly."""
        pairs = zip(self.exact, self.at_start, strict=True)
        return all(loss.total(partition) <= most for loss, most in pairs)

    def _exact_losses(self) -> list[Separable]:
        """Return the losses that may not be larger in the end than at the start."""
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
        return losses
