"""The command `overcoat`: parse, call, render; no logic.

Only click is imported here, so that ``--help`` and ``--version`` answer at once; each command
imports what it needs when it runs.
"""

from __future__ import annotations

import json
import signal
import sys
import traceback
from types import FrameType
from typing import NoReturn

import click

from overcoat._version import __version__
from overcoat.cli.commands import anonymize, apply, demo, pgen, verify
from overcoat.errors import OvercoatError

__all__ = ["main"]

EPILOG = """\b
Exit status
  0    done and verified
  2    bad input or usage
  3    the policy cannot be met within s
  4    verification failed
  130  interrupted
  70   a bug in Overcoat
On anything but 0 no output file was written and earlier ones are untouched."""


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


for command in (anonymize, verify, apply, pgen, demo):
    cli.add_command(command)


def main() -> NoReturn:
    """Run the command and leave with its exit status."""
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(_run())


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """Unwind on SIGTERM as on Ctrl-C, so that nothing half-written stays behind."""
    raise KeyboardInterrupt


def _run() -> int:
    try:
        status = cli.main(standalone_mode=False)
        return status if isinstance(status, int) else 0
    except click.ClickException as error:
        error.show()
        return 2
    except OvercoatError as error:
        _tell(error)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("overcoat: interrupted; nothing was written", err=True)
        return 130
    except BrokenPipeError:
        # Whoever read our output has left; there is nobody to tell.
        sys.stdout = None
        return 0
    except MemoryError:
        click.echo("overcoat: error: not enough memory; nothing was written", err=True)
        return 70
    except Exception:
        click.echo(traceback.format_exc(), err=True)
        click.echo(
            f"overcoat: this is a bug in Overcoat {__version__}; please report it with the lines "
            "above. Nothing was written.",
            err=True,
        )
        return 70


def _tell(error: OvercoatError) -> None:
    if "--json" in sys.argv:
        from overcoat.report.json import error_to_json

        click.echo(json.dumps(error_to_json(error), ensure_ascii=False))
    for line in str(error).splitlines():
        click.echo(f"overcoat: error: {line}" if not line.startswith(" ") else line, err=True)
