"""The command `overcoat serve`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from overcoat.cli.help import Command
from overcoat.cli.options import FILE
from overcoat.cli.progress import say

__all__ = ["serve"]


@click.command(cls=Command)
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", help="Default: 8474, or free.")
@click.option("--no-browser", is_flag=True, help="Do not open a browser; the address is printed.")
@click.option("--demo", "sample", is_flag=True, help="Begin with a sample hospital.")
@click.option(
    "--workspace",
    type=FILE,
    metavar="DIR",
    help="Keep projects in this folder. Without it everything is deleted at the end.",
)
@click.option(
    "--data",
    "given",
    multiple=True,
    metavar="SOURCE",
    help="A file, a folder or a database that may be read where it is; may be given several times.",
)
@click.option(
    "--max-upload",
    type=click.FloatRange(min=0.001),
    default=16,
    show_default=True,
    metavar="GB",
    help="How large a file may be that is sent.",
)
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="How many may run at a time.")
@click.option(
    "--job-memory", type=click.FloatRange(min=0.1), metavar="GB", help="What a job may take."
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Where to listen. Where other machines can reach it, it takes the two files below.",
)
@click.option("--tls-certificate", type=FILE, metavar="FILE.pem", help="For other machines.")
@click.option("--tls-key", type=FILE, metavar="FILE.pem", help="The key of the certificate.")
def serve(
    port: int | None,
    no_browser: bool,
    sample: bool,
    workspace: str | None,
    given: tuple[str, ...],
    max_upload: float,
    jobs: int | None,
    job_memory: float | None,
    host: str,
    tls_certificate: str | None,
    tls_key: str | None,
) -> None:
    """Open a page that leads from a file to a release, in a browser on this machine.

    Nothing leaves the machine: the server listens where nobody else can reach it, and answers only
    the browser that has its address. It needs the extra overcoat[web].

    \b
    Examples:
      overcoat serve
      overcoat serve --demo
      overcoat serve --workspace releases --data /data/wards
    """
    from overcoat.web.serve import Serving
    from overcoat.web.serve import serve as run
    from overcoat.words import without_passwords

    run(
        Serving(
            host,
            port,
            workspace,
            not no_browser,
            sample,
            tls_certificate,
            tls_key,
            int(max_upload * 10**9),
            jobs,
            None if job_memory is None else int(job_memory * 10**9),
            {without_passwords(name): source for name, source in _named(given).items()},
        ),
        say,
    )


def _named(given: Sequence[str]) -> dict[str, str]:
    """Return what pages call each source, and its address; a name is that of one file.

    >>> _named(["sqlite:////a/ward.db#visits", "sqlite:////b/ward.db"])
    {'ward.db#visits': 'sqlite:////a/ward.db#visits', 'sqlite:////b/ward.db': 'sqlite:////b/ward.db'}
    """
    names: dict[str, str] = {}
    places: dict[str, str] = {}  # what a name stands for, whatever table of it
    for source in given:
        address = source if "://" in source else str(Path(source).absolute())
        short, place = _called(source), address.partition("#")[0]
        own = places.setdefault(short.partition("#")[0], place) == place
        names[short if own else address] = address
    return names


def _called(source: str) -> str:
    """Return what a page calls a source.

    >>> _called("/data/wards"), _called("sqlite:///data/ward.db#visits")
    ('wards', 'ward.db#visits')
    """
    scheme, _, rest = source.rpartition("://")
    return Path(rest).absolute().name if scheme in ("", "sqlite", "duckdb") else source
