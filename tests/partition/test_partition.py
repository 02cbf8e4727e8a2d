"""Partitions: one value for one partition, whatever it was made from."""

import pickle
import random

import numpy as np
import pytest

import overcoat as oc
from overcoat.errors import MappingError
from overcoat.partition import Partition


def test_equal_partitions_are_equal_values() -> None:
    rng = random.Random(1)
    for _ in range(500):
        n = rng.randint(0, 9)
        group_of = [rng.randint(-1, 4) for _ in range(n)]
        names = rng.sample(range(100), 5)
        renamed = [-1 if group < 0 else names[group] for group in group_of]
        one, other = Partition(group_of), Partition(np.array(renamed, np.int64))
        assert one == other
        assert hash(one) == hash(other)
        assert pickle.loads(pickle.dumps(one)) == one
        groups = [group.tolist() for group in one.groups]
        assert Partition.of(groups, n) == one
        # By the definition: the same group exactly when the same number was given.
        for i in range(n):
            for j in range(n):
                same = group_of[i] == group_of[j] >= 0
                assert (one.group_of[i] == one.group_of[j] >= 0) == same
        assert [min(group) for group in groups] == one.firsts.tolist() == sorted(one.firsts)
        assert one.suppressed.tolist() == [i for i in range(n) if group_of[i] < 0]
        sizes = [group_of.count(group) if group >= 0 else 0 for group in group_of]
        assert one.size_of.tolist() == sizes


def test_different_partitions_differ() -> None:
    assert Partition([0, 0, 1]) != Partition([0, 1, 1])
    assert Partition([0, -1]) != Partition([0, 1])
    assert Partition([0]) != [0]


def test_moving() -> None:
    partition = Partition([0, 0, 2, -1])
    assert partition.moved(1, 2) == Partition([0, 1, 1, -1])
    assert partition.moved(0, 0) == Partition([0, 1, 2, -1])
    assert partition.moved(2, -1) == Partition([0, 0, -1, -1])
    assert partition.moved(3, 0) == Partition([0, 0, 2, 0])
    assert partition.moved(3, 3) == Partition([0, 0, 2, 3])


@pytest.mark.parametrize(
    ("given", "words"),
    [([[0]], "one whole number"), ([0.5], "one whole number"), ([-2, 0], "at least -1, not -2")],
)
def test_what_is_no_partition(given: object, words: str) -> None:
    with pytest.raises(MappingError, match=words):
        Partition(given)  # type: ignore[arg-type]


def test_what_is_no_set_of_groups() -> None:
    with pytest.raises(MappingError, match="item 1 is in a group twice or in two groups"):
        Partition.of([[0, 1], [1]], 2)
    with pytest.raises(MappingError, match="no item 5 among 2"):
        Partition.of([[5]], 2)


def test_nobody_can_change_one() -> None:
    partition = Partition([0, 0])
    with pytest.raises(ValueError, match="read-only"):
        partition.group_of[0] = 1


# -- a mapping is a partition with labels, and a mapping in Python's sense ----------------------


def test_a_mapping_is_a_mapping() -> None:
    mapping = oc.Mapping.of("abcd", [["a", "b"], ["c"]])
    assert list(mapping) == ["a", "b", "c", "d"]
    assert len(mapping) == 4
    assert "a" in mapping
    assert "z" not in mapping
    assert dict(mapping) == {"a": "(a|b)", "b": "(a|b)", "c": "c", "d": None}
    assert list(mapping.items())[-1] == ("d", None)
    assert mapping.get("z", "nothing") == "nothing"
    with pytest.raises(KeyError):
        mapping["z"]
    assert hash(mapping) == hash(oc.Mapping.of("abcd", [["b", "a"], ["c"]]))
    assert oc.Mapping.from_labels(dict(mapping)) == mapping
    assert pickle.loads(pickle.dumps(mapping)) == mapping


def test_a_mapping_as_a_frame() -> None:
    frame = oc.Mapping.of("abc", [["a", "b"]]).to_frame()
    assert frame.to_dict(as_series=False) == {
        "item": ["a", "b", "c"],
        "label": ["(a|b)", "(a|b)", None],
        "group_size": [2, 2, 0],
    }


def test_groups_that_are_none_are_refused_in_words() -> None:
    with pytest.raises(MappingError, match="item 'z' of a group is not in the vocabulary"):
        oc.Mapping.of("ab", [["a", "z"]])
    with pytest.raises(MappingError, match="item 'a' is in a group twice or in two groups"):
        oc.Mapping.of("ab", [["a"], ["a", "b"]])
