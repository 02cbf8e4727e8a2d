"""`anonymize --spark`: the same command, on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from overcoat.cli.limits import Limits
from overcoat.cli.output import print_json, say_unless_quiet
from overcoat.cli.progress import run_context
from overcoat.errors import problem_lines

if TYPE_CHECKING:
    from overcoat.application import Input, Outputs, Statement
    from overcoat.spark.result import SparkResult

__all__ = ["anonymize_on_spark"]


def anonymize_on_spark(
    data: Input,
    statement: Statement,
    outputs: Outputs,
    master: str | None,
    start: str | None,
    limits: Limits,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Make a release on a cluster, and say what came of it."""
    from overcoat.application.clustering import anonymize_on_spark as run
    from overcoat.reports.json import result_to_json
    from overcoat.reports.text import summarize

    with run_context(limits, quiet=quiet) as context:

        def tell(result: SparkResult) -> None:
            context.start("done")
            assert result.evidence is not None
            assert result.plan is not None
            if as_json:
                more: dict[str, Any] = {
                    "released": outputs.released,
                    "mapping": outputs.mapping,
                    "label_from": outputs.label_from,
                    "allow_identifiers": outputs.allow_identifiers,
                    "spark": {
                        "n_distinct": result.plan.n_rows,
                        "n_occurrences": result.plan.n_occurrences,
                        "driver_memory_planned": result.plan.memory,
                        "verified_on_cluster": result.verdict.ok,
                    },
                }
                print_json(result_to_json(result.evidence, **more))

        result = run(data, statement, outputs, master, start=start, context=context, report=tell)
    assert result.evidence is not None
    for note in problem_lines(result.evidence.notes):
        say_unless_quiet(f"note: {note}", quiet)
    if not as_json:
        said = summarize(result.evidence, released=outputs.released, mapping=outputs.mapping)
        say_unless_quiet(said, quiet)
