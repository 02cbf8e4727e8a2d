"""The sparse law: many items, short rows, an attacker who links a few of them, m up to 4.

Here a merge with an item that nobody links can break sets of sizes that were passed already.
"""

import random

import pytest

import overcoat as oc
from bridge import phi_of
from oracle import definitions as oracle
from overcoat.algorithms import violations
from overcoat.algorithms.coat import coat
from overcoat.algorithms.pcta import pcta
from overcoat.context import Context
from overcoat.mapping import Mapping

N_CHUNKS, CHUNK = 10, 350
REFERENCE = Context(engine="reference").start("anonymize")


def sparse_problem(rng: random.Random) -> tuple[list[frozenset[str]], oc.Policy]:
    items = [f"{number:02}" for number in range(rng.randint(8, 30))]
    rows = [
        frozenset(rng.sample(items, min(rng.choice([1, 2, 3, 3, 4, 4, 6]), len(items))))
        for _ in range(rng.randint(5, 40))
    ]
    domain = sorted(oracle.domain_of(rows))
    linkable = sorted(rng.sample(domain, rng.randint(1, len(domain))))
    # An item that was not linkable and is merged with one that is matters most from m = 3 on.
    family = oc.AllItemsets(rng.choice([1, 2, 3, 3, 4, 4]), rng.choice([linkable] * 5 + [None]))
    blocks = [domain[at::3] for at in range(3)] if rng.random() < 0.3 else []
    k = rng.choice([2, 2, 3, 3, 4])
    return rows, oc.Policy(k, family, [b for b in blocks if b], max_suppressed=100)


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_whatever_is_found_holds(chunk: int) -> None:
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        rng = random.Random(seed)
        rows, policy = sparse_problem(rng)
        data = oc.read(rows)
        bound = policy.bind(data)
        for method in (coat, pcta):
            mapping = Mapping.over(data.vocabulary, method(data, bound).partition)
            verdict = oc.verify(data, mapping.apply(data), mapping, bound)
            assert verdict.ok, (seed, method.__name__, verdict.violations[:3])


def test_both_engines_and_the_oracle_agree() -> None:
    for seed in range(60):
        rng = random.Random(100_000 + seed)
        rows, policy = sparse_problem(rng)
        rows = rows[:25]
        data = oc.read(rows)
        family = policy.privacy[0]
        assert isinstance(family, oc.AllItemsets)
        if family.m > 2 or data.n_items > 14:
            continue  # the twin writes out every set
        bound = oc.Policy(
            policy.k, family, policy.utility, max_suppressed=100, ignore_unknown=True
        ).bind(data)
        outcome = coat(data, bound)
        assert coat(data, bound, REFERENCE).steps == outcome.steps
        phi = phi_of(Mapping.over(data.vocabulary, outcome.partition))
        linkable = None
        if family.linkable is not None:
            linkable = frozenset(family.linkable.entries[0].items) & oracle.domain_of(rows)
        for p in oracle.expand(("all", family.m, linkable), rows, policy.k):
            assert oracle.satisfied(p, rows, phi, policy.k)


@pytest.mark.parametrize("enough", [1, 2, 3])
def test_it_does_not_matter_how_many_sets_are_handed_out(
    enough: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small data never have more violated sets of a group than a batch holds: make it small."""
    for seed in range(400):
        rows, policy = sparse_problem(random.Random(seed))
        data = oc.read(rows)
        bound = policy.bind(data)
        monkeypatch.setattr(violations, "_ENOUGH", 64)
        expected = coat(data, bound).partition
        monkeypatch.setattr(violations, "_ENOUGH", enough)
        assert coat(data, bound).partition == expected, seed
