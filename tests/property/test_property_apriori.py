"""Thousands of random instances: Apriori gives what its definition gives, and it holds."""

import random
from collections import Counter
from itertools import groupby

import pytest
from hypothesis import given, settings

from bridge import largest_k_of, phi_of, policy_of
from oracle import definitions as oracle
from oracle.apriori import apriori as oracle_apriori
from oracle.apriori import nodes_of
from overcoat.algorithms.apriori import apriori, apriori_problems
from overcoat.algorithms.outcome import Outcome
from overcoat.context import Context
from overcoat.data.transactions import Transactions
from overcoat.mapping import Mapping
from overcoat.verification import verify
from strategies import ROOT, Instance, km_instances, random_km_instance

REFERENCE = Context(engine="reference").start("anonymize")

N_CHUNKS = 20
CHUNK = 150


def check(instance: Instance) -> str:
    """Run one instance, hold it against the definitions, and say what came of it."""
    k, rows, paths = instance.k, instance.rows, instance.paths
    family = instance.families[0]
    assert family[0] == "all"
    assert paths is not None
    data = Transactions.of(rows)
    policy = policy_of(instance).bind(data)
    assert not list(apriori_problems(policy))
    outcome = apriori(data, policy)

    # Both engines take the same steps.
    twin = apriori(data, policy, REFERENCE)
    assert twin.partition == outcome.partition
    assert twin.steps == outcome.steps
    assert twin.unmet == outcome.unmet

    # The mapping is the oracle's.
    mapping = Mapping.over(data.vocabulary, outcome.partition)
    phi = phi_of(mapping)
    assert phi == oracle_apriori(rows, paths, k, family[1], family[2])

    # It holds, and every group is a subtree.
    assert oracle.well_formed(phi, instance.domain)
    assert all(oracle.satisfied(p, rows, phi, k) for p in oracle.expand(family, rows, k))
    nodes = nodes_of(paths, instance.domain)
    assert all(group in nodes for group in phi.values() if group is not None)
    within = oracle.suppression_ok(phi, instance.s)
    assert within == (not outcome.unmet)
    verdict = verify(data, mapping.apply(data), mapping, policy)
    assert verdict.ok == within
    assert verdict.largest_k == largest_k_of(instance, phi)

    check_trace(instance, data, outcome)
    if not within:
        return "refused"
    return "suppressed" if oracle.suppressed_items(phi) else str(len(outcome.steps) > 0)


def check_trace(instance: Instance, data: Transactions, outcome: Outcome) -> None:
    """Played again, the steps lead to the groups; each was asked for by a violated itemset."""
    labels, rows, family = data.vocabulary.labels, instance.rows, instance.families[0]
    assert family[0] == "all"
    _, m, known = family
    phi: dict[str, oracle.Group | None] = {item: frozenset([item]) for item in instance.domain}
    # The steps of one repair share their constraint.
    for constraint, steps in groupby(outcome.replay(), key=lambda played: played[0].constraint):
        p = frozenset(labels[code] for code in constraint)
        assert len(p) == len(constraint) <= m
        assert known is None or p <= known
        assert not oracle.satisfied(p, rows, phi, instance.k)
        for step, group, partner in steps:
            union = frozenset(labels[code] for code in group + partner)
            assert step.support == sum(1 for row in rows if row & union)
            phi |= dict.fromkeys(union, union if step.action == "merge" else None)
    assert phi == phi_of(Mapping.over(data.vocabulary, outcome.partition))


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_random_instances(chunk: int) -> None:
    seen = Counter(
        check(random_km_instance(random.Random(seed)))
        for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK)
    )
    assert seen["True"] > CHUNK // 3  # something was generalized
    assert seen["refused"] > CHUNK // 20
    assert seen["suppressed"]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(km_instances())
def test_instances_that_hypothesis_finds(instance: Instance) -> None:
    check(instance)


@pytest.mark.parametrize("seed", range(40))
def test_deeper_hierarchies(seed: int) -> None:
    """Parts of a subtree have often been generalized when the rest of it is to follow."""
    rng = random.Random(seed)
    labels = [str(number) for number in range(16)]
    turns = {label: [str(rng.randrange(2)) for _ in range(rng.randint(2, 4))] for label in labels}
    rows = [
        frozenset(str(min(int(rng.paretovariate(0.6)), 15)) for _ in range(rng.randint(1, 4)))
        for _ in range(60)
    ]
    paths = {
        label: (ROOT, *("n" + ".".join(way[: n + 1]) for n in range(len(way))), label)
        for label, way in turns.items()
    }
    family: oracle.Family = ("all", 2, None)
    check(Instance(rows, [family], {}, "together", rng.randint(2, 6), 0, paths))
