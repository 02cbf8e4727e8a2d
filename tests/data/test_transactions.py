"""Transactions made from arrays and from rows: canonical, and nobody else's."""

import hashlib
import itertools
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overcoat.context import Context
from overcoat.data import canonical
from overcoat.data.io import read
from overcoat.data.transactions import Transactions, TransactionsBuilder
from overcoat.data.vocabulary import Vocabulary
from overcoat.errors import CancelledError, DataError

SOUND: dict[str, Any] = {
    "vocabulary": Vocabulary("abc"),
    "offsets": [0, 0, 1, 3, 4],
    "codes": [0, 0, 2, 1],
    "counts": [1, 2, 3, 3_000_000_000],
}
ROWS = [((), 1), (("a",), 2), (("a", "c"), 3), (("b",), 3_000_000_000)]


def test_canonical_arrays_are_taken() -> None:
    data = Transactions(**SOUND)
    assert list(data) == ROWS
    assert data.n_transactions == 3_000_000_006
    assert data.codes.dtype == np.int32
    assert data.offsets.dtype == data.counts.dtype == np.int64


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vocabulary": "abc"}, "the vocabulary must be a Vocabulary, not str"),
        ({"offsets": []}, "offsets must have one entry more than there are rows"),
        ({"offsets": [0, 3, 1, 3, 4]}, "offsets must not fall; row 1 ends before it starts"),
        ({"offsets": [0, 0, 1, 3, 4 << 40]}, "offsets reach from 0 to 4398046511104, beyond the 4"),
        ({"offsets": [0, 0, 1, 3, 3]}, "offsets must reach from 0 to 4, the number of codes"),
        ({"offsets": [[0, 4]]}, "offsets must have one dimension, not 2"),
        ({"offsets": 4}, "offsets must have one dimension, not 0"),
        ({"codes": [0.0, 0.0, 2.0, 1.0]}, "codes must be whole numbers, not float64"),
        ({"codes": [0, 0, 2, 1 << 40]}, "codes must fit in 32 bits, which 1099511627776 does not"),
        ({"codes": [0, 0, 9, 1]}, "code 9 is that of no item; there are 3"),
        ({"codes": [0, 0, -1, 1]}, "code -1 is that of no item; there are 3"),
        ({"codes": [0, 2, 0, 1]}, "the codes of each row must ascend; those of row 2 do not"),
        ({"codes": [0, 0, 0, 1]}, "the vocabulary must be exactly what occurs; item 'c' is in no"),
        ({"counts": [1, 2, 3]}, "3 counts for 4 rows"),
        ({"counts": [1, 0, 3, 4]}, "counts must be at least 1; that of row 1 is 0"),
        ({"counts": [1 << 61] * 4}, "the counts add up to more than any number of people"),
        ({"counts": [True] * 4}, "counts must be whole numbers, not bool"),
        ({"codes": [1, 0, 2, 1]}, "row 2 is not after row 1"),
        ({"offsets": [0, 1, 1, 3, 4]}, "row 1 is not after row 0"),
        ({"positions": [0, 1]}, "positions must hold each row as often as it counts"),
        ({"positions": [-1]}, "positions must hold each row as often as it counts"),
    ],
)
def test_other_arrays_are_refused(changes: dict[str, Any], message: str) -> None:
    """With a word on what is wrong: compiled code would read beyond their ends."""
    with pytest.raises(DataError, match=message):
        Transactions(**(SOUND | changes))


def test_rows_that_are_equal_are_refused() -> None:
    with pytest.raises(DataError, match="each once; row 1 is not after row 0"):
        Transactions(Vocabulary("a"), np.array([0, 1, 2]), np.array([0, 0]), np.array([1, 1]))


def test_arrays_stay_with_their_owner() -> None:
    arrays: dict[str, Any] = {
        "offsets": np.array([0, 1, 2]),
        "codes": np.array([0, 1], np.int32),
        "counts": np.array([1, 2]),
        "positions": np.array([1, 0, 1]),
    }
    data = Transactions(Vocabulary("ab"), **arrays)
    for name, given in arrays.items():
        held = getattr(data, name)
        given[:] = 7  # the caller may go on with them
        assert 7 not in held
        with pytest.raises(ValueError, match="read-only"):
            held[0] = 7
    assert list(data) == [(("a",), 1), (("b",), 2)]


def test_what_is_read_passes_the_checks() -> None:
    data = Transactions.of([{"b", "a"}, set(), {"b"}, {"a", "b"}], keep_order=True)
    again = Transactions(
        data.vocabulary, data.offsets, data.codes, data.counts, data.positions, data.origin
    )
    assert again == data
    assert pickle.loads(pickle.dumps(data)) == data


