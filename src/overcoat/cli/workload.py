"""Options that say which queries are asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import click

from overcoat.cli.options import FILE, seed_option, together

__all__ = ["workload_options"]

F = TypeVar("F", bound=Callable[..., Any])


def _sizes(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> list[int] | None:
    if value is None:
        return None
    try:
        return [int(size) for size in value.split(",")]
    except ValueError:
        raise click.BadParameter(f"expected sizes such as 1,2,3, not {value!r}") from None


_workload_options = together(
    [
        click.option(
            "--queries",
            type=FILE,
            metavar="FILE",
            help="Ask these queries, one set of items a line, instead of drawing some.",
        ),
        click.option(
            "--q",
            "sizes",
            callback=_sizes,
            metavar="SIZES",
            help="Draw queries of so many items. Default: 1,2,3, as far as transactions have them.",
        ),
        click.option(
            "--n-queries",
            type=click.IntRange(1),
            default=1000,
            show_default=True,
            metavar="N",
            help="How many queries to draw of each size.",
        ),
        seed_option,
        click.option(
            "--among",
            type=click.Choice(["all", "generalized"]),
            default="all",
            show_default=True,
            help="Draw queries over all items, or over those in groups of two or more.",
        ),
        click.option(
            "--by",
            type=click.Choice(["items", "occurrences"]),
            default="items",
            show_default=True,
            help="Draw rare and common items alike, or items as often as they occur.",
        ),
    ]
)


def workload_options(function: F) -> F:
    """Add the options that say which queries are asked; the command gets `Questions`."""

    @wraps(function)
    def gathered(
        queries: str | None,
        sizes: list[int] | None,
        n_queries: int,
        seed: int,
        among: str,
        by: str,
        **others: Any,
    ) -> Any:
        from overcoat.application import Questions

        questions = Questions(queries, sizes, n_queries, seed, among, by)
        return function(questions=questions, **others)

    return _workload_options(cast(F, gathered))
