"""One layer between the surfaces (the command, a page, a notebook) and the library.

Each function here goes all the way: it reads what the user names, states the policy, chooses the
method, does the work under a context, and writes what was asked for, all or nothing. A surface
parses what people say and renders what comes back; it composes nothing itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Mapping as Abstract
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overcoat.advice.explain import Explanation
from overcoat.advice.explain import explain as explain_item
from overcoat.advice.suggest import clashes_of, explain_clashes
from overcoat.advice.suggest import suggest as suggest_policies
from overcoat.advice.written import proposal_lines, write_proposals
from overcoat.algorithms import Method, methods, take_method
from overcoat.context import Context, Stage
from overcoat.data.identifiers import refuse_identifiers
from overcoat.data.io import Asked, Staging, check_outputs, pack, read_source, send
from overcoat.data.io.databases.address import shown
from overcoat.data.transactions import Transactions
from overcoat.errors import InfeasibleError, InputError, PolicyError, Problem
from overcoat.evaluation import Evaluation
from overcoat.evaluation import evaluate as measure
from overcoat.exposure.risk import Attack, Risk
from overcoat.mapping import Mapping
from overcoat.measures.queries import Workload, draw_workloads
from overcoat.policy.config import read_settings, state_policy
from overcoat.policy.omop import settle_omop
from overcoat.policy.pgen import write_pgen
from overcoat.policy.policy import BoundPolicy, Policy
from overcoat.policy.privacy import BoundAllItemsets
from overcoat.release.codebook import check_codebook
from overcoat.release.exposed import Exposed, exposed
from overcoat.release.given import pair_notes, take_release
from overcoat.release.naming import check_names
from overcoat.release.result import Result
from overcoat.release.risk import attack as try_attacks
from overcoat.release.risk import risk as measure_risk
from overcoat.release.sinks import sink_for
from overcoat.release.walk import find_release, make_release
from overcoat.report.evaluation import query_table
from overcoat.verification import Verdict
from overcoat.verification import verify as check

if TYPE_CHECKING:
    from overcoat.comparison.compare import Comparison

__all__ = [
    "Assessed",
    "Checked",
    "Compared",
    "Input",
    "Outputs",
    "Questions",
    "Statement",
    "anonymize",
    "compare",
    "evaluate",
    "explain",
    "pgen",
    "risk",
    "verify",
]


@dataclass(frozen=True)
class Input:
    """Data as a user names them: a file, and how it is to be read."""

    source: str = field(repr=False)  # an address may hold a password
    asked: Asked = field(default_factory=Asked)

    def read(self, stage: Stage, *, keep_order: bool = False) -> Transactions:
        """Read the transactions."""
        return read_source(self.source, self.asked, keep_order=keep_order, stage=stage)

    @property
    def set_sep(self) -> str | None:
        """What splits the items of a set file: as the user says, or "", as in the data."""
        return "" if self.asked.sep is None else self.asked.sep


@dataclass(frozen=True)
class Statement:
    """What a user states: a policy, and the method if one was named."""

    policy: Policy
    method: str | None = None
    settings: Abstract[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        settings: Abstract[str, Any],
        file: str | None = None,
        *,
        sep: str | None = "",
        privacy: bool = True,
        data: Input | None = None,
    ) -> Statement:
        """Join a policy file and settings; the settings win.

        Parameters
        ----------
        settings : values by the keys of `policy.toml`, None where nothing was said
        file : the policy file
        sep : how set files split items; "" as in the data
        privacy : whether the policy has to protect something; measures do without
        data : what it is about, of which a hierarchy and utility sets may come
        """
        stated = {} if file is None else read_settings(file)
        either = {"utility": "utility_level", "utility_level": "utility"}
        for key, other in either.items():
            if settings.get(key) is not None:
                stated.pop(other, None)  # what is said on the command line wins
        stated |= {key: value for key, value in settings.items() if value is not None}
        said = dict(stated)
        method = stated.pop("algorithm", None)
        stated, problems = settle_omop(stated, data)
        files = [] if file is None else [file]
        policy = state_policy(stated, sep=sep, privacy=privacy, files=files)
        return cls(policy.with_problems(problems), method, said)

    def bind_method(self) -> tuple[Policy, Method]:
        """Return the policy and the method; an unknown name is a problem of the policy."""
        try:
            return self.policy, take_method(self.method)
        except PolicyError as error:
            return self.policy.with_problems(error.problems), take_method(None)


@dataclass(frozen=True)
class Outputs:
    """Where a release goes, and what goes with it."""

    released: str = field(repr=False)  # an address may hold a password
    mapping: str | None = None
    to: str | None = None
    keep_order: bool = False
    allow_identifiers: bool = False
    codebook: str | None = None
    label_from: str | None = None
    replace: bool = False


@dataclass(frozen=True)
class Questions:
    """The queries by which a release is measured: drawn, or a user's own."""

    file: str | None = None
    sizes: Sequence[int] | None = None
    number: int = 1000
    seed: int = 0
    among: str = "all"
    by: Any = "items"

    @property
    def draws(self) -> bool:
        """Whether any are to be drawn."""
        return self.file is None or self.sizes is not None

    def read(self, data: Transactions, sep: str | None, known: Iterable[str]) -> list[Workload]:
        """Read the user's own."""
        if self.file is None:
            return []
        return [Workload.read(self.file, data, sep=sep, known=known)]


