"""Making a release, and saying why it is as it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from overcoat.advice.explain import Explanation
from overcoat.advice.explain import explain as explain_item
from overcoat.advice.suggest import suggest as suggest_policies
from overcoat.advice.written import proposal_lines, write_proposals
from overcoat.algorithms import Method
from overcoat.application.reporting import publish_papers
from overcoat.application.said import Input, Outputs, Statement
from overcoat.context import Context
from overcoat.data.identifiers import refuse_identifiers
from overcoat.data.io import check_folder, check_outputs
from overcoat.data.io.databases.address import is_address, shown
from overcoat.data.io.names import ending_note, formula_note, output_layout
from overcoat.data.layout import Layout
from overcoat.data.vocabulary import Vocabulary
from overcoat.errors import InfeasibleError, PolicyError, Problem, problem_lines
from overcoat.feasibility.lint import linted
from overcoat.feasibility.why import explained
from overcoat.mapping import Mapping
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.sets import near_items
from overcoat.release.codebook import check_codebook
from overcoat.release.exposed import Exposed, exposed
from overcoat.release.naming import check_names
from overcoat.release.result import Result
from overcoat.release.sinks import Sink, sink_for
from overcoat.release.walk import find_release, make_release
from overcoat.words import listed

__all__ = ["anonymize", "explain", "notes_on"]


def anonymize(
    data: Input,
    statement: Statement,
    outputs: Outputs,
    *,
    use: str | None = None,
    start: str | None = None,
    suggest: str | None = None,
    context: Context,
    report: Callable[[Result, Exposed], None] | None = None,
) -> Result:
    """Find a mapping, or take the one of the file `use`, and publish the release.

    `start` is the file of an earlier mapping to go on from. `suggest` is a folder: when the policy
    cannot be met, policies near it that can are written there. `report` is called when all is
    checked, before any file gets its name: should it fail, nothing is published; who is unique is
    counted for it, and only if it is given. A dry run does all but writing.
    """
    began = time.perf_counter()
    seconds: dict[str, float] = {}
    earlier = None if start is None else Mapping.read(start)
    policy, method = statement.bind_method(earlier)
    check_codebook(outputs.codebook)
    sink = sink_for(outputs.released, replace=outputs.replace)
    papers = outputs.papers
    papers.check(outputs.mapping)
    targets = [outputs.mapping, outputs.codebook, *papers.files.values()]
    check_outputs([data.source, use, start, *papers.inputs, *policy.files], [*sink.files, *targets])
    if suggest is not None:
        check_folder(Path(suggest))
    sink.check_beside(*targets)
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
        bound = policy.bind(transactions, known=known or earlier or (), stage=stage)
        bound = linted(transactions, bound, stage=stage)
    _check_labels(sink, layout, outputs, bound, known)
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
            infeasible = _explained(
                error, bound, statement, method, suggest, context, outputs.dry_run
            )
            raise infeasible from None
    else:
        result = make_release(transactions, bound, known, context, seconds, insisted)
    risk = None
    if report is not None:
        with context.stage("risk", seconds) as stage:
            risk = exposed(result, stage=stage)
    writing = time.perf_counter()

    def told() -> None:
        now = time.perf_counter()
        seconds.update(write=now - writing, total=now - began)
        if report is not None and risk is not None:
            report(result, risk)

    keep_order = outputs.keep_order
    beside = publish_papers(papers, result, keep_order=keep_order, context=context)
    if outputs.dry_run:
        told()
        return result
    result.write(
        sink,
        mapping=outputs.mapping,
        codebook=outputs.codebook,
        to=outputs.to,
        keep_order=outputs.keep_order,
        report=told,
        beside=beside,
        context=context,
    )
    return result


def _check_labels(
    sink: Sink, layout: Layout, outputs: Outputs, bound: BoundPolicy, known: Mapping | None
) -> None:
    """Raise if the target cannot hold the labels there will be, as far as they are known."""
    if layout.format == "basket" and layout.sep is None:
        check_names(bound, outputs.label_from, outputs.released)
    if known is not None:
        sink.check_labels(filter(None, known.values()), layout)
    elif outputs.label_from is None:  # then every label has its items in it
        sink.check_labels(bound.vocabulary, layout)


def notes_on(result: Result, outputs: Outputs) -> list[str]:
    """Return what the owner should know of a result, and of the files it is written to."""
    notes = list(problem_lines(result.notes))
    released, codebook = outputs.released, outputs.codebook
    if released != "-" and not is_address(released):
        layout = output_layout(released, result.data.layout, outputs.to)
        odd = [ending_note(released, layout)]
        odd.append(formula_note(released, layout, result.released.vocabulary))
        if codebook is not None:
            odd.append(formula_note(codebook, output_layout(codebook, None), result.mapping))
        notes += filter(None, odd)
    return notes


def _explained(
    error: InfeasibleError,
    bound: BoundPolicy,
    statement: Statement,
    method: Method,
    folder: str | None,
    context: Context,
    dry_run: bool,
) -> InfeasibleError:
    """Add which utility sets clash and, if a folder is given, policies that are met.

    They are written there, but for a dry run.
    """
    data = error.result.data
    lines = [str(explained(error, bound, stage=context.start("suggest")))]
    if folder is None:
        lines.append("--suggest DIR tries policies near this one and writes those that are met")
    else:
        proposals = suggest_policies(data, statement.policy, method, context=context)
        where, written = "not written: this is a dry run", list[Path]()
        if not dry_run:
            where = folder
            written = write_proposals(folder, proposals, bound.settled, statement.settings)
        lines += ["", f"policies near this one that are met ({where}):"]
        lines += proposal_lines(proposals, statement.policy)
        if older := sorted({*Path(folder).glob("*.toml")} - {*written}) if written else ():
            lines.append(
                f"not of this run, but in {folder}, too: {listed([p.name for p in older])}"
            )
        if bound.utility.named and bound.hierarchy is None:
            lines.append(
                "without a hierarchy nobody can tell which sets are near: with --hierarchy, sets "
                "that clash are joined with their nearest, too"
            )
        error.proposals = tuple(str(path) for path in written if path.suffix == ".toml")
    error.args = ("\n".join(lines),)
    return error


def _items(
    asked: Sequence[str], policy: BoundPolicy, mapping: Mapping | None, vocabulary: Vocabulary
) -> list[str]:
    """Return the items that were asked for, by themselves or by what they are in."""
    several = {} if mapping is None else dict(mapping.groups)
    for block in policy.utility.named:
        several[block.name] = tuple(vocabulary[code] for code in block.codes)
    found: dict[str, None] = {}
    unknown = []
    for name in asked:
        if name in vocabulary:
            found[name] = None
        elif name in several:
            found.update(dict.fromkeys(item for item in several[name] if item in vocabulary))
        else:
            unknown.append(name)
    if unknown:
        raise PolicyError(
            Problem(
                f"{name!r} is no item of the data, no utility set and no label of --mapping"
                f"{near_items(name, [*vocabulary, *several])}"
            )
            for name in unknown
        )
    return [*found]


def explain(
    items: Sequence[str],
    data: Input,
    mapping: str | None,
    statement: Statement,
    *,
    start: str | None = None,
    context: Context,
) -> tuple[list[Explanation], list[Problem]]:
    """Run the method again, and say why items became what they are published as.

    The name of a utility set, or a label of the mapping, stands for its items.
    """
    earlier = None if start is None else Mapping.read(start)
    policy, method = statement.bind_method(earlier)
    known = None if mapping is None else Mapping.read(mapping)
    with context.stage("read") as stage:
        transactions = data.read(stage)
    with context.stage("policy") as stage:
        bound = policy.bind(transactions, known=known or earlier or (), stage=stage)
    items = _items(items, bound, known, transactions.vocabulary)
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
