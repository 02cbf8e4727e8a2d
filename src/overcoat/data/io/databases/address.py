"""The address of a database: what it names, and how it is told without its password."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl, quote, unquote

from overcoat.errors import DataError
from overcoat.words import without_passwords

__all__ = ["Address", "Kind", "file_of", "is_address", "parse_address", "parse_table", "shown"]

Kind = Literal["sqlite", "duckdb", "postgresql"]

_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9.-]+)(?P<driver>\+[A-Za-z0-9_]+)?://")
_KINDS: dict[str, Kind] = {
    "sqlite": "sqlite",
    "duckdb": "duckdb",
    "postgresql": "postgresql",
    "postgres": "postgresql",
}
_PLACES = ("host", "hostaddr", "port", "dbname")
_SCHEMAS = ("main", "temp")  # of SQLite
_PART = re.compile(r'"((?:[^"]|"")*)"|([^".]+)')


@dataclass(frozen=True)
class Address:
    """Where a database is, and a table in it.

    Attributes
    ----------
    kind : what the database is
    name : for messages, reports and logs: without the password
    path : of the file of a SQLite or DuckDB database
    uri : what the driver of a server takes; it may hold a password, so it is never shown
    table : the schema, if one was named, and the table; empty where none was
    place : the same for the same database, whoever asks
    secrets : what must never be told
    """

    kind: Kind
    name: str
    path: Path = field(default=Path(), repr=False)
    uri: str = field(default="", repr=False)
    table: tuple[str, ...] = ()
    place: str = field(default="", repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def hide(self, text: str) -> str:
        """Return what a driver says, without the password."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return without_passwords(text)


def is_address(source: object) -> bool:
    """Say whether a source is an address rather than the path of a file.

    >>> is_address("sqlite:///patients.db"), is_address("patients.csv"), is_address("C:/data")
    (True, False, False)
    """
    return isinstance(source, str) and _SCHEME.match(source) is not None


def shown(source: str) -> str:
    """Return the name of a source for messages: an address without its password.

    >>> shown("postgresql://ann:secret@db.example/ward#diagnoses")
    'postgresql://ann:***@db.example/ward#diagnoses'
    >>> shown("patients.csv")
    'patients.csv'
    """
    if not is_address(source):
        return source
    try:
        return parse_address(source).name
    except DataError:
        return without_passwords(source)


def file_of(source: str) -> str:
    """Return the path of the file that a source is, or has its tables in.

    >>> file_of("sqlite:///ward.db#diagnoses"), file_of("ward.csv")
    ('ward.db', 'ward.csv')
    """
    if not is_address(source):
        return source
    try:
        address = parse_address(source)
    except DataError:  # who reads it will say why
        return source
    return str(address.path) if address.kind != "postgresql" else source


def parse_address(text: str) -> Address:
    """Take an address apart; raise a DataError that says what is wrong with it.

    >>> parse_address("sqlite:////data/ward.db#diagnoses").table
    ('diagnoses',)
    >>> parse_address("sqlite://ward.db")
    Traceback (most recent call last):
    overcoat.errors.DataError: sqlite://ward.db: a file comes after three slashes: sqlite:///ward.db
    """
    found = _SCHEME.match(text)
    scheme = found["scheme"].lower() if found else ""
    if found is None or scheme not in _KINDS:
        raise DataError(
            f"no database is read by {scheme}://; there are sqlite:///FILE, duckdb:///FILE and "
            "postgresql://…; in Python, give a connection to any other",
            without_passwords(text),
        )
    rest = text[found.end() :]
    if _KINDS[scheme] == "postgresql":
        return _server(text, rest)
    return _file(_KINDS[scheme], text, rest)


def _file(kind: Kind, text: str, rest: str) -> Address:
    """Take apart what names a file: a path, and perhaps a table."""
    place, mark, table = rest.partition("#")
    if not place.startswith("/"):
        hint = f": {kind}:///{place}" if place else ""
        raise DataError(f"a file comes after three slashes{hint}", text)
    if "?" in place:
        raise DataError(f"nothing may follow a ? here; write a ? in a name as %3F: {kind}", text)
    path = unquote(place[1:])
    if path in ("", ":memory:"):
        raise DataError("a database in memory is read in Python, by its connection", text)
    address = Address(kind, text, path=Path(path), place=str(Path(path).resolve()))
    return _with_table(address, table if mark else None)


def _server(text: str, rest: str) -> Address:
    """Take apart what names a server: user, password, host, database, and perhaps a table."""
    end = re.search(r"[/?]", rest)
    authority, tail = (rest, "") if end is None else (rest[: end.start()], rest[end.start() :])
    user, at, host = authority.rpartition("@")
    user, colon, password = user.partition(":")
    mark = ""
    if "#" in host:
        host, mark, table = host.partition("#")
        table += tail
        tail = ""
    else:
        tail, mark, table = tail.partition("#")
    if not at and ":" in host and "@" in rest and not host.rpartition(":")[2].isdigit():
        raise DataError(
            "a / or ? in a password must be written %2F or %3F, so that it does not end there",
            without_passwords(text),
        )
    place, _, options = tail.partition("?")
    said = parse_qsl(options)
    secrets = [value for key, value in said if "password" in key.lower()]
    secrets += [password, unquote(password)]
    name = f"postgresql://{user}{':***' if password else ''}{at}{host}{place}"
    address = Address(
        "postgresql",
        name,
        # The driver ends a password at the first @, whatever comes after it.
        uri=f"postgresql://{user}{colon}{quote(unquote(password), safe='')}{at}{host}{tail}",
        place=f"{host}{place} {sorted(one for one in said if one[0] in _PLACES)}",
        # The longest first: one may be a part of another.
        secrets=tuple(sorted({secret for secret in secrets if secret}, key=len, reverse=True)),
    )
    return _with_table(address, table if mark else None)


def _with_table(address: Address, table: str | None) -> Address:
    if table is None:
        return address
    named = f"{address.name.partition('#')[0]}#{unquote(table)}"
    if address.kind != "postgresql":
        named = address.name
    try:
        parts = parse_table(unquote(table))
    except DataError as error:
        raise DataError(error.problems[0].message, named) from None
    if address.kind == "sqlite" and len(parts) == 2 and parts[0].lower() not in _SCHEMAS:
        parts = (".".join(parts),)  # a file has no other schemas, so the dot belongs to the name
    return replace(address, name=named, table=parts)


def parse_table(text: str) -> tuple[str, ...]:
    """Return the parts of ``table`` or ``schema.table``; quotes keep a dot inside a part.

    >>> parse_table("cdm.person"), parse_table('"a.b"')
    (('cdm', 'person'), ('a.b',))
    """
    parts, at = [], 0
    while found := _PART.match(text, at):
        parts.append(found[2] if found[1] is None else found[1].replace('""', '"'))
        at = found.end()
        if text[at : at + 1] != ".":
            break
        at += 1
    if at != len(text) or not 0 < len(parts) <= 2 or not all(parts) or text.endswith("."):
        raise DataError(f"a table is named table or schema.table after the #, not {text!r}")
    return tuple(parts)
