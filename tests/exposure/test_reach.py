"""How far an attacker gets, from released rows alone: the same as with the original at hand."""

import random

import pytest

import overcoat as oc
from bridge import phi_of
from oracle import risk as oracle
from overcoat.exposure import crowds, reach
from strategies import random_instance


def test_against_the_oracle() -> None:
    """What anyone finds in released rows is what spec 11 defines with the original."""
    rng = random.Random("reach")
    seen = 0
    for _ in range(500):
        instance = random_instance(rng)
        if not instance.domain:
            continue
        data = oc.read(instance.rows)
        groups = [rng.randint(-1, 3) for _ in range(data.n_items)]
        mapping = oc.Mapping.over(data.vocabulary, oc.Partition(groups))
        released = mapping.apply(data)
        k = rng.randint(1, 4)
        found = reach.reach(released, [1, 2, 3], k)
        phi, rows = phi_of(mapping), [frozenset(row) for row in instance.rows]
        # Who has suppressed items only is hidden among all: in a release of fewer than k people,
        # or of one, spec counts them; rows without labels do not show whether they have any.
        bare = sum(1 for row in rows if row and all(phi[item] is None for item in row))
        hidden = bare if len(rows) < k else 0
        alone = bare if len(rows) == 1 else 0
        for one, m in zip(found, (1, 2, 3, None), strict=True):
            unique, below, _ = oracle.crowd(rows, phi, m, k)
            assert (one.unique + alone, one.below_k + hidden, one.exact) == (unique, below, True)
            seen += bool(unique)
    assert seen > 200


def test_before_is_the_same_as_risk() -> None:
    data = oc.datasets.hospital(500).transactions()
    found = reach.reach(data, [1, 2, 3], 5)
    truth = oc.risk(data, known=3, k=5).before
    assert [(one.known, one.unique, one.below_k) for one in found] == [
        (one.known, one.unique, one.below_k) for one in truth
    ]


def test_too_many_sets_are_drawn_from_and_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    data = oc.datasets.hospital(500).transactions()
    monkeypatch.setattr(reach, "_MOST_SETS", 3000)
    monkeypatch.setattr(crowds, "MOST_SETS", -1)
    monkeypatch.setattr(crowds, "DRAWN", 60)
    found = reach.reach(data, [1, 2, 3], 5)
    assert [one.exact for one in found] == [True, False, False, True]
    assert found[1].intervals is not None
    low, high = found[1].intervals["unique"]
    assert low <= found[1].unique <= high
    assert found == reach.reach(data, [1, 2, 3], 5)
