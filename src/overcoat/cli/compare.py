"""The command `overcoat compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

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
from overcoat.cli.output import print_json, say_unless_quiet
from overcoat.cli.progress import progress

__all__ = ["compare"]

_NUMBERS = {"k": int, "m": int, "s": float}


@click.command()
@click.argument("data", type=FILE, metavar="DATA")
@click.option(
    "--algorithms",
    metavar="NAME,NAME,…",
    help="The methods to compare. Default: coat,pcta, and apriori when there are --km and "
    "--hierarchy.",
)
@click.option(
    "--sweep",
    multiple=True,
    metavar="NAME=VALUE,VALUE,…",
    help="Try several values of k, m or s, or several policy files: policy=A.toml,B.toml. "
    "The first sweep is the x axis of the plots.",
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
    from overcoat.comparison.page import write_page
    from overcoat.comparison.settings import vary
    from overcoat.measures.queries import Workload

    sweeps = dict(_parse_sweep(text) for text in sweep)
    files = sweeps.pop("policy", None)
    if files is not None and policy["policy"] is not None:
        raise click.UsageError("--policy and --sweep policy=… both name policy files")
    chosen = [name for name in (algorithms or "").split(",") if name]
    with progress(quiet=quiet) as tell:
        if "k" in sweeps and policy["k"] is None:
            policy["k"] = sweeps["k"][0]
        if "m" in sweeps and policy["km"] is None:
            policy["km"] = sweeps["m"][0]
        if files is None:
            base: Any = make_policy(source, **policy)
        else:
            base = {
                Path(file).stem: make_policy(source, **{**policy, "policy": file}) for file in files
            }
        if not chosen and policy["algorithm"] is None:
            chosen = ["coat", "pcta"]
            if policy["km"] is not None and policy["hierarchy"] is not None:
                chosen.append("apriori")
        if chosen:
            sweeps = {**sweeps, "algorithm": chosen}
        settings = vary(base, **sweeps)
        tell("read", 0)
        transactions = source.read(data)
        own = (
            {}
            if queries is None
            else {"own": Workload.read(queries, transactions, sep=source.set_sep)}
        )
        folder = Path(output)
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
            progress=tell,
        )
        tell("write", 0)
        written = found.write(folder)
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            drawn = False
        else:
            drawn = True
            written += write_page(found, folder, title=f"Comparison on {Path(data).name}")
    if as_json:
        print_json({"rows": list(found.rows), "files": [str(path) for path in written]})
        return
    from overcoat.comparison.text import comparison_lines

    say_unless_quiet(comparison_lines(found), quiet)
    if not drawn:
        say_unless_quiet("no plots: they need matplotlib, pip install 'overcoat[plots]'", quiet)
    say_unless_quiet(f"written to {output}: {', '.join(path.name for path in written)}", quiet)


def _parse_sweep(text: str) -> tuple[str, list[Any]]:
    name, equals, values = text.partition("=")
    parts = [part for part in values.split(",") if part]
    if not equals or not parts or name not in {*_NUMBERS, "policy"}:
        raise click.UsageError(
            f"--sweep {text}: expected k=…, m=…, s=… or policy=…, with values between commas"
        )
    if name == "policy":
        return name, parts
    try:
        return name, [_NUMBERS[name](part) for part in parts]
    except ValueError:
        raise click.UsageError(f"--sweep {text}: expected numbers") from None
