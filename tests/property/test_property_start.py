"""Going on from an earlier release, on random instances: nothing is split, nothing comes back."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from bridge import phi_of, policy_of
from oracle import definitions as oracle
from oracle.coat import Infeasible
from oracle.start import go_on_by_families, inside
from overcoat.algorithms.coat import coat
from overcoat.algorithms.outcome import Outcome
from overcoat.algorithms.pcta import pcta
from overcoat.context import Context
from overcoat.data.transactions import Transactions
from overcoat.errors import InfeasibleError
from overcoat.mapping import Mapping
from overcoat.partition import Partition
from overcoat.release.public import anonymize
from overcoat.release.result import Result
from overcoat.verification import verify
from overcoat.verification.verify import verify_published
from strategies import HOSTILE, Instance, random_instance

REFERENCE = Context(engine="reference").start("anonymize")
METHODS = {"coat": coat, "pcta": pcta}
N_CHUNKS = 8
CHUNK = 200


def earlier_mapping(instance: Instance, rng: random.Random) -> tuple[Mapping, Instance] | None:
    """A mapping of last month: it lacks some items, knows others, and keeps to the blocks.

    Utility sets name items that only last month had, too.
    """
    domain = sorted(instance.domain)
    blocks = oracle.blocks_of(instance.named, instance.rest, instance.domain)
    known = {item for item in domain if rng.random() < 0.7}
    if not known:
        return None
    absent = [item for item in HOSTILE if item not in instance.domain]
    absent = rng.sample(absent, rng.randint(0, 3))
    named = dict(instance.named)
    groups: list[list[str]] = []
    for block in blocks:
        members = [item for item in sorted(block) if item in known]
        piles: list[list[str]] = [[] for _ in range(rng.randint(1, 4))]
        for item in members:
            rng.choice(piles).append(item)
        for pile in piles:
            if pile and absent and rng.random() < 0.3:
                home = next((name for name, items in named.items() if pile[0] in items), None)
                if home is not None:
                    named[home] |= {absent[-1]}
                if home is not None or instance.rest == "together":
                    pile.append(absent.pop())
        groups += [pile for pile in piles if pile]
    if absent and instance.rest == "together" and rng.random() < 0.5:
        groups.append(absent)
    gone = [group for group in groups if rng.random() < 0.1]
    kept = [group for group in groups if group not in gone]
    items = [item for group in groups for item in group]
    told = replace(instance, named=named)
    if rng.random() < 0.5:
        return Mapping.of(items, kept), told
    called = rng.sample([*"ABCDEFGHIJ", *(name for name in HOSTILE if name not in items)], 10)
    labels: dict[str, str | None] = dict.fromkeys(items)
    for label, group in zip(called * 5, kept, strict=False):
        for item in group:
            labels[item] = item if len(group) == 1 else label + str(kept.index(group))
    if {*filter(None, labels.values())} & {*items} - {g[0] for g in kept if len(g) == 1}:
        return None
    return Mapping.from_labels(labels), told


def check(name: str, instance: Instance, start: Mapping, told: Instance) -> str:
    rows, k, s = instance.rows, instance.k, instance.s
    data = Transactions.of(rows)
    stated = policy_of(told)
    policy = stated.bind(data, known=start)

    # Compiled kernels, their twins and the oracle agree.
    method = METHODS[name]
    outcome = method(data, policy, start=start)
    twin = method(data, policy, REFERENCE, start)
    assert (twin.partition, twin.steps, twin.unmet) == (
        *(outcome.partition, outcome.steps, outcome.unmet),
    )
    blocks = oracle.blocks_of(instance.named, instance.rest, instance.domain)
    weight = oracle.unit_weight
    if instance.paths is not None:
        paths, domain = instance.paths, instance.domain
        weight = lambda group: oracle.weight_from_hierarchy(group, paths, domain)  # noqa: E731
    found = phi_of(Mapping.over(data.vocabulary, outcome.partition))
    try:
        expected, _ = go_on_by_families(
            *(rows, instance.families, blocks, k, s, weight, phi_of(start)), pcta=name == "pcta"
        )
    except Infeasible:
        assert outcome.unmet
    else:
        assert found == expected

    check_replay(outcome, start.partition_over(data.vocabulary))
    try:
        result = anonymize(rows, stated, method=name, start=start)
    except InfeasibleError as error:
        partial = error.result
        assert partial.partial
        too_much = not oracle.suppression_ok(phi_of(partial.mapping), s)
        assert too_much or not oracle.suppression_ok(found, s)
        return "refused"

    # By itself it meets its policy.
    phi = phi_of(result.mapping)
    here = {item: group and group & instance.domain for item, group in phi.items()}
    here = {item: here[item] for item in instance.domain}
    constraints = [p for family in instance.families for p in oracle.expand(family, rows, k)]
    assert all(oracle.satisfied(p, rows, here, k) for p in constraints)
    assert oracle.utility_ok(here, blocks)
    assert oracle.suppression_ok(here, s)
    assert verify(data, result.released, result.mapping, policy).ok
    assert verify_published(result.released, result.mapping, stated).ok  # anyone can see it

    check_moved(result, start)
    # Once more, the same.
    assert anonymize(rows, stated, method=name, start=start).mapping.dumps() == (
        result.mapping.dumps()
    )
    return "released"


def check_moved(result: Result, start: Mapping) -> None:
    phi, domain, moved = phi_of(result.mapping), {*result.data.vocabulary}, result.moved
    # Nothing was split and nothing came back, of items that occur and of others.
    before = phi_of(start)
    assert {*phi} == {*before} | domain
    assert inside(before, phi)
    # Labels that have not changed mean the same, byte for byte; no label means something new.
    for label, items in result.mapping.groups.items():
        if label in start.groups:
            assert {*start.groups[label]} == {*items}
        if {*items} in map(set, start.members) and not {*start.labels} & domain - {*start}:
            assert label in start.groups
    assert moved is not None
    assert moved.split == ()
    assert set(moved.new) == domain - {*start}
    assert moved.kept + len(moved.grew) + len(moved.joined) + sum(
        start[item] is not None and phi[item] is None for item in {g[0] for g in start.members}
    ) == len(start.labels)


def check_replay(outcome: Outcome, start: Partition) -> None:
    """The replay of the steps ends where the run did."""
    groups = {tuple(group.tolist()) for group in start.groups}
    for step, group, partner in outcome.replay():
        groups -= {group, partner}
        groups |= {tuple(sorted(group + partner))} if step.action == "merge" else set()
    assert groups == {tuple(group.tolist()) for group in outcome.partition.groups}


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
@pytest.mark.parametrize("name", METHODS)
def test_random_instances(name: str, chunk: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        rng = random.Random(seed)
        instance = random_instance(rng)
        found = earlier_mapping(instance, rng)
        if found is not None and not _looks_released(instance, found[0]):
            seen[check(name, instance, *found)] += 1
    assert seen["released"] > CHUNK // 4
    assert seen["refused"] > CHUNK // 8


def _looks_released(instance: Instance, start: Mapping) -> bool:
    new = instance.domain - {*start}
    return bool(new) and new <= {*start.labels}


def test_from_its_own_mapping_nothing_changes() -> None:
    """Whoever starts from what was found finds it again, labels and all."""
    for seed in range(300):
        instance = random_instance(random.Random(seed))
        try:
            result = anonymize(instance.rows, policy_of(instance))
        except InfeasibleError:
            continue
        again = anonymize(instance.rows, policy_of(instance), start=result)
        assert again.mapping == result.mapping
        assert again.released == result.released
