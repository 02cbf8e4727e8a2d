"""Statements: names in quotes, queries as parts of others."""

from __future__ import annotations

import re
from collections.abc import Sequence

from overcoat.errors import DataError

__all__ = ["literal", "qualified", "quoted", "tidy"]

# What changes something, or is no question: databases are read, so these can only be mistakes.
_COMMANDS = re.compile(
    "alter|analyze|attach|begin|call|checkpoint|comment|commit|copy|create|delete|detach|do|drop|"
    "execute|export|grant|import|insert|install|load|lock|merge|pragma|reindex|release|replace|"
    "reset|revoke|rollback|savepoint|set|start|truncate|update|use|vacuum"
)
_FIRST = re.compile(r"(?:\s|\(|--[^\n]*(?:\n|$)|/\*.*?\*/)*([A-Za-z]+)?", re.DOTALL)


def quoted(name: str) -> str:
    r"""Return a name as SQL takes it, whatever it holds.

    >>> print(quoted('x"; DROP TABLE people; --'))
    "x""; DROP TABLE people; --"
    """
    if "\0" in name:
        raise DataError(f"no table or column can be called {name!r}")
    return '"' + name.replace('"', '""') + '"'


def qualified(table: Sequence[str]) -> str:
    """Return the name of a table, with its schema where there is one.

    >>> qualified(("cdm", "person"))
    '"cdm"."person"'
    """
    return ".".join(map(quoted, table))


def literal(text: str) -> str:
    """Return a string as SQL takes it.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def tidy(query: str) -> str:
    """Return a query that can stand in brackets; raise if it is plainly none.

    >>> tidy("SELECT 1; ")
    'SELECT 1'
    >>> tidy("drop table people")
    Traceback (most recent call last):
    overcoat.errors.DataError: a query begins with SELECT; DROP would change the database
    """
    query = query.strip().rstrip("; \t\r\n")
    found = _FIRST.match(query)
    first = (found[1] or "").lower() if found else ""
    if _COMMANDS.fullmatch(first):
        raise DataError(f"a query begins with SELECT; {first.upper()} would change the database")
    if not query or (found and found.end() == len(query) and not first):
        raise DataError("the query is empty")
    return query
