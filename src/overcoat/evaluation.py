"""What a release costs, by every measure there is."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from overcoat import html
from overcoat.checks import check_count, check_percent
from overcoat.context import QUIET, Context, Stage
from overcoat.data.transactions import Transactions
from overcoat.errors import PolicyError, Problem, VerificationError
from overcoat.least.bounds import Bounds, find_bounds
from overcoat.loss.error import Errors, ExpectedError, n_pairs
from overcoat.mapping import Mapping
from overcoat.measures.changes import Changes, count_changes
from overcoat.measures.counts import NamedCount, named_counts
from overcoat.measures.exactness import Exactness, exactness_of
from overcoat.measures.loss import Loss, measure_loss, measure_ncp
from overcoat.measures.patterns import Patterns, measure_patterns
from overcoat.measures.queries import Answers, Workload, answer, draw_workloads
from overcoat.policy.hierarchy import AnyHierarchy
from overcoat.policy.policy import BoundPolicy, Penalties, Policy, WeightsLike, given_parts
from overcoat.policy.utility import Utility
from overcoat.release.given import (
    MappingLike,
    PolicyLike,
    fill_in,
    take_data,
    take_mapping,
    take_policy,
    take_release,
)
from overcoat.verification.differences import differing_rows

__all__ = ["Evaluation", "Measure", "check_measures", "evaluate", "list_of", "measure_release"]


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """What a release costs.

    Attributes
    ----------
    n_transactions, n_items : N and M of the original
    changes : items and occurrences that are untouched, generalized, suppressed; sizes of groups
    loss : UL and penalties
    ncp : the normalized certainty penalty, from 0 to 1
    has_hierarchy : whether a hierarchy said how wide groups are, for NCP
    counts : each named utility set before and after
    answers : for each workload, how far its answers are from the truth
    patterns : which frequent itemsets and rules survive, if that was asked for
    notes : what the user should know although it is no error
    flat_ncp : NCP as it is without a hierarchy
    expected : the error of all queries of one and two items, not of drawn ones; None where there
        are too many pairs to count
    own : measures of the user's own, by name
    exactness : how many of the items that people have are told exactly, as one of several, or not
        at all
    """

    n_transactions: int
    n_items: int
    changes: Changes
    loss: Loss
    ncp: float
    has_hierarchy: bool
    counts: tuple[NamedCount, ...]
    answers: tuple[Answers, ...]
    patterns: Patterns | None
    notes: tuple[Problem, ...]
    flat_ncp: float = 0.0
    expected: Errors | None = None
    own: dict[str, float | None] = field(default_factory=dict)
    bounds: Bounds | None = None
    exactness: Exactness | None = None

    def _repr_html_(self) -> str:
        items, occurrences = self.changes.items, self.changes.occurrences
        fates = [
            (fate, getattr(items, fate), getattr(occurrences, fate))
            for fate in ("untouched", "generalized", "suppressed")
        ]
        losses: list[tuple[str, str]] = [
            *([("told", str(self.exactness))] if self.exactness else []),
            ("log2 UL", f"{self.loss.log2_ul:.4g}"),
            ("NCP", f"{self.ncp:.4g}"),
            *((name, "" if value is None else f"{value:.4g}") for name, value in self.own.items()),
        ]
        errors = [
            (answers.workload.title, f"{answers.avg_re:.3g}", f"{answers.median_re:.3g}")
            for answers in self.answers
        ]
        counts = [(one.name, one.before, one.after, "yes" * one.exact) for one in self.counts]
        return html.card(
            "What the release costs",
            html.table(fates, ["", "items", "occurrences"]),
            html.table(losses),
            html.table(errors, ["queries", "AvgRE", "median"]) if errors else "",
            html.table(counts, ["count", "before", "after", "exact"]) if counts else "",
        )

    def __repr__(self) -> str:
        errors = ", ".join(f"{answers.avg_re:.3g}" for answers in self.answers)
        return f"Evaluation(NCP {self.ncp:.3g}, AvgRE {errors or 'not measured'})"


class Measure:
    """A measure of your own: the one thing to subclass.

    It works in `evaluate` and `compare`, in their tables, plots and reports.

    Attributes
    ----------
    name : of the column in tables
    title : of the axis in plots; the name by default
    better : which values are better, the ``lowest`` or the ``highest``
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    better: ClassVar[str] = "lowest"

    def of(self, data: Transactions, released: Transactions, mapping: Mapping) -> float | None:
        """Measure `released`, which is `data` under `mapping`; None where it is not defined."""
        raise TypeError(f"{type(self).__name__} does not say how it measures: write `of`")


