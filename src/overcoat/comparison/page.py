"""The figures of a comparison, and a page that shows them with the table."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overcoat._version import __version__
from overcoat.comparison.compare import Comparison
from overcoat.comparison.plots import Panel, draw, save, series_of
from overcoat.data.io import Staging

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["figures_of", "show_value", "write_page"]

# What the measures of loss are called for people.
_LOSSES = {
    "log2_ul": "utility loss, log2 UL",
    "ncp": "NCP",
    "suppressed_items_percent": "suppressed items, %",
}
_HEADINGS = {"error": "Error of COUNT queries", "loss": "Loss", "time": "Time"}
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem }
svg { max-width: 100%; height: auto }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: 13px }
td { white-space: nowrap }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: right }
th { vertical-align: bottom; border-bottom: 2px solid #555 }
th:first-child, td:first-child { text-align: left }
@media print { body { margin: 0 } }
"""


def figures_of(comparison: Comparison) -> dict[str, Figure]:
    """Return the figures: the error of queries, the loss, and the time, over what was swept."""
    rows = [row for row in comparison.rows if row["status"] != "refused"]
    swept = [axis for axis in comparison.axes if len({row[axis] for row in rows}) > 1]
    along = [axis for axis in swept if axis != "algorithm"]
    x = along[0] if along else "algorithm"
    by = ["algorithm", *along[1:]]

    def panels(measures: dict[str, str], y: str = "", *, log_y: bool = False) -> list[Panel]:
        return [
            Panel(series_of(rows, x, measure, by), title if y else "", x, y or title, log_y)
            for measure, title in measures.items()
            if any(row[measure] for row in rows)  # nothing to see where all are 0
        ]

    errors = {f"avg_re_{name}": workload.title for name, workload in comparison.workloads.items()}
    groups = {
        "error": panels(errors, "AvgRE", log_y=True),
        "loss": panels(_LOSSES),
        "time": panels({"seconds": "time of finding the mapping, s"}, log_y=True),
    }
    return {name: draw(some) for name, some in groups.items() if some}


def write_page(comparison: Comparison, folder: str | Path, *, title: str) -> list[Path]:
    """Write every figure as SVG and PNG, and ``index.html`` with figures and table."""
    folder = Path(folder)
    written = []
    drawings = []
    for name, figure in figures_of(comparison).items():
        paths = save(figure, folder, name)
        text = paths[0].read_text(encoding="utf-8")
        drawings.append(f"<h2>{_HEADINGS[name]}</h2>\n{text[text.index('<svg') :]}")
        written += paths
    page = folder / "index.html"
    with Staging() as staging:
        staging.stage(page).write_text(_page(comparison, title, drawings), encoding="utf-8")
        staging.commit()
    return [*written, page]


def _page(comparison: Comparison, title: str, drawings: list[str]) -> str:
    names = list(comparison.rows[0])
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in names)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{escape(show_value(row[name]))}</td>" for name in names) + "</tr>"
        for row in comparison.rows
    )
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>',
        f"<h1>{escape(title)}</h1>",
        "<p>Every run answered the same queries. AvgRE is the average relative error of counts "
        "estimated from the release: 0 is exact, 1 is off by as much as the count itself. UL and "
        "NCP measure how much detail is lost; smaller is better everywhere. "
        "<em>beyond s</em>, drawn hollow: the policy could not be met within the allowed "
        "suppression; such a run is shown for study and cannot be published. "
        f"Overcoat {__version__}.</p>",
        *drawings,
        "<h2>All numbers</h2>",
        '<div class="wide"><table>',
        f"<thead><tr>{head}</tr></thead>",
        f"<tbody>{body}</tbody>",
        "</table></div>",
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def show_value(value: Any) -> str:
    """Return a value as a table shows it.

    >>> show_value(0.123456), show_value(None), show_value(1234), show_value(-3421.987)
    ('0.123', '', '1234', '-3422')
    """
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
