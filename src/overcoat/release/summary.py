"""A result in a few named lines, for texts and notebooks alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from overcoat.measures.counts import NamedCount
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.privacy import BoundAllItemsets, BoundCoherence
from overcoat.words import count_of, listed, people

if TYPE_CHECKING:
    from overcoat.release.result import Result

__all__ = ["exact_counts", "summary_lines"]


def summary_lines(result: Result) -> list[tuple[str, str]]:
    """Return what happened: data, policy, what changed, what it cost, what was verified."""
    policy, verdict = result.policy, result.verdict
    lines = [
        (
            "data",
            f"{count_of(result.data.n_transactions, 'transaction')}, "
            f"{count_of(result.data.n_items, 'item')}",
        ),
        *([("read as", result.data.origin.read_as)] if result.data.origin.read_as else []),
        ("policy", _policy(policy)),
        ("changed", _changed(result)),
        *([("since then", str(result.moved))] if result.moved is not None else []),
        ("suppressed", _suppressed(result)),
        ("told", str(result.exactness)),
        ("loss", _loss(result)),
    ]
    if result.searched is not None:
        lines.append(("search", str(result.searched)))
    if result.proof is not None:
        lines.append(("optimum", str(result.proof)))
    lines += exact_counts(result.counts)
    lines += [("identifiers", f"published as asked: {why}") for why in result.identifiers]
    if verdict.ok:
        k = verdict.largest_k
        lines.append(
            (
                "verified",
                "yes: every protected itemset matches "
                + ("nobody" if k is None else f"at least {people(k)} or nobody")
                + _shares(result),
            )
        )
    else:
        lines.append(("verified", "NO, see the violations; this cannot be published"))
    return lines


def _policy(policy: BoundPolicy) -> str:
    """Return the policy in the words of the documentation, the paper's letters beside them."""
    sizes = {one.m for one in policy.families if isinstance(one, BoundAllItemsets)}
    known = [f"known items (m): {' and '.join(map(str, sorted(sizes)))}"] if sizes else []
    titles = "; ".join(family.title for family in policy.families)
    parts = [
        f"crowd (k): {policy.k:,}",
        *known,
        f"may be left out (s): {policy.max_suppressed:g} %",
        f"{count_of(policy.n_constraints, 'constraint')} ({titles})",
    ]
    return "; ".join(parts)


def _changed(result: Result) -> str:
    merged = result.mapping.merged
    single = sum(len(group) == 1 for group in result.mapping.members)
    untouched = f"{count_of(single, 'item')} as {'it was' if single == 1 else 'they were'}"
    if not single:
        untouched = "no item as it was"
    if not merged:
        return f"nothing merged; {untouched}"
    sizes = sorted(map(len, merged))
    spread = f"{sizes[0]}" if sizes[0] == sizes[-1] else f"{sizes[0]} to {sizes[-1]}"
    return f"{count_of(len(merged), 'group')} of {spread} items; {untouched}"


def _suppressed(result: Result) -> str:
    gone = result.suppressed
    if not gone:
        return "none"
    percent = result.verdict.suppressed_percent
    text = f"{count_of(len(gone), 'item')} ({percent:.3g} %): {listed(gone)}"
    if emptied := result.n_emptied:
        text += f"; {people(emptied)} {'has' if emptied == 1 else 'have'} nothing left of theirs"
    return text


def _loss(result: Result) -> str:
    value = result.loss.log2_ul
    return f"log2 UL = {value:.3f}" if math.isfinite(value) else "none"


def _shares(result: Result) -> str:
    """Return what else holds of those who match, where a policy limits that."""
    limits = [
        family.h
        for family in result.policy.families
        if isinstance(family, BoundCoherence) and family.limits_private
    ]
    return "".join(f", at most {float(h):g} % of them with the same private item" for h in limits)


def exact_counts(counts: Sequence[NamedCount]) -> list[tuple[str, str]]:
    """Return which counts of named sets a release keeps, and which not, as named lines."""
    exact = [f"{count.name} {count.before:,}" for count in counts if count.exact]
    lines = []
    if exact:
        every = f"of {len(counts)} " if len(exact) < len(counts) else ""
        lines.append(("exact", f"{count_of(len(exact), 'count')} {every}kept: {listed(exact)}"))
    inexact = [f"{c.name} ({c.before:,} → {c.after:,})" for c in counts if not c.exact]
    if inexact:
        lines.append(("not exact", listed(inexact)))
    return lines
