"""From data and policy to a release: the whole walk, and the door it leaves by.

`anonymize` finds a mapping, applies it, measures the loss and verifies; `apply_mapping` does the
same with a mapping found earlier. Only a `Result` that was verified can be written, and what is
written is read back and compared with what was verified before it gets its name.
"""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from overcoat.algorithms import get_method
from overcoat.algorithms.outcome import Outcome
from overcoat.context import Context
from overcoat.data.io import Staging, output_layout, read, read_as, send, write
from overcoat.data.layout import Layout
from overcoat.data.memory import require_memory
from overcoat.data.transactions import Transactions
from overcoat.errors import (
    DataError,
    InfeasibleError,
    PolicyError,
    Problem,
    VerificationError,
)
from overcoat.mapping import Mapping
from overcoat.measures.counts import NamedCount, named_counts
from overcoat.measures.loss import Loss, log2_ul, measure_loss
from overcoat.policy.hierarchy import Hierarchy
from overcoat.policy.policy import BoundPolicy, Penalties, Policy, WeightsLike, given_parts
from overcoat.policy.privacy import Family
from overcoat.policy.utility import Utility
from overcoat.verification import Verdict, verify

__all__ = [
    "Result",
    "TraceStep",
    "anonymize",
    "anonymize_bound",
    "apply_mapping",
    "knowing",
]


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One merge or suppression, in words of the data.

    Attributes
    ----------
    action : what was done
    items, partner : the items of the group, and of the one it was merged with
    constraint : the itemset whose repair asked for it
    family : the family that itemset belongs to
    log2_loss : log2 UL of the union; for a suppression log2 of the penalties of its items
    """

    action: Literal["merge", "suppress"]
    items: tuple[str, ...]
    partner: tuple[str, ...]
    constraint: tuple[str, ...]
    family: str
    log2_loss: float


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A mapping, the data published under it, and the evidence.

    Attributes
    ----------
    data : the original
    policy : what had to hold, bound to the data
    mapping : which item went where
    released : the published transactions, over labels
    verdict : what verification found
    loss : UL and penalties
    counts : each named utility set before and after
    partial : the policy was not met; for study only, cannot be written
    seconds : time by stage
    """

    data: Transactions
    policy: BoundPolicy
    mapping: Mapping
    released: Transactions
    verdict: Verdict
    loss: Loss
    counts: tuple[NamedCount, ...]
    partial: bool
    seconds: dict[str, float]
    _outcome: Outcome | None = field(default=None)

    @property
    def trace(self) -> Iterator[TraceStep]:
        """What was merged or suppressed, for which constraint, at which loss, in order."""
        if self._outcome is None:
            return
        labels = self.data.vocabulary.labels
        weights = self.policy.weights
        for step, group, partner in self._outcome.replay():
            if step.action == "merge":
                union = np.array(sorted(group + partner), np.int32)
                loss = log2_ul(
                    len(union),
                    weights.weight(union) / weights.denominator,
                    step.support,
                    self.data.n_items,
                    self.data.n_transactions,
                )
            else:
                penalty = float(self.policy.penalties[list(group)].sum())
                loss = math.log2(penalty) if penalty else -math.inf
            yield TraceStep(
                step.action,
                tuple(labels[code] for code in group),
                tuple(labels[code] for code in partner),
                tuple(labels[code] for code in step.constraint),
                self.policy.families[step.family].title,
                loss,
            )

    def write(
        self,
        path: str | Path,
        *,
        mapping: str | Path | None = None,
        to: str | None = None,
        keep_order: bool = False,
        report: Callable[[], None] | None = None,
    ) -> None:
        """Publish: write the released data, and the mapping if asked, or nothing at all.

        Parameters
        ----------
        path : the released file, ``-`` for standard output
        mapping : the mapping file
        to : basket, long or list, where the name of the file does not say it
        keep_order : keep the rows in the order of the input, which may link them to people; the
            data must have been read with ``keep_order=True``
        report : called when all is checked, before the files get their names: should it fail,
            nothing is published
        """
        if self.partial or not self.verdict.ok:
            raise VerificationError(
                "a partial result is for study only: it does not satisfy its policy and "
                "cannot be published",
                self.verdict,
            )
        order = self.released.positions if keep_order else None
        if keep_order and order is None:
            raise DataError("the order of the input is not known; read it with keep_order=True")
        layout = output_layout(str(path), self.data.layout, to)
        with Staging() as staging:
            if str(path) == "-":
                content = io.BytesIO()
                write(self.released, content, layout=layout, order=order)
                content.seek(0)
                self._check_copy(content, layout, keep_order)
            else:
                staged = staging.stage(path)
                compressed = str(path).lower().endswith(".gz")
                write(self.released, staged, layout=layout, order=order, gzip=compressed)
                self._check_copy(staged, layout, keep_order)
                self._check_target(path, staged)
            if mapping is not None:
                target = staging.stage(mapping)
                target.write_text(self.mapping.dumps(keep_order=keep_order), encoding="utf-8")
                self._check_target(mapping, target)
                if Mapping.read(target) != self.mapping:
                    raise VerificationError("the mapping does not read back as it was written")
            if report is not None:
                report()
            if str(path) == "-":
                send(content.getvalue())
            staging.commit()

    def _check_target(self, path: str | Path, staged: Path) -> None:
        """Refuse to write over what the release was made from, unless nothing would change."""
        target = Path(path).resolve()
        if not target.is_file():
            return
        over_policy = any(Path(x).exists() and target.samefile(x) for x in self.policy.files)
        over_data = self.data.file_digest is not None and self.data.file_digest == _digest(target)
        if over_policy or (over_data and self.data.file_digest != _digest(staged)):
            raise DataError("is an input; name another file for the output", str(path))

    def _check_copy(self, written: Any, layout: Layout, keep_order: bool) -> None:
        """Read back what was written: it must be exactly what was verified."""
        copy = read_as(written, layout, keep_order=keep_order)
        same_order = not keep_order or (copy.positions == self.released.positions).all()  # type: ignore[union-attr]
        if copy != self.released or not same_order:
            raise VerificationError("the released file does not read back as what was verified")

    def __repr__(self) -> str:
        state = "partial, not publishable" if self.partial else "verified"
        return f"Result({self.mapping!r}, {state})"


