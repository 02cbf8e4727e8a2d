"""The certificate of a release: what was done to what, and what was found, as canonical JSON.

Same files, same policy, same versions: the same bytes. There are no times and no paths in it. The
*owner's* edition has the digest and the figures of the original; the *public* one is made of what
was published, with the name of the method.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import platform
from collections.abc import Iterator
from importlib import metadata, resources
from pathlib import Path
from typing import Any, Literal

from overcoat._version import __version__
from overcoat.data.io.text import read_text
from overcoat.errors import MappingError, PolicyError, Problem
from overcoat.evidence import External, Internal
from overcoat.policy.policy import Policy
from overcoat.verification import Verdict

__all__ = [
    "certificate_of",
    "certified_policy",
    "differences",
    "dumps",
    "public_certificate_of",
    "public_part",
    "read_certificate",
    "salted",
    "schema",
]

FORMAT = 1
_LIBRARIES = ("numpy", "polars")
Edition = Literal["owner", "public"]


def certificate_of(told: Internal) -> dict[str, Any]:
    """Return the owner's edition."""
    result, outside = told.result, told.external
    content = _common(outside, "owner", result.verdict)
    errors = told.expected
    content["digests"]["input"] = result.digests.get("input")
    content["method"] = None if result.method is None else result.method.title
    content["versions"] |= {
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in _LIBRARIES},
    }
    content["measures"] |= {
        "log2_ul": _finite(result.loss.log2_ul),
        "ncp": told.ncp,
        "flat_ncp": told.flat_ncp,
        "exactness_of_original": told.exactness.to_json(),
        "expected_error": None
        if errors is None
        else {
            "items": errors.items,
            "pairs": errors.pairs,
            "item_occurrences": errors.item_occurrences,
            "pair_occurrences": errors.pair_occurrences,
        },
    }
    content["named_sets"] = [
        {"name": one.name, "before": one.before, "after": one.after, "exact": one.exact}
        for one in told.counts
    ]
    content["risk"]["before"] = [one.to_json() for one in told.risk]
    return content


def public_certificate_of(
    told: External, *, method: str | None = None, input_hmac: str | None = None
) -> dict[str, Any]:
    """Return the public edition.

    Parameters
    ----------
    method : what the method is called
    input_hmac : the salted digest of the input, see `salted`
    """
    content = _common(told, "public", told.verdict)
    content["method"] = method
    if input_hmac is not None:
        content["digests"]["input_hmac"] = input_hmac
    return content


def _common(told: External, edition: Edition, verdict: Verdict) -> dict[str, Any]:
    """Return what both editions have: all of it can be worked out from what was published."""
    published = told.published
    policy = told.demands.settled
    exactness = told.exactness
    return {
        "certificate": FORMAT,
        "edition": edition,
        "versions": {"overcoat": __version__},
        "policy": policy.to_json(),
        "digests": {
            "policy": policy.digest,
            "released": published.digests.get("released"),
            "released_rows": published.released.content_digest,
            "mapping": published.digests.get("mapping"),
        },
        "keep_order": published.keep_order,
        "n_people": told.n_transactions,
        "n_items": told.n_items,
        "verdict": {
            "ok": verdict.ok,
            "largest_k": verdict.largest_k,
            "n_suppressed": verdict.n_suppressed,
            "suppressed_percent": verdict.suppressed_percent,
        },
        "measures": {
            "n_groups": told.n_groups,
            "n_generalized_items": told.n_generalized_items,
            "largest_group": told.largest_group,
            "exactness_of_release": None if exactness is None else exactness.to_json(),
        },
        "named_sets": [
            {"name": one.name, "after": one.number, "exact": one.exact} for one in told.counts
        ],
        "risk": {"k": told.k, "after": [one.to_json() for one in told.risk]},
    }


