"""Drawing panels with matplotlib: readable in print, by colour-blind people, without a legend."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from io import BytesIO
from itertools import combinations, pairwise
from textwrap import wrap
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from overcoat.comparison.looks import Look, looks_of
from overcoat.comparison.plots import Panel, Point, write_figure
from overcoat.comparison.scales import Across, Scale, across, scale_of, show_tick

__all__ = ["HOLLOW", "Drawing", "draw_panels"]

HOLLOW = "hollow: beyond s, cannot be published"
_TEXT, _HEADING = 9.0, 10.0  # points
_MARKER, _LINE = 7.0, 1.5  # points
_LETTER = 0.6 * _TEXT / 72  # inches that a letter takes on average
_PROSE = 0.53 * _TEXT / 72  # and in a sentence
_ROW = 1.3 * _TEXT / 72  # inches that a line of text takes
# Inches. A panel is as wide as a phone, so that nothing has to be scaled down there.
_WIDE, _HIGH = 3.5, 1.75
_GAP = 0.1
_BAR = 0.28
_SOFT, _GRID = "#444444", "#dddddd"
_RIM = withStroke(linewidth=_LINE + 1.2, foreground="white")  # where lines cross, also in grey


class Drawing(Figure):
    """A figure that a notebook shows by itself, whether pyplot is there or not."""

    def _repr_svg_(self) -> str:
        with BytesIO() as file:
            write_figure(self, file, "svg")
            return file.getvalue().decode()


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


def draw_panels(panels: Sequence[Panel], among: Sequence[Panel], columns: int) -> Drawing:
    """Draw some panels, with the looks and the axes that fit all panels of `among`."""
    setup = _Setup.of(among)
    columns = min(columns, len(panels))
    n_lines = math.ceil(len(panels) / columns)
    wide, high = setup.size
    note = 1.5 * _ROW if any(point.hollow for panel in among for point in panel.points) else 0.0
    width, height = wide * columns, high * n_lines + note
    figure = Drawing(figsize=(width, height))
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
    letters = int((_WIDE - 6 * _GAP) / _PROSE)
    return [line for part in panel.title.splitlines() for line in wrap(part, letters)]


def _set_scale(axes: Axes, scale: Scale, side: str) -> None:
    """Put a scale on the x or the y axis."""
    options = {}
    if scale.kind == "symlog":
        # matplotlib's linscale is 0.9 of the decades that the way from 0 takes.
        decades = scale.decades * scale.foot / (1 - scale.foot)
        options = {"linthresh": scale.low, "linscale": 0.9 * decades}
    low = 0.0 if scale.kind == "symlog" else scale.low
    labels = [show_tick(tick) for tick in scale.ticks]
    if side == "y":
        axes.set_yscale(scale.kind, **options)
        axes.set_yticks(scale.ticks, labels)
        axes.set_ylim(low, scale.high)
    else:
        axes.set_xscale(scale.kind, **options)
        axes.set_xticks(scale.ticks, labels)
        axes.set_xlim(low, scale.high)
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
    shifts, covered = _apart(panel.series, scale, sweep, setup.wide)
    ends = {}
    for name, points in panel.series.items():
        colour, marker = looks[name]
        along = sorted(points, key=lambda point: sweep.positions[point.x])
        ys = [point.y for point in along]
        xs = [
            _moved(sweep, sweep.positions[point.x], shifts[name, point.x] / (72 * setup.wide))
            for point in along
        ]
        joining: dict[str, Any] = {"color": colour, "label": f"_{name}"}
        if sweep.kind == "names":  # they have no order: what joins them only leads the eye
            axes.plot(xs, ys, linewidth=0.8, alpha=0.5, **joining)
        else:
            axes.plot(xs, ys, linewidth=_LINE, path_effects=[_RIM], **joining)
            for (at, one), (until, other) in pairwise(zip(xs, along, strict=True)):
                if above := covered.get((name, one.x, other.x)):
                    width = _LINE * (1 + 1.5 * above)
                    axes.plot((at, until), (one.y, other.y), linewidth=width, **joining)
        for x, point in zip(xs, along, strict=True):
            axes.plot(
                x,
                point.y,
                linestyle="none",
                marker=marker,
                markersize=_MARKER,
                color=colour,
                markerfacecolor="white" if point.hollow else colour,
                markeredgecolor=colour if point.hollow else "white",
                markeredgewidth=1.0 if point.hollow else 0.6,
                clip_on=False,
                zorder=3,
                label=name,
            )
        ends[name] = (xs[-1], ys[-1])
    axes.set_xlim(*_limits(sweep))
    _label_ends(axes, ends, scale, looks)


def _moved(sweep: Across, x: float, share: float) -> float:
    """Return the place a share of the axis' length to the right of another one."""
    low, high = _limits(sweep)
    return x * (high / low) ** share if sweep.kind == "log" else x + share * (high - low)


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
) -> tuple[dict[tuple[str, Any], float], dict[tuple[str, Any, Any], int]]:
    """Return how far marks move aside, in points, and how many lines cover a part of a line.

    Marks that meet stand side by side, and where a line is covered it is drawn thicker, so that
    all are seen. Heights are never changed. Over names all marks stand side by side.
    """
    touch, cover = (points / (72 * _HIGH) for points in (0.8 * _MARKER, 1.5 * _LINE))
    heights: dict[Any, dict[str, float]] = {x: {} for x in sweep.positions}
    for name, points in series.items():
        for point in points:
            heights[point.x][name] = scale.share(point.y)
    low, high = _limits(sweep)
    at = list(sweep.positions.values())
    if sweep.kind == "log":
        low, high, *at = (math.log10(value) for value in (low, high, *at))
    room = 72 * wide * min(b - a for a, b in pairwise(at)) / (high - low)
    shifts = {}
    for x, found in heights.items():
        for group in [list(series)] if sweep.kind == "names" else _touching(found, touch):
            step = min(_MARKER - 0.5, 0.7 * room / len(group))
            for place, name in enumerate(group):
                shifts[name, x] = step * (place - (len(group) - 1) / 2)
    covered: Counter[tuple[str, Any, Any]] = Counter()
    for (x, found), (next_x, then) in pairwise(heights.items()):
        for one, other in combinations(series, 2):
            if all(
                one in there and other in there and abs(there[one] - there[other]) < cover
                for there in (found, then)
            ):
                covered[one, x, next_x] += 1
    return shifts, covered


def _touching(heights: Mapping[str, float], touch: float) -> list[list[str]]:
    """Return the methods in groups that touch one another, in the order they are drawn in."""
    groups: list[list[str]] = []
    ordered = sorted(heights, key=lambda name: heights[name])
    for below, name in zip([None, *ordered], ordered, strict=False):
        if below is not None and heights[name] - heights[below] < touch:
            groups[-1].append(name)
        else:
            groups.append([name])
    return [[name for name in heights if name in group] for group in groups]


def _label_ends(
    axes: Axes,
    ends: Mapping[str, tuple[float, float]],
    scale: Scale,
    looks: Mapping[str, Look],
) -> None:
    """Write each method's name at the right end of its line, moved apart where they would touch."""
    line = _ROW / _HIGH
    heights = {name: scale.share(y) for name, (_, y) in ends.items()}
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
            xy=ends[name],
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
