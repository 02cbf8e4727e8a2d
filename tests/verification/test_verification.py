"""Verification is itself verified: each kind of damage to a sound release must be objected to."""

import dataclasses
import random
import sys
from collections.abc import Callable, Iterable

import pytest

from bridge import largest_k_of, phi_of, policy_of
from oracle import definitions as oracle
from overcoat.algorithms.coat import coat
from overcoat.context import Context
from overcoat.data import samples
from overcoat.data.transactions import Transactions
from overcoat.mapping import Mapping
from overcoat.policy.hierarchy import Hierarchy
from overcoat.policy.policy import BoundPolicy, Policy
from overcoat.policy.privacy import AllItemsets, Coherence, Itemsets, Pgen
from overcoat.policy.utility import Utility
from overcoat.verification import LISTED, Verdict, verify, verify_published
from strategies import random_instance

Row = frozenset[str]


class Release:
    """The paper's release, to be damaged."""

    def __init__(self) -> None:
        sample = samples.paper()
        self.data = sample.transactions()
        self.unbound = Policy(
            5,
            (Itemsets(sample.privacy),),
            Utility(sample.utility),
            15,
            Hierarchy.of(sample.hierarchy),
        )
        self.policy = self.unbound.bind(self.data)
        outcome = coat(self.data, self.policy)
        self.mapping = Mapping.over(self.data.vocabulary, outcome.partition)
        self.rows = [
            frozenset(row) for row, count in self.mapping.apply(self.data) for _ in range(count)
        ]

    def verdict(
        self,
        rows: Iterable[Row] | None = None,
        mapping: Mapping | None = None,
        policy: Policy | BoundPolicy | None = None,
    ) -> Verdict:
        released = Transactions.of(self.rows if rows is None else rows)
        return verify(self.data, released, mapping or self.mapping, policy or self.policy)


@pytest.fixture
def release() -> Release:
    return Release()


def test_a_sound_release_passes(release: Release) -> None:
    verdict = release.verdict()
    assert verdict.ok
    assert not verdict.violations
    assert verdict.largest_k == 5
    assert verdict.n_suppressed == 1
    assert verdict.suppressed_percent == 12.5


def damages() -> dict[str, Callable[[list[Row]], list[Row]]]:
    def change(rows: list[Row]) -> list[Row]:
        return [*rows[:-1], rows[-1] | {"e"} if "e" not in rows[-1] else rows[-1] - {"e"}]

    def swap(rows: list[Row]) -> list[Row]:
        swapped = {"e": "f", "f": "e"}
        return [frozenset(swapped.get(label, label) for label in row) for row in rows]

    return {
        "changed": change,
        "removed": lambda rows: rows[1:],
        "added": lambda rows: [*rows, rows[0]],
        "repeated for another": lambda rows: [*rows[:-1], rows[0]],
        "label swapped": swap,
        "label misspelt": lambda rows: [*rows[:-1], frozenset({"z"})],
        "original item": lambda rows: [*rows[:-1], frozenset({"a", "c"})],
        "suppressed item": lambda rows: [*rows[:-1], rows[-1] | {"d"}],
    }


@pytest.mark.parametrize("damage", damages())
def test_each_damage_to_the_rows_is_seen(release: Release, damage: str) -> None:
    verdict = release.verdict(damages()[damage](release.rows))
    assert not verdict.ok
    assert verdict.n_violations["rows"] >= 1
    assert any(violation.kind == "rows" for violation in verdict.violations)


def test_every_single_change_of_one_label_in_one_row_is_seen(release: Release) -> None:
    labels = sorted({label for row in release.rows for label in row})
    for index, row in enumerate(release.rows):
        for label in labels:
            damaged = [*release.rows]
            damaged[index] = row ^ {label}
            assert not release.verdict(damaged).ok


def test_a_group_across_blocks_is_seen(release: Release) -> None:
    """The rows follow the mapping, privacy holds, only the utility constraint is broken."""
    mapping = Mapping.of(release.data.vocabulary, ["abc", "efgh"])
    verdict = verify(release.data, mapping.apply(release.data), mapping, release.policy)
    assert verdict.n_violations == {"utility": 1}
    assert verdict.violations[0].itemset == ("a", "b", "c")
    assert "u1, u2" in verdict.violations[0].message


def test_one_item_too_many_suppressed_is_seen(release: Release) -> None:
    mapping = Mapping.of(release.data.vocabulary, ["ab", "e", "f", "gh"])  # c and d are gone
    verdict = verify(release.data, mapping.apply(release.data), mapping, release.policy)
    assert verdict.n_violations == {"suppression": 1}
    assert verdict.violations[0].message == (
        "2 of 8 items are suppressed (25 %), more than s = 15 %"
    )


