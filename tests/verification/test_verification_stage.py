"""Verification tells how far it has got and can be ended; large numbers are none to it."""

import dataclasses
import itertools
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from overcoat.context import Context
from overcoat.data.samples import baskets
from overcoat.data.transactions import Transactions
from overcoat.errors import CancelledError
from overcoat.mapping import Mapping
from overcoat.policy.policy import Policy
from overcoat.policy.privacy import AllItemsets, Coherence, Itemsets, Pgen
from overcoat.verification import counting, images, index, matching, reference, verify

DATA = Transactions.of(
    [[str(item) for item in range(40) if (row * (item + 3)) % 7 < 3] for row in range(200)]
)
ROWS = (DATA.offsets, DATA.codes, DATA.counts)
EVERY = np.ones(DATA.n_items, np.uint8)
WHOLE = (np.array([0, DATA.n_items]), np.arange(DATA.n_items, dtype=np.int32))


def calls_of(rooms: Any) -> dict[str, Callable[[Any], object]]:
    """Each count, as a function of its stage."""
    sets, given, match = rooms
    return {
        "weakest_sets": lambda stage: sets.weakest_sets(*ROWS, EVERY, 3, 2, 9, stage),
        "shared_labels": lambda stage: sets.shared_labels(*ROWS, EVERY, EVERY, 1, 2, 2, 9, stage),
        "image_supports": lambda stage: given.image_supports(*ROWS, *ROWS[:2], 2, stage),
        "weakest_parts": lambda stage: given.weakest_parts(*ROWS, *WHOLE, 2, 9, stage),
        "rows_match": lambda stage: match.rows_match(
            *ROWS, np.arange(DATA.n_items, dtype=np.int32), *ROWS, stage
        ),
    }


ROOMS = {"compiled": (counting, images, matching), "reference": (reference,) * 3}
COUNTS = ["weakest_sets", "shared_labels", "image_supports", "weakest_parts", "rows_match"]


