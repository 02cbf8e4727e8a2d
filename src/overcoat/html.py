"""Small pieces of HTML, for what notebooks show: self-contained, everything escaped.

Colours are shades of the text's own, so that a light page and a dark one can both be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape as _escape
from numbers import Integral
from typing import Any

__all__ = ["card", "escape", "table"]

_LONGEST = 400  # characters of one value

_STYLE = (
    "<style>"
    ".overcoat{border:1px solid rgba(128,128,128,.4);border-radius:6px;padding:.6em 1em;"
    "display:inline-block;max-width:100%;overflow-x:auto}"
    ".overcoat .title{font-weight:600;margin-bottom:.4em}"
    ".overcoat table{border-collapse:collapse;margin:.4em 0}"
    ".overcoat caption{text-align:left;opacity:.7;padding:.2em 0}"
    ".overcoat th,.overcoat td{text-align:left;vertical-align:top;padding:.15em 1em .15em 0;"
    "border-bottom:1px solid rgba(128,128,128,.25)}"
    ".overcoat .number{text-align:right;font-variant-numeric:tabular-nums}"
    "</style>"
)


def escape(value: Any) -> str:
    """Return a value as text that can stand anywhere in HTML.

    Whole numbers get commas, and what nobody would read to its end is cut.

    >>> escape("<b>"), escape(12345), len(escape("x" * 1000))
    ('&lt;b&gt;', '12,345', 400)
    """
    if isinstance(value, Integral) and not isinstance(value, bool):
        value = f"{int(value):,}"
    text = str(value)
    return _escape(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")


def table(
    rows: Iterable[Sequence[Any]], header: Sequence[Any] | None = None, caption: str | None = None
) -> str:
    """Return a table of values.

    >>> table([["<flu>", 3]], header=["item", "people"])
    '<table><tr><th>item</th><th>people</th></tr><tr><td>&lt;flu&gt;</td>\
<td class="number">3</td></tr></table>'
    """
    parts = [] if caption is None else [f"<caption>{escape(caption)}</caption>"]
    if header is not None:
        parts.append(_line("th", header))
    parts += [_line("td", row) for row in rows]
    return f"<table>{''.join(parts)}</table>"


def card(title: str, body: str) -> str:
    """Return a titled box around some HTML, with the style of all that is in it.

    >>> card("Data & more", table([])).endswith(
    ...     '<div class="title">Data &amp; more</div><table></table></div>')
    True
    """
    return f'{_STYLE}<div class="overcoat"><div class="title">{escape(title)}</div>{body}</div>'


def _line(tag: str, values: Sequence[Any]) -> str:
    return f"<tr>{''.join(_cell(tag, value) for value in values)}</tr>"


def _cell(tag: str, value: Any) -> str:
    is_number = isinstance(value, (Integral, float)) and not isinstance(value, bool)
    kind = ' class="number"' if is_number else ""
    return f"<{tag}{kind}>{escape(value)}</{tag}>"