# -- making a release ---------------------------------------------------------------------------


def anonymize(
    data: Input,
    statement: Statement,
    outputs: Outputs,
    *,
    use: str | None = None,
    suggest: str | None = None,
    context: Context,
    report: Callable[[Result, Exposed], None] = lambda result, risk: None,
) -> Result:
    """Find a mapping, or take the one of the file `use`, and publish the release.

    `report` is called when all is checked, before any file gets its name: should it fail, nothing
    is published. `suggest` is a folder: when the policy cannot be met, policies near it that can
    are written there.
    """
    began = time.perf_counter()
    seconds: dict[str, float] = {}
    policy, method = statement.bind_method()
    check_codebook(outputs.codebook)
    sink = sink_for(outputs.released, replace=outputs.replace)
    targets = [*sink.files, outputs.mapping, outputs.codebook]
    check_outputs([data.source, use, *policy.files], targets)
    sink.check_beside(outputs.mapping, outputs.codebook)
    sink.check(source=data.source, query=data.asked.query, stage=context.start("check"))
    known = None if use is None else Mapping.read(use)
    with context.stage("read", seconds) as stage:
        transactions = data.read(stage, keep_order=outputs.keep_order)
    layout = sink.layout(transactions.layout, outputs.to)  # or it would fail after all the work
    sink.check_room(transactions, layout)
    with context.stage("policy", seconds) as stage:
        allow = outputs.allow_identifiers
        insisted = refuse_identifiers(
            transactions, allow=allow, file=shown(data.source), stage=stage
        )
        bound = policy.bind(transactions, known=known or (), stage=stage)
    if layout.format == "basket" and layout.sep is None:
        check_names(bound, outputs.label_from, outputs.released)
    if known is None:
        try:
            result = find_release(
                *(transactions, bound, method),
                context=context,
                seconds=seconds,
                identifiers=insisted,
                label_from=outputs.label_from,
            )
        except InfeasibleError as error:
            raise _explained(error, bound, statement, method, suggest, context) from None
    else:
        result = make_release(transactions, bound, known, context, seconds, insisted)
    with context.stage("risk", seconds) as stage:
        risk = exposed(result, stage=stage)
    writing = time.perf_counter()

    def told() -> None:
        now = time.perf_counter()
        seconds.update(write=now - writing, total=now - began)
        report(result, risk)

    result.write(
        sink,
        mapping=outputs.mapping,
        codebook=outputs.codebook,
        to=outputs.to,
        keep_order=outputs.keep_order,
        report=told,
        context=context,
    )
    return result


