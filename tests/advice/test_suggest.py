"""Proposals: every one of them is met, and changes one thing."""

from __future__ import annotations

import random

import overcoat as oc
from feasibility.test_clashes import random_problem
from overcoat.advice.folding import fold_sets
from overcoat.advice.suggest import suggest


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


def test_folding_keeps_every_set_somewhere() -> None:
    rng = random.Random(4)
    for _ in range(150):
        data, sets, policy = random_problem(rng)
        tree = oc.Hierarchy.balanced(data.vocabulary, 2)
        asked = oc.Policy(policy.k, policy.privacy, policy.utility, 0, hierarchy=tree)
        groups = fold_sets(data, asked.bind(data))
        if groups:
            assert sorted(number for group in groups for number in group) == list(range(len(sets)))
