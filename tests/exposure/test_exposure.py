"""Risk against the definitions, on thousands of small instances, and against known figures."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import overcoat as oc
from bridge import phi_of, real_data
from oracle import risk as expected
from overcoat.context import QUIET
from overcoat.data import samples
from overcoat.engines import load
from overcoat.exposure import crowds
from overcoat.exposure.crowds import crowd
from overcoat.exposure.risk import assess, attack
from overcoat.exposure.rows import KnownRows

N = 600


def random_case(rng: random.Random) -> tuple[oc.Transactions, oc.Mapping | None, set[str] | None]:
    items = "abcdefgh"[: rng.randint(1, 8)]
    rows = [
        {rng.choice(items) for _ in range(rng.choice([0, 1, 2, 3, 5, 7]))}
        for _ in range(rng.randint(1, 14))
    ]
    data = oc.Transactions.of(rows)
    mapping = linkable = None
    if data.n_items and rng.random() < 0.8:
        n = rng.randint(1, data.n_items)
        gone = rng.choice([0.0, 0.0, 0.4])
        groups = [-1 if rng.random() < gone else rng.randrange(n) for _ in range(data.n_items)]
        mapping = oc.Mapping.over(data.vocabulary, oc.Partition(groups))
    if data.n_items and rng.random() < 0.4:
        linkable = {item for item in data.vocabulary if rng.random() < 0.6} or {data.vocabulary[0]}
    return data, mapping, linkable


def check(found: crowds.Crowd, truth: tuple[int, int, Any]) -> None:
    assert (found.unique, found.below_k) == truth[:2]
    assert found.chance == pytest.approx(float(truth[2]), rel=1e-12)


def mask_of(data: oc.Transactions, linkable: set[str] | None) -> Any:
    return None if linkable is None else np.array([item in linkable for item in data.vocabulary])


def phi(data: oc.Transactions, mapping: oc.Mapping | None) -> Any:
    if mapping is None:
        return {item: frozenset([item]) for item in data.vocabulary}
    return phi_of(mapping)


@pytest.mark.parametrize("m", [1, 2, 3, 4, None])
def test_by_the_definitions(m: int | None) -> None:
    rng = random.Random(f"risk {m}")
    for _ in range(N):
        data, mapping, linkable = random_case(rng)
        rows = [frozenset(row) for row, count in data for _ in range(count)]
        k = rng.randint(1, 6)
        known = KnownRows.of(data, mapping, mask_of(data, linkable))
        found = crowd(known, "all" if m is None else m, k)
        wanted = None if linkable is None else frozenset(linkable)
        check(found, expected.crowd(rows, phi(data, mapping), m, k, wanted))
        assert found.exact
        if m is not None:
            assert sum(n for _, n in found.sizes) == sum(
                bool(row if wanted is None else row & wanted) for row in rows
            )


@pytest.mark.parametrize("m", [1, 2, 3, 5])
def test_people_one_by_one_give_the_same(m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where sets are too many, people are drawn; all of them if they are few: then it is exact."""
    monkeypatch.setattr(crowds, "MOST_SETS", -1)
    rng = random.Random(f"people {m}")
    for _ in range(N):
        data, mapping, linkable = random_case(rng)
        rows = [frozenset(row) for row, count in data for _ in range(count)]
        k = rng.randint(1, 6)
        found = crowd(KnownRows.of(data, mapping, mask_of(data, linkable)), m, k)
        wanted = None if linkable is None else frozenset(linkable)
        check(found, expected.crowd(rows, phi(data, mapping), m, k, wanted))
        assert found.exact