def test_more_than_can_be_numbered_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canonical, "MOST", 3)
    refused = "4 distinct rows are more than the 3 that can be worked on at once; split the data"
    with pytest.raises(DataError, match=refused):
        Transactions(**SOUND)
    with pytest.raises(DataError, match=refused):
        Transactions.of([[], ["a"], ["b"], ["c"]])


def test_rows_with_counts() -> None:
    counts: list[Any] = [2, 3_000_000_000, 1, np.int8(4)]
    data = Transactions.of([["a"], ["b", "a"], [], ["a"]], counts=counts)
    assert list(data) == [((), 1), (("a",), 6), (("a", "b"), 3_000_000_000)]
    assert data.supports.tolist() == [3_000_000_006, 3_000_000_000]
    ordered = Transactions.of([["b"], ["a"]], counts=[2, 1], keep_order=True)
    assert ordered.positions is not None
    assert ordered.positions.tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1], "transaction 2 has no count"),
        ([1, 1, 1], "more counts than the 2 transactions"),
        ([1, 0], "transaction 2: count must be a whole number of at least 1, not 0"),
        ([1, 1.5], "transaction 2: count must be a whole number of at least 1, not 1.5"),
        ([1, True], "transaction 2: count must be a whole number of at least 1, not True"),
        ([1 << 61, 1 << 61], "the counts add up to more than any number of people"),
    ],
)
def test_counts_that_are_none(counts: list[Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Transactions.of([["a"], ["b"]], counts=counts)


def builder_of(labels: str) -> TransactionsBuilder:
    builder = TransactionsBuilder()
    for label in labels:
        builder.code(label)
    return builder


def test_rows_with_counts_in_parts() -> None:
    builder = builder_of("ba")
    builder.add_rows([0, 2, 2], [0, 1], [3_000_000_000, 5])
    builder.add([1, 1], 2)
    builder.add_rows([1, 2], [0, 1])  # rows may start anywhere
    assert list(builder.build()) == [((), 5), (("a",), 3), (("a", "b"), 3_000_000_000)]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (([0, 1, 5], [0, 1]), "offsets reach from 0 to 5, beyond the 2 codes"),
        (([-1, 1], [0, 1]), "offsets reach from -1 to 1, beyond"),
        (([0, 2, 1], [0, 1]), "offsets must not fall; row 1"),
        (([0, 2], [0, 2]), "code 2 is that of no item; there are 2"),
        (([0, 2], [0.0, 1.0]), "codes must be whole numbers, not float64"),
        (([0, 2], [0, 1], [1, 1]), "2 counts for 1 rows"),
        (([0, 2], [0, 1], [-3]), "counts must be at least 1; that of row 0 is -3"),
    ],
)
def test_arrays_that_are_no_rows(arrays: tuple[Any, ...], message: str) -> None:
    with pytest.raises(DataError, match=message):
        builder_of("ba").add_rows(*arrays)


def test_more_items_than_can_be_numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canonical, "MOST", 3)
    with pytest.raises(DataError, match="4 items are more than the 3 that can be worked on"):
        builder_of("abcd")


def test_a_digest_of_what_they_hold(tmp_path: Path) -> None:
    """It is that of an explicit sequence of bytes, so it is the same everywhere and for ever."""
    data = Transactions.of([["é"], ["b", "é"], []], counts=[1, 3_000_000_000, 2])
    by_hand = struct.pack("<3q", 2, 3, 3)
    by_hand += struct.pack("<q", 1) + b"b" + struct.pack("<q", 2) + "é".encode()
    by_hand += struct.pack("<4q", 0, 0, 2, 3) + struct.pack("<3i", 0, 1, 1)
    by_hand += struct.pack("<3q", 2, 3_000_000_000, 1)
    assert data.content_digest == hashlib.sha256(by_hand).hexdigest()

    rows = [["b", "a"], ["a"], []]
    same = [Transactions.of(rows), Transactions.of(rows[::-1], keep_order=True)]
    (tmp_path / "x.csv").write_text("a,b\na\n\n")
    same.append(read(tmp_path / "x.csv"))
    assert len({one.content_digest for one in same}) == 1
    other = [rows[:2], [*rows, []], [["ab"], ["a"], []], [["b"], ["a"], ["a"]]]
    digests = {Transactions.of(one).content_digest for one in other}
    assert len({same[0].content_digest, *digests}) == 5


def test_building_can_be_ended() -> None:
    builder = builder_of("ba")
    calls = itertools.count()
    ending = Context(cancelled=lambda: next(calls) > 0).start("read")
    builder.add_rows([0, 2], [0, 1])
    with pytest.raises(CancelledError):
        builder.build(stage=ending)
