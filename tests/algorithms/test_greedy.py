"""Greedy on instances whose right answer is obvious by construction, and what it refuses."""

import sys
from fractions import Fraction
from typing import Any, get_args

import pytest

from overcoat import (
    AllItemsets,
    Coherence,
    InfeasibleError,
    Itemsets,
    Pgen,
    Policy,
    PolicyError,
    Utility,
    anonymize,
    read,
)
from overcoat.context import Context
from overcoat.engines import Engine
from overcoat.policy.privacy import BoundCoherence, Family
from overcoat.release.result import Result

CONTEXT = {engine: Context(engine=engine) for engine in get_args(Engine)}


def run(rows: str, k: int, family: Family, engine: Any = "compiled", **options: Any) -> Result:
    return anonymize(
        [set(row) for row in rows.split()],
        k,
        family,
        method="greedy",
        max_suppressed=options.pop("s", 100),
        context=CONTEXT[engine],
        **options,
    )


def told(result: Result) -> list[tuple[str, str]]:
    """What was suppressed, and for which mole."""
    assert {step.action for step in result.trace} <= {"suppress"}
    return [("".join(step.items), "".join(step.constraint)) for step in result.trace]


@pytest.mark.parametrize("engine", CONTEXT)
def test_single_moles_go_first_in_item_order(engine: Any) -> None:
    """y and z are too rare. Then a, held by 6, is in two moles, c (2) and d (3) in one each."""
    result = run("zab yab ab ab ac c ad d d", 2, AllItemsets(2), engine)
    assert told(result) == [("y", "y"), ("z", "z"), ("c", "ac"), ("d", "ad")]


@pytest.mark.parametrize("engine", CONTEXT)
def test_most_moles_per_loss(engine: Any) -> None:
    """a is in two minimal moles and held by 4; b and c are in one each and held by 3: 1/2 > 1/3."""
    assert told(run("ab ac a a b b c c", 2, AllItemsets(2), engine)) == [("a", "ab")]


@pytest.mark.parametrize("engine", CONTEXT)
def test_ties_go_to_the_first_item(engine: Any) -> None:
    assert told(run("ab a b", 2, AllItemsets(2), engine)) == [("a", "ab")]
    rows = [{"9", "10"}, {"9"}, {"10"}]  # numbers by value
    result = anonymize(
        rows,
        2,
        AllItemsets(2),
        method="greedy",
        max_suppressed=100,
        context=CONTEXT[engine],
    )
    assert result.mapping.suppressed == ("9",)


@pytest.mark.parametrize("engine", CONTEXT)
@pytest.mark.parametrize(
    ("h", "gone"), [(0, "ab"), (33.3, "ab"), (34, "a"), (66.6, "a"), (67, ""), (100, "")]
)
def test_h(h: Any, gone: str, engine: Any) -> None:
    """Two of three with a, and one of three with b, have x."""
    result = run("ax ax a bx b b", 2, Coherence(2, ["x"], h), engine)
    assert result.mapping.suppressed == tuple(gone)


def test_h_is_exact() -> None:
    """One of three is a third: more than 33.3 percent, and not more than 100/3."""
    rows = "ax a a"
    assert run(rows, 1, Coherence(1, ["x"], 33.3)).mapping.suppressed == ("a",)
    assert run(rows, 1, Coherence(1, ["x"], Fraction(100, 3))).mapping.suppressed == ()
    tenth = " ".join(["ax"] + ["a"] * 999)  # one of 1,000: no double is exactly 0.1
    assert run(tenth, 1, Coherence(1, ["x"], 0.1)).mapping.suppressed == ()


def test_breach_of_a_pair_only() -> None:
    """Half of those with a, or with b, have x; all of those with both."""
    result = run("abx abx a a a b b b", 2, Coherence(2, ["x"], 50))
    assert told(result) == [("a", "ab")]
    assert run("abx abx a a a b b b", 2, Coherence(1, ["x"], 50)).mapping.suppressed == ()


def test_private_items_stay() -> None:
    """x, which only one has, is known to nobody: it may stay."""
    assert run("ax a b b", 2, Coherence(2, ["x"])).mapping.suppressed == ()
    assert run("ax a b b", 2, AllItemsets(2)).mapping.suppressed == ("x",)


