"""`evaluate` and workloads: what they refuse, and what they take."""

import csv
import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import overcoat as oc
from overcoat.errors import DataError, InputError, MappingError, PolicyError, VerificationError
from overcoat.measures.frequent import mine_frequent
from overcoat.measures.queries import answer
from overcoat.reports.evaluation import evaluation_lines, query_table
from overcoat.reports.json import evaluation_to_json

DATA = oc.read([{"a", "b"}, {"a"}, {"b", "c"}, {"d"}])
MAPPING = oc.Mapping.of("abcd", [["a", "b"], ["c"]])
RELEASED = MAPPING.apply(DATA)


def test_another_release_is_refused() -> None:
    rows = [{"(a|b)"}, {"(a|b)"}, {"(a|b)", "c"}, {"c"}]
    with pytest.raises(VerificationError) as caught:
        oc.evaluate(DATA, rows, MAPPING)
    assert "the row {} is released 0 times, the data give it once" in str(caught.value)
    assert "the row {c} is released once, the data give it 0 times" in str(caught.value)


def test_many_differences_are_counted() -> None:
    rows = [{str(number)} for number in range(20)]
    with pytest.raises(VerificationError, match=r"… and 18 more"):
        oc.evaluate(DATA, rows, MAPPING)


def test_a_mapping_that_does_not_cover_the_data() -> None:
    with pytest.raises(MappingError, match="'d' of the data is not in the mapping"):
        oc.evaluate(DATA, RELEASED, oc.Mapping.of("abc", [["a", "b"], ["c"]]))


@pytest.mark.parametrize(
    ("offsets", "codes", "problem"),
    [
        ([0, 1], [4], "from 0 to 3"),
        ([0, 1], [-1], "from 0 to 3"),
        ([0, 2], [1, 0], "codes must rise in each query"),
        ([0, 2], [1, 1], "codes must rise in each query"),
        ([0, 1, 1], [1], "offsets must rise"),
        ([1, 2], [0, 1], "start at 0 and end"),
        ([0, 1], [0, 1], "start at 0 and end"),
        (np.zeros(0, int), [], "start at 0 and end"),
        ([0.0, 1.0], [0], "offsets must be a one-dimensional array of integers"),
        ([0, 1], [[0]], "codes must be a one-dimensional array of integers"),
    ],
)
def test_arrays_that_are_no_workload(offsets: Any, codes: Any, problem: str) -> None:
    with pytest.raises(PolicyError, match=problem):
        oc.Workload(DATA.vocabulary, np.array(offsets), np.array(codes, int), "mine")


def test_arrays_that_are_a_workload() -> None:
    queries = oc.Workload(DATA.vocabulary, np.array([0, 2, 3]), np.array([1, 2, 0]), "mine")
    assert list(queries) == [("b", "c"), ("a",)]
    assert list(oc.Workload(DATA.vocabulary, np.array([0]), np.array([], int), "mine")) == []


