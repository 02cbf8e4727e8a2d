"""Who is unique before and after, as the summary of a run tells it."""

from __future__ import annotations

import random

import pytest

import overcoat as oc
from overcoat.exposure.risk import assess
from overcoat.release import exposed as module
from overcoat.release.exposed import Exposed, exposed


def random_result(rng: random.Random) -> oc.Result:
    items = "abcdefgh"[: rng.randint(2, 8)]
    rows = [
        {rng.choice(items) for _ in range(rng.choice([0, 1, 2, 3, 5]))}
        for _ in range(rng.randint(4, 25))
    ]
    rows.append({"a"})
    kind = rng.randrange(4)
    privacy: oc.AllItemsets | oc.Pgen = oc.AllItemsets(rng.randint(1, 3))
    if kind == 0:
        privacy = oc.Pgen()
    elif kind == 1:
        privacy = oc.AllItemsets(2, linkable=["a"])
    return oc.anonymize(rows, rng.randint(1, 3), privacy, max_suppressed=100)


def test_the_same_as_the_risk() -> None:
    rng = random.Random(5)
    for _ in range(300):
        result = random_result(rng)
        found = exposed(result)
        risk = assess(result.data, result.mapping, known=max(found.known))
        assert risk.after is not None
        assert found.before == tuple(risk.before[known - 1].unique for known in found.known)
        assert found.after == tuple(risk.after[known - 1].unique for known in found.known)
        assert found.exact


def test_people_are_drawn_where_there_are_too_many_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    data = oc.datasets.hospital().transactions()
    result = oc.anonymize(data, 5, oc.AllItemsets(2), max_suppressed=5)
    truth = exposed(result)
    monkeypatch.setattr(module, "_MOST_SETS", 0)
    found = exposed(result)
    assert not found.exact
    n = data.n_transactions
    for mine, exact in zip(found.before + found.after, truth.before + truth.after, strict=True):
        assert abs(mine - exact) / n < 0.1  # of 400 drawn, 0.025 is one deviation at most
    assert found.after[0] == 0


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (
            Exposed(1000, (2, 3), (100, 300), (0, 45)),
            "unique with 2 items known: 100 people (10.0 %) → nobody; "
            "with 3: 300 people (30.0 %) → 45 people (4.5 %)",
        ),
        (
            Exposed(10_000, (1, 2), (0, 1), (0, 1)),
            "unique with 1 item known: nobody → nobody; with 2: 1 person (< 0.1 %) → "
            "1 person (< 0.1 %)",
        ),
        (
            Exposed(1000, (2, 3), (100, 300), (0, 45), exact=False),
            "unique with 2 items known: about 10 % → nobody; with 3: about 30 % → about 4 %",
        ),
    ],
)
def test_in_words(found: Exposed, words: str) -> None:
    assert str(found) == words
