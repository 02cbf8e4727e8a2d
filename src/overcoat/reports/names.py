"""What items are called: a list of codes and their descriptions, for people."""

from __future__ import annotations

from pathlib import Path

from overcoat.data.io.delimited import Dialect
from overcoat.data.io.problems import Problems
from overcoat.data.io.text import read_text
from overcoat.errors import DataError

__all__ = ["read_names"]

_ITEM = ("item", "code", "codes", "concept_code", "concept_id")
_NAME = ("description", "name", "title", "concept_name", "long_description", "short_description")
_SEPARATORS = "\t;,"


def read_names(path: str | Path) -> dict[str, str]:
    """Read a table of items and what they are called; a codebook is one, too.

    Its header may say which columns these are (``code`` or ``item``, ``description`` or ``name``);
    if not, they are the first two. Where an item stands twice, the first counts.
    """
    text = read_text(path, error=DataError, quotes=True)
    first = next((line for line in text.splitlines() if line and not line.startswith("#")), "")
    sep = max(_SEPARATORS, key=lambda one: (first.count(one) > 0, -_SEPARATORS.index(one)))
    problems = Problems(str(path))
    names: dict[str, str] = {}
    columns: tuple[int, int] | None = None
    for line, fields in Dialect(sep, trim=True, keep_empty=True).records(text, 1, problems):
        if not any(fields) or fields[0].startswith("#"):
            continue
        if columns is None:
            columns = _columns(fields)
            if columns is not None:
                continue
            columns = (0, 1)
        if len(fields) <= max(columns):
            problems.add(f"expected an item and what it is called, split by {sep!r}", line)
            continue
        item, name = fields[columns[0]], fields[columns[1]]
        if item and name:
            names.setdefault(item, name)
    problems.check()
    return names


def _columns(header: list[str]) -> tuple[int, int] | None:
    """Return which columns hold items and names, if this is a header."""
    words = [field.lower().strip() for field in header]
    items = [words.index(one) for one in _ITEM if one in words]
    called = [words.index(one) for one in _NAME if one in words]
    return (items[0], called[0]) if items and called else None
