"""The command that makes a report from the files of a release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from overcoat._version import __version__
from overcoat.cli.help import Command
from overcoat.cli.limits import Limits
from overcoat.cli.options import (
    FILE,
    json_option,
    layout_option,
    policy_options,
    reading_options,
    start_option,
    state,
    talk_options,
)
from overcoat.cli.output import check_standard_output, print_json, say_notes, say_unless_quiet
from overcoat.cli.papers import describe_option
from overcoat.cli.progress import run_context
from overcoat.cli.searching import search_options
from overcoat.errors import problem_lines

if TYPE_CHECKING:
    from overcoat.application import Input

__all__ = ["report"]


@click.command(cls=Command)
@click.argument("data", type=FILE, metavar="RELEASED")
@reading_options
@click.option("--mapping", required=True, type=FILE, metavar="MAP.json", help="Its mapping.")
@click.option(
    "--data",
    "original",
    type=FILE,
    metavar="DATA",
    help="The original: makes the internal edition. Columns and separators are then those of DATA.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=FILE,
    metavar="R.html",
    help="Where to write the report; - for standard output.",
)
@describe_option
@policy_options
@search_options
@start_option
@layout_option
@json_option
@talk_options
def report(
    data: Input,
    mapping: str,
    original: str | None,
    output: str,
    describe: str | None,
    start: str | None,
    to: str | None,
    as_json: bool,
    quiet: bool,
    limits: Limits,
    **settings: Any,
) -> None:
    """Make the report on a release from its files.

    Without --data it is the external edition: made of the release, its mapping and the policy
    alone, the same bytes that `anonymize --external-report` writes. With --data it is the internal
    edition, which has figures of the original; the method is run again, so that it can say why
    groups were made. For the policy a certificate will do.

    \b
    Examples:
      overcoat report released.dat --mapping map.json -k 5 --km 2 -o external.html
      overcoat report released.dat --mapping map.json --policy public.json -o external.html
      overcoat report released.dat --mapping map.json -k 5 --km 2 --data baskets.dat
          -o internal.html
    """
    from overcoat import application

    check_standard_output(output, as_json=as_json)
    policy = settings.get("policy")
    certificate = policy if policy is not None and policy.endswith(".json") else None
    if certificate is not None and any(
        value not in (None, ()) for name, value in settings.items() if name != "policy"
    ):
        raise click.UsageError("the policy of a certificate stands alone: leave out other options")
    with run_context(limits, quiet=quiet) as context:
        done = application.report(
            *(data, mapping, None if certificate else state(data, **settings), output),
            data=original,
            policy=certificate,
            describe=describe,
            start=start,
            to=to,
            context=context,
        )
    notes = say_notes(problem_lines(done.notes), quiet)
    if as_json:
        told = {"edition": done.edition, "verified": done.verdict.ok, "report": output}
        print_json({"overcoat": __version__, **told, "notes": notes})
    elif output != "-":
        say_unless_quiet(f"{done.edition} edition written to {output}", quiet)
