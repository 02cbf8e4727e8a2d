"""Results, verdicts and evaluations as JSON objects."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict
from fractions import Fraction
from itertools import islice
from typing import Any

from overcoat._version import __version__
from overcoat.algorithms.proof import Proof
from overcoat.data.memory import peak_memory_mb
from overcoat.errors import (
    InfeasibleError,
    InputError,
    OvercoatError,
    Problem,
    VerificationError,
    problem_lines,
)
from overcoat.evaluation import Evaluation
from overcoat.evidence import Internal
from overcoat.measures.counts import NamedCount
from overcoat.measures.patterns import Survival
from overcoat.release.result import Result
from overcoat.verification import Verdict

__all__ = [
    "bounds_to_json",
    "error_to_json",
    "evaluation_to_json",
    "failed_to_json",
    "failure_to_json",
    "proof_to_json",
    "result_to_json",
    "verdict_to_json",
]

_PROBLEMS = 300  # listed one by one; the message has the number of all


_DIGESTS = ("input", "policy", "released", "mapping")


def _search(result: Result) -> dict[str, Any] | None:
    """Return how a search went; what repeats it, too."""
    found = result.searched
    if found is None:
        return None
    return {
        "minimise": found.minimise,
        "objective_before": found.before,
        "objective_after": _finite(found.after),
        "steps": found.steps,
        "cooling": found.cooling,
        "at_rest": found.at_rest,
        "seed": found.seed,
        "seconds": found.seconds,
        "trace": [list(point) for point in found.trace if _finite(point[1]) is not None],
    }


def result_to_json(result: Result, **more: Any) -> dict[str, Any]:
    """Return what `overcoat anonymize --json` prints; `log2_ul` is null when nothing is lost."""
    policy, told = result.policy, Internal.of(result).external
    return {
        "overcoat": __version__,
        "algorithm": None if result.method is None else result.method.name,
        "k": policy.k,
        "max_suppressed": policy.max_suppressed,
        "n_transactions": result.data.n_transactions,
        "n_items": result.data.n_items,
        "n_constraints": policy.n_constraints,
        "families": [
            {"family": family.title, "n_constraints": family.n_constraints}
            for family in policy.families
        ],
        "n_groups": told.n_groups,
        "n_generalized_items": told.n_generalized_items,
        "largest_group": told.largest_group,
        "suppressed": list(result.suppressed),
        "n_emptied": result.n_emptied,
        "exactness": result.exactness.to_json(),
        "log2_ul": _finite(result.loss.log2_ul),
        "optimum": None if result.proof is None else proof_to_json(result.proof),
        "named_sets": _named_sets(result.counts),
        "search": _search(result),
        "moved": None if result.moved is None else result.moved.to_json(),
        "verified": result.verdict.ok,
        "largest_k": result.verdict.largest_k,
        "notes": problem_lines(result.notes),
        "identifiers": list(result.identifiers),
        "read_as": result.data.origin.read_as or None,
        **{f"{name}_sha256": result.digests.get(name) for name in _DIGESTS},
        "seconds": {stage: round(taken, 6) for stage, taken in result.seconds.items()},
        "peak_memory_mb": _finite(round(peak_memory_mb(), 1)),
        **more,
    }


def proof_to_json(proof: Proof) -> dict[str, Any]:
    """Return what is proven; as logarithms, because UL leaves the range of doubles."""
    return {
        "minimised": proof.objective,
        "proven": proof.proven,
        "at_most_times_the_least": _finite(proof.ratio),
        "log2_loss": _log2(proof.found),
        "log2_bound": _log2(proof.bound),
        "nodes": proof.nodes,
    }


def verdict_to_json(verdict: Verdict, **more: Any) -> dict[str, Any]:
    """Return what `overcoat verify --json` prints."""
    return {
        "overcoat": __version__,
        "verified": verdict.ok,
        "largest_k": verdict.largest_k,
        "n_suppressed": verdict.n_suppressed,
        "suppressed_percent": verdict.suppressed_percent,
        "n_violations": verdict.n_violations,
        "violations": [
            {
                "kind": violation.kind,
                "message": violation.message,
                "itemset": list(violation.itemset),
                "support": violation.support,
                "constraint": violation.constraint,
            }
            for violation in verdict.violations
        ],
        **more,
    }


def failure_to_json(
    kind: str, message: str, exit_code: int, problems: Iterable[Problem] = (), **more: Any
) -> dict[str, Any]:
    """Return what any command prints with `--json` when it fails: always the same shape."""
    every = list(islice(problems, _PROBLEMS)) or [Problem(message)]
    return {
        "overcoat": __version__,
        "error": {
            "kind": kind,
            "message": message,
            "problems": [
                {"message": problem.message, "file": problem.file, "line": problem.line}
                for problem in every
            ],
        },
        "exit_code": exit_code,
        **more,
    }


def error_to_json(error: OvercoatError) -> dict[str, Any]:
    """Return what a command prints with `--json` when Overcoat refused something."""
    problems: Iterable[Problem] = ()
    more: dict[str, Any] = {}
    match error:
        case InputError():
            problems = error.problems
        case InfeasibleError():
            more = {
                "verified": False,
                "max_suppressed": error.max_suppressed,
                "needed_percent": error.needed_percent,
                "would_be_suppressed": list(error.suppressed),
                "unmet": [list(items) for items in error.unmet],
                "proposals": list(error.proposals),
            }
        case VerificationError(verdict=Verdict() as verdict):
            problems = [Problem(violation.message) for violation in verdict.violations]
            more = verdict_to_json(verdict)
    return failure_to_json(error.kind, str(error), error.exit_code, problems, **more)


def failed_to_json(verdict: Verdict, **more: Any) -> dict[str, Any]:
    """Return what `overcoat verify --json` prints of a release that does not hold."""
    total = sum(verdict.n_violations.values())
    message = f"the release does not satisfy its policy: {total:,} violation{'s' * (total != 1)}"
    problems = [Problem(violation.message) for violation in verdict.violations]
    if verdict.ok:
        message = "these are not the files of the certificate, or it does not say the truth"
    problems += [Problem(difference) for difference in more.get("differences", ())]
    error = VerificationError(message)
    shape = failure_to_json(error.kind, message, error.exit_code, problems)
    return shape | verdict_to_json(verdict) | more


def evaluation_to_json(evaluation: Evaluation, **more: Any) -> dict[str, Any]:
    """Return what `overcoat evaluate --json` prints; null stands for what is not defined."""
    changes, patterns = evaluation.changes, evaluation.patterns
    return {
        "overcoat": __version__,
        "n_transactions": evaluation.n_transactions,
        "n_items": evaluation.n_items,
        "items": asdict(changes.items),
        "occurrences": asdict(changes.occurrences),
        "n_groups": sum(n for size, n in changes.group_sizes.items() if size > 1),
        "group_sizes": {str(size): n for size, n in changes.group_sizes.items()},
        "largest_group": changes.largest_group,
        "mean_group": changes.mean_group,
        "exactness": None if evaluation.exactness is None else evaluation.exactness.to_json(),
        "log2_ul": _finite(evaluation.loss.log2_ul),
        "ncp": evaluation.ncp,
        "flat_ncp": evaluation.flat_ncp,
        "bounds": None if evaluation.bounds is None else bounds_to_json(evaluation),
        "expected_error": None if evaluation.expected is None else asdict(evaluation.expected),
        "own": evaluation.own,
        "named_sets": _named_sets(evaluation.counts),
        "queries": [
            {
                "title": answers.workload.title,
                "n_queries": len(answers.workload),
                "n_dropped": answers.workload.n_dropped,
                "avg_re": answers.avg_re,
                "median_re": answers.median_re,
            }
            for answers in evaluation.answers
        ],
        "patterns": None
        if patterns is None
        else {
            **asdict(patterns),
            "itemsets": _survival(patterns.itemsets),
            "rules": _survival(patterns.rules),
            "top_overlap": patterns.top_overlap,
        },
        "notes": problem_lines(evaluation.notes),
        **more,
    }


def bounds_to_json(evaluation: Evaluation) -> dict[str, Any] | None:
    """Return what any mapping without suppression loses at least, and how far above it this is."""
    if (least := evaluation.bounds) is None:
        return None
    ul = None
    if least.log2_ul is not None and math.isfinite(evaluation.loss.log2_ul):
        ul = evaluation.loss.log2_ul - least.log2_ul
    return {
        "without_suppression": True,
        "possible": least.possible,
        "n_conflicts": least.n_conflicts,
        "n_rare": least.n_rare,
        "most_untouched": least.most_untouched,
        "flat_ncp": None if least.flat_ncp is None else float(least.flat_ncp),
        "ncp": None if least.ncp is None else float(least.ncp),
        "log2_ul": least.log2_ul,
        "times_flat_ncp": _finite_or_none(least.times_flat_ncp(evaluation.flat_ncp)),
        "times_ncp": _finite_or_none(least.times_ncp(evaluation.ncp)),
        "log2_times_ul": ul,
        "by": least.by,
        "whole": least.whole,
    }


def _finite_or_none(value: float | None) -> float | None:
    return None if value is None else _finite(value)


def _named_sets(counts: Iterable[NamedCount]) -> list[dict[str, Any]]:
    return [
        {
            "name": count.name,
            "before": count.before,
            "after": count.after,
            "exact": count.exact,
            "n_suppressed": count.n_suppressed,
        }
        for count in counts
    ]


def _survival(survival: Survival) -> dict[str, Any]:
    return {**asdict(survival), "recall": survival.recall, "precision": survival.precision}


def _log2(value: Fraction) -> float | None:
    return math.log2(value.numerator) - math.log2(value.denominator) if value else None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