def anonymize(
    data: Any,
    k: int | None = None,
    privacy: Family | Iterable[Family] = (),
    *,
    utility: Utility | None = None,
    max_suppressed: float | None = None,
    hierarchy: Hierarchy | None = None,
    weights: WeightsLike | None = None,
    penalties: Penalties | None = None,
    algorithm: str | None = None,
    policy: Policy | None = None,
    partial: bool = False,
    context: Context | None = None,
    **options: Any,
) -> Result:
    """Find the mapping that meets the policy with little loss, apply it and verify it.

    Parameters
    ----------
    data : `Transactions`, or anything `read` takes (with its `id`, `item`, `items`, … options)
    k : each protected itemset must match at least k people, or nobody
    privacy : the families of protected itemsets: `Itemsets`, `AllItemsets`,
        `Coherence`, `Pgen`
    utility : which items may be merged; by default all with all
    max_suppressed : s, in percent of the items that occur; by default 0.5
    hierarchy, weights : how far apart items are; by default all the same
    penalties : loss of suppressing each item; by default its support / N
    algorithm : the method; by default COAT
    policy : a whole `Policy`, instead of all the above
    partial : when the policy cannot be met within s, return what would have met it, for study
        only, instead of raising `InfeasibleError`
    context : how to run: progress, cancelling, threads, memory

    Raises
    ------
    PolicyError : the policy is wrong; all its problems at once
    InfeasibleError : it cannot be met within s
    VerificationError : verification failed, which is a bug in Overcoat

    >>> from overcoat.policy.privacy import AllItemsets
    >>> rows = [{"a", "b"}, {"a", "c"}, {"a"}, {"a"}, {"b"}]
    >>> result = anonymize(rows, 2, AllItemsets(2), max_suppressed=0)
    >>> result.mapping.groups, result.verdict.largest_k
    ({'a': ('a',), '(b|c)': ('b', 'c')}, 2)
    """
    data = _take(data, options)
    parts: dict[str, Any] = {
        "k": k,
        "privacy": (privacy,) if isinstance(privacy, Family) else tuple(privacy) or None,
        "utility": utility,
        "max_suppressed": max_suppressed,
        "hierarchy": hierarchy,
        "weights": weights,
        "penalties": penalties,
        "algorithm": algorithm,
    }
    given = given_parts(policy, parts)
    if policy is None:
        if k is None:
            raise PolicyError("k is missing: how many people must an itemset match?")
        policy = Policy(**{"privacy": (), **given})
    try:
        get_method(policy.algorithm)
    except PolicyError as error:  # to be told with whatever else is wrong
        policy = replace(policy, problems=(*policy.problems, *error.problems))
    seconds: dict[str, float] = {}
    context = context or Context()
    with context.stage("policy", seconds):
        bound = policy.bind(data)
    return anonymize_bound(data, bound, partial=partial, context=context, seconds=seconds)


