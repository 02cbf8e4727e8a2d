"""Counts of named sets: how many transactions have at least one item of a set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from overcoat.data.transactions import Transactions
from overcoat.mapping import Mapping
from overcoat.policy.policy import BoundPolicy, Demands

__all__ = ["NamedCount", "PublishedCount", "count_any", "named_counts", "published_counts"]


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
    held = np.unique(rows[wanted[transactions.codes]])
    return int(transactions.counts[held].sum())


def named_counts(
    data: Transactions, released: Transactions, mapping: Mapping, policy: BoundPolicy
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
    groups = mapping.groups
    counts = []
    for block in policy.utility.named:
        items = [data.vocabulary[code] for code in block.codes]
        labels = [mapping[item] for item in items]
        kept = {label for label in labels if label is not None}
        # What does not occur in the data brings nobody in.
        others = set(data.vocabulary) - set(items)
        counts.append(
            NamedCount(
                block.name,
                count_any(data, items),
                count_any(released, kept),
                len(items),
                labels.count(None),
                sum(not others.isdisjoint(groups[label]) for label in kept),
            )
        )
    return tuple(counts)


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
