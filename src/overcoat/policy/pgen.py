"""Pgen: the maximal infrequent itemsets of the data (paper, section 4.1; its Algorithm 4).

Protecting these protects every part of every transaction. The paper compares all pairs of
transactions; here each is compared only with the transactions that share its rarest items.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from overcoat.data.transactions import Transactions

__all__ = ["maximal_infrequent"]


def maximal_infrequent(data: Transactions, k: int) -> NDArray[np.int64]:
    """Return the distinct rows of `data` that are maximal and supported by fewer than `k`.

    Returns
    -------
    Row numbers, ascending: the itemsets come in canonical order.

    >>> data = Transactions.of([{"a", "c", "f"}, {"a", "c"}, {"b", "h"}])
    >>> [data.vocabulary[code] for row in maximal_infrequent(data, 2) for code in data.row(row)]
    ['a', 'c', 'f', 'b', 'h']
    """
    # A maximal row is contained in no other, so its support is its own count.
    holders: list[set[int]] = [set() for _ in range(data.n_items)]
    for row in range(data.n_distinct):
        for code in data.row(row).tolist():
            holders[code].add(row)
    return np.array(
        [
            row
            for row in range(data.n_distinct)
            if data.lengths[row]
            and data.counts[row] < k
            and _is_maximal([holders[code] for code in data.row(row).tolist()])
        ],
        np.int64,
    )


def _is_maximal(holders: list[set[int]]) -> bool:
    """Whether only one row holds all the items, given the rows that hold each."""
    holders.sort(key=len)
    common = holders[0]
    for rows in holders[1:]:
        if len(common) == 1:
            break
        common = common & rows
    return len(common) == 1
