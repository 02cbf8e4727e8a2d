"""Data frames of Spark, as transactions: which columns, of what types, holding which items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from overcoat.context import Stage
from overcoat.data.canonical import check_number
from overcoat.data.io.columns import listed_columns
from overcoat.data.layout import Layout
from overcoat.data.vocabulary import Vocabulary
from overcoat.errors import DataError, Problem
from overcoat.spark.jobs import Jobs

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["STRANGE", "Table", "people_of", "rows_of", "take_table", "vocabulary_of"]

STRANGE = -1  # stands in a row for what has no number; so it comes first
_NUMBERS = {"tinyint", "smallint", "int", "bigint"}  # which items may be written as


@dataclass(frozen=True)
class Table:
    """A data frame whose columns are known.

    Attributes
    ----------
    frame : for a long table the columns ``id`` and ``item``; for lists ``labels`` (sorted, each
        once) and ``n``
    layout : what the columns are called
    counted : the name of the column that says how many people each row stands for, if there is one
    """

    frame: DataFrame
    layout: Layout
    counted: str | None = None


def column(name: str) -> Column:
    """Return a column by its name, whatever is in it."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.col("`" + name.replace("`", "``") + "`")


def take_table(
    frame: Any,
    id: str | None = None,  # noqa: A002
    item: str | None = None,
    items: str | None = None,
    count: str | None = None,
) -> Table:
    """Take a data frame of Spark; raise unless its columns are what is said.

    Parameters
    ----------
    id, item : the columns of a long table, one (person, item) pair a row
    items : the column of lists, one row a person; or the only such column
    count : of lists, how many people each row stands for
    """
    from pyspark.sql import functions as F  # noqa: N812

    kinds = _kinds(frame)
    if (id is None) != (item is None):
        raise DataError("a long table has two columns: give both id and item")
    if id is not None and items is not None:
        raise DataError("give either id and item, or items")
    if id is None and items is None:
        lists = [name for name, kind in kinds.items() if kind == "array<string>"]
        if len(lists) != 1:
            raise DataError(
                "say which columns hold the transactions: id and item (one pair a row), or items "
                f"(lists); the columns are {listed_columns(list(kinds))}"
            )
        items = lists[0]
    named = [name for name in (id, item, items, count) if name is not None]
    if missing := [name for name in named if name not in kinds]:
        raise DataError(
            Problem(f"there is no column {name!r}; the columns are {listed_columns(list(kinds))}")
            for name in missing
        )
    if items is None:
        assert id is not None
        assert item is not None
        if count is not None:
            raise DataError("counts belong to rows of lists (items), not to pairs (id, item)")
        _check_kind(item, kinds[item])
        if kinds[id].startswith(("array", "map", "struct")):
            raise DataError(f"column {id!r} holds {kinds[id]}, not ids")
        # An empty or missing item only says that the person exists.
        label = F.nullif(column(item).cast("string"), F.lit(""))
        pairs = frame.select(column(id).alias("id"), label.alias("item"))
        return Table(pairs, Layout("long", parquet=True, id=id, item=item))
    if not kinds[items].startswith("array<"):
        raise DataError(f"column {items!r} holds {kinds[items]}, not lists")
    _check_kind(items, kinds[items].removeprefix("array<")[:-1])
    if count is not None and kinds[count] not in _NUMBERS:
        raise DataError(f"column {count!r} holds {kinds[count]}, not counts")
    held = F.coalesce(column(items).cast("array<string>"), F.array().cast("array<string>"))
    labels = F.array_sort(F.array_distinct(held))
    n = F.lit(1).cast("bigint") if count is None else column(count).cast("bigint")
    rows = frame.select(labels.alias("labels"), n.alias("n"))
    return Table(rows, Layout("list", parquet=True, items=items), count)


def _kinds(frame: Any) -> dict[str, str]:
    """Return what each column holds."""
    from pyspark.sql import DataFrame

    if not isinstance(frame, DataFrame):
        raise DataError(f"expected a DataFrame of Spark, not {type(frame).__name__}")
    kinds: dict[str, str] = {}
    for field in frame.schema.fields:
        kind = field.dataType.simpleString()
        kinds[field.name] = "string" if kind.startswith(("char(", "varchar(")) else kind
    return kinds


def _check_kind(name: str, kind: str) -> None:
    if kind not in {"string", "void", *_NUMBERS}:
        raise DataError(
            f"column {name!r} holds {kind}; items are strings, so cast it to string first"
        )


def vocabulary_of(table: Table, jobs: Jobs, stage: Stage) -> Vocabulary:
    """Return the items that occur; raise if ids are missing, or items where there must be some."""
    from pyspark.sql import functions as F  # noqa: N812

    if table.layout.format == "long":
        found = table.frame.groupBy("item").agg(F.count_if(_no_id(table)).alias("wrong"))
        said = "{:,} rows have no id: whose items are they?"
    else:
        each = table.frame.select(F.explode("labels").alias("item"))
        wrong = F.col("item").isNull() | (F.col("item") == "")
        found = each.groupBy("item").agg(F.count_if(wrong).alias("wrong"))
        said = "{:,} lists hold a null or an empty string"
    items = jobs.table("read the items", found, stage)
    if n_wrong := sum(items["wrong"].to_pylist()):
        raise DataError(said.format(n_wrong))
    labels = [label for label in items["item"].to_pylist() if label is not None]
    check_number(len(labels), "items")
    if table.counted is not None:
        bad = table.frame.select(F.count_if(_no_count()).alias("bad"))
        if n_bad := jobs.row("read the counts", bad, stage)["bad"]:
            raise DataError(f"{n_bad:,} rows have a count that is missing or below 1")
    return Vocabulary(labels)


def _no_id(table: Table) -> Column:
    """Return whether a pair says nothing of whose it is."""
    from pyspark.sql import functions as F  # noqa: N812

    kind = table.frame.schema["id"].dataType.simpleString()
    missing = F.col("id").isNull()
    if kind in {"float", "double"}:
        return missing | F.isnan("id")
    return missing | (F.col("id") == "") if kind == "string" else missing


def _no_count() -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    return F.col("n").isNull() | (F.col("n") < 1)


def rows_of(table: Table, numbers: Mapping[str, int], jobs: Jobs) -> DataFrame:
    """Return the distinct rows of numbers, and how many people have each.

    Parameters
    ----------
    numbers : of items; those of an item that has none do not come. Several may have the same

    Returns
    -------
    ``row`` (ascending numbers, each once) and ``n``
    """
    from pyspark.sql import functions as F  # noqa: N812

    return people_of(table, numbers, jobs).groupBy("row").agg(F.sum("n").alias("n"))


def people_of(
    table: Table, numbers: Mapping[str, int], jobs: Jobs, *, marked: bool = False
) -> DataFrame:
    """Return rows of numbers as `rows_of` does, but a row may be there more than once.

    Parameters
    ----------
    marked : what has no number is marked as `STRANGE`, and so is all that `vocabulary_of` raises
        on, so that one look at the table is enough where nothing of it is expected
    """
    from pyspark.sql import functions as F  # noqa: N812

    known = F.broadcast(_as_table(numbers.items(), jobs))
    number = F.col("number")
    row = F.sort_array(F.collect_set("number")).alias("row")
    if table.layout.format == "long":
        if marked:
            strange = _no_id(table) | (F.col("item").isNotNull() & number.isNull())
            number = F.when(strange, F.lit(STRANGE)).otherwise(number)
        coded = table.frame.join(known, "item", "left").select("id", number.alias("number"))
        # Pairs of one person first come together. Else Spark would gather what each part of the
        # table has of a person, in objects, and sort these: twice the work.
        people = coded.repartition("id").groupBy("id").agg(row)
        return people.select("row", F.lit(1).cast("bigint").alias("n"))
    lists = table.frame
    if marked:
        # An empty string is nobody's label; to be left with none is something else.
        held = F.transform("labels", lambda label: F.coalesce(label, F.lit("")))
        held = F.when(_no_count(), F.array(F.lit(""))).otherwise(held)
        n = F.when(_no_count(), F.lit(1)).otherwise(F.col("n"))
        lists = lists.select(held.alias("labels"), n.alias("n"))
        number = F.when(F.col("item").isNotNull(), F.coalesce("number", F.lit(STRANGE)))
    lists = lists.groupBy("labels").agg(F.sum("n").alias("n"))
    each = lists.select("labels", "n", F.explode_outer("labels").alias("item"))
    coded = each.join(known, "item", "left").select("labels", "n", number.alias("number"))
    return coded.groupBy("labels", "n").agg(row).select("row", "n")


def _as_table(numbers: Iterable[tuple[str, int]], jobs: Jobs) -> DataFrame:
    import pyarrow as pa

    pairs = list(numbers)
    items = pa.array([item for item, _ in pairs], pa.string())
    codes = pa.array([number for _, number in pairs], pa.int32())
    return jobs.session.createDataFrame(pa.table({"item": items, "number": codes}))


def released_table(frame: Any, like: Table) -> Table:
    """Take a release of some data: its columns are called as theirs."""
    layout = like.layout
    if layout.format == "long":
        return take_table(frame, layout.id, layout.item)
    return take_table(frame, items=layout.items, count=like.counted)


def laid_out(table: Table, to: str | None) -> Table:
    """Return the table with the layout its release is to have."""
    layouts = {"long": replace(table.layout, format="long")}
    layouts["list"] = replace(table.layout, format="list")
    if to is None or to == table.layout.format:
        return table
    if to not in layouts:
        raise DataError(f"a release on a cluster is long or list, not {to!r}")
    if table.counted is not None:
        raise DataError("a table with counts is released as lists with counts")
    return replace(table, layout=layouts[to])
