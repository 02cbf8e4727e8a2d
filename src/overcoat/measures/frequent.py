"""Frequent itemsets: those that at least so many transactions hold."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET, Stage
from overcoat.data.holders import Holders
from overcoat.data.transactions import Transactions
from overcoat.errors import PolicyError

__all__ = ["Itemset", "mine_frequent"]

Itemset = tuple[int, ...]  # codes, ascending

# More than anybody looks at, and all that fits in memory without a thought.
_LIMIT = 1_000_000


def mine_frequent(
    data: Transactions, min_count: int, max_size: int = 3, *, stage: Stage = QUIET
) -> dict[Itemset, int]:
    """Return the itemsets of at most `max_size` items that `min_count` transactions hold.

    Sets grow item by item, in ascending order: after an item has been taken, only the rows that
    hold it and only their greater items matter.

    Returns
    -------
    The support of each, in lexicographic order of codes

    Raises
    ------
    PolicyError : there are more than a million

    >>> mine_frequent(Transactions.of([{"a", "b"}, {"a", "b"}, {"a"}, {"c"}]), min_count=2)
    {(0,): 3, (0, 1): 2, (1,): 2}
    """
    found: dict[Itemset, int] = {}
    rows = data.offsets, data.codes, data.counts
    for itemset, support in _grow((), *rows, data.n_items, max(min_count, 1), max_size):
        stage(len(found))
        found[itemset] = support
        if len(found) > _LIMIT:
            raise PolicyError(
                f"more than {_LIMIT:,} itemsets are held by {min_count:,} transactions; "
                "ask for a larger minimum support"
            )
    return found


def _grow(
    prefix: Itemset,
    offsets: NDArray[np.int64],
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    n_items: int,
    min_count: int,
    max_size: int,
) -> Iterator[tuple[Itemset, int]]:
    """Yield the frequent sets that start with `prefix`, whose rows these are, and are larger."""
    lengths = np.diff(offsets)
    supports = np.bincount(codes, np.repeat(counts, lengths), n_items)
    frequent = supports >= min_count
    items = np.flatnonzero(frequent).tolist()
    goes_on = len(prefix) + 1 < max_size and len(items) > 1
    if goes_on:
        kept = frequent[codes]  # a set with an infrequent item is infrequent
        offsets = np.concatenate([[0], np.cumsum(kept)])[offsets]
        holders = Holders(offsets, codes[kept], n_items)
    for item in items:
        longer = (*prefix, item)
        yield longer, int(supports[item])
        if goes_on:
            theirs = counts[holders.rows_with(item)]
            rest = holders.beyond(item)
            yield from _grow(longer, *rest, theirs, n_items, min_count, max_size)
