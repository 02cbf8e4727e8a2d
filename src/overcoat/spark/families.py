"""Privacy on the cluster: how many people support what, counted from the rows it has written.

By the definitions, and by means of its own: sets of labels are taken out of the rows and counted.
Each function gets distinct rows of numbers of labels (``row``) with counts (``n``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from overcoat.context import Stage
from overcoat.spark.images import literal
from overcoat.spark.jobs import Jobs
from overcoat.verification.verdict import LISTED

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["Weakness", "shared", "weak_images", "weak_rows", "weak_sets"]

_COUNT = "count who supports what"


@dataclass(frozen=True)
class Weakness:
    """What of one family fewer than k people support.

    Attributes
    ----------
    least : the largest k that the family allows; 0 when any
    sets : the first sets that fewer than k support, with their supports
    number : how many there are
    """

    least: int = 0
    sets: tuple[tuple[tuple[int, ...], int], ...] = ()
    number: int = 0

    def __or__(self, other: Weakness) -> Weakness:
        least = min((one for one in (self.least, other.least) if one), default=0)
        return Weakness(least, (*self.sets, *other.sets)[:LISTED], self.number + other.number)


def _weakness(supports: DataFrame, k: int, jobs: Jobs, stage: Stage) -> Weakness:
    """Look at the supports (``people``) of some sets (``set``)."""
    from pyspark.sql import functions as F  # noqa: N812

    rare = F.col("people") < F.lit(k)
    counted = supports.agg(F.min("people").alias("least"), F.count_if(rare).alias("number"))
    found = jobs.row(_COUNT, counted, stage)
    listed = []
    if found["number"]:
        first = supports.where(rare).orderBy(F.size("set"), "set")
        some = first.limit(LISTED).select("set", "people")
        listed = jobs.table(_COUNT, some, stage).to_pylist()
    sets = tuple((tuple(one["set"]), one["people"]) for one in listed)
    return Weakness(found["least"] or 0, sets, found["number"])


def _within(rows: DataFrame, allowed: Sequence[bool]) -> DataFrame:
    """Return what rows hold of some labels."""
    from pyspark.sql import functions as F  # noqa: N812

    if all(allowed):
        return rows
    table = literal(list(allowed), "boolean")
    held = F.filter("row", lambda number: F.get(table, number))
    return rows.select(held.alias("row"), "n").groupBy("row").agg(F.sum("n").alias("n"))


def _grown(sets: DataFrame, size: int, *, may_stay: bool = False) -> DataFrame:
    """Return sets of one label more; each as often as rows hold it.

    A set is in columns of numbers, which are grouped faster than arrays; ``rest`` are those of its
    row that come after the last one, so that it is met once a row. A set that may stay is also
    there as it was, with nothing in its further columns.

    Parameters
    ----------
    size : labels that the sets have
    """
    from pyspark.sql import functions as F  # noqa: N812

    nothing = F.lit(None).cast("int")
    by = F.concat("rest", F.array(nothing)) if may_stay else F.col("rest")
    others = [name for name in sets.columns if name != "rest"]
    each = sets.select(*others, "rest", F.posexplode(by).alias("at", f"label_{size}"))
    rest = F.slice(F.col("rest"), F.col("at") + 2, F.size("rest"))  # none beyond its end
    return each.select(*others, f"label_{size}", rest.alias("rest"))


def _columns(size: int) -> list[str]:
    return [f"label_{number}" for number in range(size)]


def _set(size: int) -> Column:
    """Return the labels of a set as one array."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.array_compact(F.array(*_columns(size))).alias("set")


def weak_sets(
    rows: DataFrame, allowed: Sequence[bool], largest: int, k: int, jobs: Jobs, stage: Stage
) -> Weakness:
    """Count every set of up to so many of the allowed labels that somebody supports."""
    from pyspark.sql import functions as F  # noqa: N812

    sets = _within(rows, allowed).select("n", F.col("row").alias("rest"))
    for size in range(largest):
        sets = _grown(sets, size, may_stay=size > 0)
    supports = sets.groupBy(*_columns(largest)).agg(F.sum("n").alias("people"))
    return _weakness(supports.select(_set(largest), "people"), k, jobs, stage)


