"""What a release costs, by every measure there is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from overcoat.data.generate import checked_count
from overcoat.data.io import read
from overcoat.data.transactions import Transactions
from overcoat.errors import PolicyError, Problem, VerificationError
from overcoat.mapping import Mapping
from overcoat.measures.changes import Changes, count_changes
from overcoat.measures.counts import NamedCount, named_counts
from overcoat.measures.loss import Loss, measure_loss
from overcoat.measures.ncp import measure_ncp
from overcoat.measures.patterns import Patterns, measure_patterns
from overcoat.measures.queries import Answers, Workload, answer, draw_workloads
from overcoat.policy.hierarchy import Hierarchy
from overcoat.policy.policy import BoundPolicy, Penalties, Policy, WeightsLike, given_parts
from overcoat.policy.utility import Utility
from overcoat.release import knowing
from overcoat.verification.differences import differing_rows

__all__ = ["Evaluation", "evaluate", "measure_release"]


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

    def __repr__(self) -> str:
        errors = ", ".join(f"{answers.avg_re:.3g}" for answers in self.answers)
        return f"Evaluation(NCP {self.ncp:.3g}, AvgRE {errors or 'not measured'})"


def evaluate(
    data: Any,
    released: Any,
    mapping: Mapping,
    *,
    utility: Utility | None = None,
    hierarchy: Hierarchy | None = None,
    weights: WeightsLike | None = None,
    penalties: Penalties | None = None,
    policy: Policy | None = None,
    workloads: Workload | Iterable[Workload] | None = None,
    min_support: float | None = None,
    min_confidence: float = 50.0,
    top: int = 100,
) -> Evaluation:
    """Measure what a release costs.

    Parameters
    ----------
    data, released : the original and what was published; `Transactions`, or anything `read` takes
    mapping : which item went where
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

    Raises
    ------
    VerificationError : `released` is not `data` under `mapping`
    MappingError : the mapping does not cover the data
    PolicyError : something else that was given is wrong

    >>> data = Transactions.of([{"a", "b"}, {"a"}, {"b"}, {"c"}])
    >>> mapping = Mapping.of("abc", [["a", "b"], ["c"]])
    >>> evaluation = evaluate(data, mapping.apply(data), mapping)
    >>> round(evaluation.ncp, 3), [round(answers.avg_re, 3) for answers in evaluation.answers]
    (0.533, [0.0, 0.333])
    """
    data, released = read(data), read(released)
    if not isinstance(mapping, Mapping):
        raise PolicyError(f"mapping must be a Mapping (Mapping.read reads one), not {mapping!r}")
    confidence = _checked_percent("min_confidence", min_confidence) / 100
    top = checked_count("top", top, 1)
    parts = {
        "utility": utility,
        "hierarchy": hierarchy,
        "weights": weights,
        "penalties": penalties,
    }
    given = given_parts(policy, parts)
    if policy is None:
        policy = Policy(k=1, privacy=(), **given)
    bound = knowing(policy, mapping).bind(data, privacy=False)
    _check_release(data, released, mapping)
    workloads = draw_workloads(data) if workloads is None else _checked_workloads(workloads)
    patterns = None
    if min_support is not None:
        patterns = measure_patterns(
            data,
            released,
            mapping,
            _least_count(min_support, data.n_transactions),
            confidence,
            top,
        )
    return measure_release(data, released, mapping, bound, workloads, patterns)


def measure_release(
    data: Transactions,
    released: Transactions,
    mapping: Mapping,
    policy: BoundPolicy,
    workloads: Sequence[Workload],
    patterns: Patterns | None = None,
) -> Evaluation:
    """Measure a release that is known to be the data under the mapping."""
    return Evaluation(
        n_transactions=data.n_transactions,
        n_items=data.n_items,
        changes=count_changes(data, mapping),
        loss=measure_loss(data, released, mapping, policy),
        ncp=measure_ncp(data, mapping, policy.hierarchy),
        has_hierarchy=policy.hierarchy is not None,
        counts=named_counts(data, released, mapping, policy),
        answers=tuple(answer(workload, data, released, mapping) for workload in workloads),
        patterns=patterns,
        notes=(*policy.notes, *(note for workload in workloads for note in workload.notes)),
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


def _checked_percent(name: str, value: Any) -> Any:
    number = isinstance(value, (Real, np.number)) and not isinstance(value, bool)
    if not number or not 0 <= float(value) <= 100:  # also refuses nan
        raise PolicyError(f"{name} is a percentage from 0 to 100, not {value!r}")
    return value


def _least_count(min_support: float, n_transactions: int) -> int:
    """Return how many transactions so many percent are, at least one."""
    # 0.1 means one tenth of a percent, not the double nearest to it.
    percent = Fraction(str(_checked_percent("min_support", min_support)))
    return max(1, math.ceil(percent * n_transactions / 100))
