"""Policies: what is read, what is refused, and that everything wrong is told at once."""

import json
from pathlib import Path

import numpy as np
import pytest

from overcoat import AllItemsets, Hierarchy, Itemsets, Pgen, Policy, Utility
from overcoat.data.io import read
from overcoat.data.transactions import Transactions
from overcoat.data.vocabulary import Vocabulary
from overcoat.errors import PolicyError
from overcoat.policy.binding import Domain, Lint
from overcoat.policy.config import read_settings, state_policy
from overcoat.policy.hierarchy import Tree
from overcoat.policy.sets import Sets
from overcoat.policy.weights import Distances, TreeWeights

ITEMS = ("a", "b", "c", "whole milk", "n:x", "038", "a,b", "x:")


def resolve(
    tmp_path: Path, text: str, sep: str | None = "", items: tuple[str, ...] = ITEMS
) -> tuple[list[tuple[str | None, tuple[str, ...]]], Lint]:
    path = tmp_path / "sets.txt"
    path.write_text(text, encoding="utf-8")
    lint = Lint()
    found = Sets.read(path, sep=sep).resolve(Domain(Vocabulary(items), 3), lint)
    return [(entry.name, entry.items) for entry in found], lint


@pytest.mark.parametrize(
    ("line", "sep", "expected"),
    [
        ("a b", None, (None, ("a", "b"))),
        ("b a", None, (None, ("a", "b"))),
        ("p1: a b", None, ("p1", ("a", "b"))),
        ("p1:a b", None, ("p1", ("a", "b"))),
        ("two words: a b", None, ("two words", ("a", "b"))),
        ("n:x a", None, (None, ("a", "n:x"))),
        ("set: n:x a", None, ("set", ("a", "n:x"))),
        ("x: a", None, (None, ("a", "x:"))),
        ("a, b", ",", (None, ("a", "b"))),
        ("milk: whole milk, a", ",", ("milk", ("a", "whole milk"))),
        ('"a,b",c', ",", (None, ("a,b", "c"))),
        ("a;b", ";", (None, ("a", "b"))),
        # The data has no separator of its own (a table): commas if there are any.
        ("a,b,c", "", (None, ("a", "b", "c"))),
        ("a b", "", (None, ("a", "b"))),
        ("whole milk", "", (None, ("whole milk",))),
        ("dairy: whole milk, a", "", ("dairy", ("a", "whole milk"))),
    ],
)
def test_how_a_line_is_read(
    tmp_path: Path, line: str, sep: str | None, expected: tuple[str | None, tuple[str, ...]]
) -> None:
    found, lint = resolve(tmp_path, f"# comment\n\n{line}\n", sep)
    assert not lint.errors
    assert found == [expected]


def test_unknown_items_come_with_near_matches(tmp_path: Path) -> None:
    _, lint = resolve(tmp_path, "a Whole\nwhole-milk b\n", None, ("a", "b", "whole_milk"))
    assert [str(problem).split("/")[-1] for problem in lint.errors] == [
        "sets.txt:1: item 'Whole' does not occur in the data; near: 'whole_milk'",
        "sets.txt:2: item 'whole-milk' does not occur in the data; near: 'whole_milk'",
    ]


@pytest.mark.parametrize(
    ("line", "item", "why"),
    [
        ("a cerebral occl: b c", "occl:", "the line starts with the item 'a'"),
        ("p:q: a b", "q:", "a name ends at the first colon, here after 'p'"),
    ],
)
def test_names_that_are_not_recognised(tmp_path: Path, line: str, item: str, why: str) -> None:
    _, lint = resolve(tmp_path, f"{line}\n", None)
    (told,) = (error.message for error in lint.errors if repr(item) in error.message)
    assert f"if this colon ends the name of the set: {why}; choose another name" in told
    # What the hint says works.
    path = tmp_path / "sets.json"
    name = line.rpartition(":")[0]
    path.write_text(json.dumps({name: ["b"]}), encoding="utf-8")
    (found,) = Sets.read(path).resolve(Domain(Vocabulary(ITEMS), 3), lint := Lint())
    assert (found.name, found.items, lint.errors) == (name, ("b",), [])


def test_no_word_on_names_where_there_are_no_lines() -> None:
    lint = Lint()
    Sets.of([["q:"]]).resolve(Domain(Vocabulary(["a"]), 3), lint)
    assert [error.message for error in lint.errors] == ["item 'q:' does not occur in the data"]


