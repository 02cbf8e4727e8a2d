"""The command `overcoat`: parse, call, render; no logic.

Only click is imported here, so that ``--help`` and ``--version`` answer at once; each command
imports what it needs when it runs.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from io import TextIOWrapper
from types import FrameType
from typing import NoReturn

import click

from overcoat._version import __version__
from overcoat.cli.commands import anonymize, apply, demo, explain, pgen
from overcoat.cli.compare import compare
from overcoat.cli.evaluate import evaluate
from overcoat.cli.init import init
from overcoat.cli.log import end_log
from overcoat.cli.output import Paused, dump, has_printed, start_over
from overcoat.cli.profile import profile
from overcoat.cli.progress import PATIENCE, say
from overcoat.cli.report import report
from overcoat.cli.risk import risk
from overcoat.cli.serve import serve
from overcoat.cli.verify import verify
from overcoat.errors import CancelledError, InputError, OvercoatError
from overcoat.words import without_passwords

__all__ = ["main"]

EPILOG = """\b
Exit status
  0    done and verified
  2    bad input or usage
  3    the policy cannot be met within s
  4    verification failed
  130  interrupted
  70   a bug in Overcoat
On anything but 0 nothing was released, and earlier files are untouched."""


# What asks a process to end; no system has all of them.
_SIGNALS = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
    if hasattr(signal, name)
]
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(epilog=EPILOG, context_settings=CONTEXT)
@click.version_option(__version__, message="overcoat %(version)s")
def cli() -> None:
    """Publish transactions (diagnoses, purchases, clicks) safely and usefully.

    \b
    Start here:
      overcoat demo
      overcoat anonymize patients.csv --id patient --item code -k 5 --km 2 -o released.csv
    """


COMMANDS = (
    profile,
    init,
    anonymize,
    verify,
    risk,
    report,
    explain,
    evaluate,
    compare,
    apply,
    pgen,
    demo,
    serve,
)
for command in COMMANDS:
    cli.add_command(command)


def main() -> NoReturn:
    """Run the command and leave with its exit status."""
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it: leave it so
            signal.signal(number, _interrupt)
    if isinstance(sys.stdout, TextIOWrapper):  # it is None where it is closed
        sys.stdout.reconfigure(encoding="utf-8")  # as files are, whatever the system's habit
    _leave(_run())


def _leave(status: int) -> NoReturn:
    """End the process: at once if a driver is still at it, which would abort it otherwise."""
    if any(thread.name == "overcoat-fetching" for thread in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(status)
    sys.exit(status)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Unwind, so that nothing half-written stays behind; one is enough, more would disturb that.

    On a terminal the first Ctrl-C during a search only ends the search: it has something to show.
    """
    if number == signal.SIGINT and PATIENCE.end():
        say("overcoat: going on with the best so far; Ctrl-C once more ends everything")
        return
    for more in _SIGNALS:
        signal.signal(more, signal.SIG_IGN)
    raise KeyboardInterrupt


def _run() -> int:
    start_over()
    try:
        status = cli.main(prog_name="overcoat", standalone_mode=False)
        status = status if isinstance(status, int) else 0
        end_log(status)
        return status
    except click.ClickException as error:
        # An argument too many may be an address.
        error.message = without_passwords(error.message)  # type: ignore[misc]
        with suppress(OSError):
            error.show()
        return _fail(2, "usage", without_passwords(error.format_message()))
    except CancelledError as error:
        say("overcoat: interrupted; nothing was written")
        return _fail(error.exit_code, error.kind, str(error))
    except OvercoatError as error:
        first, *rest = str(error).splitlines()
        say(f"overcoat: error: {first}")
        each = "overcoat: error: " if isinstance(error, InputError) else ""
        for line in rest:
            say(f"{each}{line}")
        for note in getattr(error, "__notes__", ()):
            say(note)
        return _fail(error.exit_code, error.kind, str(error), error)
    except (KeyboardInterrupt, click.Abort) as error:
        cause = error.__cause__  # click makes its Abort of an interrupt
        kept = str(cause) if isinstance(cause, Paused) else "nothing was written"
        say(f"overcoat: interrupted; {kept}")
        return _fail(130, "interrupted", "interrupted")
    except MemoryError:
        message = "not enough memory; nothing was written. Try a machine with more"
        say(f"overcoat: error: {message}")
        return _fail(2, "memory", message)
    except Exception as error:
        import traceback

        say(traceback.format_exc())
        say(
            f"overcoat: this is a bug in Overcoat {__version__}; please report it with the lines "
            "above. Nothing was written."
        )
        return _fail(70, "bug", without_passwords(f"a bug in Overcoat: {error!r}"))


def _fail(status: int, kind: str, message: str, error: OvercoatError | None = None) -> int:
    """Return the exit status; the log and, with --json, standard output have it, too."""
    end_log(status, kind, message)
    if "--json" in sys.argv and not has_printed():
        from overcoat.reports.json import error_to_json, failure_to_json

        content = failure_to_json(kind, message, status) if error is None else error_to_json(error)
        with suppress(OSError):  # the exit status and standard error tell it as well
            click.echo(dump(content))
    return status
