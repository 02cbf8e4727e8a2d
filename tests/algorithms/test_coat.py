"""COAT step by step, on instances whose right answer is obvious by construction."""

import random
from typing import Any, get_args

import pytest

from overcoat import (
    AllItemsets,
    Distances,
    InfeasibleError,
    Itemsets,
    Pgen,
    Policy,
    Transactions,
    Utility,
    anonymize,
    apply_mapping,
    read,
)
from overcoat.context import Context
from overcoat.engines import Engine
from overcoat.errors import DataError, PolicyError, VerificationError
from overcoat.release.result import Result

CONTEXT = {engine: Context(engine=engine) for engine in get_args(Engine)}


def run(rows: str, privacy: str, blocks: str, k: int, **options: Any) -> Result:
    """Words of one-letter items: rows, itemsets and utility blocks."""
    return anonymize(
        [set(row) - {"."} for row in rows.split()],
        k,
        Itemsets([list(word) for word in privacy.split()]),
        utility=Utility([list(word) for word in blocks.split()]),
        max_suppressed=options.pop("s", 100),
        **options,
    )


def told(result: Result) -> list[str]:
    return [
        f"{step.action} {''.join(step.items)} {''.join(step.partner)}".strip()
        for step in result.trace
    ]


@pytest.mark.parametrize("engine", CONTEXT)
def test_the_hanging_case_ends(engine: Any) -> None:
    """a is least supported, alone in its block and has k: the paper's line 9 loops for ever."""
    result = run("ab ab ac a b b b c", "ab", "a bc", 3, context=CONTEXT[engine])
    assert told(result) == ["merge b c"]


@pytest.mark.parametrize("engine", CONTEXT)
def test_the_hanging_case_without_partners_suppresses_the_least_supported(engine: Any) -> None:
    result = run("ab a a b b b", "ab", "a b", 2, context=CONTEXT[engine])
    assert told(result) == ["suppress a"]


@pytest.mark.parametrize("engine", CONTEXT)
def test_clause_two_broken_by_a_later_merge_is_repaired(engine: Any) -> None:
    """{a, c} is supported by nobody, until a is merged with b for another constraint."""
    rows = "bc a a c c c"
    assert (
        told(run(rows, "ac", "ab c", 2, context=CONTEXT[engine])) == []
    )  # satisfied by clause (2)
    result = run(rows, "ac b", "ab c", 2, context=CONTEXT[engine])
    assert told(result) == ["merge b a", "suppress ab"]  # merged, one has (a|b) and c
    assert [step.constraint for step in result.trace] == [("b",), ("a", "c")]


@pytest.mark.parametrize("engine", CONTEXT)
def test_one_group_is_merged_before_it_is_suppressed(engine: Any) -> None:
    assert told(run("a b b b", "a", "ab", 2, context=CONTEXT[engine])) == ["merge a b"]
    assert told(run("a b b b", "a", "a b", 2, context=CONTEXT[engine])) == ["suppress a"]


def test_items_outside_every_constraint_are_partners() -> None:
    assert told(run("a z z", "a", "az", 2)) == ["merge a z"]


def test_an_infeasible_policy_names_what_it_could_not_meet() -> None:
    with pytest.raises(InfeasibleError) as caught:
        run("ab a a b b b c c", "ab", "a b c", 2, s=0)
    error = caught.value
    assert error.unmet == (("a", "b"),)
    assert error.suppressed == ("a",)
    assert error.n_items == 3
    assert error.needed_percent == pytest.approx(100 / 3)
    assert "{a, b}" in str(error)
    assert "1 item (33.33 %) would have had to go" in str(error)
    assert error.result.partial


def test_a_partial_result_can_be_studied_but_not_published(tmp_path: Any) -> None:
    result = run("ab a a b b b c c", "ab", "a b c", 2, s=0, partial=True)
    assert result.partial
    assert told(result) == ["suppress a"]
    assert not result.verdict.ok
    target = tmp_path / "released.dat"
    with pytest.raises(VerificationError, match="for study only"):
        result.write(target)
    assert not list(tmp_path.iterdir())


def test_families_combine() -> None:
    rows = [{"a", "b"}, {"a"}, {"b"}, {"c", "d"}, {"c"}, {"d"}] * 2 + [{"a", "c"}]
    families = Itemsets([{"a", "b"}]) | AllItemsets(1, ["c"]) | Pgen()
    result = anonymize(rows, 3, families, max_suppressed=100)
    assert result.verdict.ok
    assert result.policy.n_constraints == 1 + 1 + result.policy.families[2].n_constraints
    assert [family.title for family in result.policy.families] == [
        "explicit itemsets",
        "all 1-itemsets over 1 linkable items",
        "every part of every transaction (Pgen)",
    ]


@pytest.mark.parametrize("engine", CONTEXT)
def test_distances_and_callables_choose_the_partner(engine: Any) -> None:
    rows = [{"a"}, *[{"b"}] * 3, *[{"c"}] * 5]
    nearest = {"a": ("a", "c"), "b": ("b",)}
    for weights in (
        Distances({("a", "c"): 0.1}),
        lambda group: 0.1 if group == {"a", "c"} else 1,
    ):
        result = anonymize(rows, 2, AllItemsets(1), weights=weights, context=CONTEXT[engine])
        assert {group[0]: group for group in result.mapping.members} == nearest
    plain = anonymize(rows, 2, AllItemsets(1), context=CONTEXT[engine])
    assert plain.mapping.groups == {"(a|b)": ("a", "b"), "c": ("c",)}


