"""Results and verdicts in a few lines for a person."""

from __future__ import annotations

from overcoat.errors import DataError
from overcoat.release.exposed import Exposed, exposed
from overcoat.release.result import Result
from overcoat.release.summary import summary_lines
from overcoat.verification import Verdict
from overcoat.words import count_of

__all__ = ["summarize", "verdict_lines"]


def summarize(
    result: Result,
    *,
    released: str | None = None,
    mapping: str | None = None,
    codebook: str | None = None,
    report: str | None = None,
    external_report: str | None = None,
    certificate: str | None = None,
    public_certificate: str | None = None,
    risk: Exposed | None = None,
) -> str:
    """Return what happened, in a few lines.

    The names of files are told as they are given; `risk` is found unless it is given.

    >>> from overcoat.policy.privacy import AllItemsets
    >>> from overcoat.release.public import anonymize
    >>> rows = [{"a", "b"}, {"a", "c"}, {"a"}, {"a"}, {"b"}]
    >>> result = anonymize(rows, 2, AllItemsets(2))
    >>> print(summarize(result))
    data        5 transactions, 3 items
    policy      crowd (k): 2; known items (m): 2; may be left out (s): 0.5 %; \
3 constraints (all 2-itemsets)
    changed     1 group of 2 items; 1 item as it was
    suppressed  none
    told        of 7 items that people have, 4 are told exactly, 3 are told as one of 2
    loss        log2 UL = -1.959
    verified    yes: every protected itemset matches at least 2 people or nobody
    risk        unique with 2 items known: 2 people (40.0 %) → nobody; with 3: 2 people (40.0 %) \
→ nobody
    """
    if not isinstance(result, Result):
        raise DataError(f"a summary is of a Result, not of {result!r}")
    lines = summary_lines(result)
    lines.append(("risk", str(exposed(result) if risk is None else risk)))
    if released is not None:
        lines.append(("released", released))
    if mapping is not None:
        lines.append(("mapping", f"{mapping} (shows which item went where; publish it or keep it)"))
    if codebook is not None:
        lines.append(("codebook", codebook))
    inside = [path for path in (report, certificate) if path is not None]
    outside = [path for path in (external_report, public_certificate) if path is not None]
    if inside:
        lines.append(("inside", f"{', '.join(inside)} (for the house only)"))
    if outside:
        lines.append(("outside", f"{', '.join(outside)} (may be passed on)"))
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
