"""Apriori (k^m-anonymity by full-subtree recoding), by enumeration.

A node of the hierarchy is the set of items under it, so nodes with the same items are one node, and
"above" is "contains". Nothing is counted ahead, every question is put to the rows.
"""

from itertools import combinations, product

from .definitions import Group, Itemset, Paths, Rows, domain_of, item_order

Cut = dict[str, Group]


def nodes_of(paths: Paths, domain: Itemset) -> list[Group]:
    """Return the nodes of the hierarchy that have an item of the domain under them."""
    ways = {item: tuple(paths[item]) for item in domain}
    starts = {way[:depth] for way in ways.values() for depth in range(1, len(way) + 1)}
    return list(
        {frozenset(i for i in domain if ways[i][: len(start)] == start) for start in starts}
    )


def apriori(
    rows: Rows, paths: Paths, k: int, m: int, linkable: Itemset | None = None
) -> dict[str, Group | None]:
    """Return the mapping; no word about s."""
    domain = domain_of(rows)
    known = domain if linkable is None else domain & linkable
    order = item_order(domain)
    hierarchy = nodes_of(paths, domain)

    def support(nodes: frozenset[Group]) -> int:
        return sum(1 for row in rows if all(row & node for node in nodes))

    walk = sorted(
        hierarchy,
        key=lambda n: (-support(frozenset([n])), -len(n), min(map(order.index, n))),
    )

    def shown(nodes: tuple[Group, ...], cut: Cut) -> bool:
        """Whether somebody has, under each of the nodes, a group that holds a known item."""
        return any(
            all(any(cut[i] <= node and cut[i] & known for i in row) for node in nodes)
            for row in rows
        )

    def ncp(cut: Cut) -> int:
        """Sum over all items of all rows, times M: 0 for an item that is published as it is."""
        return sum(len(cut[i]) if len(cut[i]) > 1 else 0 for row in rows for i in row)

    def cheapest(nodes: tuple[Group, ...], cut: Cut) -> Cut | None:
        found = []
        upward = [sorted((n for n in hierarchy if n >= node), key=len) for node in nodes]
        for heights in product(*(range(len(way)) for way in upward)):
            chosen = {way[height] for way, height in zip(upward, heights, strict=True)}
            topmost = frozenset(n for n in chosen if not any(n < other for other in chosen))
            if support(topmost) < k:
                continue
            moved = [way[height] for way, height in zip(upward, heights, strict=True) if height]
            new = {i: max([cut[i], *(n for n in moved if i in n)], key=len) for i in domain}
            found.append((ncp(new), heights, new))
        return min(found, key=lambda one: one[:2])[2] if found else None

    cut = {item: frozenset([item]) for item in domain}
    size = 1
    while size <= m:
        start = dict(cut)  # what is shown is told from the groups at the start of a walk
        for nodes in combinations(walk, size):
            if any(one < other or other < one for one, other in combinations(nodes, 2)):
                continue
            if any(node < cut[item] for node in nodes for item in node):
                continue  # generalized meanwhile
            if support(frozenset(nodes)) < k and shown(nodes, start):
                new = cheapest(nodes, cut)
                if new is None:  # not even the root has k: nothing has
                    return {item: None if item in known else start[item] for item in domain}
                cut = new
        size = 1 if cut != start else size + 1
    return dict(cut)
