"""A comparison in words and as a table of plain text."""

from __future__ import annotations

from overcoat.comparison.compare import Comparison
from overcoat.comparison.settings import Setting
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.weights import CallableWeights, DistanceWeights

__all__ = ["comparison_lines", "describe", "show_value"]

# The columns a terminal has room for, and shorter names for them.
_SHORT = {
    "status": "status",
    "n_groups": "groups",
    "largest_group": "largest",
    "suppressed_items_percent": "suppressed %",
    "n_exact_counts": "exact",
    "log2_ul": "log2 UL",
    "ncp": "NCP",
}


def show_value(value: object) -> str:
    """Return a value as a table shows it.

    >>> show_value(0.123456), show_value(None), show_value(1234), show_value(-3421.987)
    ('0.123', '', '1234', '-3422')
    """
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def describe(comparison: Comparison) -> list[tuple[str, str]]:
    """Return what was compared: the data, the policy (or each of them), the queries."""
    data = comparison.data
    lines = [("data", f"{data.n_transactions:,} transactions, {data.n_items:,} items")]
    policies: dict[str, Setting] = {}
    for run in comparison.runs:
        policies.setdefault(_policy_line(run.policy, run.setting), run.setting)
    for line, setting in policies.items():
        name = setting.values.get("policy", "")
        lines.append(("policy", f"{name}: {line}" if name else line))
    for name, workload in comparison.workloads.items():
        lines.append(("queries", f"{name}: {len(workload):,}, {workload.title}"))
    return lines


def _policy_line(policy: BoundPolicy, setting: Setting) -> str:
    """Return a policy in words, without what is varied."""
    parts = [] if "m" in setting.values else [" and ".join(f.title for f in policy.families)]
    if "k" not in setting.values:
        parts.append(f"k = {policy.k}")
    if "s" not in setting.values:
        parts.append(f"s = {policy.max_suppressed:g} %")
    if policy.utility.named:
        parts.append(f"{len(policy.utility.named)} utility sets, the rest {policy.utility.rest}")
    match policy.weights:
        case DistanceWeights():
            parts.append("weights from distances")
        case CallableWeights():
            parts.append("weights from a function")
        case _ if policy.hierarchy is not None:
            parts.append("weights from a hierarchy")
    return ", ".join(parts)


def comparison_lines(comparison: Comparison) -> str:
    """Return what was compared, and the main measures of every run, one line each."""
    rows = comparison.rows
    shown = {axis: axis for axis in comparison.axes}
    shown |= {
        name: title for name, title in _SHORT.items() if any(r[name] is not None for r in rows)
    }
    shown |= {f"avg_re_{name}": f"AvgRE {name}" for name in comparison.workloads}
    shown["seconds"] = "seconds"
    table = [list(shown.values())]
    table += [[show_value(row[name]) for name in shown] for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    head = [f"{name:<10}{text}" for name, text in describe(comparison)]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
    return "\n".join([*head, "", *lines, *_remarks(comparison)])


def _remarks(comparison: Comparison) -> list[str]:
    """Say why methods were refused, and whether anything could be published."""
    reasons: dict[str, list[str]] = {}
    for run in comparison.runs:
        if run.refused:
            reasons.setdefault(run.refused, []).append(run.setting.title)
    remarks = [
        f"refused: {titles[0]}" + f" and {len(titles) - 1} more" * (len(titles) > 1) + f": {reason}"
        for reason, titles in reasons.items()
    ]
    if not any(run.met for run in comparison.runs):
        remarks.append("none of these could be published: all would need more suppression than s")
    return remarks
