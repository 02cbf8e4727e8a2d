"""Groups with names: exactly or nearly a set or a node, never colliding; and the codebook."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import load_workbook

import overcoat as oc
from overcoat.data.io import read
from overcoat.data.origin import Origin
from overcoat.errors import DataError, PolicyError
from overcoat.mapping import Mapping
from overcoat.partition import Partition
from overcoat.policy.policy import Policy
from overcoat.release.naming import group_names
from overcoat.release.sinks import Sink

ITEMS = "abcdefghij"


def bound(**parts: Any) -> Any:
    data = oc.Transactions.of([set(ITEMS)] * 5)
    return Policy(1, (), **parts).bind(data, privacy=False)


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([[0, 1, 2, 3, 4]], ["five"]),
        ([[0, 1, 2, 3]], ["five(4/5)"]),
        ([[0, 1, 2]], [None]),  # three of five are not nearly all
        ([[0], [5, 6]], [None, "two"]),
        ([[7, 8, 9]], [None]),  # the rest has no name
        ([[0, 1, 2, 3, 4, 5]], [None]),  # across two sets
    ],
)
def test_names_of_sets(groups: list[list[int]], expected: list[str | None]) -> None:
    policy = bound(utility={"five": list("abcde"), "two": ["f", "g"]})
    assert group_names(policy, Partition.of(groups, 10), "utility") == expected
    assert group_names(policy, Partition.of(groups, 10), None) == [None] * len(groups)


def test_a_set_without_a_name_gives_none() -> None:
    policy = bound(utility=[["a", "b"]])
    assert group_names(policy, Partition.of([[0, 1]], 10), "utility") == [None]


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([[0, 1]], ["ab"]),
        ([[0, 1, 2, 3, 4]], ["first"]),
        ([[0, 1, 2, 3]], ["first(4/5)"]),
        ([[0, 2]], [None]),
        ([[0, 9]], [None]),  # together only below the root
        ([list(range(10))], [None]),  # the root says nothing
        ([[8, 9]], ["only"]),  # the lowest of two nodes with the same items
    ],
)
def test_names_of_nodes(groups: list[list[int]], expected: list[str | None]) -> None:
    paths: list[tuple[str, ...]] = [("a", "ab", "first", "*"), ("b", "ab", "first", "*")]
    paths += [(leaf, "cde", "first", "*") for leaf in "cde"]
    paths += [(leaf, "fgh", "*") for leaf in "fgh"]
    paths += [(leaf, "only", "above", "*") for leaf in "ij"]
    policy = bound(hierarchy=oc.Hierarchy.of(paths))
    assert group_names(policy, Partition.of(groups, 10), "hierarchy") == expected


ROWS = [{"a", "c"}, {"b", "d"}, {"a"}, {"d"}]


def test_a_release_with_names() -> None:
    sets = {"letters: a, b": ["a", "b"], "c": ["c", "d"]}
    result = oc.anonymize(ROWS, 2, oc.AllItemsets(2), utility=sets, label_from="utility")
    # One set is called like an item: its label must not be.
    assert result.mapping.groups == {"letters: a, b": ("a", "b"), "c#2": ("c", "d")}
    assert Mapping.from_json(json.loads(result.mapping.dumps())) == result.mapping
    assert oc.verify(result).ok
    plain = oc.anonymize(ROWS, 2, oc.AllItemsets(2), utility=sets)
    assert plain.mapping.partition == result.mapping.partition
    assert plain.verdict == result.verdict


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"label_from": "hierarchy"}, "labels from the hierarchy need one"),
        ({"label_from": "utility"}, "labels from utility sets need sets that have names"),
        ({"label_from": "utility", "utility": [["a", "b"]]}, "sets that have names"),
        ({"label_from": "nodes"}, "labels come from utility or hierarchy, not from 'nodes'"),
    ],
)
def test_names_need_something(options: dict[str, Any], words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        oc.anonymize(ROWS, 2, oc.AllItemsets(1), **options)


NAMES = st.sampled_from(["a", "b", "(a|b)", "x", "(c|d)", "x#2", "", " ", "x(4/5)", "é"])


@given(names=st.lists(NAMES | st.none(), min_size=3, max_size=3))
@settings(derandomize=True, deadline=None, max_examples=200)
def test_labels_never_collide(names: list[str | None]) -> None:
    vocabulary = oc.Transactions.of([["a", "b", "c", "d", "e", "f", "(a|b)", "x"]]).vocabulary
    groups = [[vocabulary.code(item) for item in pair] for pair in ("ab", "cd", "ef")]
    partition = Partition.of([*groups, [vocabulary.code("x")]], len(vocabulary))
    every = [None, *names] if partition.groups[0][0] == vocabulary.code("x") else [*names, None]
    mapping = Mapping.over(vocabulary, partition, every)
    assert len(set(mapping.labels)) == 4
    for label, items in mapping.groups.items():
        assert items == (label,) or label not in vocabulary
    assert Mapping.from_json(json.loads(mapping.dumps())) == mapping


# -- the codebook ---------------------------------------------------------------------------------


def result_with_names() -> oc.Result:
    data = oc.read([{"=a", "c"}, {"b", "d"}, {"=a"}, {"d"}, {"z"}])
    names = {"=a": 'the "first", of all', "z": "a rare one"}
    object.__setattr__(data, "origin", Origin(names=names))
    return oc.anonymize(
        data,
        2,
        oc.AllItemsets(1),
        utility=oc.Utility({"first: x": ["=a", "b"], "z": ["z"]}),
        max_suppressed=20,
    )


ROWS_OF_IT = [
    ("=a", 'the "first", of all', "(=a|b)", 2, "first: x", "yes"),
    ("b", None, "(=a|b)", 2, "first: x", "yes"),
    ("c", None, "(c|d)", 2, None, None),
    ("d", None, "(c|d)", 2, None, None),
    ("z", "a rare one", None, None, "z", "no"),
]


def test_the_codebook_says_what_became_of_each_item() -> None:
    frame = result_with_names().codebook()
    assert frame.columns == ["item", "description", "label", "group_size", "set", "exact"]
    assert frame.rows() == ROWS_OF_IT


def test_it_is_written_with_the_release(tmp_path: Path) -> None:
    result = result_with_names()
    for name in ("b.csv", "b.tsv", "b.csv.gz", "b.xlsx"):
        result.write(tmp_path / "o.csv", codebook=tmp_path / name)
    text = (tmp_path / "b.csv").read_text()
    assert text.splitlines()[:2] == [
        "item,description,label,group_size,set,exact",
        '=a,"the ""first"", of all",(=a|b),2,first: x,yes',
    ]
    assert text.splitlines()[-1] == "z,a rare one,,,z,no"
    assert gzip.decompress((tmp_path / "b.csv.gz").read_bytes()).decode() == text
    assert (tmp_path / "b.tsv").read_text().splitlines()[3] == "c\t\t(c|d)\t2\t\t"
    sheet = load_workbook(tmp_path / "b.xlsx").active
    assert sheet is not None
    rows = [tuple(cell.value for cell in row) for row in sheet]
    assert rows == [("item", "description", "label", "group_size", "set", "exact"), *ROWS_OF_IT]
    assert sheet["A2"].data_type == "s"
    again = tmp_path / "again.xlsx"
    result.write(tmp_path / "o.csv", codebook=again)
    assert again.read_bytes() == (tmp_path / "b.xlsx").read_bytes()


def test_excel_takes_it_for_utf8_where_it_took_the_input(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes("\ufeffid,item\n1,ä\n2,ä\n".encode())
    result = oc.anonymize(read(path, id="id", item="item"), 2, oc.AllItemsets(1))
    result.write(tmp_path / "o.csv", codebook=tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_bytes().startswith(b"\xef\xbb\xbfitem")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("b.pdf", "a codebook is a table; name the file .csv, .tsv or .xlsx"),
        ("b", "a codebook is a table"),
        ("b.xlsx.gz", "leave .gz out"),
    ],
)
def test_names_that_a_codebook_cannot_have(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        result_with_names().write(tmp_path / "o.csv", codebook=tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_all_or_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        raise RuntimeError("no")

    targets = {"mapping": tmp_path / "m.json", "codebook": tmp_path / "b.csv"}
    with pytest.raises(RuntimeError):
        result_with_names().write(tmp_path / "o.csv", report=fail, **targets)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DataError):
        result_with_names().write(tmp_path / "o.csv", codebook=tmp_path / "o.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_sink_of_ones_own_has_room() -> None:
    Sink().check_room(oc.read([{"a"}]), oc.read([{"a"}]).layout)  # type: ignore[arg-type]
