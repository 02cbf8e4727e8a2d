"""Figures of a comparison: readable in print, by colour-blind people, and without a legend.

Needs matplotlib, which is an extra: ``plots``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from overcoat.data.io import Staging
from overcoat.errors import OvercoatError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["KINDS", "Panel", "Point", "can_draw", "draw", "save", "series_of", "write_figure"]

# Okabe and Ito's palette, the darker colours first; each with a marker of its own, so that a
# black-and-white copy can be read too.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_KNOWN = ("coat", "apriori", "pcta", "greedy")  # a method looks the same in every figure
KINDS = ("svg", "png")
_LINE = 0.075  # height of a label, as a share of the panel's


class Point(NamedTuple):
    """A point of a line; hollow where it shows something that could not be published."""

    x: Any
    y: float
    hollow: bool = False


@dataclass(frozen=True)
class Panel:
    """One chart: lines over a common x.

    Attributes
    ----------
    series : the points of each line, by name
    title, x, y : what is written above and along the axes
    log_y : whether y may be drawn on a log scale; it is where that shows more
    """

    series: Mapping[str, Sequence[Point]]
    title: str
    x: str
    y: str
    log_y: bool = False


def series_of(
    rows: Iterable[Mapping[str, Any]], x: str, y: str, by: Sequence[str] = ("algorithm",)
) -> dict[str, list[Point]]:
    """Return the points (x, y) of `rows`, a series for each combination of the values in `by`.

    >>> series_of([{"algorithm": "coat", "k": 2, "ul": 1.0}], "k", "ul")
    {'coat': [Point(x=2, y=1.0, hollow=False)]}
    """
    series: dict[str, list[Point]] = {}
    for row in rows:
        if row[y] is not None:
            name = ", ".join(
                str(row[key]) if key == "algorithm" else f"{key} {row[key]}" for key in by
            )
            hollow = row.get("status") == "beyond s"
            series.setdefault(name, []).append(Point(row[x], float(row[y]), hollow))
    return series


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def draw(panels: Sequence[Panel], *, columns: int = 3) -> Figure:
    """Draw the panels side by side."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError:
        raise OvercoatError("plots need matplotlib: pip install matplotlib") from None

    layout = ConstrainedLayoutEngine(w_pad=0.15, h_pad=0.08)  # inches
    columns = min(columns, len(panels))
    n_lines = math.ceil(len(panels) / columns)
    figure = Figure(figsize=(4.2 * columns, 3.1 * n_lines), layout=layout)
    FigureCanvasAgg(figure)
    # Panels side by side are read together: all of them have a log scale, or none.
    ranges = [
        [point.y for points in panel.series.values() for point in points]
        for panel in panels
        if panel.log_y
    ]
    positive = all(min(ys, default=1) > 0 for ys in ranges)
    log_y = positive and any(max(ys, default=1) >= 5 * min(ys, default=1) for ys in ranges)
    for number, panel in enumerate(panels, start=1):
        axes = figure.add_subplot(n_lines, columns, number)
        _draw_panel(axes, panel, log_y=log_y and panel.log_y)
    return figure


def save(figure: Figure, folder: str | Path, name: str) -> list[Path]:
    """Write the figure as SVG and PNG; return the paths."""
    targets = [Path(folder) / f"{name}.{kind}" for kind in KINDS]
    with Staging() as staging:
        for target in targets:
            write_figure(figure, staging.stage(target), target.suffix[1:])
        staging.commit()
    return targets


def write_figure(figure: Figure, path: Path, kind: str) -> None:
    """Write a figure to a file, the same bytes each time."""
    from matplotlib import rc_context

    # Without a salt and with a date, no two files would be the same.
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    with rc_context({"svg.hashsalt": "overcoat"}):
        figure.savefig(path, format=kind, dpi=150, metadata=metadata)


def _draw_panel(axes: Axes, panel: Panel, *, log_y: bool) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator

    xs = list(dict.fromkeys(point.x for points in panel.series.values() for point in points))
    numeric = all(isinstance(x, (int, float)) for x in xs)
    xs = sorted(xs) if numeric else xs
    logarithmic = numeric and len(xs) > 2 and xs[0] > 0 and xs[-1] >= 10 * xs[0]
    position = {x: (x if logarithmic else number) for number, x in enumerate(xs)}
    values = [point.y for points in panel.series.values() for point in points]
    ends = {}
    styles = _styles(panel.series)
    for name, points in panel.series.items():
        style = styles[name]
        along = sorted((position[point.x], point.y, point.hollow) for point in points)
        axes.plot([x for x, _, _ in along], [y for _, y, _ in along], **style)
        for x, y in [(x, y) for x, y, empty in along if empty]:
            axes.plot(x, y, **{**style, "linestyle": "none"}, markerfacecolor="white")
        ends[name] = (along[-1][:2], style["color"])
    if logarithmic:
        axes.set_xscale("log")
    if log_y:
        axes.set_yscale("log")
        narrow = max(values) < 200 * min(values)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if narrow else (1,)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    elif values and min(values) >= 0:
        axes.set_ylim(0, 1.08 * max(values) or 1)
    axes.set_xticks(
        list(position.values()), [_plain(_tick(x, thousands=panel.x != "k")) for x in xs]
    )
    axes.minorticks_off()
    axes.set_xlabel(f"{panel.x} (log scale)" if logarithmic else panel.x)
    axes.set_ylabel(f"{panel.y} (log scale)" if axes.get_yscale() == "log" else panel.y)
    axes.set_title(_plain(panel.title), fontsize=10, loc="left")
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    _label_ends(axes, ends)


def _tick(x: Any, *, thousands: bool) -> str:
    if thousands and isinstance(x, int) and x >= 1000 and x % 1000 == 0:
        return f"{x // 1000}k"
    return f"{x:g}" if isinstance(x, float) else str(x)


def _plain(text: str) -> str:
    """Return a text that matplotlib does not take for a formula."""
    return text.replace("$", r"\$")


def _styles(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Give each line a look of its own, and the methods that we know always the same."""
    names = list(names)
    taken = {name: _KNOWN.index(name) for name in names if name in _KNOWN}
    free = (at for at in count() if at not in taken.values())
    looks = {name: taken[name] if name in taken else next(free) for name in names}
    n = len(_COLOURS)
    return {
        name: {
            "color": _COLOURS[at % n],
            "marker": _MARKERS[at % n],
            "linestyle": "-" if at < n else "--",
            # Lines drawn later are thinner: where two coincide, both are seen.
            "linewidth": max(2.8 - 0.6 * number, 0.8),
            "markersize": max(8.0 - 1.5 * number, 3.0),
        }
        for number, (name, at) in enumerate(looks.items())
    }


def _label_ends(axes: Axes, ends: Mapping[str, tuple[tuple[float, float], str]]) -> None:
    """Write each line's name at its right end, moved apart where they would touch."""
    if not ends:
        return
    to_share = axes.transAxes.inverted()
    shares = {
        name: float(to_share.transform(axes.transData.transform(point))[1])
        for name, (point, _) in ends.items()
    }
    placed = []
    last = -math.inf
    for name in sorted(shares, key=shares.__getitem__):
        last = max(shares[name], last + _LINE)
        placed.append((name, last))
    overflow = max(0.0, last - 1.0)
    for name, height in placed:
        axes.annotate(
            _plain(name),
            xy=(1.02, height - overflow),
            xycoords="axes fraction",
            color=ends[name][1],
            fontsize=9,
            va="center",
        )
