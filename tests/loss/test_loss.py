"""Losses against the definitions: totals, and what a move changes, on thousands of partitions."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from bridge import phi_of, policy_of
from oracle import definitions as oracle
from oracle import measures as expected
from overcoat.data.transactions import Transactions
from overcoat.loss.error import Errors, ExpectedError
from overcoat.loss.flat import FlatPenalty
from overcoat.loss.ncp import CertaintyPenalty
from overcoat.loss.separable import Separable
from overcoat.loss.ul import UtilityLoss
from overcoat.mapping import Mapping
from overcoat.partition import Partition
from strategies import Instance, random_instance

N = 400


def random_partition(rng: random.Random, n_items: int) -> Partition:
    n_groups = rng.randint(1, max(n_items, 1))
    gone = rng.choice([0.0, 0.0, 0.3])
    return Partition(
        [-1 if rng.random() < gone else rng.randrange(n_groups) for _ in range(n_items)]
    )


@dataclass(frozen=True)
class Problem:
    """Data, a partition of its items, and some moves."""

    instance: Instance
    data: Transactions
    partition: Partition
    moves: list[tuple[int, int]]

    def phi(self, partition: Partition) -> dict[str, oracle.Group | None]:
        return phi_of(Mapping.over(self.data.vocabulary, partition))

    def weight(self, group: oracle.Group) -> Fraction:
        if self.instance.paths is None:
            return Fraction(1)
        return oracle.weight_from_hierarchy(group, self.instance.paths, self.instance.domain)

    def penalty(self, item: str) -> Fraction:
        data = self.data
        return Fraction(float(data.supports[data.vocabulary.code(item)] / data.n_transactions))

    def check(self, loss: Separable, total: Callable[[oracle.Phi], Fraction]) -> None:
        """The total is that of the definition, and so is what each move changes."""
        before = total(self.phi(self.partition))
        assert loss.total(self.partition) == before
        for item, group in self.moves:
            after = total(self.phi(self.partition.moved(item, group)))
            assert loss.change(self.partition, item, group) == after - before


def problems(seed: int) -> Iterator[Problem]:
    rng = random.Random(seed)
    for _ in range(N):
        instance = random_instance(rng)
        data = Transactions.of(instance.rows)
        if not data.n_items:
            continue
        partition = random_partition(rng, data.n_items)
        # To other groups, to stand alone, to be suppressed, and to come back.
        items = range(data.n_items)
        wanted = [(rng.choice(items), rng.choice([-1, *items])) for _ in range(4)]
        sound = [(i, g) for i, g in wanted if g < 0 or g == i or partition.group_of[g] >= 0]
        yield Problem(instance, data, partition, sound)


def test_ul() -> None:
    for problem in problems(1):
        data, rows = problem.data, problem.instance.rows
        policy = policy_of(problem.instance).bind(data)
        total = partial(
            oracle.total_loss, rows=rows, weight=problem.weight, penalty=problem.penalty
        )
        problem.check(UtilityLoss(data, policy.weights, policy.penalties), total)


def test_flat_ncp() -> None:
    for problem in problems(2):
        total = partial(expected.flat_ncp, problem.instance.rows)
        problem.check(FlatPenalty(problem.data), total)
        assert total(problem.phi(problem.partition)) == expected.ncp(
            problem.instance.rows, problem.phi(problem.partition)
        )


def test_flat_ncp_is_ncp_without_a_hierarchy() -> None:
    for problem in problems(5):
        total = partial(expected.ncp, problem.instance.rows)
        problem.check(CertaintyPenalty(problem.data), total)


def test_costs_of_flat_ncp_are_whole_numbers() -> None:
    for problem in problems(6):
        loss, partition = FlatPenalty(problem.data), problem.partition
        cost = sum(map(loss.cost_of_group, partition.merged))
        cost += sum(map(loss.cost_of_item, partition.suppressed.tolist()))
        assert Fraction(cost, loss.whole) == loss.total(partition)


def test_ncp_with_a_hierarchy() -> None:
    n_trees = 0
    for problem in problems(3):
        tree = policy_of(problem.instance).bind(problem.data).hierarchy
        if tree is not None:
            n_trees += 1
            total = partial(expected.ncp, problem.instance.rows, weight=problem.weight)
            problem.check(CertaintyPenalty(problem.data, tree), total)
    assert n_trees > 50


def errors_by_definition(instance: Instance, mapping: oracle.Phi) -> list[float]:
    """Over every query of one and of two items that somebody matches."""
    alike, occurrences = [], []
    for size in (1, 2):
        queries = expected.matched(instance.rows, size, instance.domain)
        actual = [oracle.support(query, instance.rows) for query in queries]
        errors = [expected.relative_error(query, instance.rows, mapping) for query in queries]
        weighted = sum((a * e for a, e in zip(actual, errors, strict=True)), Fraction(0))
        alike.append(float(sum(errors, Fraction(0)) / max(len(errors), 1)))
        occurrences.append(float(weighted / max(sum(actual), 1)))
    return [*alike, *occurrences]


def values(errors: Errors) -> list[float]:
    return [errors.items, errors.pairs, errors.item_occurrences, errors.pair_occurrences]


def test_expected_error() -> None:
    for problem in problems(4):
        error, partition = ExpectedError(problem.data), problem.partition
        before = errors_by_definition(problem.instance, problem.phi(partition))
        assert values(error.total(partition)) == pytest.approx(before, abs=1e-12)
        for item, group in problem.moves:
            moved = problem.phi(partition.moved(item, group))
            after = errors_by_definition(problem.instance, moved)
            change = [two - one for one, two in zip(before, after, strict=True)]
            assert values(error.change(partition, item, group)) == pytest.approx(change, abs=1e-12)


def test_a_loss_of_ones_own() -> None:
    class Sizes(Separable):
        """Counts pairs of items that can no longer be told apart."""

        def of_group(self, items: Any, support: int) -> Fraction:
            return Fraction(len(items) * (len(items) - 1), 2)

        def of_item(self, item: int) -> Fraction:
            return Fraction(1)

    data = Transactions.of([set("abcd")])
    loss = Sizes(data)
    partition = Partition([0, 0, 0, -1])
    assert loss.total(partition) == 4
    assert loss.change(partition, 3, 0) == 2  # 6 pairs, nothing gone
    assert loss.change(partition, 0, 0) == -2


def test_too_many_pairs_are_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ExpectedError, "MOST", 2)
    with pytest.raises(ValueError, match="3 pairs of items, too many"):
        ExpectedError(Transactions.of([set("abc")]))
