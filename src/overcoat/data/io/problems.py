"""Collecting what is wrong in one file, so that the user sees it together."""

from __future__ import annotations

from overcoat.errors import DataError, Problem

__all__ = ["Problems"]

_SHOWN = 10  # more would only scroll the first ones away


class Problems:
    """What is wrong in `file`: the first ten problems, raised as one DataError.

    >>> problems = Problems("data.dat")
    >>> problems.add("not UTF-8", line=7)
    >>> problems.check()
    Traceback (most recent call last):
    overcoat.errors.DataError: data.dat:7: not UTF-8
    """

    def __init__(self, file: str | None = None) -> None:
        self.file = file
        self._found: list[Problem] = []

    def add(self, message: str, line: int | None = None) -> None:
        """Note a problem; raise when there are enough to see what is going on."""
        self._found.append(Problem(message, self.file, line))
        if len(self._found) == _SHOWN:
            note = f"there may be more; these are the first {_SHOWN}"
            self._found.append(Problem(note, self.file))
            self.check()

    def check(self) -> None:
        """Raise if there were problems."""
        if self._found:
            raise DataError(self._found)
