"""What a notebook shows of transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from overcoat.html import card, table

if TYPE_CHECKING:
    from overcoat.data.transactions import Transactions

__all__ = ["transactions_html"]

_SHOWN = 5  # rows, and items
_LONG = 12  # items of a row


def transactions_html(data: Transactions) -> str:
    """Return the size of the data, the first rows and the most frequent items."""
    lengths, counts = data.lengths, data.counts
    people = max(data.n_transactions, 1)
    mean = float(lengths.astype(float) @ counts.astype(float)) / people
    size = table(
        [
            ("transactions", data.n_transactions),
            ("distinct", data.n_distinct),
            ("items", data.n_items),
            ("items a transaction, mean", f"{mean:.2f}"),
            ("items a transaction, most", int(lengths.max(initial=0))),
        ]
    )
    labels = data.vocabulary.labels
    rows = [
        (_listed([labels[code] for code in data.row(row)[: _LONG + 1]], int(lengths[row])), count)
        for row, count in enumerate(counts[:_SHOWN].tolist())
    ]
    frequent = np.argsort(-data.supports, kind="stable")[:_SHOWN].tolist()
    supports = [(labels[code], int(data.supports[code])) for code in frequent]
    return card(
        "Transactions",
        size
        + table(rows, header=("row", "transactions"), caption="first rows")
        + table(supports, header=("item", "transactions"), caption="most frequent items"),
    )


def _listed(labels: list[str], n_items: int) -> str:
    shown = [label if len(label) <= 30 else label[:29] + "…" for label in labels[:_LONG]]
    if n_items > _LONG:
        shown.append(f"… {n_items - _LONG:,} more")
    return ", ".join(shown) or "(none)"
