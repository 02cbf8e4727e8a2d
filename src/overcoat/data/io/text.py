"""Small text files: policies, constraints, hierarchies, mappings."""

from __future__ import annotations

import os
from collections.abc import Callable

from overcoat.data.io.delimited import Dialect, decode
from overcoat.data.io.problems import Problems
from overcoat.data.io.source import open_source
from overcoat.errors import DataError, InputError, Problem

__all__ = ["read_lines", "read_text", "split_fields"]


def read_text(
    path: str | os.PathLike[str],
    *,
    error: Callable[[list[Problem]], InputError],
    quotes: bool = False,
) -> str:
    """Return the text of a file (``.gz`` too), whatever its encoding; `error` is raised of it.

    With `quotes`, a line break in them does not end a line.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise error([Problem(f"a file is named by its path, not by {path!r}")])
    try:
        with open_source(path) as source:
            if source.workbook:
                raise DataError("is a workbook or an archive; save it as CSV (UTF-8)", source.name)
            source.check_text()
            source.settle_line_ends(quote='"' if quotes else "")
            raw = source.stream.read()
        problems = Problems(os.fspath(path))
        text = decode(raw, 1, problems)
        problems.check()
    except DataError as cause:
        raise error(list(cause.problems)) from None
    return text or ""


def read_lines(
    path: str | os.PathLike[str], *, error: Callable[[list[Problem]], InputError]
) -> list[tuple[int, str]]:
    """Return the lines of a file that say something, with their numbers.

    Blank lines and those that start with ``#`` are left out.
    """
    lines = read_text(path, error=error).split("\n")
    numbered = ((number, line.rstrip("\r")) for number, line in enumerate(lines, start=1))
    return [(n, line) for n, line in numbered if line.strip() and not line.startswith("#")]


def split_fields(line: str, sep: str | None) -> list[str]:
    """Return the items of one line, split as in a basket; None splits on ASCII white space.

    >>> split_fields('a b "c"', None), split_fields('a, "b, c"', ",")
    (['a', 'b', '"c"'], ['a', 'b, c'])
    """
    if sep is None:
        return [field.decode() for field in line.encode().split()]
    fields: list[str] = []
    problems = Problems()
    for _, more in Dialect(sep, trim=True).records(line, 1, problems):
        fields += more
    problems.check()
    return fields