def _explained(
    error: InfeasibleError,
    bound: BoundPolicy,
    statement: Statement,
    method: Method,
    folder: str | None,
    context: Context,
) -> InfeasibleError:
    """Add which utility sets clash and, if a folder is given, policies that are met."""
    data = error.result.data
    lines = [str(error)]
    clashes = clashes_of(data, bound, context)
    if clashes is not None:
        lines += explain_clashes(clashes, bound.k)
    if folder is None:
        lines.append("--suggest DIR tries policies near this one and writes those that are met")
    else:
        proposals = suggest_policies(data, statement.policy, method, context=context)
        written = write_proposals(folder, proposals, bound.settled, statement.settings)
        lines += ["", f"policies near this one that are met ({folder}):"]
        lines += proposal_lines(proposals)
        error.proposals = tuple(str(path) for path in written if path.suffix == ".toml")
    error.args = ("\n".join(lines),)
    return error


def explain(
    items: Sequence[str],
    data: Input,
    mapping: str | None,
    statement: Statement,
    *,
    context: Context,
) -> tuple[list[Explanation], list[Problem]]:
    """Run the method again, and say why items became what they are published as."""
    policy, method = statement.bind_method()
    known = None if mapping is None else Mapping.read(mapping)
    with context.stage("read") as stage:
        transactions = data.read(stage)
    unknown = [item for item in items if item not in transactions.vocabulary]
    if unknown:
        raise PolicyError(Problem(f"item {item!r} does not occur in the data") for item in unknown)
    with context.stage("policy") as stage:
        bound = policy.bind(transactions, known=known or (), stage=stage)
    result = find_release(transactions, bound, method, partial=True, context=context, seconds={})
    notes = list(result.notes)
    if known is not None and result.mapping != known:
        notes.append(
            Problem(
                "is not what this method finds for these data and policy: these are "
                "the reasons of what it finds",
                mapping,
            )
        )
    with context.stage("explain") as stage:
        return [explain_item(result, item, stage=stage) for item in items], notes


# -- checking and measuring one -----------------------------------------------------------------


@dataclass(frozen=True)
class Checked:
    """A verdict, the k it is about, and notes on the policy."""

    verdict: Verdict
    k: int
    notes: tuple[Problem, ...]


def verify(
    data: Input,
    released: str,
    mapping: str,
    statement: Statement,
    *,
    to: str | None = None,
    context: Context,
) -> Checked:
    """Check a release against the original, its mapping and the policy."""
    known = Mapping.read(mapping)
    with context.stage("read") as stage:
        original = data.read(stage)
        copy = take_release(released, original, to, stage=stage)
    with context.stage("policy") as stage:
        bound = statement.policy.bind(original, known=known, stage=stage)
    with context.stage("verify") as stage:
        verdict = check(original, copy, known, bound, stage=stage)
    return Checked(verdict, bound.k, (*bound.notes, *pair_notes(original, copy, known)))


def evaluate(
    data: Input,
    released: str,
    mapping: str,
    statement: Statement,
    questions: Questions,
    *,
    to: str | None = None,
    output: str | None = None,
    context: Context,
    report: Callable[[Evaluation], None] = lambda evaluation: None,
    **options: Any,
) -> Evaluation:
    """Measure what a release costs; `output` gets every query with its answer.

    `options` are those of `overcoat.evaluate`; `report` as for `anonymize`.
    """
    policy = statement.policy
    check_outputs([data.source, released, mapping, questions.file, *policy.files], [output])
    known = Mapping.read(mapping)
    with context.stage("read") as stage:
        original = data.read(stage)
        copy = take_release(released, original, to, stage=stage)
    with context.stage("queries") as stage:
        workloads = questions.read(original, data.set_sep, policy.known.union(known))
        if questions.draws:
            among = known.generalized if questions.among == "generalized" else None
            sizes, drawn = questions.sizes, (questions.number, questions.seed)
            workloads += draw_workloads(original, sizes, *drawn, among, questions.by, stage=stage)
    evaluation = measure(
        *(original, copy, known), policy=policy, workloads=workloads, context=context, **options
    )
    with Staging() as staging:
        table = query_table(evaluation).encode() if output is not None else b""
        if output is not None and output != "-":
            staging.stage(output).write_bytes(pack(output, table))
        report(evaluation)
        if output == "-":
            send(table)
        staging.commit()
    return evaluation