def test_json_sets_know_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "sets.json"
    path.write_text('[\n["a", "b"],\n["c"],\n["zzz"]\n]\n')
    lint = Lint()
    found = Sets.read(path).resolve(Domain(Vocabulary(ITEMS), 3), lint)
    assert [entry.items for entry in found] == [("a", "b"), ("c",), ()]
    assert lint.errors[0].line == 4
    path.write_text(json.dumps({"p": ["a"]}))
    assert Sets.read(path).resolve(Domain(Vocabulary(ITEMS), 3), Lint())[0].name == "p"
    for text, message in (("{", "not JSON"), ("3", "list of lists"), ("[1]", "not a set")):
        path.write_text(text)
        with pytest.raises(PolicyError, match=message):
            Sets.read(path)


def test_everything_wrong_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "data.dat").write_text("a b\nb c\n")
    (tmp_path / "privacy.txt").write_text("a zz\nempty:\n")
    (tmp_path / "utility.txt").write_text("u1: a b\nu1: b c\n")
    (tmp_path / "tree.csv").write_text("a;x;*\nb;x;*\nb;y;*\nc;y;+\n")
    policy = state_policy(
        {
            "k": 0,
            "max_suppressed": 200,
            "privacy": str(tmp_path / "privacy.txt"),
            "utility": str(tmp_path / "utility.txt"),
            "hierarchy": str(tmp_path / "tree.csv"),
            "km": 0,
        }
    )
    with pytest.raises(PolicyError) as caught:
        policy.bind(read(tmp_path / "data.dat"))
    told = str(caught.value).replace(f"{tmp_path}/", "")
    for expected in (
        "privacy.txt:1: item 'zz' does not occur in the data",
        "privacy.txt:2: set 'empty' is empty",
        "utility.txt:2: item 'b' is in set 'u1' (line 1) already",
        "utility.txt:2: the name 'u1' was given before",
        "tree.csv:3: leaf 'b' has a path already",
        "tree.csv:4: the path ends in '+', but the root is '*' (line 1)",
        "k must be a whole number of at least 1, not 0",
        "max_suppressed (s) is a percentage from 0 to 100, not 200",
        "m must be a whole number of at least 1, not 0",
    ):
        assert expected in told


def test_notes_do_not_stop_the_work() -> None:
    data = Transactions.of([{"a", "b"}, {"c"}])
    policy = Policy(1, (Itemsets([["a", "b"], ["b", "a"], ["a", "b", "c"], ["a", "a"]]),))
    assert [str(note) for note in policy.bind(data).notes] == [
        "k = 1 protects nobody: every itemset that matches someone passes",
        "item 'a' stands twice in the set",
        "the set was given before",
        "the set has 3 items, the largest transaction 2: nobody matches it whole, its parts are "
        "protected",
    ]
    assert policy.bind(data).n_constraints == 3


def test_known_and_ignored_items_drop_out() -> None:
    data = Transactions.of([{"a", "b"}] * 2)
    families = (Itemsets([["a", "zz"], ["zz"]]),)
    with pytest.raises(PolicyError, match="'zz' does not occur"):
        Policy(2, families).bind(data)
    for policy in (
        Policy(2, families, known={"zz"}),
        Policy(2, families, ignore_unknown=True),
    ):
        bound = policy.bind(data)
        assert bound.n_constraints == 1
        assert "left out" in str(bound.notes[0])


