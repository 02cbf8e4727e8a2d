"""What several releases about the same people tell together."""

from __future__ import annotations

import random

import pytest

import overcoat as oc
from bridge import phi_of
from oracle import risk as expected
from oracle.start import meet
from overcoat.errors import DataError, InfeasibleError, VerificationError
from overcoat.exposure.risk import assess

ROWS = [set("ab"), set("ac"), set("bd"), set("cd"), set("abcd"), set("a"), set("d"), set("bc")]


def random_mapping(data: oc.Transactions, rng: random.Random) -> oc.Mapping:
    n, gone = rng.randint(1, data.n_items), rng.choice([0.0, 0.0, 0.4])
    groups = [-1 if rng.random() < gone else rng.randrange(n) for _ in range(data.n_items)]
    return oc.Mapping.over(data.vocabulary, oc.Partition(groups))


@pytest.mark.parametrize("m", [1, 2, 3])
def test_by_the_definitions(m: int) -> None:
    """Exactly the meet; and nobody who links rows can do more, nor less than with one alone."""
    rng = random.Random(f"together {m}")
    for _ in range(400):
        items = "abcdef"[: rng.randint(1, 6)]
        rows = [
            frozenset(rng.choice(items) for _ in range(rng.choice([0, 1, 2, 3, 5])))
            for _ in range(rng.randint(1, 10))
        ]
        data = oc.Transactions.of(rows)
        if not data.n_items:
            continue
        k = rng.randint(1, 5)
        mappings = [random_mapping(data, rng) for _ in range(rng.randint(2, 3))]
        linkable = None
        if rng.random() < 0.3:
            linkable = frozenset(rng.sample(sorted(data.vocabulary), 1))
        phis = [phi_of(mapping) for mapping in mappings]
        both = meet(phis, frozenset(data.vocabulary))
        risk = assess(data, mappings[0], known=m, k=k, linkable=linkable, also=mappings[1:])
        assert risk.together is not None
        assert risk.after is not None
        for place, size in ((m - 1, m), (m, None)):
            found = risk.together[place]
            truth = expected.crowd(rows, both, size, k, linkable)
            assert (found.unique, found.below_k) == truth[:2]
            assert found.chance == pytest.approx(float(truth[2]))
        linked = expected.linked_crowd(rows, phis, m, k, linkable)
        most = expected.crowd(rows, both, m, k, linkable)
        for phi in phis:
            alone = expected.crowd(rows, phi, m, k, linkable)
            for number in range(3):
                assert alone[number] <= linked[number] <= most[number]
        same = [number for number, phi in enumerate(phis) if phi == both]
        assert risk.same_as == (same[0] if same else None)


def test_going_on_tells_nothing_new() -> None:
    """With --start the meet is the earlier mapping, on all items it knows."""
    told = 0
    for seed in range(200):
        rng = random.Random(seed)
        first = [frozenset(rng.sample("abcdefgh", rng.randint(1, 4))) for _ in range(20)]
        later = [*first[:15], *(frozenset(rng.sample("cdefghxy", 3)) for _ in range(10))]
        try:
            january = oc.anonymize(first, 2, oc.AllItemsets(2), max_suppressed=20)
            february = oc.anonymize(later, 3, oc.AllItemsets(2), max_suppressed=30, start=january)
        except InfeasibleError:
            continue
        before, after = phi_of(january.mapping), phi_of(february.mapping)
        assert {**meet([before, after], frozenset(before))} == before
        risk = oc.risk(first, mapping=january, also=february.mapping)
        assert risk.same_as == 0
        assert risk.together == risk.after
        # About the people of the later month, too, it is the first that tells more.
        later_risk = oc.risk(february, also=[january])
        assert later_risk.same_as in (0, 1)
        told += 1
    assert told > 100


def test_two_crossing_releases_tell_all() -> None:
    rows, across = oc.Mapping.of("abcd", [["a", "b"], ["c", "d"]]), [["a", "c"], ["b", "d"]]
    columns = oc.Mapping.of("abcd", across)
    risk = oc.risk(ROWS, mapping=rows, also=columns, known=1, k=3)
    assert risk.together == risk.before
    assert risk.same_as is None
    assert risk.after is not None
    assert risk.after[0].unique == risk.also[0][0].unique == 0
    assert [title for title, _ in risk.tables] == [
        *("original", "release 1", "release 2", "all releases together, at most"),
    ]
    assert "together" in risk._repr_html_()


def test_what_may_be_given() -> None:
    mapping = oc.Mapping.of("abcd", [["a", "b"], ["c", "d"]])
    released = mapping.apply(ROWS)
    risk = oc.risk(ROWS, released, mapping, also=[(released, mapping), mapping])
    assert len(risk.also) == 2
    assert risk.same_as == 0
    with pytest.raises(VerificationError, match="is not the data under this mapping"):
        oc.risk(ROWS, released, mapping, also=(ROWS, mapping))
    with pytest.raises(DataError, match="a pair: the release and its mapping"):
        oc.risk(ROWS, released, mapping, also=(ROWS, released, mapping))
    with pytest.raises(DataError, match="needs a release"):
        oc.risk(ROWS, also=mapping)