def check_measures(measures: Iterable[Any], taken: Container[str] = ()) -> None:
    """Refuse what is no measure, or has no name of its own."""
    seen: set[str] = set()
    for measure in measures:
        if not isinstance(measure, Measure):
            raise PolicyError(f"{measure!r} is not a Measure: subclass it")
        if not measure.name or measure.name in seen or measure.name in taken:
            raise PolicyError(
                f"{type(measure).__name__} needs a name of its own, not {measure.name!r}"
            )
        seen.add(measure.name)


def list_of(measures: Iterable[Measure] | Measure) -> tuple[Measure, ...]:
    """Take measures, or a single one."""
    return (measures,) if isinstance(measures, Measure) else tuple(measures)


def evaluate(
    data: Any,
    released: Any = None,
    mapping: MappingLike | None = None,
    *,
    utility: Utility | str | Path | Iterable[Any] | None = None,
    hierarchy: AnyHierarchy | str | Path | None = None,
    weights: WeightsLike | None = None,
    penalties: Penalties | None = None,
    policy: PolicyLike | None = None,
    workloads: Workload | Iterable[Workload] | None = None,
    min_support: float | None = None,
    min_confidence: float = 50.0,
    top: int = 100,
    measures: Iterable[Measure] = (),
    bounds: PolicyLike | bool = False,
    context: Context | None = None,
    **options: Any,
) -> Evaluation:
    """Measure what a release costs.

    Parameters
    ----------
    data : the original, `Transactions` or anything `read` takes, with its options; or a `Result`,
        which has all the rest
    released : what was published, or a file of it
    mapping : which item went where, or a mapping file
    utility : named sets whose counts are compared
    hierarchy, weights : how far apart items are, for UL and NCP; by default all the same
    penalties : loss of suppressing each item, for UL; by default its support / N
    policy : instead of these four, the policy that has them; its privacy part is not looked at
    workloads : the queries to answer, one workload or several; by default 1,000 of each of 1, 2
        and 3 items, drawn among all items
    min_support : measure the survival of patterns, too: of the itemsets of up to 3 items held by
        that many percent of the transactions
    min_confidence : of rules, in percent
    top : K of the K most supported itemsets
    measures : measures of your own
    bounds : say how far from the least possible the loss is at most: that of the policy or the
        result (True), or of a policy given here; see `overcoat.bounds`
    context : how to run

    Raises
    ------
    VerificationError : `released` is not `data` under `mapping`
    UnknownItemsError : the mapping does not cover the data
    PolicyError : something else that was given is wrong

    >>> data = Transactions.of([{"a", "b"}, {"a"}, {"b"}, {"c"}])
    >>> mapping = Mapping.of("abc", [["a", "b"], ["c"]])
    >>> evaluation = evaluate(data, mapping.apply(data), mapping)
    >>> round(evaluation.ncp, 3), [round(answers.avg_re, 3) for answers in evaluation.answers]
    (0.533, [0.0, 0.333])
    """
    context, measures = Context.of(context), list_of(measures)
    parts = {
        "utility": utility,
        "hierarchy": hierarchy,
        "weights": weights,
        "penalties": penalties,
    }
    given = given_parts(policy, parts)
    released, mapping, filled = fill_in(data, released, mapping, policy)
    policy = policy if given else filled
    data = take_data(data, options, context)
    mapping = take_mapping(mapping)
    released = take_release(released, data, stage=context.start("read"))
    check_percent("min_confidence", min_confidence)
    check_measures(measures)
    top = check_count("top", top)
    stated = Policy(k=1, privacy=(), **given) if policy is None else take_policy(policy)
    bound = stated.bind(data, privacy=False, known=mapping)
    _check_release(data, released, mapping)
    least = _bounds(data, mapping, policy if bounds is True else bounds or None, bounds, context)
    if workloads is None:
        with context.stage("queries") as stage:
            workloads = draw_workloads(data, stage=stage)
    workloads = _checked_workloads(workloads)
    with context.stage("evaluate") as stage:
        patterns = None
        if min_support is not None:
            patterns = measure_patterns(
                data,
                released,
                mapping,
                _least_count(min_support, data.n_transactions),
                min_confidence,
                top,
                stage=stage,
            )
        return measure_release(
            *(data, released, mapping, bound, workloads, patterns),
            measures=measures,
            bounds=least,
            expected=True,
            stage=stage,
        )


