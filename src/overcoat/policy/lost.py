"""Codes of the data that differ from those of a policy in zeros, points, case or blanks only."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from overcoat.data.codes import alike_codes, lost_codes
from overcoat.errors import InputError
from overcoat.policy.binding import Domain, Lint
from overcoat.policy.hierarchy import Hierarchy
from overcoat.policy.sets import Sets
from overcoat.policy.tables import find_table

if TYPE_CHECKING:
    from overcoat.policy.policy import Policy

__all__ = ["lint_codes"]


def lint_codes(policy: Policy, domain: Domain, lint: Lint) -> None:
    """Say which codes may have lost something: beside the errors if there are any, else as notes.

    Nothing is repaired: what looks like a damaged code may be another one.
    """
    say = lint.error if lint.errors else lint.note
    sources: dict[str, Collection[str]] = {}
    if isinstance(policy.hierarchy, Hierarchy):
        sources["the hierarchy"] = policy.hierarchy.ancestors
    sets = policy.utility.sets
    if isinstance(sets, Sets):
        sources["the utility sets"] = _items(sets, domain, tables=True)
    sources["the privacy constraints"] = [
        item for family in policy.privacy for item in _named_by(family, domain)
    ]
    sources["the known codes"] = policy.known
    items = domain.vocabulary.labels
    if not lint.errors:  # what is odd within the data explains no error
        for sentence in alike_codes(items):
            lint.note(sentence)
    for sentence in lost_codes(items, sources):
        say(sentence)


def _named_by(family: Any, domain: Domain) -> list[str]:
    """Return the items that the sets of a family name."""
    parts = [getattr(family, one.name) for one in fields(family)] if is_dataclass(family) else []
    return [item for part in parts if isinstance(part, Sets) for item in _items(part, domain)]


def _items(sets: Sets, domain: Domain, *, tables: bool = False) -> list[str]:
    if tables and (table := find_table(sets.lines, domain)):
        return [item for _, item, _ in table.rows]
    with suppress(InputError):  # what is wrong with the sets is told elsewhere
        return [item for entry in sets.settled(domain).entries for item in entry.items]
    return []