@pytest.mark.parametrize(
    "ask",
    [
        lambda rows: oc.draw_workload(rows, q=1),
        lambda rows: oc.Workload.of(rows, [["a"]]),
    ],
)
def test_queries_take_what_read_takes(ask: Any) -> None:
    assert all(query == ("a",) for query in ask([{"a"}, {"a"}]))


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"min_support": [5]}, r"min_support is a percentage from 0 to 100, not \[5\]"),
        ({"min_confidence": 900}, "min_confidence is a percentage from 0 to 100, not 900"),
        ({"top": -3}, "top must be a whole number of at least 1, not -3"),
        ({"workloads": [["a"]]}, "workloads must be Workloads"),
        ({"workloads": 3}, "workloads must be Workloads"),
        ({"mapping": None}, "the mapping is missing"),
    ],
)
def test_what_evaluate_refuses(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        oc.evaluate(DATA, RELEASED, **{"mapping": MAPPING, **given})


def test_one_workload_will_do() -> None:
    workload = oc.Workload.of(DATA, [["a"]])
    (answers,) = oc.evaluate(DATA, RELEASED, MAPPING, workloads=workload).answers
    assert answers.workload is workload


def test_a_count_that_is_right_by_coincidence_is_not_exact() -> None:
    """{a} has one holder before and its label one after, who might have z alone."""
    data = oc.read([{"a", "z"}, {"b"}, {"b"}])
    mapping = oc.Mapping.of("abz", [["a", "z"], ["b"]])
    utility = oc.Utility({"a": ["a"], "b": ["b"]})
    counts = oc.evaluate(data, mapping.apply(data), mapping, utility=utility).counts
    assert [(count.before, count.after, count.exact) for count in counts] == [
        (1, 1, False),
        (2, 2, True),
    ]


def test_items_of_a_group_that_do_not_occur_bring_nobody_in() -> None:
    data = oc.read([{"a"}, {"b"}])
    mapping = oc.Mapping.of("abz", [["a", "z"], ["b"]])
    utility = oc.Utility({"a": ["a"]})
    (count,) = oc.evaluate(data, mapping.apply(data), mapping, utility=utility).counts
    assert count.exact


def test_ncp_is_explained_with_and_without_a_hierarchy() -> None:
    assert "a group that spans" in evaluation_lines(oc.evaluate(DATA, RELEASED, MAPPING))
    hierarchy = oc.Hierarchy.balanced(DATA.vocabulary, 2)
    found = oc.evaluate(DATA, RELEASED, MAPPING, hierarchy=hierarchy)
    assert "closest common ancestor in the hierarchy spans" in evaluation_lines(found)


def test_no_data() -> None:
    empty = oc.Transactions.of([set(), set()])
    mapping = oc.Mapping.of([], [])
    found = oc.evaluate(empty, empty, mapping, min_support=10)
    assert found.answers == ()
    assert found.ncp == 0
    assert found.patterns is not None
    assert found.patterns.top_overlap is None
    assert "there are no itemsets held by" in evaluation_lines(found)
    assert evaluation_to_json(found)["log2_ul"] is None
    assert query_table(found).count("\n") == 1


def test_nothing_left() -> None:
    nothing = oc.Mapping.of(DATA.vocabulary, [])
    found = oc.evaluate(DATA, nothing.apply(DATA), nothing, min_support=1)
    assert [answers.avg_re for answers in found.answers] == [1, 1]
    assert found.ncp == 1
    assert found.patterns is not None
    assert found.patterns.itemsets.recall == 0
    assert found.patterns.itemsets.precision is None
    assert found.patterns.top_overlap == 0
    assert "none is seen" in evaluation_lines(found)


def test_nothing_changed() -> None:
    same = oc.Mapping.of(DATA.vocabulary, [[item] for item in DATA.vocabulary])
    found = oc.evaluate(DATA, DATA, same, min_support=1)
    assert [answers.avg_re for answers in found.answers] == [0, 0]
    assert found.ncp == 0
    assert found.patterns is not None
    assert found.patterns.rules.recall == found.patterns.rules.precision == 1
    assert found.patterns.top_overlap == 1
    assert "loss        none" in evaluation_lines(found)


def test_a_policy_or_its_parts() -> None:
    policy = oc.Policy(2, (oc.AllItemsets(2),), oc.Utility({"x": ["a", "b"], "y": ["c", "d"]}))
    for found in (
        oc.evaluate(DATA, RELEASED, MAPPING, policy=policy),
        oc.evaluate(DATA, RELEASED, MAPPING, utility=policy.utility),
    ):
        assert [(c.name, c.before, c.after) for c in found.counts] == [("x", 3, 3), ("y", 2, 1)]
    with pytest.raises(PolicyError, match=r"a whole policy, or its parts \(utility\)"):
        oc.evaluate(DATA, RELEASED, MAPPING, policy=policy, utility=policy.utility)


@pytest.mark.parametrize("wrong", [-1, 100.5, float("nan"), True, "5"])
def test_percentages(wrong: float) -> None:
    with pytest.raises(PolicyError, match="min_support is a percentage from 0 to 100"):
        oc.evaluate(DATA, RELEASED, MAPPING, min_support=wrong)
    with pytest.raises(PolicyError, match="min_confidence is a percentage from 0 to 100"):
        oc.evaluate(DATA, RELEASED, MAPPING, min_support=5, min_confidence=wrong)


def test_a_tenth_of_a_percent_is_just_that() -> None:
    data = oc.read([{"a"}] * 1000)
    same = oc.Mapping.of("a", ["a"])
    for percent, count in ((0.1, 1), (0.7, 7), (0.701, 8), (0, 1), (100, 1000)):
        found = oc.evaluate(data, data, same, min_support=percent).patterns
        assert found is not None
        assert found.min_count == count


def test_too_many_itemsets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("overcoat.measures.frequent._LIMIT", 5)
    with pytest.raises(PolicyError, match="more than 5 itemsets"):
        mine_frequent(DATA, 1)


def test_a_release_that_lacks_a_label() -> None:
    workload = oc.Workload.of(DATA, [["a"]])
    with pytest.raises(DataError, match=r"lacks the label '\(a\|b\)'"):
        answer(workload, DATA, DATA, MAPPING)


def test_a_workload_for_other_data() -> None:
    workload = oc.draw_workload(oc.read([{"x"}]), 1)
    with pytest.raises(PolicyError, match="made for other data"):
        answer(workload, DATA, RELEASED, MAPPING)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"q": 0}, "q must be a whole number of at least 1, not 0"),
        ({"q": 1, "n": 0}, "n must be a whole number of at least 1, not 0"),
        ({"q": 1, "seed": -1}, "seed must be a whole number of at least 0, not -1"),
        ({"q": 1, "by": "magic"}, "by must be items or occurrences, not 'magic'"),
        ({"q": 3}, "no transaction has more than 2 of the items"),
        ({"q": 1, "among": []}, "no transaction has more than 0 of the items"),
        ({"q": 1, "among": "ab"}, "among must list the items to ask about, not 'ab'"),
        ({"q": 1, "among": 3}, "among must list the items to ask about, not 3"),
    ],
)
def test_draws_that_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        oc.draw_workload(DATA, **options)  # type: ignore[arg-type]


