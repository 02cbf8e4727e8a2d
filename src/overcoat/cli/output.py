"""What commands print, and where they may write."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import click

from overcoat.cli.progress import say
from overcoat.words import without_passwords

__all__ = [
    "Paused",
    "check_standard_output",
    "dump",
    "has_printed",
    "print_json",
    "print_text",
    "say_notes",
    "say_unless_quiet",
    "start_over",
]


class Paused(KeyboardInterrupt):
    """An interrupt that leaves something behind to go on with; its message says what."""


def check_standard_output(output: str | None, *, as_json: bool) -> None:
    """Refuse to send two things to standard output."""
    if as_json and output == "-":
        raise click.UsageError("--json and -o - both want standard output")


def say_unless_quiet(text: str, quiet: bool) -> None:
    """Say something on standard error."""
    if not quiet:
        say(text)


def say_notes(notes: Iterable[str], quiet: bool) -> list[str]:
    """Say each note on standard error, and return them all."""
    told = list(notes)
    for note in told:
        say_unless_quiet(f"note: {note}", quiet)
    return told


_printed: list[dict[str, Any]] = []  # what a program has been told


def print_json(content: dict[str, Any]) -> None:
    """Print an object on standard output."""
    print_text(dump(content))
    _printed.append(content)


def has_printed() -> bool:
    """Whether an object was printed: a second one would be a riddle to whoever reads it."""
    return bool(_printed)


def start_over() -> None:
    """Forget what was printed: another command begins."""
    _printed.clear()


def print_text(text: str) -> None:
    """Print a text on standard output."""
    from overcoat.data.io import send

    send(f"{text}\n".encode())


def dump(content: dict[str, Any]) -> str:
    """Return an object as one line of JSON."""
    text = without_passwords(json.dumps(content, ensure_ascii=False))
    # A file name need not be Unicode; what is not is left escaped, which JSON understands.
    return text.encode("utf-8", "backslashreplace").decode()
