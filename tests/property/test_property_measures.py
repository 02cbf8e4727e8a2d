"""Measures against the oracle, on thousands of random data and random mappings."""

import random
from collections import Counter
from fractions import Fraction
from typing import Literal, TypeVar, get_args

import numpy as np
import pytest

from bridge import phi_of
from oracle import definitions as oracle
from oracle import measures as expected
from overcoat.data.transactions import Transactions
from overcoat.errors import PolicyError
from overcoat.mapping import Mapping
from overcoat.measures import counting as compiled
from overcoat.measures import reference
from overcoat.measures.changes import count_changes
from overcoat.measures.exactness import Exactness, exactness_of, published_exactness
from overcoat.measures.frequent import mine_frequent
from overcoat.measures.loss import measure_ncp
from overcoat.measures.patterns import Survival, measure_patterns
from overcoat.measures.queries import By, Workload, answer, draw_workload, largest_query
from overcoat.partition import Partition
from overcoat.policy.hierarchy import Hierarchy
from strategies import Instance, random_instance

T = TypeVar("T")

N_CHUNKS = 10
CHUNK = 250


def random_mapping(rng: random.Random, data: Transactions) -> Mapping:
    """Any mapping, sensible or not; one in three items is suppressed in some of them."""
    n_groups = rng.randint(1, max(data.n_items, 1))
    gone = rng.choice([0.0, 0.0, 0.3, 1.0])
    group_of = [-1 if rng.random() < gone else rng.randrange(n_groups) for _ in range(data.n_items)]
    return Mapping.over(data.vocabulary, Partition(group_of))


def cases(chunk: int) -> list[tuple[random.Random, Instance, Transactions, Mapping]]:
    found = []
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        rng = random.Random(seed)
        instance = random_instance(rng)
        data = Transactions.of(instance.rows)
        found.append((rng, instance, data, random_mapping(rng, data)))
    return found


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_answers(chunk: int) -> None:
    for rng, instance, data, mapping in cases(chunk):
        rows, phi = instance.rows, phi_of(mapping)
        queries = [q for size in (1, 2, 3) for q in expected.matched(rows, size, instance.domain)]
        asked = rng.sample(queries, min(len(queries), 20))
        if not asked:
            assert largest_query(data) == 0
            continue
        workload = Workload.of(data, asked)
        assert [frozenset(query) for query in workload] == asked
        answers = answer(workload, data, mapping.apply(data), mapping)
        assert answers.actual.tolist() == [oracle.support(query, rows) for query in asked]
        estimates = [expected.estimate(query, rows, phi) for query in asked]
        assert answers.estimate.tolist() == pytest.approx([float(e) for e in estimates], rel=1e-12)
        errors = [expected.relative_error(query, rows, phi) for query in asked]
        assert answers.relative_errors.tolist() == pytest.approx([float(e) for e in errors])
        mean = sum(errors, start=Fraction(0)) / len(errors)
        assert answers.avg_re == pytest.approx(float(mean), rel=1e-12)


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_drawn_workloads(chunk: int) -> None:
    """Every query has q allowed items and somebody matches it; when there is one, it is found."""
    for rng, instance, data, mapping in cases(chunk):
        q, by = rng.randint(1, 4), rng.choice(get_args(By))
        among, allowed = None, instance.domain
        if rng.random() < 0.5:
            among = mapping.generalized
            phi = phi_of(mapping)
            allowed = frozenset(i for i in allowed if expected.fate(i, phi) == "generalized")
        possible = expected.matched(instance.rows, q, allowed)
        assert (largest_query(data, among) >= q) == bool(possible)
        if not possible:
            with pytest.raises(PolicyError, match=rf"no query of {q} items"):
                draw_workload(data, q, among=among, by=by)
            continue
        workload = draw_workload(data, q, 12, seed=rng.randint(0, 9), among=among, by=by)
        assert len(workload) == 12
        for query in workload:
            assert len(query) == q
            assert list(query) == sorted(query, key=data.vocabulary.code)
            assert frozenset(query) in possible


