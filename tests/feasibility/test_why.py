"""Why not, in words: what is said to help does, what is said not to help does not."""

import random
import re
from dataclasses import replace

import pytest

import overcoat as oc
from feasibility.test_clashes import random_problem
from overcoat.errors import InfeasibleError
from overcoat.policy.privacy import Families


def is_met(data: oc.Transactions, policy: oc.Policy) -> bool:
    try:
        oc.anonymize(data, policy)
    except InfeasibleError:
        return False
    return True


def with_m(policy: oc.Policy, m: int) -> oc.Policy:
    families = [replace(one, m=m) for one in policy.privacy if isinstance(one, oc.AllItemsets)]
    return replace(policy, privacy=Families(families))


def test_what_is_said_to_help_does() -> None:
    rng = random.Random(5)
    said = dict.fromkeys(["k", "no k", "m", "no m", "s", "sets"], 0)
    for _ in range(400):
        data, sets, policy = random_problem(rng)
        try:
            oc.anonymize(data, policy)
            continue
        except InfeasibleError as error:
            text = str(error)
        if not sets:
            assert "would help" not in text
            continue
        if found := re.search(r"^  k: (\d+) instead of", text, re.M):
            said["k"] += 1
            assert is_met(data, replace(policy, k=int(found[1])))
        elif "  k: no smaller" in text:
            said["no k"] += 1
            assert not any(is_met(data, replace(policy, k=k)) for k in range(2, policy.k))
        if found := re.search(r"^  m: (\d+) instead of", text, re.M):
            said["m"] += 1
            assert is_met(data, with_m(policy, int(found[1])))
        elif "  m: no smaller" in text:
            said["no m"] += 1
            assert not is_met(data, with_m(policy, 1))
        if found := re.search(r"^  s: ([\d.]+) % instead of", text, re.M):
            said["s"] += 1
            assert is_met(data, replace(policy, max_suppressed=float(found[1])))
        if found := re.search(r"giving up (.*) would do", text):
            said["sets"] += 1
            gone = re.findall(r"(s\d) \(", found[1])
            kept = {name: items for name, items in sets.items() if name not in gone}
            assert is_met(data, replace(policy, utility=oc.Utility(kept)))
    assert min(said.values()) > 5, said


def test_items_that_are_to_stay_intact() -> None:
    rows = [{"a", "b"}, {"a"}, {"a"}, {"b"}, {"b"}, {"c"}]
    policy = oc.Policy(2, oc.AllItemsets(2), oc.Utility({"x": ["a"]}, rest="intact"), 0)
    with pytest.raises(InfeasibleError) as caught:
        oc.anonymize(rows, policy)
    text = str(caught.value)
    assert "1 utility set or intact item has fewer than 2 people: the item 'c' (1 person)" in text
    assert "'x' and the item 'b': 1 person" in text
    assert "rest: 2 items in no set may not be merged at all" in text
