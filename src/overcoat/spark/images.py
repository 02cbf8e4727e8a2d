"""Rows under a mapping, on the cluster, and the release they make."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from overcoat.context import Stage
from overcoat.data.vocabulary import Vocabulary
from overcoat.mapping import Mapping
from overcoat.spark.jobs import Jobs
from overcoat.spark.tables import Table

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["counted", "image_of", "labels_in", "literal", "release_of"]

_HEAVY = 200_000  # distinct rows that begin alike; more are numbered apart, by what comes next
_DEPTH = 6  # numbers at the beginning of a row that are looked at for that
_PIECE = 1 << 20  # copies of a row that are made at once
_PER_FILE = 2_000_000  # places of a table (rows, and items of them) in one file, about


def literal(values: Sequence[Any], kind: str) -> Column:
    """Return an array as a constant, in which a place is found at once.

    Spark computes it from one string before the work begins; as an array of constants it would be
    thousands of expressions.
    """
    from pyspark.sql import functions as F  # noqa: N812

    return F.from_json(F.lit(json.dumps(list(values))), f"array<{kind}>")


def labels_in(vocabulary: Vocabulary, mapping: Mapping) -> tuple[Vocabulary, list[int]]:
    """Return the labels of the items that occur, and for each item the number of its; -1: none."""
    said = [mapping[item] for item in vocabulary]
    labels = Vocabulary(label for label in said if label is not None)
    return labels, [-1 if label is None else labels.code(label) for label in said]


def image_of(rows: DataFrame, numbers: Sequence[int]) -> DataFrame:
    """Return distinct rows with each code replaced by the number of its label, and their counts.

    Rows that have become equal are still apart: often few are, and to bring these together all have
    to move.

    Parameters
    ----------
    numbers : by code; -1 where the item is suppressed
    """
    from pyspark.sql import functions as F  # noqa: N812

    table = literal(numbers, "int")
    mapped = F.transform("row", lambda code: F.get(table, code))
    kept = F.array_distinct(F.filter(mapped, lambda number: number >= 0))
    return rows.select(F.sort_array(kept).alias("row"), "n")


def counted(rows: DataFrame) -> DataFrame:
    """Bring rows together that are equal."""
    from pyspark.sql import functions as F  # noqa: N812

    return rows.groupBy("row").agg(F.sum("n").alias("n"))


def release_of(
    rows: DataFrame, labels: Vocabulary, like: Table, jobs: Jobs, stage: Stage
) -> DataFrame:
    """Return the release that rows of labels make: one row a person, or a label of one.

    Rows come in canonical order, and persons are numbered in it, as on one machine: what a number
    says is what the row says. Whose items are all gone has a row without any.

    Parameters
    ----------
    rows : rows of numbers of labels (``row``), and how often each is (``n``); distinct ones, if the
        layout has counts
    like : whose layout it gets
    """
    from pyspark.sql import functions as F  # noqa: N812

    names = literal(list(labels), "string")
    held = F.transform("row", lambda number: F.get(names, number))
    layout = like.layout
    # Labels are put in before rows are copied: once a distinct row, not once a person.
    placed = _placed(rows, jobs, stage).select(held.alias("held"), "n", "first")
    if like.counted is not None:
        return placed.select(F.col("held").alias(layout.items), F.col("n").alias(like.counted))
    # A row that many people have is copied in pieces, because an array has at most 2^31 places.
    pieces = F.sequence(F.lit(0).cast("bigint"), F.floor((F.col("n") - 1) / F.lit(_PIECE)))
    pieced = placed.select("held", "n", "first", F.explode(pieces).alias("piece"))
    begin = F.col("piece") * F.lit(_PIECE)
    end = F.least(begin + F.lit(_PIECE), F.col("n")) - F.lit(1)
    copies = pieced.select(
        "held",
        F.explode(F.sequence(F.col("first") + begin, F.col("first") + end)).alias("number"),
    )
    if layout.format == "list":
        return copies.select(F.col("held").alias(layout.items))
    number = (F.col("number") + F.lit(1)).alias(layout.id)
    return copies.select(number, F.explode_outer("held").alias(layout.item))


def _placed(rows: DataFrame, jobs: Jobs, stage: Stage) -> DataFrame:
    """Return the rows in canonical order, with how many people come before each: ``first``.

    They are parted into as many parts of that order as the release has files. A running sum over
    all rows would be the work of one executor. So rows are parted by how they begin, the driver
    adds up what comes before each part, and the parts are summed apart from each other. Common
    beginnings are parted again.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    sizes: list[tuple[list[int], int]] = []  # of each part: how it begins, people
    open_parts: list[list[int]] = [[]]
    depths: list[int] = []
    n_places = 0
    for depth in range(1, _DEPTH + 1):
        begins = F.slice("row", 1, depth)
        some = rows
        if depth > 1:
            known = _known(open_parts, jobs)
            some = rows.join(F.broadcast(known), F.slice("row", 1, depth - 1) == F.col("part"))
        counted = some.groupBy(begins.alias("begins")).agg(
            F.sum("n").alias("people"),
            F.count("*").alias("rows"),
            F.sum(F.col("n") * F.greatest(F.size("row"), F.lit(1))).alias("places"),
        )
        depths.append(depth)
        open_parts = []
        for part in jobs.table("number the rows", counted, stage).to_pylist():
            n_places += part["places"] if depth == 1 else 0
            if part["rows"] > _HEAVY and len(part["begins"]) == depth < _DEPTH:
                open_parts.append(part["begins"])
            else:
                sizes.append((part["begins"], part["people"]))
        if not open_parts:
            break
    sizes.sort()
    before = accumulate((people for _, people in sizes), initial=0)
    starts = [(begins, start) for (begins, _), start in zip(sizes, before, strict=False)]
    placed = rows.withColumn("start", F.lit(None).cast("bigint"))
    table = _starts(starts, jobs)
    for depth in reversed(depths):  # the longest beginning that is a part is the one
        placed = placed.join(F.broadcast(table), F.slice("row", 1, depth) == F.col("at"), "left")
        placed = placed.select("row", "n", F.coalesce("start", "began").alias("start"))
    # Parts that follow each other go to one file: rows are moved, and sorted, only once.
    placed = placed.repartitionByRange(-(-n_places // _PER_FILE) or 1, "start")
    window = Window.partitionBy("start").orderBy("row")
    window = window.rowsBetween(Window.unboundedPreceding, -1)
    within = F.coalesce(F.sum("n").over(window), F.lit(0))
    return placed.select("row", "n", (F.col("start") + within).alias("first"))


def _known(parts: list[list[int]], jobs: Jobs) -> DataFrame:
    import pyarrow as pa

    table = pa.table({"part": pa.array(parts, pa.list_(pa.int32()))})
    return jobs.session.createDataFrame(table)


def _starts(starts: list[tuple[list[int], int]], jobs: Jobs) -> DataFrame:
    import pyarrow as pa

    at = pa.array([begins for begins, _ in starts], pa.list_(pa.int32()))
    began = pa.array([start for _, start in starts], pa.int64())
    return jobs.session.createDataFrame(pa.table({"at": at, "began": began}))
