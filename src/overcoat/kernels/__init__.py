"""Kernels: arrays in, arrays out, one step each.

`compiled`, `counttree` and `moles` are what runs; `reference` is their slow, obvious twin with the
same names.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from overcoat.errors import PolicyError
from overcoat.kernels import reference
from overcoat.kernels.reference import TooManySetsError

try:
    from overcoat.kernels import compiled, counttree, moles
except ImportError:  # pragma: no cover - the package is normally installed with its kernels
    compiled = counttree = moles = None  # type: ignore[assignment]

__all__ = ["Engine", "TooManySetsError", "count_tree_class", "grouping_class", "mole_finder"]

Engine = Literal["compiled", "reference"]


def grouping_class(engine: Engine = "compiled") -> type[reference.Grouping]:
    """Return the `Grouping` of an engine; a warning says when the compiled one is missing."""
    return compiled.Grouping if _is_compiled(engine) else reference.Grouping


def count_tree_class(engine: Engine = "compiled") -> type[reference.CountTree]:
    """Return the `CountTree` of an engine; a warning says when the compiled one is missing."""
    return counttree.CountTree if _is_compiled(engine) else reference.CountTree


def mole_finder(engine: Engine = "compiled") -> Callable[..., list[NDArray[np.int32]]]:
    """Return the `find_moles` of an engine, likewise."""
    return moles.find_moles if _is_compiled(engine) else reference.find_moles


def _is_compiled(engine: Engine) -> bool:
    if engine not in get_args(Engine):
        raise PolicyError(f"there is no engine {engine!r}; there are compiled and reference")
    if engine == "compiled" and compiled is None:  # pragma: no cover - see above
        warnings.warn(
            "the compiled kernels are missing, the slow reference kernels run instead; "
            "reinstall Overcoat with a C compiler present",
            RuntimeWarning,
            stacklevel=3,
        )
    return engine == "compiled" and compiled is not None