def weak_images(
    rows: DataFrame, images: Iterable[tuple[int, ...]], k: int, jobs: Jobs, stage: Stage
) -> Weakness:
    """Count who supports each image; where nobody does, who supports what rows have of it.

    Parameters
    ----------
    images : sets of numbers of labels; a label that no row holds may be among them
    """
    import pyarrow as pa
    from pyspark.sql import functions as F  # noqa: N812

    every = sorted(set(images))
    if not every:
        return Weakness()
    owner = pa.array([number for number, one in enumerate(every) for _ in one], pa.int32())
    label = pa.array([label for one in every for label in one], pa.int32())
    members = jobs.session.createDataFrame(pa.table({"image": owner, "label": label}))
    each = rows.select("row", "n", F.explode("row").alias("label"))
    met = each.join(F.broadcast(members), "label").groupBy("image", "row", "n")
    parts = met.agg(F.sort_array(F.collect_set("label")).alias("set"))
    parts = parts.groupBy("image", "set").agg(F.sum("n").alias("n"))  # what rows have of it
    sizes = literal([len(one) for one in every], "int")
    whole = parts.where(F.size("set") == F.get(sizes, F.col("image")))
    found = _weakness(whole.select("set", F.col("n").alias("people")), k, jobs, stage)
    held = set(jobs.table(_COUNT, whole.select("image"), stage)["image"].to_pylist())
    if len(held) == len(every):
        return found
    wanting = literal([number not in held for number in range(len(every))], "boolean")
    parts = parts.where(F.get(wanting, F.col("image")))
    larger = parts.select("image", F.col("set").alias("of"), F.col("n").alias("people"))
    contained = F.size(F.array_except("set", "of")) == 0
    both = parts.join(larger, "image").where(contained)
    supports = both.groupBy("image", "set").agg(F.sum("people").alias("people"))
    return found | _weakness(supports, k, jobs, stage)


def weak_rows(rows: DataFrame, k: int, jobs: Jobs, stage: Stage) -> Weakness:
    """Count who supports each whole row: what Pgen is about. The empty row is nobody's."""
    from pyspark.sql import functions as F  # noqa: N812

    full = rows.where(F.size("row") > 0)
    # Who holds a row holds its rarest label, too: rows are compared with the holders of that.
    each = full.select("row", "n", F.explode("row").alias("label"))
    holders = each.groupBy("label").agg(F.sum("n").alias("holders"))
    rarest = (
        each.join(holders, "label")
        .groupBy("row")
        .agg(F.min(F.struct("holders", "label")).alias("rarest"))
        .select("row", F.col("rarest.label").alias("label"))
    )
    larger = each.select("label", F.col("row").alias("of"), F.col("n").alias("people"))
    contained = F.size(F.array_except("row", "of")) == 0
    both = rarest.join(larger, "label").where(contained)
    supports = both.groupBy(F.col("row").alias("set")).agg(F.sum("people").alias("people"))
    return _weakness(supports, k, jobs, stage)


def shared(
    rows: DataFrame,
    public: Sequence[bool],
    private: Sequence[bool],
    h: Fraction,
    largest: int,
    jobs: Jobs,
    stage: Stage,
) -> tuple[list[tuple[tuple[int, ...], int, int, int]], int]:
    """Find the sets of public labels of whose supporters too many have the same private label.

    Returns
    -------
    The first such sets: labels, support, the private label, how many have it; and how many sets
    """
    from pyspark.sql import functions as F  # noqa: N812

    is_public, is_private = literal(list(public), "boolean"), literal(list(private), "boolean")
    sets = rows.select(
        "n",
        F.filter("row", lambda number: F.get(is_private, number)).alias("private"),
        F.filter("row", lambda number: F.get(is_public, number)).alias("rest"),
    )
    listed: list[tuple[tuple[int, ...], int, int, int]] = []
    total = 0
    for size in range(largest):
        sets = _grown(sets, size)
        labels = _columns(size + 1)
        supports = sets.groupBy(*labels).agg(F.sum("n").alias("people"))
        each = sets.select(*labels, "n", F.explode("private").alias("secret"))
        having = each.groupBy(*labels, "secret").agg(F.sum("n").alias("having"))
        # The one that most have, of these the first.
        most = F.max_by(F.struct("having", "secret"), F.struct("having", -F.col("secret")))
        having = having.groupBy(*labels).agg(most.alias("most")).select(*labels, "most.*")
        wide = "decimal(38,0)"
        too_many = F.col("having").cast(wide) * F.lit(100 * h.denominator).cast("decimal(19,0)")
        allowed = F.col("people").cast(wide) * F.lit(h.numerator).cast("decimal(19,0)")
        wrong = having.join(supports, labels).where(too_many > allowed)
        counted = jobs.row(_COUNT, wrong.agg(F.count("*").alias("number")), stage)["number"]
        total += counted
        if counted and len(listed) < LISTED:
            some = wrong.orderBy(*labels).limit(LISTED - len(listed))
            some = some.select(_set(size + 1), "people", "secret", "having")
            listed += [
                (tuple(one["set"]), one["people"], one["secret"], one["having"])
                for one in jobs.table(_COUNT, some, stage).to_pylist()
            ]
    return listed, total