@pytest.mark.parametrize("engine", ROOMS)
@pytest.mark.parametrize("count", COUNTS)
def test_every_count_calls_its_stage(
    engine: str, count: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Often, and it ends where the stage raises, at whatever call."""
    monkeypatch.setattr(index, "PACE", 1)
    call = calls_of(ROOMS[engine])[count]
    told: list[tuple[int, int]] = []
    call(lambda done, of: told.append((done, of)))
    assert len(told) >= DATA.n_distinct
    assert all(0 <= done <= of for done, of in told)

    for last in (1, 2, len(told) // 2, len(told)):
        numbers = itertools.count(1)

        def stop(done: int, of: int, numbers: Any = numbers, last: int = last) -> None:
            if next(numbers) == last:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            call(stop)
        assert next(numbers) == last + 1  # not once more


def test_the_pace_is_that_of_the_eye() -> None:
    """Not for each little step: calls cost."""
    told: list[int] = []
    counting.weakest_sets(*ROWS, EVERY, 2, 2, 9, lambda done, of: told.append(done))
    assert len(told) < DATA.n_distinct


FAMILIES = {
    "all": AllItemsets(2),
    "pgen": Pgen(),
    "itemsets": Itemsets([["1", "2"], [str(item) for item in range(0, 40, 2)]]),
    "coherence": Coherence(2, private=["39"], h=50),
}


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_verdict_is_that_of_any_number_of_threads(
    family: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "PACE", 1)
    mapping = Mapping.of(DATA.vocabulary, [[item] for item in DATA.vocabulary])
    policy = Policy(2, (FAMILIES[family],)).bind(DATA)
    told: list[tuple[int, int]] = []
    context = Context(progress=lambda stage, done, of: told.append((done, of)), threads=threads)
    verdict = verify(DATA, DATA, mapping, policy, stage=context.start("verify"))
    assert verdict == verify(DATA, DATA, mapping, policy)
    assert all(0 <= done <= of for done, of in told)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("count", ["weakest_sets", "rows_match"])
def test_verification_can_be_ended(
    count: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here by nothing else: one of its counts has no end of its own."""

    def count_for_ever(*arguments: Any) -> object:
        while True:
            arguments[-1](0, 0)

    module = sys.modules[verify.__module__]
    monkeypatch.setattr(module, count, count_for_ever)
    mapping = Mapping.of(DATA.vocabulary, [[item] for item in DATA.vocabulary])
    asked = itertools.count()
    ending = Context(cancelled=lambda: next(asked) > 3, threads=threads)
    with pytest.raises(CancelledError):
        verify(DATA, DATA, mapping, Policy(2, (AllItemsets(2),)), stage=ending.start("verify"))


# -- large numbers ----------------------------------------------------------------------------

BILLIONS = 3_000_000_000


def test_more_people_than_32_bits_count() -> None:
    rows = [["a", "b"], ["a"], ["b", "c"], ["c"]]
    data = Transactions.of(rows, counts=[BILLIONS, BILLIONS, BILLIONS - 1, 2 * BILLIONS])
    mapping = Mapping.of(data.vocabulary, [["a"], ["b"], ["c"]])
    # Bound with a k that policies take, then asked for more.
    for families, least in (
        ((AllItemsets(2),), BILLIONS - 1),
        ((AllItemsets(1),), 2 * BILLIONS - 1),
        ((Pgen(),), BILLIONS - 1),
        ((Itemsets([["a", "b"], ["c"]]),), BILLIONS),
        ((Itemsets([["a", "b", "c"]]),), BILLIONS - 1),
        ((Coherence(2, h=100),), BILLIONS - 1),
    ):
        policy = Policy(2, families).bind(data)
        verdict = verify(data, data, mapping, dataclasses.replace(policy, k=least))
        assert (verdict.ok, verdict.largest_k) == (True, least)
        verdict = verify(data, data, mapping, dataclasses.replace(policy, k=least + 1))
        assert verdict.n_violations["privacy"] >= 1
    fewer = Transactions.of(rows, counts=[BILLIONS, BILLIONS, BILLIONS - 2, 2 * BILLIONS])
    assert verify(data, fewer, mapping, Policy(2, (AllItemsets(1),))).n_violations == {"rows": 1}


def test_shares_of_billions_are_exact() -> None:
    """A third of 3,000,000,001 people is one less than 1,000,000,001."""
    data = Transactions.of([["a", "x"], ["a"]], counts=[10**9, 2 * 10**9 + 1])
    mapping = Mapping.of(data.vocabulary, [["a"], ["x"]])
    share = Fraction(100, 3)
    policy = Policy(2, (Coherence(1, private=["x"], h=share),))
    assert verify(data, data, mapping, policy).ok
    finer = Policy(2, (Coherence(1, private=["x"], h=share - Fraction(1, 10**30)),))
    assert verify(data, data, mapping, finer).ok
    more = Transactions.of([["a", "x"], ["a"]], counts=[10**9 + 1, 2 * 10**9])
    assert verify(more, more, mapping, policy).n_violations == {"privacy": 1}


@pytest.mark.parametrize("n_items", [1_200, 50_000])
def test_an_unsupported_itemset_of_many_items(n_items: int) -> None:
    """Nobody has all items; what each has of them is all of a row, so its support is the row's."""
    rows = [[str(item) for item in range(row % 97, n_items, 97 + row)] for row in range(300)]
    data = Transactions.of([*rows, [str(item) for item in range(n_items - 1)], [str(n_items - 1)]])
    mapping = Mapping.of(data.vocabulary, [[item] for item in data.vocabulary])
    policy = Policy(2, (Itemsets([list(data.vocabulary)]),))
    verdict = verify(data, data, mapping, policy)
    exact = reference.image_supports(
        data.offsets, data.codes, data.counts, data.offsets, data.codes, 2
    )
    assert verdict.n_violations == {"privacy": int((exact == 1).sum())}
    assert verdict.largest_k == 1


def test_baskets_with_an_unsupported_itemset() -> None:
    data = baskets(5000, 1200)
    mapping = Mapping.of(data.vocabulary, [[item] for item in data.vocabulary])
    whole = verify(data, data, mapping, Policy(5, (Itemsets([list(data.vocabulary)]),)))
    rows = verify(data, data, mapping, Policy(5, (Pgen(),)))
    assert whole.n_violations == rows.n_violations
    assert whole.largest_k == rows.largest_k
