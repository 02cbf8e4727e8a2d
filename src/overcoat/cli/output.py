"""What commands print, and where they may write."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from overcoat.cli.progress import say

__all__ = ["Paused", "check_outputs", "dump", "print_json", "print_text", "say_unless_quiet"]


class Paused(KeyboardInterrupt):
    """An interrupt that leaves something behind to go on with; its message says what."""


def check_outputs(inputs: list[str | None], *outputs: str | None, as_json: bool) -> None:
    """Find out before the work, not after it, that an output cannot be written."""
    from overcoat.data.io import Staging
    from overcoat.errors import DataError

    if as_json and "-" in outputs:
        raise click.UsageError("--json and -o - both want standard output")
    there = [os.stat(path) for path in inputs if path is not None and os.path.exists(path)]
    with Staging() as staging:  # leaves nothing behind
        for output in outputs:
            if output is None or output == "-":
                continue
            target = os.path.realpath(output)  # where it will be written
            if os.path.exists(target) and any(
                os.path.samestat(os.stat(target), other) for other in there
            ):
                raise DataError("is an input; name another file for the output", output)
            staging.stage(output)


def say_unless_quiet(text: str, quiet: bool) -> None:
    """Say something on standard error."""
    if not quiet:
        say(text)


def print_json(content: dict[str, Any]) -> None:
    """Print an object on standard output."""
    print_text(dump(content))


def print_text(text: str) -> None:
    """Print a text on standard output."""
    from overcoat.data.io import send

    send(f"{text}\n".encode())


def dump(content: dict[str, Any]) -> str:
    """Return an object as one line of JSON."""
    text = json.dumps(content, ensure_ascii=False)
    # A file name need not be Unicode; what is not is left escaped, which JSON understands.
    return text.encode("utf-8", "backslashreplace").decode()
