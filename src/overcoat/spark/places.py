"""The place of each row in canonical order: how many people come before it, and in which file."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from overcoat.context import Stage
from overcoat.data.transactions import Transactions
from overcoat.spark.jobs import Jobs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["placed"]

_HEAVY = 200_000  # distinct rows that begin alike; more are numbered apart, by what comes next
_DEPTH = 6  # numbers at the beginning of a row that are looked at for that
_PER_FILE = 2_000_000  # places of a table (rows, and items of them) in one file, about
# Of a row: how many people come before its part, and to which file it goes.
_PLACE = {"start": "bigint", "file": "int"}


class _Part(NamedTuple):
    """Rows that begin alike: how, how many people have them, how many places and rows these are."""

    begins: list[int]
    people: int
    places: int
    rows: int


def placed(rows: DataFrame, here: Transactions | None, jobs: Jobs, stage: Stage) -> DataFrame:
    """Return the rows in canonical order, with how many people come before each: ``first``.

    They are parted into as many parts of that order as the release has files. A running sum over
    all rows would be the work of one executor. So rows are parted by how they begin, the driver
    adds up what comes before each part, and the parts are summed apart from each other. Common
    beginnings are parted again.

    Parameters
    ----------
    rows : rows of numbers (``row``), and how often each is (``n``)
    here : the same on the driver, where it has them; then it need not ask how rows begin. Should
        they differ, people get the same number, and verification finds rows that are not theirs
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    if here is None:
        rows = jobs.keep(rows)
    parts: list[_Part] = []
    heavy: list[list[int]] = [[]]
    depth = 0
    while heavy:
        depth += 1
        found = (
            _counted_there(rows, depth, heavy, jobs, stage)
            if here is None
            else _counted_here(here, depth, heavy)
        )
        heavy = []
        for part in found:
            if part.rows > _HEAVY and len(part.begins) == depth < _DEPTH:
                heavy.append(part.begins)
            else:
                parts.append(part)
    parts.sort()
    files = _files(parts)
    table = _as_table(parts, files, jobs)
    unknown = [F.lit(None).cast(kind).alias(name) for name, kind in _PLACE.items()]
    within = rows.select("row", "n", *unknown)
    for size in range(depth, 0, -1):  # the longest beginning that is a part is the one
        within = within.join(F.broadcast(table), F.slice("row", 1, size) == F.col("at"), "left")
        known = [F.coalesce(name, f"{name}_at").alias(name) for name in _PLACE]
        within = within.select("row", "n", *known)
    # Parts that follow each other go to one file: rows are moved, and sorted, only once.
    within = _by_file(within, files[-1] + 1 if files else 1)
    window = Window.partitionBy("start", "file").orderBy("row")
    window = window.rowsBetween(Window.unboundedPreceding, -1)
    before = F.coalesce(F.sum("n").over(window), F.lit(0))
    return within.select("row", "n", (F.col("start") + before).alias("first"))


def _counted_there(
    rows: DataFrame, depth: int, among: list[list[int]], jobs: Jobs, stage: Stage
) -> Iterable[_Part]:
    """Part the rows that begin in certain ways by one number more."""
    from pyspark.sql import functions as F  # noqa: N812

    if depth > 1:
        rows = rows.join(
            F.broadcast(_beginnings(among, jobs)), F.slice("row", 1, depth - 1) == F.col("part")
        )
    counted = rows.groupBy(F.slice("row", 1, depth).alias("begins")).agg(
        F.sum("n").alias("people"),
        F.sum(F.col("n") * F.greatest(F.size("row"), F.lit(1))).alias("places"),
        F.count("*").alias("rows"),
    )
    for part in jobs.table("number the rows", counted, stage).to_pylist():
        yield _Part(**part)


def _counted_here(rows: Transactions, depth: int, among: Collection[list[int]]) -> Iterable[_Part]:
    """Do the same on the driver."""
    lengths = np.diff(rows.offsets)
    heads = np.full((len(lengths), depth), -1, np.int32)
    for place in range(depth):
        longer = lengths > place
        heads[longer, place] = rows.codes[rows.offsets[:-1][longer] + place]
    differ = np.any(heads[1:] != heads[:-1], axis=1)  # rows are in order: equal ones are neighbours
    first = np.flatnonzero(np.concatenate([[True], differ]))[: len(lengths)]
    people = np.add.reduceat(rows.counts, first) if len(first) else first
    places = np.add.reduceat(rows.counts * np.maximum(lengths, 1), first) if len(first) else first
    n_rows = np.diff(np.append(first, len(lengths)))
    asked = set(map(tuple, among))
    for head, *counts in zip(heads[first].tolist(), people, places, n_rows, strict=True):
        begins = [number for number in head if number >= 0]
        if tuple(begins[: depth - 1]) in asked:
            yield _Part(begins, *map(int, counts))


def _files(parts: list[_Part]) -> list[int]:
    """Return for each part, in order, the number of the file that it goes to."""
    files: list[int] = []
    full = 0
    for part in parts:
        if files and full < _PER_FILE:
            files.append(files[-1])
        else:
            files.append(files[-1] + 1 if files else 0)
            full = 0
        full += part.places
    return files


def _by_file(rows: DataFrame, n_files: int) -> DataFrame:
    """Bring the rows of each file together, in the order of the files."""
    if hasattr(rows, "repartitionById"):  # since Spark 4.1: without a look at the rows before
        return rows.repartitionById(n_files, "file")
    return rows.repartitionByRange(n_files, "file")


def _beginnings(parts: list[list[int]], jobs: Jobs) -> DataFrame:
    import pyarrow as pa

    table = pa.table({"part": pa.array(parts, pa.list_(pa.int32()))})
    return jobs.session.createDataFrame(table)


def _as_table(parts: list[_Part], files: list[int], jobs: Jobs) -> DataFrame:
    import pyarrow as pa

    before = list(accumulate((part.people for part in parts), initial=0))
    columns = {
        "at": pa.array([part.begins for part in parts], pa.list_(pa.int32())),
        "start_at": pa.array(before[: len(parts)], pa.int64()),
        "file_at": pa.array(files, pa.int32()),
    }
    return jobs.session.createDataFrame(pa.table(columns))
