"""Both count trees against each other, while the cut moves up under them."""

import random
from itertools import zip_longest
from typing import Any

import numpy as np
import pytest

from overcoat.algorithms.cut import Cut
from overcoat.data.transactions import Transactions
from overcoat.errors import PolicyError
from overcoat.kernels import count_tree_class, counttree, reference
from overcoat.policy.hierarchy import Hierarchy

TWINS = [reference.CountTree, counttree.CountTree]


def random_cut(rng: random.Random, data: Transactions) -> Cut:
    """A hierarchy of paths of different lengths, whose leaves do not lie in item order."""
    paths = []
    for item in data.vocabulary:
        turns = [str(rng.randrange(3)) for _ in range(rng.randint(0, 4))]
        paths.append([item, *(".".join(turns[:n]) for n in range(len(turns), 0, -1)), "*"])
    return Cut(Hierarchy.of(paths).tree(data.vocabulary), data.supports)


def random_order(rng: random.Random, cut: Cut) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Any order in which parents come before their children."""
    weight = [0.0]
    for parent in cut.parent[1:].tolist():
        weight.append(weight[parent] + rng.random())
    return np.argsort(weight)


@pytest.mark.parametrize("seed", range(150))
def test_twins_agree_on_every_walk(seed: int) -> None:
    rng = random.Random(seed)
    labels = [str(number) for number in range(rng.randint(2, 14))]
    data = Transactions.of(
        {label for label in labels if rng.random() < 0.3} for _ in range(rng.randint(1, 40))
    )
    if not data.n_items:
        return
    cut = random_cut(rng, data)
    linkable = np.zeros(len(cut.parent), bool)
    for item in range(data.n_items):
        if rng.random() < rng.choice([0.5, 1]):
            linkable[cut.path(cut.node_of[item])] = True
    order = random_order(rng, cut)
    for size in (1, 2, 3, 4):
        rows = cut.home[cut.node_of][data.codes]
        slow, fast = (
            twin(data.offsets, rows, data.counts, cut.parent, cut.end, linkable, cut.home)
            for twin in TWINS
        )
        assert slow.node_supports().tolist() == fast.node_supports().tolist()
        k = rng.randint(1, 12)
        # zip_longest asks each twin for its next set with the cut at the same place.
        walks = (tree.walk(size, k, order) for tree in (slow, fast))
        for expected, found in zip_longest(*walks):
            assert expected == found
            assert slow.support(found, k) == fast.support(found, k) < k
            assert slow.support(found, 2) == fast.support(found, 2) <= 2
            assert slow.example(found) == fast.example(found) != ()
            assert slow.unions(found) == fast.unions(found)
            above = np.flatnonzero(cut.home < 0).tolist()
            if above and rng.random() < 0.1:
                cut.move_up(rng.choice(above))


def test_a_set_that_only_items_nobody_links_show_has_no_example() -> None:
    """The root of a and b, beside c: somebody has b and c, nobody a and c; b is not linkable."""
    data = Transactions.of([{"b", "c"}, {"a"}, {"c"}])
    tree = Hierarchy.of([("a", "x", "*"), ("b", "x", "*"), ("c", "*")])
    cut = Cut(tree.tree(data.vocabulary), data.supports)
    root, x, a, b, c = range(5)
    assert cut.node_of.tolist() == [a, b, c]
    linkable = np.array([True, True, True, False, True])
    for twin in TWINS:
        rows = cut.node_of[data.codes]
        it = twin(data.offsets, rows, data.counts, cut.parent, cut.end, linkable, cut.home)
        assert it.support([x, c], 9) == 1
        assert it.example([x, c]) == ()
        assert list(it.walk(2, 5, np.array([root, x, c, a, b]))) == []
        assert list(it.walk(1, 3, np.array([root, x, c, a, b]))) == [(x,), (c,), (a,)]


def test_there_is_no_third_engine() -> None:
    assert count_tree_class("reference") is reference.CountTree
    assert count_tree_class("compiled") is counttree.CountTree
    with pytest.raises(PolicyError, match="no engine 'gpu'"):
        count_tree_class("gpu")  # type: ignore[arg-type]
