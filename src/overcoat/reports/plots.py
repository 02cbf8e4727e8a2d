"""Plots for reports: bars, drawn as SVG by hand, so that a report needs no other library.

A plot is as wide as a phone; on a larger screen it is scaled up a little. Its colours are those of
the page, in the light and in the dark. What it shows is also in a table beside it, and in words for
those who cannot see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["STYLE", "Bars", "draw"]

# Contrast to the ground at least 3, for shapes; both have another lightness, for grey prints.
STYLE = """
:root { --one: #b5541c; --two: #0b5c8a }
@media (prefers-color-scheme: dark) { :root { --one: #e08a4f; --two: #74b8e8 } }
figure { margin: 1rem 0; max-width: 30rem }
figcaption { font-weight: 600; font-size: .95rem; margin-bottom: .4rem }
.plot { display: block; width: 100%; height: auto }
.plot text { font: 12px system-ui, sans-serif; fill: var(--ink) }
.plot .value { font-size: 11px }
.plot .one { fill: var(--one) }
.plot .two { fill: var(--two) }
.plot .axis { stroke: var(--soft); stroke-width: 1 }
@media print {
  :root { --one: #b5541c; --two: #0b5c8a }
  figure { break-inside: avoid; max-width: 12cm }
}
"""

_WIDTH = 360
_ROOM = 245  # for the longest bar; what is left is for its number
_BAR, _GAP, _LABEL = 13, 3, 17
_CLASSES = ("one", "two")


@dataclass(frozen=True)
class Bars:
    """Bars in groups: one group a row, in it one bar for each series.

    Attributes
    ----------
    title : what is shown, as a caption
    words : the same for those who cannot see it, with the numbers
    series : what the bars of a group are; at most two
    rows : for each group its name, and for each series a number and how it is written
    most : the number that the longest bar possible stands for
    """

    title: str
    words: str
    series: tuple[str, ...]
    rows: Sequence[tuple[str, Sequence[tuple[float, str]]]]
    most: float


def draw(bars: Bars) -> str:
    """Return a figure.

    >>> figure = draw(Bars("Risk", "one half", ("now",), [("2 known", [(1, "1 of 2")])], 2))
    >>> 'aria-label="one half"' in figure, 'width="122.5"' in figure
    (True, True)
    """
    # Two series of the same colour pair everywhere: before, after. A single one is "after".
    classes = _CLASSES[-len(bars.series) :]
    parts, y = [], 0.0
    if len(bars.series) > 1:
        y += 4
        x = 0.0
        for name, kind in zip(bars.series, classes, strict=True):
            parts.append(f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="11" height="11"/>')
            parts.append(f'<text x="{x + 16:g}" y="{y + 10:g}">{escape(name)}</text>')
            x += 170
        y += 22
    for label, values in bars.rows:
        y += _LABEL
        parts.append(f'<text x="0" y="{y - 4:g}">{escape(label)}</text>')
        foot = y + len(values) * (_BAR + _GAP) - _GAP
        parts.append(f'<line class="axis" x1="0" x2="0" y1="{y:g}" y2="{foot:g}"/>')
        for (number, written), kind in zip(values, classes, strict=True):
            width = _ROOM * min(max(number / bars.most, 0), 1) if bars.most else 0.0
            if number > 0:
                width = max(width, 1)  # what is there can be seen
            size = f'width="{width:.5g}" height="{_BAR}"'
            parts.append(f'<rect class="{kind}" x="0" y="{y:g}" {size}/>')
            at = f'x="{width + 5:.5g}" y="{y + 10.5:g}"'
            parts.append(f'<text class="value" {at}>{escape(written)}</text>')
            y += _BAR + _GAP
        y += 5
    box = f'viewBox="0 0 {_WIDTH} {y:g}"'
    svg = f'<svg class="plot" role="img" aria-label="{escape(bars.words)}" {box}>'
    inside = "".join(parts)
    return f"<figure><figcaption>{escape(bars.title)}</figcaption>{svg}{inside}</svg></figure>"
