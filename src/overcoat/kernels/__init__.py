"""Kernels: arrays in, arrays out, one step each.

`compiled` is what runs; `reference` is its slow, obvious twin with the same classes and methods.
"""

from __future__ import annotations

import warnings
from typing import Literal, get_args

from overcoat.errors import PolicyError
from overcoat.kernels import reference

try:
    from overcoat.kernels import compiled
except ImportError:  # pragma: no cover - the package is normally installed with its kernels
    compiled = None  # type: ignore[assignment]

__all__ = ["Engine", "grouping_class"]

Engine = Literal["compiled", "reference"]


def grouping_class(engine: Engine = "compiled") -> type[reference.Grouping]:
    """Return the `Grouping` of an engine; a warning says when the compiled one is missing."""
    if engine not in get_args(Engine):
        raise PolicyError(f"there is no engine {engine!r}; there are compiled and reference")
    if engine == "compiled" and compiled is None:  # pragma: no cover - see above
        warnings.warn(
            "the compiled kernels are missing, the slow reference kernels run instead; "
            "reinstall Overcoat with a C compiler present",
            RuntimeWarning,
            stacklevel=2,
        )
    if engine == "reference" or compiled is None:
        return reference.Grouping
    return compiled.Grouping
