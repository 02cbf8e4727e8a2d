"""Risk on the cluster: what an attacker can do who knows one item of a person, or two."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from overcoat.checks import check_count
from overcoat.context import Context, Stage
from overcoat.data.vocabulary import Vocabulary
from overcoat.errors import PolicyError, UnknownItemsError
from overcoat.exposure.crowds import BOUNDS, Crowd
from overcoat.exposure.risk import Risk
from overcoat.release.given import MappingLike, take_mapping
from overcoat.spark.images import labels_in, literal
from overcoat.spark.jobs import Jobs
from overcoat.spark.session import require_pyspark
from overcoat.spark.tables import rows_of, take_table, vocabulary_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["risk"]

_COUNT = "count who is at risk"


def risk(
    df: DataFrame,
    mapping: MappingLike | None = None,
    *,
    id: str | None = None,  # noqa: A002
    item: str | None = None,
    items: str | None = None,
    count: str | None = None,
    known: int = 2,
    k: int = 5,
    linkable: Iterable[str] | None = None,
    context: Context | None = None,
) -> Risk:
    """Say what an attacker who knows one item of a person, or two, can do, before and after.

    Everybody is counted, nobody drawn; nothing but items, labels and their supports comes to the
    driver. See `overcoat.risk` for more known items, whole rows, and the items behind it.

    Parameters
    ----------
    df : the original
    mapping : under which it is released; without one, only the original is looked at
    id, item, items, count : the columns, see `anonymize`
    known : how many items he knows at most, 1 or 2
    k : the crowd that is large enough
    linkable : the items he may know; by default all
    context : how to run
    """
    require_pyspark()
    context = Context.of(context)
    if check_count("known", known) > 2:
        raise PolicyError("on a cluster, risk is counted for one and for two known items")
    check_count("k", k)
    said = None if mapping is None else take_mapping(mapping)
    table = take_table(df, id, item, items, count)
    jobs = Jobs(df.sparkSession)
    try:
        with context.stage("risk") as stage:
            vocabulary = vocabulary_of(table, jobs, stage)
            if said is not None and (strange := [one for one in vocabulary if one not in said]):
                raise UnknownItemsError(strange, said.file)
            codes = {label: code for code, label in enumerate(vocabulary)}
            rows = jobs.keep(rows_of(table, codes, jobs))
            asked = _asked(vocabulary, linkable)
            n_people = _n_people(rows, jobs, stage)

            def crowds(numbers: list[int]) -> tuple[Crowd, ...]:
                crowd = _Crowds(rows, numbers, asked, n_people, k, jobs, stage)
                return tuple(crowd.knowing(size) for size in range(1, known + 1))

            before = crowds(list(range(len(vocabulary))))
            after = None if said is None else crowds(labels_in(vocabulary, said)[1])
            return Risk(n_people, k, before, after)
    finally:
        jobs.let_go()


def _asked(vocabulary: Vocabulary, linkable: Iterable[str] | None) -> list[bool]:
    names = None if linkable is None else {*([linkable] if isinstance(linkable, str) else linkable)}
    asked = [names is None or item in names for item in vocabulary]
    if asked and not any(asked):
        raise PolicyError("none of the linkable items occurs in the data")
    return asked


def _n_people(rows: DataFrame, jobs: Jobs, stage: Stage) -> int:
    from pyspark.sql import functions as F  # noqa: N812

    return int(jobs.row(_COUNT, rows.agg(F.sum("n").alias("people")), stage)["people"] or 0)


class _Crowds:
    """What is published of each person, and what of it an attacker may know.

    A row holds items; `numbers` are those of their labels, -1 for a suppressed item, of which the
    release tells nothing: it may be anybody.
    """

    def __init__(
        self,
        rows: DataFrame,
        numbers: list[int],
        asked: list[bool],
        n_people: int,
        k: int,
        jobs: Jobs,
        stage: Stage,
    ) -> None:
        from pyspark.sql import functions as F  # noqa: N812

        self._n_people, self._k, self._jobs, self._stage = n_people, k, jobs, stage
        label, known = literal(numbers, "int"), literal(asked, "boolean")
        held = F.transform("row", lambda code: F.get(label, code))
        held = F.array_distinct(F.filter(held, lambda number: number >= 0))
        told = F.transform(
            F.filter("row", lambda code: F.get(known, code)), lambda code: F.get(label, code)
        )
        # Each distinct row has its own number, for two may tell the same.
        self._rows = rows.select("row", "n", F.sort_array(held).alias("held"), told.alias("told"))
        each = self._rows.select("n", F.explode("held").alias("label"))
        found = jobs.table(_COUNT, each.groupBy("label").agg(F.sum("n").alias("people")), stage)
        supports = {one["label"]: one["people"] for one in found.to_pylist()}
        of_label = [supports.get(number, 0) for number in range(max(numbers, default=-1) + 1)]
        self._support = literal(of_label, "bigint")

    def _holders(self, label: Column) -> Column:
        """Return how many people have a label; all of them may have what is not told."""
        from pyspark.sql import functions as F  # noqa: N812

        return F.when(label < 0, F.lit(self._n_people)).otherwise(F.get(self._support, label))

    def knowing(self, size: int) -> Crowd:
        """Return what knowing so many items gives away."""
        from pyspark.sql import functions as F  # noqa: N812

        one = self._rows.where(F.size("told") <= F.lit(1 if size > 1 else 1 << 30))
        holders = F.transform("told", self._holders)
        chances = F.transform(holders, lambda people: F.lit(1.0) / people)
        total = F.aggregate(chances, F.lit(0.0), lambda before, chance: before + chance)
        people = one.select(
            "n",
            F.array_min(holders).alias("worst"),
            F.when(F.size("told") > 0, total / F.size("told"))
            .otherwise(F.lit(1.0 / max(self._n_people, 1)))
            .alias("chance"),
        )
        if size > 1:
            people = people.unionAll(self._by_pairs())
        ends: tuple[Any, ...] = (*BOUNDS[1:], None)
        sizes = [
            F.sum(F.when(_between(first, stop), F.col("n"))).alias(f"from_{first}")
            for first, stop in zip(BOUNDS, ends, strict=True)
        ]
        counted = people.agg(
            F.sum(F.when(F.col("worst") < self._k, F.col("n"))).alias("below"),
            F.sum(F.col("chance") * F.col("n")).alias("chance"),
            *sizes,
        )
        found = self._jobs.row(_COUNT, counted, self._stage)
        return Crowd(
            size,
            found["from_1"] or 0,
            found["below"] or 0,
            (found["chance"] or 0.0) / max(self._n_people, 1),
            sizes=tuple((first, found[f"from_{first}"] or 0) for first in BOUNDS),
        )

    def _by_pairs(self) -> DataFrame:
        """Return the worst case and the chance of those of whom two items or more may be known."""
        from pyspark.sql import functions as F  # noqa: N812

        several = self._rows.where(F.size("told") > 1)
        first = several.select("row", "n", "told", F.posexplode("told").alias("at", "one"))
        rest = F.slice("told", F.col("at") + 2, F.size("told"))
        pairs = first.select("row", "n", "one", F.explode(rest).alias("other"))
        low, high = F.least("one", "other"), F.greatest("one", "other")
        # Two items of one group are one label; of a suppressed one nothing is told.
        pairs = pairs.select("row", "n", low.alias("low"), high.alias("high"))
        apart = (F.col("low") >= 0) & (F.col("low") != F.col("high"))
        each = self._rows.select("n", "held", F.posexplode("held").alias("at", "low"))
        after = F.slice("held", F.col("at") + 2, F.size("held"))
        held = each.select("n", "low", F.explode(after).alias("high"))
        supports = held.groupBy("low", "high").agg(F.sum("n").alias("both"))
        joined = pairs.join(supports, ["low", "high"], "left")
        people = F.when(apart, F.col("both")).otherwise(self._holders(F.col("high")))
        weighed = joined.select("row", "n", people.alias("people"))
        chance = F.avg(F.lit(1.0) / F.col("people")).alias("chance")
        each_row = weighed.groupBy("row", "n").agg(F.min("people").alias("worst"), chance)
        return each_row.select("n", "worst", "chance")


def _between(first: int, stop: int | None) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    within = F.col("worst") >= first
    return within if stop is None else within & (F.col("worst") < stop)
