"""Which figures a comparison has: measures, over what was swept, in panels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from overcoat.comparison.columns import METHOD, Column, heading, measures_of, setting_words
from overcoat.comparison.plots import KINDS, Panel, series_of
from overcoat.errors import PolicyError

if TYPE_CHECKING:
    from overcoat.comparison.compare import Comparison

__all__ = ["FIGURES", "FILES", "Sheet", "above_least", "sheet_of", "sheets_of"]

FIGURES = ("error", "median", "loss")
FILES = tuple(f"{name}.{kind}" for name in FIGURES for kind in KINDS)
Row = dict[str, Any]


@dataclass(frozen=True)
class Sheet:
    """The panels of one figure.

    Attributes
    ----------
    name : of its files
    panels : what it shows
    columns : how many panels belong side by side
    """

    name: str
    panels: tuple[Panel, ...]
    columns: int


@dataclass(frozen=True)
class _Layout:
    """Where the sweeps go: one along x, one across the columns, the others down the rows.

    Numbers go along x before names do, because lines have a meaning over numbers.
    """

    x: str
    across: tuple[str, ...]
    down: tuple[str, ...]

    @classmethod
    def of(cls, axes: Sequence[str], rows: Sequence[Row]) -> _Layout:
        swept = [axis for axis in axes if axis != METHOD and len({row[axis] for row in rows}) > 1]
        swept.sort(key=lambda axis: not all(isinstance(row[axis], (int, float)) for row in rows))
        return cls(swept[0] if swept else "", tuple(swept[1:2]), tuple(swept[2:]))

    def parts(self, rows: Sequence[Row], axes: tuple[str, ...]) -> list[dict[str, Any]]:
        """Return every combination of values of these sweeps, in order."""
        values = [list(dict.fromkeys(row[axis] for row in rows)) for axis in axes]
        return [dict(zip(axes, found, strict=True)) for found in product(*values)]


def sheets_of(comparison: Comparison) -> list[Sheet]:
    """Return the figures of a comparison; those that would have nothing to show are left out."""
    rows = [row for row in comparison.rows if row["status"] != "refused"]
    rows, least = above_least(rows, comparison.axes)
    layout = _Layout.of(comparison.axes, rows)
    across, down = layout.parts(rows, layout.across), layout.parts(rows, layout.down)
    n_named = max(len(run.policy.utility.named) for run in comparison.runs)
    panels: dict[str, list[Panel]] = {name: [] for name in FIGURES}
    for measure in measures_of(comparison.workloads, n_named, comparison.measures):
        detail = least if measure.column == "log2_ul" else measure.detail
        if not _has_something(rows, measure):
            continue
        for part in ({**above, **beside} for above in down for beside in across):
            some = [row for row in rows if all(row[axis] == part[axis] for axis in part)]
            words = ", ".join(setting_words(axis, value) for axis, value in part.items())
            panels[measure.figure].append(
                Panel(
                    series_of(some, layout.x, measure.column),
                    "\n".join(text for text in (words, detail) if text),
                    heading(layout.x),
                    measure.title,
                    measure.log,
                    measure.least,
                    measure.whole,
                )
            )
    sheets = []
    for name, found in panels.items():
        columns = len(across) if layout.across else 2 if len(found) == 4 else 3
        if found:
            sheets.append(Sheet(name, tuple(found), columns))
    return sheets


def sheet_of(comparison: Comparison, name: str) -> Sheet:
    """Return one figure by its name."""
    if name not in FIGURES:
        raise PolicyError(f"no figure {name!r}; there is {', '.join(FIGURES)}")
    found = [sheet for sheet in sheets_of(comparison) if sheet.name == name]
    if not found:
        raise PolicyError(f"the figure {name} would be empty: no run has anything to show there")
    return found[0]


def _has_something(rows: Sequence[Row], measure: Column) -> bool:
    """Whether there is anything to see: not where nothing is lost by any run."""
    return measure.better == "highest" or any(row[measure.column] for row in rows)


def above_least(rows: Sequence[Row], axes: Sequence[str]) -> tuple[list[Row], str]:
    """Replace log2 UL by the bits above the least of all runs; say which run that is.

    log2 UL itself grows with the number of items: -3288 and -3219 tell nothing, 69 bits do.

    >>> rows = [{"algorithm": "coat", "log2_ul": -70.0}, {"algorithm": "pcta", "log2_ul": -64.5}]
    >>> found, words = above_least(rows, ["algorithm"])
    >>> [row["log2_ul"] for row in found]
    [0.0, 5.5]
    >>> print(words)
    least log2 UL, -70: coat.
    One bit more: UL is twice as large.
    """
    known = [row for row in rows if row["log2_ul"] is not None]
    if not known:
        return list(rows), ""
    best = min(known, key=lambda row: float(row["log2_ul"]))
    least = best["log2_ul"]
    found = [
        row if row["log2_ul"] is None else {**row, "log2_ul": row["log2_ul"] - least}
        for row in rows
    ]
    words = ", ".join(setting_words(axis, best[axis]) for axis in axes)
    return found, f"least log2 UL, {least:.0f}: {words}.\nOne bit more: UL is twice as large."
