"""A policy is a value: it has ==, a canonical JSON form and a digest, and survives pickling."""

import json
import pickle
import random
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import overcoat as oc
from bridge import policy_of
from overcoat.policy.privacy import Families
from strategies import random_instance

POLICIES: dict[str, oc.Policy] = {
    "pairs": oc.Policy(5, oc.AllItemsets(2)),
    "linkable": oc.Policy(5, oc.AllItemsets(2, ["b", "a"])),
    "sets": oc.Policy(5, oc.Itemsets([{"a", "b"}, {"c"}])),
    "named sets": oc.Policy(5, oc.Itemsets({"p": ["a", "b"]})),
    "everything": oc.Policy(5, oc.Pgen()),
    "two": oc.Policy(5, oc.Pgen() | oc.AllItemsets(1)),
    "coherence": oc.Policy(5, oc.Coherence(2, ["x"], 33.3)),
    "utility": oc.Policy(5, oc.Pgen(), {"u": ["a", "b"]}),
    "intact": oc.Policy(5, oc.Pgen(), oc.Utility({"u": ["a", "b"]}, rest="intact")),
    "s": oc.Policy(5, oc.Pgen(), max_suppressed=2),
    "exact s": oc.Policy(5, oc.Pgen(), max_suppressed=Fraction(1, 3)),
    "hierarchy": oc.Policy(5, oc.Pgen(), hierarchy=oc.Hierarchy.balanced("abc", 2)),
    "balanced": oc.Policy(5, oc.Pgen(), hierarchy="balanced:5"),
    "distances": oc.Policy(5, oc.Pgen(), weights=oc.Distances({("b", "a"): 0.25}, default=0.5)),
    "penalties": oc.Policy(5, oc.Pgen(), penalties={"a": 0.1}),
    "known": oc.Policy(5, oc.Pgen(), known=["z", "y"]),
    "unknown": oc.Policy(5, oc.Pgen(), ignore_unknown=True),
}


@pytest.mark.parametrize("name", POLICIES)
def test_there_and_back(name: str) -> None:
    policy = POLICIES[name]
    text = json.dumps(policy.to_json())
    back = oc.Policy.from_json(json.loads(text))
    assert back == policy
    assert back.digest == policy.digest
    assert hash(back) == hash(policy)
    copied = pickle.loads(pickle.dumps(policy))
    assert copied == policy
    assert copied.digest == policy.digest


def test_all_are_different() -> None:
    assert len({policy.digest for policy in POLICIES.values()}) == len(POLICIES)
    for name, policy in POLICIES.items():
        assert [other for other, one in POLICIES.items() if one == policy] == [name]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (oc.Policy(5, oc.AllItemsets(2)), oc.Policy(5, [oc.AllItemsets(2)])),
        (oc.Policy(5, oc.Pgen(), max_suppressed=1), oc.Policy(5, oc.Pgen(), max_suppressed=1.0)),
        (
            oc.Policy(5, oc.Pgen(), max_suppressed=0.1),
            oc.Policy(5, oc.Pgen(), max_suppressed=Decimal("0.10")),
        ),
        (oc.Policy(5, oc.Itemsets([["b", "a"]])), oc.Policy(5, oc.Itemsets([{"a", "b"}]))),
        (
            oc.Policy(5, oc.Pgen(), weights=oc.Distances({("a", "b"): 0.5})),
            oc.Policy(5, oc.Pgen(), weights=oc.Distances({("b", "a"): 0.5})),
        ),
    ],
)
def test_what_says_the_same_is_the_same(one: oc.Policy, other: oc.Policy) -> None:
    assert one == other
    assert one.digest == other.digest


def test_where_it_was_written_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text('k = 5\nkm = 2\ns = 0.5\nalgorithm = "pcta"\n')
    read = oc.Policy.read(tmp_path / "policy.toml")
    assert read == oc.Policy(5, oc.AllItemsets(2))
    assert read.digest == oc.Policy(5, oc.AllItemsets(2)).digest
    assert read.files == (str(tmp_path / "policy.toml"),)


