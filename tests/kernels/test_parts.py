"""The violated part of largest support: both twins against the definition, while groups change."""

import math
import random
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from overcoat.data.transactions import Transactions
from overcoat.errors import CancelledError
from overcoat.kernels import grouping, reference
from overcoat.kernels.reference import Tell
from overcoat.policy.hierarchy import Tree

TWINS = [reference.Grouping, grouping.Grouping]


def twins(data: Transactions, tell: Tell = reference.nothing) -> list[Any]:
    tree = Tree.star(data.n_items)
    block_of = np.zeros(data.n_items, np.int32)
    rows = (data.offsets, data.codes, data.counts)
    return [twin(*rows, block_of, tree.parent, tree.weight, tell) for twin in TWINS]


def by_definition(
    data: Transactions, group_of: list[int], groups: list[int], k: int
) -> list[int] | None:
    supports = Counter[tuple[int, ...]]()
    for row, count in enumerate(data.counts.tolist()):
        codes = data.codes[data.offsets[row] : data.offsets[row + 1]]
        share = sorted({group_of[code] for code in codes} & set(groups))
        for size in range(1, len(share) + 1):
            supports.update(dict.fromkeys(combinations(share, size), count))
    violated = [(-support, part) for part, support in supports.items() if support < k]
    return list(min(violated)[1]) if violated else None


@pytest.mark.parametrize("chunk", range(4))
def test_long_itemsets_over_sparse_rows(chunk: int) -> None:
    """From a few items to all of them, asked for again and again while groups come and go."""
    seen = Counter[bool]()
    for seed in range(100 * chunk, 100 * (chunk + 1)):
        rng = random.Random(seed)
        n_items = rng.randint(2, 40)
        rows: list[set[str]] = [{"0", "1"}]
        for _ in range(rng.randint(1, 60)):
            row = {str(rng.randrange(n_items)) for _ in range(rng.randint(0, 6))}
            rows += [row] * rng.choice([1, 1, 2, 3])
        data = Transactions.of(rows)
        slow, fast = twins(data)
        k = rng.randint(2, 9)
        items = rng.sample(range(data.n_items), rng.randint(1, data.n_items))
        while len(groups := slow.groups().tolist()) > 1:
            if rng.random() < 0.2:
                items = rng.sample(range(data.n_items), rng.randint(1, data.n_items))
            image = slow.image(np.array(items, np.int32))
            if len(image):
                expected = by_definition(data, slow.group_of().tolist(), image.tolist(), k)
                for twin in (slow, fast):
                    part = twin.worst_part(image, k)
                    assert (None if part is None else part.tolist()) == expected
                seen[expected is None] += 1
            one, other = rng.sample(groups, 2)
            for twin in (slow, fast):
                if other % 7:
                    twin.merge(one, other)
                else:
                    twin.suppress(one)
    assert min(seen[True], seen[False]) > 100


def test_rows_that_go_on_alike_are_followed_to_their_end() -> None:
    """Two long rows that differ at their ends: the first violated part is one of them, whole."""
    n_items = 3000
    common = [f"{number:04}" for number in range(n_items)]
    data = Transactions.of([{*common, "y"}, {*common, "z"}, {"y"}, {"z"}])
    for twin in twins(data):
        part = twin.worst_part(np.arange(n_items + 2, dtype=np.int32), 2)
        assert part.tolist() == [*range(n_items), n_items]


def test_few_parts_of_many_are_looked_at() -> None:
    """Of thirty groups, any 29 are held by k and all by one: the only violated part is the whole.

    Of its 2^30 parts most lead nowhere.
    """
    items = [f"{number:02}" for number in range(30)]
    data = Transactions.of(
        [set(items), *[row for item in items for row in [set(items) - {item}] * 3]]
    )
    for twin in twins(data):
        part = twin.worst_part(np.arange(30, dtype=np.int32), 3)
        assert part.tolist() == list(range(30))


@pytest.mark.parametrize("twin", range(len(TWINS)))
def test_a_search_can_be_ended(twin: int) -> None:
    """All rows come twice, so nothing is held by 3, and millions of parts by 4 or more."""
    rng = random.Random(5)
    rows = [{str(rng.randrange(300)) for _ in range(60)} for _ in range(900)]
    data = Transactions.of(rows * 2)
    left = math.inf

    def tell() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise CancelledError("cancelled")

    it, other = twins(data, tell)[twin], twins(data)[1]
    left = 3
    with pytest.raises(CancelledError):
        it.worst_part(np.arange(data.n_items, dtype=np.int32), 4)
    some = np.arange(20, dtype=np.int32)
    assert it.worst_part(some, 30).tolist() == other.worst_part(some, 30).tolist()
