"""What a page shows while a policy is being chosen: sets and their counts, who is found, errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from overcoat.advice.price import MOST_SETS, Prices, price_of
from overcoat.advice.suggest import Proposal
from overcoat.advice.suggest import suggest as suggest_policies
from overcoat.application.said import Input, Statement
from overcoat.context import Context, Stage
from overcoat.data.io.glimpse import Glimpse
from overcoat.data.io.glimpse import glimpse as look_at_source
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError, PolicyError
from overcoat.exposure.reach import Reach, reach
from overcoat.loss.error import Errors, ExpectedError, n_pairs
from overcoat.mapping import Mapping
from overcoat.measures.counts import count_sets
from overcoat.policy.hierarchy import Hierarchy

__all__ = ["Level", "Survey", "Weighed", "glimpse", "price", "suggest", "survey", "weigh"]


def glimpse(data: Input, *, context: Context) -> Glimpse:
    """Look at the first rows of a source, and guess how it is meant."""
    if data.source == "-":
        raise DataError("standard input can be looked at only once: read it")
    with context.stage("read") as stage:
        return look_at_source(data.source, data.asked, stage=stage)


@dataclass(frozen=True)
class Level:
    """A level of the hierarchy that can be kept.

    Attributes
    ----------
    number : how many steps below the root
    n_sets : nodes with items that occur
    largest : how many items the largest of them has
    """

    number: int
    n_sets: int
    largest: int


@dataclass(frozen=True)
class Survey:
    """The utility sets of a policy in some data.

    Attributes
    ----------
    data : the data
    sets : of each set its name, its items, and how many people have one of them
    levels : of the hierarchy, where there is one
    """

    data: Transactions
    sets: tuple[tuple[str, tuple[str, ...], int], ...]
    levels: tuple[Level, ...]


def survey(data: Input, statement: Statement, *, context: Context) -> Survey:
    """Count the people of each utility set; the rest of the policy need not be known."""
    with context.stage("read") as stage:
        transactions = data.read(stage)
    with context.stage("policy") as stage:
        bound = statement.policy.bind(transactions, privacy=False, stage=stage)
    labels = transactions.vocabulary.labels
    named = bound.utility.named
    sets = [[labels[code] for code in block.codes] for block in named]
    with context.stage("measure") as stage:
        held = count_sets(transactions, sets, stage) if sets else []
    found = zip((block.name for block in named), map(tuple, sets), map(int, held), strict=True)
    return Survey(transactions, tuple(found), tuple(_levels(statement, transactions)))


def _levels(statement: Statement, data: Transactions) -> list[Level]:
    hierarchy = statement.policy.hierarchy
    if not isinstance(hierarchy, Hierarchy):
        return []
    deepest = max((len(path) for path in hierarchy.ancestors.values()), default=1) - 1
    levels = []
    for number in range(1, deepest + 1):
        sizes: dict[str, int] = {}
        for item in data.vocabulary:
            path = hierarchy.ancestors.get(item, ())
            node = path[-1 - number] if len(path) > number else f"\0{item}"
            sizes[node] = sizes.get(node, 0) + 1
        levels.append(Level(number, len(sizes), max(sizes.values(), default=0)))
    return levels


@dataclass(frozen=True)
class Weighed:
    """What a mapping does to some data, as far as it takes longer than to find it.

    Attributes
    ----------
    n_people : how many there are
    before, after : who is found in the original and in the release
    errors : of all queries of one and two items; None where there are too many pairs
    """

    n_people: int
    before: tuple[Reach, ...]
    after: tuple[Reach, ...]
    errors: Errors | None


def weigh(
    data: Input, mapping: str, *, k: int, sizes: Sequence[int] = (1, 2, 3), context: Context
) -> Weighed:
    """Say who is found before and after, and how far off counts are; `mapping` is its file."""
    known = Mapping.read(mapping)
    with context.stage("read") as stage:
        transactions = data.read(stage)
    with context.stage("apply") as stage:
        released = known.apply(transactions, stage=stage)
    partition = known.partition_of(transactions)
    few = n_pairs(transactions) <= ExpectedError.MOST
    jobs: list[Callable[[Stage], Any]] = [  # what takes longest first
        lambda part: reach(released, sizes, k, stage=part),
        lambda part: ExpectedError(transactions, stage=part).total(partition) if few else None,
        lambda part: reach(transactions, sizes, k, stage=part),
    ]
    with context.stage("evaluate") as stage:
        after, errors, before = stage.side_by_side(jobs)
    return Weighed(transactions.n_transactions, before, after, errors)


def suggest(data: Input, statement: Statement, *, context: Context) -> list[Proposal]:
    """Return policies near one that cannot be met, which were tried and are met."""
    policy, method = statement.bind_method()
    with context.stage("read") as stage:
        transactions = data.read(stage)
    return suggest_policies(transactions, policy, method, context=context.titled("suggest"))


def price(data: Input, statement: Statement, *, most: int = MOST_SETS, context: Context) -> Prices:
    """Return what each part of a policy costs."""
    policy, method = statement.bind_method()
    if policy.problems:
        raise PolicyError(policy.problems)
    with context.stage("read") as stage:
        transactions = data.read(stage)
    return price_of(transactions, policy, method, most=most, context=context.titled("evaluate"))
