"""Proposals: every one of them is met, and changes one thing."""

from __future__ import annotations

import random

import overcoat as oc
from feasibility.test_clashes import random_problem
from overcoat.advice.folding import fold_sets
from overcoat.advice.suggest import suggest
from overcoat.data import samples


def test_every_proposal_is_met() -> None:
    rng = random.Random(3)
    seen: dict[str, int] = {}
    for _ in range(150):
        data, _, policy = random_problem(rng)
        tree = oc.Hierarchy.balanced(data.vocabulary, 2)
        asked = oc.Policy(policy.k, policy.privacy, policy.utility, 0, hierarchy=tree)
        for one in suggest(data, asked, oc.Coat()):
            seen[one.name] = seen.get(one.name, 0) + 1
            assert one.result.verdict.ok
            assert not one.result.partial
            again = oc.anonymize(data, one.policy)
            assert again.mapping == one.result.mapping
            same = {"k": one.policy.k == asked.k, "suppress": True, "m": True, "sets": True}
            assert same.get(one.name, True) or one.name == "k"
            if one.name in ("sets", "joined"):
                assert not one.result.mapping.suppressed
                assert all(count.exact for count in one.result.counts)
    assert {"sets", "suppress", "k", "m", "joined"} <= {*seen}, seen


def test_long_lists_of_sets_are_told_in_full() -> None:
    sample = samples.hospital(800, seed=3)
    tree = oc.Hierarchy.of(sample.hierarchy)
    policy = oc.Policy(20, oc.AllItemsets(2), oc.Utility.level(tree, 2), hierarchy=tree)
    found = {one.name: one for one in suggest(sample.transactions(), policy, oc.Coat())}
    names = {block.name for block in policy.bind(sample.transactions()).utility.named}
    given_up = names - {*found["sets"].settings["utility"]}
    assert len(given_up) > 8
    (told,) = found["sets"].details
    assert all(f"{name} (" in told for name in given_up)
    joined = found["joined"].settings["utility"]
    assert max(map(len, joined)) < 3 * max(map(len, names)) + 20
    for detail in found["joined"].details:
        name = next(one for one in joined if detail.startswith(f"{one}: "))
        assert name.endswith(" more")


def test_folding_keeps_every_set_somewhere() -> None:
    rng = random.Random(4)
    for _ in range(150):
        data, sets, policy = random_problem(rng)
        tree = oc.Hierarchy.balanced(data.vocabulary, 2)
        asked = oc.Policy(policy.k, policy.privacy, policy.utility, 0, hierarchy=tree)
        groups = fold_sets(data, asked.bind(data))
        if groups:
            assert sorted(number for group in groups for number in group) == list(range(len(sets)))
