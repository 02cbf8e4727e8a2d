"""The figures of a comparison, and a page that shows them with the table."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from overcoat._version import __version__
from overcoat.comparison.compare import Comparison
from overcoat.comparison.plots import KINDS, Panel, can_draw, draw, series_of, write_figure
from overcoat.comparison.text import describe, show_value
from overcoat.data.io import Staging

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIGURES", "figures_of", "stage_page"]

# What the measures of loss are called for people.
_LOSSES = {
    "log2_ul": "utility loss, log2 UL",
    "ncp": "NCP",
    "suppressed_items_percent": "suppressed items, %",
}
_HEADINGS = {"error": "Error of COUNT queries", "loss": "Loss", "time": "Time"}
FIGURES = [f"{name}.{kind}" for name in _HEADINGS for kind in KINDS]
_NO_PLOTS = "<p>Plots need matplotlib: <code>pip install matplotlib</code>.</p>"
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem }
svg { max-width: 100%; height: auto }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: 13px }
td { white-space: nowrap }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: right }
th { vertical-align: bottom; border-bottom: 2px solid #555 }
th:first-child, td:first-child { text-align: left }
dt { float: left; clear: left; width: 5rem; font-weight: bold }
dd { margin-left: 5.5rem }
@page { size: landscape; margin: 12mm }
@media print {
  body { margin: 0; max-width: none; padding: 0 }
  h2 { break-after: avoid }
  svg { break-inside: avoid }
  .wide { overflow: visible }
  table { font-size: 7px }
  th, td { padding: .1rem .25rem }
}
"""


def figures_of(comparison: Comparison) -> dict[str, Figure]:
    """Return the figures: the error of queries, the loss, and the time, over what was swept."""
    rows = [row for row in comparison.rows if row["status"] != "refused"]
    swept = [axis for axis in comparison.axes if len({row[axis] for row in rows}) > 1]
    along = [axis for axis in swept if axis != "algorithm"]
    x = along[0] if along else comparison.axes[0]
    by = [axis for axis in comparison.axes if axis == "algorithm" or axis in along[1:]]

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


def stage_page(comparison: Comparison, staging: Staging, folder: Path, title: str) -> list[Path]:
    """Stage every figure as SVG and PNG, and ``index.html`` with figures and table."""
    targets, drawings = [], []
    for name, figure in figures_of(comparison).items() if can_draw() else ():
        for kind in KINDS:
            targets.append(folder / f"{name}.{kind}")
            staged = staging.stage(targets[-1])
            write_figure(figure, staged, kind)
            if kind == "svg":
                text = staged.read_text(encoding="utf-8")
                drawings.append(f"<h2>{_HEADINGS[name]}</h2>\n{text[text.index('<svg') :]}")
    targets.append(folder / "index.html")
    page = _page(comparison, title, drawings or [_NO_PLOTS])
    staging.stage(targets[-1]).write_text(page, encoding="utf-8")
    return targets


def _column(name: str) -> str:
    """Return the name of a column for people."""
    for short, long in (("n_", ""), ("avg_re_", "AvgRE "), ("median_re_", "median RE ")):
        if name.startswith(short):
            name = long + name.removeprefix(short)
    name = name.replace("_percent", " %").replace("log2_ul", "log2 UL").replace("ncp", "NCP")
    return name.replace("_", " ")


def _page(comparison: Comparison, title: str, drawings: list[str]) -> str:
    names = list(comparison.rows[0])
    head = "".join(f"<th>{escape(_column(name))}</th>" for name in names)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{escape(show_value(row[name]))}</td>" for name in names) + "</tr>"
        for row in comparison.rows
    )
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>',
        f"<h1>{escape(title)}</h1>",
        "<dl>",
        *(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in describe(comparison)),
        "</dl>",
        "<p>Every run answered the same queries. AvgRE is the average relative error of counts "
        "estimated from the release, the median is that of half of the queries: 0 is exact, 1 is "
        "off by as much as the count itself. An item that is gone is answered with 0, so that "
        "publishing nothing would score 1: look at what is suppressed, too. UL and NCP measure how "
        "much detail is lost, less is better; UL is ruled by the largest groups. "
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
