"""Thousands of random instances: every release is right by the oracle, every refusal too."""

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge import largest_k_of, phi_of, policy_of
from oracle import definitions as oracle
from oracle.coat import Infeasible, coat_by_families
from oracle.coat import coat as oracle_coat
from oracle.pcta import pcta_by_families
from overcoat.algorithms.coat import coat
from overcoat.algorithms.pcta import pcta
from overcoat.context import Context
from overcoat.data.transactions import Transactions
from overcoat.errors import InfeasibleError
from overcoat.mapping import Mapping
from overcoat.measures.loss import measure_loss
from overcoat.release.public import anonymize
from overcoat.verification import verify
from strategies import Instance, instances, random_instance

REFERENCE = Context(engine="reference").start("anonymize")

N_CHUNKS = 20
CHUNK = 200


# Each method that takes every policy, and the oracle's idea of it.
METHODS: dict[str, Any] = {"coat": (coat, coat_by_families), "pcta": (pcta, pcta_by_families)}


def check(name: str, instance: Instance) -> str:
    """Run one instance, hold it against the definitions, and say what came of it."""
    method, by_definition = METHODS[name]
    data = Transactions.of(instance.rows)
    policy = policy_of(instance).bind(data)
    outcome = method(data, policy)

    # Both kernels take the same steps.
    twin = method(data, policy, REFERENCE)
    assert twin.partition == outcome.partition
    assert twin.steps == outcome.steps
    assert twin.unmet == outcome.unmet

    # Every constraint and every utility block holds, whether or not s was enough.
    mapping = Mapping.over(data.vocabulary, outcome.partition)
    phi = phi_of(mapping)
    k, s, rows = instance.k, instance.s, instance.rows
    constraints = [p for family in instance.families for p in oracle.expand(family, rows, k)]
    blocks = oracle.blocks_of(instance.named, instance.rest, instance.domain)
    assert oracle.well_formed(phi, instance.domain)
    assert all(oracle.satisfied(p, rows, phi, k) for p in constraints)
    assert oracle.utility_ok(phi, blocks)

    # A refusal is right: the trace shows more suppression than s allows.
    within = oracle.suppression_ok(phi, s)
    assert within == (not outcome.unmet)
    gone = [
        item for step, group, _ in outcome.replay() if step.action == "suppress" for item in group
    ]
    assert sorted(gone) == [
        code for code, group in enumerate(outcome.partition.group_of) if group < 0
    ]

    # Verification sees what the oracle sees.
    released = mapping.apply(data)
    verdict = verify(data, released, mapping, policy)
    assert verdict.ok == within
    assert verdict.largest_k == largest_k_of(instance, phi)

    # So does the loss.
    weight = oracle.unit_weight
    if instance.paths is not None:
        paths, domain = instance.paths, instance.domain
        weight = lambda group: oracle.weight_from_hierarchy(group, paths, domain)  # noqa: E731
    total = float(oracle.total_loss(phi, rows, weight))
    assert 2 ** measure_loss(data, released, mapping, policy).log2_ul == pytest.approx(total)

    # The mapping is the oracle's, step by step the same choices.
    try:
        expected, _ = by_definition(rows, instance.families, blocks, k, s, weight)
    except Infeasible:
        assert not within
    else:
        assert phi == expected
    explicit = all(family[0] != "all" for family in instance.families)
    if name == "coat" and explicit and within:
        assert phi == oracle_coat(rows, constraints, blocks, k, s, weight)[0]
    return "released" if within else "refused"


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
@pytest.mark.parametrize("name", METHODS)
def test_random_instances(name: str, chunk: int) -> None:
    seen = Counter(
        check(name, random_instance(random.Random(seed)))
        for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK)
    )
    # The law must keep producing both, or half of this test would be asleep.
    assert seen["released"] > CHUNK // 4
    assert seen["refused"] > CHUNK // 8


@pytest.mark.parametrize("enough", [1, 2])
def test_batches_of_any_size(enough: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Owners of violated sets are given few at a time, so that they have to ask again."""
    monkeypatch.setattr("overcoat.algorithms.violations._ENOUGH", enough)
    rng = random.Random(enough)
    for _ in range(150):
        instance = random_instance(rng)
        family: oracle.Family = ("all", rng.randint(1, 4), None)
        check("coat", replace(instance, families=[family, *instance.families[:1]]))


@pytest.mark.parametrize("few", [1, 2])
def test_itemsets_looked_at_a_few_at_a_time(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Itemsets behind the first with k - 1 supporters wait: the steps are those of the oracle."""
    monkeypatch.setattr("overcoat.algorithms.violations._FIRST_LOOK", few)
    rng = random.Random(few)
    for _ in range(150):
        instance = random_instance(rng)
        domain = sorted(oracle.domain_of(instance.rows))
        if not domain:
            continue
        sizes = (rng.randint(1, min(4, len(domain))) for _ in range(12))
        explicit: oracle.Family = ("itemsets", [frozenset(rng.sample(domain, n)) for n in sizes])
        pgen: oracle.Family = ("pgen",)
        check("coat", replace(instance, families=[explicit, pgen]))


@pytest.mark.parametrize("name", METHODS)
def test_itemsets_of_nearly_all_items(name: str) -> None:
    """Nobody has them whole, and most of their parts are somebody's."""
    rng = random.Random(11)
    for _ in range(150):
        instance = random_instance(rng)
        domain = sorted(instance.domain)
        if not domain:
            continue
        without = {rng.choice(domain) for _ in range(rng.randint(0, 2))}
        itemsets = [frozenset(domain), frozenset(domain) - without or frozenset(domain)]
        check(name, replace(instance, families=[("itemsets", itemsets), *instance.families[:1]]))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.sampled_from(sorted(METHODS)), instances())
def test_instances_that_hypothesis_finds(name: str, instance: Instance) -> None:
    check(name, instance)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(instances())
def test_the_front_door_releases_or_refuses(instance: Instance) -> None:
    policy = policy_of(instance)
    partial = anonymize(instance.rows, policy=policy, partial=True)
    if not oracle.suppression_ok(phi_of(partial.mapping), instance.s):
        assert partial.partial
        with pytest.raises(InfeasibleError) as caught:
            anonymize(instance.rows, policy=policy)
        assert caught.value.unmet
        assert caught.value.suppressed == partial.mapping.suppressed
        return
    result = anonymize(instance.rows, policy=policy)
    assert result.verdict.ok
    assert not result.partial
    gone = [step.items for step in result.trace if step.action == "suppress"]
    assert sorted(sum(gone, ())) == sorted(result.mapping.suppressed)
