"""Reports and certificates: with a release, or later from its files; and checking these."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from overcoat.advice.price import price_of
from overcoat.algorithms import Method, methods
from overcoat.application.said import Input, Papers, Statement
from overcoat.context import Context
from overcoat.data.io import Staging, check_outputs, pack, send
from overcoat.data.io.source import open_source
from overcoat.errors import DataError, PolicyError, Problem, VerificationError
from overcoat.evidence import External, Internal, Published, settle_published
from overcoat.feasibility.lint import linted
from overcoat.mapping import Mapping
from overcoat.policy.policy import Policy
from overcoat.release.given import pair_notes, read_release, release_notes, take_release
from overcoat.release.result import Result
from overcoat.release.walk import find_again, make_release
from overcoat.reports.certificate import (
    certificate_of,
    certified_policy,
    dumps,
    public_certificate_of,
    read_certificate,
    salted,
)
from overcoat.reports.editions import external_page, internal_page
from overcoat.reports.names import read_names
from overcoat.verification import Verdict

__all__ = [
    "Written",
    "publish_papers",
    "read_salt",
    "report",
    "sha256_of",
]


def publish_papers(
    papers: Papers, result: Result, *, keep_order: bool, context: Context
) -> dict[str | Path, Callable[[], str | bytes]]:
    """Return what makes each of the files, for `Result.write`; its codebook has the names, too."""
    names = _names(papers.describe, result.mapping)
    result.described.update(names)
    salt = None if papers.salt is None else read_salt(papers.salt)
    if papers.certificate is not None or papers.public_certificate is not None:
        result.policy.settled.to_json()  # a function in it cannot be written down: say so now
    prices = None
    if papers.price:
        if result.method is None:
            raise DataError("--price runs the method again: it is for anonymize")
        stated = result.policy.stated
        prices = price_of(result.data, stated, result.method, context=context)
    made: list[Internal] = []

    def told() -> Internal:
        # Made once, when the digests of the release and the mapping are known.
        if not made:
            stage = context.start("report")
            made.append(Internal.of(result, names, keep_order=keep_order, stage=stage))
        return made[0]

    def public() -> str:
        method = None if result.method is None else result.method.title
        digest = result.digests.get("input")
        known = None if salt is None or digest is None else salted(digest, salt)
        content = public_certificate_of(told().external, method=method, input_hmac=known)
        return dumps(content)

    makers: list[tuple[str | None, Callable[[], str | bytes]]] = [
        (papers.report, lambda: internal_page(told(), prices)),
        (papers.external_report, lambda: external_page(told().external)),
        (papers.certificate, lambda: dumps(certificate_of(told()))),
        (papers.public_certificate, public),
    ]
    return {path: make for path, make in makers if path is not None}


def _names(path: str | None, mapping: Mapping) -> dict[str, str]:
    """Read what items are called; a table in which nothing is an item is another one."""
    if path is None:
        return {}
    names = read_names(path)
    if not any(item in mapping for item in names):
        raise DataError(
            "describes no item of these data; expected a table of items and what they are called",
            path,
        )
    return names


def read_salt(path: str) -> bytes:
    """Read the bytes of a salt; a line end at its end does not count."""
    with open_source(path) as source:
        salt: bytes = source.stream.read()
    salt = salt.rstrip(b"\r\n")
    if len(salt) < 16:
        raise DataError("a salt that can be guessed is none: have at least 16 bytes", path)
    return salt


def sha256_of(path: str) -> str:
    """Return the digest of a file as it lies there."""
    try:
        with Path(path).open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None


@dataclass(frozen=True)
class Written:
    """Which edition was written, and what was found."""

    edition: str
    verdict: Verdict
    notes: tuple[Problem, ...] = ()


def report(
    released: Input,
    mapping: str,
    statement: Statement | None,
    output: str,
    *,
    data: str | None = None,
    policy: str | None = None,
    describe: str | None = None,
    start: str | None = None,
    to: str | None = None,
    context: Context,
) -> Written:
    """Make a report from the files of a release: the internal edition if the original is given.

    Parameters
    ----------
    released : the release; how it is to be read holds for the original instead, if that is given
    statement : the policy and the method; None if they are those of a certificate
    policy : that certificate
    start : the mapping that the release went on from
    """
    earlier = None if start is None else Mapping.read(start)
    stated, method = _stated(statement, policy, earlier)
    inputs = [data, released.source, mapping, policy, describe, start, *stated.files]
    check_outputs(inputs, [output])
    known = Mapping.read(mapping)
    names = _names(describe, known)
    digests: dict[str, str | None] = {"mapping": sha256_of(mapping)}
    if data is None:
        with context.stage("read") as stage:
            rows = read_release(released.source, released.asked, stage=stage)
        digests["released"] = rows.file_digest
        settled = settle_published(stated, known, rows)
        published = Published(rows, known, settled, names, known.keep_order, digests, rows.layout)
        with context.stage("report") as stage:
            told = External(published, stage)
            _require(told.verdict)
            text = external_page(told)
        done = Written("external", told.verdict, tuple(release_notes(rows, known)))
    else:
        original = replace(released, source=data)
        result, notes = _result(original, released.source, known, stated, to, context)
        result.digests.update(digests)
        if method is not None:
            result = find_again(result, method, context=context)
            if result.method is None:
                notes.append(_not_found_again(method, mapping))
        with context.stage("report") as stage:
            inside = Internal.of(result, names, keep_order=known.keep_order, stage=stage)
            text = internal_page(inside)
        done = Written("internal", result.verdict, (*result.notes, *notes))
    with Staging() as staging:
        if output != "-":
            staging.stage(output).write_bytes(pack(output, text.encode()))
        else:
            send(text.encode())
        staging.commit()
    return done


def _stated(
    statement: Statement | None, certificate: str | None, start: Mapping | None
) -> tuple[Policy, Method | None]:
    """Return the policy and the method, None where a certificate names one that is not ours."""
    if statement is not None:
        return statement.bind_method(start)
    if certificate is None:
        raise PolicyError("the policy is missing: give --policy, or its parts")
    content = read_certificate(certificate)
    ours = (kind() for kind in methods().values())
    method = next((one for one in ours if one.title == content.get("method")), None)
    if method is not None and start is not None:
        method = method.starting_from(start)
    return certified_policy(content, certificate), method


def _not_found_again(method: Method, mapping: str) -> Problem:
    return Problem(
        f"{method.title} finds other groups for these data and this policy, so the report cannot "
        "say why these were made; name the method that found them (--algorithm, --start)",
        mapping,
    )


def _result(
    data: Input, released: str, known: Mapping, policy: Policy, to: str | None, context: Context
) -> tuple[Result, list[Problem]]:
    """Return the release of some data as a result, if it is one and holds; with notes."""
    with context.stage("read") as stage:
        original = data.read(stage)
        copy = take_release(released, original, to, stage=stage)
    with context.stage("policy") as stage:
        bound = policy.bind(original, known=known, stage=stage)
        bound = linted(original, bound, stage=stage)
    result = make_release(original, bound, known, context, {})
    if copy != result.released:
        raise VerificationError(
            "the release is not the data under this mapping; `overcoat verify` says where"
        )
    result.digests["released"] = copy.file_digest
    result.laid_out(copy.layout)
    return result, pair_notes(original, copy, known)


def _require(verdict: Verdict) -> None:
    if not verdict.ok:
        total = sum(verdict.n_violations.values())
        lines = [f"the release does not satisfy its policy: {total:,} violation{'s' * (total > 1)}"]
        lines += [f"  {violation.message}" for violation in verdict.violations]
        raise VerificationError("\n".join(lines), verdict)
