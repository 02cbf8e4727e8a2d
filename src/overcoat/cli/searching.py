"""Options of the search."""

from __future__ import annotations

import click

from overcoat.cli.options import FILE, together

__all__ = ["search_options"]

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
            help="With --algorithm search: end about then, instead; the steps done are told.",
        ),
        click.option(
            "--seed", type=int, metavar="SEED", help="With --algorithm search: of its draws."
        ),
        click.option(
            "--cooling",
            type=int,
            metavar="N",
            help="With --algorithm search: over how many steps it cools; repeats a search that was "
            "ended early.",
        ),
    ]
)
