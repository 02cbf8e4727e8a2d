"""Both twins against each other and against plain arithmetic."""

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from overcoat.data.transactions import Transactions
from overcoat.errors import DataError, PolicyError
from overcoat.kernels import grouping, grouping_class, reference, supports
from overcoat.policy.hierarchy import Hierarchy, Tree

TWINS = [reference.Grouping, grouping.Grouping]

products = st.integers(0, 2**62 - 1)
sizes = st.integers(1, 200)


@settings(max_examples=2000, deadline=None, derandomize=True)
@given(sizes, products, sizes, products)
@example(2, 5, 3, 2)
@example(100, 2**40, 140, 1)
def test_losses_are_compared_exactly(size_x: int, x: int, size_y: int, y: int) -> None:
    assert grouping.loses_less(size_x, x, size_y, y) == reference.loses_less(size_x, x, size_y, y)


@settings(max_examples=2000, deadline=None, derandomize=True)
@given(st.integers(1, 70), st.integers(1, 61), st.integers(1, 2**30), st.integers(-2, 2))
def test_losses_are_compared_exactly_where_they_almost_tie(
    size: int, more: int, y: int, off: int
) -> None:
    """(2^a - 1) x and (2^b - 1) y nearest to each other: doubles cannot tell them apart."""
    x = min(((1 << (size + more)) - 1) * y // ((1 << size) - 1) + off, 2**62 - 1)
    if x < 0:
        return
    for pair in ((size, x, size + more, y), (size + more, y, size, x)):
        assert grouping.loses_less(*pair) == reference.loses_less(*pair)


@settings(max_examples=2000, deadline=None, derandomize=True)
@given(
    st.integers(1, 130),
    st.integers(1, 130),
    st.integers(0, 61),
    st.integers(-3, 3),
    st.integers(-3, 3),
)
def test_losses_are_compared_exactly_at_the_end_of_the_range(
    size_x: int, size_y: int, shift: int, off_x: int, off_y: int
) -> None:
    """Products of nearly 62 bits, and those that are 2^d times each other, or almost."""
    top = 2**62 - 1
    x = min(top + off_x, top)
    for near in (top >> shift, 1 << shift):
        y = min(max(near + off_y, 0), top)
        for pair in ((size_x, x, size_y, y), (size_x, y, size_y, x)):
            assert grouping.loses_less(*pair) == reference.loses_less(*pair)


def test_the_lowest_bit_is_found_without_help_from_the_compiler() -> None:
    rng = random.Random(8)
    for place in range(64):
        for bits in (1 << place, (rng.getrandbits(64) | 1) << place & (1 << 64) - 1):
            assert supports.lowest_bits(bits) == (place, place)


def random_rows(rng: random.Random, n_rows: int, n_items: int) -> Transactions:
    rows = [
        {str(min(int(rng.paretovariate(0.7)), n_items)) for _ in range(rng.randint(0, 9))}
        for _ in range(n_rows)
    ]
    return Transactions.of(rows)


def pair_of_twins(data: Transactions, rng: random.Random) -> list[Any]:
    n_blocks = rng.randint(1, 4)
    blocks = np.array([rng.randrange(n_blocks) for _ in range(data.n_items)], np.int32)
    tree = (
        Hierarchy.balanced(data.vocabulary, rng.randint(2, 4)).tree(data.vocabulary)
        if rng.random() < 0.5
        else Tree.star(data.n_items)
    )
    return [
        twin(data.offsets, data.codes, data.counts, blocks, tree.parent, tree.weight)
        for twin in TWINS
    ]


def same(slow: Any, fast: Any, method: str, *arguments: Any) -> Any:
    expected, found = getattr(slow, method)(*arguments), getattr(fast, method)(*arguments)
    if isinstance(expected, np.ndarray):
        assert np.array_equal(expected, found), method
    elif isinstance(expected, tuple) and any(isinstance(x, np.ndarray) for x in expected):
        assert all(np.array_equal(x, y) for x, y in zip(expected, found, strict=True)), method
    else:
        assert expected == found, (method, arguments)
    return expected


@pytest.mark.parametrize("seed", range(60))
def test_twins_agree_on_every_step(seed: int) -> None:
    """Random merges and suppressions; after each, every question has the same answer."""
    rng = random.Random(seed)
    data = random_rows(rng, rng.randint(1, 120), rng.randint(2, 25))
    slow, fast = pair_of_twins(data, rng)
    linkable = np.array([rng.random() < 0.8 for _ in range(data.n_items)], np.uint8)
    while len(slow.groups()):
        groups = same(slow, fast, "groups").tolist()
        same(slow, fast, "group_of")
        some = np.array(sorted(rng.sample(groups, rng.randint(1, min(4, len(groups))))), np.int32)
        same(slow, fast, "support", some)
        same(slow, fast, "worst_part", some, rng.randint(2, 9))
        items = np.array(rng.sample(range(data.n_items), rng.randint(0, data.n_items)), np.int32)
        same(slow, fast, "image", items)
        offsets = np.array([0, len(items) // 2, len(items)], np.int64)
        same(slow, fast, "supports", offsets, items, np.array([1, 0]), rng.randint(1, 9))
        group = rng.choice(groups)
        for method in ("size", "members", "has_partner", "group", "group_support"):
            same(slow, fast, method, group)
        k = rng.randint(2, 9)
        for size in (1, 2, 3):
            above, limit = rng.random() < 0.5, rng.choice([1, 2, 5, 64])
            same(slow, fast, "violations", group, size, k, above, linkable, limit)
        if slow.has_partner(group):
            table = [rng.randrange(1000) for _ in range(data.n_items)]
            weigh = rng.choice([None, lambda _, others, t=table: np.array([t[o] for o in others])])
            others = [other for other in some.tolist() if other != group]
            merged, partner = same(slow, fast, "cheapest_merge", [group, *others], weigh)
            if rng.random() < 0.9:
                union = same(slow, fast, "merge", merged, partner)
                linkable[union] = linkable[merged] | linkable[partner]
                continue
        same(slow, fast, "suppress", group)


@pytest.mark.parametrize("seed", range(12))
def test_twins_agree_when_the_same_groups_are_merged_again_and_again(seed: int) -> None:
    """More such groups than there is room for counts that are kept."""
    rng = random.Random(seed)
    data = random_rows(rng, 200, 90)
    slow, fast = pair_of_twins(data, rng)
    favourites = rng.sample(range(data.n_items), 24)
    while len(slow.groups()) > 2:
        groups = same(slow, fast, "image", np.array(favourites, np.int32)).tolist()
        group = rng.choice(groups or slow.groups().tolist())
        if not slow.has_partner(group) or rng.random() < 0.03:
            same(slow, fast, "suppress", group)
            continue
        merged, partner = same(slow, fast, "cheapest_merge", [group], None)
        if rng.random() < 0.2:
            merged, partner = partner, merged
        same(slow, fast, "merge", merged, partner)


@pytest.mark.parametrize("seed", range(40))
def test_twins_agree_on_long_rows(seed: int) -> None:
    """A few rows of many items, of which one group after the other swallows the others."""
    rng = random.Random(seed)
    n_items = rng.randint(70, 200)
    rows = [
        {str(item) for item in range(n_items) if rng.random() < share}
        for share in rng.choices([0.02, 0.5, 0.9, 1], k=rng.randint(1, 12))
    ]
    data = Transactions.of([{"0", "1"}, *rows])
    slow, fast = pair_of_twins(data, rng)
    linkable = np.ones(data.n_items, np.uint8)
    favourite = rng.randrange(data.n_items)
    while len(groups := slow.groups().tolist()) > 1:
        group = slow.group(favourite)
        if group < 0 or not slow.has_partner(group) or rng.random() < 0.1:
            favourite = rng.choice(groups)
            group = slow.group(favourite)
        if not slow.has_partner(group) or rng.random() < 0.02:
            same(slow, fast, "suppress", group)
            continue
        merged, partner = same(slow, fast, "cheapest_merge", [group], None)
        union = same(slow, fast, "merge", *rng.sample([merged, partner], 2))
        same(slow, fast, "group_support", union)
        some = np.array(sorted({rng.choice(groups) for _ in range(3)} & {*slow.groups().tolist()}))
        if len(some):
            same(slow, fast, "support", some)
            same(slow, fast, "worst_part", some, 4)
        same(slow, fast, "violations", union, 2, 4, False, linkable, 5)


def test_larger_violations_agree() -> None:
    """Sizes 4 and 5, where every smaller set is supported by nobody or by k, as they are used."""
    rng = random.Random(7)
    rows = [set(rng.sample("abcdefgh", 6)) for _ in range(60)]
    data = Transactions.of(rows)
    everything = np.ones(data.n_items, np.uint8)
    slow, fast = pair_of_twins(data, rng)
    found = 0
    for size in (4, 5):
        for k in range(2, 30):
            if any(
                len(slow.violations(g, s, k, True, everything, 1)[0])
                for g in range(8)
                for s in range(1, size)
            ):
                continue
            for group in range(8):
                for above in (True, False):
                    for limit in (1, 4, 1000):
                        supports, _ = same(
                            slow, fast, "violations", group, size, k, above, everything, limit
                        )
                        found += len(supports)
    assert found > 10


def test_there_is_no_third_engine() -> None:
    assert grouping_class("reference") is reference.Grouping
    assert grouping_class("compiled") is grouping.Grouping
    with pytest.raises(PolicyError, match="no engine 'gpu'"):
        grouping_class("gpu")  # type: ignore[arg-type]


def test_numbers_that_would_overflow_are_refused() -> None:
    tree = Tree.star(1)
    with pytest.raises(DataError, match="1,099,511,627,776 transactions are more than the"):
        grouping.Grouping(
            np.array([0, 1]),
            np.array([0], np.int32),
            np.array([1 << 40]),
            np.zeros(1, np.int32),
            tree.parent,
            tree.weight << 30,
        )
