"""Small pieces of HTML, for pages and notebooks: self-contained, everything escaped.

Colours are shades of the text's own, so that a light page and a dark one can both be read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape as _escape
from numbers import Integral
from typing import Any

__all__ = ["Raw", "card", "escape", "labelled", "table"]

_LONGEST = 400  # characters of one value
_LONGEST_NAME = 120  # characters of one item or name
_WIDE = 24  # characters: longer words may be broken anywhere
_NUMBER = re.compile(r"[<>]?[-−+]?[\d,]+(\.\d+)?(e[-+]?\d+)?( ?%)?", re.ASCII)
_STYLE = (
    "<style>"
    ".overcoat{border:1px solid rgba(128,128,128,.4);border-radius:6px;padding:.6em 1em;"
    "display:inline-block;max-width:100%;overflow-x:auto}"
    ".overcoat .title{font-weight:600;margin-bottom:.4em}"
    ".overcoat table{border-collapse:collapse;margin:.4em 0}"
    ".overcoat caption{text-align:left;opacity:.7;padding:.2em 0}"
    ".overcoat th,.overcoat td{text-align:left;vertical-align:top;padding:.15em 1em .15em 0;"
    "border-bottom:1px solid rgba(128,128,128,.25)}"
    ".overcoat tbody th{font-weight:normal;opacity:.8;white-space:nowrap}"
    ".overcoat .number{text-align:right;font-variant-numeric:tabular-nums}"
    "</style>"
)


class Raw(str):
    """Text that is HTML already: a table takes it as it is."""

    __slots__ = ()


def escape(value: Any) -> str:
    """Return a value as text that can stand anywhere in HTML.

    Whole numbers get commas, and what nobody would read to its end is cut.

    >>> escape("<b>"), escape(12345), escape(None), len(escape("x" * 1000))
    ('&lt;b&gt;', '12,345', '', 400)
    """
    return _escape(_text(value))


def labelled(text: str, most: int = _LONGEST_NAME) -> Raw:
    r"""Return an item, a label or a name so that it disturbs nothing around it.

    Letters of scripts that run from right to left, and marks that turn the direction, end with it;
    what cannot be printed is shown as a sign; what nobody would read to its end is cut.

    >>> labelled("<b>"), labelled("a\x00b")
    ('<bdi>&lt;b&gt;</bdi>', '<bdi>a�b</bdi>')
    """
    cut = text if len(text) <= most else text[: most - 1] + "…"
    shown = "".join(c if unicodedata.category(c)[0] != "C" else _sign(c) for c in cut)
    long = ' class="long"' if max(map(len, shown.split()), default=0) > _WIDE else ""
    return Raw(f"<bdi{long}>{_escape(shown).replace('|', '|<wbr>')}</bdi>")


def _sign(character: str) -> str:
    return " " if character in "\n\r\t" else "\ufffd"


def table(
    rows: Iterable[Sequence[Any]], header: Sequence[Any] | None = None, caption: str | None = None
) -> str:
    """Return a table; columns of numbers are aligned to the right, the first cell names its row.

    >>> print(table([["coat", 2, "a<b"]], ["method", "k", "note"], caption="Runs"))
    <table>
    <caption>Runs</caption>
    <thead><tr><th scope="col">method</th><th scope="col" class="number">k</th><th \
scope="col">note</th></tr></thead>
    <tbody>
    <tr><th scope="row">coat</th><td class="number">2</td><td>a&lt;b</td></tr>
    </tbody>
    </table>
    """
    body = [[value if isinstance(value, Raw) else _text(value) for value in row] for row in rows]
    kinds = [
        ' class="number"' if any(column) and all(map(_is_number, column)) else ""
        for column in zip(*body, strict=True)
    ]
    lines = ["<table>"]
    if caption is not None:
        lines.append(f"<caption>{escape(caption)}</caption>")
    if header is not None:
        kinds = kinds or [""] * len(header)
        cells = (
            f'<th scope="col"{kind}>{escape(name)}</th>'
            for name, kind in zip(header, kinds, strict=True)
        )
        lines.append(f"<thead><tr>{''.join(cells)}</tr></thead>")
    lines.append("<tbody>")
    for row in body:
        first, *others = ((_cell(text), kind) for text, kind in zip(row, kinds, strict=True))
        cells = (f"<td{kind}>{text}</td>" for text, kind in others)
        lines.append(f'<tr><th scope="row"{first[1]}>{first[0]}</th>{"".join(cells)}</tr>')
    return "\n".join([*lines, "</tbody>", "</table>"])


def card(title: str, *parts: str) -> str:
    """Return a titled box around some HTML, with the style of all that is in it.

    >>> card("Data & more", "<p>5</p>").endswith(
    ...     '<div class="title">Data &amp; more</div><p>5</p></div>')
    True
    """
    inside = "".join(parts)
    return f'{_STYLE}<div class="overcoat"><div class="title">{escape(title)}</div>{inside}</div>'


def _cell(text: str) -> str:
    return text if isinstance(text, Raw) else _escape(text)


def _text(value: Any) -> str:
    if value is None:
        return ""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    text = f"{int(value):,}" if whole else str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _is_number(text: str) -> bool:
    return not text or _NUMBER.fullmatch(text) is not None
