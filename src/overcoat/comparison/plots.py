"""Figures of a comparison: what they show. `drawing` draws them.

Needs matplotlib, which is an extra: ``plots``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from overcoat.comparison.columns import METHOD
from overcoat.data.io import Staging
from overcoat.errors import OvercoatError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "KINDS",
    "NEEDED",
    "Panel",
    "Point",
    "can_draw",
    "draw",
    "drawn_alone",
    "save",
    "series_of",
    "write_figure",
]

KINDS = ("svg", "png")
NEEDED = "plots need matplotlib: pip install 'overcoat[plots]'"


class Point(NamedTuple):
    """A point of a line; hollow where it shows something that could not be published."""

    x: Any
    y: float
    hollow: bool = False


@dataclass(frozen=True)
class Panel:
    """One chart: a line for each method over what was swept, or a bar for each.

    Attributes
    ----------
    series : the points of each method
    title : what tells the panel from its neighbours
    x, y : what was swept, and what was measured
    log_y : whether y may be drawn on a log scale; it is where values differ tenfold
    least : how far y reaches in any case, on a linear scale
    whole : whether y is counted in whole numbers
    """

    series: Mapping[str, Sequence[Point]]
    title: str
    x: str
    y: str
    log_y: bool = False
    least: float = 0.0
    whole: bool = False

    @property
    def points(self) -> list[Point]:
        """All points."""
        return [point for points in self.series.values() for point in points]

    @property
    def words(self) -> str:
        """The panel in words, with its numbers, for those who cannot see it.

        >>> series = {"coat": [Point(2, 0.25), Point(5, 4.0, hollow=True)]}
        >>> Panel(series, "1 item", "k", "AvgRE").words
        'AvgRE, 1 item. coat: 0.25 at k 2, 4 at k 5 (beyond s).'
        """
        head = ", ".join(part for part in (self.y, *self.title.splitlines()) if part)
        several = len({point.x for point in self.points}) > 1
        lines = []
        for name, points in self.series.items():
            shown = (
                f"{point.y:.3g}"
                + f" at {self.x} {point.x}" * several
                + " (beyond s)" * point.hollow
                for point in points
            )
            lines.append(f" {name}: {', '.join(shown)}.")
        return f"{head}." + "".join(lines)


def series_of(rows: Iterable[Mapping[str, Any]], x: str, y: str) -> dict[str, list[Point]]:
    """Return the points (x, y) of `rows`, a series for each method.

    >>> series_of([{"algorithm": "coat", "k": 2, "ncp": 0.5}], "k", "ncp")
    {'coat': [Point(x=2, y=0.5, hollow=False)]}
    """
    series: dict[str, list[Point]] = {}
    for row in rows:
        if row[y] is not None:
            hollow = row.get("status") == "beyond s"
            series.setdefault(row[METHOD], []).append(Point(row.get(x), float(row[y]), hollow))
    return series


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def draw(panels: Sequence[Panel], *, columns: int = 3) -> Figure:
    """Draw the panels as one figure, so many side by side.

    Panels of one measure share its axis; those over one sweep share that.
    """
    return _draw(panels, panels, columns)


def drawn_alone(panels: Sequence[Panel]) -> list[bytes]:
    """Draw each panel as an SVG of its own, with the axes it shares with the others."""
    found = []
    for panel in panels:
        with BytesIO() as file:
            write_figure(_draw([panel], panels, 1), file, "svg")
            found.append(file.getvalue())
    return found


def _draw(panels: Sequence[Panel], among: Sequence[Panel], columns: int) -> Figure:
    if not can_draw():
        raise OvercoatError(NEEDED)
    from overcoat.comparison.drawing import draw_panels

    return draw_panels(panels, among, columns)


def save(figure: Figure, folder: str | Path, name: str) -> list[Path]:
    """Write the figure as SVG and PNG; return the paths."""
    targets = [Path(folder) / f"{name}.{kind}" for kind in KINDS]
    with Staging() as staging:
        for target in targets:
            write_figure(figure, staging.stage(target), target.suffix[1:])
        staging.commit()
    return targets


def write_figure(figure: Figure, file: Path | IO[bytes], kind: str) -> None:
    """Write a figure to a file, the same bytes each time."""
    from matplotlib import rc_context

    # Without a salt and with a date, no two files would be the same.
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    with rc_context({"svg.hashsalt": "overcoat"}):
        figure.savefig(file, format=kind, dpi=150, metadata=metadata)
