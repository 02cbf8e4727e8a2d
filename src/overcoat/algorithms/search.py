"""Search: annealing from the result of another method, always within the policy (docs/search.md).

Two chains, side by side; the better one is kept. Everything that decides is counted in steps, so
that a run can be repeated, whatever stopped it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from overcoat.algorithms.method import Method
from overcoat.algorithms.objective import Aim, Minimise, limits_of, rules_of
from overcoat.algorithms.outcome import Outcome, Searched
from overcoat.context import Stage
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError
from overcoat.kernels import annealing_class
from overcoat.kernels.moves import Annealing
from overcoat.kernels.problem import Limits, Price, Rules, cooling_table
from overcoat.log import event
from overcoat.loss.flat import FlatPenalty
from overcoat.loss.ncp import CertaintyPenalty
from overcoat.loss.ul import UtilityLoss
from overcoat.partition import Partition
from overcoat.policy.policy import BoundPolicy

__all__ = ["default_steps", "search"]

CHAINS = 2
BLOCKS = 200  # a temperature each
HOT = 0.5  # divided by M: the first temperature, where the start costs 1
COOL = 4.907  # so many halvings later it is a thirtieth of that
LATER_HOT, LATER_COOL = 0.1, 3.322  # of the second part, which goes on from a good place
UL_HOT = 5.0  # where UL is minimised, which a few moves change by orders of magnitude
FIRST_PART = 7 / 8  # of the steps look at what is cheap to know
_MOST = 1 << 40  # transactions
_RESERVE = 0.6  # of the seconds is kept for the descent, at most
_PASSES = 3  # of all items, which a descent is likely to take


def default_steps(n_items: int) -> int:
    """Return how many steps a chain takes unless a number is given.

    >>> default_steps(497)
    39760
    """
    return min(80 * n_items, 200_000)


def search(
    data: Transactions,
    policy: BoundPolicy,
    stage: Stage,
    *,
    base: Method,
    minimise: Minimise,
    objective: Callable[[Partition], Aim],
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
    start = found.partition
    if not data.n_items or start == Partition.untouched(data.n_items):
        return replace(found, searched=Searched(minimise, 1.0, 1.0, 0, 0, seed, 0.0, ()))
    task = _Task(data, policy, start, objective(start), bool(found.unmet), stage)
    reserve = 0.0
    if steps is None and cooling is None and seconds is not None:
        each, last = task.time_steps(seconds)
        reserve = min(_RESERVE * seconds, _PASSES * data.n_items * last)
        left = seconds - reserve - (time.perf_counter() - began)
        cooling = max(BLOCKS, int(left / each))
    planned = cooling or steps or default_steps(data.n_items)
    steps = planned if steps is None else steps
    deadline = None if seconds is None else began + seconds - reserve
    best, searched = task.run(steps, planned, seed, deadline)
    searched = replace(
        searched, minimise=minimise, seconds=round(time.perf_counter() - began, 6), seed=seed
    )
    if best is None:  # nothing was found within s
        return replace(found, searched=searched)
    return Outcome(best, searched=searched)


class _Task:
    """One search: what all its chains share."""

    def __init__(
        self,
        data: Transactions,
        policy: BoundPolicy,
        start: Partition,
        objective: Aim,
        rescue: bool,
        stage: Stage,
    ) -> None:
        self.data, self.policy, self.start, self.stage = data, policy, start, stage
        self.objective, self.rescue = objective, rescue
        self.rules: Rules = rules_of(data, policy)
        self.make = annealing_class(stage.engine)
        self.limits = limits_of(data, policy, start)
        if not rescue:
            kernel = self._kernel(self.limits, self.cheap or objective.price, start, 0)
            flat, ncp, ul = kernel.losses()
            self.limits = replace(self.limits, flat=flat, ncp=ncp, ul=ul)

    @property
    def cheap(self) -> Price | None:
        """The part of the price that is cheap to know, if there is another."""
        price = self.objective.price
        if not len(price.others) or not price.flat:
            return None
        return Price(price.flat, price.item, 0 * price.starts)

    def _kernel(self, limits: Limits, price: Price, start: Partition, seed: int) -> Annealing:
        return self.make(self.rules, limits, price, start.group_of, seed, self.stage)

    def time_steps(self, seconds: float) -> tuple[float, float]:
        """Return how long a step is likely to take, on the average, and one of the last part."""
        hot = HOT / self.data.n_items * (self.objective.scale or self._unit())
        taken = last = 0.0
        parts = [(self.objective.price, 1.0)]
        if self.cheap is not None:
            parts = [(self.cheap, FIRST_PART), (self.objective.price, 1 - FIRST_PART)]
        for price, share in parts:
            kernel = self._kernel(self.limits, price, self.start, 0)
            began, done = time.perf_counter(), 0
            while time.perf_counter() - began < 0.02 * max(seconds, 0.5) and done < 1 << 20:
                kernel.anneal(16, hot, self.stage)
                done += 16
            # What is found later has more, and smaller, groups to choose from.
            last = 1.5 * (time.perf_counter() - began) / done
            taken += share * last
        return taken, last

    def _unit(self) -> float:
        """Return what the start costs, in the kernel's numbers."""
        return self._kernel(self.limits, self.objective.price, self.start, 0).cost_now

    def run(
        self, steps: int, planned: int, seed: int, deadline: float | None
    ) -> tuple[Partition | None, Searched]:
        """Run the chains, and return the best that is no worse than the start in anything."""
        price, unit = self.objective.price, self._unit()
        chains = [
            self._kernel(self.limits, self.cheap or price, self.start, 2 * seed + number)
            for number in range(CHAINS)
        ]
        trace = [(0, 1.0)]
        done, later = 0, self.cheap is None
        for block, (end, first) in enumerate(self._blocks(planned)):
            if not first and not later:
                later = True
                chains = [
                    self._kernel(self.limits, price, Partition(one.best_group_of()), 2 * seed + n)
                    for n, one in enumerate(chains)
                ]
            size = min(end, steps) - done
            temperature = self._temperature(block, first)
            # UL can fall by powers of ten: then so does the temperature.
            costs = [1.0 if self.objective.scale else one.cost_now for one in chains]
            self._side_by_side(
                [
                    partial(one.anneal, size, temperature * cost)
                    for one, cost in zip(chains, costs, strict=True)
                ],
                done,
                steps,
            )
            done += size
            telling = block % (BLOCKS // 20) == 0
            if later or telling:
                trace.append((done, self._cost(chains, later) / (unit or 1.0)))
            if telling:
                event("search", f"objective {trace[-1][1]:.4f} after {done:,} steps", steps=done)
            self.stage.note = f"objective {trace[-1][1]:.3f}"
            if done == steps or self.stage.enough():
                break
            if deadline is not None and time.perf_counter() > deadline:
                break
        self.stage.search_is_over()
        if not later:
            chains = [
                self._kernel(self.limits, price, Partition(one.best_group_of()), 2 * seed + n)
                for n, one in enumerate(chains)
            ]
        self._side_by_side([one.descend for one in chains], done, steps)
        self.stage.note = ""
        best, cost = self._choose(chains, unit)
        trace.append((done, cost / (unit or 1.0)))
        return best, Searched("", 1.0, cost / (unit or 1.0), done, planned, seed, 0.0, tuple(trace))

    def _cost(self, chains: list[Annealing], later: bool) -> float:
        """Return the best objective so far; in the first part the chains do not know it."""
        if later:
            return min(one.cost_of_best for one in chains)
        price = self.objective.price
        return min(
            self._kernel(self.limits, price, Partition(one.best_group_of()), 0).cost_now
            for one in chains
        )

    def _blocks(self, planned: int) -> list[tuple[int, bool]]:
        """Return where each block of steps ends, and whether it belongs to the first part."""
        if self.cheap is None:
            return [(planned * (block + 1) // BLOCKS, False) for block in range(BLOCKS)]
        turn = int(planned * FIRST_PART)
        half = BLOCKS // 2
        return [(turn * (block + 1) // half, True) for block in range(half)] + [
            (turn + (planned - turn) * (block + 1) // half, False) for block in range(half)
        ]

    def _temperature(self, block: int, first: bool) -> float:
        """Return the temperature of a block; computed the same way on every machine."""
        n = BLOCKS if self.cheap is None else BLOCKS // 2
        hot, bits = (HOT, COOL) if first or self.cheap is None else (LATER_HOT, LATER_COOL)
        hot = UL_HOT if self.objective.price.only == "ul" else hot
        power = int(bits * 256 * (block % n) / n)
        falling = int(cooling_table()[power & 255]) / (1 << 31) / (1 << (power >> 8))
        return hot / self.data.n_items * falling * (self.objective.scale or 1.0)

    def _side_by_side(
        self, jobs: list[Callable[[Callable[[], None]], None]], done: int, of: int
    ) -> None:
        def telling(job: Callable[[Callable[[], None]], None]) -> Callable[[Stage], None]:
            return lambda part: job(lambda: part(done, of))

        self.stage.side_by_side([telling(job) for job in jobs])

    def _choose(self, chains: list[Annealing], unit: float) -> tuple[Partition | None, float]:
        """Return the cheapest result that is no worse than the start; ties by the partition."""
        results = [
            (one.cost_of_best, tuple(Partition(one.best_group_of()).group_of.tolist()))
            for one in chains
            if one.cost_of_best != float("inf")
        ]
        for cost, group_of in sorted(results):
            partition = Partition(list(group_of))
            if self.rescue or (cost <= unit and self._is_no_worse(partition)):
                return partition, cost
        if self.rescue:
            return None, float("inf")
        # Rounding made UL look smaller than it is, or chance led nowhere: plain descent, with a
        # limit that is safe.
        limits = replace(self.limits, ul=self.limits.safe_ul)
        kernel = self._kernel(limits, self.objective.price, self.start, 0)
        kernel.descend(self.stage)
        partition = Partition(kernel.best_group_of())
        if self._is_no_worse(partition):
            return partition, kernel.cost_of_best
        return self.start, unit

    def _is_no_worse(self, partition: Partition) -> bool:
        """Whether no loss is larger than at the start, exactly."""
        data, policy = self.data, self.policy
        losses = [FlatPenalty(data), UtilityLoss(data, policy.weights, policy.penalties)]
        if policy.hierarchy is not None:
            losses.append(CertaintyPenalty(data, policy.hierarchy))
        return all(loss.total(partition) <= loss.total(self.start) for loss in losses)
