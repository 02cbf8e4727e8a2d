"""What is said on standard error: messages, and progress on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import click

__all__ = ["progress", "say"]

_WORDS = {
    "read": "reading",
    "policy": "checking the policy",
    "anonymize": "anonymizing",
    "apply": "applying the mapping",
    "verify": "verifying",
    "measure": "measuring the loss",
    "queries": "drawing queries",
    "evaluate": "measuring",
    "write": "writing and reading back",
}
# A run shorter than this shows nothing: a line that flashes by helps nobody.
_PATIENCE = 0.5


def say(text: str) -> None:
    """Say something to a person. If nobody can hear it, the exit status still tells."""
    with suppress(OSError):
        click.echo(text, err=True)


@contextmanager
def progress(*, quiet: bool) -> Iterator[Callable[[str, int], None]]:
    """Give a function to tell the stage and the steps done; a status line shows them.

    The stage "done" takes the line away, so that something else can be shown.
    """
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield lambda stage, steps: None
        return
    from rich.console import Console

    started = shown = time.monotonic()
    console = Console(stderr=True)
    with console.status("") as status:
        status.stop()

        def tell(stage: str, steps: int) -> None:
            nonlocal shown
            if stage == "done":
                status.stop()
                return
            now = time.monotonic()
            if now - started < _PATIENCE or (steps and now - shown < 0.1):
                return
            shown = now
            text = _WORDS.get(stage, stage)
            status.update(f"{text}, {steps:,} steps" if steps else text)
            status.start()

        yield tell
