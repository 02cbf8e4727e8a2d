"""How often a search meets policies that COAT refuses, and for how many that is impossible.

    python -m experiments.rescue --data FOLDER

Prints the table of docs/search.md: blocks of random items, all pairs, k = 5. *impossible* are those
of which it is proven that no mapping exists within s. The proof: where all pairs are protected,
merging never breaks one, so the state in which every block is one group breaks least. What is
broken there has to be broken up by suppression, an item at least of either block, so that pairs of
blocks without a block in common need an item each.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np

import overcoat as oc
from overcoat.algorithms.rescue import coarsest
from overcoat.context import Context
from overcoat.data.transactions import Transactions
from overcoat.partition import Partition
from overcoat.policy.policy import BoundPolicy

FILES = {"BMS1": "bms-webview-1.dat", "diabetes130": "diabetes130-patients.dat"}
K = 5


def least_suppression(data: Transactions, policy: BoundPolicy) -> int:
    """Return how many items have to be suppressed at least."""
    groups = [np.flatnonzero(coarsest(policy).group_of == g) for g in coarsest(policy).firsts]
    rows = np.repeat(np.arange(data.n_distinct), data.lengths)
    held = [np.unique(rows[np.isin(data.codes, items)]) for items in groups]
    rare = [0 < data.counts[one].sum() < policy.k for one in held]
    needed = sum(rare)
    free = [number for number, alone in enumerate(rare) if not alone]
    met = set(free)
    for one, other in combinations(free, 2):  # a matching, the first that comes
        if one in met and other in met:
            both = np.intersect1d(held[one], held[other], assume_unique=True)
            if 0 < data.counts[both].sum() < policy.k:
                needed += 1
                met -= {one, other}
    return needed


def cases(data: Transactions, number: int) -> Iterator[tuple[str, BoundPolicy, Partition]]:
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
            for share in (0.9, 0.5):
                s = 100 * int(share * gone) / data.n_items
                stated = oc.Policy(K, oc.AllItemsets(2), oc.Utility(sets), s)
                if gone:
                    yield f"blocks of {low} to {high}, s {share:.0%} of COAT's", stated.bind(data), (
                        outcome.partition
                    )


def main() -> None:
    """Run everything and print the table."""
    parser = argparse.ArgumentParser(description="policies that COAT refuses")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--number", type=int, default=5)
    given = parser.parse_args()
    say = sys.stdout.write
    say("| data | blocks | refused | impossible | met by search | COAT suppresses | search |\n")
    say("| --- | --- | ---: | ---: | ---: | ---: | ---: |\n")
    for name, file in FILES.items():
        data = oc.read(given.data / file)
        table: dict[str, list[tuple[bool, bool, int, int]]] = {}
        for kind, policy, coat in cases(data, given.number):
            impossible = least_suppression(data, policy) > policy.budget
            found = oc.Search(steps=20 * data.n_items).find(
                data, policy, Context().start("rescue")
            )
            table.setdefault(kind, []).append(
                (
                    impossible,
                    not found.unmet,
                    len(coat.suppressed),
                    len(found.partition.suppressed),
                )
            )
        for kind, rows in table.items():
            refused, met = len(rows), sum(one[1] for one in rows)
            gone = [np.mean([one[place] for one in rows]) for place in (2, 3)]
            say(
                f"| {name} | {kind} | {refused} | {sum(one[0] for one in rows)} | {met} | "
                f"{gone[0]:.0f} | {gone[1]:.0f} |\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
