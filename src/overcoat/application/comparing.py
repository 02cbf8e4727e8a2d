"""Comparing several methods and policies; and a file of constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Mapping as Abstract
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overcoat.advice.price import Prices, price_of
from overcoat.algorithms import methods
from overcoat.application.said import Input, Questions, Statement
from overcoat.context import Context
from overcoat.data.identifiers import refuse_identifiers
from overcoat.data.io import check_outputs, make_folder
from overcoat.data.io.databases.address import shown
from overcoat.data.transactions import Transactions
from overcoat.errors import InfeasibleError, InputError, PolicyError, Problem
from overcoat.feasibility.lint import linted
from overcoat.policy.pgen import write_pgen

if TYPE_CHECKING:
    from overcoat.comparison.compare import Comparison
    from overcoat.comparison.settings import Setting

__all__ = ["Compared", "compare", "pgen"]


@dataclass(frozen=True)
class Compared:
    """A comparison, the files it was written to, notes, and the prices of each policy, by name."""

    comparison: Comparison
    files: tuple[Path, ...]
    notes: tuple[Problem, ...]
    prices: Abstract[str, Prices]


def compare(
    data: Input,
    statements: Abstract[str, Statement],
    sweeps: Abstract[str, Sequence[Any]],
    algorithms: Sequence[str],
    questions: Questions,
    folder: Path,
    *,
    allow_identifiers: bool = False,
    price: int | None = None,
    bounds: bool = False,
    context: Context,
    report: Callable[[Comparison, Sequence[Path], Abstract[str, Prices]], None] | None = None,
) -> Compared:
    """Run methods and policies side by side and write what they cost into a folder.

    Parameters
    ----------
    statements : policies by name; a single one has the name ""
    sweeps : values to try, see `overcoat.vary`
    algorithms : the methods; if none is named, those of COAT, PCTA and Apriori that can take all
        policies, unless a policy file names one
    price : also say what each part of each policy costs, under its first method: of so many utility
        sets at most
    bounds : also say how far from the least possible each is at most
    report : called with the comparison, the files and the prices when all is ready: should it fail,
        nothing is written
    """
    from overcoat.comparison.compare import compare as run_field
    from overcoat.comparison.figures import FILES

    policies = {name: statement.policy for name, statement in statements.items()}
    with context.stage("read") as stage:
        transactions = data.read(stage)
        # The page names no item, but the runs that are kept have mappings, with all of them.
        file = shown(data.source)
        refuse_identifiers(transactions, allow=allow_identifiers, file=file, stage=stage)
    settings = _settings(statements, sweeps, algorithms, transactions)
    known = {item for policy in policies.values() for item in policy.known}
    own = dict(zip(["own"], questions.read(transactions, data.set_sep, known), strict=False))
    fresh = not folder.exists()
    make_folder(folder)
    files = [file for policy in policies.values() for file in policy.files]
    targets = ["results.csv", "prices.csv", "results.parquet", "index.html", *FILES]
    check_outputs([data.source, questions.file, *files], [str(folder / name) for name in targets])
    try:
        found = run_field(
            transactions,
            settings,
            q=questions.sizes if questions.draws else [],
            n_queries=questions.number,
            seed=questions.seed,
            among=questions.among,  # type: ignore[arg-type]
            by=questions.by,
            workloads=own,
            bounds=bounds,
            folder=folder / "runs",
            context=context,
        )
    except InputError:
        if fresh:
            with suppress(OSError):  # it is not empty: finished runs are kept
                folder.rmdir()
        raise
    prices = {} if price is None else _prices(statements, settings, transactions, price, context)
    context.start("write")
    title = f"Comparison on {Path(shown(data.source)).name}"
    written = found.write(
        folder,
        title=title,
        prices=prices,
        report=lambda files: None if report is None else report(found, files, prices),
    )
    # One policy of each statement is enough: those of a sweep differ in a number.
    own_runs = len(found.runs) // len(statements)
    notes = [
        note
        for number, run in enumerate(found.runs)
        for note in (run.policy if number % own_runs else linted(transactions, run.policy)).notes
    ]
    notes += [note for workload in own.values() for note in workload.notes]
    return Compared(found, tuple(written), tuple(dict.fromkeys(notes)), prices)


def _prices(
    statements: Abstract[str, Statement],
    settings: Sequence[Setting],
    data: Transactions,
    most: int,
    context: Context,
) -> dict[str, Prices]:
    """Return the prices of each policy that its first method can meet."""
    found = {}
    own = len(settings) // len(statements)  # settings of each, one after the other
    for number, (name, statement) in enumerate(statements.items()):
        method = settings[number * own].method
        with suppress(InfeasibleError, PolicyError):  # which the comparison tells
            found[name] = price_of(data, statement.policy, method, most=most, context=context)
    return found


def _settings(
    statements: Abstract[str, Statement],
    sweeps: Abstract[str, Sequence[Any]],
    algorithms: Sequence[str],
    data: Transactions,
) -> list[Any]:
    from overcoat.comparison.settings import vary

    chosen = list(dict.fromkeys(algorithms))
    named = {name: statement.method for name, statement in statements.items()}
    if not chosen and not any(method for method in named.values()):
        bound = [statement.policy.bind(data) for statement in statements.values()]
        chosen = [
            name
            for name in ("coat", "pcta", "apriori")
            if not any(True for one in bound for _ in methods()[name]().problems(one))
        ]
    axes = dict(sweeps)
    settings = []
    for name, statement in statements.items():
        policies: Any = {name: statement.policy} if name else statement.policy
        settings += vary(policies, **axes, algorithm=chosen or [named[name] or "coat"])
    return settings


def pgen(
    data: Input, k: int, output: str, *, allow_identifiers: bool = False, context: Context
) -> tuple[Transactions, int]:
    """Write the itemsets that protect every part of every transaction; return how many."""
    check_outputs([data.source], [output])
    with context.stage("read") as stage:
        transactions = data.read(stage)
    with context.stage("policy") as stage:
        file = shown(data.source)
        refuse_identifiers(transactions, allow=allow_identifiers, file=file, stage=stage)
        return transactions, write_pgen(transactions, k, output, stage=stage)
