"""The walk from bound policy and method to a result: find, apply, verify, measure."""

from __future__ import annotations

import logging
from dataclasses import replace
from math import floor

from overcoat.algorithms.method import Method
from overcoat.algorithms.outcome import Outcome
from overcoat.context import Context
from overcoat.data.memory import require_memory
from overcoat.data.transactions import Transactions
from overcoat.errors import InfeasibleError, MappingError, PolicyError, Problem, VerificationError
from overcoat.log import event
from overcoat.mapping import Mapping
from overcoat.measures.counts import named_counts
from overcoat.measures.loss import measure_loss
from overcoat.partition import Partition
from overcoat.policy.policy import BoundPolicy
from overcoat.release.forecast import forecast
from overcoat.release.naming import check_label_from, group_names
from overcoat.release.result import Result
from overcoat.release.starting import check_start, go_on
from overcoat.verification import Verdict, verify
from overcoat.words import count_of, people

__all__ = ["find_again", "find_release", "make_release"]

_SHOWN_SETS = 10
_SHOWN_ITEMS = 20


def find_release(
    data: Transactions,
    policy: BoundPolicy,
    method: Method,
    *,
    partial: bool = False,
    context: Context,
    seconds: dict[str, float],
    identifiers: tuple[str, ...] = (),
    label_from: str | None = None,
) -> Result:
    """Find a mapping by a method, and make the release under it.

    Parameters
    ----------
    data, policy : the policy is bound to the data
    partial : where the policy cannot be met within s, return what would have met it
    seconds : OUT, the time of each stage is added
    identifiers : why items look like identifiers, where the owner insists on publishing them
    label_from : utility or hierarchy, where groups have their names from
    """
    check_label_from(policy, label_from)
    if problems := list(method.problems(policy)):
        raise PolicyError(map(Problem, problems))
    if method.start is not None:
        check_start(method.start, data, policy)
    expected = forecast(data, policy, method)
    event(
        "forecast",
        f"{method.name} is likely to take {expected}",
        expected_seconds=expected.seconds and round(expected.seconds, 1),
        expected_memory=expected.memory,
    )
    require_memory(expected.memory, "the work", limit=context.memory)
    with context.stage("anonymize", seconds) as stage:
        outcome = method.find(data, policy, stage)
        if not isinstance(outcome, Outcome) or not isinstance(outcome.partition, Partition):
            raise PolicyError(
                f"the method {method.name} must return an Outcome of a Partition, not {outcome!r}"
            )
        names = group_names(policy, outcome.partition, label_from)
        if method.start is None:
            mapping = Mapping.over(data.vocabulary, outcome.partition, names)
        else:
            mapping = go_on(method.start, data.vocabulary, outcome.partition, names)
    result = make_release(data, policy, mapping, context, seconds, identifiers, method, outcome)
    if outcome.unmet or (method.start is not None and _exceeds(policy, mapping, result.verdict)):
        if partial:
            return result
        raise _infeasible(result, outcome, method.advice)
    _check_verdict(result)
    return result


def make_release(
    data: Transactions,
    policy: BoundPolicy,
    mapping: Mapping,
    context: Context,
    seconds: dict[str, float],
    identifiers: tuple[str, ...] = (),
    method: Method | None = None,
    outcome: Outcome | None = None,
) -> Result:
    """Apply a mapping, verify and measure; of a mapping found earlier, the policy must hold."""
    with context.stage("apply", seconds) as stage:
        released = mapping.apply(data, stage=stage)
    with context.stage("verify", seconds) as stage:
        verdict = verify(data, released, mapping, policy, stage=stage)
    with context.stage("measure", seconds) as stage:
        loss = measure_loss(data, released, mapping, policy)
        counts = named_counts(data, released, mapping, policy, stage)
    partial = not verdict.ok or bool(outcome is not None and outcome.unmet)
    if method is not None and method.start is not None:
        partial = partial or _exceeds(policy, mapping, verdict)
    result = Result(
        data=data,
        policy=policy,
        method=method,
        mapping=mapping,
        released=released,
        verdict=verdict,
        loss=loss,
        counts=counts,
        partial=partial,
        seconds=seconds,
        identifiers=identifiers,
        _outcome=outcome,
    )
    for note in result.notes:
        event("note", str(note), level=logging.WARNING)
    if method is None:
        _check_verdict(result)
    return result


