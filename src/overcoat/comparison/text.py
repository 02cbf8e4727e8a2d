"""A comparison as a table of plain text."""

from __future__ import annotations

from overcoat.comparison.compare import Comparison
from overcoat.comparison.page import show_value

__all__ = ["comparison_lines"]

# The columns a terminal has room for, and shorter names for them.
_SHORT = {
    "status": "status",
    "n_groups": "groups",
    "largest_group": "largest",
    "suppressed_items_percent": "suppressed %",
    "log2_ul": "log2 UL",
    "ncp": "NCP",
}


def comparison_lines(comparison: Comparison) -> str:
    """Return the settings and the main measures of every run, one line each."""
    errors = {f"avg_re_{name}": f"AvgRE {name}" for name in comparison.workloads}
    short = {**{axis: axis for axis in comparison.axes}, **_SHORT, **errors, "seconds": "seconds"}
    table = [list(short.values())]
    table += [[show_value(row[name]) for name in short] for row in comparison.rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
    reasons: dict[str, str] = {}
    for run in comparison.runs:
        if run.refused:
            reasons.setdefault(run.refused, run.setting.title)
    notes = [f"refused: {title}: {reason}" for reason, title in reasons.items()]
    return "\n".join([*lines, *notes])
