"""How often a search meets policies that COAT refuses, and for how many that is impossible.

    python -m experiments.rescue --data FOLDER

Prints a table: blocks of random items, all pairs, k = 5. *impossible* are those
of which it is proven that no mapping exists within s. The proof: where all pairs are protected,
merging never breaks one, so the state in which every block is one group breaks least. Two blocks
that 1 to k-1 people have together there must be told apart: of every two items, one of each, that
somebody has, one has to be suppressed. So the suppressed items are a vertex cover of a graph, and a
linear program with whole numbers (HiGHS, ten seconds) says how small one can be at least. *open*:
neither proven impossible nor met.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

import overcoat as oc
from overcoat.algorithms.rescue import coarsest, edges_of
from overcoat.context import Context
from overcoat.data.transactions import Transactions
from overcoat.policy.policy import BoundPolicy

FILES = {"BMS1": "bms-webview-1.dat", "diabetes130": "diabetes130-patients.dat"}
K = 5


def least_suppression(data: Transactions, policy: BoundPolicy) -> int:
    """Return how many items have to be suppressed at least."""
    edges = sorted(map(sorted, edges_of(data, policy, coarsest(policy).group_of)))
    if not edges:
        return 0
    row = np.repeat(np.arange(len(edges)), [len(edge) for edge in edges])
    column = np.concatenate([np.array(edge) for edge in edges])
    covers = coo_array((np.ones(len(row)), (row, column)), shape=(len(edges), data.n_items))
    found = milp(
        np.ones(data.n_items),
        constraints=LinearConstraint(covers.tocsr(), 1, np.inf),
        integrality=np.ones(data.n_items),
        bounds=Bounds(0, 1),
        options={"time_limit": 10},
    )
    return math.ceil(float(found.mip_dual_bound) - 1e-6)


def cases(data: Transactions, number: int) -> Iterator[tuple[str, BoundPolicy]]:
    """Yield policies that COAT refuses, by the sizes of their blocks and s."""
    rng = random.Random(5)
    for low, high in ((2, 5), (10, 20), (30, 60)):
        for _ in range(number):
            items = list(data.vocabulary)
            rng.shuffle(items)
            sets = []
            while items:
                size = rng.randint(low, high)
                sets.append(items[:size])
                items = items[size:]
            policy = oc.Policy(K, oc.AllItemsets(2), oc.Utility(sets), 0.0).bind(data)
            outcome = oc.Coat().find(data, policy, Context().start("rescue"))
            gone = len(outcome.partition.suppressed)
            for share in (0.95, 0.9, 0.75):
                s = 100 * int(share * gone) / data.n_items
                stated = oc.Policy(K, oc.AllItemsets(2), oc.Utility(sets), s)
                if gone:
                    yield f"{low} to {high}, s {share:.0%} of what COAT takes", stated.bind(data)


def main() -> None:
    """Run everything and print the table."""
    parser = argparse.ArgumentParser(description="policies that COAT refuses")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--number", type=int, default=5)
    given = parser.parse_args()
    say = sys.stdout.write
    say("| data | blocks | refused | impossible | met by search | open |\n")
    say("| --- | --- | ---: | ---: | ---: | ---: |\n")
    for name, file in FILES.items():
        data = oc.read(given.data / file)
        table: dict[str, list[tuple[bool, bool]]] = {}
        for kind, policy in cases(data, given.number):
            may_be = least_suppression(data, policy) <= policy.budget
            method = oc.Search(steps=20 * data.n_items)
            met = may_be and not method.find(data, policy, Context().start("rescue")).unmet
            table.setdefault(kind, []).append((not may_be, met))
        for kind, rows in table.items():
            never, found = (sum(one[place] for one in rows) for place in (0, 1))
            left = len(rows) - never - found
            say(f"| {name} | {kind} | {len(rows)} | {never} | {found} | {left} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
