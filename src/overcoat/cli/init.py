"""The command `overcoat init`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from overcoat._version import __version__
from overcoat.cli.help import Command
from overcoat.cli.limits import Limits
from overcoat.cli.options import FILE, data_options, json_option, talk_options
from overcoat.cli.output import check_standard_output, print_json, say_unless_quiet
from overcoat.cli.progress import run_context
from overcoat.errors import OvercoatError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from overcoat.advice.profile import Profile
    from overcoat.application import Input

    TryOut = Callable[[Mapping[str, Any]], None]

__all__ = ["init"]

_DEFAULT = "policy.toml"


@click.command(cls=Command)
@data_options
@click.option(
    "-k",
    "k",
    type=click.IntRange(2),
    metavar="K",
    help="The crowd: what is known of a person fits at least K people, or nobody. Default: 5.",
)
@click.option(
    "--km",
    type=click.IntRange(1),
    metavar="M",
    help="The known items: an attacker may know up to M items of a person. Default: 2.",
)
@click.option(
    "-s",
    "--max-suppressed",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="The share that may be left out: percent of the items. Default: 0.5.",
)
@click.option("--hierarchy", type=FILE, metavar="FILE", help="Which items are near each other.")
@click.option(
    "--utility", type=FILE, metavar="FILE", help="Sets of items whose counts are to stay exact."
)
@click.option(
    "--utility-level",
    metavar="LEVEL",
    help="The sets are the nodes of --hierarchy at this level.",
)
@click.option(
    "-o",
    "--output",
    type=FILE,
    metavar="FILE.toml",
    help=f"Where to write the policy, replacing what is there; - for standard output. Default: "
    f"{_DEFAULT}, which must not exist.",
)
@json_option
@talk_options
def init(
    data: Input,
    k: int | None,
    km: int | None,
    max_suppressed: float | None,
    hierarchy: str | None,
    utility: str | None,
    utility_level: str | None,
    output: str | None,
    as_json: bool,
    quiet: bool,
    limits: Limits,
) -> None:
    """Look at DATA and write a policy for it that is known to be met.

    On a terminal it says what is in DATA, and asks what no option says, five questions at most;
    otherwise it takes the defaults. The policy was run and verified; its comments tell its risk and
    its cost. Where what is asked for cannot be met, utility sets are given up or joined, and the
    comments say so.

    \b
    Examples:
      overcoat init baskets.dat -o start.toml
      overcoat init patients.csv --id patient --item code -k 5 --km 2 --hierarchy icd9.csv
          --utility disorders.txt -o policy.toml
    """
    from overcoat import application

    check_standard_output(output, as_json=as_json)
    said: dict[str, Any] = {
        "k": k,
        "m": km,
        "hierarchy": hierarchy,
        "utility": utility,
        "utility_level": utility_level,
        "max_suppressed": max_suppressed,
    }
    application.check_draft(output or _DEFAULT, named=output is not None)
    ask = None
    if sys.stdin.isatty() and sys.stderr.isatty() and data.source != "-":
        ask = partial(_ask, said, quiet)
    with run_context(limits, quiet=quiet) as context:
        found, text = application.init(data, said, output or _DEFAULT, ask=ask, context=context)
    if as_json:
        print_json({"overcoat": __version__, **found, "output": output or _DEFAULT})
        return
    if output != "-":
        facts = [line[2:] for line in text.split("\n\n")[0].splitlines() if line != "#"]
        say_unless_quiet("\n".join([*facts, f"written to {output or _DEFAULT}"]), quiet)


def _ask(said: dict[str, Any], quiet: bool, seen: Profile, try_out: TryOut) -> dict[str, Any]:
    """Ask what was not said; an empty answer takes the default, a wrong one is asked for again."""
    asked = dict(said)
    try_out(asked)
    if None in asked.values():
        say_unless_quiet(f"{seen}\n", quiet)

    def ask(text: str, parse: Callable[[str], Any], default: str = "") -> Any:
        return click.prompt(
            text, default=default, value_proc=parse, show_default=bool(default), err=True
        )

    def tried(answer: str) -> dict[str, str | None]:
        answer = answer.strip().strip("'\"")
        name = question
        if name == "utility" and asked["hierarchy"] and answer.isdecimal():
            name = "utility_level"
        try:
            try_out(asked | {name: answer or None})
        except OvercoatError as error:
            raise click.UsageError(str(error)) from None
        return {name: answer or None}

    if said["k"] is None:
        asked["k"] = ask("How many people make a crowd (k)?", _whole(2), "5")
    if said["m"] is None:
        text = "How many items of a person may an attacker know (m)?"
        asked["m"] = ask(text, _whole(1), "2")
    if said["hierarchy"] is None:
        question = "hierarchy"
        asked |= ask("A hierarchy of the items, if you have one (a file)?", tried)
    if said["utility"] is None and said["utility_level"] is None:
        question = "utility"
        level = " or a level of the hierarchy" if asked["hierarchy"] else ""
        asked |= ask(f"Sets whose counts are to stay exact, if any (a file{level})?", tried)
    if said["max_suppressed"] is None:
        text = "How many percent of the items may be left out (s)?"
        asked["max_suppressed"] = ask(text, _percent, "0.5")
    return asked


def _whole(least: int) -> Callable[[str], int]:
    def parse(answer: str) -> int:
        if not answer.strip().isdecimal() or int(answer) < least:
            raise click.UsageError(f"a whole number is needed here, {least} or more")
        return int(answer)

    return parse


def _percent(answer: str) -> float:
    with suppress(ValueError):
        value = float(answer.replace(",", ".").removesuffix("%"))
        if 0 <= value <= 100:
            return value
    raise click.UsageError("a number from 0 to 100 is needed here, such as 0.5")
