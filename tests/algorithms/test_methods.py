"""What every method says of policies it cannot honour, and what holds for all of them."""

from __future__ import annotations

import gc
import random
from dataclasses import replace
from fractions import Fraction
from typing import Any, get_args

import pytest

import overcoat as oc
from overcoat.algorithms import methods
from overcoat.context import QUIET, Context
from overcoat.engines import Engine
from overcoat.errors import CancelledError, DataError

ROWS = [{"a", "x"}, {"a", "b"}, {"b", "x"}, {"a", "b", "c"}, {"c"}]


@pytest.mark.parametrize("name", methods())
def test_shares_of_private_items_are_limited_or_refused(name: str) -> None:
    policy = oc.Policy(
        2,
        (oc.Coherence(2, private=["x"], h=40),),
        max_suppressed=100,
        hierarchy=oc.Hierarchy.balanced("abcx", 2),
    )
    if name == "greedy":
        assert oc.anonymize(ROWS, policy=policy, method=name).verdict.ok
        return
    with pytest.raises(oc.PolicyError, match=f"{name} cannot limit .*; greedy can"):
        oc.anonymize(ROWS, policy=policy, method=name)


@pytest.mark.parametrize("name", methods())
def test_private_items_without_a_limit_are_for_everyone(name: str) -> None:
    policy = oc.Policy(
        2,
        (oc.Coherence(2, private=["x"]),),
        max_suppressed=100,
        hierarchy=oc.Hierarchy.balanced("abcx", 2),
    )
    assert oc.anonymize(ROWS, policy=policy, method=name).verdict.ok


def many(data: oc.Transactions, times: int) -> oc.Transactions:
    """The same rows, each so many times."""
    return replace(data, counts=times * data.counts)


@pytest.mark.parametrize("times", [3_000_000_000, (1 << 51) + 1])
@pytest.mark.parametrize("engine", get_args(Engine))
@pytest.mark.parametrize("name", [name for name in methods() if name != "search"])
def test_billions_of_transactions(name: str, engine: Engine, times: int) -> None:
    """When there are so many times the people, so many times k takes the same steps."""
    stage = Context(engine=engine).start("anonymize")
    method = methods()[name]().find
    rng = random.Random(4)
    n_steps = 0
    for _ in range(25):
        rows = [{rng.choice("abcdefgh") for _ in range(rng.randint(1, 6))} for _ in range(30)]
        data = oc.Transactions.of(rows)
        k = rng.randint(2, 6)
        family: Any = rng.choice([oc.AllItemsets(2), oc.AllItemsets(3)])
        if name == "greedy":
            family = oc.Coherence(2, private=["h"], h=rng.choice([30, Fraction(100, 3), 50]))
        elif name != "apriori" and rng.random() < 0.5:
            family = oc.Itemsets([data.vocabulary.labels])
        tree = oc.Hierarchy.balanced(data.vocabulary.labels, 2)
        policy = oc.Policy(k, (family,), max_suppressed=100, hierarchy=tree)
        few = method(data, policy.bind(data), stage)
        largest = many(data, times)
        outcome = method(largest, replace(policy.bind(largest), k=times * k), stage)
        assert outcome.partition == few.partition
        scaled = [replace(step, support=times * step.support) for step in few.steps]
        assert list(outcome.steps) == scaled
        n_steps += len(scaled) or len(few.partition.merged)  # exact works in no steps
    assert n_steps > 25


@pytest.mark.parametrize("name", ["coat", "pcta"])
def test_more_transactions_than_losses_can_tell_apart_are_refused(name: str) -> None:
    data = many(oc.Transactions.of([{"a"}, {"b"}]), 1 << 31)
    policy = oc.Policy(2, oc.AllItemsets(1), weights=lambda group: 0.5).bind(data)
    with pytest.raises(DataError, match=r"transactions are more than the [\d,]+ whose losses"):
        methods()[name]().find(data, policy, QUIET)


def test_a_share_of_very_many_digits() -> None:
    """The share is exact however it is written, and takes no table of all supports."""
    data = many(oc.Transactions.of([{"a", "x"}, {"a"}, {"a"}]), 10**12)
    for digits, gone in (("33." + 40 * "3", ["a"]), ("33." + 40 * "3" + "4", [])):
        family = oc.Coherence(1, private=["x"], h=Fraction(digits))
        policy = oc.Policy(2, family, max_suppressed=100).bind(data)
        outcome = oc.Greedy().find(data, policy)
        assert outcome.partition.suppressed.tolist() == [
            data.vocabulary.code(item) for item in gone
        ]


@pytest.mark.parametrize("engine", get_args(Engine))
@pytest.mark.parametrize("name", methods())
def test_a_method_ends_when_it_is_told_to(name: str, engine: Engine) -> None:
    """Whenever that is: the context is asked over and over, and never again once it said so."""
    if (name, engine) == ("search", "reference"):
        pytest.skip("the twin of the search takes minutes for these data")
    rng = random.Random(6)
    rows = [{str(rng.randrange(40)) for _ in range(rng.randint(1, 6))} for _ in range(200)]
    data = oc.Transactions.of(rows)
    tree = oc.Hierarchy.balanced(data.vocabulary.labels, 3)
    families: list[Any] = [oc.AllItemsets(2)]
    if name in {"coat", "pcta"}:
        families += [oc.Itemsets([data.vocabulary.labels]), oc.Pgen()]
    policy = oc.Policy(4, tuple(families), max_suppressed=100, hierarchy=tree).bind(data)
    method = oc.Exact(nodes=2000) if name == "exact" else methods()[name]()
    asked = last = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked == last

    context = Context(cancelled=cancelled, engine=engine, threads=1)
    method.find(data, policy, context.start("anonymize"))
    n_asked = asked
    assert n_asked > 20
    for moment in (2, n_asked // 3, n_asked // 2, n_asked - 1):
        asked, last = 0, moment
        with pytest.raises(CancelledError):
            method.find(data, policy, context.start("anonymize"))
        assert asked == moment


@pytest.mark.parametrize("name", ["coat", "pcta", "apriori"])
def test_the_memory_of_a_run_is_free_when_it_is_done(name: str) -> None:
    data = oc.Transactions.of([{"a", "b"}, {"a", "c"}, {"b", "c"}, {"d"}] * 3 + [{"a", "d"}])
    policy = oc.Policy(3, oc.AllItemsets(2), hierarchy=oc.Balanced(2)).bind(data)
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        methods()[name]().find(data, policy, Context().start("anonymize"))
        gc.collect()
        kept = [type(thing).__name__ for thing in gc.garbage]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert "_Run" not in kept


def test_a_search_refuses_more_people_than_it_can_count() -> None:
    data = many(oc.Transactions.of([{"a", "b"}, {"b"}]), 1 << 40)
    policy = oc.Policy(2, oc.AllItemsets(1)).bind(data)
    with pytest.raises(DataError, match="search counts errors exactly for up to"):
        oc.Search().find(data, policy)
    fewer = many(oc.Transactions.of([{"a", "b"}, {"b"}, {"c", "b"}, {"a"}]), 1 << 37)
    found = oc.Search(steps=50).find(fewer, oc.Policy(1 << 38, oc.AllItemsets(2)).bind(fewer))
    assert found.searched is not None
    assert found.searched.after <= 1
