"""The command `overcoat risk`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from overcoat._version import __version__
from overcoat.cli.help import Command
from overcoat.cli.limits import Limits
from overcoat.cli.options import (
    FILE,
    crowd_option,
    data_options,
    json_option,
    layout_option,
    seed_option,
    talk_options,
)
from overcoat.cli.output import print_json, print_text, say_notes
from overcoat.cli.progress import run_context

if TYPE_CHECKING:
    from overcoat.application import Input

__all__ = ["risk"]


@click.command(cls=Command)
@data_options
@click.argument("released", type=FILE, metavar="[RELEASED]", required=False)
@click.option("--mapping", type=FILE, metavar="MAP.json", help="With RELEASED: its mapping.")
@click.option(
    "--known",
    type=click.IntRange(1, 64),
    default=3,
    show_default=True,
    metavar="M",
    help="Say it for 1, 2, … up to M items that an attacker knows, and for the whole row.",
)
@crowd_option
@click.option(
    "--linkable", type=FILE, metavar="FILE", help="An attacker knows only the items in FILE."
)
@click.option(
    "--also",
    type=FILE,
    multiple=True,
    metavar="RELEASED",
    help="Another release of the same people, with --also-mapping; may be given several times.",
)
@click.option(
    "--also-mapping",
    type=FILE,
    multiple=True,
    metavar="MAP.json",
    help="The mapping of another release of the same people: say what all tell together.",
)
@click.option(
    "--attacks",
    type=click.IntRange(1),
    metavar="N",
    help="Also draw N people, tell an attacker M of their items, and show which rows fit.",
)
@seed_option
@layout_option
@json_option
@talk_options
def risk(
    data: Input,
    released: str | None,
    mapping: str | None,
    known: int,
    k: int,
    linkable: str | None,
    also: tuple[str, ...],
    also_mapping: tuple[str, ...],
    attacks: int | None,
    seed: int,
    to: str | None,
    as_json: bool,
    quiet: bool,
    limits: Limits,
) -> None:
    """Say what an attacker who knows some items of a person can do.

    Without RELEASED for DATA as they are; with it for both, before and after. With further releases
    of the same people (--also-mapping) also for each of these, and for all together.

    \b
    Examples:
      overcoat risk baskets.dat
      overcoat risk baskets.dat released.dat --mapping map.json -k 5 --known 3
      overcoat risk baskets.dat released.dat --mapping map.json --also-mapping earlier.json
    """
    from overcoat import application
    from overcoat.reports.risk import attack_lines, risk_lines

    if (released is None) != (mapping is None):
        raise click.UsageError("RELEASED and --mapping go together")
    if also and len(also) != len(also_mapping):
        raise click.UsageError("give an --also-mapping for each --also, in the same order")
    if also_mapping and released is None:
        raise click.UsageError("--also-mapping needs RELEASED and --mapping, and then others")
    with run_context(limits, quiet=quiet) as context:
        found = application.risk(
            *(data, released, mapping),
            known=known,
            k=k,
            linkable=linkable,
            also=[*zip(also or [None] * len(also_mapping), also_mapping, strict=True)],
            attacks=attacks or 0,
            seed=seed,
            to=to,
            context=context,
        )
    say_notes(found.notes, quiet)
    if as_json:
        more = {} if attacks is None else {"attacks": [asdict(one) for one in found.attacks]}
        print_json({"overcoat": __version__, **found.risk.to_json(), "seed": seed, **more})
    else:
        print_text(risk_lines(found.risk))
        if found.attacks:
            print_text("\n" + attack_lines(found.attacks))
