"""How far from the proven optimum methods are, on random small domains; and how tight bounds are.

    python -m experiments.gaps [--instances 2000] [--processes 2]

Prints the tables of docs/optimum.md. An instance has 4 to 8 items, a policy of every kind, utility
sets or none, a hierarchy or none. Counted are those that COAT meets within s.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from multiprocessing import Pool
from statistics import median
from typing import get_args

import overcoat as oc
from overcoat.algorithms.exact import exact
from overcoat.algorithms.objective import Loss
from overcoat.algorithms.optimum import Optimiser
from overcoat.algorithms.prices import Objective, prices_of
from overcoat.algorithms.proof import times
from overcoat.algorithms.scopes import Scopes
from overcoat.data.transactions import Transactions
from overcoat.least.bounds import find_bounds
from overcoat.loss.flat import FlatPenalty
from overcoat.loss.ncp import CertaintyPenalty
from overcoat.loss.separable import Separable
from overcoat.loss.ul import UtilityLoss
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.privacy import Family

COAT, PCTA = "`coat`", "`pcta`"
KEEPING, FREE = "`search`", "`search`, keep=()"
PROMISED = "`search`, of what it may return"
BOUND = "optimum / bound"
NAMES: dict[Objective, str] = {"ul": "UL", "ncp": "NCP", "flat": "flat NCP"}
Measured = list[tuple[str, Objective, float]]  # of a method and a loss, the multiple of the least


def instances(number: int) -> Iterator[tuple[Transactions, oc.Policy]]:
    """Yield random data, and policies of every kind for them."""
    rng = random.Random(11)
    for _ in range(number):
        labels = [f"i{n}" for n in range(rng.randint(4, 8))]
        share = {label: rng.uniform(0.05, 0.5) for label in labels}
        rows = [
            {label for label in labels if rng.random() < share[label]}
            for _ in range(rng.randint(15, 80))
        ]
        data = Transactions.of(rows)
        items = list(data.vocabulary)
        families: list[Family] = [
            oc.AllItemsets(rng.choice([1, 2, 2, 3])),
            oc.AllItemsets(2, rng.sample(items, max(1, len(items) // 2))),
            oc.Itemsets([rng.sample(items, min(rng.randint(1, 4), len(items))) for _ in range(4)]),
            oc.Pgen(),
        ]
        utility = oc.Utility([items[: len(items) // 2]]) if rng.random() < 0.3 else oc.Utility()
        yield (
            data,
            oc.Policy(
                rng.randint(2, 6),
                rng.choice(families),
                utility,
                rng.choice([0.5, 20]),
                oc.Hierarchy.balanced(items, 3) if rng.random() < 0.5 else None,
            ),
        )


def loss_of(objective: Objective, data: Transactions, policy: BoundPolicy) -> Separable:
    """Return the loss that an objective is."""
    if objective == "ul":
        return UtilityLoss(data, policy.weights, policy.penalties)
    if objective == "ncp":
        return CertaintyPenalty(data, policy.hierarchy)
    return FlatPenalty(data)


def shown(name: str, objective: str, ratios: list[float]) -> str:
    """Return one row of the table."""
    ratios.sort()
    optimal = sum(ratio == 1 for ratio in ratios) / len(ratios)
    ninety = ratios[int(0.9 * (len(ratios) - 1))]
    return (
        f"| {name} | {objective} | {len(ratios):,} | {100 * optimal:.1f} % | "
        f"{median(ratios):.2f} | {ninety:.2f} | {ratios[-1]:.1f} |"
    )


def measure(instance: tuple[Transactions, oc.Policy]) -> Measured:
    """Return the gaps of all methods, and those of the bounds, on one instance."""
    data, stated = instance
    policy, stage = stated.bind(data), oc.Context().start("gaps")
    gaps: Measured = []
    coat = oc.Coat().find(data, policy, stage)
    found = {COAT: coat, PCTA: oc.Pcta().find(data, policy, stage)}
    if coat.unmet:
        return gaps
    bounds = find_bounds(data, policy)
    scopes = Scopes(data, policy)
    kinds = [prices_of(one, data, policy) for one in NAMES]
    for objective, prices in zip(NAMES, kinds, strict=True):
        best = exact(data, policy, objective).proof
        assert best is not None
        assert best.proven
        loss = loss_of(objective, data, policy)
        for name, keep in ((KEEPING, get_args(Loss)), (FREE, ())):
            found[name] = oc.Search(minimise=objective, keep=keep).find(data, policy, stage)
        if best.found:
            # The least of what is no worse than COAT's in anything, as search promises to be.
            limits = [(one, one.of(coat.partition)) for one in kinds]
            within = Optimiser(
                *(scopes, prices, data.n_items, policy.budget, 10**7), limits=limits
            ).find(coat.partition)
            assert within.proven
            cost = Fraction(prices.of(found[KEEPING].partition))
            gaps.append((PROMISED, objective, times(cost, Fraction(within.cost))))
        for name, outcome in found.items():
            if not outcome.unmet and best.found:
                gaps.append((name, objective, times(loss.total(outcome.partition), best.found)))
        kept = exact(data, replace(policy, budget=0), objective)
        bound = {"ul": bounds.ul, "ncp": bounds.ncp, "flat": bounds.flat_ncp}[objective]
        if kept.proof is not None and bound:
            gaps.append((BOUND, objective, times(kept.proof.found, bound)))
    return gaps


def main() -> None:
    """Run everything and print the table."""
    parser = argparse.ArgumentParser(description="gaps to the proven optimum")
    parser.add_argument("--instances", type=int, default=2000)
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    table: dict[tuple[str, Objective], list[float]] = {}
    with Pool(given.processes) as pool:
        for gaps in pool.imap(measure, instances(given.instances)):
            for name, objective, ratio in gaps:
                table.setdefault((name, objective), []).append(ratio)
    say = sys.stdout.write
    say("| | loss | instances | optimal | median | 90 of 100 at most | worst |\n")
    say("| --- | --- | ---: | ---: | ---: | ---: | ---: |\n")
    for name in (COAT, PCTA, KEEPING, PROMISED, FREE, BOUND):
        for objective, called in NAMES.items():
            if ratios := table.get((name, objective)):
                say(shown(name, called, ratios) + "\n")


if __name__ == "__main__":
    main()