def test_utility_sets_do_not_matter() -> None:
    blocks = Utility({"one": ["a", "b"]})
    result = run("ab a b c c", 2, AllItemsets(2), utility=blocks)
    assert result.mapping.suppressed == ("a",)
    assert [(count.before, count.after) for count in result.counts] == [(3, 2)]


def test_beyond_s_the_error_says_how_much_it_takes() -> None:
    with pytest.raises(InfeasibleError) as caught:
        run("ab a b c d d", 2, AllItemsets(2), s=0.5)
    assert caught.value.suppressed == ("a", "c")
    assert caught.value.needed_percent == 50
    assert caught.value.unmet == (("c",), ("a", "b"))
    assert "2 items (50 %) would have had to go" in str(caught.value)
    assert "100 allows anything" in str(caught.value)


def test_what_greedy_cannot_honour() -> None:
    for families in (
        [Itemsets([{"a"}])],
        [Pgen()],
        [AllItemsets(1), AllItemsets(2)],
        [Coherence(1), Pgen()],
    ):
        with pytest.raises(PolicyError, match="greedy"):
            anonymize([{"a"}], 2, families, method="greedy")


@pytest.mark.parametrize("method", ["coat", "pcta"])
def test_methods_that_merge_refuse_h(method: str) -> None:
    with pytest.raises(PolicyError, match=f"{method} cannot limit"):
        anonymize([{"a", "x"}], 2, Coherence(1, ["x"], 99.9), method=method)
    rows = [{"a", "x"}, {"a"}, {"b"}, {"b"}]
    assert anonymize(rows, 2, Coherence(1, ["x"]), method=method).mapping.merged == ()


@pytest.mark.compiled(reason="the twin keeps no account of its memory")
def test_too_many_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["overcoat.algorithms.greedy"]  # the package has the function by that name
    monkeypatch.setattr(module, "available_memory", lambda: 1000)
    rows = [{str(i) for i in range(100)}, *({str(i)} for i in range(100))]
    with pytest.raises(
        PolicyError, match=r"sets of 2 items .* do not fit in memory; take a smaller"
    ):
        anonymize(rows, 2, AllItemsets(2), method="greedy")


def test_all_that_is_wrong_with_a_coherence() -> None:
    with pytest.raises(PolicyError) as caught:
        Coherence(0, private="x", h=101, linkable=3)
    assert [problem.message for problem in caught.value.problems] == [
        "p must be a whole number of at least 1, not 0",
        "h is a percentage from 0 to 100, not 101",
        "'x' is not a list of private items",
        "3 is not a list of linkable items",
    ]
    for wrong in (True, "20", None, float("nan"), -0.1):
        with pytest.raises(PolicyError, match="h is a percentage"):
            Coherence(1, ["x"], wrong)
    with pytest.raises(PolicyError, match="h = 20 needs private items"):
        Coherence(1, h=20)


def test_coherence_from_a_policy_file(tmp_path: Any) -> None:
    (tmp_path / "private.txt").write_text("x\ny\n")
    path = tmp_path / "policy.toml"
    for private in ('"private.txt"', '["x", "y"]'):
        path.write_text(f"k = 2\nkm = 3\nprivate = {private}\nh = 33.3\nalgorithm = 'greedy'\n")
        policy = Policy.read(path)
        assert repr(policy.privacy) == "(Coherence(3, private=…, h=33.3),)"
        bound = policy.bind(read([{"a", "x"}, {"b", "y"}])).families[0]
        assert isinstance(bound, BoundCoherence)
        assert bound.h == Fraction(333, 10)
        assert bound.private.tolist() == [False, False, True, True]
        assert bound.linkable.tolist() == [True, True, False, False]
        assert (bound.m, bound.n_constraints) == (2, 1)


def test_private_items_that_do_not_occur() -> None:
    with pytest.raises(PolicyError, match="'x' does not occur"):
        run("a a", 2, Coherence(1, ["x"], 20))
    policy = Policy(2, Coherence(1, ["x"], 20), ignore_unknown=True)
    result = anonymize([{"a"}, {"a"}], policy=policy, method="greedy")
    assert result.mapping.suppressed == ()
    assert "no private item occurs in the data: h asks for nothing" in map(str, result.policy.notes)
