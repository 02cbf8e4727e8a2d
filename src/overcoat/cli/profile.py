"""The command `overcoat profile`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from overcoat._version import __version__
from overcoat.cli.help import Command
from overcoat.cli.limits import Limits
from overcoat.cli.options import crowd_option, data_options, json_option, talk_options
from overcoat.cli.output import print_json, print_text
from overcoat.cli.progress import run_context

if TYPE_CHECKING:
    from overcoat.application import Input

__all__ = ["profile"]


@click.command(cls=Command)
@data_options
@crowd_option
@json_option
@talk_options
def profile(data: Input, k: int, as_json: bool, quiet: bool, limits: Limits) -> None:
    """Say what is in DATA, how identifying it is, and what is suspicious about it.

    Changes and writes nothing. What it prints is about the original: not for publication.

    \b
    Examples:
      overcoat profile baskets.dat
      overcoat profile patients.csv --id patient --item code -k 10
    """
    from overcoat import application

    with run_context(limits, quiet=quiet) as context:
        found = application.profile(data, k=k, context=context)
    if as_json:
        print_json({"overcoat": __version__, **found.to_json()})
    else:
        print_text(str(found))
