"""Pairs in any order become transactions, whatever the ids are and however many at a time."""

import datetime
from collections.abc import Callable
from decimal import Decimal
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


DAY = datetime.datetime(2024, 2, 29)
KINDS: dict[str, Callable[[int], Any]] = {
    "strings": str,
    "numbers": int,
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
