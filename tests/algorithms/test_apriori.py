"""Apriori step by step, on instances whose right answer is obvious by construction."""

from typing import Any, get_args

import pytest

from cli.command import Desk
from overcoat import (
    AllItemsets,
    Distances,
    Hierarchy,
    InfeasibleError,
    Itemsets,
    Pgen,
    Utility,
    anonymize,
)
from overcoat.context import Context
from overcoat.engines import Engine
from overcoat.errors import PolicyError
from overcoat.release.result import Result

CONTEXT = {engine: Context(engine=engine) for engine in get_args(Engine)}


def tree(words: str) -> Hierarchy:
    """'ab c': a and b below a node, c below another, both below the root."""
    return Hierarchy.of([(leaf, word, "*") for word in words.split() for leaf in word])


def run(rows: str, words: str, k: int, m: int, *, linkable: Any = None, **options: Any) -> Result:
    return anonymize(
        [set(row) - {"."} for row in rows.split()],
        k,
        AllItemsets(m, linkable),
        hierarchy=tree(words),
        method="apriori",
        **options,
    )


def told(result: Result) -> list[str]:
    return [
        f"{step.action} {''.join(step.items)} {''.join(step.partner)}".strip()
        + f" for {''.join(step.constraint)}"
        for step in result.trace
    ]


@pytest.mark.parametrize("engine", CONTEXT)
def test_whole_subtrees_are_merged(engine: Any) -> None:
    """b would do for a, but c has the same parent."""
    result = run("a b b c c c d d", "abc d", 2, 1, context=CONTEXT[engine])
    assert told(result) == ["merge a b for a", "merge ab c for a"]


@pytest.mark.parametrize("engine", CONTEXT)
def test_the_cheapest_generalization_is_taken(engine: Any) -> None:
    """One person has a and c. (ab) costs 2 * 5 occurrences, (cd) 2 * 9; either would do."""
    assert told(run("ac bc bc ad ad c c c d", "ab cd", 2, 2, context=CONTEXT[engine])) == [
        "merge a b for ac"
    ]


@pytest.mark.parametrize("engine", CONTEXT)
def test_of_equal_losses_the_one_that_leaves_the_first_as_it_is(engine: Any) -> None:
    """(ab) and (cd) cost the same, and a comes before c in the walk."""
    assert told(run("ac ad ad bc bc", "ab cd", 2, 2, context=CONTEXT[engine])) == [
        "merge c d for ac"
    ]


def test_general_sets_come_before_special_ones() -> None:
    """{(ab), c} is rare already, so it is c's side that moves, for one of the two rare pairs."""
    result = run("ac a a b b c c d d d ad ad bd bd", "ab cd", 2, 2)
    assert told(result) == ["merge c d for ac"]


@pytest.mark.parametrize("engine", CONTEXT)
def test_one_rare_pair_right_below_the_root_makes_everything_one(engine: Any) -> None:
    result = run("ac a a b b c c d d", "ab cd", 2, 2, context=CONTEXT[engine])
    assert list(result.mapping.groups) == ["(a|b|c|d)"]


def test_nodes_with_one_child_are_no_nodes() -> None:
    """Only a occurs below x: publishing x instead of a would change nothing."""
    hierarchy = Hierarchy.of([("a", "x", "y", "*"), ("b", "z", "*"), ("c", "z", "*")])
    result = anonymize(
        [{"a"}, {"b"}, {"c"}, {"a"}],
        2,
        AllItemsets(1),
        hierarchy=hierarchy,
        method="apriori",
    )
    assert told(result) == ["merge b c for b"]


@pytest.mark.parametrize("engine", CONTEXT)
def test_items_that_nobody_links_may_be_rare(engine: Any) -> None:
    rows = "ab a a c c d"
    assert told(run(rows, "ab cd", 2, 1, linkable=["a", "c"], context=CONTEXT[engine])) == []
    assert told(run(rows, "ab cd", 2, 2, linkable=["a", "c"], context=CONTEXT[engine])) == []
    assert told(run(rows, "ab cd", 2, 2, context=CONTEXT[engine])) == [
        "merge a b for b",
        "merge c d for d",
    ]


