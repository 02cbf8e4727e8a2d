"""What of the machine a command may use."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, cast

import click

from overcoat.context import Context

__all__ = ["Limits", "limit_options"]

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Limits:
    """What of the machine may be used; None is what there is."""

    threads: int | None = None
    memory: int | None = None
    temporary: str | None = None

    def context(self, **others: Any) -> Context:
        """Return a context that keeps to them."""
        from overcoat.data.memory import StagePeaks, limit_polars

        if self.threads is not None:
            limit_polars(self.threads)
            others["threads"] = self.threads
        return Context(memory=self.memory, temporary=self.temporary, peaks=StagePeaks(), **others)


def _bytes(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """Read a size of memory: 800M, 8G."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([KMGT]?)(?:I?B)?", (value or "").strip().upper())
    if value is None:
        return None
    if found is None:
        raise click.BadParameter(f"expected a size such as 800M or 8G, not {value!r}")
    return int(float(found[1]) * 1024 ** " KMGT".index(found[2] or " "))


_OPTIONS = [
    click.option(
        "--threads",
        type=click.IntRange(1),
        metavar="N",
        help="How many to use; the result is the same. Default: one a core.",
    ),
    click.option(
        "--memory",
        callback=_bytes,
        metavar="SIZE",
        help="How much to use, such as 800M or 8G. Default: what the machine has.",
    ),
    click.option(
        "--temporary",
        type=click.Path(),
        metavar="DIR",
        help="Where tables larger than that are sorted; removed at the end. Default: TMPDIR.",
    ),
]


def limit_options(function: F) -> F:
    """Add the options that say what of the machine is used; the command gets `limits`."""

    @wraps(function)
    def gathered(
        threads: int | None, memory: int | None, temporary: str | None, **others: Any
    ) -> Any:
        return function(limits=Limits(threads, memory, temporary), **others)

    decorated = cast(F, gathered)
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated
