"""Drawing panels with matplotlib: readable in print, by colour-blind people, without a legend."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from textwrap import wrap
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation, Transform

from overcoat.comparison.looks import Look, looks_of
from overcoat.comparison.plots import Panel, Point
from overcoat.comparison.scales import FOOT, Across, Scale, across, scale_of, show_tick

__all__ = ["HOLLOW", "draw_panels"]

HOLLOW = "hollow: beyond s, cannot be published"
_TEXT, _HEADING = 9.0, 10.0  # points
_MARKER, _LINE = 6.5, 1.6  # points
_LETTER = 0.6 * _TEXT / 72  # inches that a letter takes on average
_ROW = 1.3 * _TEXT / 72  # inches that a line of text takes
# Inches. A panel is as wide as a phone, so that nothing has to be scaled down there.
_WIDE, _HIGH = 3.5, 1.75
_GAP = 0.1
_BAR = 0.28
_SOFT, _GRID = "#444444", "#dddddd"


class _Setup(NamedTuple):
    """What the panels of a figure have in common: looks, axes, and room around them (inches)."""

    looks: dict[str, Look]
    scales: dict[str, Scale]
    sweeps: dict[str, Across]
    left: float
    right: float
    above: float
    below: float
    high: float

    @property
    def wide(self) -> float:
        """Width of the inside of a panel."""
        return _WIDE - self.left - self.right

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of a panel with everything."""
        return _WIDE, self.above + self.high + self.below

    @classmethod
    def of(cls, panels: Sequence[Panel]) -> _Setup:
        """Find what fits all panels."""
        by_y: dict[str, list[Panel]] = {}
        by_x: dict[str, list[Any]] = {}
        for panel in panels:
            by_y.setdefault(panel.y, []).append(panel)
            by_x.setdefault(panel.x, []).extend(point.x for point in panel.points)
        scales = {
            y: scale_of(
                [point.y for panel in some for point in panel.points],
                least=max(panel.least for panel in some),
                log=some[0].log_y,
                whole=some[0].whole,
            )
            for y, some in by_y.items()
        }
        sweeps = {x: across(values) for x, values in by_x.items()}
        names = {name for panel in panels for name in panel.series}
        ticks = {show_tick(tick) for scale in scales.values() for tick in scale.ticks}
        longest, widest = (max(map(len, texts), default=0) for texts in (names, ticks))
        bars = any(map(_is_single, sweeps.values()))
        lines = max(len(_heading_lines(panel)) for panel in panels)
        return cls(
            looks_of(names),
            scales,
            sweeps,
            left=2 * _GAP + _LETTER * (longest if bars else widest),
            right=0.5 if bars else 3.2 * _GAP + _LETTER * longest,
            above=_ROW * (lines + 1) + 1.5 * _GAP,
            below=_ROW * (1 if bars else 2) + 2 * _GAP,
            high=_BAR * max(len(panel.series) for panel in panels) if bars else _HIGH,
        )


def draw_panels(panels: Sequence[Panel], among: Sequence[Panel], columns: int) -> Figure:
    """Draw some panels, with the looks and the axes that fit all panels of `among`."""
    setup = _Setup.of(among)
    columns = min(columns, len(panels))
    n_lines = math.ceil(len(panels) / columns)
    wide, high = setup.size
    note = 1.5 * _ROW if any(point.hollow for panel in among for point in panel.points) else 0.0
    width, height = wide * columns, high * n_lines + note
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    for number, panel in enumerate(panels):
        x = wide * (number % columns) + setup.left
        y = height - high * (number // columns + 1) + setup.below
        box = (x / width, y / height, setup.wide / width, setup.high / height)
        _draw_panel(figure.add_axes(box), panel, setup)
    if any(point.hollow for panel in panels for point in panel.points):
        place = (_GAP / width, 0.5 * _ROW / height)
        figure.text(*place, f"○ {HOLLOW}", fontsize=_TEXT, color=_SOFT)
    return figure


def _is_single(sweep: Across) -> bool:
    """Whether nothing was swept: methods are compared by bars."""
    return len(sweep.positions) < 2


def _draw_panel(axes: Axes, panel: Panel, setup: _Setup) -> None:
    if _is_single(setup.sweeps[panel.x]):
        _draw_bars(axes, panel, setup)
    else:
        _draw_lines(axes, panel, setup)
    if not panel.points:  # its place stays, so that the others are found where they belong
        axes.text(0.5, 0.5, "no run", transform=axes.transAxes, ha="center", fontsize=_TEXT)
    axes.minorticks_off()
    axes.tick_params(labelsize=_TEXT, color=_SOFT)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    log = {"linear": "", "log": " (log scale)", "symlog": " (log scale above 0)"}
    below = _heading_lines(panel)
    axes.set_title(
        _plain(panel.y) + log[setup.scales[panel.y].kind],
        loc="left",
        fontsize=_HEADING,
        fontweight="bold",
        pad=6 + 1.3 * _TEXT * len(below),
    )
    axes.annotate(
        _plain("\n".join(below)),
        (0, 1),
        (0, 5),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=_TEXT,
        color=_SOFT,
        va="bottom",
    )


def _heading_lines(panel: Panel) -> list[str]:
    """Return the title in lines that fit; the name of the measure stands above them."""
    letters = int((_WIDE - 6 * _GAP) / _LETTER)
    return [line for part in panel.title.splitlines() for line in wrap(part, letters)]


def _set_scale(axes: Axes, scale: Scale, side: str) -> None:
    """Put a scale on the x or the y axis."""
    options = {"linthresh": scale.ticks[1], "linscale": FOOT} if scale.kind == "symlog" else {}
    labels = [show_tick(tick) for tick in scale.ticks]
    if side == "y":
        axes.set_yscale(scale.kind, **options)
        axes.set_yticks(scale.ticks, labels)
        axes.set_ylim(scale.ticks[0], scale.ticks[-1])
    else:
        axes.set_xscale(scale.kind, **options)
        axes.set_xticks(scale.ticks, labels)
        axes.set_xlim(scale.ticks[0], scale.ticks[-1])
    axes.grid(axis=side, color=_GRID, linewidth=0.6)  # type: ignore[arg-type]


def _draw_bars(axes: Axes, panel: Panel, setup: _Setup) -> None:
    """Draw a bar for each method; a dot where the axis does not start at 0."""
    scale, looks = setup.scales[panel.y], setup.looks
    shown = [(name, points[0]) for name, points in panel.series.items() if points]
    _set_scale(axes, scale, "x")
    for at, (name, point) in enumerate(shown):
        colour, marker = looks[name]
        fill = "white" if point.hollow else colour
        if scale.kind == "linear":
            axes.barh(at, point.y, 0.6, facecolor=fill, edgecolor=colour, clip_on=False)
        else:
            axes.plot(point.y, at, marker, ms=_MARKER + 1, color=colour, mfc=fill, clip_on=False)
            axes.axhline(at, color=_GRID, linewidth=0.6, zorder=0)
        axes.annotate(
            f"{point.y:.3g}" if point.y < 1000 else f"{point.y:,.0f}",
            (point.y, at),
            (7, 0),
            textcoords="offset points",
            fontsize=_TEXT,
            va="center",
            annotation_clip=False,
        )
    axes.set_yticks(range(len(shown)), [_plain(name) for name, _ in shown])
    axes.set_ylim(len(shown) - 0.4, -0.6)  # the first method on top
    axes.tick_params(axis="y", length=0)
    for label, (name, _) in zip(axes.get_yticklabels(), shown, strict=True):
        label.set_color(looks[name].colour)


def _draw_lines(axes: Axes, panel: Panel, setup: _Setup) -> None:
    """Draw a line for each method, its name at the end."""
    scale, sweep, looks = setup.scales[panel.y], setup.sweeps[panel.x], setup.looks
    _set_scale(axes, scale, "y")
    if sweep.kind == "log":
        axes.set_xscale("log")
    axes.set_xticks(
        list(sweep.positions.values()), [_plain(label) for label in sweep.labels.values()]
    )
    remark = {"log": " (log scale)", "steps": "" if len(sweep.positions) < 3 else " (in steps)"}
    axes.set_xlabel(_plain(panel.x) + remark.get(sweep.kind, ""), fontsize=_TEXT)
    ends = {}
    apart = _apart(panel.series, scale, sweep, setup.wide)
    for name, points in panel.series.items():
        colour, marker = looks[name]
        shift, width = apart[name]
        moved = axes.transData + ScaledTranslation(shift / 72, 0, axes.figure.dpi_scale_trans)
        along = sorted(points, key=lambda point: sweep.positions[point.x])
        xs, ys = [sweep.positions[point.x] for point in along], [point.y for point in along]
        # Names have no order: what joins them only leads the eye.
        faint = {"linewidth": 0.8, "alpha": 0.5} if sweep.kind == "names" else {"linewidth": width}
        axes.plot(xs, ys, color=colour, transform=moved, label=f"_{name}", **faint)  # type: ignore[arg-type]
        for hollow in (False, True):
            axes.plot(
                [x for x, point in zip(xs, along, strict=True) if point.hollow == hollow],
                [point.y for point in along if point.hollow == hollow],
                linestyle="none",
                marker=marker,
                markersize=_MARKER,
                color=colour,
                markerfacecolor="white" if hollow else colour,
                transform=moved,
                clip_on=False,
                zorder=3,
                label=name,
            )
        ends[name] = _End(moved, xs[-1], ys[-1])
    axes.set_xlim(*_limits(sweep))
    _label_ends(axes, ends, scale, looks)


def _limits(sweep: Across) -> tuple[float, float]:
    """Return where the x axis starts and ends: a little outside of its values."""
    low, high = min(sweep.positions.values()), max(sweep.positions.values())
    if sweep.kind == "log":
        beyond = (high / low) ** 0.07
        return low / beyond, high * beyond
    beyond = 0.5 if sweep.kind == "names" else 0.08 * (high - low)
    return low - beyond, high + beyond


def _apart(
    series: Mapping[str, Sequence[Point]], scale: Scale, sweep: Across, wide: float
) -> dict[str, tuple[float, float]]:
    """Return how far each method moves aside, and how thick its line is, both in points.

    Methods that meet somewhere stand side by side everywhere, and of lines that lie on one
    another the lower ones are thicker, so that all are seen. Heights are never changed.
    """
    touch = 0.8 * _MARKER / (72 * _HIGH)
    heights = {
        name: {point.x: scale.share(point.y) for point in points} for name, points in series.items()
    }
    order = list(sweep.positions)
    beside = {name: {name} for name in series}
    above = dict.fromkeys(series, 0)
    for one, other in combinations(series, 2):
        shared = heights[one].keys() & heights[other].keys()
        meet = [x in shared and abs(heights[one][x] - heights[other][x]) < touch for x in order]
        if any(meet) or sweep.kind == "names":
            merged = beside[one] | beside[other]
            beside |= dict.fromkeys(merged, merged)
        above[one] += any(map(all, pairwise(meet)))
    low, high = _limits(sweep)
    at = list(sweep.positions.values())
    if sweep.kind == "log":
        low, high, *at = (math.log10(value) for value in (low, high, *at))
    room = 72 * wide * min(b - a for a, b in pairwise(at)) / (high - low)
    found = {}
    for name, group in beside.items():
        place = [other for other in series if other in group].index(name)
        step = min(_MARKER - 1, 0.7 * room / len(group))
        found[name] = (step * (place - (len(group) - 1) / 2), _LINE * (1 + above[name]))
    return found


class _End(NamedTuple):
    """Where a line ends, moved aside or not."""

    moved: Transform
    x: float
    y: float


def _label_ends(
    axes: Axes,
    ends: Mapping[str, _End],
    scale: Scale,
    looks: Mapping[str, Look],
) -> None:
    """Write each method's name at the right end of its line, moved apart where they would touch."""
    line = _ROW / _HIGH
    heights = {name: scale.share(end.y) for name, end in ends.items()}
    order = sorted(heights, key=lambda name: heights[name])
    placed: dict[str, float] = {}
    last = -math.inf
    for name in order:
        last = placed[name] = max(heights[name], last + line)
    ceiling = 1.0
    for name in reversed(order):  # what was pushed out at the top comes down again
        placed[name] = min(placed[name], ceiling)
        ceiling = placed[name] - line
    for name in order:
        axes.annotate(
            _plain(name),
            xy=ends[name][1:],
            xycoords=ends[name].moved,
            xytext=(1.07, placed[name]),
            textcoords="axes fraction",
            color=looks[name].colour,
            fontsize=_TEXT,
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": looks[name].colour,
                "linewidth": 0.6,
                "shrinkA": 1,
                "shrinkB": _MARKER,
                "relpos": (0, 0.5),
            },
        )


def _plain(text: str) -> str:
    """Return a text that matplotlib does not take for a formula."""
    return text.replace("$", r"\$")
