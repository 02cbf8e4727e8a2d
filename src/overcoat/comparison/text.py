"""A comparison in words and as a table of plain text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from overcoat.comparison.settings import Setting
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.weights import CallableWeights, DistanceWeights
from overcoat.words import count_of, error_scale

if TYPE_CHECKING:
    from overcoat.comparison.compare import Comparison

__all__ = ["comparison_lines", "describe", "essentials", "show_column", "show_value"]

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

_DECIMALS = 3  # at most, in a column


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


def show_column(values: Sequence[object]) -> list[str]:
    """Return the values of a column, all with the same number of decimals, so that they align.

    >>> show_column([25.812, 9.5, None, 0.0]), show_column([1234.5, 0.0004]), show_column([0.5, 2])
    (['25.81', '9.50', '', '0.00'], ['1,234.5', '<0.1'], ['0.5', '2'])
    """
    floats = [value for value in values if isinstance(value, float)]
    smallest = min((abs(value) for value in floats if value), default=1.0)
    largest = max((abs(value) for value in floats), default=1.0)
    # Three digits of the smallest, unless it is tiny, five of the largest, no more than needed.
    wanted = min(2 - _power(smallest), 4 - _power(largest or 1.0), _DECIMALS)
    decimals = max(wanted, 0)
    while decimals and all(round(value, decimals - 1) == value for value in floats):
        decimals -= 1
    shown = []
    for value in values:
        if isinstance(value, float):
            tiny = 0 < value < 0.5 * 10**-decimals
            shown.append(f"<{10**-decimals:g}" if tiny else f"{value:,.{decimals}f}")
        else:
            shown.append("" if value is None else str(value))
    return shown


def _power(value: float) -> int:
    return math.floor(math.log10(value))


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
        named = count_of(len(policy.utility.named), "utility set")
        parts.append(f"{named}, the rest {policy.utility.rest}")
    match policy.weights:
        case DistanceWeights():
            parts.append("weights from distances")
        case CallableWeights():
            parts.append("weights from a function")
        case _ if policy.hierarchy is not None:
            parts.append("weights from a hierarchy")
    return ", ".join(parts)


def essentials(comparison: Comparison) -> list[list[str]]:
    """Return the main measures of every run as a table, the names of the columns first."""
    rows = comparison.rows
    shown = {axis: axis for axis in comparison.axes}
    shown |= {
        name: title for name, title in _SHORT.items() if any(r[name] is not None for r in rows)
    }
    shown |= {f"avg_re_{name}": f"AvgRE {name}" for name in comparison.workloads}
    if comparison.bounds:
        shown["times_least_flat_ncp"] = "× least"
    shown["seconds"] = "seconds"
    return [list(shown.values()), *([show_value(row[name]) for name in shown] for row in rows)]


def comparison_lines(comparison: Comparison) -> str:
    """Return what was compared, and the main measures of every run, one line each."""
    table = essentials(comparison)
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
    errors = [
        value
        for row in comparison.rows
        for name in comparison.workloads
        if (value := row[f"avg_re_{name}"]) is not None
    ]
    if errors:
        remarks += error_scale(max(errors))
    if comparison.bounds:
        remarks.append(
            "× least: flat NCP is at most so many times what any mapping without suppression has"
        )
    if not any(run.met for run in comparison.runs):
        remarks.append("none of these could be published: all would need more suppression than s")
    return remarks
