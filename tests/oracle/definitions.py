"""What the words mean, by enumeration: order, support, satisfaction, utility, loss, Pgen."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from itertools import combinations
from typing import Literal, TypeAlias, TypeVar

T = TypeVar("T")

Itemset: TypeAlias = frozenset[str]
Rows: TypeAlias = Sequence[Itemset]
Group: TypeAlias = frozenset[str]
Phi: TypeAlias = Mapping[str, Group | None]  # None: suppressed
Published: TypeAlias = list[frozenset[Group]]
Paths: TypeAlias = Mapping[str, Sequence[str]]  # item -> nodes from the root down to the item
Weight: TypeAlias = Callable[[Group], Fraction]
Percent: TypeAlias = int | float

ItemsetsFamily: TypeAlias = tuple[Literal["itemsets"], list[Itemset]]
AllFamily: TypeAlias = tuple[Literal["all"], int, Itemset | None]  # m, linkable items
PgenFamily: TypeAlias = tuple[Literal["pgen"]]
Family: TypeAlias = ItemsetsFamily | AllFamily | PgenFamily
Rest: TypeAlias = Literal["together", "intact"]

CANONICAL_INTEGER = re.compile(r"0|-?[1-9][0-9]*")


# --- 1. Terms -------------------------------------------------------------------------------------


def item_order(items: Iterable[str]) -> list[str]:
    """Sort the items: by value if all are canonical integers, otherwise by code point.

    >>> item_order(["10", "9"]), item_order(["10", "9", "038"])
    (['9', '10'], ['038', '10', '9'])
    """
    distinct = set(items)
    if all(CANONICAL_INTEGER.fullmatch(item) for item in distinct):
        return sorted(distinct, key=int)
    return sorted(distinct)


def domain_of(rows: Rows) -> Itemset:
    """Return the items that occur."""
    return frozenset(item for row in rows for item in row)


def support(itemset: AbstractSet[T], rows: Iterable[AbstractSet[T]]) -> int:
    """Count the rows that contain the whole itemset; original and published rows alike."""
    return sum(1 for row in rows if itemset <= row)


def well_formed(mapping: Phi, domain: AbstractSet[str]) -> bool:
    """Whether each item of the domain has one group, that contains it, or none."""
    if set(mapping) != set(domain):
        return False
    return all(
        group is None or (item in group and all(mapping.get(other) == group for other in group))
        for item, group in mapping.items()
    )


def image(itemset: Iterable[str], mapping: Phi) -> frozenset[Group]:
    """Return the groups of the itemset's unsuppressed items."""
    groups = (mapping[item] for item in itemset)
    return frozenset(group for group in groups if group is not None)


def publish(rows: Rows, mapping: Phi) -> Published:
    """Replace each item by its group, once per row."""
    return [image(row, mapping) for row in rows]


# --- 2. Privacy -----------------------------------------------------------------------------------


def subsets(things: Collection[T]) -> Iterator[frozenset[T]]:
    """Yield the non-empty subsets, the whole included."""
    for size in range(1, len(things) + 1):
        yield from map(frozenset, combinations(things, size))


def satisfied(p: Itemset, rows: Rows, mapping: Phi, k: int) -> bool:
    """Spec 2, word for word."""
    published = publish(rows, mapping)
    j = image(p, mapping)
    if not j:
        return True
    if support(j, published) >= k:  # (1)
        return True
    return support(j, published) == 0 and all(  # (2)
        support(part, published) == 0 or support(part, published) >= k
        for part in subsets(j)
        if part != j
    )


def satisfied_cheap(p: Itemset, rows: Rows, mapping: Phi, k: int) -> bool:
    """Spec 2, the form said to be equivalent: only what rows really show of the image counts."""
    published = publish(rows, mapping)
    j = image(p, mapping)
    if not j or support(j, published) >= k:
        return True
    shown = {row & j for row in published if row & j}
    return support(j, published) == 0 and all(support(part, published) >= k for part in shown)


def largest_k(p: Itemset, rows: Rows, mapping: Phi) -> int | None:
    """Return the largest k for which p is satisfied; None when every k will do.

    No support exceeds N, so all k above N are alike. k = 1 asks for nothing.
    """
    if satisfied(p, rows, mapping, len(rows) + 1):
        return None
    return max(k for k in range(1, len(rows) + 1) if satisfied(p, rows, mapping, k))


