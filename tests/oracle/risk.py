"""What an attacker can do, by enumeration: spec 11. Exact fractions."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from .definitions import Itemset, Phi, Published, Rows, image, publish, support


def candidates(known: Itemset, mapping: Phi, published: Published) -> int:
    """How many published rows hold the image; all of them if it is empty."""
    return support(image(known, mapping), published)


def worst(person: Itemset, m: int, mapping: Phi, published: Published) -> int | None:
    """The least number of candidates over all non-empty sets of at most m items."""
    sets = (
        frozenset(some)
        for size in range(1, min(m, len(person)) + 1)
        for some in combinations(person, size)
    )
    return min((candidates(some, mapping, published) for some in sets), default=None)


def chance(person: Itemset, m: int, mapping: Phi, published: Published) -> Fraction:
    """How often an attacker who knows m items, drawn at random, picks the right row."""
    size = min(m, len(person))
    sets = [frozenset(some) for some in combinations(person, size)]
    return sum(
        (Fraction(1, candidates(some, mapping, published)) for some in sets), Fraction(0)
    ) / len(sets)


def crowd(
    rows: Rows, mapping: Phi, m: int | None, k: int, linkable: Itemset | None = None
) -> tuple[int, int, Fraction]:
    """People unique, people below k, the mean chance; m is None for the whole row."""
    published = publish(rows, mapping)
    unique = below = 0
    total = Fraction(0)
    for row in rows:
        person = row if linkable is None else row & linkable
        size = len(person) if m is None else m
        if m is None:
            least = candidates(person, mapping, published) if person else None
        else:
            least = worst(person, size, mapping, published)
        unique += least == 1
        below += least is not None and least < k
        total += chance(person, size, mapping, published)
    return unique, below, total / len(rows)


def linked_crowd(
    rows: Rows, mappings: Sequence[Phi], m: int, k: int, linkable: Itemset | None = None
) -> tuple[int, int, Fraction]:
    """The same for an attacker who knows which rows of several releases are of one person.

    A person fits what he knows if the image of it is in that person's row of every release.
    """
    published = [publish(rows, phi) for phi in mappings]

    def fitting(known: Itemset) -> int:
        return sum(
            all(
                image(known, phi) <= table[person]
                for phi, table in zip(mappings, published, strict=True)
            )
            for person in range(len(rows))
        )

    unique = below = 0
    total = Fraction(0)
    for row in rows:
        person = row if linkable is None else row & linkable
        sizes = range(1, min(m, len(person)) + 1)
        crowds = [fitting(frozenset(x)) for size in sizes for x in combinations(person, size)]
        unique += min(crowds, default=0) == 1
        below += bool(crowds) and min(crowds) < k
        drawn = [fitting(frozenset(x)) for x in combinations(person, min(m, len(person)))]
        total += sum((Fraction(1, n) for n in drawn), Fraction(0)) / len(drawn)
    return unique, below, total / len(rows)
