"""Results, verdicts and evaluations as JSON objects."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from overcoat._version import __version__
from overcoat.data.memory import peak_memory_mb
from overcoat.errors import InfeasibleError, InputError, OvercoatError, VerificationError
from overcoat.evaluation import Evaluation
from overcoat.measures.counts import NamedCount
from overcoat.measures.patterns import Survival
from overcoat.release import Result
from overcoat.verification import Verdict

__all__ = ["error_to_json", "evaluation_to_json", "result_to_json", "verdict_to_json"]


def result_to_json(result: Result, **more: Any) -> dict[str, Any]:
    """Return what `overcoat anonymize --json` prints; `log2_ul` is null when nothing is lost."""
    mapping, policy = result.mapping, result.policy
    merged = mapping.merged
    return {
        "overcoat": __version__,
        "algorithm": policy.algorithm,
        "k": policy.k,
        "max_suppressed": policy.max_suppressed,
        "n_transactions": result.data.n_transactions,
        "n_items": result.data.n_items,
        "n_constraints": policy.n_constraints,
        "families": [
            {"family": family.title, "n_constraints": family.n_constraints}
            for family in policy.families
        ],
        "n_groups": len(merged),
        "n_generalized_items": sum(map(len, merged)),
        "largest_group": max(map(len, mapping.members), default=0),
        "suppressed": list(mapping.suppressed),
        "log2_ul": _finite(result.loss.log2_ul),
        "named_sets": _named_sets(result.counts),
        "verified": result.verdict.ok,
        "largest_k": result.verdict.largest_k,
        "notes": [str(note) for note in policy.notes],
        "input_sha256": result.data.file_digest,
        "seconds": {stage: round(taken, 6) for stage, taken in result.seconds.items()},
        "peak_memory_mb": _finite(round(peak_memory_mb(), 1)),
        **more,
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


def error_to_json(error: OvercoatError) -> dict[str, Any]:
    """Return what any command prints with `--json` when it fails."""
    content: dict[str, Any] = {
        "overcoat": __version__,
        "error": str(error),
        "exit_code": error.exit_code,
    }
    match error:
        case InputError():
            content["problems"] = [
                {"message": problem.message, "file": problem.file, "line": problem.line}
                for problem in error.problems
            ]
        case InfeasibleError():
            content |= {
                "verified": False,
                "max_suppressed": error.max_suppressed,
                "needed_percent": error.needed_percent,
                "would_be_suppressed": list(error.suppressed),
                "unmet": [list(items) for items in error.unmet],
            }
        case VerificationError(verdict=Verdict() as verdict):
            content |= verdict_to_json(verdict)
    return content


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
        "log2_ul": _finite(evaluation.loss.log2_ul),
        "ncp": evaluation.ncp,
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
        "notes": [str(note) for note in evaluation.notes],
        **more,
    }


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


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
