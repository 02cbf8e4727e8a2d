"""Kernels: arrays in, arrays out, one step each.

`grouping`, `counttree` and `moles` are what runs; `reference` is their slow, obvious twin with the
same names. `finding` and `repairing` have readable twins of their own, `finders` and `repairs`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from overcoat.engines import Engine, load
from overcoat.kernels import finders, moves, reference, repairs
from overcoat.kernels.reference import TooManySetsError

__all__ = [
    "TooManySetsError",
    "annealing_class",
    "count_tree_class",
    "finder_class",
    "grouping_class",
    "mole_finder",
    "repairer",
]

_TWIN = "overcoat.kernels.reference"


def grouping_class(engine: Engine | None = None) -> type[reference.Grouping]:
    """Return the `Grouping` of an engine."""
    found: type[reference.Grouping] = load("overcoat.kernels.grouping", _TWIN, engine).Grouping
    return found


def finder_class(engine: Engine | None = None) -> type[finders.SetFinder]:
    """Return the `SetFinder` of an engine."""
    found: type[finders.SetFinder] = load(
        "overcoat.kernels.finding", "overcoat.kernels.finders", engine
    ).SetFinder
    return found


def repairer(engine: Engine | None = None) -> Callable[..., list[repairs.Change]]:
    """Return the `repair` of an engine."""
    found: Callable[..., list[repairs.Change]] = load(
        "overcoat.kernels.repairing", "overcoat.kernels.repairs", engine
    ).repair
    return found


def annealing_class(engine: Engine | None = None) -> type[moves.Annealing]:
    """Return the `Annealing` of an engine."""
    found: type[moves.Annealing] = load(
        "overcoat.kernels.annealing", "overcoat.kernels.moves", engine
    ).Annealing
    return found


def count_tree_class(engine: Engine | None = None) -> type[reference.CountTree]:
    """Return the `CountTree` of an engine."""
    found: type[reference.CountTree] = load("overcoat.kernels.counttree", _TWIN, engine).CountTree
    return found


def mole_finder(engine: Engine | None = None) -> Callable[..., list[NDArray[np.int32]]]:
    """Return the `find_moles` of an engine."""
    found: Callable[..., list[NDArray[np.int32]]] = load(
        "overcoat.kernels.moles", _TWIN, engine
    ).find_moles
    return found
