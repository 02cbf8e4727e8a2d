"""Anonymization methods: one file each, all with the signature of `coat.coat`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overcoat.algorithms.coat import coat
from overcoat.algorithms.outcome import Outcome
from overcoat.errors import PolicyError

__all__ = ["ALGORITHMS", "get_algorithm"]

ALGORITHMS: dict[str, Callable[..., Outcome]] = {"coat": coat}


def get_algorithm(name: Any) -> Callable[..., Outcome]:
    """Return the algorithm of that name."""
    try:
        return ALGORITHMS[name]
    except KeyError:
        raise PolicyError(
            f"there is no algorithm {name!r}; there is {', '.join(sorted(ALGORITHMS))}"
        ) from None
