"""Released rows against the original ones, each item replaced by its label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from overcoat.context import QUIET
from overcoat.data.transactions import Transactions
from overcoat.data.vocabulary import item_order
from overcoat.mapping import Mapping
from overcoat.verification.reference import Tell

__all__ = ["differing_rows"]


def differing_rows(
    data: Transactions, released: Transactions, mapping: Mapping, stage: Tell = QUIET
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
        stage(0, 0)
        wanted[frozenset(label_of[item] for item in items if item in label_of)] += count
    there: dict[frozenset[str], int] = {}
    for labels, count in released:
        stage(0, 0)
        there[frozenset(labels)] = count
    differing = [row for row in {*wanted, *there} if wanted.get(row, 0) != there.get(row, 0)]

    def order(row: frozenset[str]) -> list[str]:
        stage(0, 0)
        return item_order(row)

    for row in sorted(differing, key=order):
        shown = tuple(item_order(row))
        message = (
            f"the row {{{', '.join(shown)}}} is released {_times(there.get(row, 0))}, "
            f"the data give it {_times(wanted.get(row, 0))}"
        )
        yield message, shown, there.get(row, 0)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
