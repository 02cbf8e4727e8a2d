"""Sets of items as users write them: in files, in TOML, in Python.

A line of a set file is read in the light of the data: where its fields end depends on the data's
separator, and whether ``x:`` starts it with a name depends on whether ``x:…`` is an item. So a
`Sets` keeps what the user wrote, and `resolve` reads it once the domain is known.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overcoat.data.io.text import read_lines, read_text, split_fields
from overcoat.data.transactions import Transactions
from overcoat.data.vocabulary import Vocabulary
from overcoat.errors import DataError, PolicyError, Problem

__all__ = ["Domain", "ItemSet", "Lint", "Sets"]

# Looking for near matches takes a while; a file with more strangers is not a matter of typos.
_NEAR_MATCHES = 20


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

    @classmethod
    def of(
        cls, data: Transactions, known: Container[str] = (), ignore_unknown: bool = False
    ) -> Domain:
        """Return the domain of some data."""
        return cls(
            data.vocabulary,
            int(data.lengths.max(initial=0)),
            data.layout.sep if data.layout and data.layout.format == "basket" else "",
            known,
            ignore_unknown,
        )


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
        named = sets.items() if isinstance(sets, Mapping) else ((None, items) for items in sets)
        return cls._entered(((name, items, line) for name, items in named), file)

    @classmethod
    def _entered(cls, written: Iterable[tuple[Any, Any, int | None]], file: str | None) -> Sets:
        """Take the name, the items and the line of each set; tell all that are none at once."""
        entries: list[ItemSet] = []
        problems: list[Problem] = []
        for name, items, line in written:
            try:
                entries.append(_entry(name, items, file, line))
            except PolicyError as error:
                problems.extend(error.problems)
        if problems:
            raise PolicyError(problems)
        return cls(entries, file=file)

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
            except (ValueError, RecursionError) as error:  # beside JSONDecodeError: monsters
                line = getattr(error, "lineno", 1)
                raise PolicyError(f"not JSON: {error}", file, line) from None
            if not isinstance(content, (list, dict)):
                raise PolicyError("expected a list of lists of items", file, 1)
            if not content:
                raise PolicyError("the file names no set", file, 1)
            return cls._entered(_json_elements(text), file)
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
        written = [(entry, "") for entry in self._entries]
        for number, text in self._lines:
            try:
                entry = _parse(text, sep, domain.vocabulary, self.file, number)
                written.append((entry, _about_colons(entry)))
            except DataError as error:
                lint.errors.append(Problem(error.problems[0].message, self.file, number))
        return [_check(entry, domain, lint, about_colons=hint) for entry, hint in written]


def _problem(message: str, where: ItemSet | None) -> Problem:
    return Problem(message, where.file if where else None, where.line if where else None)


def _entry(name: Any, items: Any, file: str | None, line: int | None) -> ItemSet:
    inside = "" if name is None else f"in set {name!r}, "
    if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
        raise PolicyError(f"{inside}{items!r} is not a set of items", file, line)
    labels = tuple(items)
    wrong = [label for label in labels if not isinstance(label, str)]
    if wrong:
        raise PolicyError(
            Problem(f"{inside}item {label!r} is not a string", file, line) for label in wrong
        )
    return ItemSet(labels, None if name is None else str(name), file, line)


def _json_elements(text: str) -> Iterator[tuple[Any, Any, int]]:
    """Yield the name, value and line of each element of a JSON list or object.

    One by one, because a dict would keep only the last of two sets of the same name.
    """
    decode = json.JSONDecoder().raw_decode
    between = re.compile(r"[\s,:]*")  # the text is known to be JSON

    def skip(position: int) -> int:
        found = between.match(text, position)
        return found.end() if found else position

    opening = skip(0)
    named = text[opening] == "{"
    line, counted, position = 1, 0, opening + 1
    while text[start := skip(position)] not in "]}":
        line, counted = line + text.count("\n", counted, start), start
        name = None
        if named:
            name, position = decode(text, start)
            start = skip(position)
        value, position = decode(text, start)
        yield name, value, line


def _parse(
    text: str, sep: str | None, vocabulary: Vocabulary, file: str | None, number: int
) -> ItemSet:
    """Read one line: fields, and the name before the first colon unless that belongs to an item."""
    if sep == "":  # the data has no separator: commas if there are any, unless it is one item
        whole = (text.strip(), text.partition(":")[2].strip())
        sep = "," if "," in text or any(item in vocabulary for item in whole) else None
    name = None
    # Nothing in quotes is a name; without them, the first item ends at the first separator.
    if ":" in text and (sep is None or not text.lstrip().startswith('"')):
        first = split_fields(text, None)[0] if sep is None else text.partition(sep)[0].strip(" \t")
        if first not in vocabulary:
            name, text = (part.strip() for part in text.split(":", 1))
    return ItemSet(tuple(split_fields(text, sep)), name or None, file, number)


def _about_colons(entry: ItemSet) -> str:
    """Say why a colon on a line was not taken for the end of the set's name, and what to do."""
    why = f"the line starts with the item {entry.items[0]!r}" if entry.items else ""
    if entry.name is not None:
        why = f"a name ends at the first colon, here after {entry.name!r}"
    return (
        f" (if this colon ends the name of the set: {why}; choose another name, or write the sets "
        'to a .json file, {"name": ["item", …]})'
    )


def _check(entry: ItemSet, domain: Domain, lint: Lint, *, about_colons: str) -> ItemSet:
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
            near = _near(item, domain) if len(lint.errors) < _NEAR_MATCHES else ""
            hint = about_colons if item.endswith(":") or ": " in item else ""
            lint.error(f"item {item!r} does not occur in the data{near}{hint}", entry)
    items = sorted(kept, key=domain.vocabulary.code)
    return ItemSet(tuple(items), entry.name, entry.file, entry.line)


def _near(item: str, domain: Domain) -> str:
    folded = {label.casefold(): label for label in domain.vocabulary}
    near = difflib.get_close_matches(item.casefold(), folded, n=3)
    return "; near: " + ", ".join(repr(folded[label]) for label in near) if near else ""
