"""Released rows against the original ones, each item replaced by its label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from overcoat.data.transactions import Transactions
from overcoat.data.vocabulary import item_order
from overcoat.mapping import Mapping

__all__ = ["differing_rows"]


def differing_rows(
    data: Transactions, released: Transactions, mapping: Mapping
) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """Yield the rows that are not released as often as the data give them.

    Returns
    -------
    What is wrong, in words, the row and how often it is released; in item order

    >>> data = Transactions.of([{"a"}, {"a", "b"}])
    >>> mapping = Mapping.of("ab", [["a", "b"]])
    >>> for message, _, _ in differing_rows(data, Transactions.of([{"(a|b)"}]), mapping):
    ...     print(message)
    the row {(a|b)} is released once, the data give it 2 times
    """
    label_of = {item: label for label, group in mapping.groups.items() for item in group}
    wanted = Counter[frozenset[str]]()
    for items, count in data:
        wanted[frozenset(label_of[item] for item in items if item in label_of)] += count
    there = {frozenset(labels): count for labels, count in released}
    for row in sorted({*wanted, *there}, key=item_order):
        if wanted.get(row, 0) == there.get(row, 0):
            continue
        shown = tuple(item_order(row))
        message = (
            f"the row {{{', '.join(shown)}}} is released {_times(there.get(row, 0))}, "
            f"the data give it {_times(wanted.get(row, 0))}"
        )
        yield message, shown, there.get(row, 0)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
