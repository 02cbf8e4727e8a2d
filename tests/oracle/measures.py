"""What a release costs, by enumeration: query error, NCP, changes, patterns. Exact fractions."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, permutations
from math import prod

from .definitions import (
    Group,
    Itemset,
    Phi,
    Rows,
    domain_of,
    image,
    item_order,
    publish,
    subsets,
    support,
)


def estimate(query: Itemset, rows: Rows, mapping: Phi) -> Fraction:
    """Spec 7: e."""
    groups = [mapping[item] for item in query]
    if None in groups:
        return Fraction(0)
    chances = [Fraction(2 ** (len(g) - 1), 2 ** len(g) - 1) for g in groups if g is not None]
    return support(image(query, mapping), publish(rows, mapping)) * prod(chances, start=Fraction(1))


def relative_error(query: Itemset, rows: Rows, mapping: Phi) -> Fraction:
    """Spec 7: RE, for a query that somebody matches."""
    actual = support(query, rows)
    return abs(actual - estimate(query, rows, mapping)) / actual


def matched(rows: Rows, q: int, allowed: Itemset) -> set[Itemset]:
    """All queries of q allowed items that somebody matches."""
    return {query for query in map(frozenset, combinations(allowed, q)) if support(query, rows)}


def orders(query: Itemset) -> list[tuple[str, ...]]:
    """Every order in which the items of a query can be drawn."""
    return list(permutations(query))


def chance_by_items(query: tuple[str, ...], rows: Rows, allowed: Itemset) -> Fraction:
    """The chance that the items of a query are drawn in this order, by the law ``items``."""
    long = [row & allowed for row in rows if len(row & allowed) >= len(query)]
    chance = Fraction(1)
    for step, item in enumerate(query):
        drawn = frozenset(query[:step])
        beside = domain_of([row for row in long if drawn <= row]) - drawn
        chance *= Fraction(item in beside, len(beside)) if beside else 0
    return chance


def chance_by_occurrences(query: Itemset, rows: Rows, allowed: Itemset) -> Fraction:
    """The chance that a query is drawn, by the law ``occurrences``."""
    long = [row & allowed for row in rows if len(row & allowed) >= len(query)]
    of_rows = [
        Fraction(query <= row, sum(1 for _ in combinations(row, len(query)))) for row in long
    ]
    return sum(of_rows, start=Fraction(0)) / len(long)


def ncp(rows: Rows, mapping: Phi, weight: Callable[[Group], Fraction] | None = None) -> Fraction:
    """The mean over occurrences; `weight` is the share of the domain under the common ancestor."""
    n_items = len(domain_of(rows))
    penalties = []
    for row in rows:
        for item in row:
            group = mapping[item]
            if group is None:
                penalties.append(Fraction(1))
            elif len(group) == 1:
                penalties.append(Fraction(0))
            else:
                penalties.append(weight(group) if weight else Fraction(len(group), n_items))
    return sum(penalties, start=Fraction(0)) / max(len(penalties), 1)


def flat_ncp(rows: Rows, mapping: Phi) -> Fraction:
    """Spec 12, word for word: a sum over groups and suppressed items, not over occurrences."""
    domain = domain_of(rows)
    occurrences = {item: support({item}, rows) for item in domain}
    groups = {group for group in mapping.values() if group is not None and len(group) > 1}
    merged = sum(len(group) * sum(occurrences[item] for item in group) for group in groups)
    gone = sum(occurrences[item] for item in domain if mapping[item] is None)
    whole = len(domain) * sum(occurrences.values())
    return Fraction(merged + len(domain) * gone, whole) if whole else Fraction(0)


def fate(item: str, mapping: Phi) -> str:
    """What becomes of an item."""
    group = mapping[item]
    if group is None:
        return "suppressed"
    return "untouched" if len(group) == 1 else "generalized"


def told(rows: Rows, mapping: Phi) -> tuple[list[int], int]:
    """For each occurrence of an item that is told, one of how many; and how many are not told."""
    groups = [mapping[item] for row in rows for item in row]
    return sorted(len(g) for g in groups if g is not None), groups.count(None)


def shown(rows: Rows, mapping: Phi) -> list[int]:
    """For each label of each published row, one of how many items it stands for."""
    return sorted(len(group) for row in publish(rows, mapping) for group in row)


# --- Patterns -------------------------------------------------------------------------------------


def millionths(number: Fraction) -> int:
    """Estimates and confidences are compared to the nearest millionth."""
    return round(number * 10**6)


def all_itemsets(domain: Itemset, max_size: int) -> list[Itemset]:
    """Every itemset of the domain, matched or not."""
    sizes = range(1, max_size + 1)
    return [frozenset(x) for size in sizes for x in combinations(sorted(domain), size)]


def frequent_by(
    measure: Callable[[Itemset], Fraction], domain: Itemset, min_count: int, max_size: int
) -> set[Itemset]:
    """The itemsets whose support, or estimate of it, reaches the minimum."""
    itemsets = all_itemsets(domain, max_size)
    return {x for x in itemsets if millionths(measure(x)) >= min_count * 10**6}


def rules_by(
    measure: Callable[[Itemset], Fraction], frequent: set[Itemset], min_confidence: Fraction
) -> set[tuple[Itemset, Itemset]]:
    """The rules left -> right over frequent itemsets, as (left, both sides)."""
    return {
        (left, whole)
        for whole in frequent
        for left in subsets(whole)
        if left != whole
        and millionths(measure(whole) / measure(left)) >= millionths(min_confidence)
    }


def top_by(
    measure: Callable[[Itemset], Fraction], frequent: set[Itemset], k: int, domain: Itemset
) -> list[Itemset]:
    """The first k by the measure; ties in item order."""
    rank = {item: position for position, item in enumerate(item_order(domain))}
    return sorted(
        frequent, key=lambda x: (-millionths(measure(x)), sorted(rank[item] for item in x))
    )[:k]