def test_toml_holds_a_whole_policy(tmp_path: Path) -> None:
    (tmp_path / "hierarchy.csv").write_text("a;x;*\nb;x;*\nc;*\n")
    (tmp_path / "policy.toml").write_text(
        """
k = 2
max-suppressed = 33.4
privacy = [["a", "b"], ["c"]]
km = 1
linkable = ["a"]
pgen = true
rest = "intact"
hierarchy = "hierarchy.csv"
algorithm = "coat"
[utility]
ab = ["a", "b"]
"""
    )
    data = Transactions.of([{"a", "b"}, {"a"}, {"c"}, {"c"}])
    bound = Policy.read(tmp_path / "policy.toml").bind(data)
    assert bound.k == 2
    assert bound.budget == 1
    assert [family.n_constraints for family in bound.families] == [2, 1, 1]
    assert [block.name for block in bound.utility.named] == ["ab"]
    assert bound.utility.block_of.tolist() == [0, 0, 1]
    assert bound.hierarchy is not None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k = ", r"policy.toml:1: not TOML"),
        ("k = 2\nkk = 3", r"policy.toml:2: unknown key 'kk'"),
        ("k = 'five'", r"policy.toml:1: k must be a whole number"),
        ("k = true", r"policy.toml:1: k must be a whole number"),
        ("k = 2\npgen = 1", r"policy.toml:2: pgen must be true or false"),
        ("k = 2\nprivacy = ['a', 'b']", r"policy.toml:2: 'a' is not a set of items"),
    ],
)
def test_toml_problems_have_lines(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(text)
    with pytest.raises(PolicyError, match=message):
        read_settings(path)


def test_rest_is_one_block_or_many() -> None:
    data = Transactions.of([set("abcde")])
    for rest, blocks in (("together", [0, 0, 1, 1, 1]), ("intact", [0, 0, 1, 2, 3])):
        utility = Utility([["a", "b"]], rest=rest)  # type: ignore[arg-type]
        bound = Policy(1, (Pgen(),), utility).bind(data)
        assert bound.utility.block_of.tolist() == blocks
    with pytest.raises(PolicyError, match="rest must be together or intact"):
        Utility(rest="apart")  # type: ignore[arg-type]


def test_hierarchy_weights_count_only_what_occurs() -> None:
    tree = Hierarchy.of([("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("zz", "x", "*")])
    vocabulary = Vocabulary(["a", "b", "c"])
    weights = TreeWeights(tree.tree(vocabulary))
    assert weights.denominator == 3
    assert weights.weight(np.array([0, 1], np.int32)) == 2
    assert weights.weight(np.array([0, 2], np.int32)) == 3


def test_an_item_the_hierarchy_lacks_is_an_error() -> None:
    hierarchy = Hierarchy.of([("a", "x", "*"), ("b", "x", "*")])
    with pytest.raises(PolicyError, match=r"item 'x' .* inner node") as caught:
        hierarchy.tree(Vocabulary(["a", "x", "q"]))
    assert len(caught.value.problems) == 2


def test_a_leaf_may_share_its_name_with_an_inner_node() -> None:
    tree = Hierarchy.of([("042", "042", "*"), ("043", "042", "*")]).tree(Vocabulary(["042", "043"]))
    assert TreeWeights(tree).weight(np.array([0, 1], np.int32)) == 2


def test_balanced_hierarchies() -> None:
    items = [str(i) for i in range(1, 27)]
    hierarchy = Hierarchy.balanced(items, 5)
    assert {len(path) for path in hierarchy.ancestors.values()} == {3}
    tree = hierarchy.tree(Vocabulary(items))
    weigh = TreeWeights(tree).weight
    assert weigh(np.array([0, 4], np.int32)) == 5
    assert weigh(np.array([0, 5], np.int32)) == 25
    assert weigh(np.array([0, 25], np.int32)) == 26
    assert len(Hierarchy.balanced(["a"]).ancestors["a"]) == 1


def test_distances(tmp_path: Path) -> None:
    path = tmp_path / "distances.csv"
    path.write_text("# pairs\na,b,0.25\nb,c,0.5\nq,r,1\n")
    weights = Distances.read(path).bind(Vocabulary("abc"), Lint())
    denominator = weights.denominator
    assert weights.weight(np.array([0, 1], np.int32)) == denominator // 4
    assert weights.weight(np.array([0, 1, 2], np.int32)) == denominator  # a, c are not named
    path.write_text("a,b\na,b,x\na,b,1.5\n")
    with pytest.raises(PolicyError) as caught:
        Distances.read(path)
    assert [problem.line for problem in caught.value.problems] == [1, 2, 3]


def test_the_star_weighs_everything_one() -> None:
    assert TreeWeights(Tree.star(4)).weight(np.array([1, 3], np.int32)) == 1


def test_no_privacy_is_refused() -> None:
    with pytest.raises(PolicyError, match="nothing would be protected"):
        Policy(2, ()).bind(Transactions.of([{"a"}]))
    with pytest.raises(PolicyError, match="is not a family"):
        Policy(2, (["a", "b"],)).bind(Transactions.of([{"a"}]))  # type: ignore[arg-type]


def test_families_count_their_constraints() -> None:
    data = Transactions.of([set("abcde")])
    assert Policy(2, (AllItemsets(2),)).bind(data).n_constraints == 10
    assert Policy(2, (AllItemsets(2, ["a", "b", "c"]),)).bind(data).n_constraints == 3


def test_a_policy_that_protects_nothing_is_refused() -> None:
    data = Transactions.of([{"a", "b"}] * 2)
    for family in (Itemsets([["zz"]]), AllItemsets(2, ["zz"])):
        with pytest.raises(PolicyError, match="nothing is protected"):
            Policy(2, (family,), ignore_unknown=True).bind(data)
    both = Policy(2, (Itemsets([["zz"]]), AllItemsets(1)), ignore_unknown=True).bind(data)
    assert any("none names an item that occurs" in str(note) for note in both.notes)
