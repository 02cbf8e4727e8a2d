"""Spec 5 to the letter: COAT for explicit itemsets, everything recomputed at each step."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Literal, TypeAlias

from .definitions import (
    Family,
    Group,
    Itemset,
    Percent,
    Rows,
    Weight,
    domain_of,
    expand,
    image,
    item_order,
    loss,
    publish,
    satisfied,
    subsets,
    support,
    suppressed_items,
    suppression_ok,
    unit_weight,
)

Merge: TypeAlias = tuple[Literal["merge"], Group, Group, Itemset]
Suppression: TypeAlias = tuple[Literal["suppress"], Group, Itemset]
Trace: TypeAlias = list[Merge | Suppression]


class Infeasible(Exception):  # noqa: N818
    """More than s percent of the domain would have to be suppressed."""

    def __init__(self, suppressed: Itemset, trace: Trace) -> None:
        super().__init__(f"suppressed too much: {sorted(suppressed)}")
        self.suppressed = suppressed
        self.trace = trace


def coat(
    rows: Rows,
    constraints: Sequence[Itemset],
    blocks: Sequence[Group],
    k: int,
    s: Percent,
    weight: Weight = unit_weight,
) -> tuple[dict[str, Group | None], Trace]:
    """Anonymize; return the mapping and the steps that led to it, or raise Infeasible."""
    run = Run(rows, blocks, k, s, weight)
    while unsatisfied := [p for p in constraints if not run.is_satisfied(p)]:
        # "p, unsatisfied, with the largest support of its image"; max takes the first of equals
        p = max(unsatisfied, key=lambda q: run.sup(image(q, run.mapping)))
        while not run.is_satisfied(p):
            run.repair(p)
    return run.mapping, run.trace


def coat_by_families(
    rows: Rows,
    families: Sequence[Family],
    blocks: Sequence[Group],
    k: int,
    s: Percent,
    weight: Weight = unit_weight,
) -> tuple[dict[str, Group | None], Trace]:
    """Anonymize under families, those of m-itemsets worked through size by size.

    Each family proposes a constraint; the one of largest support is repaired, the first family's
    among equals. A family of itemsets proposes as in `coat`. One of m-itemsets proposes, of the
    smallest size that has any, the violated set of linkable groups of largest support, the first
    in item order among equals.
    """
    run = Run(rows, blocks, k, s, weight)
    run.work_through(families)
    return run.mapping, run.trace


class Run:
    """The state of one run, everything about it recomputed whenever it is asked for."""

    def __init__(
        self, rows: Rows, blocks: Sequence[Group], k: int, s: Percent, weight: Weight
    ) -> None:
        self.rows, self.blocks, self.k, self.s, self.weight = rows, blocks, k, s, weight
        in_order = item_order(domain_of(rows))
        self.rank = {item: position for position, item in enumerate(in_order)}
        self.mapping: dict[str, Group | None] = {item: frozenset([item]) for item in in_order}
        self.trace: Trace = []

    # --- What is asked of the present state -------------------------------------------------------

    def is_satisfied(self, p: Itemset) -> bool:
        return satisfied(p, self.rows, self.mapping, self.k)

    def sup(self, groups: frozenset[Group]) -> int:
        return support(groups, publish(self.rows, self.mapping))

    def loss_of(self, group: Group) -> Fraction:
        return loss(group, self.rows, self.weight)

    def first_item(self, group: Group) -> int:
        return min(self.rank[item] for item in group)

    def first_items(self, groups: frozenset[Group]) -> list[int]:
        # Lists compare lexicographically, a prefix first: the order of sets of groups.
        return sorted(self.first_item(group) for group in groups)

    def least_supported_first(self, groups: Iterable[Group]) -> list[Group]:
        return sorted(groups, key=lambda g: (self.sup(frozenset([g])), self.first_item(g)))

    def partners(self, g: Group) -> list[Group]:
        (block,) = [block for block in self.blocks if g <= block]
        groups = image(block, self.mapping) - {g}
        return sorted(groups, key=self.first_item)

    def working_part(self, p: Itemset) -> frozenset[Group]:
        """Return p's image, or if nobody supports it, its violated part of largest support."""
        whole = image(p, self.mapping)
        if self.sup(whole) > 0:
            return whole
        violated = [part for part in subsets(whole) if 0 < self.sup(part) < self.k]
        return min(violated, key=lambda part: (-self.sup(part), self.first_items(part)))

    def propose(self, family: Family) -> tuple[int, Itemset] | None:
        if family[0] != "all":
            constraints = expand(family, self.rows, self.k)
            unsatisfied = [p for p in constraints if not self.is_satisfied(p)]
            if not unsatisfied:
                return None
            p = max(unsatisfied, key=lambda q: self.sup(image(q, self.mapping)))
            return self.sup(image(p, self.mapping)), p
        _, m, linkable = family
        linkable = frozenset(self.rank) if linkable is None else linkable & frozenset(self.rank)
        published = publish(self.rows, self.mapping)
        groups = sorted(image(linkable, self.mapping), key=self.first_item)
        for size in range(1, min(m, len(linkable)) + 1):
            supports = [(support(frozenset(x), published), x) for x in combinations(groups, size)]
            violated = [(found, x) for found, x in supports if 0 < found < self.k]
            if violated:
                found, x = max(violated, key=lambda pair: pair[0])  # in item order: the first
                return found, frozenset(
                    min(group & linkable, key=self.rank.__getitem__) for group in x
                )
        return None

    # --- What changes it --------------------------------------------------------------------------

    def work_through(self, families: Sequence[Family]) -> None:
        """Repair what the families propose until none proposes anything."""
        while proposals := [found for family in families if (found := self.propose(family))]:
            _, p = max(proposals, key=lambda proposal: proposal[0])
            while not self.is_satisfied(p):
                self.repair(p)

    def repair(self, p: Itemset) -> None:
        """Take one step towards satisfying p."""
        ranked = self.least_supported_first(self.working_part(p))
        g = ranked[0]
        if self.partners(g):
            self.merge(g, p)
        elif self.sup(frozenset([g])) < self.k:
            self.suppress(g, p)
        else:
            # The paper's line 9 would hang here.
            with_partner = [other for other in ranked if self.partners(other)]
            if with_partner:
                self.merge(with_partner[0], p)
            else:
                self.suppress(g, p)

    def merge(self, g: Group, p: Itemset) -> None:
        # min returns the first of equals, and partners are in the order of their first items.
        self.unite(g, min(self.partners(g), key=lambda r: self.loss_of(g | r)), p)

    def unite(self, g: Group, r: Group, p: Itemset) -> None:
        self.trace.append(("merge", g, r, p))
        for item in g | r:
            self.mapping[item] = g | r

    def suppress(self, g: Group, p: Itemset) -> None:
        self.trace.append(("suppress", g, p))
        for item in g:
            self.mapping[item] = None
        if not suppression_ok(self.mapping, self.s):
            raise Infeasible(suppressed_items(self.mapping), self.trace)