def expand(family: Family, rows: Rows, k: int) -> list[Itemset]:
    """List the constraints of one family, in policy order.

    m-itemsets come in lexicographic item order. An m beyond the number of linkable items means
    all of them at once: k^m-anonymity protects up to m items.
    """
    if family[0] == "itemsets":
        return list(family[1])
    if family[0] == "pgen":
        return pgen(rows, k)
    _, m, linkable = family
    domain = domain_of(rows)
    known = domain if linkable is None else domain & linkable
    in_order = [item for item in item_order(domain) if item in known]
    if not in_order:
        return []
    return [frozenset(choice) for choice in combinations(in_order, min(m, len(in_order)))]


def pgen(rows: Rows, k: int) -> list[Itemset]:
    """Spec 6, in lexicographic item order, without the empty transaction: it constrains nothing.

    >>> [sorted(p) for p in pgen([frozenset("acf"), frozenset("ac"), frozenset("bh")], 2)]
    [['a', 'c', 'f'], ['b', 'h']]
    """
    rank = {item: position for position, item in enumerate(item_order(domain_of(rows)))}
    maximal = [row for row in set(rows) if row and not any(row < other for other in rows)]
    infrequent = [row for row in maximal if support(row, rows) < k]
    return sorted(infrequent, key=lambda row: sorted(rank[item] for item in row))


# --- 3. Utility -----------------------------------------------------------------------------------


def blocks_of(
    named_sets: Mapping[str, AbstractSet[str]], rest: Rest, domain: AbstractSet[str]
) -> list[Group]:
    """Partition the domain: the named sets, then the items left over as `rest` says."""
    for one, other in combinations(named_sets.values(), 2):
        if one & other:
            raise ValueError(f"utility sets overlap: {sorted(one & other)}")
    blocks = [frozenset(named & domain) for named in named_sets.values() if named & domain]
    left_over = frozenset(domain).difference(*blocks)
    if rest == "intact":
        blocks += [frozenset([item]) for item in item_order(domain) if item in left_over]
    elif left_over:
        blocks.append(left_over)
    return blocks


def utility_ok(mapping: Phi, blocks: Iterable[Group]) -> bool:
    """Whether every group lies inside one block."""
    groups = {group for group in mapping.values() if group is not None}
    partition = list(blocks)
    return all(any(group <= block for block in partition) for group in groups)


def suppressed_items(mapping: Phi) -> Itemset:
    """Return the items mapped to nothing."""
    return frozenset(item for item, group in mapping.items() if group is None)


def suppression_ok(mapping: Phi, s: Percent) -> bool:
    """Whether at most s percent of the domain is suppressed, exactly: 33.3 means 333/10."""
    return len(suppressed_items(mapping)) <= Fraction(str(s)) / 100 * len(mapping)


# --- 4. Loss --------------------------------------------------------------------------------------


def unit_weight(group: Group) -> Fraction:
    """Return the weight of a group when there is no hierarchy."""
    return Fraction(1)


def weight_from_hierarchy(group: Group, paths: Paths, domain: AbstractSet[str]) -> Fraction:
    """Share of the domain that lies under the closest common ancestor of the group's items.

    A node is known by the whole way to it from the root, so equal names in two places do no harm.
    """
    missing = [item for item in item_order(domain) if item not in paths]
    if missing:
        raise ValueError(f"items that the hierarchy lacks: {missing}")
    ways = [tuple(paths[item]) for item in group]
    shared = [d for d in range(min(map(len, ways)) + 1) if len({way[:d] for way in ways}) == 1]
    depth = max(shared)
    ancestor = ways[0][:depth]
    under = [item for item in domain if tuple(paths[item])[:depth] == ancestor]
    return Fraction(len(under), len(domain))


def loss(group: Group, rows: Rows, weight: Weight = unit_weight) -> Fraction:
    """Spec 4: UL(group), exactly. The group is supported by the rows that hold any of its items."""
    if len(group) == 1:
        return Fraction(0)
    n_items = len(domain_of(rows))
    group_support = sum(1 for row in rows if row & group)
    size = Fraction(2 ** len(group) - 1, 2**n_items - 1)
    return size * weight(group) * Fraction(group_support, len(rows))


def total_loss(
    mapping: Phi,
    rows: Rows,
    weight: Weight = unit_weight,
    penalty: Callable[[str], Fraction] | None = None,
) -> Fraction:
    """Spec 4: UL(data). Y(item) is its share of the rows unless `penalty` says otherwise."""

    def share(item: str) -> Fraction:
        return Fraction(support({item}, rows), len(rows))

    y = share if penalty is None else penalty
    groups = {group for group in mapping.values() if group is not None}
    kept = sum((loss(group, rows, weight) for group in groups), start=Fraction(0))
    return kept + sum((y(item) for item in suppressed_items(mapping)), start=Fraction(0))
