"""Weights w(group): how much it hurts to make these items indistinguishable.

Three kinds: from a hierarchy (or uniform), from a table of item-to-item distances, from a callable.
Weights are compared exactly, so each is an integer over a common denominator: leaf counts over M
for hierarchies; the user's numbers are taken to the nearest multiple of 2^-30 (about 1e-9).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overcoat.data.io.text import read_lines, split_fields
from overcoat.data.vocabulary import Vocabulary
from overcoat.errors import InputError, PolicyError, Problem
from overcoat.policy.binding import Lint
from overcoat.policy.hierarchy import Tree
from overcoat.words import count_of, listed

__all__ = ["CallableWeights", "DistanceWeights", "Distances", "TreeWeights", "Weights"]

RESOLUTION = 1 << 30


class Weights:
    """Weights over the codes of one domain: integers over `denominator`.

    `tree` is set where the weight is that of a closest common ancestor: kernels then compute it.
    """

    denominator: int = 1
    tree: Tree | None = None

    def weight(self, items: NDArray[np.int32]) -> int:
        """Return the numerator of the weight of a group of two or more items."""
        raise TypeError(f"{type(self).__name__} does not weigh groups")

    def unions(
        self, group: NDArray[np.int32], others: Iterable[NDArray[np.int32]]
    ) -> NDArray[np.int64]:
        """Return the numerators of the weights of `group` united with each of `others`."""
        return np.array([self.weight(np.concatenate([group, o])) for o in others], np.int64)


class TreeWeights(Weights):
    """Weight of the closest common ancestor; `tree` is what the kernels work on."""

    tree: Tree

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.denominator = tree.denominator

    def weight(self, items: NDArray[np.int32]) -> int:
        """Return the numerator at the closest common ancestor of `items`."""
        parent = self.tree.parent
        common = int(items[0])
        path = [common]
        while (common := int(parent[common])) >= 0:
            path.append(common)
        # Nodes are numbered children first, so along a path the numbers rise: the closest common
        # ancestor is the first node of the first item's path that every other item reaches.
        lowest = 0
        position = {node: index for index, node in enumerate(path)}
        for item in items[1:].tolist():
            node = item
            while node not in position:
                node = int(parent[node])
            lowest = max(lowest, position[node])
        return int(self.tree.weight[path[lowest]])


class Distances:
    """A table of distances between items, in [0, 1]; w(group) is the largest within the group.

    Pairs that the table does not name are at `default` (1: as far apart as can be).

    >>> table = Distances({("a", "b"): 0.25})
    >>> table.default
    1.0
    """

    def __init__(
        self,
        pairs: Mapping[tuple[str, str], float],
        *,
        default: float = 1.0,
        file: str | None = None,
    ) -> None:
        if not isinstance(pairs, Mapping) or not all(
            isinstance(pair, tuple) and len(pair) == 2 for pair in pairs
        ):
            raise PolicyError("distances are a mapping from pairs of items to numbers")
        self.pairs = {
            pair: _numerator(value, f"the distance of {pair}") for pair, value in pairs.items()
        }
        for (one, other), value in self.pairs.items():
            if self.pairs.get((other, one), value) != value:
                raise PolicyError(f"{one!r} and {other!r} have two distances")
        self.default = default
        self._default = _numerator(default, "the default distance")
        self.file = file

    @classmethod
    def read(cls, path: str | Path, *, sep: str = ",", default: float = 1.0) -> Distances:
        """Read a file with ``item,item,distance`` on each line; ``#`` starts a comment line."""
        pairs: dict[tuple[str, str], float] = {}
        problems: list[Problem] = []
        for number, line in read_lines(path, error=PolicyError):
            try:
                one, other, text = split_fields(line, sep)
                distance = float(text)
                _numerator(distance, "a distance")
            except InputError as error:
                problems.append(
                    Problem(
                        *(error.problems[0].message, str(path), number),
                        "lines have no distance from 0 to 1",
                    )
                )
                continue
            except ValueError:
                problems.append(
                    Problem(
                        *("expected item, item, distance", str(path), number),
                        "lines are not item, item, distance",
                    )
                )
                continue
            if pairs.setdefault((min(one, other), max(one, other)), distance) != distance:
                message = f"the distance of {one!r} and {other!r} was given before, as another"
                problems.append(
                    Problem(
                        *(message, str(path), number),
                        *("distances were given before, as others", f"{one!r} and {other!r}"),
                    )
                )
        if problems:
            raise PolicyError(problems)
        return cls(pairs, default=default, file=str(path))

    def to_json(self) -> dict[str, Any]:
        """Return the table as plain values, each pair once, exactly as it is compared."""
        pairs = {tuple(sorted(pair)): value for pair, value in self.pairs.items()}
        return {
            "distances": [[*pair, pairs[pair]] for pair in sorted(pairs)],
            "default": self._default,
            "of": RESOLUTION,
        }

    @classmethod
    def from_json(cls, content: Any) -> Distances:
        """Build from what `to_json` returned."""
        pairs = {(a, b): value / RESOLUTION for a, b, value in content["distances"]}
        return cls(pairs, default=content["default"] / RESOLUTION)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Distances) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((len(self.pairs), self._default))

    def __repr__(self) -> str:
        return f"Distances({len(self.pairs)} pairs, default={self.default})"

    def bind(self, vocabulary: Vocabulary, lint: Lint) -> DistanceWeights:
        """Return the weights over the codes of `vocabulary`; pairs with absent items drop out."""
        absent = {item: None for pair in self.pairs for item in pair if item not in vocabulary}
        if absent:
            what = f"{count_of(len(absent), 'item')} of {self.file or 'the distances'}"
            lint.note(f"{what} not in the data: {listed(list(absent))}")
        size = len(vocabulary)
        matrix = np.full((size, size), self._default, np.int32)  # numerators are at most 2^30
        for (one, other), value in self.pairs.items():
            a, b = vocabulary.get(one), vocabulary.get(other)
            if a is not None and b is not None:
                matrix[a, b] = matrix[b, a] = value
        np.fill_diagonal(matrix, 0)
        return DistanceWeights(matrix)


class DistanceWeights(Weights):
    """The largest distance between two items of the group."""

    denominator = RESOLUTION

    def __init__(self, matrix: NDArray[np.int32]) -> None:
        self.matrix = matrix

    def weight(self, items: NDArray[np.int32]) -> int:
        """Return the largest distance among `items`."""
        return int(self.matrix[np.ix_(items, items)].max())


class CallableWeights(Weights):
    """What the user's function says of a frozenset of items."""

    denominator = RESOLUTION

    def __init__(self, function: Callable[[frozenset[str]], float], vocabulary: Vocabulary) -> None:
        self.function = function
        self.vocabulary = vocabulary
        self._known: dict[frozenset[str], int] = {}

    def weight(self, items: NDArray[np.int32]) -> int:
        """Return the function's answer for `items`; each group is asked once."""
        group = frozenset(self.vocabulary[code] for code in items.tolist())
        if group not in self._known:
            self._known[group] = _numerator(self.function(group), f"weight of {set(group)}")
        return self._known[group]


def _numerator(value: float, what: str) -> int:
    try:
        inside = 0 <= value <= 1
    except TypeError:
        inside = False
    if not inside:
        raise PolicyError(f"{what} must be a number from 0 to 1, not {value!r}")
    return round(float(value) * RESOLUTION)
