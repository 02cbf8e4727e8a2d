"""Results and verdicts in a few lines for a person."""

from __future__ import annotations

import math
from collections.abc import Sequence

from overcoat.measures.counts import NamedCount
from overcoat.policy.privacy import BoundCoherence
from overcoat.release.result import Result
from overcoat.verification import Verdict

__all__ = ["count_of", "exact_counts", "listed", "summarize", "verdict_lines"]

_SHOWN = 8


def summarize(result: Result, *, released: str | None = None, mapping: str | None = None) -> str:
    """Return what happened, in a few lines.

    >>> from overcoat.policy.privacy import AllItemsets
    >>> from overcoat.release.public import anonymize
    >>> rows = [{"a", "b"}, {"a", "c"}, {"a"}, {"a"}, {"b"}]
    >>> result = anonymize(rows, 2, AllItemsets(2))
    >>> print(summarize(result))
    data        5 transactions, 3 items
    policy      k = 2, 3 constraints (all 2-itemsets), s = 0.5 %
    changed     1 group of 2 items; 1 item as it was
    suppressed  none
    loss        log2 UL = -1.959
    verified    yes: every protected itemset matches at least 2 people or nobody
    """
    policy, verdict = result.policy, result.verdict
    titles = "; ".join(family.title for family in policy.families)
    lines = [
        (
            "data",
            f"{count_of(result.data.n_transactions, 'transaction')}, "
            f"{count_of(result.data.n_items, 'item')}",
        ),
        (
            "policy",
            f"k = {policy.k}, {count_of(policy.n_constraints, 'constraint')} ({titles}), "
            f"s = {policy.max_suppressed:g} %",
        ),
        ("changed", _changed(result)),
        ("suppressed", _suppressed(result)),
        ("loss", _loss(result)),
    ]
    lines += exact_counts(result.counts)
    if verdict.ok:
        k = verdict.largest_k
        lines.append(
            (
                "verified",
                "yes: every protected itemset matches "
                + ("nobody" if k is None else f"at least {_people(k)} or nobody")
                + _shares(result),
            )
        )
    else:
        lines.append(("verified", "NO, see the violations; this cannot be published"))
    if released is not None:
        lines.append(("released", released))
    if mapping is not None:
        lines.append(("mapping", f"{mapping} (shows which item went where; publish it or keep it)"))
    return "\n".join(f"{name:<11} {text}" for name, text in lines)


def verdict_lines(verdict: Verdict, k: int) -> str:
    """Return a verdict in a few lines."""
    if verdict.ok:
        largest = verdict.largest_k
        more = (
            ""
            if largest == k
            else f" (and {'any other' if largest is None else f'up to k = {largest}'})"
        )
        return (
            f"verified    yes: the release satisfies its policy at k = {k}{more}\n"
            f"suppressed  {count_of(verdict.n_suppressed, 'item')} "
            f"({verdict.suppressed_percent:.3g} %)"
        )
    lines = ["verified    NO"]
    for kind, total in verdict.n_violations.items():
        shown = [v.message for v in verdict.violations if v.kind == kind]
        lines.append(f"{kind:<11} {count_of(total, 'violation')}")
        lines += [f"  {message}" for message in shown]
        if total > len(shown):
            lines.append(f"  … and {total - len(shown)} more")
    if verdict.largest_k is not None and not verdict.n_violations.keys() & {"rows", "mapping"}:
        lines.append(f"largest k   {verdict.largest_k or 'none'}")
    return "\n".join(lines)


def count_of(number: int, noun: str) -> str:
    """Return a number of things, in words.

    >>> count_of(1, "group"), count_of(2000, "item")
    ('1 group', '2,000 items')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"


def listed(names: Sequence[str]) -> str:
    """Return the first few names, and how many more there are."""
    more = f", … and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


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
    gone = result.mapping.suppressed
    if not gone:
        return "none"
    percent = result.verdict.suppressed_percent
    return f"{count_of(len(gone), 'item')} ({percent:.3g} %): {listed(gone)}"


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
