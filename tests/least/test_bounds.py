"""Bounds never exceed the optimum, on a thousand small instances; and figures of real data."""

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import overcoat as oc
from bridge import policy_of, real_data
from overcoat.algorithms.exact import exact
from overcoat.data.transactions import Transactions
from overcoat.least.bounds import find_bounds
from overcoat.least.conflicts import find_conflicts
from overcoat.least.covers import heaviest_independent
from overcoat.policy.policy import BoundPolicy, Policy
from overcoat.policy.privacy import BoundAllItemsets
from overcoat.policy.weights import Distances
from strategies import random_instance


def problems(seeds: range) -> Iterator[tuple[Transactions, BoundPolicy]]:
    rng = random.Random(seeds.start)
    for seed in seeds:
        instance = random_instance(random.Random(seed))
        if len(instance.domain) > 7:
            continue
        data = Transactions.of(instance.rows)
        policy = policy_of(instance)
        if seed % 5 == 0 and len(instance.domain) > 1:
            domain = sorted(instance.domain)  # sets come in another order in another process
            pairs = {pair: rng.choice([0.0, 0.5, 1.0]) for pair in combinations(domain, 2)}
            policy = Policy(
                *(policy.k, policy.privacy, policy.utility),
                max_suppressed=policy.max_suppressed,
                weights=Distances(pairs),
            )
        # What the bounds are about: mappings without suppression.
        yield data, replace(policy.bind(data), budget=0)


def check(data: Transactions, policy: BoundPolicy, program: bool) -> list[float]:
    bounds = find_bounds(data, policy, program=program)
    ratios = []
    for objective, bound in (("ul", bounds.ul), ("ncp", bounds.ncp), ("flat", bounds.flat_ncp)):
        found = exact(data, policy, objective)  # type: ignore[arg-type]
        if not bounds.possible:
            assert found.unmet
            continue
        if found.unmet:
            continue
        assert found.proof is not None
        assert found.proof.proven
        touched = sum(map(len, found.partition.merged))
        assert bounds.least_touched <= touched
        if bound is not None:
            assert bound <= found.proof.found
            if bound:
                ratios.append(float(found.proof.found / bound))
    return ratios


@pytest.mark.parametrize("chunk", range(4))
def test_no_bound_exceeds_the_optimum(chunk: int) -> None:
    ratios: list[float] = []
    for number, (data, policy) in enumerate(problems(range(chunk * 300, (chunk + 1) * 300))):
        ratios += check(data, policy, program=number % 4 == 0)
    assert len(ratios) > 60
    assert float(np.median(ratios)) < 3  # they say something
    assert min(ratios) == 1


def brute_force(n: int, edges: list[tuple[int, int]], weights: list[int]) -> int:
    best = 0
    for mask in range(1 << n):
        if not any(mask >> a & 1 and mask >> b & 1 for a, b in edges):
            best = max(best, sum(w for v, w in enumerate(weights) if mask >> v & 1))
    return best


@pytest.mark.parametrize("program", [False, True])
def test_no_independent_set_is_heavier(program: bool) -> None:
    rng = random.Random(3)
    exact_ones = 0
    for _ in range(60 if program else 600):
        n = rng.randint(1, 10)
        density = rng.random()
        edges = [pair for pair in combinations(range(n), 2) if rng.random() < density]
        weights = [rng.choice([0, 1, 2, 3, 10**6, 10**30]) for _ in range(n)]
        arrays = (
            np.array([a for a, _ in edges], np.int64),
            np.array([b for _, b in edges], np.int64),
        )
        bound = heaviest_independent(n, arrays, weights, program=program)
        best = brute_force(n, edges, weights)
        assert bound >= best
        exact_ones += bound == best
    assert exact_ones > 20


def test_conflicts_by_definition() -> None:
    for data, policy in problems(range(5000, 5400)):
        found = find_conflicts(data, policy)
        n, k = data.n_items, policy.k
        rows = [set(data.row(i).tolist()) for i in range(data.n_distinct)]

        def support(items: set[int], rows: list[set[int]] = rows, data: Transactions = data) -> int:
            return sum(int(c) for row, c in zip(rows, data.counts, strict=True) if items <= row)

        rare, pairs = set(), set()
        for family in policy.families:
            scopes: list[tuple[list[int], int]]
            if isinstance(family, BoundAllItemsets):
                scopes = [(np.flatnonzero(family.linkable).tolist(), family.m)]
            else:
                every = [family.itemset(i).tolist() for i in range(family.n_constraints)]
                scopes = [(one, len(one)) for one in every]
            for items, m in scopes:
                if m:
                    rare |= {item for item in items if 0 < support({item}) < k}
                if m > 1:
                    pairs |= {p for p in combinations(items, 2) if 0 < support(set(p)) < k}
        pgen = any(type(family).__name__ == "BoundPgen" for family in policy.families)
        mine = set(zip(found.first.tolist(), found.second.tolist(), strict=True))
        assert mine == pairs
        # An item that is in a row of Pgen's is rare by it; no other can be.
        assert set(np.flatnonzero(found.rare).tolist()) == rare, (pgen, n)


