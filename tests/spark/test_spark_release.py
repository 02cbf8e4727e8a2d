"""Releases on a cluster: what is checked, what fails, where it goes, and that it is whole."""

from __future__ import annotations

import os
import random
import signal
import time
from fractions import Fraction
from itertools import accumulate, pairwise
from pathlib import Path
from threading import Timer
from typing import Any, cast

import polars as pl
import pyarrow as pa
import pytest

import overcoat as oc
from bridge import policy_of
from overcoat.context import QUIET
from overcoat.spark import images, places, plan, public
from overcoat.spark.jobs import Jobs
from overcoat.spark.tables import take_table
from overcoat.spark.target import Folder, Store
from spark_frames import list_frame, long_frame
from strategies import random_instance

pytestmark = pytest.mark.xdist_group("spark")

LONG: dict[str, Any] = {"id": "person", "item": "code"}
ROWS = [{"a", "b"}, {"a", "c"}, {"a"}, {"a"}, {"b"}, {"z"}, set()]
POLICY = oc.Policy(2, oc.AllItemsets(2), max_suppressed=30)


def rows_of(seed: int, n: int = 60) -> list[frozenset[str]]:
    rng = random.Random(seed)
    items = ["9", "10", "a b", "(a|b)", "\u00e9", "null", "#x", "'"]
    return [frozenset(rng.sample(items, min(rng.randint(0, 4), 8))) for _ in range(n)]


@pytest.mark.parametrize("seed", [3, 4, 8])
def test_counts_what_does_not_hold(spark: Any, seed: int) -> None:
    """Rows as they are, under a policy they do not meet: the same violations as on one machine."""
    rng = random.Random(seed)
    instance = random_instance(rng)
    while len(instance.rows) < 10 or len(instance.domain) < 4:
        instance = random_instance(rng)
    policy = policy_of(instance)
    data = oc.read(instance.rows)
    untouched = oc.Mapping.of(data.vocabulary, [[item] for item in data.vocabulary])
    frame = long_frame(spark, instance.rows, rng)
    alone = oc.verify(data, data, untouched, policy)
    there = oc.spark.verify(frame, frame, untouched, policy, **LONG)
    assert (there.ok, there.n_violations) == (alone.ok, alone.n_violations)
    assert there.largest_k == alone.largest_k
    said = {(one.itemset, one.support) for one in alone.violations}
    if sum(alone.n_violations.values()) <= 20:
        assert {(one.itemset, one.support) for one in there.violations} == said


def test_counts_private_items(spark: Any) -> None:
    rows = rows_of(5)
    data = oc.read(rows)
    policy = oc.Policy(3, oc.Coherence(2, private=["10", "null"], h=Fraction(100, 3)))
    untouched = oc.Mapping.of(data.vocabulary, [[item] for item in data.vocabulary])
    frame = list_frame(spark, rows, random.Random(5))
    alone = oc.verify(data, data, untouched, policy)
    there = oc.spark.verify(frame, frame, untouched, policy, items="codes")
    assert (there.n_violations, there.largest_k) == (alone.n_violations, alone.largest_k)
    assert not there.ok


def test_tells_rows_that_are_not_those_of_the_data(spark: Any) -> None:
    frame = long_frame(spark, ROWS, random.Random(1))
    mapping = oc.Mapping.of("abcz", [["a"], ["b", "c"]])
    strange = [{"a", "(b|c)"}, {"a", "(b|c)"}, {"a"}, {"a"}, {"(b|c)"}, {"x"}, {"a"}]
    wrong = long_frame(spark, strange, random.Random(2))
    alone = oc.verify(ROWS, strange, mapping, POLICY)
    there = oc.spark.verify(frame, wrong, mapping, POLICY, **LONG)
    assert there.n_violations == alone.n_violations
    assert {one.message for one in there.violations} == {one.message for one in alone.violations}


