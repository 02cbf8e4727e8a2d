"""The page of a comparison: what was compared, what was found, the figures, all numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

from overcoat.advice.price import Prices
from overcoat.comparison.columns import METHOD, heading, joined, setting_words
from overcoat.comparison.compare import Comparison
from overcoat.comparison.figures import Sheet, sheets_of
from overcoat.comparison.findings import findings
from overcoat.comparison.plots import KINDS, NEEDED, can_draw, draw, drawn_alone, write_figure
from overcoat.comparison.text import describe, show_column
from overcoat.data.io import Staging
from overcoat.html import table
from overcoat.reports.page import page, panels, scrolling
from overcoat.reports.price import PRICE_COLUMNS, price_rows
from overcoat.words import count_of

__all__ = ["stage_page"]

# What stands above the figures, and how they are to be read.
_SECTIONS = {
    "error": (
        "Error of COUNT queries: the average",
        "Every run answered the same queries. AvgRE is the average relative error of counts "
        "estimated from the release: 0 is exact, 1 is off by as much as the count itself. An item "
        "that is gone is answered with 0, so that publishing nothing would score 1: look at what "
        "is suppressed, too.",
    ),
    "median": (
        "Error of COUNT queries: the median",
        "Half of the queries are answered with at most this relative error. A few wild errors of "
        "rare items rule the average, but not the median.",
    ),
    "loss": (
        "Loss",
        "NCP tells how wide groups are in the hierarchy, UL how large the largest groups are; less "
        "is better. UL doubles with each item of the largest group, so it is shown in bits above "
        "the least of all runs: 10 bits more are about ten items more in the largest group. A run "
        "that loses nothing has no UL.",
    ),
}


def stage_page(
    comparison: Comparison,
    staging: Staging,
    folder: Path,
    title: str,
    prices: Mapping[str, Prices],
) -> list[Path]:
    """Stage every figure as SVG and PNG, and ``index.html`` with figures and table."""
    sheets = sheets_of(comparison) if can_draw() else []
    targets = []
    for sheet in sheets:
        figure = draw(sheet.panels, columns=sheet.columns)
        for kind in KINDS:
            targets.append(folder / f"{sheet.name}.{kind}")
            write_figure(figure, staging.stage(targets[-1]), kind)
    targets.append(folder / "index.html")
    text = page(title, _parts(comparison, sheets, prices), _lead(comparison))
    staging.stage(targets[-1]).write_text(text, encoding="utf-8")
    return targets


def _lead(comparison: Comparison) -> str:
    """Say what was compared."""
    n = len(comparison.rows)
    methods = list(dict.fromkeys(str(row[METHOD]) for row in comparison.rows))
    text = f"{n} run{'s' * (n > 1)} of {joined(methods)}"
    for axis in comparison.axes:
        values = list(dict.fromkeys(row[axis] for row in comparison.rows))
        if axis != METHOD and len(values) > 1:
            text += f"; {setting_words(axis, *values)}"
    each = "each" if n > 1 else "it"
    return (
        f"{text}. This shows what {each} would cost. Nothing here is a release: overcoat anonymize "
        "makes one, and verifies it."
    )


def _parts(
    comparison: Comparison, sheets: list[Sheet], prices: Mapping[str, Prices]
) -> Iterator[str]:
    yield "<dl>"
    for name, text in describe(comparison):
        yield f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>"
    yield "</dl>"
    yield "<h2>Findings</h2>"
    yield "<ul>"
    for sentence in findings(comparison):
        yield f"<li>{escape(sentence)}</li>"
    yield "</ul>"
    if not can_draw():
        yield f"<p>No figures: {escape(NEEDED)}</p>"
    for sheet in sheets:
        above, words = _SECTIONS[sheet.name]
        yield f"<h2>{escape(above)}</h2>"
        yield f"<p>{escape(words)}</p>"
        pictures = [
            (svg, panel.words)
            for svg, panel in zip(drawn_alone(sheet.panels), sheet.panels, strict=True)
        ]
        for start in range(0, len(pictures), sheet.columns):
            yield panels(pictures[start : start + sheet.columns])
    if prices:
        yield "<h2>Price</h2>"
        yield (
            "<p>What each part of a policy costs: the loss without it, each run and verified. The "
            "price is by how much a part makes flat NCP larger; below 0, the method does worse "
            "without it.</p>"
        )
    for name, one in prices.items():
        yield scrolling(table(price_rows(one), PRICE_COLUMNS, name or "The policy"), "Price")
        if one.left_out:
            yield f"<p>{count_of(one.left_out, 'utility set')} with fewer people not tried.</p>"
        for note in one.notes:
            yield f"<p>{escape(note)}</p>"
    yield "<h2>All numbers</h2>"
    yield (
        "<p><em>beyond s</em>, drawn hollow: the policy could not be met within the allowed "
        "suppression; such a run is shown for study and cannot be published. Seconds are of one "
        "run, for a rough idea.</p>"
    )
    yield scrolling(_table(comparison), "All numbers")


def _table(comparison: Comparison) -> str:
    """Return all columns that are not empty."""
    columns = {
        heading(name): show_column([row[name] for row in comparison.rows])
        for name in comparison.rows[0]
    }
    shown = {name: texts for name, texts in columns.items() if any(texts)}
    rows = list(zip(*shown.values(), strict=True))
    return table(rows, list(shown), "One row a run")
