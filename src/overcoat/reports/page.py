"""The one skeleton of all pages: a file that stands alone, on a phone, in the dark and on paper."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from html import escape
from typing import Literal

from overcoat._version import __version__

__all__ = ["page", "panels", "scrolling"]

# All colours have a contrast of at least 4.5 to what they are written on. Pictures keep a white
# ground in the dark: their colours were chosen for it.
_STYLE = """
:root {
  color-scheme: light dark;
  --ink: #1b1b1b; --soft: #555; --line: #ccc; --ground: #fff; --shade: #f4f4f2;
}
@media (prefers-color-scheme: dark) {
  :root { --ink: #ececec; --soft: #b0b0b0; --line: #4a4a4a; --ground: #17181a; --shade: #232528 }
}
* { box-sizing: border-box }
body {
  font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground);
  max-width: 78rem; margin: 0 auto; padding: 1rem max(.75rem, 2vw) 3rem;
}
h1 { font-size: 1.7rem; line-height: 1.2; margin: 1rem 0 .5rem }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 2.2rem 0 .5rem }
h1, h2, li, dd, .lead { overflow-wrap: anywhere }
.lead { font-size: 1.05rem; max-width: 46rem }
p, ul { max-width: 46rem }
ul { padding-left: 1.2rem }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 1rem 0 }
dt { font-weight: 600 }
dd { margin: 0 }
footer { margin-top: 3rem; color: var(--soft); font-size: .85rem }
.panels {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr));
  gap: .75rem; margin: 0 0 .75rem;
}
.panels img {
  display: block; width: 100%; max-width: 27rem; height: auto; background: #fff;
  border-radius: 3px;
}
.scrolling { overflow: auto; max-height: 85vh; border: 1px solid var(--line) }
.scrolling:focus-visible { outline: 3px solid #0072b2 }
table {
  border-collapse: separate; border-spacing: 0; font-size: .85rem;
  font-variant-numeric: tabular-nums;
}
caption { text-align: left; padding: .4rem .6rem; color: var(--soft) }
th, td {
  padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: left;
  background: var(--ground);
}
td { white-space: nowrap }
th { font-weight: 600 }
.number { text-align: right }
thead th {
  position: sticky; top: 0; z-index: 2; vertical-align: bottom; background: var(--shade);
  border-bottom: 2px solid var(--soft);
}
tbody th { position: sticky; left: 0; z-index: 1 }
thead th:first-child { left: 0; z-index: 3 }
@page {
  margin: 12mm 12mm 16mm;
  @bottom-right { content: counter(page) " / " counter(pages); font: 8pt sans-serif }
}
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #444; --line: #bbb; --ground: #fff }
  body { max-width: none; padding: 0; font-size: 10pt }
  h2, h2 + p { break-after: avoid }
  .panels { grid-template-columns: repeat(3, 1fr) }
  .panels img, li, tr { break-inside: avoid }
  .scrolling { overflow: visible; max-height: none; border: 0 }
  table { font-size: 6.5pt }
  th, td { padding: .1rem .2rem; white-space: normal }
  td:not(.number) { min-width: 9ch }
  td:last-child:not(.number) { min-width: 24ch }
  thead th, tbody th { position: static }
  footer { margin-top: 1rem }
}
"""


_SIZES = {"portrait": "A4 portrait", "landscape": "landscape"}


def page(
    title: str,
    parts: Iterable[str],
    lead: str | None = None,
    *,
    style: str = "",
    paper: Literal["landscape", "portrait"] = "landscape",
) -> str:
    """Return a whole page.

    Parameters
    ----------
    title : its heading, plain text
    parts : what it shows, as HTML; headings in it start at ``h2``
    lead : what it says in a sentence or two, plain text
    style : rules of this page's own
    paper : how it is printed

    >>> text = page("Trees & birds", ["<p>Nine.</p>"])
    >>> "<h1>Trees &amp; birds</h1>" in text, "<p>Nine.</p>" in text
    (True, True)
    """
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}@page {{ size: {_SIZES[paper]} }}{style}</style>",
        "</head>",
        "<body>",
        "<main>",
        f"<h1>{escape(title)}</h1>",
    ]
    if lead is not None:
        lines.append(f'<p class="lead">{escape(lead)}</p>')
    lines += [*parts, "</main>", f"<footer>Overcoat {__version__}</footer>", "</body>", "</html>"]
    return "\n".join(lines) + "\n"


def scrolling(inside: str, name: str) -> str:
    """Return something wide that scrolls on its own, by keys, too; `name` tells what it is.

    >>> scrolling("<p>1</p>", "Numbers")
    '<div class="scrolling" role="region" tabindex="0" aria-label="Numbers"><p>1</p></div>'
    """
    opening = f'<div class="scrolling" role="region" tabindex="0" aria-label="{escape(name)}">'
    return f"{opening}{inside}</div>"


def panels(pictures: Iterable[tuple[bytes, str]]) -> str:
    """Return pictures that stand side by side where there is room, else below one another.

    Parameters
    ----------
    pictures : each as SVG, with words for those who cannot see it

    >>> print(panels([(b"<svg/>", "a <line>")]))
    <div class="panels">
    <img alt="a &lt;line&gt;" src="data:image/svg+xml;base64,PHN2Zy8+">
    </div>
    """
    # As images, not as elements of the page: the names inside of one cannot clash with another's.
    images = [
        f'<img alt="{escape(words)}" src="data:image/svg+xml;base64,{b64encode(svg).decode()}">'
        for svg, words in pictures
    ]
    return "\n".join(['<div class="panels">', *images, "</div>"])