def find_again(result: Result, method: Method, *, context: Context) -> Result:
    """Return a release with how it was found, if this method finds its groups again.

    Else it is returned as it is. The labels may be others than the method would give.
    """
    data, policy = result.data, result.policy
    try:
        found = find_release(data, policy, method, partial=True, context=context, seconds={})
    except (PolicyError, MappingError):  # beyond this method
        return result
    if found.mapping.partition_of(data) != result.mapping.partition_of(data):
        return result
    again = replace(result, method=method, _outcome=found._outcome)
    again.digests.update(result.digests)
    again.laid_out(result.layout)
    return again


def _exceeds(policy: BoundPolicy, mapping: Mapping, verdict: Verdict) -> bool:
    """Whether more than s is suppressed, of the items that occur or of all that the mapping has.

    A method that goes on from an earlier mapping may find too much suppressed already. Who has only
    what is published takes the items of the mapping for the domain: there, too, s must hold.
    """
    too_much = 100 * len(mapping.suppressed) > policy.percent * len(mapping)
    return too_much or verdict.n_suppressed > policy.budget


def _check_verdict(result: Result) -> None:
    verdict = result.verdict
    if not verdict.ok:
        total = sum(verdict.n_violations.values())
        lines = [f"verification failed: {total} violation{'s' * (total != 1)}"]
        lines += [f"  {violation.message}" for violation in verdict.violations]
        if result.method is None:
            lines.append(
                "the mapping does not protect these data: find a new one (anonymize), go on from "
                "this one (start), or publish them together with those it was made for"
            )
        raise VerificationError("\n".join(lines), verdict)


def _gone(result: Result) -> tuple[tuple[str, ...], int]:
    """Return the suppressed items and how many there are in all, where s does not hold.

    That is of the items that occur or, if it holds for these, of those that the mapping has.
    """
    mapping, data = result.mapping, result.data
    gone = tuple(item for item in mapping.suppressed if item in data.vocabulary)
    if len(gone) > result.policy.budget or len(mapping) == data.n_items:
        return gone, data.n_items
    return mapping.suppressed, len(mapping)


def _infeasible(result: Result, outcome: Outcome, advice: str) -> InfeasibleError:
    labels = result.data.vocabulary.labels
    unmet = [tuple(labels[code] for code in items) for items in outcome.unmet]
    gone, n_items = _gone(result)
    s, allowed = result.policy.max_suppressed, floor(result.policy.percent * n_items / 100)
    start = None if result.method is None else result.method.start
    before = () if start is None else [item for item in gone if item in start.suppressed]
    if before:
        advice = (
            f"{count_of(len(before), 'item')} of these {'was' if len(before) == 1 else 'were'} "
            "suppressed by the mapping that was started from: if they came back, they would tell "
            f"more about the people of the earlier release; without that start, {advice}"
        )
    shown = [f"  {{{', '.join(items)}}}" for items in unmet[:_SHOWN_SETS]]
    if len(unmet) > _SHOWN_SETS:
        shown.append(f"  … and {len(unmet) - _SHOWN_SETS} more")
    n, k = result.data.n_transactions, result.policy.k
    message = "\n".join(
        [
            *([f"k = {k:,} is more than the {people(n)} there are"] if k > n else []),
            f"the policy cannot be met within s = {s:g} % (at most {allowed} of {n_items} items "
            f"suppressed): {len(gone)} item{'s' * (len(gone) != 1)} "
            f"({100 * len(gone) / n_items:.4g} %) would have had to go",
            *(["constraints that could not be met without more suppression:"] if unmet else []),
            *shown,
            "would have been suppressed: "
            + ", ".join(gone[:_SHOWN_ITEMS])
            + (f", … and {len(gone) - _SHOWN_ITEMS} more" if len(gone) > _SHOWN_ITEMS else ""),
            advice,
        ]
    )
    return InfeasibleError(
        message,
        unmet=unmet,
        suppressed=gone,
        n_items=n_items,
        max_suppressed=s,
        result=result,
    )
