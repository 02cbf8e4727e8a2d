"""(h,k,p)-coherence and the greedy suppression that brings it about, by enumeration.

After each suppression all moles are looked for afresh, in the data as they then are.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from itertools import combinations
from typing import TypeVar

from .definitions import (
    Group,
    Itemset,
    Percent,
    Phi,
    Rows,
    domain_of,
    image,
    item_order,
    publish,
    subsets,
    support,
)

T = TypeVar("T")


def is_mole(
    b: frozenset[T], rows: Sequence[AbstractSet[T]], private: Iterable[T], h: Percent, k: int
) -> bool:
    """Whether somebody holds b, but fewer than k, or too many of them the same private thing."""
    holders = [row for row in rows if b <= row]
    if not holders:
        return False
    limit = Fraction(str(h)) / 100 * len(holders)
    return len(holders) < k or any(support({e}, holders) > limit for e in private)


def moles(
    rows: Sequence[AbstractSet[T]],
    p: int,
    public: Sequence[T],
    private: Iterable[T],
    h: Percent,
    k: int,
) -> list[frozenset[T]]:
    """List the moles of 1, 2, …, p public things."""
    secret = list(private)
    sets = (frozenset(b) for size in range(1, p + 1) for b in combinations(public, size))
    return [b for b in sets if is_mole(b, rows, secret, h, k)]


def coherent(
    rows: Rows, mapping: Phi, p: int, public: Itemset, private: Itemset, h: Percent, k: int
) -> bool:
    """Whether what is published is coherent; a group is public, or private, if an item of it is."""
    groups = [list(image(items, mapping)) for items in (public, private)]
    return not moles(publish(rows, mapping), p, groups[0], groups[1], h, k)


def largest_k(
    rows: Rows, mapping: Phi, p: int, public: Itemset, private: Itemset, h: Percent
) -> int | None:
    """Return the largest k for which it is coherent: None if every k will do, 0 if none."""
    ks = [k for k in range(len(rows) + 2) if coherent(rows, mapping, p, public, private, h, k)]
    return None if len(rows) + 1 in ks else max(ks, default=0)


def greedy(
    rows: Rows, p: int, public: Itemset, private: Itemset, h: Percent, k: int
) -> tuple[dict[str, Group | None], list[str]]:
    """Suppress until the data are coherent; return the mapping, and what went in which order."""
    in_order = item_order(domain_of(rows))
    loss = {item: support({item}, rows) for item in in_order}
    gone: list[str] = []
    while True:
        left = [row - set(gone) for row in rows]
        known = [item for item in in_order if item in public and item not in gone]
        found = set(moles(left, p, known, private, h, k))
        minimal = [b for b in found if not any(part in found for part in subsets(b) if part != b)]
        if not minimal:
            break
        singles = [item for item in known if {item} in minimal]
        if singles:
            gone.append(singles[0])
        else:
            per_loss = {e: Fraction(sum(e in b for b in minimal), loss[e]) for e in known}
            gone.append(max(known, key=lambda e: per_loss[e]))  # the first of equals
    return {item: None if item in gone else frozenset([item]) for item in in_order}, gone