def sets(text: str) -> list[frozenset[str]]:
    return [frozenset(word) for word in text.split()]


FIG_1 = sets("abcdefgh acefg cdefh acef efgh defg abde acf ac bh")
SPARSE = sets("ab ab ab cd cde f")


@pytest.mark.parametrize("rows", [FIG_1, SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("allowed", ["abcdefgh", "abcde"])
@pytest.mark.parametrize("q", [1, 2, 3])
@pytest.mark.parametrize("by", ["items", "occurrences"])
def test_the_law_of_the_draws(rows: list[frozenset[str]], allowed: str, q: int, by: By) -> None:
    """The shares of 20,000 queries are those of the law, worked out by enumeration."""
    data = Transactions.of(rows)
    items = frozenset(allowed) & oracle.domain_of(rows)
    among = sorted(items)
    law: dict[frozenset[str], Fraction] = {}
    for query in expected.matched(rows, q, items):
        if by == "items":
            orders = expected.orders(query)
            law[query] = sum(
                (expected.chance_by_items(order, rows, items) for order in orders), Fraction(0)
            )
        else:
            law[query] = expected.chance_by_occurrences(query, rows, items)
    assert sum(law.values()) == 1
    n = 20_000
    drawn = Counter(map(frozenset, draw_workload(data, q, n, seed=7, among=among, by=by)))
    for query, chance in law.items():
        spread = (n * float(chance) * (1 - float(chance))) ** 0.5
        assert abs(drawn[query] - n * float(chance)) <= 5 * spread + 1e-9, (query, chance)


def test_a_seed_means_the_same_everywhere() -> None:
    data = Transactions.of(FIG_1)
    shown = [
        " ".join(map("".join, draw_workload(data, 2, 8, seed=3, by=by))) for by in get_args(By)
    ]
    assert shown == ["ac eg ae bd af de df fh", "bg ac af bd ef fg bh ef"]


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_ncp_and_changes(chunk: int) -> None:
    for _, instance, data, mapping in cases(chunk):
        rows, phi, domain = instance.rows, phi_of(mapping), instance.domain
        tree = weight = None
        if instance.paths is not None:
            paths = instance.paths
            hierarchy = Hierarchy.of([tuple(reversed(path)) for path in paths.values()])
            tree = hierarchy.tree(data.vocabulary)
            weight = lambda group: oracle.weight_from_hierarchy(group, paths, domain)  # noqa: B023, E731
        assert measure_ncp(data, mapping, tree) == float(expected.ncp(rows, phi, weight))

        changes = count_changes(data, mapping)
        items = Counter(expected.fate(item, phi) for item in domain)
        occurrences = Counter(expected.fate(item, phi) for row in rows for item in row)
        for fate in ("untouched", "generalized", "suppressed"):
            assert getattr(changes.items, fate) == items[fate]
            assert getattr(changes.occurrences, fate) == occurrences[fate]
        groups = {group for group in phi.values() if group is not None}
        assert changes.group_sizes == dict(sorted(Counter(map(len, groups)).items()))
        merged = [len(group) for group in groups if len(group) > 1]
        assert changes.largest_group == max(map(len, groups), default=0)
        assert changes.mean_group == (sum(merged) / len(merged) if merged else 0)


def test_a_mapping_that_knows_more_items() -> None:
    """Sizes count the items that occur: nothing else is part of the domain."""
    data = Transactions.of([{"a", "b"}, {"a"}])
    mapping = Mapping.of("abcxyz", [["a", "x", "y"], ["b", "c"]])
    released = mapping.apply(data)
    answers = answer(Workload.of(data, [["a"], ["a", "b"]]), data, released, mapping)
    assert answers.estimate.tolist() == [2.0, 1.0]
    assert measure_ncp(data, mapping) == 0
    assert count_changes(data, mapping).group_sizes == {1: 2}


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_the_twins_count_alike(chunk: int) -> None:
    rng = random.Random(chunk)
    for _ in range(CHUNK // 5):
        data = Transactions.of(random_instance(rng).rows)
        if not data.n_items:
            continue
        sets = [
            rng.choices(range(data.n_items), k=rng.randint(1, data.n_items))  # repeats, too
            for _ in range(rng.randint(0, 20))
        ]
        offsets = np.cumsum([0, *map(len, sets)])
        codes = np.array([code for one in sets for code in one], np.int32)
        rows = data.offsets, data.codes, data.counts
        counted, slowly = (
            twin.set_supports(*rows, offsets, codes, data.n_items) for twin in (compiled, reference)
        )
        assert counted.tolist() == slowly.tolist()


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_patterns(chunk: int) -> None:
    survived = Counter[str]()
    for rng, instance, data, mapping in cases(chunk):
        rows, phi, domain = instance.rows, phi_of(mapping), instance.domain
        min_count, max_size, top = rng.randint(1, 6), rng.randint(1, 4), rng.randint(1, 12)
        min_confidence = rng.choice([0, 25, 50, 60, 66.6, 100])  # percent
        found = measure_patterns(
            data, mapping.apply(data), mapping, min_count, min_confidence, top, max_size
        )
        actual = {
            x: Fraction(oracle.support(x, rows)) for x in expected.all_itemsets(domain, max_size)
        }
        guess = {x: expected.estimate(x, rows, phi) for x in actual}
        confidence = Fraction(str(min_confidence)) / 100
        sets_, rules_, tops_ = [], [], []
        for measure in (actual.__getitem__, guess.__getitem__):
            frequent = expected.frequent_by(measure, domain, min_count, max_size)
            sets_.append(frequent)
            rules_.append(expected.rules_by(measure, frequent, confidence))
            tops_.append(expected.top_by(measure, frequent, top, domain))
        assert survival(found.itemsets) == numbers(*sets_)
        assert survival(found.rules) == numbers(*rules_)
        assert found.top == len(tops_[0])
        assert found.n_top_kept == len(set(tops_[0]) & set(tops_[1][: found.top]))
        survived["some"] += 0 < found.rules.n_both < found.rules.n_original
        survived["new"] += found.itemsets.n_both < found.itemsets.n_estimated
    assert min(survived.values()) > CHUNK // 20  # or half of this test would be asleep


def survival(found: Survival) -> tuple[int, int, int]:
    return found.n_original, found.n_estimated, found.n_both


def numbers(original: set[T], estimated: set[T]) -> tuple[int, int, int]:
    return len(original), len(estimated), len(original & estimated)


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_frequent_itemsets(chunk: int) -> None:
    for rng, instance, data, _ in cases(chunk):
        min_count, max_size = rng.randint(0, 6), rng.randint(1, 5)
        found = mine_frequent(data, min_count, max_size)
        assert list(found) == sorted(found)
        assert {
            frozenset(data.vocabulary[code] for code in codes): support
            for codes, support in found.items()
        } == {
            x: support
            for x in expected.all_itemsets(instance.domain, max_size)
            if (support := oracle.support(x, instance.rows)) >= max(min_count, 1)
        }


def exactness_by_hand(
    of: Literal["original", "release"], sizes: list[int], gone: int | None
) -> Exactness:
    several = [size for size in sizes if size > 1]
    half = several[(len(several) - 1) // 2] if several else 0
    spread = (min(several, default=0), half, max(several, default=0))
    return Exactness(of, len(sizes) - len(several), len(several), gone, *spread)


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_exactness(chunk: int) -> None:
    for _, instance, data, mapping in cases(chunk):
        rows, phi = instance.rows, phi_of(mapping)
        found = exactness_of(data, mapping)
        assert found == exactness_by_hand("original", *expected.told(rows, phi))
        assert str(found)
        outside = published_exactness(mapping.apply(data), mapping)
        assert outside == exactness_by_hand("release", expected.shown(rows, phi), None)
