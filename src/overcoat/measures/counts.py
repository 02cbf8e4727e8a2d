"""Counts of named sets: how many transactions have at least one item of a set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from overcoat.data.transactions import Transactions
from overcoat.mapping import Mapping
from overcoat.policy.policy import BoundPolicy

__all__ = ["NamedCount", "count_any", "named_counts"]


@dataclass(frozen=True, slots=True)
class NamedCount:
    """A named utility set: its transactions before and after, and how many of its items are gone.

    With no item suppressed the two counts are the same, whatever was merged inside the set.
    """

    name: str
    before: int
    after: int
    n_items: int
    n_suppressed: int

    @property
    def exact(self) -> bool:
        """Whether the count can be read off the release."""
        return self.before == self.after and not self.n_suppressed


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
    """Return the counts of each named utility set, before and after."""
    counts = []
    for block in policy.utility.named:
        items = [data.vocabulary[code] for code in block.codes]
        labels = [mapping[item] for item in items]
        counts.append(
            NamedCount(
                block.name,
                count_any(data, items),
                count_any(released, {label for label in labels if label is not None}),
                len(items),
                labels.count(None),
            )
        )
    return tuple(counts)
