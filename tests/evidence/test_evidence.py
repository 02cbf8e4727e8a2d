"""The external edition: what anyone finds in published files, from these alone."""

import random
from pathlib import Path

import pytest

import overcoat as oc
from bridge import phi_of, policy_of
from oracle import definitions as oracle
from overcoat.data import samples
from overcoat.evidence import External, Internal, Published
from overcoat.verification import verify, verify_published
from strategies import random_instance


def hospital() -> oc.Result:
    sample = samples.hospital(800)
    policy = oc.Policy(5, oc.AllItemsets(2), sample.utility, max_suppressed=20)
    return oc.anonymize(sample.transactions(), policy=policy)


def test_both_editions_tell_the_same_where_both_can() -> None:
    result = hospital()
    told = Internal.of(result)
    external = told.external
    assert external.verdict.ok
    assert external.verdict.largest_k == told.verdict.largest_k
    assert external.n_transactions == result.data.n_transactions
    assert external.n_items == result.data.n_items
    assert external.suppressed == result.mapping.suppressed
    for outside, inside in zip(external.counts, told.counts, strict=True):
        assert (outside.name, outside.exact) == (inside.name, inside.exact)
        assert outside.number == inside.after
        assert not outside.exact or outside.number == inside.before


def test_it_is_a_function_of_the_published_files() -> None:
    """Two originals with the same release have the same external edition."""
    policy = oc.Policy(2, oc.AllItemsets(1))
    mapping = oc.Mapping.of("ab", [["a", "b"]])
    one = oc.apply_mapping([{"a"}, {"b"}, {"a", "b"}], mapping, policy)
    other = oc.apply_mapping([{"b"}, {"b"}, {"a"}], mapping, policy)
    assert one.released == other.released
    editions = [External(Published.of(result)) for result in (one, other)]
    assert editions[0].verdict == editions[1].verdict
    assert editions[0].counts == editions[1].counts


def test_against_the_oracle() -> None:
    """Any mapping, sensible or not: privacy, utility and suppression by the definitions."""
    rng = random.Random(11)
    verdicts = set()
    for _ in range(600):
        instance = random_instance(rng)
        if not instance.domain:
            continue
        data, policy = oc.read(instance.rows), policy_of(instance)
        group_of = [rng.randint(-1, 3) for _ in range(data.n_items)]
        mapping = oc.Mapping.over(data.vocabulary, oc.Partition(group_of))
        released = mapping.apply(data)
        found = verify_published(released, mapping, policy)
        phi, rows = phi_of(mapping), instance.rows
        private = all(
            oracle.satisfied(p, rows, phi, instance.k)
            for family in instance.families
            for p in (oracle.expand(family, rows, instance.k) if family[0] != "pgen" else rows)
        )
        blocks = oracle.blocks_of(instance.named, instance.rest, instance.domain)
        assert ("privacy" not in found.n_violations) == private
        assert ("utility" not in found.n_violations) == oracle.utility_ok(phi, blocks)
        assert ("suppression" not in found.n_violations) == oracle.suppression_ok(phi, instance.s)
        # With the original nothing else comes to light: the rows are those of the mapping.
        assert found == verify(data, released, mapping, policy)
        verdicts.add(found.ok)
    assert verdicts == {True, False}


@pytest.mark.parametrize("damage", ["row", "label", "k"])
def test_damage_is_seen_from_outside(damage: str) -> None:
    result = hospital()
    published = Published.of(result)
    rows = [list(row) for row, count in published.released for _ in range(count)]
    policy = published.policy
    if damage == "row":
        labels = published.released.vocabulary.labels
        rows.append([labels[0], labels[-1], labels[1]])
    elif damage == "label":
        rows[-1] = ["nobody knows this"]
    else:
        policy = oc.Policy(50, policy.privacy, policy.utility, max_suppressed=20)
    damaged = Published(oc.read(rows), published.mapping, policy)
    assert not External(damaged).verdict.ok


def test_lines_mean_the_same_outside_as_inside(tmp_path: Path) -> None:
    """How a line of a file is split depends on the data; the published policy has it settled."""
    data, sets = tmp_path / "data.txt", tmp_path / "sets.txt"
    data.write_text("a b|c\na b|c\na b\nc\n", encoding="utf-8")
    sets.write_text("a b|c\n", encoding="utf-8")
    policy = oc.Policy(2, oc.Itemsets.read(sets))
    result = oc.anonymize(data, policy, sep="|")
    external = External(Published.of(result))
    assert external.verdict.ok
    assert external.published.policy == oc.Policy(2, oc.Itemsets([["a b", "c"]]))
    stricter = oc.Policy(3, external.published.policy.privacy)
    untouched = oc.Mapping.over(result.data.vocabulary, oc.Partition.untouched(2))
    assert not verify_published(result.data, untouched, stricter).ok