def test_a_workload_does_not_change() -> None:
    workload = oc.draw_workload(DATA, 1, 3)
    with pytest.raises(ValueError, match="read-only"):
        workload.codes[0] = 1


def test_queries_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "queries.txt"
    file.write_text("# pairs\nmine: b a\nc a\nd\nx\n")
    workload = oc.Workload.read(file, DATA, sep=None, known=["x"])
    assert list(workload) == [("a", "b"), ("d",)]
    assert workload.n_dropped == 2  # nobody has c and a; nobody has x
    assert "2 queries that nobody matches are left out" in str(workload.notes[-1])
    (tmp_path / "queries.json").write_text('[["a", "b"], ["d"]]')
    again = oc.Workload.read(tmp_path / "queries.json", DATA)
    assert list(again) == list(workload)


def test_bad_queries_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "queries.txt"
    file.write_text("a b\na z\nA\n")
    with pytest.raises(PolicyError) as caught:
        oc.Workload.read(file, DATA, sep=None)
    assert [(p.line, p.message) for p in caught.value.problems] == [
        (2, "item 'z' does not occur in the data"),
        (3, "item 'A' does not occur in the data; near: 'a'"),
    ]
    file.write_text("a c\na d\n")
    with pytest.raises(PolicyError, match="nobody matches any of the queries"):
        oc.Workload.read(file, DATA, sep=None)


def test_odd_labels_in_the_table() -> None:
    data = oc.read([{'say "hi", you', "x\ny", "x\ry"}])
    same = oc.Mapping.of(data.vocabulary, [[item] for item in data.vocabulary])
    table = query_table(oc.evaluate(data, data, same, workloads=[oc.draw_workload(data, 3, 1)]))
    (_, (title, items, *numbers)) = csv.reader(io.StringIO(table, newline=""))
    assert title == "3 items, drawn by items"
    assert next(csv.reader(io.StringIO(items, newline=""))) == list(data.vocabulary)
    assert numbers == ["1", "1.0", "0.0"]


def test_measuring_can_be_cancelled_at_any_call() -> None:
    """However often the stage is called, the work ends where the call says so."""
    rng = random.Random(7)
    rows = [frozenset(rng.sample("abcdefgh", rng.randint(2, 5))) for _ in range(60)]
    result = oc.anonymize(rows, 3, oc.AllItemsets(2), max_suppressed=50)
    calls = [0]

    def cancelled(last: int) -> Callable[[], bool]:
        def at() -> bool:
            calls[0] += 1
            return calls[0] > last

        return at

    def run(last: int) -> None:
        calls[0] = 0
        context = oc.Context(cancelled=cancelled(last), threads=1)
        oc.evaluate(result, min_support=10, context=context)

    run(10**9)
    total = calls[0]
    assert total > 2000  # each query drawn, each itemset mined: not once a workload
    for last in range(0, total, total // 40):
        with pytest.raises(oc.CancelledError):
            run(last)
