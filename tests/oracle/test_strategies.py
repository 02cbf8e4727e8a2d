"""The random instances are what they promise, from both sources, and vary enough."""

import random
from itertools import combinations

from hypothesis import HealthCheck, given, settings

from strategies import (
    ROOT,
    Instance,
    instances,
    km_instances,
    random_instance,
    random_km_instance,
)

from .definitions import CANONICAL_INTEGER


def check(instance: Instance) -> None:
    domain = instance.domain
    assert len(domain) <= 9
    assert len(instance.rows) <= 40
    assert "" not in domain
    assert 1 <= len(instance.families) <= 3
    assert 1 <= instance.k <= max(8, len(instance.rows) + 3)
    for family in instance.families:
        if family[0] == "itemsets":
            assert all(p and p <= domain for p in family[1])
        elif family[0] == "all":
            assert family[1] >= 1
            assert family[2] is None or (family[2] and family[2] <= domain)
    assert all(named and named <= domain for named in instance.named.values())
    assert not any(one & other for one, other in combinations(instance.named.values(), 2))
    if instance.paths is not None:
        assert domain <= set(instance.paths)
        inner = {node for path in instance.paths.values() for node in path[:-1]}
        assert not inner & set(instance.paths)
        for item, path in instance.paths.items():
            assert path[0] == ROOT
            assert path[-1] == item


@settings(derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(instances())
def test_instances(instance: Instance) -> None:
    check(instance)


def test_random_instances() -> None:
    rng = random.Random(7)
    seen = [random_instance(rng) for _ in range(2000)]
    for instance in seen:
        check(instance)
    assert random_instance(random.Random(1)) == random_instance(random.Random(1))
    kinds = {family[0] for instance in seen for family in instance.families}
    assert kinds == {"itemsets", "all", "pgen"}
    domains = [instance.domain for instance in seen]
    # every corner is visited
    corners = [
        sum(1 for i in seen if not i.rows),
        sum(1 for i in seen if i.rows and not i.domain),
        sum(1 for i in seen if frozenset() in i.rows and i.domain),
        sum(1 for i in seen if len(set(i.rows)) < len(i.rows)),
        sum(1 for i in seen if i.k > len(i.rows) > 0),
        sum(1 for i in seen if i.paths is not None and set(i.paths) > i.domain),
        sum(1 for i in seen if len(i.domain) == 9),
        sum(1 for i in seen if i.named and frozenset().union(*i.named.values()) < i.domain),
        sum(1 for d in domains if len(d) > 4 and all(map(CANONICAL_INTEGER.fullmatch, d))),
    ]
    assert min(corners) >= 10, corners


def check_km(instance: Instance) -> None:
    check(instance)
    assert [family[0] for family in instance.families] == ["all"]
    assert not instance.named
    assert instance.rest == "together"
    assert instance.paths is not None


@settings(derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(km_instances())
def test_km_instances(instance: Instance) -> None:
    check_km(instance)


def test_random_km_instances() -> None:
    rng = random.Random(8)
    seen = [random_km_instance(rng) for _ in range(1000)]
    for instance in seen:
        check_km(instance)
    corners = [
        sum(1 for i in seen if not i.domain),
        sum(1 for i in seen if i.families[0][2] is not None),  # type: ignore[misc]
        sum(1 for i in seen if i.k > len(i.rows) > 0),
    ]
    assert min(corners) > 10
