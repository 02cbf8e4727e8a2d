"""Exact at its edges: limits, refusals, cancelling, what is told."""

import random

import pytest

import overcoat as oc
from overcoat.algorithms.methods import take_method

ROWS = [set("abc"), set("ab"), set("cd"), set("d"), set("de"), set("e"), set("a"), set("f")]


def random_rows(n_items: int, n_rows: int = 200, seed: int = 1) -> list[set[str]]:
    rng = random.Random(seed)
    return [{f"i{x}" for x in range(n_items) if rng.random() < 0.15} for _ in range(n_rows)]


def test_the_front_door() -> None:
    result = oc.anonymize(ROWS, 2, oc.AllItemsets(2), method=oc.Exact())
    assert result.verdict.ok
    assert result.proof is not None
    assert result.proof.proven
    coat = oc.anonymize(ROWS, 2, oc.AllItemsets(2))
    assert coat.proof is None
    assert result.loss.log2_ul <= coat.loss.log2_ul
    assert "optimum     proven: no mapping that meets the policy has less UL" in oc.summarize(
        result
    )


@pytest.mark.parametrize("minimise", ["ul", "ncp", "flat"])
def test_never_worse_than_coat_nor_than_pcta(minimise: str) -> None:
    data = oc.Transactions.of(random_rows(10))
    policy = oc.Policy(5, oc.AllItemsets(2), hierarchy=oc.Hierarchy.balanced(data.vocabulary, 3))
    method = oc.Exact(minimise=minimise)  # type: ignore[arg-type]
    best = oc.evaluate(oc.anonymize(data, policy=policy, method=method))
    for other in ("coat", "pcta", "apriori"):
        found = oc.evaluate(oc.anonymize(data, policy=policy, method=other))
        mine, theirs = {
            "ul": (best.loss.log2_ul, found.loss.log2_ul),
            "ncp": (best.ncp, found.ncp),
            "flat": (best.flat_ncp, found.flat_ncp),
        }[minimise]
        assert mine <= theirs + 1e-12


def test_a_limit_of_states_leaves_a_gap_that_is_told() -> None:
    data = oc.Transactions.of(random_rows(10))
    policy = oc.Policy(5, oc.AllItemsets(3))
    full = oc.anonymize(data, policy=policy, method=oc.Exact("flat"))
    assert full.proof is not None
    assert full.proof.proven
    for nodes in (1, 10, 100, 1000):
        result = oc.anonymize(data, policy=policy, method=oc.Exact("flat", nodes=nodes))
        again = oc.anonymize(data, policy=policy, method=oc.Exact("flat", nodes=nodes))
        assert result.mapping == again.mapping
        assert result.proof == again.proof
        assert result.proof is not None
        assert result.proof.bound <= full.proof.found <= result.proof.found
        assert nodes <= result.proof.nodes <= 2 * nodes
        if not result.proof.proven:
            assert f"the search was ended after {nodes:,} states" in str(result.proof)


def test_what_is_beyond_reach_is_refused_before_the_work() -> None:
    data = oc.Transactions.of(random_rows(30))
    with pytest.raises(oc.PolicyError, match=r"about 12 items, at most 20; the largest has 30"):
        oc.anonymize(data, 5, oc.AllItemsets(2), method="exact")
    named = [[f"i{x}", f"i{x + 1}", f"i{x + 2}"] for x in range(0, 30, 3)]
    assert oc.anonymize(data, 2, oc.AllItemsets(1), utility=named, method="exact").verdict.ok
    wide = oc.Transactions.of(random_rows(60))
    pairs = [[f"i{x}", f"i{x + 1}"] for x in range(0, 60, 2)]
    with pytest.raises(oc.PolicyError, match="at most 48 items that may be merged; here 60 may"):
        oc.anonymize(wide, 2, oc.AllItemsets(1), utility=pairs, method="exact")
    with pytest.raises(oc.PolicyError, match="at most 12 where weights are a function"):
        oc.anonymize(
            *(oc.Transactions.of(random_rows(14)), 5, oc.AllItemsets(2)),
            weights=lambda group: 0.5,
            method="exact",
        )


def test_what_cannot_be_met_says_the_least_that_would() -> None:
    rows = [{"a"}, {"b"}, {"c", "d"}, {"c", "d"}, {"c", "d"}]
    with pytest.raises(oc.InfeasibleError) as caught:
        oc.anonymize(
            rows, 2, oc.AllItemsets(1), utility=[["a"], ["b"]], max_suppressed=0, method="exact"
        )
    assert caught.value.suppressed == ("a", "b")


def test_it_can_be_ended() -> None:
    calls = 0

    def tell(name: str, done: int, of: int) -> None:
        nonlocal calls
        if name == "anonymize":
            calls += 1
            if done > 200:
                raise KeyboardInterrupt

    data = oc.Transactions.of(random_rows(12))
    with pytest.raises(KeyboardInterrupt):
        oc.anonymize(
            *(data, 5, oc.Pgen()),
            method=oc.Exact("flat", nodes=10**9),
            context=oc.Context(progress=tell),
        )
    assert calls


def test_empty_data_and_a_single_item() -> None:
    assert oc.anonymize([set()], 2, oc.AllItemsets(2), method="exact").verdict.ok
    one = oc.anonymize([{"a"}, {"a"}], 2, oc.AllItemsets(2), method="exact")
    assert one.mapping.groups == {"a": ("a",)}


def test_parameters_by_name() -> None:
    assert take_method("exact", minimise="flat") == oc.Exact("flat")
    with pytest.raises(oc.PolicyError, match="coat takes no minimise"):
        take_method("coat", minimise="ul")
    with pytest.raises(oc.PolicyError, match="minimise must be ul, ncp or flat, not 'useful'"):
        take_method("exact", minimise="useful")
