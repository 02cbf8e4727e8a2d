"""Transactions as data frames of Spark: in any order, in any number of partitions."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import pyarrow as pa

__all__ = ["list_frame", "long_frame"]


def long_frame(spark: Any, rows: Iterable[Collection[str]], rng: random.Random) -> Any:
    """Pairs (person, code), some of them twice."""
    pairs: list[tuple[str, str | None]] = []
    for number, row in enumerate(rows):
        pairs += [(f"p{number}", item) for item in row] or [(f"p{number}", None)]
    pairs += [rng.choice(pairs) for _ in range(3) if pairs]
    rng.shuffle(pairs)
    who, what = [one for one, _ in pairs], [one for _, one in pairs]
    table = pa.table({"person": pa.array(who, pa.string()), "code": pa.array(what, pa.string())})
    return spark.createDataFrame(table).repartition(rng.randint(1, 5))


def list_frame(
    spark: Any,
    rows: Iterable[Collection[str]],
    rng: random.Random,
    counts: Sequence[int] | None = None,
) -> Any:
    """Lists (codes), with how many people have each if that is given (n)."""
    lists = [rng.sample(sorted(row), len(row)) for row in rows]
    columns = {"codes": pa.array(lists, pa.list_(pa.string()))}
    if counts is not None:
        columns["n"] = pa.array(counts, pa.int64())
    return spark.createDataFrame(pa.table(columns)).repartition(rng.randint(1, 5))