def public_part(content: dict[str, Any]) -> dict[str, Any]:
    """Return of an owner's certificate what the public one has of it."""
    digests, risk = dict(content["digests"]), dict(content["risk"])
    digests.pop("input", None)
    risk.pop("before", None)
    keys = ("n_groups", "n_generalized_items", "largest_group", "exactness_of_release")
    sets = [
        {name: value for name, value in one.items() if name != "before"}
        for one in content["named_sets"]
    ]
    measures = {name: value for name, value in content["measures"].items() if name in keys}
    changed = {"digests": digests, "risk": risk, "named_sets": sets, "measures": measures}
    return {**content, **changed, "edition": "public"}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def dumps(content: dict[str, Any]) -> str:
    r"""Return canonical JSON: sorted keys, no blanks, UTF-8, one line.

    >>> dumps({"b": 1, "a": "é"})
    '{"a":"é","b":1}\n'
    """
    text = json.dumps(
        content, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    return text + "\n"


def salted(digest: str, salt: bytes) -> str:
    """Return a digest that tells nothing to whoever lacks the salt.

    The digest of the input would confirm a guess: whoever suspects what the original is could
    compute it. With a secret salt only its owner can.
    """
    return hmac.new(salt, digest.encode("ascii"), hashlib.sha256).hexdigest()


def schema() -> dict[str, Any]:
    """Return the JSON schema of both editions.

    >>> schema()["title"]
    'Certificate of a release'
    """
    text = (
        resources.files("overcoat.reports").joinpath("certificate.schema.json").read_text("utf-8")
    )
    loaded: dict[str, Any] = json.loads(text)
    return loaded


# -- reading and comparing -------------------------------------------------------------------------


def read_certificate(path: str | Path) -> dict[str, Any]:
    """Read a certificate, and check that it is one that this version knows."""
    text = read_text(path, error=MappingError)
    try:
        content = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise MappingError(f"not the JSON of a certificate: {error}", str(path)) from None
    if not isinstance(content, dict) or "certificate" not in content:
        raise MappingError("is not a certificate", str(path))
    if content["certificate"] != FORMAT:
        known = f"this version of Overcoat knows format {FORMAT}"
        raise MappingError(f"has format {content['certificate']!r}; {known}", str(path))
    problems = [
        Problem(f"{name} is missing, or not what it should be", str(path))
        for name, kind in _SHAPE.items()
        if not isinstance(content.get(name), kind)
    ]
    if content.get("edition") not in {"owner", "public"}:
        problems.append(Problem("its edition is neither owner nor public", str(path)))
    if problems:
        raise MappingError(problems)
    return content


_SHAPE: dict[str, type] = {
    "edition": str,
    "policy": dict,
    "digests": dict,
    "versions": dict,
    "verdict": dict,
    "measures": dict,
    "risk": dict,
    "named_sets": list,
}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a key stands twice")
    return content


def certified_policy(content: dict[str, Any], path: str | Path) -> Policy:
    """Return the policy that a certificate is about."""
    try:
        return Policy.from_json(content["policy"])
    except PolicyError as error:
        raise PolicyError(
            [Problem(problem.message, str(path)) for problem in error.problems]
        ) from None


# What cannot be found again from the files: how the mapping was found, and by which versions.
_NOT_FOUND_AGAIN = {"versions", "method"}


def differences(certified: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Say where a certificate differs from what was found in the files, a sentence each.

    >>> differences({"n_people": 3, "verdict": {"ok": True}}, {"n_people": 2, "verdict": {}})
    ['n_people: certified 3, found 2', 'verdict.ok: certified true, found nothing']
    """
    return list(_differing("", certified, found))


def _differing(at: str, certified: Any, found: Any) -> Iterator[str]:
    if isinstance(certified, dict) and isinstance(found, dict):
        for name in [*certified, *(name for name in found if name not in certified)]:
            if at or name not in _NOT_FOUND_AGAIN:
                one, other = certified.get(name, _NOTHING), found.get(name, _NOTHING)
                yield from _differing(f"{at}.{name}" if at else name, one, other)
    elif isinstance(certified, list) and isinstance(found, list) and len(certified) == len(found):
        for place, (one, other) in enumerate(zip(certified, found, strict=True)):
            called = one.get("name", one.get("known")) if isinstance(one, dict) else None
            yield from _differing(f"{at}[{place if called is None else called}]", one, other)
    elif certified != found or isinstance(certified, bool) != isinstance(found, bool):
        yield f"{at}: certified {_told(certified)}, found {_told(found)}"


_NOTHING = object()
_LONGEST = 100


def _told(value: Any) -> str:
    if value is _NOTHING:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