@pytest.mark.parametrize("engine", CONTEXT)
def test_when_fewer_than_k_have_anything_what_is_linkable_is_suppressed(engine: Any) -> None:
    result = run("ab b . . .", "ab", 3, 2, max_suppressed=100, context=CONTEXT[engine])
    assert told(result) == ["suppress a for a", "suppress b for b"]
    assert result.verdict.ok
    result = run("ab b .", "ab", 3, 2, linkable=["b"], max_suppressed=50, context=CONTEXT[engine])
    assert result.mapping.suppressed == ("b",)
    with pytest.raises(InfeasibleError) as caught:
        run("ab b .", "ab", 3, 2, max_suppressed=50, context=CONTEXT[engine])
    assert caught.value.unmet == (("b",),)
    assert caught.value.suppressed == ("a", "b")


def test_data_without_items_stay_as_they_are() -> None:
    assert anonymize(
        [set(), set()], 2, AllItemsets(2), hierarchy=tree("ab"), method="apriori"
    ).verdict.ok


def test_progress_is_told() -> None:
    seen: list[tuple[str, int]] = []
    context = Context(progress=lambda stage, n, of: seen.append((stage, n)))
    run("a b c d d", "ab cd", 2, 1, context=context)
    assert [stage for stage, _ in seen] == [
        "read",
        "policy",
        "anonymize",
        "apply",
        "verify",
        "measure",
    ]


ROWS = [set("ab"), set("ac"), set("b")]


@pytest.mark.parametrize(
    ("families", "options", "words"),
    [
        (AllItemsets(2), {"hierarchy": None}, "generalizes along a hierarchy"),
        (AllItemsets(2), {"weights": Distances({("a", "b"): 0.5})}, "cannot heed other weights"),
        (AllItemsets(2), {"weights": lambda group: 1.0}, "cannot heed other weights"),
        (Itemsets([{"a"}]), {}, "here it is explicit itemsets"),
        (Pgen(), {}, r"here it is every part of every transaction"),
        (AllItemsets(2) | AllItemsets(1), {}, "here it is all 2-itemsets, all 1-itemsets"),
        (AllItemsets(2), {"utility": Utility([["a", "b"]])}, "cannot heed utility sets"),
        (AllItemsets(2), {"utility": Utility(rest="intact")}, "cannot heed utility sets"),
    ],
)
def test_what_it_cannot_honour_it_refuses(families: Any, options: Any, words: str) -> None:
    with pytest.raises(PolicyError, match=words) as caught:
        anonymize(ROWS, 2, families, **{"hierarchy": tree("abc"), "method": "apriori", **options})
    assert len(caught.value.problems) == 1


def test_all_refusals_at_once() -> None:
    with pytest.raises(PolicyError) as caught:
        anonymize(
            ROWS,
            2,
            Pgen(),
            weights=Distances({}),
            utility=Utility([["a", "b"]]),
            method="apriori",
        )
    assert len(caught.value.problems) == 4


def test_one_utility_set_of_everything_is_none() -> None:
    whole = Utility([["a", "b", "c"]])
    result = anonymize(
        ROWS, 2, AllItemsets(2), hierarchy=tree("abc"), utility=whole, method="apriori"
    )
    assert result.verdict.ok


def test_from_the_command_line(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    desk = Desk(tmp_path, monkeypatch, capfdbinary)
    desk.write(
        {"d.dat": "1 2\n1 3\n2 3\n4\n4\n", "p.toml": 'algorithm = "apriori"\nkm = 2\nk = 2\n'}
    )
    common = ("anonymize", "d.dat", "-o", "o.dat", "--mapping", "map.json")
    done = desk.run(*common, "--policy", "p.toml", "--hierarchy", "balanced:3", "--json")
    assert done.status == 0, done.err
    assert done.json["verified"] is True
    assert desk.mapping()["groups"] == {"(1|2|3)": ["1", "2", "3"], "4": ["4"]}
    verify = ("verify", "d.dat", "o.dat", "--mapping", "map.json", "-k", "2", "--km", "2")
    assert desk.run(*verify).status == 0
    done = desk.run(*common[:2], "-o", "x.dat", "--policy", "p.toml")
    assert done.status == 2
    assert "--hierarchy balanced:5" in done.err
    assert not (tmp_path / "x.dat").exists()
