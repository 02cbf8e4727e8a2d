"""Checking that files are the certified ones, and that what was certified still holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from overcoat.application.reporting import sha256_of
from overcoat.context import Stage
from overcoat.data.transactions import Transactions
from overcoat.errors import Problem
from overcoat.evidence import External, Internal, Published, settle_published
from overcoat.mapping import Mapping
from overcoat.policy.policy import Policy
from overcoat.release.result import Result
from overcoat.reports.certificate import (
    certificate_of,
    differences,
    public_certificate_of,
    public_part,
    salted,
)

__all__ = ["compare_published", "compare_result", "differing_files", "differing_statement"]


def differing_files(certified: dict[str, Any], released: str, mapping: str) -> list[str]:
    """Say which files are not the certified ones, before anything is read from them."""
    found: dict[str, str | None] = {"mapping": sha256_of(mapping)}
    if Path(released).is_file():
        found["released"] = sha256_of(released)
    digests = {name: certified["digests"].get(name) for name in found}
    return differences({"digests": digests}, {"digests": found})


def differing_statement(certified: dict[str, Any], policy: Policy, digest: str | None) -> list[str]:
    """Say where the policy and the input are not the certified ones; `digest` is of the input."""
    found = {"policy": policy.to_json(), "digests": {"policy": policy.digest, "input": digest}}
    if certified["digests"].get("input") is None:
        del found["digests"]["input"]
    digests = {name: certified["digests"].get(name) for name in found["digests"]}
    return differences({"policy": certified["policy"], "digests": digests}, found)


def compare_result(
    certified: dict[str, Any],
    result: Result,
    mapping: str,
    *,
    salt: bytes | None,
    stage: Stage,
) -> tuple[list[str], list[Problem]]:
    """Work out again what a certificate says, from the original and all that was published.

    Returns what differs, and what could not be checked.
    """
    result.digests["mapping"] = sha256_of(mapping)
    keep_order = result.mapping.keep_order
    if certified["edition"] == "owner":
        told = Internal.of(result, keep_order=keep_order, stage=stage)
        content = certificate_of(told)
        notes = _leave_out(certified["digests"], content["digests"])
        return differences(certified, content), notes
    external = External(Published.of(result, keep_order=keep_order), stage)
    digest = result.digests.get("input")
    known = None if salt is None or digest is None else salted(digest, salt)
    found = public_certificate_of(external, input_hmac=known)
    return _compare_public(certified, found, salt is not None)


def compare_published(
    certified: dict[str, Any],
    released: Transactions,
    mapping: Mapping,
    policy: Policy,
    path: str,
    *,
    stage: Stage,
) -> tuple[list[str], list[Problem]]:
    """Work out again what of a certificate can be told from what was published alone."""
    digests = {"released": released.file_digest, "mapping": sha256_of(path)}
    settled = settle_published(policy, mapping, released)
    published = Published(released, mapping, settled, {}, mapping.keep_order, digests)
    found = public_certificate_of(External(published, stage))
    notes = []
    if certified["edition"] == "owner":
        certified = public_part(certified)
        notes.append(
            Problem("the original was not given: what the certificate says of it was not checked")
        )
    different, more = _compare_public(certified, found, salted=False)
    return different, [*notes, *more]


def _compare_public(
    certified: dict[str, Any], found: dict[str, Any], salted: bool
) -> tuple[list[str], list[Problem]]:
    digests = dict(certified["digests"])
    notes = _leave_out(digests, found["digests"])
    if not salted and digests.pop("input_hmac", None) is not None:
        notes.append(Problem("the salted digest of the input was not checked: that takes its salt"))
    if salted and "input_hmac" not in digests:
        notes.append(Problem("the certificate has no salted digest of the input"))
        found["digests"].pop("input_hmac", None)
    return differences({**certified, "digests": digests}, found), notes


def _leave_out(certified: dict[str, Any], found: dict[str, Any]) -> list[Problem]:
    """Leave out the digests of files that a certificate could not have: those of a cluster."""
    absent = [
        name
        for name in ("input", "released")
        if name in certified and certified[name] is None and found.get(name) is not None
    ]
    found.update(dict.fromkeys(absent))
    return [Problem(f"the certificate has no digest of the file: {name}") for name in absent]