def _bounds(
    data: Transactions, mapping: Mapping, policy: Any, asked: Any, context: Context
) -> Bounds | None:
    """Return the bounds of a policy, if they were asked for."""
    if asked is False:
        return None
    if policy is None:
        raise PolicyError("bounds are those of a policy: give it, or the Result that has it")
    with context.stage("bounds") as stage:
        bound = take_policy(policy).bind(data, known=mapping, stage=stage)
        return find_bounds(data, bound, stage=stage)


def measure_release(
    data: Transactions,
    released: Transactions,
    mapping: Mapping,
    policy: BoundPolicy,
    workloads: Sequence[Workload],
    patterns: Patterns | None = None,
    *,
    measures: Iterable[Measure] = (),
    bounds: Bounds | None = None,
    expected: bool = False,
    stage: Stage = QUIET,
) -> Evaluation:
    """Measure a release that is known to be the data under the mapping."""
    own = {measure.name: measure.of(data, released, mapping) for measure in measures}
    answers = []
    for number, workload in enumerate(workloads):
        stage(number, len(workloads))
        answers.append(answer(workload, data, released, mapping, stage=stage))
    errors = None
    if expected and n_pairs(data) <= ExpectedError.MOST:
        errors = ExpectedError(data, stage=stage).total(mapping.partition_of(data))
    return Evaluation(
        n_transactions=data.n_transactions,
        n_items=data.n_items,
        changes=count_changes(data, mapping),
        loss=measure_loss(data, released, mapping, policy),
        ncp=measure_ncp(data, mapping, policy.hierarchy),
        has_hierarchy=policy.hierarchy is not None,
        counts=named_counts(data, released, mapping, policy, stage),
        answers=tuple(answers),
        patterns=patterns,
        notes=(*policy.notes, *(note for workload in workloads for note in workload.notes)),
        flat_ncp=measure_ncp(data, mapping),
        expected=errors,
        exactness=exactness_of(data, mapping),
        own={name: None if value is None else float(value) for name, value in own.items()},
        bounds=bounds,
    )


def _check_release(data: Transactions, released: Transactions, mapping: Mapping) -> None:
    """Measures of something that is not the release of these data would mean nothing."""
    if mapping.apply(data) == released:
        return
    lines = [f"  {message}" for message, _, _ in differing_rows(data, released, mapping)]
    if len(lines) > 5:
        lines[5:] = [f"  … and {len(lines) - 5:,} more"]
    message = "the release is not the data under this mapping; these rows differ:"
    raise VerificationError("\n".join([message, *lines]))


def _checked_workloads(workloads: Any) -> tuple[Workload, ...]:
    several = (workloads,) if isinstance(workloads, Workload) else workloads
    if isinstance(several, Iterable):
        several = tuple(several)
        if all(isinstance(workload, Workload) for workload in several):
            return several
    raise PolicyError("workloads must be Workloads: draw_workload and Workload.of make them")


def _least_count(min_support: float, n_transactions: int) -> int:
    """Return how many transactions so many percent are, at least one."""
    return max(1, math.ceil(check_percent("min_support", min_support) * n_transactions / 100))
