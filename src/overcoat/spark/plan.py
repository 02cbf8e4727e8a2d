"""Does it fit? What the driver needs for the distinct rows, before they are fetched."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from overcoat.context import Stage
from overcoat.data.canonical import check_number, check_people
from overcoat.data.memory import available_memory
from overcoat.errors import DataError
from overcoat.spark.jobs import Jobs
from overcoat.words import size_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Plan", "plan_for"]

# Bytes on the driver for each distinct row, each item of one, and each item: data, work of COAT,
# release. Measured with COAT at m = 2, on top of Python and its libraries: 19 MiB for 137,327 rows
# (planned: 15), 122 for 1,046,045 (121), 328 for 2,894,932 (345), 878 for 8,478,462 (1,046).
_ROW, _OCCURRENCE, _ITEM = 60, 10, 1000
_CHUNK = 64 << 20  # bytes fetched at once: far below what Arrow and Spark allow
_SHARE = 8  # a chunk is at most this part of spark.driver.maxResultSize
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


@dataclass(frozen=True)
class Plan:
    """What the driver has to hold.

    Attributes
    ----------
    n_people, n_items : of the table
    n_rows : distinct rows
    n_occurrences : items of all distinct rows
    longest : items of the longest row
    memory : bytes that the driver is expected to need
    chunks : in how many parts the rows are fetched
    """

    n_people: int
    n_items: int
    n_rows: int
    n_occurrences: int
    longest: int
    memory: int
    chunks: int

    def require(self, limit: int | None = None) -> None:
        """Raise unless the driver has so much, or a limit of the user's allows it."""
        check_number(self.n_rows, "distinct rows")
        check_people(self.n_people)
        free = available_memory() if limit is None else limit
        if free is not None and self.memory > free:
            raise DataError(
                f"the {self.n_rows:,} distinct rows ({self.n_occurrences:,} items) of "
                f"{self.n_people:,} people need about {size_of(self.memory)} on the driver, and "
                f"{size_of(free)} can be had; use a driver (or a limit) with more, leave out items "
                "that nobody needs, or split the people into parts that are released apart"
            )


def plan_for(rows: DataFrame, n_items: int, jobs: Jobs, stage: Stage) -> Plan:
    """Count the distinct rows on the cluster, and say what they will take on the driver."""
    from pyspark.sql import functions as F  # noqa: N812

    size = F.size("row").cast("bigint")
    counted = rows.agg(
        F.count("*").alias("rows"),
        F.sum(F.col("n").cast("decimal(38,0)")).cast("string").alias("people"),
        F.sum(size).alias("occurrences"),
        F.max(size).alias("longest"),
    )
    found = jobs.row("count the distinct rows", counted, stage)
    n_rows, occurrences = found["rows"], found["occurrences"] or 0
    fetched = 4 * occurrences + 24 * n_rows
    most = max(min(_CHUNK, _result_size(jobs) // _SHARE), 1)
    return Plan(
        n_people=int(found["people"] or 0),
        n_items=n_items,
        n_rows=n_rows,
        n_occurrences=occurrences,
        longest=found["longest"] or 0,
        memory=_ROW * n_rows + _OCCURRENCE * occurrences + _ITEM * n_items,
        chunks=-(-fetched // most) or 1,
    )


def _result_size(jobs: Jobs) -> int:
    """Return spark.driver.maxResultSize in bytes; 0 there means that there is no limit."""
    try:
        said: Any = jobs.session.conf.get("spark.driver.maxResultSize", "1g")
    except Exception:  # a server of Spark Connect may keep it to itself
        said = "1g"
    match = re.fullmatch(r"\s*(\d+)\s*([kmgt]?)b?\s*", str(said).lower())
    size = int(match[1]) * _UNITS[match[2]] if match else 1 << 30
    return size or 1 << 40
