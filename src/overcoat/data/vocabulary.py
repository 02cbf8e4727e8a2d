"""Labels and codes: the only place where they meet.

Inside Overcoat an item is an int32 code. Codes follow *item order*, so that comparing codes is
comparing items: numbers by value when every item is an integer written canonically, otherwise
by code point.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from overcoat.errors import DataError

__all__ = ["Vocabulary", "check_label", "item_order"]

_CANONICAL_INTEGER = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)


def item_order(labels: Iterable[str]) -> list[str]:
    """Return the distinct `labels` in item order.

    >>> item_order(["10", "9", "-3", "9"])
    ['-3', '9', '10']
    >>> item_order(["10", "9", "038"])  # a leading zero: these are names, not numbers
    ['038', '10', '9']
    """
    distinct = set(labels)
    if all(_CANONICAL_INTEGER.fullmatch(label) for label in distinct):
        # By sign, then length, then digits: the order of the values without building integers,
        # which Python refuses to do beyond some thousands of digits.
        negative = [label for label in distinct if label.startswith("-")]
        rest = [label for label in distinct if not label.startswith("-")]
        return [
            *sorted(negative, key=lambda label: (len(label), label), reverse=True),
            *sorted(rest, key=lambda label: (len(label), label)),
        ]
    return sorted(distinct)


class Vocabulary(Sequence[str]):
    """The items of the domain, immutable, in item order; the code of an item is its position.

    >>> vocabulary = Vocabulary(["b", "a", "b"])
    >>> list(vocabulary), vocabulary.code("b"), vocabulary[0]
    (['a', 'b'], 1, 'a')
    """

    __slots__ = ("__dict__", "labels")

    labels: tuple[str, ...]

    def __init__(self, labels: Iterable[str]) -> None:
        self.labels = tuple(item_order(labels))

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {label: code for code, label in enumerate(self.labels)}

    def code(self, label: str) -> int:
        """Return the code of `label`; KeyError when it is not an item of the domain."""
        return self._codes[label]

    def get(self, label: str) -> int | None:
        """Return the code of `label`, or None."""
        return self._codes.get(label)

    def __getitem__(self, code):  # type: ignore[no-untyped-def]
        return self.labels[code]

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)

    def __contains__(self, label: object) -> bool:
        return label in self._codes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.labels == other.labels

    def __hash__(self) -> int:
        return hash(self.labels)

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} items)"


def check_label(label: Any) -> str:
    """Return `label` if it can be an item, else raise a DataError that says why not."""
    if not isinstance(label, str):
        raise DataError(f"item {label!r} is not a string; items are strings, always")
    if not label:
        raise DataError("an item cannot be the empty string")
    try:
        label.encode("utf-8")
    except UnicodeEncodeError:
        raise DataError(f"item {label!r} is not valid Unicode (a lone surrogate)") from None
    return label
