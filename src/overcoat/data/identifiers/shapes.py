"""Shapes of labels: what is left when every digit is a 9 and every letter an a or an A.

Numbers of people, cards and telephones are known by their shapes, and there are far fewer of these
than labels: what looks at labels looks at each shape once.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET, Stage

__all__ = ["Shapes", "loosened", "shape_of"]

_LONGEST = 64  # characters of a label that count: no number of a person is longer
_TOLD = 1 << 14  # labels between two calls of the stage
_RUNS = re.compile(r"([9aAx])\1+")
_RANDOM = re.compile(r"(?=.*[0-9])(?=.*[a-fA-F])[0-9a-fA-F{}-]{32,}")
_HEXADECIMAL = re.compile("[0-9a-fA-F]")
_ASCII = str.maketrans(
    dict.fromkeys(string.digits, "9")
    | dict.fromkeys(string.ascii_lowercase, "a")
    | dict.fromkeys(string.ascii_uppercase, "A")
)


def shape_of(label: str) -> str:
    """Return the shape of a label; of a hash or a UUID every letter and digit is an x.

    >>> shape_of("V45.2"), shape_of("Müller, Ann"), shape_of("0d3e77a1" * 4)[:9]
    ('A99.9', 'Aaaaaa, Aaa', 'xxxxxxxxx')
    """
    label = label[:_LONGEST]
    if len(label) >= 32 and _RANDOM.fullmatch(label):
        return _HEXADECIMAL.sub("x", label)
    if label.isascii():
        return label.translate(_ASCII)
    return "".join(map(_kind, label))


def _kind(character: str) -> str:
    if character.isdecimal():
        return "9"
    if character.isalpha():
        return "A" if character.isupper() else "a"
    return character


def loosened(shape: str) -> str:
    """Return a shape with runs of one kind as one: ``P7`` and ``P103`` are then alike.

    >>> loosened("A999"), loosened("Aaaaaa, Aaa")
    ('A9', 'Aa, Aa')
    """
    return _RUNS.sub(r"\1", shape)


class Shapes:
    """The shapes of some labels, each kept once.

    Attributes
    ----------
    names : the shapes, in the order of the first label that has each
    of : int64, (labels,); the shape of each label, by its place in `names`

    >>> shapes = Shapes.of_labels(["401", "250", "V45"])
    >>> shapes.names, shapes.of.tolist()
    (('999', 'A99'), [0, 0, 1])
    >>> shapes.matching(lambda shape: shape.startswith("A"))
    array([2])
    """

    def __init__(self, names: Sequence[str], of: NDArray[np.int64]) -> None:
        self.names, self.of = tuple(names), of

    @classmethod
    def of_labels(cls, labels: Sequence[str], stage: Stage = QUIET) -> Shapes:
        """Find the shapes of labels."""
        numbers: dict[str, int] = {}
        of = np.empty(len(labels), np.int64)
        for start in range(0, len(labels), _TOLD):
            stage()
            some = labels[start : start + _TOLD]
            of[start : start + len(some)] = [
                numbers.setdefault(shape_of(label), len(numbers)) for label in some
            ]
        return cls(list(numbers), of)

    @cached_property
    def loose(self) -> Shapes:
        """The loosened shapes of the same labels."""
        numbers: dict[str, int] = {}
        became = [numbers.setdefault(loosened(name), len(numbers)) for name in self.names]
        return Shapes(list(numbers), np.array(became, np.int64)[self.of])

    def matching(self, test: Callable[[str], object]) -> NDArray[np.int64]:
        """Return the places of the labels whose shape passes a test, ascending."""
        passed = np.array([bool(test(name)) for name in self.names], bool)
        return np.flatnonzero(passed[self.of])
