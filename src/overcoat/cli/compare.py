"""The command `overcoat compare`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from overcoat._version import __version__
from overcoat.cli.help import Command
from overcoat.cli.limits import Limits
from overcoat.cli.options import (
    FILE,
    allow_option,
    data_options,
    json_option,
    policy_options,
    state,
    talk_options,
)
from overcoat.cli.output import Paused, print_json, say_unless_quiet
from overcoat.cli.progress import run_context
from overcoat.cli.workload import workload_options
from overcoat.errors import problem_lines

if TYPE_CHECKING:
    from overcoat.advice.price import Prices
    from overcoat.application import Input, Questions, Statement
    from overcoat.comparison.compare import Comparison

__all__ = ["compare"]

_NUMBERS = {"k": int, "m": int, "h": float, "s": float}


class _Compare(Command):
    """Elsewhere the last value of an option counts; here one would expect all to be compared."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        for one in order:
            once = isinstance(one, click.Option) and not (one.multiple or one.is_flag or one.count)
            if once and order.count(one) > 1:
                raise click.UsageError(
                    f"{max(one.opts, key=len)} is given twice: several values go into --sweep, as "
                    "in --sweep k=5,10, and several methods into --algorithms",
                    ctx,
                )
        return super().parse_args(ctx, args)


@click.command(cls=_Compare)
@data_options
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
@click.option(
    "--price",
    type=click.IntRange(0),
    is_flag=False,
    flag_value=20,
    metavar="N",
    help="Also say what each part of the policy costs: the loss without it. Of utility sets the N "
    "with most people are tried, 20 if N is left out.",
)
@click.option(
    "--bounds",
    is_flag=True,
    help="Also say how many times the least possible flat NCP each run has at most.",
)
@policy_options
@allow_option
@json_option
@talk_options
def compare(
    data: Input,
    algorithms: str | None,
    sweep: tuple[str, ...],
    questions: Questions,
    output: str,
    allow_identifiers: bool,
    price: int | None,
    bounds: bool,
    as_json: bool,
    quiet: bool,
    limits: Limits,
    **settings: Any,
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
    from overcoat import application
    from overcoat.comparison.plots import NEEDED, can_draw
    from overcoat.comparison.text import comparison_lines
    from overcoat.reports.price import price_lines

    folder = Path(output)
    chosen = [name.strip() for name in (algorithms or "").split(",") if name.strip()]
    with run_context(limits, quiet=quiet) as context:

        def report(
            comparison: Comparison, files: Sequence[Path], prices: Mapping[str, Prices]
        ) -> None:
            context.start("done")
            if as_json:
                rows, names = list(comparison.rows), [str(path) for path in files]
                told: dict[str, Any] = {"rows": rows, "files": names}
                if price is not None:
                    told["prices"] = {name: one.to_json() for name, one in prices.items()}
                print_json({"overcoat": __version__, **told})

        sweeps = _sweeps(sweep)
        statements = _statements(data, settings, sweeps)
        try:
            found = application.compare(
                *(data, statements, sweeps, chosen, questions, folder),
                allow_identifiers=allow_identifiers,
                price=price,
                bounds=bounds,
                context=context,
                report=report,
            )
        except KeyboardInterrupt:
            kept = f"finished runs are kept in {folder / 'runs'}: the same command goes on there"
            raise Paused(kept) from None
    for note in problem_lines(found.notes):
        say_unless_quiet(f"note: {note}", quiet)
    if as_json:
        return
    say_unless_quiet(comparison_lines(found.comparison), quiet)
    for name, one in found.prices.items():
        say_unless_quiet(f"\nprice{f' of {name}' if name else ''}\n{price_lines(one)}\n", quiet)
    if not can_draw():
        say_unless_quiet(f"note: {NEEDED}", quiet)
    say_unless_quiet(f"written to {output}: {', '.join(path.name for path in found.files)}", quiet)


def _statements(
    data: Input, options: dict[str, Any], sweeps: dict[str, list[Any]]
) -> dict[str, Statement]:
    """Return what is stated, or what each policy file of a sweep states, by name.

    k may come from its sweep, and so may m, when nothing else says what to protect.
    """
    files = sweeps.pop("policy", None)
    bare = not (options["privacy"] or options["pgen"] or options["policy"] or files)
    for option, sweep in (("k", "k"), ("km", "m")):
        if sweep in sweeps and options[option] is None and (bare or option == "k"):
            options[option] = sweeps[sweep][0]
    if files is None:
        return {"": state(data, **options)}
    if options["policy"] is not None:
        raise click.UsageError("--policy and --sweep policy=… both name policy files")
    names = [Path(file).stem for file in files]
    if len(set(names)) < len(names):
        names = files  # of the same name in different folders
    return {
        name: state(data, **{**options, "policy": file})
        for name, file in zip(names, files, strict=True)
    }


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
