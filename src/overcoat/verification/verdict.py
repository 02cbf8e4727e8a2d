"""What verification finds: violations, and the verdict on everything."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from overcoat import html

__all__ = ["LISTED", "Findings", "Kind", "Verdict", "Violation"]

Kind = Literal["mapping", "rows", "privacy", "utility", "suppression"]

# How many violations of each kind a verdict lists; it counts all of them.
LISTED = 20


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that does not hold.

    Attributes
    ----------
    kind : which promise is broken
    message : what is wrong, for people
    itemset : the labels concerned
    support : how many released transactions hold them, where that is the point
    constraint : the family or the utility set concerned
    """

    kind: Kind
    message: str
    itemset: tuple[str, ...] = ()
    support: int | None = None
    constraint: str | None = None


@dataclass(frozen=True, repr=False)
class Verdict:
    """Whether a release satisfies its policy, and what shows it.

    Attributes
    ----------
    ok : everything holds
    violations : what does not, at most 20 of each kind
    n_violations : how many there are of each kind
    largest_k : the largest k for which all privacy constraints hold; None when any k would do, 0
        when none does: too many people share a private item
    n_suppressed, suppressed_percent : items of the domain that are gone
    """

    ok: bool
    violations: tuple[Violation, ...]
    n_violations: dict[str, int]
    largest_k: int | None
    n_suppressed: int
    suppressed_percent: float

    def __repr__(self) -> str:
        if self.ok:
            k = "any k" if self.largest_k is None else f"k = {self.largest_k}"
            return f"Verdict(ok, up to {k}, {self.n_suppressed:,} items suppressed)"
        found = ", ".join(f"{number:,} of {kind}" for kind, number in self.n_violations.items())
        return f"Verdict(not ok: violations: {found})"

    def _repr_html_(self) -> str:
        title = "Verified: everything holds" if self.ok else "Verification failed"
        facts = [
            ("largest k", "any" if self.largest_k is None else self.largest_k),
            ("suppressed items", f"{self.n_suppressed:,} ({self.suppressed_percent:.3g} %)"),
            *((f"{kind} violations", number) for kind, number in self.n_violations.items()),
        ]
        listed = [(violation.kind, violation.message) for violation in self.violations]
        return html.card(
            title, html.table(facts), html.table(listed[:10], ["kind", "what"]) if listed else ""
        )


@dataclass
class Findings:
    """What was found so far: of each kind the first few, and how many.

    `limits` are the largest k that families allow.
    """

    listed: dict[str, list[Violation]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    limits: list[int] = field(default_factory=list)

    def join(self, other: Findings) -> None:
        """Take over what was found elsewhere, of other kinds."""
        self.listed |= other.listed
        self.counts |= other.counts
        self.limits += other.limits

    def more(self, kind: Kind, number: int) -> None:
        """Count violations that are not listed."""
        if number:
            self.counts[kind] = self.counts.get(kind, 0) + number

    def say(self, kind: Kind, message: str, **details: Any) -> None:
        """Count a violation, and list it if it is among the first."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if self.counts[kind] <= LISTED:
            self.listed.setdefault(kind, []).append(Violation(kind, message, **details))
