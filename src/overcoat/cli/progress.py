"""What is said on standard error: messages, and progress on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from overcoat.cli.limits import Limits
from overcoat.context import Context
from overcoat.words import without_passwords

__all__ = ["PATIENCE", "Patience", "run_context", "say"]

_WORDS = {
    "read": "reading",
    "policy": "checking the policy",
    "anonymize": "anonymizing",
    "apply": "applying the mapping",
    "verify": "verifying",
    "measure": "measuring the loss",
    "risk": "counting who is unique",
    "suggest": "trying other policies",
    "explain": "going back over the steps",
    "queries": "drawing queries",
    "evaluate": "measuring",
    "write": "writing and reading back",
}
# A run shorter than this shows nothing: a line that flashes by helps nobody.
_PATIENCE = 0.5


def say(text: str) -> None:
    """Say something to a person. If nobody can hear it, the exit status still tells.

    Whatever went wrong, and wherever: no password is told.
    """
    with suppress(OSError):
        click.echo(without_passwords(text), err=True)


class Patience:
    """Whether people have had enough of a search, which asks now and then while it runs."""

    def __init__(self) -> None:
        self._asked = self._ended = False

    def __call__(self) -> bool:
        """Say whether it is to end."""
        self._asked = True
        return self._ended

    def over(self) -> None:
        """Take note that the search is over: from now on there is nothing to end early."""
        self._asked = False

    def end(self) -> bool:
        """End the search; False if none runs, or if it was told before."""
        if not self._asked or self._ended:
            return False
        self._ended = True
        return True


PATIENCE = Patience()


@contextmanager
def run_context(limits: Limits, *, quiet: bool) -> Iterator[Context]:
    """Give a context whose progress is a status line on a terminal.

    The stage "done" takes the line away, so that something else can be shown.
    """
    from overcoat.cli.log import is_verbose

    on_terminal = sys.stderr is not None and sys.stderr.isatty()
    if quiet or is_verbose() or not on_terminal:
        yield limits.context(enough=PATIENCE if on_terminal else None)
        return
    from rich.console import Console

    started = time.monotonic()
    console = Console(stderr=True)
    with console.status("") as status:
        status.stop()

        def tell(stage: str, done: int, of: int) -> None:
            if stage == "done":
                status.stop()
            elif time.monotonic() - started >= _PATIENCE:
                status.update(_line(stage, done, of))
                status.start()

        yield limits.context(progress=tell, enough=PATIENCE)


def _line(stage: str, done: int, of: int) -> str:
    name, _, note = stage.partition(": ")
    text = _WORDS.get(name, name) + (f", {note}" if note else "")
    if of:
        return f"{text}, {100 * done / of:.0f} %"
    return f"{text}, {done:,} steps" if done else text