def anonymize_bound(
    data: Transactions,
    policy: BoundPolicy,
    *,
    partial: bool = False,
    context: Context | None = None,
    seconds: dict[str, float] | None = None,
) -> Result:
    """Do what `anonymize` does, under a policy that is bound already.

    Parameters as there; `seconds` are those of stages that came before.
    """
    context, seconds = context or Context(), {} if seconds is None else seconds
    method = get_method(policy.algorithm)
    if problems := list(method.problems(policy)):
        raise PolicyError(map(Problem, problems))
    require_memory(estimate_memory(data), "the work")
    with context.stage("anonymize", seconds) as stage:
        outcome = method.run(data, policy, stage)
        mapping = Mapping.from_codes(data.vocabulary, outcome.group_of)
    result = _publish(data, policy, mapping, seconds, context, outcome)
    if outcome.unmet:
        if partial:
            return result
        raise _infeasible(result, outcome, method.advice)
    _check_verdict(result)
    return result


def apply_mapping(
    data: Any,
    mapping: Mapping,
    policy: Policy,
    *,
    context: Context | None = None,
    **options: Any,
) -> Result:
    """Publish `data` under a mapping found earlier, if the policy holds for it.

    The domain may have shrunk; an item that the mapping does not know is an error.

    Raises
    ------
    MappingError : the mapping does not cover the data
    VerificationError : the policy does not hold; the error's `verdict` says where
    """
    data = _take(data, options)
    seconds: dict[str, float] = {}
    context = context or Context()
    with context.stage("policy", seconds):
        bound = knowing(policy, mapping).bind(data)
    result = _publish(data, bound, mapping, seconds, context)
    _check_verdict(result)
    return result


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def knowing(policy: Policy, mapping: Mapping) -> Policy:
    """Return the policy with the mapping's items known: not everybody comes every month."""
    return replace(policy, known={*policy.known, *mapping.vocabulary})


def _take(data: Any, options: dict[str, Any]) -> Transactions:
    if isinstance(data, Transactions) and options:
        raise TypeError(f"unexpected options: {', '.join(options)}")
    return read(data, **options)


def estimate_memory(data: Transactions) -> int:
    """Return about how many bytes anonymizing takes on top of the data; measured at m = 2."""
    return 30 * len(data.codes) + 130 * data.n_distinct + 1000 * data.n_items


def _publish(
    data: Transactions,
    policy: BoundPolicy,
    mapping: Mapping,
    seconds: dict[str, float],
    context: Context,
    outcome: Outcome | None = None,
) -> Result:
    """Apply a mapping, measure and verify."""
    with context.stage("apply", seconds):
        released = mapping.apply(data)
    with context.stage("verify", seconds):
        verdict = verify(data, released, mapping, policy)
    with context.stage("measure", seconds):
        loss = measure_loss(data, released, mapping, policy)
        counts = named_counts(data, released, mapping, policy)
    return Result(
        data=data,
        policy=policy,
        mapping=mapping,
        released=released,
        verdict=verdict,
        loss=loss,
        counts=counts,
        partial=not verdict.ok,
        seconds=seconds,
        _outcome=outcome,
    )


def _check_verdict(result: Result) -> None:
    verdict = result.verdict
    if not verdict.ok:
        total = sum(verdict.n_violations.values())
        lines = [f"verification failed: {total} violation{'s' * (total != 1)}"]
        lines += [f"  {violation.message}" for violation in verdict.violations]
        raise VerificationError("\n".join(lines), verdict)


def _infeasible(result: Result, outcome: Outcome, advice: str) -> InfeasibleError:
    labels = result.data.vocabulary.labels
    unmet = [tuple(labels[code] for code in items) for items in outcome.unmet]
    gone, n_items = result.mapping.suppressed, result.data.n_items
    s, allowed = result.policy.max_suppressed, result.policy.budget
    shown = [f"  {{{', '.join(items)}}}" for items in unmet[:10]]
    if len(unmet) > 10:
        shown.append(f"  … and {len(unmet) - 10} more")
    message = "\n".join(
        [
            f"the policy cannot be met within s = {s:g} % (at most {allowed} of {n_items} items "
            f"suppressed): {len(gone)} item{'s' * (len(gone) != 1)} "
            f"({100 * len(gone) / n_items:.4g} %) would have had to go",
            "constraints that could not be met without more suppression:",
            *shown,
            "would have been suppressed: "
            + ", ".join(gone[:20])
            + (f", … and {len(gone) - 20} more" if len(gone) > 20 else ""),
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