def test_weights_out_of_range_are_refused() -> None:
    with pytest.raises(PolicyError, match="must be a number from 0 to 1, not 2"):
        anonymize([{"a"}, {"b"}], 2, AllItemsets(1), weights=lambda group: 2)


def test_penalties_enter_the_loss() -> None:
    result = run("ab a a b b b", "ab", "a b", 2, penalties={"a": 0.25})
    assert result.loss.suppressed == {"a": 0.25}
    assert result.loss.log2_ul == -2
    default = run("ab a a b b b", "ab", "a b", 2)
    assert default.loss.suppressed == {"a": 0.5}
    asked = run("ab a a b b b", "ab", "a b", 2, penalties=lambda item: 1.0)
    assert asked.loss.log2_ul == 0


def test_every_itemset_of_a_small_domain_when_m_exceeds_it() -> None:
    result = anonymize([{"a", "b"}, {"a"}, {"b"}, {"a"}], 2, AllItemsets(5))
    assert result.policy.n_constraints == 1
    assert result.verdict.ok
    assert result.mapping.groups == {"(a|b)": ("a", "b")}


@pytest.mark.parametrize("rows", [[], [set()], [{"a"}], [set(), {"a"}, {"a"}]])
@pytest.mark.parametrize("family", [AllItemsets(2), Pgen()])
def test_tiny_data(rows: Any, family: Any) -> None:
    result = anonymize(rows, 2, family, max_suppressed=100)
    assert result.verdict.ok
    assert result.released.n_transactions == len(rows)


def test_long_transactions_do_not_explode() -> None:
    """One person with 120 items, m = 3: 280,840 triples, worked through by size."""
    rows = [{str(i) for i in range(120)}] + [{str(i), str(i + 1)} for i in range(119)] * 3
    result = anonymize(rows, 2, AllItemsets(3))
    assert result.verdict.ok


@pytest.mark.parametrize("engine", CONTEXT)
def test_a_long_unsupported_itemset_does_not_explode(engine: Any) -> None:
    """Sixty items that ten people share have 2^60 parts; only {i00, z} is violated."""
    items = [f"i{number:02}" for number in range(60)]
    rows = [set(items)] * 10 + [{"i00", "z"}] + [{"z"}] * 5
    result = anonymize(rows, 3, Itemsets([[*items, "z"]]), context=CONTEXT[engine])
    assert result.verdict.ok
    assert next(result.trace).items == ("z",)


@pytest.mark.parametrize("engine", CONTEXT)
def test_an_itemset_may_be_longer_than_python_recurses(engine: Any) -> None:
    """Nobody has all of 1,202 items; the first violated part is all of them without z."""
    items = [f"{number:04}" for number in range(1200)]
    rows = [{*items, "y"}, {*items, "z"}, {"y"}, {"z"}] * 2
    utility = Utility([["y", "z"]], rest="intact")
    itemset = Itemsets([[*items, "y", "z"]])
    result = anonymize(rows, 4, itemset, utility=utility, context=CONTEXT[engine])
    assert result.verdict.ok
    assert told(result) == ["merge y z"]


def test_one_itemset_of_all_items_does_not_explode() -> None:
    """Nobody has all of 100 items; after each step another part of them is violated."""
    rng = random.Random(1)
    rows = [{str(rng.randrange(100)) for _ in range(rng.randint(1, 9))} for _ in range(8000)]
    everything = {item for row in rows for item in row}
    result = anonymize(rows, 5, Itemsets([everything]), max_suppressed=0)
    assert result.verdict.ok


def test_constraints_are_told_by_linkable_items() -> None:
    """The group (a|b) is linkable through b: the constraint that fails is {b, z}, not {a, z}."""
    rows = [set(row) for row in ("az", "a", "a", "z", "bz", "b")]
    with pytest.raises(InfeasibleError) as caught:
        anonymize(
            rows,
            3,
            AllItemsets(2, ["b", "z"]),
            utility=Utility([["a", "b"], ["z"]]),
            max_suppressed=0,
        )
    assert all(set(items) <= {"b", "z"} for items in caught.value.unmet)


def test_parts_or_a_policy_not_both() -> None:
    policy = Policy(2, AllItemsets(1))
    with pytest.raises(PolicyError, match=r"parts \(max_suppressed\), not both"):
        anonymize([{"a"}, {"a"}], policy=policy, max_suppressed=1)
    with pytest.raises(TypeError, match="utilty"):
        anonymize(Transactions.of([{"a"}]), 2, AllItemsets(1), utilty=None)


def test_a_release_does_not_overwrite_what_it_was_made_from(tmp_path: Any) -> None:
    data, sets = tmp_path / "data.dat", tmp_path / "sets.txt"
    data.write_text("a b\na b\na\n")
    sets.write_text("a b\n")
    (tmp_path / "policy.toml").write_text('k = 2\nprivacy = "sets.txt"\n')
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    result = anonymize(read(data), policy=Policy.read(tmp_path / "policy.toml"))
    for path in before:
        with pytest.raises(DataError, match="is an input"):
            result.write(tmp_path / "out.dat", mapping=path)
        with pytest.raises(DataError, match=r"is an input|cannot write"):
            result.write(path)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_next_month_may_lack_items_of_the_mapping() -> None:
    month = Transactions.of([{"a", "b"}, {"a", "b"}, {"c"}, {"c"}])
    policy = Policy(2, Itemsets([["a", "b"], ["c"]]))
    mapping = anonymize(month, policy=policy).mapping
    result = apply_mapping([{"a", "b"}, {"a", "b"}], mapping, policy)
    assert result.verdict.ok
    with pytest.raises(PolicyError, match="'c' does not occur"):
        anonymize([{"a", "b"}], policy=policy)
