"""Prices: each is that of a policy without one part, run and measured by the definitions."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest

import overcoat as oc
from bridge import phi_of, policy_of
from oracle import measures as expected
from overcoat.advice.price import price_of
from overcoat.context import Context
from overcoat.data.transactions import Transactions
from overcoat.errors import InfeasibleError
from overcoat.policy.privacy import Families
from strategies import random_instance


def flat_ncp(rows: list[frozenset[str]], policy: oc.Policy) -> Fraction | None:
    """Anonymize, and measure by enumeration; None where it cannot be met."""
    try:
        return expected.ncp(rows, phi_of(oc.anonymize(rows, policy).mapping))
    except InfeasibleError:
        return None


@pytest.mark.parametrize("seed", range(150))
def test_each_price_is_that_of_the_policy_without_it(seed: int) -> None:
    instance = random_instance(random.Random(seed))
    if not instance.domain:
        return
    policy = replace(policy_of(instance), hierarchy=None)
    data = Transactions.of(instance.rows)
    whole = flat_ncp(instance.rows, policy)
    if whole is None:
        with pytest.raises(InfeasibleError):
            oc.price(data, policy)
        return
    found = price_of(data, policy, oc.Coat(), most=2, context=Context())
    assert found.cost.flat_ncp == pytest.approx(float(whole))
    families = [one for one in found.each if one.kind == "family"]
    assert len(families) == len(policy.privacy)
    for number, one in enumerate(families):
        left = [family for place, family in enumerate(policy.privacy) if place != number]
        wanted: Fraction | None = Fraction(0)  # nothing to protect, nothing to lose
        if left:
            wanted = flat_ncp(instance.rows, replace(policy, privacy=Families(left)))
        check(one, wanted)
    sets = [one for one in found.each if one.kind == "set"]
    if instance.rest == "intact":
        assert not sets
        assert bool(found.notes) == bool(instance.named)
        return
    held = {
        name: sum(bool(row & items) for row in instance.rows)
        for name, items in instance.named.items()
    }
    assert len(sets) == min(2, len(held))
    assert found.left_out == len(held) - len(sets)
    assert [one.people for one in sets] == sorted(held.values(), reverse=True)[:2]
    for one in sets:
        assert one.people == held[one.name]
        others = {n: sorted(items) for n, items in instance.named.items() if n != one.name}
        check(one, flat_ncp(instance.rows, replace(policy, utility=oc.Utility(others))))


def check(one: oc.Price, wanted: Fraction | None) -> None:
    if wanted is None:
        assert one.without is None
    else:
        assert one.without is not None
        assert one.without.flat_ncp == pytest.approx(float(wanted))


def test_words_and_html() -> None:
    rows = [{"a", "c"}, {"a"}, {"a"}, {"b", "c"}, {"b"}, {"c"}, {"d"}, {"d"}, {"d"}]
    result = oc.anonymize(rows, oc.Policy(2, oc.AllItemsets(2), {"first": ["a", "d"]}, 50))
    prices = oc.price(result)
    assert prices.words() == {"first": "flat NCP +0.5000"}
    assert "without first" in prices._repr_html_()
    assert prices.to_json()["without"][0]["kind"] == "family"
