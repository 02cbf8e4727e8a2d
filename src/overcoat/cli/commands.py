"""The commands. Each reads, calls one function of the library, and renders what it returns."""

from __future__ import annotations

import time
from typing import Any

import click

from overcoat.cli.options import (
    FILE,
    Source,
    data_options,
    json_option,
    layout_option,
    make_policy,
    output_options,
    policy_options,
    quiet_option,
)
from overcoat.cli.output import check_outputs, print_json, print_text, say_unless_quiet
from overcoat.cli.progress import run_context

__all__ = ["anonymize", "apply", "demo", "pgen", "verify"]

DATA = click.argument("data", type=FILE, metavar="DATA")


@click.command()
@DATA
@policy_options
@output_options
@data_options
@json_option
@quiet_option
def anonymize(
    data: str,
    output: str,
    mapping: str | None,
    to: str | None,
    keep_order: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Find a mapping that meets the policy, verify it, and write the released data.

    DATA holds one transaction a line (.dat, .txt, .csv), or is a table (.csv, .tsv, .parquet) with
    --id and --item or with --items; .gz is read, - is standard input.

    \b
    Examples:
      overcoat anonymize baskets.dat -k 5 --km 2 -o released.dat --mapping map.json
      overcoat anonymize patients.csv --id patient --item code -k 5 --pgen
          --utility disorders.txt --hierarchy icd9.csv -o released.csv
      overcoat anonymize patients.csv --id patient --item code --policy policy.toml -o out.csv
    """
    _publish(
        data, output, mapping, to, keep_order, as_json=as_json, quiet=quiet, use=None, **options
    )


@click.command()
@DATA
@click.option("--use", required=True, type=FILE, metavar="MAP.json", help="The mapping to apply.")
@policy_options
@output_options
@data_options
@json_option
@quiet_option
def apply(
    data: str,
    use: str,
    output: str,
    mapping: str | None,
    to: str | None,
    keep_order: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Publish new data of the same domain under a mapping found earlier, if the policy holds.

    \b
    Example:
      overcoat apply march.csv --id patient --item code --use map.json -k 5 --km 2 -o march-out.csv
    """
    _publish(
        data, output, mapping, to, keep_order, as_json=as_json, quiet=quiet, use=use, **options
    )


def _publish(
    data: str,
    output: str,
    mapping: str | None,
    to: str | None,
    keep_order: bool,
    *,
    as_json: bool,
    quiet: bool,
    use: str | None,
    source: Source,
    **policy: Any,
) -> None:
    from overcoat.data.io import output_layout
    from overcoat.mapping import Mapping
    from overcoat.release import anonymize as find_mapping
    from overcoat.release import apply_mapping
    from overcoat.report.json import result_to_json
    from overcoat.report.text import summarize

    if mapping == "-":
        raise click.UsageError("--mapping needs a file; standard output is for the released data")
    began = time.perf_counter()
    with run_context(quiet=quiet) as context:
        chosen = make_policy(source, **policy)
        check_outputs([data, use, *chosen.files], output, mapping, as_json=as_json)
        stored = None if use is None else Mapping.read(use)
        context.start("read")
        transactions = source.read(data, keep_order=keep_order)
        output_layout(output, transactions.layout, to)  # or it would fail after all the work
        reading = time.perf_counter() - began
        if stored is None:
            result = find_mapping(transactions, policy=chosen, context=context)
        else:
            result = apply_mapping(transactions, stored, chosen, context=context)
        context.start("write")
        writing = time.perf_counter()

        def report() -> None:
            context.start("done")
            now = time.perf_counter()
            result.seconds.update(write=now - writing, read=reading, total=now - began)
            if as_json:
                more = {"released": output, "mapping": mapping, "keep_order": keep_order}
                print_json(result_to_json(result, **more))

        result.write(output, mapping=mapping, to=to, keep_order=keep_order, report=report)
    for note in result.policy.notes:
        say_unless_quiet(f"note: {note}", quiet)
    if keep_order:
        say_unless_quiet(
            "warning: the rows keep the order of the input, which can link them to people", False
        )
    if not as_json:
        released = "standard output" if output == "-" else output
        say_unless_quiet(summarize(result, released=released, mapping=mapping), quiet)


@click.command()
@DATA
@click.argument("released", type=FILE, metavar="RELEASED")
@click.option("--mapping", required=True, type=FILE, metavar="MAP.json", help="Its mapping.")
@policy_options
@layout_option
@data_options
@json_option
@quiet_option
def verify(
    data: str,
    released: str,
    mapping: str,
    to: str | None,
    as_json: bool,
    quiet: bool,
    source: Source,
    **policy: Any,
) -> int:
    """Say whether a release satisfies its policy; list every violation.

    Checks that RELEASED is DATA under the mapping, that every protected itemset matches at least k
    people or nobody, that no group reaches across utility sets, and that no more than s percent of
    the items are suppressed.

    \b
    Example:
      overcoat verify baskets.dat released.dat --mapping map.json -k 5 --km 2
    """
    from overcoat.data.io import output_layout, read_as
    from overcoat.mapping import Mapping
    from overcoat.release import knowing
    from overcoat.report.json import verdict_to_json
    from overcoat.report.text import verdict_lines
    from overcoat.verification import verify as check

    with run_context(quiet=quiet) as context:
        stored = Mapping.read(mapping)
        chosen = knowing(make_policy(source, **policy), stored)
        context.start("read")
        original = source.read(data)
        copy = read_as(released, output_layout(released, original.layout, to))
        context.start("policy")
        bound = chosen.bind(original)
        context.start("verify")
        verdict = check(original, copy, stored, bound)
    for note in bound.notes:
        say_unless_quiet(f"note: {note}", quiet)
    if as_json:
        print_json(verdict_to_json(verdict, k=bound.k))
    else:
        say_unless_quiet(verdict_lines(verdict, bound.k), quiet and verdict.ok)
    return 0 if verdict.ok else 4


@click.command()
@DATA
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
@quiet_option
def pgen(data: str, k: int, output: str, as_json: bool, quiet: bool, source: Source) -> None:
    """Write the itemsets that protect every part of every transaction.

    These are the maximal itemsets that fewer than K transactions hold (the paper's Pgen). The file
    can be edited and given to --privacy; `anonymize --pgen` uses the same itemsets directly.

    \b
    Example:
      overcoat pgen baskets.dat -k 5 -o privacy.txt
    """
    from overcoat.policy.pgen import write_pgen

    check_outputs([data], output, as_json=as_json)
    began = time.perf_counter()
    with run_context(quiet=quiet) as context:
        context.start("read")
        transactions = source.read(data)
        context.start("policy")
        n_itemsets = write_pgen(transactions, k, output)
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
