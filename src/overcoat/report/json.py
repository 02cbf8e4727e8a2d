"""Results and verdicts as JSON objects."""

from __future__ import annotations

import math
from typing import Any

from overcoat._version import __version__
from overcoat.errors import InfeasibleError, InputError, OvercoatError, VerificationError
from overcoat.release import Result, peak_memory_mb
from overcoat.verification import Verdict

__all__ = ["error_to_json", "result_to_json", "verdict_to_json"]


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
        "named_sets": [
            {
                "name": count.name,
                "before": count.before,
                "after": count.after,
                "exact": count.exact,
                "n_suppressed": count.n_suppressed,
            }
            for count in result.counts
        ],
        "verified": result.verdict.ok,
        "largest_k": result.verdict.largest_k,
        "notes": [str(note) for note in policy.notes],
        "input_sha256": result.data.digest,
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


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
