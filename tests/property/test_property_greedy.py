"""Greedy on thousands of random instances: every suppression is the one the definitions ask for."""

import random
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bridge import phi_of, policy_of
from oracle import definitions as oracle
from oracle import greedy as by_definition
from overcoat.algorithms.coat import coat
from overcoat.algorithms.greedy import greedy
from overcoat.context import Context
from overcoat.data.transactions import Transactions
from overcoat.errors import InfeasibleError
from overcoat.mapping import Mapping
from overcoat.policy.policy import Policy
from overcoat.policy.privacy import AllItemsets, Coherence, Families
from overcoat.release.public import anonymize
from overcoat.verification import verify
from strategies import Instance, instances, random_instance

REFERENCE = Context(engine="reference").start("anonymize")

N_CHUNKS = 20
CHUNK = 150
PERCENTAGES: tuple[oracle.Percent, ...] = (0, 20, 33.3, 50, 80, 100)


@dataclass(frozen=True)
class Problem:
    """Data, k and s of an instance, and what is to be coherent."""

    instance: Instance
    p: int
    public: frozenset[str]
    private: frozenset[str]
    h: oracle.Percent
    family: AllItemsets | Coherence

    @property
    def policy(self) -> Policy:
        return replace(policy_of(self.instance), privacy=Families.of(self.family))


def random_problem(rng: random.Random) -> Problem:
    instance = random_instance(rng)
    while not instance.domain:
        instance = random_instance(rng)
    return problem_of(instance, rng)


def problem_of(instance: Instance, rng: random.Random) -> Problem:
    domain = oracle.item_order(instance.domain)
    p, h = rng.randint(1, 5), rng.choice(PERCENTAGES)
    private = frozenset(item for item in domain[1:] if rng.random() < 0.3)
    public = instance.domain - private
    family: AllItemsets | Coherence
    match rng.randint(0, 3):
        case 0:
            private, public, family = frozenset(), instance.domain, AllItemsets(p)
        case 1 if private:
            public = frozenset(item for item in public if rng.random() < 0.7) or public
            family = Coherence(p, sorted(private), h, sorted(public))
        case _ if private:
            family = Coherence(p, private=sorted(private), h=h)
        case _:
            public = frozenset(item for item in public if rng.random() < 0.7) or public
            family = AllItemsets(p, sorted(public))
    return Problem(instance, p, public, private, h if private else 100, family)


def check(problem: Problem) -> str:
    rows, k = problem.instance.rows, problem.instance.k
    asked = (problem.p, problem.public, problem.private, problem.h)
    data = Transactions.of(rows)
    policy = problem.policy.bind(data)
    outcome = greedy(data, policy)

    # Both kernels take the same steps, and these are the oracle's.
    twin = greedy(data, policy, REFERENCE)
    assert twin.partition == outcome.partition
    assert twin.steps == outcome.steps
    assert twin.unmet == outcome.unmet
    expected, in_order = by_definition.greedy(rows, *asked, k)
    mapping = Mapping.over(data.vocabulary, outcome.partition)
    phi = phi_of(mapping)
    assert [data.vocabulary[step.group] for step in outcome.steps] == in_order
    assert phi == expected
    assert not oracle.suppressed_items(phi) & problem.private

    # Each step names a mole that asked for it, in the data at that time.
    gone: set[str] = set()
    for step in outcome.steps:
        b = frozenset(data.vocabulary[code] for code in step.constraint)
        assert data.vocabulary[step.group] in b
        assert not b & gone
        assert by_definition.is_mole(b, rows, problem.private, problem.h, k)
        gone.add(data.vocabulary[step.group])

    # What is left is coherent; s decides whether it may be published.
    assert by_definition.coherent(rows, phi, *asked, k)
    within = oracle.suppression_ok(phi, problem.instance.s)
    assert within == (not outcome.unmet)
    verdict = verify(data, mapping.apply(data), mapping, policy)
    assert verdict.ok == within
    assert verdict.largest_k == by_definition.largest_k(rows, phi, *asked)
    return "released" if within else "refused"


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_random_problems(chunk: int) -> None:
    seen = Counter(
        check(random_problem(random.Random(seed)))
        for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK)
    )
    assert seen["released"] > CHUNK // 8
    assert seen["refused"] > CHUNK // 8


@settings(max_examples=150, deadline=None, derandomize=True)
@given(instances(), st.integers(0, 1000))
def test_problems_that_hypothesis_finds(instance: Instance, seed: int) -> None:
    assume(instance.domain)
    check(problem_of(instance, random.Random(seed)))


def test_verification_of_any_mapping() -> None:
    """Mappings that greedy would never make, too: the same verdict and largest k as the oracle."""
    rng = random.Random(0)
    seen = Counter[tuple[bool, bool]]()
    for _ in range(1500):
        problem = random_problem(rng)
        rows, k = problem.instance.rows, problem.instance.k
        asked = (problem.p, problem.public, problem.private, problem.h)
        data = Transactions.of(rows)
        groups: dict[int, list[str]] = {}
        mixed = rng.random() < 0.3
        for item in data.vocabulary:
            kind = 0 if mixed or item in problem.public else 50
            if rng.random() < 0.8:
                groups.setdefault(kind + rng.randrange(data.n_items), []).append(item)
        mapping = Mapping.of(data.vocabulary, groups.values())
        phi = phi_of(mapping)
        verdict = verify(data, mapping.apply(data), mapping, problem.policy)
        holds = by_definition.coherent(rows, phi, *asked, k)
        assert ("privacy" not in verdict.n_violations) == holds
        assert verdict.largest_k == by_definition.largest_k(rows, phi, *asked)
        seen[holds, problem.h < 100] += 1
    assert min(seen[key] for key in [(True, True), (False, True), (True, False)]) > 50


def test_coherence_without_a_limit_is_all_itemsets() -> None:
    """With h = 100 COAT takes the steps it takes for all itemsets over the public items."""
    rng = random.Random(1)
    for _ in range(200):
        problem = random_problem(rng)
        if not problem.private:
            continue
        data = Transactions.of(problem.instance.rows)
        private = Coherence(problem.p, sorted(problem.private))
        one = replace(problem.policy, privacy=Families.of(private))
        public = AllItemsets(problem.p, sorted(problem.instance.domain - problem.private))
        other = replace(problem.policy, privacy=Families.of(public))
        assert coat(data, one.bind(data)).steps == coat(data, other.bind(data)).steps


def test_the_front_door_releases_or_refuses() -> None:
    rng = random.Random(2)
    for _ in range(150):
        problem = random_problem(rng)
        policy = problem.policy
        _, gone = by_definition.greedy(
            problem.instance.rows,
            *(problem.p, problem.public, problem.private, problem.h, problem.instance.k),
        )
        n_items = len(problem.instance.domain)
        if 100 * len(gone) <= Fraction(str(problem.instance.s)) * n_items:
            result = anonymize(problem.instance.rows, policy=policy, method="greedy")
            assert result.verdict.ok
            assert [step.items for step in result.trace] == [(item,) for item in gone]
        else:
            with pytest.raises(InfeasibleError) as caught:
                anonymize(problem.instance.rows, policy=policy, method="greedy")
            assert sorted(caught.value.suppressed) == sorted(gone)
            assert caught.value.unmet
