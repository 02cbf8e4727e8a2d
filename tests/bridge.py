"""From the oracle's instances to Overcoat's objects, and back."""

from collections.abc import Mapping
from pathlib import Path

import pytest

import overcoat as oc
from oracle.definitions import Group, expand, largest_k
from overcoat.policy.hierarchy import Hierarchy
from overcoat.policy.policy import Policy
from overcoat.policy.privacy import AllItemsets, Family, Itemsets, Pgen
from overcoat.policy.utility import Utility
from strategies import Instance

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def real_data(name: str) -> Path:
    """A real data set, where it is there; it is never part of the project."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{name} is not at hand: real data sets are looked for in ../shared/data")
    return path


def families_of(instance: Instance) -> tuple[Family, ...]:
    families: list[Family] = []
    for family in instance.families:
        match family:
            case ("itemsets", itemsets):
                families.append(Itemsets([sorted(itemset) for itemset in itemsets]))
            case ("all", m, linkable):
                families.append(AllItemsets(m, None if linkable is None else sorted(linkable)))
            case _:
                families.append(Pgen())
    return tuple(families)


def policy_of(instance: Instance) -> Policy:
    hierarchy = None
    if instance.paths is not None:
        hierarchy = Hierarchy.of([tuple(reversed(path)) for path in instance.paths.values()])
    named = {name: sorted(items) for name, items in instance.named.items()}
    return Policy(
        instance.k,
        families_of(instance),
        Utility(named, rest=instance.rest),
        instance.s,
        hierarchy,
    )


def largest_k_of(instance: Instance, phi: Mapping[str, Group | None]) -> int | None:
    """The largest k for which every family holds. Pgen's itemsets depend on k; taken over all k,
    they are all rows: a maximal row is infrequent for some k, and the others are parts of it."""
    rows = instance.rows
    constraints = [
        p
        for family in instance.families
        for p in (rows if family[0] == "pgen" else expand(family, rows, instance.k))
    ]
    limits = [limit for p in constraints if (limit := largest_k(p, rows, phi)) is not None]
    return min(limits, default=None)


def phi_of(mapping: oc.Mapping) -> dict[str, Group | None]:
    """The mapping as the oracle writes it."""
    groups = mapping.groups
    return {
        item: None if (label := mapping[item]) is None else frozenset(groups[label])
        for item in mapping.vocabulary
    }
