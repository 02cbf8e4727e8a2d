"""Options for what goes with a release: reports and certificates."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import click

from overcoat.cli.options import FILE

__all__ = ["describe_option", "paper_options"]

F = TypeVar("F", bound=Callable[..., Any])

describe_option = click.option(
    "--describe",
    type=FILE,
    metavar="FILE",
    help="For reports and the codebook: what items are called, a table that anyone may see.",
)

_OPTIONS = [
    click.option(
        "--report",
        type=FILE,
        metavar="R.html",
        help="Where to write a report for inside: it has figures of the original.",
    ),
    click.option(
        "--external-report",
        type=FILE,
        metavar="E.html",
        help="Where to write a report that may be passed on: made of what is published alone.",
    ),
    click.option(
        "--certificate",
        type=FILE,
        metavar="C.json",
        help="Where to write a certificate for inside: digests, policy, verdict, risk.",
    ),
    click.option(
        "--public-certificate",
        type=FILE,
        metavar="P.json",
        help="Where to write a certificate that may be passed on.",
    ),
    click.option(
        "--salt",
        type=FILE,
        metavar="FILE",
        help="A secret: the public certificate names the input by a digest salted with it.",
    ),
    describe_option,
    click.option(
        "--price",
        is_flag=True,
        help="With --report: run without each utility set and family, and say what each costs.",
    ),
]


def paper_options(function: F) -> F:
    """Add these options; the command gets `Papers`."""

    @wraps(function)
    def gathered(
        report: str | None,
        external_report: str | None,
        certificate: str | None,
        public_certificate: str | None,
        salt: str | None,
        describe: str | None,
        price: bool,
        **others: Any,
    ) -> Any:
        from overcoat.application import Papers

        files = (report, external_report, certificate, public_certificate, describe, salt)
        papers = Papers(*files, price=price)
        return function(papers=papers, **others)

    decorated = cast(F, gathered)
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated
