"""What users call to make, apply and check a release on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import replace as changed
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overcoat.algorithms import Method
from overcoat.context import Context, Stage
from overcoat.data.identifiers import refuse_identifiers
from overcoat.data.io import Staging
from overcoat.data.origin import Origin
from overcoat.data.vocabulary import Vocabulary
from overcoat.errors import InfeasibleError, UnknownItemsError, VerificationError
from overcoat.feasibility.lint import linted
from overcoat.feasibility.why import explained
from overcoat.log import event
from overcoat.mapping import Mapping
from overcoat.policy.hierarchy import AnyHierarchy
from overcoat.policy.policy import Demands, Penalties, Policy, WeightsLike
from overcoat.policy.privacy import Family
from overcoat.policy.utility import Utility
from overcoat.release.given import (
    MappingLike,
    PolicyLike,
    ask,
    take_mapping,
    take_policy,
)
from overcoat.release.naming import LabelFrom
from overcoat.release.publish import Beside, stage_files
from overcoat.release.result import Result
from overcoat.release.walk import find_release
from overcoat.spark.checks import verify_on_cluster
from overcoat.spark.driver import fetch
from overcoat.spark.images import counted, image_of, labels_in, release_of
from overcoat.spark.jobs import Jobs
from overcoat.spark.plan import Plan, plan_for
from overcoat.spark.result import SparkResult
from overcoat.spark.session import require_pyspark
from overcoat.spark.tables import (
    Table,
    laid_out,
    released_table,
    rows_of,
    take_table,
    vocabulary_of,
)
from overcoat.spark.target import Target, target_for
from overcoat.verification import Verdict

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["anonymize", "apply", "verify"]

Papers = Callable[[Result], Beside]


def anonymize(
    df: DataFrame,
    k: int | PolicyLike | None = None,
    privacy: Family | Iterable[Family] | None = None,
    *,
    id: str | None = None,  # noqa: A002
    item: str | None = None,
    items: str | None = None,
    count: str | None = None,
    utility: Utility | str | Path | Iterable[Any] | None = None,
    max_suppressed: float | None = None,
    hierarchy: AnyHierarchy | str | Path | None = None,
    weights: WeightsLike | None = None,
    penalties: Penalties | None = None,
    policy: PolicyLike | None = None,
    method: Method | str | None = None,
    start: MappingLike | None = None,
    allow_identifiers: bool = False,
    label_from: LabelFrom | None = None,
    released: str | Path | None = None,
    mapping: str | Path | None = None,
    to: str | None = None,
    form: str = "parquet",
    replace: bool = False,
    codebook: str | Path | None = None,
    papers: Papers | None = None,
    report: Callable[[SparkResult], None] | None = None,
    context: Context | None = None,
) -> SparkResult:
    """Find a mapping for a table on a cluster, release the table there, and verify it there.

    Mapping and released rows are those that `overcoat.anonymize` gives for the same table. The
    cluster counts distinct rows; only these come to the driver.

    Parameters
    ----------
    df : a data frame of Spark
    id, item : the columns of a long table, one (person, item) pair a row
    items : the column of lists of items, one person a row
    count : of lists, the column that says how many people each row stands for; the release has one,
        too
    k, privacy, utility, max_suppressed, hierarchy, weights, penalties, policy, method, start,
        allow_identifiers, label_from : see `overcoat.anonymize`
    released : a folder, ``table:NAME``, or the address of a store; it gets its name when all is
        verified. Without it the release is verified and returned, and written nowhere
    mapping : the mapping file, on the driver; it comes into being with the release
    to : ``long`` or ``list``; by default like the input
    form : ``parquet``, or another that the session can write, such as ``delta``
    replace : what is there under the name of the release is replaced
    codebook : a table of what became of each item, on the driver: see `overcoat.Result.write`
    papers : called with the `Result` of the driver; says what makes each further file, such as a
        report. These come into being with the release, too
    report : called when all is verified, before anything gets its name
    context : how to run; its memory is what the driver may use

    Raises
    ------
    DataError : the table cannot be read, does not fit on the driver, or the cluster failed
    PolicyError, InfeasibleError, VerificationError : see `overcoat.anonymize`
    """
    require_pyspark()
    context = Context.of(context)
    asked = ask(
        policy,
        method,
        start,
        k=k,
        privacy=privacy,
        utility=utility,
        max_suppressed=max_suppressed,
        hierarchy=hierarchy,
        weights=weights,
        penalties=penalties,
    )
    table = take_table(df, id, item, items, count)
    target = _target(released, form, replace=replace)
    with _reduced(table, target, to, context) as read:
        jobs, vocabulary, seconds, plan = read.jobs, read.vocabulary, read.seconds, read.plan
        plan.require(context.memory)
        with context.stage("fetch", seconds) as stage:
            origin = Origin(table.layout, read_as="a table of Spark")
            data = fetch(read.rows, vocabulary, plan, origin, jobs, stage)
        with context.stage("policy", seconds) as stage:
            identifiers = refuse_identifiers(data, allow=allow_identifiers, stage=stage)
            bound = asked.policy.bind(data, known=asked.start or (), stage=stage)
            bound = linted(data, bound, stage=stage)
        try:
            found = find_release(
                *(data, bound, asked.method),
                context=context,
                seconds=seconds,
                identifiers=identifiers,
                label_from=label_from,
            )
        except InfeasibleError as error:
            raise explained(error, bound, stage=context.start("suggest")) from None
        made = SparkResult(found.mapping, df, found.verdict, None, found, plan, seconds)
        return _release(
            *(read, bound, made, context),
            mapping=mapping,
            papers=papers,
            codebook=codebook,
            report=report,
        )


def apply(
    df: DataFrame,
    mapping: MappingLike,
    policy: PolicyLike,
    *,
    id: str | None = None,  # noqa: A002
    item: str | None = None,
    items: str | None = None,
    count: str | None = None,
    released: str | Path | None = None,
    to: str | None = None,
    form: str = "parquet",
    replace: bool = False,
    context: Context | None = None,
) -> SparkResult:
    """Release a table on a cluster under a mapping found earlier, if the policy holds for it.

    Nothing of the table but the names of its items comes to the driver. The parameters are those of
    `anonymize`.

    Raises
    ------
    UnknownItemsError : the mapping does not cover the table
    VerificationError : the policy does not hold; the error's `verdict` says where
    """
    require_pyspark()
    context = Context.of(context)
    known, chosen = take_mapping(mapping), take_policy(policy)
    table = take_table(df, id, item, items, count)
    target = _target(released, form, replace=replace)
    with _reduced(table, target, to, context, known) as read:
        demands = _demands(chosen, read.vocabulary, known, read.plan.longest)
        # A verdict of nothing yet; that of the cluster takes its place.
        made = SparkResult(known, df, Verdict(False, (), {}, None, 0, 0.0), seconds=read.seconds)
        return _release(read, demands, made, context)


def verify(
    df: DataFrame,
    released: DataFrame,
    mapping: MappingLike,
    policy: PolicyLike,
    *,
    id: str | None = None,  # noqa: A002
    item: str | None = None,
    items: str | None = None,
    count: str | None = None,
    context: Context | None = None,
) -> Verdict:
    """Check a release on a cluster against the original, its mapping and the policy.

    All counting is done by the cluster; nothing but the names of items and labels comes to the
    driver.

    Parameters
    ----------
    df : the original
    released : the release; its columns are called as those of the original, or it has one column of
        lists
    mapping, policy : see `overcoat.verify`
    id, item, items, count : the columns of the original, see `anonymize`
    context : how to run
    """
    require_pyspark()
    context = Context.of(context)
    known, chosen = take_mapping(mapping), take_policy(policy)
    original = take_table(df, id, item, items, count)
    copy = _release_like(released, original)
    jobs = Jobs(df.sparkSession)
    try:
        with context.stage("read") as stage:
            vocabulary = vocabulary_of(original, jobs, stage)
            longest = len(vocabulary)  # no row is longer
        with context.stage("verify") as stage:
            demands = _demands(chosen, vocabulary, known, longest)
            return verify_on_cluster(original, vocabulary, copy, known, demands, jobs, stage)
    finally:
        jobs.let_go()


def _release_like(released: Any, original: Table) -> Table:
    """Take a release that is laid out as the original, or the other way."""
    columns = set(getattr(released, "columns", ()))
    layout = original.layout
    if layout.format == "long" and not {layout.id, layout.item} <= columns:
        return take_table(released)
    if layout.format == "list" and layout.items not in columns and {"id", "item"} <= columns:
        return take_table(released, "id", "item")
    return released_table(released, original)


def _demands(policy: Policy, vocabulary: Vocabulary, mapping: Mapping, longest: int) -> Demands:
    known = policy.known.union(mapping)
    return changed(policy, known=known).bind_published(vocabulary, longest)


def _target(released: str | Path | None, form: str, *, replace: bool) -> Target | None:
    return None if released is None else target_for(released, form, replace=replace)


@dataclass(frozen=True)
class _Reduced:
    """A table on the cluster, reduced to distinct rows, and where its release goes.

    Attributes
    ----------
    like : the table with the layout of its release
    rows : distinct rows of codes, kept on the cluster
    """

    like: Table
    target: Target | None
    vocabulary: Vocabulary
    rows: DataFrame
    plan: Plan
    jobs: Jobs
    seconds: dict[str, float]


@contextmanager
def _reduced(
    table: Table, target: Target | None, to: str | None, context: Context, known: Any = None
) -> Iterator[_Reduced]:
    """Reduce a table whose release is to go somewhere; let go of it when all is done.

    Parameters
    ----------
    known : a mapping that has to know all its items
    """
    like = laid_out(table, to)
    jobs, seconds = Jobs(table.frame.sparkSession), dict[str, float]()
    try:
        with context.stage("read", seconds) as stage:
            if target is not None:
                target.check(jobs, stage)
            vocabulary = vocabulary_of(table, jobs, stage)
        if known is not None and (unknown := [one for one in vocabulary if one not in known]):
            raise UnknownItemsError(unknown, known.file)
        with context.stage("reduce", seconds) as stage:
            codes = {label: code for code, label in enumerate(vocabulary)}
            rows = jobs.keep(rows_of(table, codes, jobs))
            plan = plan_for(rows, len(vocabulary), jobs, stage)
        yield _Reduced(like, target, vocabulary, rows, plan, jobs, seconds)
    finally:
        jobs.let_go()


def _release(
    read: _Reduced,
    demands: Demands,
    made: SparkResult,
    context: Context,
    *,
    mapping: str | Path | None = None,
    codebook: str | Path | None = None,
    papers: Papers | None = None,
    report: Callable[[SparkResult], None] | None = None,
) -> SparkResult:
    """Write the release, verify what was written, and give it its name; or none of it."""
    jobs, target, like = read.jobs, read.target, read.like

    def check(frame: DataFrame, stage: Stage) -> Verdict:
        copy = released_table(frame, like)
        verdict = verify_on_cluster(
            read.rows, read.vocabulary, copy, made.mapping, demands, jobs, stage
        )
        if not verdict.ok:
            lines = [violation.message for violation in verdict.violations]
            said = "\n  ".join(["verification on the cluster failed:", *lines])
            raise VerificationError(said, verdict)
        return verdict

    labels, numbers = labels_in(read.vocabulary, made.mapping)
    with context.stage("write", made.seconds) as stage:
        images = image_of(read.rows, numbers)
        # Where most rows have stayed apart, it takes longer to bring the others together.
        few = made.evidence is None or 2 * made.evidence.released.n_distinct < read.plan.n_rows
        if few or like.counted is not None:
            images = counted(images)
        here = None if made.evidence is None else made.evidence.released
        frame = release_of(images, labels, like, jobs, stage, here)
    if target is None:
        with context.stage("verify on the cluster", made.seconds) as stage:
            return changed(made, released=frame, verdict=check(frame, stage))
    with Staging() as staging:
        try:
            with context.stage("write", made.seconds) as stage:
                staged = target.stage(frame, jobs, stage)
            with context.stage("verify on the cluster", made.seconds) as stage:
                done = changed(made, verdict=check(staged, stage), name=target.name)
            if made.evidence is not None:
                stage_files(
                    *(made.evidence, staging, like.layout),
                    mapping=mapping,
                    codebook=codebook,
                    beside=None if papers is None else papers(made.evidence),
                    stage=context.start("write"),
                )
            if report is not None:
                report(done)
            staging.commit(lambda: target.commit(jobs))
        finally:
            target.end(jobs)
    event("published", f"published {target.name}", released=target.name)
    return changed(done, released=target.open(jobs.session))
