"""What concepts are: a hierarchy and utility sets from ``concept_ancestor``.

Concepts may have several parents; a hierarchy is a tree. So of the parents of a concept, which are
its ancestors at ``min_levels_of_separation`` 1, the one with the smallest concept id is taken. That
depends on the concept alone, not on who has it, nor on the order of the rows: the same vocabulary
gives the same tree to every data set, and a larger one only adds to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from overcoat.context import QUIET
from overcoat.data.io.omop.domains import take_domains
from overcoat.data.io.omop.model import ANCESTORS, CONCEPTS, open_model
from overcoat.errors import DataError
from overcoat.words import listed

__all__ = ["concept_paths", "concept_sets"]

ROOT = "*"


def concept_paths(
    source: Any, domain: str | None = None, *, tell: Callable[[], None] = QUIET
) -> list[tuple[str, ...]]:
    """Return a path from each concept that anybody has up to the root.

    Inner nodes are called by their id and their name. A concept that is above another one stands
    as a leaf below its own node. One that ``concept_ancestor`` does not know stands below the root.
    """
    domains = take_domains(domain)
    with open_model(source, tell) as model:
        model.require(ANCESTORS)
        concepts = model.concepts(domains, tell)
        parents = model.parents(domains, concepts, tell)
        chains = {concept: _chain(concept, parents, model.name) for concept in sorted(concepts)}
        inner = {node for chain in chains.values() for node in chain}
        names = model.names(inner, tell) if model.has(CONCEPTS) else {}
    called = {node: f"{node} {names[node]}" if node in names else str(node) for node in inner}
    paths = []
    for concept, chain in chains.items():
        nodes = [concept, *chain] if concept in inner else chain
        paths.append((str(concept), *(called[node] for node in nodes), ROOT))
    return paths


def _chain(concept: int, parents: dict[int, int], name: str) -> list[int]:
    """Return the ancestors of a concept, from its parent up."""
    chain: list[int] = []
    seen = {concept}
    while (concept := parents.get(concept, -1)) >= 0:
        if concept in seen:
            raise DataError(f"{ANCESTORS} goes round in circles at {concept}", name)
        seen.add(concept)
        chain.append(concept)
    return chain


def concept_sets(
    source: Any,
    ancestors: Sequence[int],
    domain: str | None = None,
    *,
    ignore_unknown: bool = False,
    tell: Callable[[], None] = QUIET,
) -> dict[str, list[str]]:
    """Return what lies below each of some ancestors, by its name: the concepts that anybody has.

    No concept may lie below two of them: sets are not to overlap, and if one of them went without
    it, its count would be another than it says.
    """
    domains = take_domains(domain)
    with open_model(source, tell) as model:
        model.require(ANCESTORS)
        concepts = model.concepts(domains, tell)
        pairs = set(model.below(ancestors, concepts, tell))
        pairs |= {(one, one) for one in ancestors if one in concepts}
        names = model.names(ancestors, tell) if model.has(CONCEPTS) else {}
    called = {one: names.get(one, str(one)) for one in ancestors}
    if len({*called.values()}) < len(called):
        called = {one: f"{name} [{one}]" for one, name in called.items()}
    sets: dict[str, list[str]] = {}
    owner: dict[int, int] = {}
    shared: dict[tuple[int, int], list[str]] = {}
    for one in ancestors:
        held = sorted(concept for above, concept in pairs if above == one)
        if not held and not ignore_unknown:
            raise DataError(
                f"nobody has a concept below {one} ({called[one]}); leave it out, or let it be "
                "(--ignore-unknown)",
                model.name,
            )
        for concept in held:
            if owner.setdefault(concept, one) != one:
                shared.setdefault((owner[concept], one), []).append(str(concept))
        if held:
            sets[called[one]] = [str(concept) for concept in held]
    if shared:
        clashes = [
            f"{len(items):,} lie below {called[one]} and {called[other]}: {listed(items)}"
            for (one, other), items in shared.items()
        ]
        raise DataError(
            "utility sets must not overlap, and of the concepts "
            + "; ".join(clashes)
            + "; name ancestors that have none in common, or write the sets to a file",
            model.name,
        )
    return sets
