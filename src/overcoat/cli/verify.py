"""The command that checks a release, and that it is the one of a certificate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from overcoat.cli.help import Command
from overcoat.cli.limits import Limits
from overcoat.cli.options import (
    FILE,
    data_options,
    json_option,
    layout_option,
    policy_options,
    state,
    talk_options,
)
from overcoat.cli.output import print_json, say_notes, say_unless_quiet
from overcoat.cli.progress import run_context
from overcoat.errors import problem_lines

if TYPE_CHECKING:
    from overcoat.application import Checked, Input

__all__ = ["verify"]

_PROTECTING = {"privacy", "km", "linkable", "private", "h", "pgen", "policy"}


@click.command(cls=Command)
@data_options
@click.argument("released", type=FILE, metavar="RELEASED", required=False)
@click.option("--mapping", required=True, type=FILE, metavar="MAP.json", help="Its mapping.")
@click.option(
    "--certificate",
    type=FILE,
    metavar="C.json",
    help="Also check that these are the files of this certificate, and that what it says is true. "
    "Its policy is taken where none is given.",
)
@click.option(
    "--salt",
    type=FILE,
    metavar="FILE",
    help="The secret by which a public certificate names the input.",
)
@policy_options
@layout_option
@json_option
@talk_options
def verify(
    data: Input,
    released: str | None,
    mapping: str,
    certificate: str | None,
    salt: str | None,
    to: str | None,
    as_json: bool,
    quiet: bool,
    limits: Limits,
    **settings: Any,
) -> int:
    """Say whether a release satisfies its policy; list every violation.

    Checks that RELEASED is DATA under the mapping, that every protected itemset matches at least k
    people or nobody, that no group reaches across utility sets, and that no more than s percent of
    the items are suppressed. Without DATA everything but the first is checked, as anyone can who
    has what was published.

    \b
    Examples:
      overcoat verify baskets.dat released.dat --mapping map.json -k 5 --km 2
      overcoat verify baskets.dat released.dat --mapping map.json --certificate cert.json
      overcoat verify released.dat --mapping map.json --certificate public.json
    """
    from overcoat import application
    from overcoat.reports.json import failed_to_json, verdict_to_json
    from overcoat.reports.text import verdict_lines

    if salt is not None and certificate is None:
        raise click.UsageError("--salt is for the digest of the input in a public --certificate")
    original = data if released is not None else None
    published = data if released is None else replace(data, source=released)
    with run_context(limits, quiet=quiet) as context:
        given = {name for name, value in settings.items() if value not in (None, ())}
        statement = None
        if given or certificate is None:
            # What protects nothing by itself stands beside what the certificate protects.
            beside = certificate is not None and not given & _PROTECTING
            statement = state(data, cost_only=beside, **settings)
        found = application.verify(
            *(original, published, mapping, statement),
            to=to,
            certificate=certificate,
            salt=salt,
            context=context,
        )
    notes = say_notes(problem_lines(found.notes), quiet)
    if as_json:
        told = verdict_to_json if found.ok else failed_to_json
        more: dict[str, Any] = {"k": found.k, "notes": notes}
        if found.certified:
            more |= {"certificate": certificate, "differences": list(found.differences)}
        print_json(told(found.verdict, **more))
    else:
        lines = verdict_lines(found.verdict, found.k)
        say_unless_quiet(lines + _certified(found), quiet and found.ok)
    return 0 if found.ok else 4


def _certified(found: Checked) -> str:
    """Say whether the files are the certified ones, and where not."""
    if not found.certified:
        return ""
    if not found.differences:
        told = "yes: these are its files, and what it says of them is true"
        return f"\ncertified   {told}" if found.verdict.ok else ""
    lines = [f"  {line}" for line in found.differences]
    return "\n".join(["\ncertified   NO: what was found differs from the certificate", *lines])
