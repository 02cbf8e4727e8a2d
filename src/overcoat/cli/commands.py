"""The commands. Each reads, calls one function of the library, and renders what it returns."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from overcoat._version import __version__
from overcoat.cli.help import Command
from overcoat.cli.limits import Limits, limit_options
from overcoat.cli.options import (
    FILE,
    allow_option,
    data_options,
    json_option,
    names_option,
    output_options,
    policy_options,
    start_option,
    state,
    talk_options,
)
from overcoat.cli.output import (
    check_standard_output,
    print_json,
    print_text,
    say_notes,
    say_unless_quiet,
)
from overcoat.cli.papers import paper_options
from overcoat.cli.progress import run_context
from overcoat.cli.searching import search_options

if TYPE_CHECKING:
    from overcoat.application import Input, Papers
    from overcoat.context import Context
    from overcoat.release.exposed import Exposed
    from overcoat.release.result import Result

__all__ = ["anonymize", "apply", "demo", "explain", "pgen"]


@click.command(cls=Command)
@policy_options
@search_options
@output_options
@paper_options
@names_option
@start_option
@click.option(
    "--suggest",
    type=FILE,
    metavar="DIR",
    help="When the policy cannot be met: try policies near it, and write those that are met.",
)
@click.option(
    "--spark",
    is_flag=False,
    flag_value="",
    metavar="[MASTER]",
    help="Work on a cluster of Apache Spark; DATA and RELEASED are folders of Parquet, or "
    "table:NAME. Default master: as Spark is configured.",
)
@data_options
@json_option
@talk_options
def anonymize(**options: Any) -> None:
    """Find a mapping that meets the policy, verify it, and write the released data.

    DATA holds one transaction a line (.dat, .txt, .csv), or is a table (.csv, .tsv, .xlsx,
    .parquet) with --id and --item or with --items; .gz is read, - is standard input. A folder, or a
    pattern in quotes, is one table. Separators and encodings are found. A database is named
    sqlite:///FILE, duckdb:///FILE or postgresql://…, with --query or a table after a #. An OMOP
    model (a database or a folder) is read with --omop, FHIR resources from .ndjson.

    \b
    Examples:
      overcoat anonymize baskets.dat -k 5 --km 2 -o released.dat --mapping map.json
      overcoat anonymize patients.csv --id patient --item code -k 5 --pgen
          --utility disorders.txt --hierarchy icd9.csv -o released.csv
      overcoat anonymize patients.csv --id patient --item code --policy policy.toml -o out.csv
      overcoat anonymize '2026-*.csv' --id patient --item diag_1,diag_2 -k 5 --km 2 -o out.csv
      overcoat anonymize sqlite:///ward.db --query "SELECT patient, code FROM diagnoses"
          --id patient --item code -k 5 --km 2 -o sqlite:///ward.db#released --replace
      overcoat anonymize march.csv --id patient --item code -k 5 --km 2 --start february.json
          -o march-out.csv --mapping march.json
    """
    _make_release(**options)


@click.command(cls=Command)
@click.option("--use", required=True, type=FILE, metavar="MAP.json", help="The mapping to apply.")
@policy_options
@output_options
@paper_options
@data_options
@json_option
@talk_options
def apply(**options: Any) -> None:
    """Publish new data of the same domain under a mapping found earlier, if the policy holds.

    \b
    Example:
      overcoat apply march.csv --id patient --item code --use map.json -k 5 --km 2 -o march-out.csv
    """
    from overcoat.cli.hints import starting_instead
    from overcoat.errors import UnknownItemsError, VerificationError

    try:
        _make_release(**options)
    except (UnknownItemsError, VerificationError) as error:
        if told := starting_instead(error, sys.argv):
            error.add_note(told)
        raise


def _make_release(
    data: Input,
    output: str | None,
    mapping: str | None,
    to: str | None,
    keep_order: bool,
    allow_identifiers: bool,
    codebook: str | None,
    replace: bool,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
    limits: Limits,
    papers: Papers,
    use: str | None = None,
    start: str | None = None,
    label_from: str | None = None,
    suggest: str | None = None,
    spark: str | None = None,
    **settings: Any,
) -> None:
    from overcoat import application
    from overcoat.data.io.databases.address import shown
    from overcoat.reports.json import result_to_json
    from overcoat.reports.text import summarize

    if output is None and not dry_run:
        raise click.UsageError("Missing option '-o' / '--output': where to write the release.")
    check_standard_output(output, as_json=as_json)
    if mapping == "-":
        raise click.UsageError("--mapping needs a file; standard output is for the released data")
    if codebook == "-":
        raise click.UsageError("--codebook needs a file; standard output is for the released data")
    outputs = application.Outputs(
        *(output or "-", mapping, to, keep_order, allow_identifiers, codebook, label_from),
        replace=replace,
        dry_run=dry_run,
        papers=papers,
    )
    told = None if output is None else shown(output)
    if spark is not None:
        if suggest is not None:
            raise click.UsageError("--suggest cannot be had with --spark")
        from overcoat.cli.spark import anonymize_on_spark

        statement = state(data, **settings)
        anonymize_on_spark(
            data, statement, outputs, spark or None, start, limits, as_json=as_json, quiet=quiet
        )
        return

    with run_context(limits, quiet=quiet) as context:
        risks: list[Exposed] = []

        def tell(result: Result, risk: Exposed) -> None:
            memory = _memory(context, result)
            context.start("done")
            risks.append(risk)
            if as_json:
                more: dict[str, Any] = {
                    "risk": risk.to_json(),
                    "released": told,
                    "mapping": mapping,
                    "codebook": codebook,
                    **papers.files,
                    **memory,
                    "label_from": label_from,
                    "keep_order": keep_order,
                    "allow_identifiers": allow_identifiers,
                    "dry_run": dry_run,
                    "notes": application.notes_on(result, outputs),
                }
                print_json(result_to_json(result, **more))

        result = application.anonymize(
            data,
            state(data, **settings),
            outputs,
            use=use,
            start=start,
            suggest=suggest,
            context=context,
            report=tell,
        )
    say_notes(application.notes_on(result, outputs), quiet)
    if keep_order:
        say_unless_quiet(
            "warning: the rows keep the order of the input, which can link them to people", False
        )
    if not as_json:
        released = "standard output" if output == "-" else told
        files = {"released": released, "mapping": mapping, "codebook": codebook, **papers.files}
        if dry_run:
            files = {"released": "nothing was written (--dry-run)"}
        say_unless_quiet(summarize(result, **files, risk=risks[0]), quiet)


def _memory(context: Context, result: Result) -> dict[str, Any]:
    """Return the peak of memory, of all and by stage, in MB."""
    if context.peaks is None:
        return {}
    stages = {
        stage: peak for stage, peak in context.peaks.by_stage().items() if stage in result.seconds
    }
    return {"peak_memory_mb": context.peaks.whole(), "peak_memory_by_stage_mb": stages}


@click.command(cls=Command)
@click.argument("wanted", nargs=-1, required=True, metavar="ITEM…")
@data_options
@click.option("--mapping", type=FILE, metavar="MAP.json", help="The mapping to be explained.")
@policy_options
@start_option
@json_option
@talk_options
def explain(
    wanted: tuple[str, ...],
    data: Input,
    mapping: str | None,
    start: str | None,
    as_json: bool,
    quiet: bool,
    limits: Limits,
    **settings: Any,
) -> None:
    """Say why items were merged or suppressed: the constraints behind it, and what else there was.

    Finds the mapping again, from DATA and the policy, and says if it is another than the one given.
    The name of a utility set, or a label of the mapping, stands for all its items.

    \b
    Example:
      overcoat explain a b baskets.dat --mapping map.json -k 5 --km 2
    """
    from overcoat import application

    with run_context(limits, quiet=quiet) as context:
        statement = state(data, **settings)
        found, notes = application.explain(
            wanted, data, mapping, statement, start=start, context=context
        )
    say_notes(map(str, notes), quiet)
    if as_json:
        told = {"explained": [asdict(one) for one in found], "notes": list(map(str, notes))}
        print_json({"overcoat": __version__, **told})
    else:
        print_text("\n".join(map(str, found)))


@click.command(cls=Command)
@click.option("-k", "k", type=int, required=True, metavar="K", help="Least number of people.")
@click.option(
    "-o",
    "--output",
    required=True,
    type=FILE,
    metavar="FILE",
    help="Where to write the itemsets: a constraint file, or .json; - for standard output.",
)
@data_options
@allow_option
@json_option
@talk_options
def pgen(
    data: Input,
    k: int,
    output: str,
    allow_identifiers: bool,
    as_json: bool,
    quiet: bool,
    limits: Limits,
) -> None:
    """Write the itemsets that protect every part of every transaction.

    These are the maximal itemsets that fewer than K transactions hold (the paper's Pgen). The file
    can be edited and given to --privacy; `anonymize --pgen` uses the same itemsets directly.

    \b
    Example:
      overcoat pgen baskets.dat -k 5 -o privacy.txt
    """
    from overcoat import application

    check_standard_output(output, as_json=as_json)
    began = time.perf_counter()
    with run_context(limits, quiet=quiet) as context:
        transactions, n_itemsets = application.pgen(
            data, k, output, allow_identifiers=allow_identifiers, context=context
        )
    if as_json:
        print_json(
            {
                "k": k,
                "n_transactions": transactions.n_transactions,
                "n_items": transactions.n_items,
                "n_constraints": n_itemsets,
                "output": output,
                "seconds": {"total": round(time.perf_counter() - began, 6)},
            }
        )
    else:
        say_unless_quiet(f"{n_itemsets:,} itemsets written to {output}", quiet)


@click.command(cls=Command)
@click.option(
    "--out",
    type=FILE,
    default="overcoat-demo",
    show_default=True,
    metavar="DIR",
    help="Where to put the demo's files.",
)
@json_option
@limit_options
def demo(out: str, as_json: bool, limits: Limits) -> None:
    """Anonymize generated hospital data and show what happened, before and after.

    \b
    Example:
      overcoat demo --out /tmp/demo
    """
    from overcoat.demo import run_demo

    with run_context(limits, quiet=True) as context:
        text, content = run_demo(out, context)
    if as_json:
        print_json(content)
    else:
        print_text(text)
