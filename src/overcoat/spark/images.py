"""Rows under a mapping, on the cluster, and the release they make."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from overcoat.context import Stage
from overcoat.data.transactions import Transactions
from overcoat.data.vocabulary import Vocabulary
from overcoat.mapping import Mapping
from overcoat.spark.jobs import Jobs
from overcoat.spark.places import placed
from overcoat.spark.tables import Table

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["counted", "image_of", "labels_in", "literal", "release_of"]

_PIECE = 1 << 20  # copies of a row that are made at once


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
    rows: DataFrame,
    labels: Vocabulary,
    like: Table,
    jobs: Jobs,
    stage: Stage,
    here: Transactions | None = None,
) -> DataFrame:
    """Return the release that rows of labels make: one row a person, or a label of one.

    Rows come in canonical order, and persons are numbered in it, as on one machine: what a number
    says is what the row says. Whose items are all gone has a row without any.

    Parameters
    ----------
    rows : rows of numbers of labels (``row``), and how often each is (``n``); distinct ones, if the
        layout has counts
    like : whose layout it gets
    here : the same rows on the driver, where it has them
    """
    from pyspark.sql import functions as F  # noqa: N812

    names = literal(list(labels), "string")
    held = F.transform("row", lambda number: F.get(names, number))
    layout = like.layout
    # Labels are put in before rows are copied: once a distinct row, not once a person.
    told = None if here is None or here.vocabulary != labels else here
    in_order = placed(rows, told, jobs, stage).select(held.alias("held"), "n", "first")
    if like.counted is not None:
        return in_order.select(F.col("held").alias(layout.items), F.col("n").alias(like.counted))
    # A row that many people have is copied in pieces, because an array has at most 2^31 places.
    pieces = F.sequence(F.lit(0).cast("bigint"), F.floor((F.col("n") - 1) / F.lit(_PIECE)))
    pieced = in_order.select("held", "n", "first", F.explode(pieces).alias("piece"))
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
