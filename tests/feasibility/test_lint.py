"""Findings of the lint: true by the definitions, on random policies and random mappings."""

import random
import re

import numpy as np
import pytest

import overcoat as oc
from bridge import policy_of, real_data
from oracle import definitions as oracle
from overcoat.context import QUIET
from overcoat.data.transactions import Transactions
from overcoat.feasibility.lint import _alone, _asked, _pairs, findings, linted
from strategies import Instance, random_instance


def random_phi(rng: random.Random, instance: Instance) -> dict[str, frozenset[str] | None]:
    """Any mapping that merges within blocks only, and suppresses some."""
    phi: dict[str, frozenset[str] | None] = {}
    for block in oracle.blocks_of(instance.named, instance.rest, instance.domain):
        groups: dict[int, set[str]] = {}
        for item in sorted(block):
            groups.setdefault(rng.randrange(rng.choice([1, 1, len(block)])), set()).add(item)
        gone = rng.choice([0, 0, 0.3, 0.7])
        for group in groups.values():
            merged = None if rng.random() < gone else frozenset(group)
            phi |= dict.fromkeys(group, merged)
    return phi


def holds(families: list[oracle.Family], instance: Instance, phi: oracle.Phi) -> bool:
    rows, k = instance.rows, instance.k
    return all(
        oracle.satisfied(p, rows, phi, k)
        for family in families
        for p in oracle.expand(family, rows, k)
    )


@pytest.mark.parametrize("chunk", range(8))
def test_what_cannot_hold_holds_under_no_mapping(chunk: int) -> None:
    seen = dict.fromkeys(["rare", "pairs", "never", "implied"], 0)
    for seed in range(chunk * 100, (chunk + 1) * 100):
        rng = random.Random(seed)
        instance = random_instance(rng)
        if not instance.domain or instance.k == 1:
            continue
        data = Transactions.of(instance.rows)
        try:
            bound = policy_of(instance).bind(data)
        except oc.PolicyError:
            continue
        labels = data.vocabulary.labels
        alone = _alone(bound)
        asked = np.zeros(data.n_items, bool)
        for one in bound.families:
            asked |= _asked(one, data.n_items)
        rare = alone & asked & (data.supports < bound.k)
        pairs, _ = _pairs(data, bound, alone & ~rare, QUIET)
        told = list(findings(data, bound))
        seen["rare"] += bool(rare.any())
        seen["pairs"] += bool(len(pairs))
        assert any("held by fewer" in one for one in told) == bool(rare.any())
        assert any("together in fewer" in one for one in told) == bool(len(pairs))
        never = any("cannot be met" in one for one in told)
        seen["never"] += never
        for _ in range(20):
            phi = random_phi(rng, instance)
            if holds(instance.families, instance, phi):
                gone = {item for item, group in phi.items() if group is None}
                assert {labels[item] for item in np.flatnonzero(rare)} <= gone
                for a, b in pairs.tolist():
                    assert labels[a] in gone or labels[b] in gone
                assert not never or not oracle.suppression_ok(phi, instance.s)
        if never:
            with pytest.raises(oc.InfeasibleError):
                oc.anonymize(data, policy_of(instance))
    assert seen["rare"] > 3
    assert seen["pairs"] > 0
    assert seen["never"] > 3


@pytest.mark.parametrize("chunk", range(4))
def test_what_is_implied_can_be_left_out(chunk: int) -> None:
    seen = 0
    for seed in range(chunk * 150, (chunk + 1) * 150):
        rng = random.Random(seed)
        instance = random_instance(rng)
        if not instance.domain:
            continue
        data = Transactions.of(instance.rows)
        try:
            bound = policy_of(instance).bind(data)
        except oc.PolicyError:
            continue
        titles = [family.title for family in bound.families]
        told = list(findings(data, bound))
        left = list(zip(instance.families, titles, strict=True))
        for title in titles:
            if any(one.startswith(f"{title}: asks") for one in told):
                times = sum(one.startswith(f"{title}: asks") for one in told)
                last = [place for place, (_, t) in enumerate(left) if t == title][-times:]
                left = [one for place, one in enumerate(left) if place not in last]
                told = [one for one in told if not one.startswith(f"{title}: asks")]
        if len(left) == len(instance.families):
            continue
        seen += 1
        for _ in range(30):
            phi = random_phi(rng, instance)
            if holds([family for family, _ in left], instance, phi):
                assert holds(instance.families, instance, phi)
    assert seen > 5


def said(policy: oc.Policy, rows: list[set[str]]) -> list[str]:
    return list(findings(Transactions.of(rows), policy.bind(Transactions.of(rows))))


ROWS: list[set[str]] = [{"a", "b"}, {"a", "b"}, {"a", "c"}, {"b", "c"}, {"d"}, {"d", "e"}] * 4


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (oc.Policy(2, oc.AllItemsets(2) | oc.AllItemsets(1)), "all 1-itemsets: asks for nothing"),
        (oc.Policy(2, oc.Pgen() | oc.AllItemsets(2)), "all 2-itemsets: asks for nothing more"),
        (oc.Policy(2, oc.AllItemsets(2) | oc.Itemsets([["a", "b"], ["c"]])), "2 itemsets ask for"),
        (oc.Policy(2, oc.Itemsets([["a", "b"], ["a"]])), "1 itemset of explicit itemsets is part"),
        (oc.Policy(99, oc.AllItemsets(2)), "k = 99 is more than the 24 people there are"),
        (oc.Policy(2, oc.AllItemsets(2), max_suppressed=60), "s = 60 % lets 3 of 5 items"),
        (oc.Policy(2, oc.AllItemsets(1)), "m = 1: who knows two items"),
        (oc.Policy(2, oc.AllItemsets(2), {"x": ["a"]}), "1 utility set has one item only"),
        (oc.Policy(9, oc.Itemsets([["e"]])), "only 1 of 5 items are in any protected itemset"),
    ],
)
def test_words(policy: oc.Policy, words: str) -> None:
    assert any(words in one for one in said(policy, ROWS)), said(policy, ROWS)


def test_nothing_odd() -> None:
    assert said(oc.Policy(2, oc.AllItemsets(2)), ROWS) == []


def test_it_is_told() -> None:
    result = oc.anonymize(ROWS, oc.Policy(2, oc.AllItemsets(1)))
    assert any("m = 1" in str(note) for note in result.notes)
    assert not any("nothing was changed" in str(note) for note in result.notes)
    result = oc.anonymize(ROWS, oc.Policy(2, oc.Itemsets([["a", "b"]])))
    assert any("nothing was changed" in str(note) for note in result.notes)


def test_a_few_lines_for_thousands_of_findings() -> None:
    data = oc.read(real_data("bms-webview-2.dat"))
    policy = oc.Policy(5, oc.AllItemsets(2), oc.Utility(rest="intact"))
    notes = [str(note) for note in linted(data, policy.bind(data)).notes]
    assert len(notes) == 3
    assert all(len(note) < 400 for note in notes)
    assert re.search(r"^[\d,]+ pairs of items", notes[1])
