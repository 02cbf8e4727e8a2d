"""Counts of named sets: how many transactions have at least one item of a set."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET, Stage
from overcoat.data.transactions import Transactions
from overcoat.mapping import Mapping
from overcoat.policy.policy import BoundPolicy, Demands

__all__ = [
    "NamedCount",
    "PublishedCount",
    "count_any",
    "count_sets",
    "named_counts",
    "published_counts",
]

_ROWS = 1 << 18  # looked at between two calls of the stage


@dataclass(frozen=True, slots=True)
class NamedCount:
    """A named utility set, before and after.

    Attributes
    ----------
    before, after : how many transactions have an item of the set, or a label of one
    n_items, n_suppressed : items of the set, and how many of them are gone
    n_across : groups with items of the set and others, which a method or mapping that does not
        know the set can make
    """

    name: str
    before: int
    after: int
    n_items: int
    n_suppressed: int
    n_across: int

    @property
    def exact(self) -> bool:
        """Whether the count can be read off the release: nothing is gone, nothing came in.

        Then the two counts are the same, whatever was merged inside the set. That they are the
        same is not enough: who has only the release cannot tell a coincidence.
        """
        return not self.n_suppressed and not self.n_across


@dataclass(frozen=True, slots=True)
class PublishedCount:
    """A named utility set, as far as the release tells.

    Attributes
    ----------
    number : how many released transactions have a label of the set
    exact : whether so many had an item of the set before: nothing is gone, nothing came in
    """

    name: str
    number: int
    exact: bool


def count_any(transactions: Transactions, labels: Iterable[str]) -> int:
    """Return how many transactions hold at least one of `labels`.

    >>> count_any(Transactions.of([{"a"}, {"b", "c"}, {"c"}]), ["a", "b", "z"])
    2
    """
    wanted = np.zeros(transactions.n_items, bool)
    for label in labels:
        code = transactions.vocabulary.get(label)
        if code is not None:
            wanted[code] = True
    rows = np.repeat(np.arange(transactions.n_distinct), transactions.lengths)
    held = _each_once(rows[wanted[transactions.codes]])
    return int(transactions.counts[held].sum())


def _each_once(ascending: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distinct numbers; not by np.unique, which hashes and is slow for millions."""
    return ascending[np.diff(ascending, prepend=-1) > 0]


def count_sets(
    transactions: Transactions, sets: Sequence[Collection[str]], stage: Stage = QUIET
) -> list[int]:
    """Return how many transactions hold at least one label of each set; `count_any` of many sets.

    >>> count_sets(Transactions.of([{"a"}, {"b", "c"}, {"c"}]), [["a", "b"], ["c"], ["a", "c"]])
    [2, 2, 3]
    """
    owner = np.full(transactions.n_items, -1, np.int64)
    for number, labels in enumerate(sets):
        found = (transactions.vocabulary.get(label) for label in labels)
        codes = [code for code in found if code is not None]
        if (owner[codes] >= 0).any():  # sets that overlap are counted one by one
            return [count_any(transactions, labels) for labels in sets]
        owner[codes] = number
    totals = np.zeros(len(sets), np.int64)
    for start in range(0, transactions.n_distinct, _ROWS):
        stage(start, transactions.n_distinct)
        stop = min(start + _ROWS, transactions.n_distinct)
        held = owner[transactions.codes[transactions.offsets[start] : transactions.offsets[stop]]]
        rows = np.repeat(np.arange(start, stop), transactions.lengths[start:stop])
        inside = held >= 0
        met = _each_once(np.sort(rows[inside] * len(sets) + held[inside]))  # a set once a row
        np.add.at(totals, met % max(len(sets), 1), transactions.counts[met // max(len(sets), 1)])
    return totals.tolist()


def named_counts(
    data: Transactions,
    released: Transactions,
    mapping: Mapping,
    policy: BoundPolicy,
    stage: Stage = QUIET,
) -> tuple[NamedCount, ...]:
    """Return the counts of each named utility set, before and after.

    >>> from overcoat.policy.policy import Policy
    >>> data = Transactions.of([{"a", "z"}, {"b"}, {"b"}])
    >>> mapping = Mapping.of("abz", [["a", "z"], ["b"]])
    >>> policy = Policy(1, (), {"only a": ["a"], "only b": ["b"]}).bind(data, privacy=False)
    >>> counts = named_counts(data, mapping.apply(data), mapping, policy)
    >>> [(count.name, count.before, count.after, count.exact) for count in counts]
    [('only a', 1, 1, False), ('only b', 2, 2, True)]
    """
    items = [[data.vocabulary[code] for code in block.codes] for block in policy.utility.named]
    labels = [[mapping[item] for item in some] for some in items]
    kept = [{label for label in some if label is not None} for some in labels]
    # What does not occur in the data brings nobody in.
    occurring = {
        label: {item for item in group if item in data.vocabulary}
        for label, group in mapping.groups.items()
    }
    before, after = count_sets(data, items, stage), count_sets(released, kept, stage)
    return tuple(
        NamedCount(
            block.name,
            before[number],
            after[number],
            len(items[number]),
            labels[number].count(None),
            sum(not occurring[label].issubset(items[number]) for label in kept[number]),
        )
        for number, block in enumerate(policy.utility.named)
    )


def published_counts(
    released: Transactions, mapping: Mapping, policy: Demands
) -> tuple[PublishedCount, ...]:
    """Return the counts of each named utility set that can be read off a release.

    >>> from overcoat.policy.policy import Policy
    >>> mapping = Mapping.of("abcz", [["a", "b"], ["z"]])
    >>> released = Transactions.of([{"(a|b)"}, {"(a|b)", "z"}, {"z"}])
    >>> policy = Policy(1, (), {"ab": ["a", "b"], "c": ["c"]})
    >>> for count in published_counts(released, mapping, policy.bind_published(
    ...     mapping.vocabulary, 2, privacy=False)):
    ...     print(count)
    PublishedCount(name='ab', number=2, exact=True)
    PublishedCount(name='c', number=0, exact=False)
    """
    counts = []
    for block in policy.utility.named:
        items = {policy.vocabulary[code] for code in block.codes}
        labels = {mapping[item] for item in items}
        kept = {label for label in labels if label is not None}
        inside = all(items.issuperset(mapping.groups[label]) for label in kept)
        exact = inside and None not in labels
        counts.append(PublishedCount(block.name, count_any(released, kept), exact))
    return tuple(counts)
