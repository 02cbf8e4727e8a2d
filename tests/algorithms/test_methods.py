"""What every method says of policies it cannot honour, before it starts."""

from __future__ import annotations

import pytest

import overcoat as oc
from overcoat.algorithms import methods

ROWS = [{"a", "x"}, {"a", "b"}, {"b", "x"}, {"a", "b", "c"}, {"c"}]


@pytest.mark.parametrize("name", methods())
def test_shares_of_private_items_are_limited_or_refused(name: str) -> None:
    policy = oc.Policy(
        2,
        (oc.Coherence(2, private=["x"], h=40),),
        max_suppressed=100,
        hierarchy=oc.Hierarchy.balanced("abcx", 2),
    )
    if name == "greedy":
        assert oc.anonymize(ROWS, policy=policy, method=name).verdict.ok
        return
    with pytest.raises(oc.PolicyError, match=f"{name} cannot limit .*; greedy can"):
        oc.anonymize(ROWS, policy=policy, method=name)


@pytest.mark.parametrize("name", methods())
def test_private_items_without_a_limit_are_for_everyone(name: str) -> None:
    policy = oc.Policy(
        2,
        (oc.Coherence(2, private=["x"]),),
        max_suppressed=100,
        hierarchy=oc.Hierarchy.balanced("abcx", 2),
    )
    assert oc.anonymize(ROWS, policy=policy, method=name).verdict.ok
