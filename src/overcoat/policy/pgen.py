"""Pgen: the maximal infrequent itemsets of the data (paper, section 4.1; its Algorithm 4).

Protecting these protects every part of every transaction. The paper compares all pairs of
transactions; here each is compared only with the transactions that share its rarest items.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from overcoat.data.io import Staging
from overcoat.data.io.delimited import Dialect
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError, PolicyError
from overcoat.policy.sets import Domain, Lint, Sets

__all__ = ["maximal_infrequent", "write_pgen"]


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


def write_pgen(data: Transactions, k: int, path: str | Path) -> int:
    """Write the itemsets as a constraint file (``.json`` too, ``-`` for standard output).

    Returns how many there are. What was written is read back before it gets its name.
    """
    if k < 1:
        raise PolicyError(f"k must be a whole number of at least 1, not {k}")
    rows = maximal_infrequent(data, k)
    itemsets = [[data.vocabulary[code] for code in data.row(row)] for row in rows]
    layout = data.layout
    sep = layout.sep if layout and layout.format == "basket" else ","
    is_json = str(path).removesuffix(".gz").endswith(".json")
    lines = map(json.dumps, itemsets) if is_json else (_line(itemset, sep) for itemset in itemsets)
    text = "[\n" + ",\n".join(lines) + "\n]\n" if is_json else "".join(f"{x}\n" for x in lines)
    if str(path) == "-":
        sys.stdout.write(text)
        return len(itemsets)
    with Staging() as staging:
        staged = staging.stage(path)
        staged.write_text(text, encoding="utf-8")
        if itemsets and not is_json:
            lint = Lint()
            domain = Domain(data.vocabulary, int(data.lengths.max()), sep)
            copy = [list(entry.items) for entry in Sets.read(staged).resolve(domain, lint)]
            if lint.errors or copy != itemsets:
                raise DataError(
                    "some items cannot be written in a constraint file (such as those that start "
                    "with #); write .json instead",
                    str(path),
                )
        staging.commit()
    return len(itemsets)


def _line(itemset: list[str], sep: str | None) -> str:
    if sep is None:
        return " ".join(itemset)
    quote = Dialect(sep, trim=True).quote
    first, *rest = itemset
    # A quoted item cannot be taken for a comment.
    start = f'"{first}"' if first.startswith("#") and quote(first) == first else quote(first)
    return sep.join([start, *map(quote, rest)])
