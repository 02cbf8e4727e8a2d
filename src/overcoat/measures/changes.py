"""What became of items and of their occurrences: untouched, generalized or suppressed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overcoat.data.transactions import Transactions
from overcoat.mapping import Mapping

__all__ = ["Changes", "Shares", "count_changes"]


@dataclass(frozen=True, slots=True)
class Shares:
    """How many are untouched, in groups of two or more (generalized), and suppressed."""

    untouched: int
    generalized: int
    suppressed: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.untouched + self.generalized + self.suppressed

    def percent(self, number: int) -> float:
        """Return a number of them in percent of the total; 0 when there are none."""
        return 100 * number / self.total if self.total else 0.0


@dataclass(frozen=True)
class Changes:
    """What a mapping does to the data.

    Attributes
    ----------
    items : of the items of the domain
    occurrences : of the occurrences of items in the original, an item once a transaction
    group_sizes : how many groups there are of each size, ascending
    """

    items: Shares
    occurrences: Shares
    group_sizes: dict[int, int]

    @property
    def largest_group(self) -> int:
        """Size of the largest group."""
        return max(self.group_sizes, default=0)

    @property
    def mean_group(self) -> float:
        """Mean size of the groups of two or more items; 0 when there are none."""
        merged = {size: n for size, n in self.group_sizes.items() if size > 1}
        n_groups = sum(merged.values())
        return sum(size * n for size, n in merged.items()) / n_groups if n_groups else 0.0


def count_changes(data: Transactions, mapping: Mapping) -> Changes:
    """Count what becomes of the items of `data` and of their occurrences.

    >>> data = Transactions.of([{"a", "b"}, {"a"}, {"c"}, {"d"}])
    >>> changes = count_changes(data, Mapping.of("abcd", [["a", "b"], ["c"]]))
    >>> changes.items
    Shares(untouched=1, generalized=2, suppressed=1)
    >>> changes.occurrences, changes.group_sizes
    (Shares(untouched=1, generalized=3, suppressed=1), {1: 1, 2: 1})
    """
    partition = mapping.partition_of(data)
    fate = np.minimum(partition.size_of, 2)  # 0 suppressed, 1 untouched, 2 generalized
    items = np.bincount(fate, minlength=3).tolist()
    occurrences = [int(data.supports[fate == which].sum()) for which in range(3)]
    sizes, numbers = np.unique(partition.size_of[partition.firsts], return_counts=True)
    return Changes(
        Shares(items[1], items[2], items[0]),
        Shares(occurrences[1], occurrences[2], occurrences[0]),
        dict(zip(sizes.tolist(), numbers.tolist(), strict=True)),
    )