def test_suppression_is_compared_exactly() -> None:
    """s = 0.1 of 1,000 items is one item, whatever the nearest double to 0.1 is."""
    data = Transactions.of([{str(i)} for i in range(1000)] * 2)
    policy = Policy(2, (AllItemsets(1),), max_suppressed=0.1)
    for gone, ok in ((1, True), (2, False)):
        mapping = Mapping.of(data.vocabulary, [[str(i)] for i in range(gone, 1000)])
        assert verify(data, mapping.apply(data), mapping, policy).ok is ok


def test_support_of_k_minus_1_is_seen(release: Release) -> None:
    policy = dataclasses.replace(release.unbound, k=6)
    verdict = release.verdict(policy=policy)
    assert not verdict.ok
    assert verdict.n_violations == {"privacy": 2}
    assert [(v.itemset, v.support) for v in verdict.violations] == [
        (("(a|b)", "c"), 5),
        (("(g|h)", "e", "f"), 5),
    ]
    assert verdict.violations[0].constraint == "explicit itemsets"
    assert verdict.largest_k == 5


def test_clause_two_is_checked() -> None:
    """Nobody has a, b and c together; but only one has a and b."""
    data = Transactions.of([{"a", "b"}, {"a"}, {"b"}, {"c"}, {"c"}])
    mapping = Mapping.of(data.vocabulary, ["a", "b", "c"])
    verdict = verify(data, data, mapping, Policy(2, (Itemsets([{"a", "b", "c"}]),)))
    assert [(v.itemset, v.support) for v in verdict.violations] == [(("a", "b"), 1)]
    assert verdict.largest_k == 1


def test_shares_of_private_items_are_checked() -> None:
    """Three of four with a have x, two of three with b, two of two with both."""
    data = Transactions.of(map(set, ["abx", "abx", "ax", "a", "b", "xy", "y"]))
    untouched = Mapping.of(data.vocabulary, ["a", "b", "x", "y"])

    def told(p: int, h: float, k: int = 2, mapping: Mapping = untouched) -> list[str]:
        policy = Policy(k, (Coherence(p, ["x", "y"], h),), max_suppressed=100)
        verdict = verify(data, mapping.apply(data), mapping, policy)
        assert verdict.n_violations.get("privacy", 0) == len(verdict.violations)
        assert (verdict.largest_k == 0) == any("private" in v.message for v in verdict.violations)
        return [violation.message for violation in verdict.violations]

    assert told(2, 100) == []
    assert told(1, 75) == []
    assert told(2, 99.9) == [
        "of the 2 with {a, b}, 2 (100 %) have the private x, more than h = 99.9 %"
    ]
    assert told(1, 70) == ["of the 4 with {a}, 3 (75 %) have the private x, more than h = 70 %"]
    assert len(told(2, 0)) == 3
    assert told(2, 99, k=3) == [  # k and h are told apart
        "{a, b} is supported by 2, fewer than k = 3",
        "of the 2 with {a, b}, 2 (100 %) have the private x, more than h = 99 %",
    ]
    # Without x nobody with a or b has anything private; a group of x and y is as private as x.
    assert told(2, 0, mapping=Mapping.of(data.vocabulary, ["a", "b", "y"])) == []
    assert told(2, 0, mapping=Mapping.of(data.vocabulary, ["x", "y"])) == []
    assert len(told(2, 0, mapping=Mapping.of(data.vocabulary, ["a", "b", "xy"]))) == 3
    # A group across public and private items would say of everybody in it that they may have it.
    assert told(1, 99, mapping=Mapping.of(data.vocabulary, ["ax", "b", "y"])) == [
        "of the 5 with {(a|x)}, 5 (100 %) have the private (a|x), more than h = 99 %"
    ]


def test_one_more_row_with_a_private_item_is_seen() -> None:
    """Exactly h percent pass; each row that gains the private item is one too many."""
    rows = [frozenset("ax"), *[frozenset("a")] * 2, frozenset("x")]
    policy = Policy(1, (Coherence(1, ["x"], 33.4),))
    data = Transactions.of(rows)
    mapping = Mapping.of(data.vocabulary, ["a", "x"])
    assert verify(data, data, mapping, policy).ok
    for index in (1, 2):
        damaged = [*rows]
        damaged[index] = rows[index] | {"x"}
        verdict = verify(data, Transactions.of(damaged), mapping, policy)
        assert verdict.n_violations["privacy"] == 1
        assert verdict.n_violations["rows"] >= 1
        changed = Transactions.of(damaged)  # the same, were the data like that
        assert verify(changed, changed, mapping, policy).n_violations == {"privacy": 1}