def test_files_of_sets_are_values_too(tmp_path: Path) -> None:
    for name in ("one.txt", "other.txt"):
        (tmp_path / name).write_text("# of " + name + "\np: a b\n")
    one, other = (oc.Itemsets.read(tmp_path / name) for name in ("one.txt", "other.txt"))
    assert oc.Policy(2, one) == oc.Policy(2, other)
    back = oc.Policy.from_json(oc.Policy(2, one).to_json())
    assert back == oc.Policy(2, other)
    rows = [{"a", "b"}, {"a"}, {"b"}]
    assert oc.anonymize(rows, policy=back, max_suppressed=None).mapping.merged == (("a", "b"),)


def test_the_digest_does_not_depend_on_hash_order() -> None:
    code = (
        "import overcoat as oc; "
        "print(oc.Policy(5, oc.Itemsets([set('abcdefgh')]), [set('xyzuvw')], "
        "known=set('klmnop')).digest)"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1


def test_random_policies_mean_the_same_after_the_journey() -> None:
    rng = random.Random(5)
    for _ in range(300):
        instance = random_instance(rng)
        policy = policy_of(instance)
        back = oc.Policy.from_json(json.loads(json.dumps(policy.to_json())))
        assert back == policy
        results: list[Any] = []
        for one in (policy, back):
            try:
                results.append(oc.anonymize(instance.rows, policy=one).mapping)
            except (oc.InfeasibleError, oc.PolicyError) as error:
                results.append(str(error))
        assert results[0] == results[1]


@pytest.mark.parametrize("part", ["weights", "penalties"])
def test_functions_cannot_be_written_down(part: str) -> None:
    def function(items: object) -> float:
        return 1.0

    given: dict[str, Any] = {part: function}
    policy = oc.Policy(5, oc.Pgen(), **given)
    with pytest.raises(oc.PolicyError, match=f"{part} given as a function cannot be written down"):
        policy.to_json()
    assert policy == oc.Policy(5, oc.Pgen(), **given)


@pytest.mark.parametrize(
    "content", [{}, {"k": 5}, {**POLICIES["pairs"].to_json(), "privacy": [{"family": "magic"}]}]
)
def test_what_is_no_policy(content: Any) -> None:
    with pytest.raises(oc.PolicyError):
        oc.Policy.from_json(content)


def test_unions_of_families() -> None:
    a, b, c, d = oc.AllItemsets(1), oc.AllItemsets(2), oc.AllItemsets(3), oc.Pgen()
    assert (a | b) | (c | d) == (a, b, c, d)
    assert a | (b | c) == ((a | b) | c) == (a, b, c)
    assert (a, b) | c == a | (b, c) == [a, b] | Families((c,)) == (a, b, c)
    with pytest.raises(oc.PolicyError, match="3 is not a family"):
        oc.anonymize([{"a"}], 2, a | 3)  # type: ignore[operator]


def test_repr_is_short() -> None:
    assert repr(POLICIES["pairs"]) == "Policy(5, AllItemsets(2), max_suppressed=0.5)"
    assert repr(POLICIES["two"]) == "Policy(5, (Pgen(), AllItemsets(1)), max_suppressed=0.5)"


def test_the_budget_of_s_is_exact() -> None:
    """Every hundredth of a percent of domains of many sizes; in floats some lose an item."""
    lost_in_floats = 0
    for n_items in (1, 7, 100, 999, 1000, 10_000):
        data = oc.read([[str(item) for item in range(n_items)]])
        for hundredths in range(0, 10_001, 1 if n_items in (1000, 10_000) else 97):
            s = hundredths / 100
            exact = hundredths * n_items // 10_000
            lost_in_floats += int(s * n_items / 100) != exact
            policy = oc.Policy(2, oc.AllItemsets(1), max_suppressed=s)
            assert policy.bind_published(data.vocabulary, 1).budget == exact, (s, n_items)
    assert lost_in_floats  # so that this test can fail


@pytest.mark.parametrize(("s", "gone", "ok"), [(0.57, 57, True), (0.57, 58, False)])
def test_and_verification_counts_it_the_same_way(s: float, gone: int, ok: bool) -> None:
    data = oc.read([[str(item) for item in range(10_000)]] * 2)
    policy = oc.Policy(2, oc.AllItemsets(1), max_suppressed=s)
    partition = oc.Partition([-1] * gone + list(range(gone, 10_000)))
    mapping = oc.Mapping.over(data.vocabulary, partition)
    assert oc.verify(data, mapping.apply(data), mapping, policy).ok is ok