def test_the_twins_agree() -> None:
    compiled = load("overcoat.exposure.counting", "", "compiled")
    reference = load("", "overcoat.exposure.reference", "reference")
    rng = random.Random("twins")
    for _ in range(400):
        data, mapping, linkable = random_case(rng)
        rows = KnownRows.of(data, mapping, mask_of(data, linkable))
        m = rng.randint(1, 4)
        need = np.minimum(rows.n_asked, m)
        arguments = (
            *(rows.offsets, rows.labels, rows.taken, rows.spare, rows.counts, need),
            *(rows.n_labels, m),
        )
        mine, twin = compiled.weigh_sets(*arguments), reference.weigh_sets(*arguments)
        assert mine[0].tolist() == twin[0].tolist()
        assert mine[1].tolist() == twin[1].tolist()
        np.testing.assert_allclose(mine[2], twin[2], rtol=1e-12)
        every = (rows.offsets, rows.labels, rows.counts, rows.n_labels, m)
        light = compiled.least_holders(*every)
        assert light.tolist() == reference.least_holders(*every).tolist()
        persons = load("overcoat.exposure.persons", "", "compiled").Persons(*every[:4])
        slow = reference.Persons(*every[:4])
        others = persons.beside(QUIET), slow.beside(QUIET)
        for row in range(len(rows.counts)):
            labels = rows.labels[rows.offsets[row] : rows.offsets[row + 1]]
            found = {one.is_unique(labels, m) for one in (persons, slow, *others)}
            assert len(found) == 1
        assert persons.holding_rows().tolist() == slow.holding_rows().tolist()


@pytest.mark.parametrize(("n_labels", "m"), [(70, 2), (24, 4)])
def test_who_is_unique_in_rows_with_many_sets(n_labels: int, m: int) -> None:
    """More labels than bits, and more sets than are looked at together."""
    rng = random.Random(n_labels)
    rows = [sorted(rng.sample(range(n_labels), n_labels - rng.randint(1, 4))) for _ in range(12)]
    rows += [rows[0][:-1], rows[1][1:], [*rows[2], n_labels]]  # nobody else has the last label
    offsets = np.cumsum([0, *map(len, rows)])
    labels = np.array([label for row in rows for label in row], np.int32)
    counts = np.array([*(rng.choice([1, 1, 2]) for _ in rows[1:]), 1])
    every = (offsets, labels, counts, n_labels + 1)
    persons = load("overcoat.exposure.persons", "", "compiled").Persons(*every)
    slow = load("", "overcoat.exposure.reference", "reference").Persons(*every)
    found = [persons.is_unique(np.array(row, np.int32), m) for row in rows]
    assert found == [slow.is_unique(np.array(row, np.int32), m) for row in rows]
    assert len(set(found)) == 2
    assert not persons.is_unique(labels[:0], m)


def test_samples_are_near_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    data = oc.datasets.hospital().transactions()
    rows = KnownRows.of(data)
    truth = crowd(rows, 2, 5)
    monkeypatch.setattr(crowds, "MOST_SETS", -1)
    monkeypatch.setattr(crowds, "DRAWN", 60)
    hits = dict.fromkeys(("unique", "below_k", "chance"), 0)
    for seed in range(60):
        found = crowd(rows, 2, 5, seed=seed)
        assert not found.exact
        assert found.intervals is not None
        for name in hits:
            low, high = found.intervals[name]
            hits[name] += low <= getattr(truth, name) <= high
            assert low - 1 <= getattr(found, name) <= high + 1
    assert min(hits.values()) >= 50  # of 60, where 57 are to be expected
    assert crowd(rows, 2, 5, seed=3) == crowd(rows, 2, 5, seed=3)


def test_a_budget_that_ends_widens_the_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    data = oc.datasets.hospital().transactions()
    rows = KnownRows.of(data)
    truth = crowd(rows, 3, 5)
    monkeypatch.setattr(crowds, "MOST_SETS", -1)
    monkeypatch.setattr(crowds, "DRAWN", 10**6)
    monkeypatch.setattr(crowds, "STEPS", 2)
    found = crowd(rows, 3, 5)
    assert not found.exact
    assert found.intervals is not None
    for name in ("unique", "below_k"):
        low, high = found.intervals[name]
        assert low <= getattr(truth, name) <= high
        assert low < high


FIGURE_1 = {
    1: (0, 7, 0.196498),
    2: (1, 9, 0.323500),
    3: (1, 9, 0.410030),
}
FIGURE_2C = {
    1: (0, 0, 0.147675),
    2: (0, 7, 0.216333),
    3: (0, 7, 0.260612),
}


