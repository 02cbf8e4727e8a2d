"""Sets of items as users write them: in files, in TOML, in Python.

A line of a set file is read in the light of the data: where its fields end depends on the data's
separator, and whether ``x:`` starts it with a name depends on whether ``x:…`` is an item. So a
`Sets` keeps what the user wrote, and `resolve` reads it once the domain is known.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overcoat.data.io.text import read_lines, read_text, split_fields
from overcoat.data.vocabulary import Vocabulary
from overcoat.errors import DataError, PolicyError, Problem

__all__ = ["Domain", "ItemSet", "Lint", "Sets"]


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

    def error(self, message: str, where: ItemSet | None = None) -> None:
        """Record something that must be mended."""
        self.errors.append(_problem(message, where))

    def note(self, message: str, where: ItemSet | None = None) -> None:
        """Record something worth knowing."""
        self.notes.append(_problem(message, where))

    def raise_errors(self) -> None:
        """Raise all errors at once, if there are any."""
        if self.errors:
            raise PolicyError(dict.fromkeys(self.errors))


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
    """

    vocabulary: Vocabulary
    longest: int
    sep: str | None = ""
    known: Container[str] = ()
    ignore_unknown: bool = False


class Sets:
    """Sets of items, as written.

    >>> domain = Domain(Vocabulary(["a", "b"]), 2)
    >>> [str(s) for s in Sets.of([["a", "b"]]).resolve(domain, Lint())]
    ['{a, b}']
    """

    def __init__(
        self,
        entries: Sequence[ItemSet] = (),
        lines: Sequence[tuple[int, str]] = (),
        *,
        file: str | None = None,
        sep: str | None = "",
    ) -> None:
        self._entries = tuple(entries)
        self._lines = tuple(lines)
        self.file = file
        self._sep = sep

    @classmethod
    def of(cls, sets: Any, *, file: str | None = None, line: int | None = None) -> Sets:
        """Take a mapping (name -> items), an iterable of sets, or a `Sets`."""
        if isinstance(sets, Sets):
            return sets
        if isinstance(sets, (str, bytes)):
            raise PolicyError(f"{sets!r} is a string; expected sets of items", file, line)
        named: Iterable[tuple[Any, Any]] = (
            sets.items() if isinstance(sets, Mapping) else ((None, items) for items in sets)
        )
        return cls([_entry(name, items, file, line) for name, items in named], file=file)

    @classmethod
    def read(cls, path: str | Path, *, sep: str | None = "") -> Sets:
        """Read a file: one set a line, or `.json`, a list of lists (or name -> list).

        Parameters
        ----------
        path : the file, ``.gz`` too
        sep : what splits items on a line; None is white space; "" takes that of the data
        """
        file = str(path)
        if file.removesuffix(".gz").endswith(".json"):
            text = read_text(path, error=PolicyError)
            try:
                content = json.loads(text)
            except json.JSONDecodeError as error:
                raise PolicyError(f"not JSON: {error.msg}", file, error.lineno) from None
            return _from_json(cls, content, text, file)
        lines = read_lines(path, error=PolicyError)
        if not lines:
            raise PolicyError("the file names no set", file, 1)
        return cls(lines=lines, file=file, sep=sep)

    def __len__(self) -> int:
        return len(self._entries) + len(self._lines)

    def resolve(self, domain: Domain, lint: Lint) -> list[ItemSet]:
        """Return the sets with the items that occur, recording every problem in `lint`.

        An item that does not occur is an error, with near matches, unless `domain` lets it pass;
        then it drops out: nobody can be found by what nobody has.
        """
        sep = domain.sep if self._sep == "" else self._sep
        written = [*self._entries]
        for number, text in self._lines:
            try:
                written.append(_parse(text, sep, domain.vocabulary, self.file, number))
            except DataError as error:
                lint.errors.append(Problem(error.problems[0].message, self.file, number))
        return [_check(entry, domain, lint) for entry in written]


def _problem(message: str, where: ItemSet | None) -> Problem:
    return Problem(message, where.file if where else None, where.line if where else None)


def _entry(name: Any, items: Any, file: str | None, line: int | None) -> ItemSet:
    if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
        raise PolicyError(f"{items!r} is not a set of items", file, line)
    labels = tuple(items)
    for label in labels:
        if not isinstance(label, str):
            raise PolicyError(f"item {label!r} is not a string", file, line)
    return ItemSet(labels, None if name is None else str(name), file, line)


def _from_json(cls: type[Sets], content: Any, text: str, file: str) -> Sets:
    """Take a list of lists, or an object of lists; the line of a set is that of its first item."""
    if isinstance(content, dict):
        named = list(content.items())
    elif isinstance(content, list):
        named = [(None, items) for items in content]
    else:
        raise PolicyError("expected a list of lists of items", file, 1)
    if not named:
        raise PolicyError("the file names no set", file, 1)
    entries, position = [], 0
    for name, items in named:
        probe = json.dumps(items[0] if isinstance(items, list) and items else name)
        found = max(text.find(probe, position), position)
        position = found
        entries.append(_entry(name, items, file, text.count("\n", 0, found) + 1))
    return cls(entries, file=file)


def _parse(
    text: str, sep: str | None, vocabulary: Vocabulary, file: str | None, number: int
) -> ItemSet:
    """Read one line: fields, and the name before the first colon unless that belongs to an item."""
    if sep == "":  # the data has no separator: commas if there are any, unless it is one item
        sep = "," if "," in text or text.strip() in vocabulary else None
    name = None
    if ":" in text:
        fields = split_fields(text, sep)
        if not fields or fields[0] not in vocabulary:
            name, text = (part.strip() for part in text.split(":", 1))
    return ItemSet(tuple(split_fields(text, sep)), name or None, file, number)


def _check(entry: ItemSet, domain: Domain, lint: Lint) -> ItemSet:
    """Return the entry with distinct, occurring items; record what is wrong with it."""
    called = f"set {entry.name!r}" if entry.name else "the set"
    if not entry.items:
        lint.error(f"{called} is empty", entry)
    kept: dict[str, None] = {}
    for item in entry.items:
        if item in domain.vocabulary:
            if item in kept:
                lint.note(f"item {item!r} stands twice in {called}", entry)
            kept[item] = None
        elif domain.ignore_unknown or item in domain.known:
            lint.note(f"item {item!r} does not occur in the data and is left out", entry)
        else:
            lint.error(f"item {item!r} does not occur in the data" + _near(item, domain), entry)
    items = sorted(kept, key=domain.vocabulary.code)
    return ItemSet(tuple(items), entry.name, entry.file, entry.line)


def _near(item: str, domain: Domain) -> str:
    folded = {label.casefold(): label for label in domain.vocabulary}
    near = difflib.get_close_matches(item.casefold(), folded, n=3, cutoff=0.7)
    return "; near: " + ", ".join(repr(folded[label]) for label in near) if near else ""