@dataclass(frozen=True)
class Assessed:
    """The risk, attacks that were tried, and notes on how the data were read."""

    risk: Risk
    attacks: tuple[Attack, ...]
    notes: tuple[str, ...]


def risk(
    data: Input,
    released: str | None,
    mapping: str | None,
    *,
    linkable: str | None = None,
    attacks: int = 0,
    to: str | None = None,
    context: Context,
    **options: Any,
) -> Assessed:
    """Say what an attacker can do; `options` are those of `overcoat.risk`."""
    known = None if mapping is None else Mapping.read(mapping)
    with context.stage("read") as stage:
        original = data.read(stage)
        copy = None if released is None else take_release(released, original, to, stage=stage)
    if linkable is not None:
        stated = Statement.of({"k": 1, "km": 1, "linkable": linkable}, sep=data.set_sep)
        family = stated.policy.bind(original).families[0]
        assert isinstance(family, BoundAllItemsets)
        options["linkable"] = list(compress(original.vocabulary, family.linkable))
    found = measure_risk(original, copy, known, context=context, **options)
    tried: tuple[Attack, ...] = ()
    if attacks:
        of = {name: options[name] for name in ("known", "linkable", "seed") if name in options}
        tried = try_attacks(original, None, known, number=attacks, context=context, **of)
    return Assessed(found, tried, original.origin.notes)


# -- comparing several --------------------------------------------------------------------------


@dataclass(frozen=True)
class Compared:
    """A comparison, the files it was written to, and notes."""

    comparison: Comparison
    files: tuple[Path, ...]
    notes: tuple[Problem, ...]


def compare(
    data: Input,
    statements: Abstract[str, Statement],
    sweeps: Abstract[str, Sequence[Any]],
    algorithms: Sequence[str],
    questions: Questions,
    folder: Path,
    *,
    context: Context,
    report: Callable[[Comparison, Sequence[Path]], None] = lambda comparison, files: None,
) -> Compared:
    """Run methods and policies side by side and write what they cost into a folder.

    Parameters
    ----------
    statements : policies by name; a single one has the name ""
    sweeps : values to try, see `overcoat.vary`
    algorithms : the methods; if none is named, those of COAT, PCTA and Apriori that can take all
        policies, unless a policy file names one
    """
    from overcoat.comparison.compare import compare as run_field
    from overcoat.comparison.figures import FILES
    from overcoat.comparison.runs import make_folder

    policies = {name: statement.policy for name, statement in statements.items()}
    with context.stage("read") as stage:
        transactions = data.read(stage)
    settings = _settings(statements, sweeps, algorithms, transactions)
    known = {item for policy in policies.values() for item in policy.known}
    own = dict(zip(["own"], questions.read(transactions, data.set_sep, known), strict=False))
    fresh = not folder.exists()
    make_folder(folder)
    files = [file for policy in policies.values() for file in policy.files]
    targets = ["results.csv", "results.parquet", "index.html", *FILES]
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
            folder=folder / "runs",
            context=context,
        )
    except InputError:
        if fresh:
            with suppress(OSError):  # it is not empty: finished runs are kept
                folder.rmdir()
        raise
    context.start("write")
    title = f"Comparison on {Path(shown(data.source)).name}"
    written = found.write(folder, title=title, report=lambda files: report(found, files))
    notes = [note for run in found.runs for note in run.policy.notes]
    notes += [note for workload in own.values() for note in workload.notes]
    return Compared(found, tuple(written), tuple(dict.fromkeys(notes)))


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


# -- and a file of constraints ------------------------------------------------------------------


def pgen(data: Input, k: int, output: str, *, context: Context) -> tuple[Transactions, int]:
    """Write the itemsets that protect every part of every transaction; return how many."""
    check_outputs([data.source], [output])
    with context.stage("read") as stage:
        transactions = data.read(stage)
    with context.stage("policy") as stage:
        return transactions, write_pgen(transactions, k, output, stage=stage)