def test_the_figures_of_bms1() -> None:
    data = oc.read(real_data("bms-webview-1.dat"))
    found = oc.bounds(data, oc.Policy(5, oc.AllItemsets(2)))
    assert found.n_conflicts == 31_345
    assert found.most_untouched == 157
    assert found.by == "a linear program over cliques"
    without = oc.bounds(data, oc.Policy(5, oc.AllItemsets(2)), program=False)
    assert 157 <= without.most_untouched < 175
    assert without.flat_ncp is not None
    assert found.flat_ncp is not None
    assert 0 < without.flat_ncp <= found.flat_ncp


def test_an_item_alone_in_its_block_forces_others() -> None:
    rows = [{"a", "b"}, {"a", "c"}, {"a", "c"}, {"b"}, {"c"}]
    policy = oc.Policy(2, oc.AllItemsets(2), oc.Utility([["a"], ["b", "c"]]))
    found = oc.bounds(rows, policy)
    assert found.possible
    assert found.least_touched == 1  # b, and with it c, but that is not seen
    assert found.flat_ncp == Fraction(2 * 2, 3 * 8)
    impossible = oc.Policy(2, oc.AllItemsets(2), oc.Utility([["a"], ["b"]]))
    assert not oc.bounds(rows, impossible).possible
    assert "cannot be met at all" in str(oc.bounds(rows, impossible))


def test_a_block_with_too_few_people_is_told() -> None:
    rows = [{"a"}, {"b"}, {"c", "d"}, {"c"}, {"c"}, {"d"}, {"d"}]
    both = oc.Utility([["a", "b"], ["c", "d"]])
    assert oc.bounds(rows, oc.Policy(2, oc.AllItemsets(2), both)).possible
    found = oc.bounds(rows, oc.Policy(3, oc.AllItemsets(2), both))
    assert not found.possible
    assert found.flat_ncp is None
    # Two blocks with people enough, but one person in both of them.
    rows = [{"a"}, {"a"}, {"b"}, {"c"}, {"c"}, {"d"}, {"b", "c"}]
    assert not oc.bounds(rows, oc.Policy(2, oc.AllItemsets(2), both)).possible
    assert oc.bounds(rows, oc.Policy(2, oc.AllItemsets(1), both)).possible
    # Nobody protects b and c together; c and d are one block.
    only = oc.Policy(2, oc.AllItemsets(2, linkable=["a", "c", "d"]), both)
    assert oc.bounds(rows, only).possible
    assert oc.bounds([set()], oc.Policy(2, oc.AllItemsets(2))).possible


@pytest.mark.parametrize("chunk", range(2))
def test_what_is_impossible_by_brute_force(chunk: int) -> None:
    """For m up to 2 over all items nothing more has to be looked at: it is told exactly."""
    told = []
    for data, policy in problems(range(9000 + 400 * chunk, 9400 + 400 * chunk)):
        whole = [isinstance(f, BoundAllItemsets) and f.m <= 2 for f in policy.families]
        if not all(whole) or not all(f.whole_domain for f in policy.families):  # type: ignore[union-attr]
            continue
        possible = find_bounds(data, policy, program=False).possible
        assert possible == (not exact(data, policy, "flat").unmet)
        told.append(possible)
    assert told.count(False) > 5
    assert told.count(True) > 5


def test_words_and_ratios() -> None:
    rows = [{"a", "b"}, {"a"}, {"b"}, {"c"}, {"c"}]
    found = oc.bounds(rows, oc.Policy(2, oc.AllItemsets(2)))
    assert found.flat_ncp == Fraction(4, 18)
    assert found.times_flat_ncp(8 / 18) == pytest.approx(2)
    assert found.times_flat_ncp(4 / 18) == 1
    assert found.times_ncp(0.5) is None
    assert str(found).startswith("without suppression at least 1 item of 3 must be merged")
    assert oc.bounds([set()], oc.Policy(2, oc.AllItemsets(2))).flat_ncp == 0


def test_it_can_be_ended() -> None:
    calls = 0

    def cancelled() -> bool:
        nonlocal calls
        calls += 1
        return calls > 30

    rng = random.Random(1)
    rows = [{str(rng.randrange(60)) for _ in range(4)} for _ in range(150)]
    with pytest.raises(oc.CancelledError):
        oc.bounds(rows, oc.Policy(3, oc.AllItemsets(2)), context=oc.Context(cancelled=cancelled))
