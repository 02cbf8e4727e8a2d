"""Sets of items as users write them: in files, in TOML, in Python.

A line of a set file is read in the light of the data: where its fields end depends on the data's
separator, and whether ``x:`` starts it with a name depends on whether ``x:…`` is an item. So a
`Sets` keeps what the user wrote, and `resolve` reads it once the domain is known.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from overcoat.data.io.delimited import Dialect
from overcoat.data.io.names import WORKBOOK, plain_suffix
from overcoat.data.io.text import read_lines, read_text, split_fields
from overcoat.data.vocabulary import Vocabulary
from overcoat.errors import DataError, PolicyError, Problem
from overcoat.policy.binding import ABSENT, Domain, ItemSet, Lint
from overcoat.policy.tables import find_table

__all__ = ["Sets", "near_items"]

# Looking for near matches takes a while; a file with more strangers is not a matter of typos.
_NEAR_MATCHES = 20


@dataclass(frozen=True, eq=False, repr=False)
class Sets:
    """Sets of items, as written; immutable.

    Two are equal when they say the same, wherever they were written.

    Attributes
    ----------
    entries : sets whose items are known
    lines : lines of a file that are read once the domain is known, with their numbers
    file : where they were written
    sep : what splits the items of a line; None is white space; "" is that of the data

    >>> domain = Domain(Vocabulary(["a", "b"]), 2)
    >>> [str(s) for s in Sets.of([["a", "b"]]).resolve(domain, Lint())]
    ['{a, b}']
    >>> Sets.of([["a", "b"]]) == Sets.of([{"b", "a"}])
    True
    """

    entries: tuple[ItemSet, ...] = ()
    lines: tuple[tuple[int, str], ...] = ()
    file: str | None = None
    sep: str | None = ""

    @classmethod
    def of(cls, sets: Any, *, file: str | None = None, lines: Sequence[int] = ()) -> Sets:
        """Take a mapping (name -> items, or item -> name), an iterable of sets, or a `Sets`.

        They may have been written in a file, each on one of its `lines`.
        """
        first = next(iter(lines), None)
        if isinstance(sets, Sets):
            return sets
        if isinstance(sets, (str, bytes)):
            raise PolicyError(f"{sets!r} is a string; expected sets of items", file, first)
        if not isinstance(sets, Iterable):
            raise PolicyError(f"{sets!r} is not a list of sets of items", file, first)
        if isinstance(sets, Mapping) and sets and all(isinstance(x, str) for x in sets.values()):
            sets, lines = _inverted(sets), ()
        named = sets.items() if isinstance(sets, Mapping) else ((None, items) for items in sets)
        written = zip(named, chain(lines, repeat(first)), strict=False)
        return cls._entered(((name, items, line) for (name, items), line in written), file)

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
        return cls(tuple(entries), file=file)

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
            written = list(_json_elements(text))
            if isinstance(content, dict) and all(isinstance(x, str) for _, x, _ in written):
                return cls.of(content, file=file)  # item -> name
            return cls._entered(written, file)
        if plain_suffix(file) == WORKBOOK:
            return cls(lines=_sheet_lines(path, file), file=file, sep="\t")
        lines = read_lines(path, error=PolicyError)
        if not lines:
            raise PolicyError("the file names no set", file, 1)
        return cls(lines=tuple(lines), file=file, sep=sep)

    @classmethod
    def from_json(cls, content: Any) -> Sets:
        """Build from what `to_json` returned."""
        match content:
            case {"lines": list() as lines, "sep": sep}:
                return cls(lines=tuple(enumerate(map(str, lines), 1)), sep=sep)
            case list():
                return cls._entered(((one["name"], one["items"], None) for one in content), None)
        raise PolicyError(f"{content!r} does not say what sets there are")

    def to_json(self) -> Any:
        """Return the sets as plain values, the same for whatever says the same.

        >>> Sets.of({"diabetes": ["250.02", "250.00"]}).to_json()
        [{'name': 'diabetes', 'items': ['250.00', '250.02']}]
        """
        if self.lines:
            return {"lines": [text for _, text in self.lines], "sep": self.sep}
        return [{"name": one.name, "items": sorted(set(one.items))} for one in self.entries]

    def _key(self) -> Any:
        if self.lines:
            return tuple(text for _, text in self.lines), self.sep
        return tuple((one.name, tuple(sorted(set(one.items)))) for one in self.entries)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sets) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def settled(self, domain: Domain, *, tables: bool = False) -> Sets:
        """Return the sets with their lines read as `resolve` reads them, whatever data come later.

        >>> sets = Sets(lines=((1, "p: a|b"),), sep="|")
        >>> sets.settled(Domain(Vocabulary(["a", "b"]), 2)) == Sets.of({"p": ["a", "b"]})
        True
        """
        sep = domain.sep if self.sep == "" else self.sep
        if tables and (table := find_table(self.lines, domain, sep)):
            return Sets((*self.entries, *table.within(domain, self.file)), file=self.file)
        read = [_parse(text, sep, domain.vocabulary, self.file, n) for n, text in self.lines]
        return Sets((*self.entries, *read), file=self.file)

    def __len__(self) -> int:
        return len(self.entries) + len(self.lines)

    def __repr__(self) -> str:
        return f"Sets({len(self)} set{'s' * (len(self) != 1)})"

    def resolve(self, domain: Domain, lint: Lint, *, tables: bool = False) -> list[ItemSet]:
        """Return the sets with the items that occur, recording every problem in `lint`.

        An item that does not occur is an error, with near matches, unless `domain` lets it pass;
        then it drops out: nobody can be found by what nobody has. With `tables`, lines may also be
        a table of items and their sets.
        """
        sep = domain.sep if self.sep == "" else self.sep
        if tables and (table := find_table(self.lines, domain, sep)):
            found = table.resolve(domain, self.file, lint)
            for line, item in table.absent(domain) if found is None else ():
                _check(ItemSet((item,), None, self.file, line), domain, lint, about_colons="")
            return table.within(domain, self.file) if found is None else found
        written = [(entry, "") for entry in self.entries]
        for number, text in self.lines:
            try:
                entry = _parse(text, sep, domain.vocabulary, self.file, number)
                written.append((entry, _about_colons(entry)))
            except DataError as error:
                first = error.problems[0]
                lint.errors.append(Problem(first.message, self.file, number, first.many))
        return [_check(entry, domain, lint, about_colons=hint) for entry, hint in written]


def _sheet_lines(path: str | Path, file: str) -> tuple[tuple[int, str], ...]:
    """Return the rows of a sheet as lines with tabs between the cells."""
    from overcoat.data.io.workbook import sheet_rows

    try:
        rows = sheet_rows(Path(path), file)
    except OSError as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise PolicyError(str(reason), file) from None
    except DataError as error:
        raise PolicyError(error.problems) from None
    if not rows:
        raise PolicyError("the file names no set", file, 1)
    quote = Dialect("\t", trim=True).quote
    width = max(len(cells) for _, cells in rows)
    if width > 3:  # a set a row: what is not there is not written
        width = 0
    return tuple(
        (number, "\t".join(map(quote, [*cells, *[""] * (width - len(cells))])))
        for number, cells in rows
    )


def _inverted(names: Mapping[Any, str]) -> dict[str, list[Any]]:
    """Return the items of each set, given the set of each item.

    >>> _inverted({"250.00": "diabetes", "401": "heart", "250.02": "diabetes"})
    {'diabetes': ['250.00', '250.02'], 'heart': ['401']}
    """
    sets: dict[str, list[Any]] = {}
    for item, name in names.items():
        sets.setdefault(name, []).append(item)
    return sets


def _entry(name: Any, items: Any, file: str | None, line: int | None) -> ItemSet:
    inside = "" if name is None else f"in set {name!r}, "
    if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
        message = f"{inside}{items!r} is not a set of items"
        raise PolicyError(Problem(message, file, line, "entries are no sets of items", repr(items)))
    labels = tuple(items)
    if isinstance(items, Set):  # which Python hands out in no order
        labels = tuple(sorted(labels, key=lambda label: (not isinstance(label, str), str(label))))
    wrong = [label for label in labels if not isinstance(label, str)]
    if wrong:
        raise PolicyError(
            Problem(
                *(f"{inside}item {label!r} is not a string", file, line),
                *("items are not strings", repr(label)),
            )
            for label in wrong
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
        lint.error(f"{called} is empty", entry, many="sets are empty", what=entry.name or "")
    kept: dict[str, None] = {}
    for item in entry.items:
        if item in domain.vocabulary:
            if item in kept:
                twice = f"item {item!r} stands twice in {called}"
                lint.note(twice, entry, many="items stand twice in their set", what=repr(item))
            kept[item] = None
        elif domain.ignore_unknown or item in domain.known:
            lint.note(
                *(f"item {item!r} does not occur in the data and is left out", entry),
                many="items do not occur in the data and are left out",
                what=repr(item),
            )
        else:
            near = near_items(item, domain.vocabulary) if len(lint.errors) < _NEAR_MATCHES else ""
            hint = about_colons if item.endswith(":") or ": " in item else ""
            lint.error(
                *(f"item {item!r} does not occur in the data{near}{hint}", entry),
                many=ABSENT,
                what=repr(item),
                hint=near.removeprefix("; ") + hint,
            )
    items = sorted(kept, key=domain.vocabulary.code)
    return ItemSet(tuple(items), entry.name, entry.file, entry.line)


def near_items(item: str, items: Iterable[str]) -> str:
    """Return the items whose names are near one that does not occur, in words.

    >>> near_items("flue", ["flu", "gout"])
    "; near: 'flu'"
    """
    folded = {label.casefold(): label for label in items}
    near = difflib.get_close_matches(item.casefold(), folded, n=3)
    return "; near: " + ", ".join(repr(folded[label]) for label in near) if near else ""
