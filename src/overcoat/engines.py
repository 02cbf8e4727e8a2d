"""Engines: every compiled part has a slow twin in Python, and this is where one of them is chosen.

``compiled`` is what runs. ``reference`` runs when it is asked for: for the kernels of one piece of
work by `Context`, for all parts of the process by the environment variable ``OVERCOAT_ENGINE``.
Where a compiled part is missing its twin takes over, and a warning says so: never in silence.
"""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from typing import Any, Literal, get_args

from overcoat.errors import PolicyError

__all__ = ["Engine", "chosen_engine", "load"]

Engine = Literal["compiled", "reference"]

VARIABLE = "OVERCOAT_ENGINE"


def chosen_engine(engine: Any = None) -> Engine:
    """Return the engine that was asked for; None is that of the process.

    >>> chosen_engine("reference")
    'reference'
    """
    asked = engine or os.environ.get(VARIABLE) or "compiled"
    for known in get_args(Engine):
        if asked == known:
            return known  # type: ignore[no-any-return]
    where = "" if engine else f"{VARIABLE}: "
    known_ones = " and ".join(get_args(Engine))
    raise PolicyError(f"{where}there is no engine {asked!r}; there are {known_ones}")


def load(compiled: str, reference: str, engine: Any = None) -> Any:
    """Return the module `compiled`, or its twin `reference` if that is asked for, or all there is.

    >>> load("overcoat.data.rows", "overcoat.data.reference", "reference").__name__
    'overcoat.data.reference'
    """
    if chosen_engine(engine) == "compiled":
        try:
            return import_module(compiled)
        except ImportError as error:
            warnings.warn(
                f"{compiled} is not compiled ({error}); its slow twin runs instead: reinstall "
                "Overcoat with a C compiler present",
                RuntimeWarning,
                stacklevel=2,
            )
    return import_module(reference)
