"""Which utility sets can be kept: against enumeration of all choices, on small instances."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

import overcoat as oc
from bridge import real_data
from overcoat.algorithms.independent import largest_without
from overcoat.feasibility.clashes import find_clashes, keep_most


def test_independent_sets_by_enumeration() -> None:
    rng = random.Random(2)
    for _ in range(300):
        n = rng.randint(1, 9)
        edges = [
            frozenset(rng.sample(range(n), min(rng.choice([1, 2, 2, 2, 3, 4]), n)))
            for _ in range(rng.randint(0, 12))
        ]
        found = largest_without(n, edges, [1] * n)
        assert not any(edge <= {*found} for edge in edges)
        most = max(
            size
            for size in range(n + 1)
            if any(
                not any(edge <= {*some} for edge in edges) for some in combinations(range(n), size)
            )
        )
        assert len(found) == most


def random_problem(rng: random.Random) -> tuple[oc.Transactions, dict[str, list[str]], oc.Policy]:
    items = "abcdefghij"[: rng.randint(3, 10)]
    rows = [
        set(rng.sample(items, min(rng.choice([1, 1, 2, 2, 3, 4]), len(items))))
        for _ in range(rng.randint(5, 40))
    ]
    data = oc.Transactions.of(rows)
    domain = list(data.vocabulary)
    rng.shuffle(domain)
    sets: dict[str, list[str]] = {}
    while domain and len(sets) < 5 and rng.random() < 0.9:
        sets[f"s{len(sets)}"] = [domain.pop() for _ in range(min(rng.randint(1, 3), len(domain)))]
    privacy: oc.AllItemsets | oc.Pgen | oc.Itemsets = oc.AllItemsets(rng.randint(1, 3))
    kind = rng.randrange(6)
    if kind == 0:
        privacy = oc.Pgen()
    elif kind == 1:
        some = list(data.vocabulary)
        privacy = oc.Itemsets([rng.sample(some, min(3, len(some))) for _ in range(3)])
    elif kind == 2:
        privacy = oc.AllItemsets(2, linkable=list(data.vocabulary)[::2])
    return data, sets, oc.Policy(rng.randint(2, 4), privacy, sets, max_suppressed=0)


def is_met(data: oc.Transactions, policy: oc.Policy, sets: dict[str, list[str]]) -> bool:
    """Whether the policy holds when each of these sets is one group, and the rest another."""
    named = {item for items in sets.values() for item in items}
    rest = [item for item in data.vocabulary if item not in named]
    mapping = oc.Mapping.of(data.vocabulary, [*sets.values(), *([rest] if rest else [])])
    whole = oc.Policy(policy.k, policy.privacy, sets, max_suppressed=0)
    return oc.verify(data, mapping.apply(data), mapping, whole).ok


def test_what_is_kept_can_be_kept() -> None:
    rng = random.Random(9)
    short = possible = 0
    for _ in range(250):
        data, sets, policy = random_problem(rng)
        keep, go = keep_most(data, policy.bind(data))
        names = list(sets)
        assert sorted(keep + go) == list(range(len(names)))
        kept = {names[number]: sets[names[number]] for number in keep}
        choices = [
            some
            for size in range(len(names) + 1)
            for some in combinations(names, size)
            if is_met(data, policy, {name: sets[name] for name in some})
        ]
        if not choices:
            assert not keep  # not even one group of all items holds
            continue
        possible += 1
        assert is_met(data, policy, kept), (data, policy)
        short += len(keep) < max(map(len, choices))
    assert possible > 100
    assert short <= 0.05 * possible, (
        short,
        possible,
    )  # where the rest is small, what goes to it matters


def test_clashes_are_what_is_violated() -> None:
    data = oc.Transactions.of([{"a", "c"}, *[{"a"}] * 4, *[{"c"}] * 4, *[{"d"}] * 4, {"e"}, {"e"}])
    sets = {"x": ["a"], "y": ["c"], "z": ["e"]}
    clashes = find_clashes(data, oc.Policy(3, oc.AllItemsets(2), sets).bind(data))
    assert clashes.names == ("x", "y", "z")
    assert clashes.people == (5, 5, 2, 4)
    assert [(sorted(one.blocks), one.people) for one in clashes.found] == [([2], 2), ([0, 1], 1)]


def test_sets_without_a_rest_cannot_be_folded() -> None:
    data = oc.Transactions.of([{"a"}, {"b"}])
    policy = oc.Policy(2, oc.AllItemsets(1), oc.Utility({"x": ["a"]}, rest="intact"))
    with pytest.raises(oc.PolicyError, match="left intact"):
        keep_most(data, policy.bind(data))


def test_disorders_of_real_patients() -> None:
    data = oc.read(real_data("diabetes130-patients.dat"))
    sets = {}
    for line in real_data("diabetes130.ccs.tsv").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            number, name, codes = line.split("\t")
            if found := [code for code in codes.split() if code in data.vocabulary]:
                sets[f"{number} {name}"] = found
    policy = oc.Policy(5, oc.AllItemsets(2), sets, max_suppressed=0)
    keep, _ = keep_most(data, policy.bind(data))
    assert len(keep) >= 58
    kept = {name: items for number, (name, items) in enumerate(sets.items()) if number in keep}
    result = oc.anonymize(data, 5, oc.AllItemsets(2), utility=kept, max_suppressed=0)
    assert all(count.exact for count in result.counts)
