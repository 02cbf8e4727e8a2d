"""The commands. Each reads, calls one function of the library, and renders what it returns."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from overcoat._version import __version__
from overcoat.cli.options import (
    FILE,
    data_options,
    json_option,
    layout_option,
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
    say_unless_quiet,
)
from overcoat.cli.progress import run_context
from overcoat.errors import problem_lines

if TYPE_CHECKING:
    from overcoat.application import Input
    from overcoat.release.exposed import Exposed
    from overcoat.release.result import Result

__all__ = ["anonymize", "apply", "demo", "explain", "pgen", "risk", "verify"]


@click.command()
@policy_options
@output_options
@names_option
@start_option
@click.option(
    "--suggest",
    type=FILE,
    metavar="DIR",
    help="When the policy cannot be met: try policies near it, and write those that are met.",
)
@data_options
@json_option
@talk_options
def anonymize(**options: Any) -> None:
    """Find a mapping that meets the policy, verify it, and write the released data.

    DATA holds one transaction a line (.dat, .txt, .csv), or is a table (.csv, .tsv, .parquet) with
    --id and --item or with --items; .gz is read, - is standard input. A folder, or a pattern in
    quotes, is one table. Separators and encodings are found. A database is named sqlite:///FILE,
    duckdb:///FILE or postgresql://…, with --query or a table after a #.

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


@click.command()
@click.option("--use", required=True, type=FILE, metavar="MAP.json", help="The mapping to apply.")
@policy_options
@output_options
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
    use: str | None = None,
    start: str | None = None,
    label_from: str | None = None,
    suggest: str | None = None,
    **settings: Any,
) -> None:
    from overcoat import application
    from overcoat.data.io.databases.address import shown
    from overcoat.report.json import result_to_json
    from overcoat.report.text import summarize

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
    )
    told = None if output is None else shown(output)
    with run_context(quiet=quiet) as context:
        risks: list[Exposed] = []

        def report(result: Result, risk: Exposed) -> None:
            context.start("done")
            risks.append(risk)
            if as_json:
                more: dict[str, Any] = {
                    "risk": risk.to_json(),
                    "released": told,
                    "mapping": mapping,
                    "codebook": codebook,
                    "label_from": label_from,
                    "keep_order": keep_order,
                    "allow_identifiers": allow_identifiers,
                    "dry_run": dry_run,
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
            report=report,
        )
    for note in problem_lines(result.notes):
        say_unless_quiet(f"note: {note}", quiet)
    if keep_order:
        say_unless_quiet(
            "warning: the rows keep the order of the input, which can link them to people", False
        )
    if not as_json:
        released = "standard output" if output == "-" else told
        files = {"released": released, "mapping": mapping, "codebook": codebook}
        if dry_run:
            files = {"released": "nothing was written (--dry-run)"}
        say_unless_quiet(summarize(result, **files, risk=risks[0]), quiet)


@click.command()
@data_options
@click.argument("released", type=FILE, metavar="RELEASED")
@click.option("--mapping", required=True, type=FILE, metavar="MAP.json", help="Its mapping.")
@policy_options
@layout_option
@json_option
@talk_options
def verify(
    data: Input,
    released: str,
    mapping: str,
    to: str | None,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> int:
    """Say whether a release satisfies its policy; list every violation.

    Checks that RELEASED is DATA under the mapping, that every protected itemset matches at least k
    people or nobody, that no group reaches across utility sets, and that no more than s percent of
    the items are suppressed.

    \b
    Example:
      overcoat verify baskets.dat released.dat --mapping map.json -k 5 --km 2
    """
    from overcoat import application
    from overcoat.report.json import failed_to_json, verdict_to_json
    from overcoat.report.text import verdict_lines

    with run_context(quiet=quiet) as context:
        statement = state(data, **settings)
        found = application.verify(data, released, mapping, statement, to=to, context=context)
    notes = problem_lines(found.notes)
    for note in notes:
        say_unless_quiet(f"note: {note}", quiet)
    if as_json:
        told = verdict_to_json if found.verdict.ok else failed_to_json
        print_json(told(found.verdict, k=found.k, notes=notes))
    else:
        say_unless_quiet(verdict_lines(found.verdict, found.k), quiet and found.verdict.ok)
    return 0 if found.verdict.ok else 4


@click.command()
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
    **settings: Any,
) -> None:
    """Say why items were merged or suppressed: the constraints behind it, and what else there was.

    Finds the mapping again, from DATA and the policy, and says if it is another than the one given.

    \b
    Example:
      overcoat explain a b baskets.dat --mapping map.json -k 5 --km 2
    """
    from overcoat import application

    with run_context(quiet=quiet) as context:
        statement = state(data, **settings)
        found, notes = application.explain(
            wanted, data, mapping, statement, start=start, context=context
        )
    for note in notes:
        say_unless_quiet(f"note: {note}", quiet)
    if as_json:
        told = {"explained": [asdict(one) for one in found], "notes": list(map(str, notes))}
        print_json({"overcoat": __version__, **told})
    else:
        print_text("\n".join(map(str, found)))


@click.command()
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
@click.option(
    "-k",
    "k",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    metavar="K",
    help="How many people make a crowd.",
)
@click.option(
    "--linkable", type=FILE, metavar="FILE", help="An attacker knows only the items in FILE."
)
@click.option(
    "--attacks",
    type=click.IntRange(1),
    metavar="N",
    help="Also draw N people, tell an attacker M of their items, and show how many rows fit.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    metavar="SEED",
    help="Of the draws.",
)
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
    attacks: int | None,
    seed: int,
    to: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say what an attacker who knows some items of a person can do.

    Without RELEASED for DATA as they are; with it for both, before and after.

    \b
    Examples:
      overcoat risk baskets.dat
      overcoat risk baskets.dat released.dat --mapping map.json -k 5 --known 3
    """
    from overcoat import application
    from overcoat.report.risk import attack_lines, risk_lines

    if (released is None) != (mapping is None):
        raise click.UsageError("RELEASED and --mapping go together")
    with run_context(quiet=quiet) as context:
        found = application.risk(
            *(data, released, mapping),
            known=known,
            k=k,
            linkable=linkable,
            attacks=attacks or 0,
            seed=seed,
            to=to,
            context=context,
        )
    for note in found.notes:
        say_unless_quiet(f"note: {note}", quiet)
    if as_json:
        more = {} if attacks is None else {"attacks": [asdict(one) for one in found.attacks]}
        print_json({"overcoat": __version__, **found.risk.to_json(), "seed": seed, **more})
    else:
        print_text(risk_lines(found.risk))
        if found.attacks:
            print_text("\n" + attack_lines(found.attacks))


@click.command()
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
@json_option
@talk_options
def pgen(data: Input, k: int, output: str, as_json: bool, quiet: bool) -> None:
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
    with run_context(quiet=quiet) as context:
        transactions, n_itemsets = application.pgen(data, k, output, context=context)
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


@click.command()
@click.option(
    "--out",
    type=FILE,
    default="overcoat-demo",
    show_default=True,
    metavar="DIR",
    help="Where to put the demo's files.",
)
@json_option
def demo(out: str, as_json: bool) -> None:
    """Anonymize generated hospital data and show what happened, before and after.

    \b
    Example:
      overcoat demo --out /tmp/demo
    """
    from overcoat.demo import run_demo

    text, content = run_demo(out)
    if as_json:
        print_json(content)
    else:
        print_text(text)
