"""Whatever takes long in a kernel calls now and then, and ends when the call raises."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from overcoat.algorithms.cut import Cut
from overcoat.data.vocabulary import Vocabulary
from overcoat.errors import CancelledError
from overcoat.kernels import counttree, finding, grouping, repairing
from overcoat.policy.hierarchy import Hierarchy, Tree

N_ITEMS = 2000


class Caller:
    """Counts calls, and raises at one of them."""

    def __init__(self) -> None:
        self.calls, self.last = 0, 0

    def __call__(self) -> None:
        self.calls += 1
        if self.calls == self.last:
            raise CancelledError("cancelled")


def rows_of(n_rows: int, length: int, n_items: int = N_ITEMS) -> tuple[Any, Any, Any]:
    """Distinct rows, drawn at random, each once."""
    rng = np.random.default_rng(1)
    codes = np.sort(rng.integers(n_items - length, size=(n_rows, length)), axis=1)
    codes += np.arange(length)  # without repetition
    return (
        np.arange(0, n_rows * length + 1, length),
        codes.ravel().astype(np.int32),
        np.ones(n_rows, np.int64),
    )


def group(rows: tuple[Any, Any, Any], tell: Caller, n_items: int = N_ITEMS) -> Any:
    tree = Tree.star(n_items)
    block_of = np.zeros(n_items, np.int32)
    return grouping.Grouping(*rows, block_of, tree.parent, tree.weight, tell)


def laying_out_rows(tell: Caller) -> Callable[[], Any]:
    rows = rows_of(150_000, 40)
    return lambda: group(rows, tell)


def making_shelves(tell: Caller) -> Callable[[], Any]:
    rows = rows_of(1, 10, 300_000)
    return lambda: group(rows, tell, 300_000)


def counting_itemsets(tell: Caller) -> Callable[[], Any]:
    it = group(rows_of(20_000, 40), tell)
    offsets, codes, _ = rows_of(40_000, 3)
    return lambda: it.supports(offsets, codes, np.arange(40_000), 100)


def searching_one_group(tell: Caller) -> Callable[[], Any]:
    it = group(rows_of(20_000, 40, 60), tell, 60)
    return lambda: it.violations(3, 3, 2, False, np.ones(60, np.uint8), 64)


def searching_fours(tell: Caller) -> Callable[[], Any]:
    it = group(rows_of(3000, 40, 60), tell, 60)
    return lambda: it.violations(3, 4, 2, False, np.ones(60, np.uint8), 64)


def finding_what_is_violated(tell: Caller) -> Callable[[], Any]:
    """Items in the middle of the range are in nearly all rows: no pair of them is violated."""
    it = group(rows_of(20_000, 40, 60), tell, 60)
    middle = (np.arange(60) > 9) & (np.arange(60) < 50)
    return finding.SetFinder(it, middle, 2, 2, False, 4, tell).worst


def repairing_one_itemset(tell: Caller) -> Callable[[], Any]:
    """All groups are merged into one."""
    it = group(rows_of(2, 10, 3000), tell, 3000)
    choose: Any = lambda supports, _, k: ([min(supports)], -1)  # noqa: E731
    return lambda: repairing.repair(it, range(3000), 0, 2, choose)


def merging(tell: Caller) -> Callable[[], Any]:
    """Half of the groups go, so that equal rows are looked for as well."""
    it = group(rows_of(50_000, 40, 60), tell, 60)
    return lambda: [it.merge(0, other) for other in range(1, 40)]


def finding_partners(tell: Caller) -> Callable[[], Any]:
    it = group(rows_of(50_000, 40, 60), tell, 60)
    return lambda: [it.cheapest_merge([item]) for item in range(20)]


def walking(tell: Caller) -> Callable[[], Any]:
    offsets, codes, counts = rows_of(1000, 40, 60)
    labels = Vocabulary(f"{number:02}" for number in range(60))
    cut = Cut(Hierarchy.balanced(labels, 3).tree(labels), np.bincount(codes, minlength=60))
    tree = counttree.CountTree(
        *(offsets, cut.node_of[codes], counts, cut.parent, cut.end),
        *(np.ones(len(cut.parent), bool), cut.home, tell),
    )
    return lambda: list(tree.walk(3, 2, np.arange(len(cut.parent))))


@pytest.mark.parametrize(
    "prepare",
    [
        *(laying_out_rows, making_shelves, counting_itemsets, searching_one_group),
        *(searching_fours, finding_what_is_violated, repairing_one_itemset),
        *(merging, finding_partners, walking),
    ],
)
def test_long_work_can_be_ended_anywhere(prepare: Callable[[Caller], Callable[[], Any]]) -> None:
    tell = Caller()
    work = prepare(tell)
    tell.calls = 0
    work()
    n_calls = tell.calls
    assert n_calls >= 3
    for last in {1, 2, n_calls}:
        work = prepare(tell)
        tell.calls, tell.last = 0, last
        with pytest.raises(CancelledError):
            work()
        assert tell.calls == last
        tell.last = 0