def test_mapping_faults_are_seen(release: Release) -> None:
    data, partition = release.data, release.mapping.partition
    vocabulary, labels = release.mapping.vocabulary, release.mapping.labels
    same = Mapping(vocabulary, partition, ("x",) * len(labels))
    assert "mapping" in release.verdict(mapping=same).n_violations
    taken = Mapping(vocabulary, partition, tuple("d" if x == "(a|b)" else x for x in labels))
    assert "mapping" in release.verdict(mapping=taken).n_violations
    smaller = Mapping.of(Transactions.of([set("abc")]).vocabulary, ["ab", "c"])
    assert "mapping" in release.verdict(mapping=smaller).n_violations
    assert data.n_items == 8


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5])
def test_all_itemsets_against_the_oracle(m: int) -> None:
    """Random mappings, good and bad: the same verdict and largest k as the oracle."""
    rng = random.Random(m)
    verdicts = set()
    for _ in range(150):
        instance = random_instance(rng)
        domain = sorted(instance.domain)
        linkable = frozenset(x for x in domain if rng.random() < 0.7) or None
        instance = dataclasses.replace(instance, families=[("all", m, linkable)])
        verdicts.add(agree(instance.rows, instance, rng))
    assert verdicts == {True, False}


def test_mixed_families_against_the_oracle() -> None:
    rng = random.Random(0)
    verdicts = {agree((i := random_instance(rng)).rows, i, rng) for _ in range(400)}
    assert verdicts == {True, False}


def agree(rows: list[Row], instance, rng: random.Random) -> bool:  # type: ignore[no-untyped-def]
    data = Transactions.of(rows)
    n_groups = rng.randint(1, max(1, data.n_items))
    groups: dict[int, list[str]] = {}
    for item in data.vocabulary:
        if rng.random() < 0.95:
            groups.setdefault(rng.randrange(n_groups), []).append(item)
    mapping = Mapping.of(data.vocabulary, groups.values())
    phi = phi_of(mapping)
    policy = policy_of(instance).bind(data)
    verdict = verify(data, mapping.apply(data), mapping, policy)
    constraints = [
        p for family in instance.families for p in oracle.expand(family, rows, instance.k)
    ]
    blocks = oracle.blocks_of(instance.named, instance.rest, instance.domain)
    private = all(oracle.satisfied(p, rows, phi, instance.k) for p in constraints)
    assert ("privacy" not in verdict.n_violations) == private
    assert ("utility" not in verdict.n_violations) == oracle.utility_ok(phi, blocks)
    assert ("suppression" not in verdict.n_violations) == oracle.suppression_ok(phi, instance.s)
    assert verdict.largest_k == largest_k_of(instance, phi)
    return verdict.ok


def test_long_lists_of_violations_are_counted_and_cut() -> None:
    data = Transactions.of([{str(i), str(i + 1)} for i in range(100)])
    mapping = Mapping.of(data.vocabulary, [[item] for item in data.vocabulary])
    verdict = verify(data, data, mapping, Policy(2, (Pgen(),)))
    assert verdict.n_violations == {"privacy": 100}
    assert len(verdict.violations) == LISTED


def test_the_order_of_violations_does_not_depend_on_hashing(release: Release) -> None:
    one = release.verdict(release.rows[4:])
    other = release.verdict(reversed(release.rows[4:]))
    assert one == other


def test_parts_of_an_itemset_whose_rarest_label_nobody_has() -> None:
    """{a, b, c} matches nobody because c is not there; {a, b} of it matches one person."""
    mapping = Mapping.of("abc", [["a"], ["b"], ["c"]])
    released = Transactions.of([{"a", "b"}, {"a"}, {"a"}, {"b"}, {"b"}])
    verdict = verify_published(released, mapping, Policy(2, Itemsets([{"a", "b", "c"}])))
    assert verdict.n_violations == {"privacy": 1}
    assert verdict.violations[0].itemset == ("a", "b")
    assert verdict.largest_k == 1


@pytest.mark.parametrize("m", [2, 3, 4])
def test_any_number_of_threads_sees_the_same(m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["overcoat.verification.verify"], "_MANY", 0)
    rng, n_bad = random.Random(m), 0
    for _ in range(40):
        labels = [str(n) for n in range(rng.randint(3, 9))]
        data = Transactions.of(
            rng.sample(labels, rng.randint(0, len(labels))) for _ in range(rng.randint(1, 60))
        )
        policy = Policy(rng.randint(1, 6), (AllItemsets(m),)).bind(data)
        released = Mapping.of(data.vocabulary, [[item] for item in data.vocabulary])
        alone, many = (
            verify(data, data, released, policy, stage=Context(threads=threads).start("verify"))
            for threads in (1, 3)
        )
        assert alone == many
        n_bad += not alone.ok
    assert 0 < n_bad < 40
