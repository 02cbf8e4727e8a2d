"""Pieces of HTML that pages and notebooks share; every text is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

__all__ = ["table"]

_NUMBER = re.compile(r"[<>]?[-−+]?[\d,]+(\.\d+)?(e[-+]?\d+)?( ?%)?", re.ASCII)


def table(
    rows: Iterable[Sequence[Any]],
    header: Sequence[Any] | None = None,
    caption: str | None = None,
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
    body = [["" if value is None else str(value) for value in row] for row in rows]
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
            f'<th scope="col"{kind}>{escape(str(name))}</th>'
            for name, kind in zip(header, kinds, strict=True)
        )
        lines.append(f"<thead><tr>{''.join(cells)}</tr></thead>")
    lines.append("<tbody>")
    for row in body:
        first, *others = ((escape(text), kind) for text, kind in zip(row, kinds, strict=True))
        cells = (f"<td{kind}>{text}</td>" for text, kind in others)
        lines.append(f'<tr><th scope="row"{first[1]}>{first[0]}</th>{"".join(cells)}</tr>')
    return "\n".join([*lines, "</tbody>", "</table>"])


def _is_number(text: str) -> bool:
    return not text or _NUMBER.fullmatch(text) is not None
