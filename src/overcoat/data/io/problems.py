"""Collecting what is wrong in one file, so that the user sees it together."""

from __future__ import annotations

from overcoat.errors import DataError, Problem

__all__ = ["NO_ID", "NULL_ITEMS", "Problems"]

NO_ID = "rows have no id"
NULL_ITEMS = "rows have a null or an empty string in the list"

_ENOUGH = 1000  # who has so many will not mend them one by one


class Problems:
    """What is wrong in `file`: up to a thousand problems, raised as one DataError.

    >>> problems = Problems("data.dat")
    >>> problems.add("not UTF-8", line=7)
    >>> problems.check()
    Traceback (most recent call last):
    overcoat.errors.DataError: data.dat:7: not UTF-8
    """

    def __init__(self, file: str | None = None) -> None:
        self.file = file
        self._found: list[Problem] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(
        self, message: str, line: int | None = None, *, many: str | None = None, what: str = ""
    ) -> None:
        """Note a problem; raise when there are enough to see what is going on.

        `many` and `what` are those of a `Problem`.
        """
        self._found.append(Problem(message, self.file, line, many, what))
        if len(self._found) == _ENOUGH:
            note = f"there may be more; these are the first {_ENOUGH:,}"
            self._found.append(Problem(note, self.file))
            self.check()

    def check(self) -> None:
        """Raise if there were problems."""
        if self._found:
            raise DataError(self._found)
