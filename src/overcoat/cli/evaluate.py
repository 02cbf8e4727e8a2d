"""The command `overcoat evaluate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from overcoat.cli.help import Command
from overcoat.cli.limits import Limits
from overcoat.cli.options import (
    FILE,
    cost_options,
    data_options,
    json_option,
    layout_option,
    state,
    talk_options,
)
from overcoat.cli.output import check_standard_output, print_json, say_notes, say_unless_quiet
from overcoat.cli.progress import run_context
from overcoat.cli.workload import workload_options
from overcoat.errors import problem_lines

if TYPE_CHECKING:
    from overcoat.application import Input, Questions
    from overcoat.evaluation import Evaluation

__all__ = ["evaluate"]


@click.command(cls=Command)
@data_options
@click.argument("released", type=FILE, metavar="RELEASED")
@click.option("--mapping", required=True, type=FILE, metavar="MAP.json", help="Its mapping.")
@cost_options
@workload_options
@click.option(
    "--min-support",
    type=float,
    metavar="PERCENT",
    help="Say which itemsets held by that many percent of the transactions survive, too.",
)
@click.option(
    "--min-confidence",
    type=float,
    default=50.0,
    show_default=True,
    metavar="PERCENT",
    help="With --min-support: of the rules to look for.",
)
@click.option(
    "--top",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    metavar="K",
    help="With --min-support: how many of the most frequent itemsets to compare.",
)
@click.option(
    "-o",
    "--output",
    type=FILE,
    metavar="FILE.csv",
    help="Write every query with its true count, which is not for publication, its estimate and "
    "its error; - for standard output.",
)
@click.option(
    "--bounds",
    is_flag=True,
    help="With --policy: say how far from the least possible loss the release is at most.",
)
@layout_option
@json_option
@talk_options
def evaluate(
    data: Input,
    released: str,
    mapping: str,
    questions: Questions,
    min_support: float | None,
    min_confidence: float,
    top: int,
    output: str | None,
    bounds: bool,
    to: str | None,
    as_json: bool,
    quiet: bool,
    limits: Limits,
    **costs: Any,
) -> None:
    """Measure what a release costs: what changed, and how wrong counts from it are.

    Checks that RELEASED is DATA under the mapping, then measures the loss, the error of COUNT
    queries and, with --min-support, which frequent itemsets and rules survive. A hierarchy,
    distances and penalties are those of `anonymize`; a policy file will do.

    \b
    Examples:
      overcoat evaluate baskets.dat released.dat --mapping map.json
      overcoat evaluate baskets.dat released.dat --mapping map.json --q 2 --by occurrences
          --min-support 10 -o queries.csv
    """
    from overcoat import application
    from overcoat.reports.evaluation import evaluation_lines
    from overcoat.reports.json import evaluation_to_json

    check_standard_output(output, as_json=as_json)
    if bounds and costs["policy"] is None:
        raise click.UsageError("--bounds needs --policy: they are those of a policy")
    least = state(data, **costs).policy if bounds else False
    with run_context(limits, quiet=quiet) as context:

        def report(evaluation: Evaluation) -> None:
            context.start("done")
            say_notes(problem_lines(evaluation.notes), quiet)
            if as_json:
                print_json(evaluation_to_json(evaluation, seed=questions.seed, output=output))
            else:
                say_unless_quiet(evaluation_lines(evaluation), quiet)

        application.evaluate(
            *(data, released, mapping, state(data, cost_only=True, **costs), questions),
            to=to,
            output=output,
            context=context,
            report=report,
            min_support=min_support,
            min_confidence=min_confidence,
            top=top,
            bounds=least,
        )