LARGE = (1 << 31) + 7
ITEMSETS = oc.Itemsets(
    [["9", "10"], ["a b"], ["#x", "'", "null"], ["9", "10", "a b", "null", "#x"]]
)
FAMILIES: dict[str, tuple[Any, str]] = {
    "pairs": ([oc.AllItemsets(2)], "coat"),
    "explicit, Pgen": ([ITEMSETS, oc.Pgen()], "coat"),
    "coherence": ([oc.Coherence(2, private=["10", "null"], h=Fraction(100, 3))], "greedy"),
}


def counts_of(rows: list[frozenset[str]], rng: random.Random) -> list[int]:
    return [rng.choice([1, 2, LARGE, 1 << 40]) for _ in rows]


@pytest.mark.parametrize("name", FAMILIES)
def test_people_beyond_32_bits(spark: Any, name: str, tmp_path: Path) -> None:
    """Rows with counts: 2^40 people, and no number in between that has 32 bits."""
    privacy, method = FAMILIES[name]
    rows = rows_of(7, 40)
    rng = random.Random(7)
    counts = counts_of(rows, rng)
    data = oc.Transactions.of(rows, counts=counts)
    policy = oc.Policy(5, privacy, max_suppressed=100)
    alone = oc.anonymize(data, policy, method=method)
    frame = list_frame(spark, rows, rng, counts)
    target = tmp_path / "released"
    how: dict[str, Any] = {"items": "codes", "count": "n"}
    there = oc.spark.anonymize(frame, policy, method=method, **how, released=target)
    assert there.mapping == alone.mapping
    assert there.verdict == alone.verdict
    written = pl.read_parquet(f"{target}/*.parquet").rows()
    copy = oc.Transactions.of([row for row, _ in written], counts=[n for _, n in written])
    assert copy == alone.released
    assert there.plan is not None
    assert there.plan.n_people == data.n_transactions > 1 << 40
    before = oc.spark.risk(frame, items="codes", count="n", known=2).before
    assert [one.unique for one in before] == [
        one.unique for one in oc.risk(data, known=2).before[:2]
    ]


@pytest.mark.parametrize("name", FAMILIES)
def test_supports_beyond_32_bits(spark: Any, name: str) -> None:
    """What is too few when k has more than 32 bits, counted by the cluster."""
    privacy, _ = FAMILIES[name]
    rows = rows_of(7, 40)
    rng = random.Random(7)
    counts = counts_of(rows, rng)
    data = oc.Transactions.of(rows, counts=counts)
    policy = oc.Policy(1 << 42, privacy)
    untouched = oc.Mapping.of(data.vocabulary, [[item] for item in data.vocabulary])
    alone = oc.verify(data, data, untouched, policy)
    frame = list_frame(spark, rows, rng, counts)
    there = oc.spark.verify(frame, frame, untouched, policy, items="codes", count="n")
    assert (there.n_violations, there.largest_k) == (alone.n_violations, alone.largest_k)
    supports = {one.itemset: one.support for one in there.violations}
    large = {itemset: support for itemset, support in supports.items() if (support or 0) > LARGE}
    assert large
    known = {one.itemset: one.support for one in alone.violations}
    assert {known.get(itemset, support) for itemset, support in large.items()} == {*large.values()}
    fewer = oc.Transactions.of(rows, counts=[n + (n == LARGE) for n in counts])
    less = list_frame(spark, rows, rng, [n + (n == LARGE) for n in counts])
    one = oc.verify(data, fewer, untouched, policy)
    two = oc.spark.verify(frame, less, untouched, policy, items="codes", count="n")
    assert one.n_violations["rows"] == two.n_violations["rows"] > 0


