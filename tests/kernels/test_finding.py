"""The worst violated set, and the repair of one constraint: both twins, and the definition."""

import random
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from overcoat.algorithms.coat import _choose as coats_choice
from overcoat.algorithms.pcta import _choose as pctas_choice
from overcoat.data.transactions import Transactions
from overcoat.kernels import finder_class, finders, finding, grouping, reference, repairer
from overcoat.policy.hierarchy import Tree

ENGINES: list[Any] = ["reference", "compiled"]


def random_rows(rng: random.Random) -> Transactions:
    items = [f"{number:02}" for number in range(rng.randint(2, 14))]
    weights = [1 / (1 + rng.randrange(len(items))) for _ in items]
    rows = [
        set(rng.choices(items, weights, k=rng.randint(0, 7))) for _ in range(rng.randint(1, 50))
    ]
    return Transactions.of(rows)


def groupings(data: Transactions) -> list[Any]:
    tree = Tree.star(data.n_items)
    blocks = np.zeros(data.n_items, np.int32)
    return [
        twin(data.offsets, data.codes, data.counts, blocks, tree.parent, tree.weight)
        for twin in (reference.Grouping, grouping.Grouping)
    ]


def by_definition(it: Any, linkable: Any, m: int, k: int) -> tuple[int, tuple[int, ...]] | None:
    """Look at all sets of each size, until a size has violated ones."""
    groups = [g for g in it.groups().tolist() if linkable[it.members(g)].any()]
    for size in range(1, m + 1):
        found = [
            (-support, chosen)
            for chosen in combinations(groups, size)
            if 0 < (support := it.support(np.array(chosen, np.int32))) < k
        ]
        if found:
            support, chosen = min(found)
            return -support, chosen
    return None


@pytest.mark.parametrize("enough", [1, 2, 4])
@pytest.mark.parametrize("share", [1, 0.6])
@pytest.mark.parametrize("seed", range(60))
def test_the_worst_is_the_worst_after_every_change(seed: int, share: float, enough: int) -> None:
    """Random changes, several between two questions; some before the finder is there."""
    rng = random.Random(seed)
    data = random_rows(rng)
    m, k = rng.randint(1, 4), rng.randint(2, 6)
    linkable = np.array([rng.random() < share for _ in range(data.n_items)])
    twins = groupings(data)

    def change(merged: set[int]) -> None:
        groups = twins[0].groups().tolist()
        if len(groups) > 1 and rng.random() < 0.9:
            one, other = rng.sample(groups, 2)
            for it in twins:
                assert it.merge(one, other) == min(one, other)
            merged -= {one, other}
            merged.add(min(one, other))
        elif groups:
            gone = rng.choice(groups)
            for it in twins:
                it.suppress(gone)
            merged.discard(gone)

    for _ in range(rng.choice([0, 0, 3])):
        change(set())
    both = [
        finder_class(engine)(it, linkable, m, k, bool(linkable.all()), enough)
        for engine, it in zip(ENGINES, twins, strict=True)
    ]
    assert [type(finder) for finder in both] == [finders.SetFinder, finding.SetFinder]
    done = 0  # of the sizes, where none comes back
    while len(twins[0].groups()):
        expected = by_definition(twins[0], linkable, m, k)
        found = [finder.worst() for finder in both]
        assert found == [expected, expected]
        if linkable.all():
            size = m + 1 if expected is None else len(expected[1])
            assert size >= done
            done = size
        merged: set[int] = set()
        for _ in range(rng.choice([1, 1, 3])):
            change(merged)
        for finder in both:
            finder.changed(sorted(merged))


@pytest.mark.parametrize("choose", [coats_choice, pctas_choice])
@pytest.mark.parametrize("seed", range(40))
def test_both_repair_an_itemset_in_the_same_steps(seed: int, choose: Any) -> None:
    rng = random.Random(seed)
    data = random_rows(rng)
    twins, k = groupings(data), rng.randint(2, 9)
    pick: Any = rng.choice([None, "last"])
    for _ in range(4):
        items = rng.sample(range(data.n_items), rng.randint(1, data.n_items))
        taken = []
        for engine, it in zip(ENGINES, twins, strict=True):
            image = it.image(np.array(items, np.int32))
            support = int(it.support(image)) if len(image) else 0
            if support >= k:
                break
            last = lambda some, it=it: (some[0], max({*it.groups().tolist()} - {some[0]}))  # noqa: E731
            merge = last if pick else None
            taken.append(repairer(engine)(it, tuple(items), support, k, choose, merge))
        if taken:
            assert taken[0] == taken[1]
            image = twins[0].image(np.array(items, np.int32))
            assert (
                not len(image)
                or twins[0].support(image) >= k
                or (twins[0].support(image) == 0 and twins[0].worst_part(image, k) is None)
            )
