"""Exact against every mapping there is, on thousands of random instances of every family."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import get_args

import pytest

from bridge import phi_of, policy_of
from oracle import definitions as oracle
from oracle import measures as expected
from oracle.optimum import optimum
from overcoat.algorithms.exact import exact
from overcoat.algorithms.prices import Objective
from overcoat.data.transactions import Transactions
from overcoat.mapping import Mapping
from overcoat.policy.policy import BoundPolicy, Policy
from overcoat.policy.weights import Distances
from strategies import Instance, random_instance

N_CHUNKS, CHUNK = 8, 300
MOST = 6  # items: every mapping of these is looked at


def losses_of(
    instance: Instance, data: Transactions, weight: Callable[[oracle.Group], Fraction]
) -> dict[str, Callable[[oracle.Phi], Fraction]]:
    def penalty(item: str) -> Fraction:
        return Fraction(float(data.supports[data.vocabulary.code(item)] / data.n_transactions))

    def width(group: oracle.Group) -> Fraction:
        assert instance.paths is not None
        return oracle.weight_from_hierarchy(group, instance.paths, instance.domain)

    rows, flat = instance.rows, instance.paths is None
    return {
        "ul": partial(oracle.total_loss, rows=rows, weight=weight, penalty=penalty),
        "ncp": partial(expected.ncp, rows, weight=None if flat else width),
        "flat": partial(expected.flat_ncp, rows),
    }


def weight_of(instance: Instance) -> Callable[[oracle.Group], Fraction]:
    paths = instance.paths
    if paths is None:
        return oracle.unit_weight
    return lambda group: oracle.weight_from_hierarchy(group, paths, instance.domain)


def check(instance: Instance, policy: Policy, weight: Callable[[oracle.Group], Fraction]) -> str:
    data = Transactions.of(instance.rows)
    bound = policy.bind(data)
    blocks = oracle.blocks_of(instance.named, instance.rest, instance.domain)
    rows, k = instance.rows, instance.k
    constraints = [p for family in instance.families for p in oracle.expand(family, rows, k)]
    losses = losses_of(instance, data, weight)
    best = optimum(rows, instance.domain, constraints, blocks, k, instance.s, losses)
    for objective in get_args(Objective):
        found = exact(data, bound, objective)
        least = best[objective]
        assert (least is None) == bool(found.unmet)
        if least is None:
            check_refusal(instance, bound, constraints, blocks, found.partition)
            continue
        loss, phi = least
        assert found.proof is not None
        assert found.proof.proven
        assert found.proof.found == loss
        assert phi_of(Mapping.over(data.vocabulary, found.partition)) == phi
    return "refused" if best["ul"] is None else "lossless" if not best["ul"][0] else "lossy"


def check_refusal(
    instance: Instance,
    policy: BoundPolicy,
    constraints: list[oracle.Itemset],
    blocks: list[oracle.Group],
    partition: object,
) -> None:
    """What it would take: everything holds, and no mapping does with fewer items."""
    mapping = Mapping.over(policy.vocabulary, partition)  # type: ignore[arg-type]
    phi = phi_of(mapping)
    assert all(oracle.satisfied(p, instance.rows, phi, instance.k) for p in constraints)
    assert oracle.utility_ok(phi, blocks)
    gone = len(mapping.suppressed)
    assert gone > policy.budget
    rows, k = instance.rows, instance.k
    fewer = 100 * Fraction(gone - 1, len(instance.domain))
    none: dict[str, Callable[[oracle.Phi], Fraction]] = {"any": lambda phi: Fraction(0)}
    under = oracle.suppression_ok
    assert not under(phi, float(fewer))
    found = optimum(rows, instance.domain, constraints, blocks, k, _written(fewer), none)
    assert found["any"] is None


def _written(percent: Fraction) -> float:
    """A percentage between this share and the next, that decimals can write."""
    return float(round(percent, 3)) + 0.001


def small_instances(seeds: range) -> list[Instance]:
    every = (random_instance(random.Random(seed)) for seed in seeds)
    return [one for one in every if 0 < len(one.domain) <= MOST]


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_every_mapping(chunk: int) -> None:
    seeds = range(chunk * CHUNK, (chunk + 1) * CHUNK)
    seen = Counter(
        check(instance, policy_of(instance), weight_of(instance))
        for instance in small_instances(seeds)
    )
    assert min(seen[what] for what in ("refused", "lossless", "lossy")) > 20


def test_weights_that_are_distances_or_functions() -> None:
    """A function may weigh a larger group less."""
    rng = random.Random(5)
    for instance in small_instances(range(20_000, 20_300)):
        plain = policy_of(replace(instance, paths=None))
        pairs = {
            (one, other): rng.choice([0.0, 0.25, 0.5, 1.0])
            for one in instance.domain
            for other in instance.domain
            if one < other
        }

        def farthest(group: oracle.Group, pairs: dict[tuple[str, str], float] = pairs) -> Fraction:
            return Fraction(max(pairs[a, b] for a in group for b in group if a < b))

        def strange(group: oracle.Group) -> float:
            return 1 / len(group) ** 4

        flat = replace(instance, paths=None)
        check(flat, replace_weights(plain, Distances(pairs)), farthest)
        exactly = lambda group: Fraction(round(strange(group) * 2**30), 2**30)  # noqa: E731
        check(flat, replace_weights(plain, strange), exactly)


def replace_weights(policy: Policy, weights: object) -> Policy:
    return Policy(
        policy.k,
        policy.privacy,
        policy.utility,
        policy.max_suppressed,
        weights=weights,  # type: ignore[arg-type]
    )
