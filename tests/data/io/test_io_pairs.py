"""Pairs in any order become transactions, whatever the ids are and however many at a time."""

import datetime
from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overcoat.data.io import numbering, pairs
from overcoat.data.io.numbering import number_values
from overcoat.data.io.pairs import Pairs
from overcoat.data.transactions import TransactionsBuilder

FAST = settings(
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def first_sight(values: list[Any]) -> list[int]:
    seen: dict[Any, int] = {}
    return [seen.setdefault(value, len(seen)) for value in values]


@given(
    table=st.lists(
        st.tuples(st.integers(0, 6), st.sampled_from(["a", "b", "c", None])), min_size=1
    ),
    step=st.integers(1, 9),
    cut=st.integers(0, 20),
    by_columns=st.booleans(),
)
@FAST
def test_pairs_in_any_order(
    table: list[tuple[int, str | None]],
    step: int,
    cut: int,
    by_columns: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected: dict[int, set[str]] = {}
    for who, what in table:
        expected.setdefault(who, set()).update([] if what is None else [what])
    builder = TransactionsBuilder(keep_order=True)
    collected = Pairs(builder)
    with monkeypatch.context() as patch:
        patch.setattr(pairs, "_STEP", step)
        patch.setattr(numbering, "_STEP", step)
        for part in (table[:cut], table[cut:]):
            ids, items = [who for who, _ in part], [what for _, what in part]
            if by_columns:
                collected.add_columns(pl.Series(ids), collected.encode_items(items))
            else:
                collected.add(ids, items)
        collected.finish()
    data = builder.build()
    distinct = [set(row) for row, _ in data]
    assert data.positions is not None
    assert [distinct[row] for row in data.positions.tolist()] == list(expected.values())


@given(
    table=st.lists(
        st.tuples(
            st.integers(0, 9),
            *[st.sampled_from(["a", "b", "c", "d", None])] * 2,
        ),
        min_size=1,
        max_size=40,
    ),
    cuts=st.lists(st.integers(1, 39), max_size=6),
    late=st.one_of(st.none(), st.integers(0, 9)),
    step=st.integers(1, 9),
)
@FAST
def test_pairs_whose_ids_ascend(
    table: list[tuple[int, str | None, str | None]],
    cuts: list[int],
    late: int | None,
    step: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are handed over on the way; one that comes too late takes all of it back."""
    monkeypatch.setattr(pairs, "_STEP", step)
    table = sorted(table, key=lambda row: row[0])
    if late is not None:
        table.append((late, "e", None))
    expected: dict[int, set[str]] = {}
    for who, *held in table:
        expected.setdefault(who, set()).update(one for one in held if one)
    for wide in (False, True):
        builder = TransactionsBuilder(keep_order=True)
        builder.add([builder.code("before")])
        collected = Pairs(builder)
        bounds = [0, *sorted({cut for cut in cuts if cut < len(table)}), len(table)]
        for start, stop in pairwise(bounds):
            columns = [list(column) for column in zip(*table[start:stop], strict=True)]
            codes = [collected.encode_items(column) for column in columns[1:]]
            if wide:
                collected.add_columns(pl.Series(columns[0]), *codes)
            else:
                twice = pl.Series(columns[0]).repeat_by(2).explode()
                collected.add_columns(twice, np.column_stack(codes).reshape(-1))
        collected.finish()
        data = builder.build()
        distinct = [set(row) for row, _ in data]
        assert data.positions is not None
        rows = [distinct[row] for row in data.positions.tolist()]
        assert rows == [{"before"}, *expected.values()]


def test_ways_to_add_can_be_mixed() -> None:
    builder = TransactionsBuilder()
    collected = Pairs(builder)
    collected.add_columns(pl.Series(["1", "2"]), collected.encode_items(["a", "b"]))
    collected.add(["2", "3"], ["c", "d"])
    collected.add_columns(pl.Series(["3", "4"]), collected.encode_items(["e", "f"]))
    collected.finish()
    assert list(builder.build()) == [
        *((("a",), 1), (("b", "c"), 1), (("d", "e"), 1), (("f",), 1)),
    ]


DAY = datetime.datetime(2024, 2, 29)
KINDS: dict[str, Callable[[int], Any]] = {
    "strings": str,
    "numbers": int,
    "numbers far apart": lambda n: n * 10**12,
    "numbers around 0": lambda n: n - 150,
    "small numbers": lambda n: n - 2**63,
    "large numbers": lambda n: 2**63 - 1 - n,
    "floats": lambda n: n / 3,
    "booleans": lambda n: n % 2 == 0,
    "dates": lambda n: (DAY + datetime.timedelta(n)).date(),
    "times": lambda n: DAY + datetime.timedelta(seconds=n),
    "decimals": lambda n: Decimal(n) / 4,
    "bytes": lambda n: str(n).encode(),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ["sorted", "any"])
def test_numbers_in_order_of_first_sight(
    kind: str, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numbering, "_STEP", 50)
    values = [KINDS[kind](n) for n in np.random.default_rng(2).integers(0, 300, 1000).tolist()]
    if order == "sorted":
        values.sort()
    pieces = [pl.Series(values[:400]), pl.Series(values[400:401]), pl.Series(values[401:])]
    assert number_values(list(pieces)).tolist() == first_sight(values)


@pytest.mark.parametrize("kind", KINDS)
def test_ids_of_any_kind(kind: str) -> None:
    ids = sorted({KINDS[kind](n) for n in range(20)})
    builder = TransactionsBuilder()
    collected = Pairs(builder)
    for part in (ids[:7], ids[6:]):
        items = [str(ids.index(one)) for one in part]
        collected.add_columns(pl.Series(part), collected.encode_items(items))
    collected.finish()
    assert builder.build().n_transactions == len(ids)


def test_equal_hashes_of_different_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are noticed, and another hash is taken."""
    values = [str(n) for n in np.random.default_rng(1).integers(0, 300, 1000)]
    hashes, seeds = numbering._hashes, []

    def poor(column: pl.Series, seed: int, tell: Callable[[], None]) -> Any:
        seeds.append(seed)
        good = hashes(column, seed, tell)
        return good % np.uint64(100) if seed == 0 else good

    monkeypatch.setattr(numbering, "_hashes", poor)
    assert number_values([values[:10], pl.Series(values[10:])]).tolist() == first_sight(values)
    assert seeds == [0, 1]
