"""Options of the search."""

from __future__ import annotations

import click

from overcoat.cli.options import FILE, together

__all__ = ["search_options"]


def _steps(text: str) -> int | list[int]:
    """Read a number of steps, or several between commas."""
    try:
        found = [int(one) for one in text.split(",")]
    except ValueError as error:
        why = f"{text!r} is not a whole number, or five or ten of them, N,N,N,N,N"
        raise click.BadParameter(why) from error
    return found[0] if len(found) == 1 else found


search_options = together(
    [
        click.option(
            "--queries",
            type=FILE,
            metavar="FILE",
            help="With --minimise queries: the queries whose errors count, one set of items a "
            "line; '3: a b' counts three times. Or a table with a column `weight`.",
        ),
        click.option(
            "--steps",
            type=int,
            metavar="N",
            help="With --algorithm search: how many steps. Default: 160 an item.",
        ),
        click.option(
            "--seconds",
            type=float,
            metavar="S",
            help="With --algorithm search: be over by then, instead; what was done is told.",
        ),
        click.option(
            "--seed", type=int, metavar="SEED", help="With --algorithm search: of its draws."
        ),
        click.option(
            "--cooling",
            type=_steps,
            metavar="N",
            help="With --algorithm search: over how many steps it cools; or five or ten numbers "
            "(N,N,N,N,N) that the clock planned: steps of stretches, and looks of descents.",
        ),
    ]
)
