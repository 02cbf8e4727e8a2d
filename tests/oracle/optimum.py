"""The least loss, by looking at every mapping there is. For at most six or seven items."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from .definitions import Group, Itemset, Percent, Phi, Rows, item_order, satisfied, suppression_ok

Loss = Callable[[Phi], Fraction]


def mappings(items: Sequence[str], block_of: dict[str, int]) -> Iterator[list[list[str]]]:
    """Every way to sort items into groups within blocks, or into none: the groups."""
    if not items:
        yield []
        return
    *first, last = items
    for groups in mappings(first, block_of):
        for number, group in enumerate(groups):
            if block_of[group[0]] == block_of[last]:
                yield [*groups[:number], [*group, last], *groups[number + 1 :]]
        yield [*groups, [last]]
        yield groups


def phi_over(domain: Itemset, groups: list[list[str]]) -> dict[str, Group | None]:
    """The groups as a mapping of the domain."""
    home = {item: frozenset(group) for group in groups for item in group}
    return {item: home.get(item) for item in domain}


def rank(phi: Phi) -> list[int]:
    """The first item of each item's group, as numbers; suppressed is last. Smaller is first."""
    order = item_order(phi)
    place = {item: number for number, item in enumerate(order)}
    return [
        len(order) if (group := phi[item]) is None else min(place[one] for one in group)
        for item in order
    ]


def optimum(
    rows: Rows,
    domain: Itemset,
    constraints: Sequence[Itemset],
    blocks: Sequence[Group],
    k: int,
    s: Percent,
    losses: dict[str, Loss],
) -> dict[str, tuple[Fraction, dict[str, Group | None]] | None]:
    """For each loss the least, and the first mapping that has it; None where there is none."""
    block_of = {item: number for number, block in enumerate(blocks) for item in block}
    best: dict[str, tuple[Fraction, list[int], dict[str, Group | None]] | None]
    best = dict.fromkeys(losses)
    for groups in mappings(item_order(domain), block_of):
        phi = phi_over(domain, groups)
        if not suppression_ok(phi, s):
            continue
        # The loss is cheap and the constraints are dear: those that cannot win are not checked.
        open_ = {}
        for name, loss in losses.items():
            key = (loss(phi), rank(phi))
            known = best[name]
            if known is None or key < known[:2]:
                open_[name] = key
        if open_ and all(satisfied(p, rows, phi, k) for p in constraints):
            best |= {name: (*key, phi) for name, key in open_.items()}
    return {name: None if found is None else (found[0], found[2]) for name, found in best.items()}
