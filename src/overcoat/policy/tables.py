"""Utility sets written as a table: one row an item and its set, or one row a set and its items.

Lines of two columns could also be sets of two items. But sets have no item in common, so where one
column repeats its values, and not all of them are items, it names sets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from overcoat.data.io.delimited import Dialect
from overcoat.data.io.problems import Problems
from overcoat.errors import DataError
from overcoat.policy.binding import Domain, ItemSet, Lint
from overcoat.words import count_of, listed

__all__ = ["Table", "find_table"]

Lines = Sequence[tuple[int, str]]

_SEPARATORS = "\t;,"
# Words of a header.
_NAMES = (
    "item items code codes label icd icd9 icd10 diagnosis product set sets category categories "
    "group groups class block name names description disorder kategorie gruppe klasse"
)
_HEADER = frozenset(_NAMES.split())
_LIST = 0.5  # of the items of a table: where more do not occur, it is a list of all codes


@dataclass(frozen=True)
class Table:
    """Rows (line, item, set) of a table, in its order.

    >>> lines = [(1, "code,disorder"), (2, "250.00,diabetes: all"), (3, "250.02,diabetes: all")]
    >>> from overcoat.data.vocabulary import Vocabulary
    >>> table = find_table(lines, Domain(Vocabulary(["250.00", "250.02"]), 2))
    >>> [str(one) for one in table.sets(None)]
    ['diabetes: all = {250.00, 250.02}']
    """

    rows: tuple[tuple[int, str, str], ...]

    def sets(self, file: str | None) -> list[ItemSet]:
        """Return the sets, in the order of their first rows."""
        found: dict[str, list[tuple[int, str]]] = {}
        for line, item, name in self.rows:
            found.setdefault(name, []).append((line, item))
        return [
            ItemSet(tuple(dict.fromkeys(item for _, item in rows)), name, file, rows[0][0])
            for name, rows in found.items()
        ]

    def absent(self, domain: Domain) -> list[tuple[int, str]]:
        """Return the items that do not occur in the data, each with its line."""
        there = domain.vocabulary
        return [(line, item) for line, item, _ in self.rows if item not in there]

    def is_list(self, domain: Domain) -> bool:
        """Whether absent items may pass: it lists all codes, or the user says that they may."""
        absent = self.absent(domain)
        if domain.ignore_unknown or len(absent) > _LIST * len(self.rows):
            return len(absent) < len(self.rows)
        return all(item in domain.known for _, item in absent)

    def within(self, domain: Domain, file: str | None) -> list[ItemSet]:
        """Return the sets of the items that occur."""
        there = domain.vocabulary
        found = Table(tuple(row for row in self.rows if row[1] in there)).sets(file)
        return [replace(one, items=tuple(sorted(one.items, key=there.code))) for one in found]

    def resolve(self, domain: Domain, file: str | None, lint: Lint) -> list[ItemSet] | None:
        """Return the sets with the items that occur; None if others are to be told as errors."""
        absent = self.absent(domain)
        if absent and not self.is_list(domain):
            return None
        whole = ItemSet((), None, file)
        if absent:
            shown = listed([item for _, item in absent[:3]])
            lint.note(
                f"{count_of(len(absent), 'item')} of {len(self.rows):,}, such as {shown}, not in "
                "the data and left out",
                whole,
            )
        there = {item for _, item, _ in self.rows}
        rest = [item for item in domain.vocabulary if item not in there]
        if rest:
            lint.note(
                f"{count_of(len(rest), 'item')} of the data, such as {listed(rest[:3])}, "
                f"{'is' if len(rest) == 1 else 'are'} in no set of this table",
                whole,
            )
        return self.within(domain, file)


def find_table(lines: Lines, domain: Domain, sep: str | None = None) -> Table | None:
    """Return the table that some lines are; None if they are sets, one a line.

    Parameters
    ----------
    lines : with their numbers
    domain : the items that occur
    sep : what the user says separates columns, if anything
    """
    for one in dict.fromkeys([*(sep or ""), *_SEPARATORS]):
        rows = _split(lines, one)
        if rows is None:
            continue
        width = len(rows[0][1])
        found = _two_columns(rows, domain) if width == 2 else _ccs(rows, domain)
        if found is not None:
            return found
    return None


def _split(lines: Lines, sep: str) -> list[tuple[int, list[str]]] | None:
    """Return the fields of each line, if all have the same number of them, two or three."""
    dialect, problems = Dialect(sep, trim=True, keep_empty=True), Problems()
    rows: list[tuple[int, list[str]]] = []
    try:
        for number, line in lines:
            if sep not in line:
                return None
            fields = [field for _, some in dialect.records(line, 1, problems) for field in some]
            if len(fields) not in (2, 3) or (rows and len(fields) != len(rows[0][1])):
                return None
            rows.append((number, fields))
    except DataError:
        return None
    return rows or None


def _two_columns(rows: list[tuple[int, list[str]]], domain: Domain) -> Table | None:
    """Return a table of items and their sets, in either order."""
    _, first = rows[0]
    body = rows[1:] if _is_header(first, domain) else rows
    for item, name in ((0, 1), (1, 0)):
        names = {fields[name] for _, fields in body}
        items = {fields[item] for _, fields in body}
        if "" in names or "" in items or not len(names) < len(items) <= len(body):
            continue
        known = any(one in domain.vocabulary or one in domain.known for one in items)
        if (known or len(items) == len(body)) and not all(
            one in domain.vocabulary for one in names
        ):
            return Table(tuple((line, fields[item], fields[name]) for line, fields in body))
    return None


def _is_header(fields: Sequence[str], domain: Domain) -> bool:
    words = [field.strip().lower().replace("_", " ").split() for field in fields]
    return not any(field in domain.vocabulary for field in fields) and any(
        word in _HEADER for some in words for word in some[:1] + some[-1:]
    )


def _ccs(rows: list[tuple[int, list[str]]], domain: Domain) -> Table | None:
    """Return the table of a file of the Clinical Classifications Software: number, name, codes."""
    body = rows[1:] if _is_header(rows[0][1], domain) else rows
    numbers = {fields[0] for _, fields in body}
    members = [(line, fields, fields[2].split()) for line, fields in body]
    if len(numbers) < len(body) or not all(fields[1] for _, fields in body):
        return None
    if not any(item in domain.vocabulary for _, _, some in members for item in some):
        return None
    names = Counter(fields[1] for _, fields in body)
    return Table(
        tuple(
            (line, item, name if names[name] == 1 else f"{name} ({number})")
            for line, (number, name, _), some in members
            for item in some
        )
    )