@pytest.mark.parametrize("known", ["on the driver", "to the cluster"])
def test_places_beyond_32_bits(spark: Any, known: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before most rows come more people than 32 bits can count, and more places than that."""
    monkeypatch.setattr(places, "_HEAVY", 2)
    rows = sorted({tuple(sorted(row)) for row in rows_of(3, 60)})
    rng = random.Random(3)
    counts = [rng.choice([1, LARGE, 1 << 40]) for _ in rows]
    data = oc.Transactions.of(rows, counts=counts)
    numbers = [list(data.codes[begin:end]) for begin, end in pairwise(data.offsets)]
    column = pa.array(numbers, pa.list_(pa.int32()))
    frame = spark.createDataFrame(pa.table({"row": column, "n": pa.array(data.counts)}))
    here = data if known == "on the driver" else None
    jobs = Jobs(spark)
    try:
        found = places.placed(frame.repartition(3), here, jobs, QUIET).collect()
    finally:
        jobs.let_go()
    before = list(accumulate(data.counts.tolist(), initial=0))[:-1]
    assert [(one.row, one.first) for one in found] == list(zip(numbers, before, strict=True))


def test_ids_beyond_32_bits(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first = 1 << 40
    rows = spark.createDataFrame([([0], 3, first)], "row array<int>, n bigint, first bigint")
    monkeypatch.setattr(images, "placed", lambda *told: rows)
    monkeypatch.setattr(images, "_PIECE", 2)
    like = take_table(spark.createDataFrame([(1, "a")], "id int, item string"), "id", "item")
    vocabulary = oc.read([{"a"}]).vocabulary
    released = images.release_of(rows, vocabulary, like, Jobs(spark), QUIET).collect()
    assert [tuple(row) for row in released] == [(first + n, "a") for n in (1, 2, 3)]


def test_in_many_parts(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fetched, numbered, copied and filed in parts as small as they get."""
    monkeypatch.setattr(plan, "_CHUNK", 300)
    monkeypatch.setattr(places, "_HEAVY", 1)
    monkeypatch.setattr(images, "_PIECE", 2)
    monkeypatch.setattr(places, "_PER_FILE", 40)
    rows = rows_of(11, 80)
    alone = oc.anonymize(rows, 3, oc.AllItemsets(2))
    frame = long_frame(spark, rows, random.Random(11))
    target = tmp_path / "released"
    there = oc.spark.anonymize(frame, 3, oc.AllItemsets(2), **LONG, released=target)
    assert there.plan is not None
    assert there.plan.chunks > 2
    files = sorted(target.glob("*.parquet"))
    assert len(files) > 2
    written = [row for path in files for row in pl.read_parquet(path).rows()]
    assert written == alone.released.to_polars("long").rows()
    assert there.mapping == alone.mapping


def test_a_mapping_again(spark: Any, tmp_path: Path) -> None:
    rows = rows_of(12)
    mapping = oc.anonymize(rows, 3, oc.AllItemsets(2)).mapping
    policy = oc.Policy(3, oc.AllItemsets(2))
    frame = long_frame(spark, rows, random.Random(12))
    target = tmp_path / "released"
    there = oc.spark.apply(frame, mapping, policy, **LONG, released=target, to="list")
    alone = oc.apply_mapping(rows, mapping, policy)
    assert there.verdict == alone.verdict
    assert oc.read(target, items="items") == alone.released
    verdict = oc.spark.verify(frame, there.released, mapping, policy, **LONG)
    assert verdict == alone.verdict
    fewer = long_frame(spark, rows[:8], random.Random(12))
    with pytest.raises(oc.VerificationError, match="verification on the cluster failed"):
        oc.spark.apply(fewer, mapping, policy, **LONG, released=target, replace=True)
    assert oc.read(target, items="items") == alone.released  # the earlier one is untouched
    more = long_frame(spark, [*rows, {"new"}], random.Random(12))
    with pytest.raises(oc.UnknownItemsError, match="'new'"):
        oc.spark.apply(more, mapping, policy, **LONG, released=target, replace=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["released"]


def test_only_rows_of_items_that_matter(spark: Any) -> None:
    """Explicit itemsets: the other items need not come, as the page on clusters shows."""
    from pyspark.sql import functions as F  # noqa: N812

    rng = random.Random(5)
    rows = [
        frozenset(rng.choices("abcdefgh", [9, 8, 4, 3, 9, 8, 7, 2], k=rng.randint(0, 5)))
        for _ in range(200)
    ]
    itemsets, blocks = [["a", "b"], ["b", "c", "d"]], [["a", "b"], ["c", "d", "h"], ["e", "f"]]
    policy = oc.Policy(20, oc.Itemsets(itemsets), oc.Utility(blocks, rest="intact"), 30)
    frame = long_frame(spark, rows, rng)

    matter = ["a", "b", "c", "d", "h"]  # of the itemsets, and of the sets that hold one of these
    kept = F.when(F.col("code").isin(matter), F.col("code"))
    smaller = oc.Policy(20, oc.Itemsets(itemsets), oc.Utility(blocks[:2], rest="intact"), 30)
    part = oc.spark.anonymize(frame.withColumn("code", kept), smaller, **LONG)
    items = [row.code for row in frame.select("code").distinct().collect() if row.code]
    labels = {item: part.mapping[item] if item in matter else item for item in items}
    there = oc.spark.apply(frame, labels, policy, **LONG, to="list")

    alone = oc.anonymize(rows, policy)
    assert any(len(group) > 1 for group in alone.mapping.groups.values())
    assert there.mapping == alone.mapping
    assert there.verdict == alone.verdict
    assert part.plan is not None
    assert part.plan.n_rows < oc.read(rows).n_distinct
    assert [tuple(row) for row in there.released.collect()] == alone.released.to_polars(
        "list"
    ).rows()


def test_a_table_of_the_catalogue(spark: Any) -> None:
    frame = long_frame(spark, ROWS, random.Random(1))
    name = "table:overcoat_released"
    try:
        oc.spark.anonymize(frame, POLICY, **LONG, released=name)
        with pytest.raises(oc.DataError, match="exists already"):
            oc.spark.anonymize(frame, POLICY, **LONG, released=name)
        there = oc.spark.anonymize(frame, POLICY, **LONG, released=name, replace=True)
        assert {one.name for one in spark.catalog.listTables()} == {"overcoat_released"}
        alone = oc.anonymize(ROWS, POLICY)
        assert sorted(map(tuple, there.released.collect()), key=str) == sorted(
            alone.released.to_polars("long").rows(), key=str
        )
    finally:
        spark.sql("DROP TABLE IF EXISTS overcoat_released")


def test_a_store_where_nothing_can_be_renamed(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A marker is the commit: before it there is nothing that readers would find."""
    address = (tmp_path / "store").as_uri()
    monkeypatch.setattr(
        public, "target_for", lambda name, form, replace: Store(address, form, replaces=replace)
    )
    frame = list_frame(spark, ROWS, random.Random(1))
    seen: list[list[str]] = []

    def report(result: object) -> None:
        seen.append(sorted(path.name for path in (tmp_path / "store").iterdir()))

    how: dict[str, Any] = {"items": "codes", "released": "elsewhere", "report": report}
    there = oc.spark.anonymize(frame, POLICY, **how)
    assert all(name.startswith("_release-") for name in seen[0])
    alone = oc.anonymize(ROWS, POLICY)
    assert sorted(tuple(row[0]) for row in there.released.collect()) == sorted(
        map(tuple, alone.released.to_lists())
    )
    with pytest.raises(oc.DataError, match="exists already"):
        oc.spark.anonymize(frame, POLICY, **how)


@pytest.mark.parametrize("stage", ["reduce", "write", "verify on the cluster"])
def test_nothing_is_left_of_what_was_cancelled(spark: Any, tmp_path: Path, stage: str) -> None:
    frame = long_frame(spark, ROWS, random.Random(1))
    reached: list[str] = []
    context = oc.Context(
        progress=lambda name, done, of: reached.append(name), cancelled=lambda: stage in reached
    )
    how: dict[str, Any] = {"released": tmp_path / "out", "mapping": tmp_path / "map.json"}
    with pytest.raises(oc.CancelledError):
        oc.spark.anonymize(frame, POLICY, **LONG, **how, context=context)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("how", ["cancelled", "Ctrl-C"])
def test_the_cluster_ends_what_was_cancelled(spark: Any, how: str) -> None:
    """It does not go on with what nobody waits for, nor does anybody wait for that."""
    long = spark.range(1 << 50).selectExpr("sum(id % 7) AS total")
    said: list[str] = []
    sent: list[Timer] = []

    def work() -> None:
        try:
            long.toArrow()
        except Exception as error:
            said.append(str(error))
            raise

    def stage() -> None:
        if not spark.sparkContext.statusTracker().getActiveJobsIds():
            return
        if how == "cancelled":
            raise oc.CancelledError
        if not sent:  # while this thread waits, as it does nearly all the time
            sent.append(Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)))
            sent[0].start()

    earlier = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises((oc.CancelledError, KeyboardInterrupt)):
            Jobs(spark).run("add up", work, cast(Any, stage))
    finally:
        signal.signal(signal.SIGINT, earlier)
    assert "cancel" in "".join(said).lower()


def test_nothing_is_left_of_what_fails(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = long_frame(spark, ROWS, random.Random(1))
    how: dict[str, Any] = {"released": tmp_path / "out", "mapping": tmp_path / "map.json"}

    def fail(result: object) -> None:
        assert any(tmp_path.glob(".out.*/data/*.parquet"))  # it is all there, without its name
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        oc.spark.anonymize(frame, POLICY, **LONG, **how, report=fail)
    with pytest.raises(oc.DataError, match=r"need about .* on the driver"):
        oc.spark.anonymize(frame, POLICY, **LONG, **how, context=oc.Context(memory=1))
    # A column of the frame that cannot be computed fails on an executor.
    full = "if(code = 'z', raise_error('No space left on device'), code) AS code"
    broken = frame.selectExpr("person", full)
    with pytest.raises(oc.DataError, match=r"the cluster could not .*a disk is full.*nothing was"):
        oc.spark.anonymize(broken, POLICY, **LONG, **how)
    # What a process that is no more has left is removed by the next.
    dead = tmp_path / f".out.{_dead()}-abc"
    dead.mkdir()
    oc.spark.anonymize(frame, POLICY, **LONG, **how)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["map.json", "out"]


def test_what_tasks_make_after_their_end_is_removed(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They abort when they are told to, not at once."""
    writing = "if(code = 'z', raise_error('told to end'), code) AS code"
    broken = long_frame(spark, ROWS, random.Random(1)).selectExpr("person", writing)
    folder = Folder(str(tmp_path / "out"), "parquet", replaces=False)
    jobs = Jobs(spark)
    with pytest.raises(oc.DataError, match="told to end"):
        folder.stage(broken, jobs, QUIET)
    late = iter([True, False, True])

    def wait(seconds: float) -> None:
        if next(late, False):
            (folder._home / "data" / "_temporary").mkdir(parents=True)

    monkeypatch.setattr(time, "sleep", wait)
    folder.end(jobs)
    assert next(late, None) is None  # all of it came while it was looked
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        ({"JAVA_TOOL_OPTIONS": "-XX:+UseSerialGC"}, True),
        ({"JAVA_TOOL_OPTIONS": "-Xmx1g"}, False),
        ({"SPARK_CONF_DIR": "spark.driver.extraJavaOptions -XX:+UseZGC"}, True),
        ({"SPARK_CONF_DIR": "spark.driver.memory 2g"}, False),
    ],
)
def test_a_garbage_collector_is_chosen_once(
    names: dict[str, str], chosen: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Java does not start if it is told twice."""
    from overcoat.spark import session

    for name in (*session._JAVA_OPTIONS, "SPARK_HOME", "SPARK_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in names.items():
        if name == "SPARK_CONF_DIR":
            (tmp_path / "spark-defaults.conf").write_text(value, encoding="utf-8")
        monkeypatch.setenv(name, str(tmp_path) if name == "SPARK_CONF_DIR" else value)
    assert session._collector_is_chosen({"spark_driver_cores": 1}) == chosen


def _dead() -> str:
    import subprocess

    from overcoat.spark.target import _owner

    process = subprocess.Popen(["true"])
    process.wait()
    return _owner(process.pid)


@pytest.mark.parametrize(
    ("columns", "how", "said"),
    [
        ({"p": ["1"], "c": ["a"]}, {"id": "p"}, "give both id and item"),
        ({"p": ["1"], "c": ["a"]}, {"id": "p", "item": "x"}, "no column 'x'"),
        ({"p": ["1"], "c": ["a"]}, {}, "say which columns"),
        ({"p": ["1"], "c": [2.5]}, {"id": "p", "item": "c"}, "cast it to string first"),
        ({"p": ["1"], "c": ["a"]}, {"items": "c"}, "holds string, not lists"),
        ({"p": ["1", None], "c": ["a", "b"]}, {"id": "p", "item": "c"}, "1 rows have no id"),
        ({"c": [["a", None]]}, {"items": "c"}, "1 lists hold a null"),
        ({"c": [["a"]], "n": [0]}, {"items": "c", "count": "n"}, "missing or below 1"),
    ],
)
def test_bad_tables(spark: Any, columns: Any, how: dict[str, Any], said: str) -> None:
    with pytest.raises(oc.DataError, match=said):
        oc.spark.anonymize(spark.createDataFrame(pa.table(columns)), POLICY, **how)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"person": ["1", None], "code": ["a", "b"]}, "1 rows have no id"),
        ({"codes": [["a", None]], "n": [1]}, "1 lists hold a null"),
        ({"codes": [["a"], ["b"]], "n": [1, None]}, "missing or below 1"),
        ({"codes": [["a"], ["a"], ["b"]], "n": [-2, 3, 1]}, "missing or below 1"),
    ],
)
def test_bad_releases(spark: Any, columns: Any, said: str) -> None:
    """Whatever is wrong with them is said; counts that add up are no excuse."""
    how: dict[str, Any] = {"items": "codes", "count": "n"} if "n" in columns else LONG
    whole: dict[str, Any] = {"codes": [["a"], ["b"]], "n": [1, 1]}
    whole |= {"person": ["1", "2"], "code": ["a", "b"]}
    frame = spark.createDataFrame(pa.table({name: whole[name] for name in columns}))
    released = spark.createDataFrame(pa.table(columns))
    mapping = oc.Mapping.of("ab", [["a"], ["b"]])
    with pytest.raises(oc.DataError, match=said):
        oc.spark.verify(frame, released, mapping, oc.Policy(1, oc.AllItemsets(1)), **how)


def test_risk(spark: Any) -> None:
    rows = rows_of(21, 50)
    mapping = oc.anonymize(rows, 3, oc.AllItemsets(1), max_suppressed=20).mapping
    gone = oc.Mapping.of(mapping.vocabulary, mapping.members[:-1])  # with something suppressed
    frame = long_frame(spark, rows, random.Random(21))
    linkable = [item for item in mapping.vocabulary if item != "9"]
    there = oc.spark.risk(frame, gone, **LONG, k=4, linkable=linkable)
    alone = oc.risk(rows, mapping=gone, known=2, k=4, linkable=linkable)
    assert there.n_people == alone.n_people
    assert alone.after is not None
    assert there.after is not None
    for here, one in zip(
        (*there.before, *there.after), (*alone.before[:2], *alone.after[:2]), strict=True
    ):
        assert (here.known, here.unique, here.below_k, here.sizes) == (
            *(one.known, one.unique, one.below_k, one.sizes),
        )
        assert here.chance == pytest.approx(one.chance, rel=1e-12)
