"""Reports and certificates, as users ask for them in Python."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping as Abstract
from pathlib import Path
from typing import Any, Literal

from overcoat.advice.price import Prices
from overcoat.algorithms import Method
from overcoat.context import Context
from overcoat.errors import DataError, PolicyError, VerificationError
from overcoat.evidence import External, Internal, Published, settle_published
from overcoat.feasibility.lint import linted
from overcoat.release.given import (
    MappingLike,
    PolicyLike,
    method_of,
    take_data,
    take_mapping,
    take_policy,
    take_release,
)
from overcoat.release.result import Result
from overcoat.release.walk import find_again, make_release
from overcoat.reports.certificate import certificate_of, dumps, public_certificate_of
from overcoat.reports.editions import external_page, internal_page
from overcoat.reports.names import read_names

__all__ = ["certificate", "report"]

Names = Abstract[str, str] | str | Path | None
_EDITIONS = ("internal", "external")


def report(
    released: Any,
    mapping: MappingLike | None = None,
    policy: PolicyLike | None = None,
    *,
    data: Any = None,
    method: Method | str | None = None,
    edition: Literal["internal", "external"] | None = None,
    names: Names = None,
    prices: Prices | None = None,
    context: Context | None = None,
    **options: Any,
) -> str:
    """Return the report on a release: a page of HTML that stands alone.

    The external edition is made of what was published alone, and may be passed on; the internal one
    has figures of the original.

    Parameters
    ----------
    released : a `Result`, which has all the rest; or what was published, a file or anything `read`
        takes, with its options
    mapping, policy : those of the release
    data : the original, which makes it the internal edition; the options are then those of `data`
    method : how the mapping was found, with its `start` if there was one: if it finds it again, the
        internal edition says why groups were made. By default that of the policy file, else COAT
    edition : ``internal`` or ``external``; by default internal where the original is at hand
    names : what items are called, by item, or a file of codes and descriptions
    prices : what each part of the policy costs, from `price`; for the internal edition
    context : how to run

    Raises
    ------
    VerificationError : the release does not satisfy its policy, or is not one of these data

    >>> from overcoat.policy.privacy import AllItemsets
    >>> from overcoat.release.public import anonymize
    >>> result = anonymize([{"a", "b"}, {"a", "c"}, {"a"}, {"a"}], 2, AllItemsets(2))
    >>> page = report(result, edition="external")
    >>> page == report(result.released, result.mapping, result.policy)
    True
    """
    context = Context.of(context)
    if edition not in (*_EDITIONS, None):
        raise PolicyError(f"an edition is internal or external, not {edition!r}")
    called = read_names(names) if isinstance(names, (str, os.PathLike)) else names
    if not isinstance(released, Result) and data is None:
        if edition == "internal":
            raise DataError("the internal edition needs the original: give data")
        told = _published(released, mapping, policy, called, context, options)
        return external_page(told)
    result = released if isinstance(released, Result) else None
    if result is None:
        result = _result(released, mapping, policy, data, context, options)
        result = find_again(result, method_of(policy, method), context=context)
    with context.stage("report") as stage:
        inside = Internal.of(result, called, stage=stage)
        if result.partial:
            raise VerificationError("a partial result is for study only", result.verdict)
        return (
            external_page(inside.external)
            if edition == "external"
            else internal_page(inside, prices)
        )


def certificate(
    result: Result,
    *,
    edition: Literal["owner", "public"] = "owner",
    context: Context | None = None,
) -> str:
    """Return the certificate of a release as canonical JSON.

    Files have their digests in it once the result is written: give `Result.write` a function that
    makes it, under `beside`.

    Parameters
    ----------
    result : the release
    edition : the owner's, with the digest and the figures of the original; or the ``public`` one
    context : how to run

    >>> from overcoat.policy.privacy import AllItemsets
    >>> from overcoat.release.public import anonymize
    >>> result = anonymize([{"a", "b"}, {"a", "c"}, {"a"}, {"a"}], 2, AllItemsets(2))
    >>> certificate(result, edition="public")[:33]
    '{"certificate":1,"digests":{"mapp'
    """
    if edition not in ("owner", "public"):
        raise PolicyError(f"the edition of a certificate is owner or public, not {edition!r}")
    if not isinstance(result, Result):
        raise DataError(f"a certificate is of a Result, not of {result!r}")
    if result.partial:
        raise VerificationError("a partial result is for study only", result.verdict)
    with Context.of(context).stage("certificate") as stage:
        told = Internal.of(result, stage=stage)
        if edition == "owner":
            return dumps(certificate_of(told))
        method = None if result.method is None else result.method.title
        return dumps(public_certificate_of(told.external, method=method))


def _published(
    released: Any,
    mapping: Any,
    policy: Any,
    names: Abstract[str, str] | None,
    context: Context,
    options: dict[str, Any],
) -> External:
    rows = take_data(released, options, context)
    known, stated = take_mapping(mapping), take_policy(policy)
    settled = settle_published(stated, known, rows)
    digests = {"released": rows.file_digest, "mapping": _digest(mapping)}
    published = Published(rows, known, settled, names or {}, known.keep_order, digests, rows.layout)
    with context.stage("report") as stage:
        told = External(published, stage)
        if not told.verdict.ok:
            raise VerificationError("the release does not satisfy its policy", told.verdict)
        return told


def _result(
    released: Any, mapping: Any, policy: Any, data: Any, context: Context, options: dict[str, Any]
) -> Result:
    original = take_data(data, options, context)
    known = take_mapping(mapping)
    copy = take_release(released, original, stage=context.start("read"))
    with context.stage("policy") as stage:
        bound = take_policy(policy).bind(original, known=known, stage=stage)
        bound = linted(original, bound, stage=stage)
    result = make_release(original, bound, known, context, {})
    if copy != result.released:
        raise VerificationError("the release is not the data under this mapping")
    result.digests.update(released=copy.file_digest, mapping=_digest(mapping))
    result.laid_out(copy.layout)
    return result


def _digest(mapping: Any) -> str | None:
    """Return the digest of a mapping that was given as a file."""
    if not isinstance(mapping, (str, os.PathLike)):
        return None
    return hashlib.sha256(Path(mapping).read_bytes()).hexdigest()