def test_the_paper_s_figures() -> None:
    data = samples.paper().transactions()
    mapping = oc.Mapping.of("abcdefgh", [["a", "b"], ["c"], ["e"], ["f"], ["g", "h"]])
    risk = assess(data, mapping, known=3, k=5)
    assert risk.after is not None
    for known, wanted in ((risk.before, FIGURE_1), (risk.after, FIGURE_2C)):
        for one in known[:3]:
            assert isinstance(one.known, int)
            assert (one.unique, one.below_k, round(one.chance, 6)) == wanted[one.known]


@pytest.mark.parametrize(
    ("name", "known", "wanted"),
    [
        ("bms-webview-1.dat", 1, (10, 60, 0.002698)),
        ("bms-webview-1.dat", 2, (1285, 3707, 0.025058)),
        ("diabetes130-patients.dat", 1, (89, 403, 0.003498)),
        ("diabetes130-patients.dat", 2, (9059, 18047, 0.077805)),
        ("diabetes130-patients.dat", 3, (20874, 32009, 0.289658)),
    ],
)
def test_real_data(name: str, known: int, wanted: tuple[int, int, float]) -> None:
    found = crowd(KnownRows.of(oc.read(real_data(name))), known, 5)
    assert (found.unique, found.below_k, round(found.chance, 6)) == wanted


def test_revealing_items_by_enumeration() -> None:
    rng = random.Random(11)
    for _ in range(300):
        data, _, _ = random_case(rng)
        rows = [frozenset(row) for row, count in data for _ in range(count)]
        for known in (1, 2):
            found = dict(assess(data, known=known).items)
            for item in data.vocabulary:
                sets = [
                    {frozenset([item, other]) for other in row}
                    if known == 2
                    else {frozenset([item])}
                    for row in rows
                    if item in row
                ]
                alone = sum(any(sum(some <= r for r in rows) == 1 for some in one) for one in sets)
                assert found.get(item, 0) == alone or len(found) == 10


def test_revealing_pairs_by_enumeration() -> None:
    rng = random.Random(12)
    told = 0
    for _ in range(300):
        data, _, _ = random_case(rng)
        rows = [frozenset(row) for row, count in data for _ in range(count)]
        if not data.n_items:
            continue
        linkable = sorted(rng.sample([*data.vocabulary], rng.randint(1, data.n_items)))
        found = assess(data, known=3, linkable=linkable).pairs
        seen = [row & {*linkable} for row in rows]
        numbers = {}
        for pair in combinations(linkable, 2):
            alone = sum(
                any(sum({*pair, other} <= r for r in rows) == 1 for other in row)
                for row in seen
                if {*pair} <= row
            )
            if alone:
                numbers[pair] = alone
        # Ties by the order of the items, which is that of the vocabulary.
        place = data.vocabulary.code
        order = sorted(numbers, key=lambda p: (-numbers[p], place(p[0]), place(p[1])))
        assert [*found] == [(tuple(sorted(pair, key=place)), numbers[pair]) for pair in order[:10]]
        told += bool(found)
    assert told > 100
    assert not assess(data, known=2).pairs


def test_attacks_are_counted() -> None:
    data = oc.datasets.hospital().transactions()
    result = oc.anonymize(data, 5, oc.AllItemsets(2), max_suppressed=5)
    for one in attack(data, result.mapping, known=2, number=30, seed=4):
        assert one.before == sum(n for row, n in data if {*one.items} <= {*row})
        assert one.after is not None
        assert one.after >= 5
        assert one.after >= one.before


def test_bad_questions() -> None:
    with pytest.raises(oc.PolicyError, match="known must be a whole number"):
        assess(oc.Transactions.of([{"a"}]), known=0)
    with pytest.raises(oc.PolicyError, match="1 linkable item does not occur in the data: zz"):
        oc.risk([{"a"}], linkable=["a", "zz"])
    with pytest.raises(oc.PolicyError, match="none of the linkable items"):
        assess(oc.Transactions.of([{"a"}]), linkable=["b"])
    with pytest.raises(oc.PolicyError, match="knows all of them"):
        assess(oc.Transactions.of([{"a"}]), known=65)


def test_it_can_be_cancelled() -> None:
    data = oc.read(real_data("bms-webview-1.dat"))
    calls = [0]

    def cancelled() -> bool:
        calls[0] += 1
        return calls[0] > 3

    with pytest.raises(oc.CancelledError):
        assess(data, known=3, stage=oc.Context(cancelled=cancelled).start("risk"))
