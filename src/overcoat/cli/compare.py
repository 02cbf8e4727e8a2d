"""The command `overcoat compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from overcoat._version import __version__
from overcoat.cli.options import (
    FILE,
    Source,
    data_options,
    json_option,
    make_policy,
    policy_options,
    quiet_option,
    workload_options,
)
from overcoat.cli.output import Paused, check_outputs, print_json, say_unless_quiet
from overcoat.cli.progress import run_context

if TYPE_CHECKING:
    from overcoat.comparison.settings import Setting
    from overcoat.data.transactions import Transactions
    from overcoat.policy.policy import Policy

__all__ = ["compare"]

_NUMBERS = {"k": int, "m": int, "h": float, "s": float}


@click.command()
@click.argument("data", type=FILE, metavar="DATA")
@click.option(
    "--algorithms",
    metavar="NAME,NAME,…",
    help="The methods to compare. Default: those of coat, pcta and apriori that can take the "
    "policy.",
)
@click.option(
    "--sweep",
    multiple=True,
    metavar="NAME=VALUE,VALUE,…",
    help="Try several values of k, m, h or s, or several policy files: policy=A.toml,B.toml. "
    "The first sweep of numbers is the x axis of the plots, the others become panels.",
)
@workload_options
@click.option(
    "-o",
    "--output",
    required=True,
    type=FILE,
    metavar="DIR",
    help="Where to put results, plots and the finished runs.",
)
@policy_options
@data_options
@json_option
@quiet_option
def compare(
    data: str,
    algorithms: str | None,
    sweep: tuple[str, ...],
    queries: str | None,
    sizes: list[int] | None,
    n_queries: int,
    seed: int,
    among: Any,
    by: Any,
    output: str,
    as_json: bool,
    quiet: bool,
    source: Source,
    **policy: Any,
) -> None:
    """Show what several methods, or several values of k, m or s, would cost.

    All runs answer the same queries. DIR gets results.csv and results.parquet (one row a run),
    plots as SVG and PNG, and index.html with everything. Each finished run is kept in DIR/runs:
    after an interruption the same command goes on where it was.

    \b
    Examples:
      overcoat compare baskets.dat -k 5 --km 2 --hierarchy balanced:5
          --algorithms coat,apriori,pcta --sweep k=2,5,10,25,50 -o comparison
      overcoat compare baskets.dat --sweep policy=strict.toml,loose.toml -o comparison
    """
    from overcoat.comparison.compare import compare as run_field
    from overcoat.comparison.figures import FILES
    from overcoat.comparison.plots import NEEDED, can_draw
    from overcoat.comparison.runs import make_folder
    from overcoat.comparison.text import comparison_lines
    from overcoat.measures.queries import Workload

    folder = Path(output)
    with run_context(quiet=quiet) as context:
        sweeps = _sweeps(sweep)
        policies = _policies(source, policy, sweeps)
        files = [file for one in policies.values() for file in one.files]
        context.start("read")
        transactions = source.read(data)
        settings = _settings(policies, sweeps, algorithms, transactions)
        own = {}
        if queries is not None:
            known = {item for one in policies.values() for item in one.known}
            own["own"] = Workload.read(queries, transactions, sep=source.set_sep, known=known)
        make_folder(folder)
        targets = ["results.csv", "results.parquet", "index.html", *FILES]
        inputs = [data, queries, *files]
        check_outputs(inputs, *(str(folder / name) for name in targets), as_json=as_json)
        try:
            found = run_field(
                transactions,
                settings,
                q=[] if own and sizes is None else sizes,
                n_queries=n_queries,
                seed=seed,
                among=among,
                by=by,
                workloads=own,
                folder=folder / "runs",
                context=context,
            )
        except KeyboardInterrupt:
            kept = f"finished runs are kept in {folder / 'runs'}: the same command goes on there"
            raise Paused(kept) from None
        context.start("write")
        written = found.write(folder, title=f"Comparison on {Path(data).name}")
    notes: list[Any] = [note for run in found.runs for note in run.policy.notes]
    if own and own["own"].n_dropped:
        notes.append(f"{queries}: nobody matches {own['own'].n_dropped} of the queries; left out")
    for note in dict.fromkeys(notes):
        say_unless_quiet(f"note: {note}", quiet)
    if as_json:
        names = [str(path) for path in written]
        print_json({"overcoat": __version__, "rows": list(found.rows), "files": names})
        return
    say_unless_quiet(comparison_lines(found), quiet)
    if not can_draw():
        say_unless_quiet(f"note: {NEEDED}", quiet)
    say_unless_quiet(f"written to {output}: {', '.join(path.name for path in written)}", quiet)


def _policies(
    source: Source, options: dict[str, Any], sweeps: dict[str, list[Any]]
) -> dict[str, Policy]:
    """Return the policy, or those of a sweep by name.

    k may come from its sweep, and so may m, when nothing else says what to protect.
    """
    files = sweeps.pop("policy", None)
    bare = not (options["privacy"] or options["pgen"] or options["policy"] or files)
    for option, sweep in (("k", "k"), ("km", "m")):
        if sweep in sweeps and options[option] is None and (bare or option == "k"):
            options[option] = sweeps[sweep][0]
    if files is None:
        return {"": make_policy(source, **options)}
    if options["policy"] is not None:
        raise click.UsageError("--policy and --sweep policy=… both name policy files")
    names = [Path(file).stem for file in files]
    if len(set(names)) < len(names):
        names = files  # of the same name in different folders
    return {
        name: make_policy(source, **{**options, "policy": file})
        for name, file in zip(names, files, strict=True)
    }


def _settings(
    policies: dict[str, Policy],
    sweeps: dict[str, list[Any]],
    algorithms: str | None,
    data: Transactions,
) -> list[Setting]:
    """Return what to run: the methods that were named, or all that can take the policies.

    Policies that name a method other than the default run with that one.
    """
    from overcoat.algorithms import get_method
    from overcoat.comparison.settings import vary

    chosen = [name.strip() for name in (algorithms or "").split(",") if name.strip()]
    if not chosen and all(policy.algorithm == "coat" for policy in policies.values()):
        bound = [policy.bind(data) for policy in policies.values()]
        chosen = [
            name
            for name in ("coat", "pcta", "apriori")
            if not any(problem for one in bound for problem in get_method(name).problems(one))
        ]
    if chosen:
        sweeps = {**sweeps, "algorithm": list(dict.fromkeys(chosen))}
    return vary(policies.get("", policies), **sweeps)


def _sweeps(texts: tuple[str, ...]) -> dict[str, list[Any]]:
    sweeps: dict[str, list[Any]] = {}
    for text in texts:
        name, _, values = text.partition("=")
        parts = list(dict.fromkeys(part.strip() for part in values.split(",") if part.strip()))
        if not parts or name not in {*_NUMBERS, "policy"}:
            raise click.UsageError(
                f"--sweep {text}: expected k=…, m=…, h=…, s=… or policy=…, values between commas"
            )
        if name in sweeps:
            raise click.UsageError(f"--sweep {name} is given twice; put all values in one")
        try:
            sweeps[name] = [_NUMBERS.get(name, str)(part) for part in parts]
        except ValueError:
            raise click.UsageError(f"--sweep {text}: expected numbers") from None
    return sweeps
