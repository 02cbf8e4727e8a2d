"""Pgen: the maximal infrequent itemsets of the data (paper, section 4.1; its Algorithm 4).

Protecting these protects every part of every transaction. The paper compares all pairs of
transactions; here each is compared only with the transactions that share its rarest items.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from overcoat.checks import check_count
from overcoat.context import QUIET, Stage
from overcoat.data.io import Staging, pack, send
from overcoat.data.io.delimited import Dialect
from overcoat.data.native import contained_rows
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError
from overcoat.policy.binding import Domain, Lint
from overcoat.policy.sets import Sets

__all__ = ["maximal_infrequent", "maximal_rows", "write_pgen"]


def maximal_infrequent(data: Transactions, k: int, *, stage: Stage = QUIET) -> NDArray[np.int64]:
    """Return the distinct rows of `data` that are maximal and supported by fewer than `k`.

    Returns
    -------
    Row numbers, ascending: the itemsets come in canonical order.

    >>> data = Transactions.of([{"a", "c", "f"}, {"a", "c"}, {"b", "h"}])
    >>> [data.vocabulary[code] for row in maximal_infrequent(data, 2) for code in data.row(row)]
    ['a', 'c', 'f', 'b', 'h']
    """
    # A maximal row is contained in no other, so its support is its own count.
    rows = maximal_rows(data, stage=stage)
    return rows[data.counts[rows] < k]


def maximal_rows(data: Transactions, *, stage: Stage = QUIET) -> NDArray[np.int64]:
    """Return the distinct rows, but for the empty one, that no other row contains."""
    contained = contained_rows(data.offsets, data.codes, stage=stage)
    return np.flatnonzero(~contained & (data.lengths > 0))


def write_pgen(data: Transactions, k: int, path: str | Path, *, stage: Stage = QUIET) -> int:
    """Write the itemsets as a constraint file (``.json`` too, ``-`` for standard output).

    Returns how many there are. What was written is read back before it gets its name.
    """
    check_count("k", k)
    rows = maximal_infrequent(data, k, stage=stage)
    itemsets = [[data.vocabulary[code] for code in data.row(row)] for row in rows]
    layout = data.layout
    sep = layout.sep if layout and layout.format == "basket" else ","
    is_json = str(path).removesuffix(".gz").endswith(".json")
    lines = map(json.dumps, itemsets) if is_json else (_line(itemset, sep) for itemset in itemsets)
    text = "[\n" + ",\n".join(lines) + "\n]\n" if is_json else "".join(f"{x}\n" for x in lines)
    content = pack(path, text.encode())
    if str(path) == "-":
        send(content)
        return len(itemsets)
    with Staging() as staging:
        staged = staging.stage(path)
        staged.write_bytes(content)
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
