"""The command `overcoat evaluate`."""

from __future__ import annotations

from typing import Any

import click

from overcoat.cli.options import (
    FILE,
    Source,
    cost_options,
    data_options,
    json_option,
    layout_option,
    make_policy,
    quiet_option,
    workload_options,
)
from overcoat.cli.output import check_outputs, print_json, say_unless_quiet
from overcoat.cli.progress import run_context

__all__ = ["evaluate"]


@click.command()
@click.argument("data", type=FILE, metavar="DATA")
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
@layout_option
@data_options
@json_option
@quiet_option
def evaluate(
    data: str,
    released: str,
    mapping: str,
    queries: str | None,
    sizes: list[int] | None,
    n_queries: int,
    seed: int,
    among: str,
    by: Any,
    min_support: float | None,
    min_confidence: float,
    top: int,
    output: str | None,
    to: str | None,
    as_json: bool,
    quiet: bool,
    source: Source,
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
    from overcoat.data.io import Staging, output_layout, pack, read_as, send
    from overcoat.evaluation import evaluate as measure
    from overcoat.mapping import Mapping
    from overcoat.measures.groups import generalized_items
    from overcoat.measures.queries import Workload, draw_workloads
    from overcoat.report.evaluation import evaluation_lines, query_table
    from overcoat.report.json import evaluation_to_json

    with run_context(quiet=quiet) as context:
        chosen = make_policy(source, cost_only=True, **costs)
        inputs = [data, released, mapping, queries, *chosen.files]
        check_outputs(inputs, output, as_json=as_json)
        stored = Mapping.read(mapping)
        context.start("read")
        original = source.read(data)
        copy = read_as(released, output_layout(released, original.layout, to))
        context.start("queries")
        workloads = []
        if queries is not None:
            known = {*chosen.known, *stored.vocabulary}
            own = Workload.read(queries, original, sep=source.set_sep, known=known)
            workloads.append(own)
        if queries is None or sizes is not None:
            mask = generalized_items(original.vocabulary, stored) if among != "all" else None
            workloads += draw_workloads(original, sizes, n_queries, seed, mask, by)
        context.start("evaluate")
        evaluation = measure(
            original,
            copy,
            stored,
            policy=chosen,
            workloads=workloads,
            min_support=min_support,
            min_confidence=min_confidence,
            top=top,
        )
        context.start("done")
        for note in evaluation.notes:
            say_unless_quiet(f"note: {note}", quiet)
        with Staging() as staging:
            if output == "-":
                send(query_table(evaluation).encode())
            elif output is not None:
                table = query_table(evaluation).encode()
                staging.stage(output).write_bytes(pack(output, table))
            if as_json:
                print_json(evaluation_to_json(evaluation, seed=seed, output=output))
            else:
                say_unless_quiet(evaluation_lines(evaluation), quiet)
            staging.commit()
