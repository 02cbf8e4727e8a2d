"""What a policy is read against, and what is found on the way."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, field
from typing import TypeVar

from overcoat.context import QUIET, Stage
from overcoat.data.transactions import Transactions
from overcoat.data.vocabulary import Vocabulary
from overcoat.errors import InputError, PolicyError, Problem

__all__ = ["ABSENT", "Domain", "ItemSet", "Lint"]

T = TypeVar("T")

ABSENT = "items do not occur in the data"  # what several problems of this kind are


@dataclass(frozen=True, slots=True)
class ItemSet:
    """One set of items, with its name and where it was written."""

    items: tuple[str, ...]
    name: str | None = None
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        """Render as the user would recognise it."""
        inside = "{" + ", ".join(self.items) + "}"
        return f"{self.name} = {inside}" if self.name else inside


@dataclass
class Lint:
    """Everything found in the policy: errors stop the work, notes are told."""

    errors: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)

    def error(self, message: str, where: ItemSet | None = None, **kind: str) -> None:
        """Record something that must be mended; `kind` is the rest of a `Problem`."""
        self.errors.append(_problem(message, where, kind))

    def note(self, message: str, where: ItemSet | None = None, **kind: str) -> None:
        """Record something worth knowing; `kind` is the rest of a `Problem`."""
        self.notes.append(_problem(message, where, kind))

    def attempt(self, action: Callable[[], T], otherwise: T) -> T:
        """Do something; record what is wrong with what the user gave, and go on without it."""
        try:
            return action()
        except InputError as error:
            self.errors.extend(error.problems)
            return otherwise

    def raise_errors(self) -> None:
        """Raise all errors at once, if there are any."""
        if not self.errors:
            return
        error = PolicyError(dict.fromkeys(self.errors))
        if any(one.many == ABSENT and not one.hint for one in self.errors):  # near no other item
            error.add_note(
                "if these are no typing errors but codes that nobody has this time: ignore_unknown "
                "(--ignore-unknown) lets a policy name any; known (--known FILE) those of a list"
            )
        raise error


@dataclass(frozen=True)
class Domain:
    """What a policy is read against.

    Attributes
    ----------
    vocabulary : the items that occur
    longest : size of the largest transaction
    sep : how the data splits items: a separator, None for white space, "" when the data has none
        of its own (tables, Python objects)
    known : further items that may be named although they do not occur
    ignore_unknown : any item may be named although it does not occur
    data : the transactions; None where only what was published is at hand
    stage : to be called by what takes long
    """

    vocabulary: Vocabulary
    longest: int
    sep: str | None = ""
    known: Container[str] = ()
    ignore_unknown: bool = False
    data: Transactions | None = None
    stage: Stage = QUIET

    @classmethod
    def of(
        cls,
        data: Transactions,
        known: Container[str] = (),
        ignore_unknown: bool = False,
        stage: Stage = QUIET,
    ) -> Domain:
        """Return the domain of some data."""
        return cls(
            data.vocabulary,
            int(data.lengths.max(initial=0)),
            data.layout.sep if data.layout and data.layout.format == "basket" else "",
            known,
            ignore_unknown,
            data,
            stage,
        )


def _problem(message: str, where: ItemSet | None, kind: dict[str, str]) -> Problem:
    file, line = (where.file, where.line) if where else (None, None)
    return Problem(message, file, line, **kind)
