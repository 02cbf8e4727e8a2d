"""Checking a release, and measuring what it costs and what it gives away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

from overcoat.application.certifying import (
    compare_published,
    compare_result,
    differing_files,
    differing_statement,
)
from overcoat.application.reporting import read_salt
from overcoat.application.said import Input, Questions, Statement
from overcoat.context import Context
from overcoat.data.io import Staging, check_outputs, pack, send
from overcoat.data.transactions import Transactions
from overcoat.errors import InputError, PolicyError, Problem, VerificationError
from overcoat.evaluation import Evaluation
from overcoat.evaluation import evaluate as measure
from overcoat.evidence import settle_published
from overcoat.exposure.risk import Attack, Risk
from overcoat.feasibility.lint import linted
from overcoat.mapping import Mapping
from overcoat.measures.queries import draw_workloads
from overcoat.policy.policy import Policy
from overcoat.policy.privacy import BoundAllItemsets
from overcoat.release.given import pair_notes, read_release, release_notes, take_release
from overcoat.release.risk import attack as try_attacks
from overcoat.release.risk import risk as measure_risk
from overcoat.release.walk import make_release
from overcoat.reports.certificate import certified_policy, read_certificate
from overcoat.reports.evaluation import query_table
from overcoat.verification import Verdict, verify_published
from overcoat.verification import verify as check

__all__ = ["Assessed", "Checked", "evaluate", "risk", "verify"]


@dataclass(frozen=True)
class Checked:
    """A verdict, the k it is about, and notes on the policy.

    `differences` say where the files are not those of the certificate; `certified` is whether one
    was given.
    """

    verdict: Verdict
    k: int
    notes: tuple[Problem, ...]
    differences: tuple[str, ...] = ()
    certified: bool = False

    @property
    def ok(self) -> bool:
        """Whether everything holds."""
        return self.verdict.ok and not self.differences


def verify(
    data: Input | None,
    released: Input,
    mapping: str,
    statement: Statement | None,
    *,
    to: str | None = None,
    certificate: str | None = None,
    salt: str | None = None,
    context: Context,
) -> Checked:
    """Check a release against the original, its mapping and the policy.

    Parameters
    ----------
    data : the original; None to check what was published alone
    released : how it is to be read matters only without the original
    statement : the policy; where it protects nothing, what it states stands in place of what the
        policy of the certificate says of that; None if it is all that of the certificate
    certificate : what the files are to be compared with, too
    salt : the file of the secret by which a public certificate names the input
    """
    certified = None if certificate is None else read_certificate(certificate)
    secret = None if salt is None else read_salt(salt)
    if statement is not None and (statement.policy.privacy or certified is None):
        policy = statement.policy
    elif certified is not None and certificate is not None:
        policy = certified_policy(certified, certificate)
        policy = policy if statement is None else statement.over(policy)
    else:
        raise PolicyError("the policy is missing: give --policy, or its parts, or --certificate")
    changed = []
    if certified is not None:
        changed = differing_files(certified, released.source, mapping)
    try:
        known = Mapping.read(mapping)
        if data is None:
            checked = _verify_published(released, mapping, known, policy, certified, context)
        else:
            checked = _verify(
                data, released, mapping, known, policy, certified, to, secret, context
            )
    except InputError as error:
        if not changed:
            raise
        lines = ["the files are not the certified ones:", *(f"  {line}" for line in changed)]
        raise VerificationError("\n".join([*lines, str(error)])) from error
    if certified is None:
        return checked
    every = tuple(dict.fromkeys((*changed, *checked.differences)))
    return replace(checked, differences=every, certified=True)


def _verify(
    data: Input,
    released: Input,
    mapping: str,
    known: Mapping,
    policy: Policy,
    certified: dict[str, Any] | None,
    to: str | None,
    secret: bytes | None,
    context: Context,
) -> Checked:
    with context.stage("read") as stage:
        original = data.read(stage)
        copy = take_release(released.source, original, to, stage=stage)
    with context.stage("policy") as stage:
        bound = linted(original, policy.bind(original, known=known, stage=stage), stage=stage)
    with context.stage("verify") as stage:
        verdict = check(original, copy, known, bound, stage=stage)
    notes = (*bound.notes, *pair_notes(original, copy, known))
    if certified is None:
        return Checked(verdict, bound.k, notes)
    if not verdict.ok:
        found = differing_statement(certified, bound.settled, original.file_digest)
        return Checked(verdict, bound.k, notes, tuple(found))
    result = make_release(original, bound, known, context, {})
    result.digests["released"] = copy.file_digest
    with context.stage("certificate") as stage:
        found, more = compare_result(certified, result, mapping, salt=secret, stage=stage)
    return Checked(verdict, bound.k, (*notes, *more), tuple(found))


def _verify_published(
    released: Input,
    mapping: str,
    known: Mapping,
    policy: Policy,
    certified: dict[str, Any] | None,
    context: Context,
) -> Checked:
    with context.stage("read") as stage:
        rows = read_release(released.source, released.asked, stage=stage)
    settled = settle_published(policy, known, rows)
    with context.stage("verify") as stage:
        verdict = verify_published(rows, known, settled, stage=stage)
    notes: tuple[Problem, ...] = (
        Problem("the original was not given: only what was published was checked"),
        *release_notes(rows, known),
    )
    k = settled.bind_published(known.vocabulary, int(rows.lengths.max(initial=0))).k
    if certified is None or not verdict.ok:
        return Checked(verdict, k, notes)
    with context.stage("certificate") as stage:
        found, more = compare_published(certified, rows, known, settled, mapping, stage=stage)
    return Checked(verdict, k, (*notes, *more), tuple(found))


def evaluate(
    data: Input,
    released: str,
    mapping: str,
    statement: Statement,
    questions: Questions,
    *,
    to: str | None = None,
    output: str | None = None,
    context: Context,
    report: Callable[[Evaluation], None] = lambda evaluation: None,
    **options: Any,
) -> Evaluation:
    """Measure what a release costs; `output` gets every query with its answer.

    `options` are those of `overcoat.evaluate`; `report` as for `anonymize`.
    """
    policy = statement.policy
    check_outputs([data.source, released, mapping, questions.file, *policy.files], [output])
    known = Mapping.read(mapping)
    with context.stage("read") as stage:
        original = data.read(stage)
        copy = take_release(released, original, to, stage=stage)
    with context.stage("queries") as stage:
        workloads = questions.read(original, data.set_sep, policy.known.union(known))
        if questions.draws:
            among = known.generalized if questions.among == "generalized" else None
            sizes, drawn = questions.sizes, (questions.number, questions.seed)
            workloads += draw_workloads(original, sizes, *drawn, among, questions.by, stage=stage)
    evaluation = measure(
        *(original, copy, known), policy=policy, workloads=workloads, context=context, **options
    )
    with Staging() as staging:
        table = query_table(evaluation).encode() if output is not None else b""
        if output is not None and output != "-":
            staging.stage(output).write_bytes(pack(output, table))
        report(evaluation)
        if output == "-":
            send(table)
        staging.commit()
    return evaluation


@dataclass(frozen=True)
class Assessed:
    """The risk, attacks that were tried, and notes on how the data were read."""

    risk: Risk
    attacks: tuple[Attack, ...]
    notes: tuple[str, ...]


def risk(
    data: Input,
    released: str | None,
    mapping: str | None,
    *,
    linkable: str | None = None,
    attacks: int = 0,
    also: Sequence[tuple[str | None, str]] = (),
    to: str | None = None,
    context: Context,
    **options: Any,
) -> Assessed:
    """Say what an attacker can do; `options` are those of `overcoat.risk`.

    `also` are further releases of the same people, each with its mapping; None where only the
    mapping is at hand.
    """
    known = None if mapping is None else Mapping.read(mapping)
    with context.stage("read") as stage:
        original = data.read(stage)
        copy = None if released is None else take_release(released, original, to, stage=stage)
    if linkable is not None:
        stated = Statement.of({"k": 1, "km": 1, "linkable": linkable}, sep=data.set_sep)
        family = stated.policy.bind(original).families[0]
        assert isinstance(family, BoundAllItemsets)
        options["linkable"] = list(compress(original.vocabulary, family.linkable))
    others = [_further(released, mapping, original, to, context) for released, mapping in also]
    found = measure_risk(original, copy, known, also=others, context=context, **options)
    tried: tuple[Attack, ...] = ()
    if attacks:
        of = {name: options[name] for name in ("known", "linkable", "seed") if name in options}
        tried = try_attacks(original, None, known, number=attacks, context=context, **of)
    return Assessed(found, tried, original.origin.notes)


def _further(
    released: str | None, mapping: str, original: Transactions, to: str | None, context: Context
) -> Mapping | tuple[Transactions, Mapping]:
    known = Mapping.read(mapping)
    if released is None:
        return known
    with context.stage("read") as stage:
        return take_release(released, original, to, stage=stage), known
