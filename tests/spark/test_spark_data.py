"""On a cluster as on one machine, on the real data sets; and with a disk that is really full."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import overcoat as oc
from spark_frames import long_frame

pytestmark = pytest.mark.xdist_group("spark")

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
PAIRS = oc.Policy(5, oc.AllItemsets(2))
# Of each data set: in how many parts it is, and what must hold.
SETS = {
    "groceries.csv": (5, oc.Policy(5, oc.Pgen())),
    "diabetes130-patients.dat": (7, oc.Policy(10, oc.AllItemsets(2), max_suppressed=1)),
    "bms-webview-1.dat": (1, PAIRS),
    "bms-webview-2.dat": (3, PAIRS),
    "t10i4d100k.dat.gz": (11, PAIRS),
}


@pytest.mark.parametrize("name", SETS)
def test_real_data(spark: Any, name: str, tmp_path: Path) -> None:
    if not (DATA / name).exists():
        pytest.skip(f"there is no {name} in ../shared/data")
    n_parts, policy = SETS[name]
    data = oc.read(DATA / name)
    alone = oc.anonymize(data, policy)
    frame = spark.createDataFrame(data.to_arrow("long")).repartition(n_parts)
    # Compiled, as outside the tests; the small ones of these are quicker without.
    spark.conf.set("spark.sql.codegen.wholeStage", "true")
    try:
        there = oc.spark.anonymize(
            frame, policy, id="id", item="item", released=tmp_path / "out", to="long"
        )
    finally:
        spark.conf.set("spark.sql.codegen.wholeStage", "false")
    assert there.mapping == alone.mapping
    assert there.verdict == alone.verdict
    files = sorted((tmp_path / "out").glob("*.parquet"))
    written = pl.concat([pl.read_parquet(path) for path in files])
    assert written.equals(alone.released.to_polars("long"))


def test_a_disk_is_full(spark: Any, small_disk: Path, tmp_path: Path) -> None:
    """What does not fit is not published, nothing is left of it, and elsewhere it succeeds."""
    rng = random.Random(3)
    rows = [{f"c{rng.randrange(40)}" for _ in range(rng.randint(1, 6))} for _ in range(20_000)]
    frame = long_frame(spark, rows, rng)
    how: dict[str, Any] = {"id": "person", "item": "code", "mapping": tmp_path / "map.json"}
    with pytest.raises(oc.DataError, match=r"the cluster could not write .*a disk is full"):
        oc.spark.anonymize(frame, PAIRS, **how, released=small_disk / "out")
    assert not list(small_disk.iterdir())
    assert not (tmp_path / "map.json").exists()
    there = oc.spark.anonymize(frame, PAIRS, **how, released=tmp_path / "out")
    assert there.mapping == oc.anonymize(rows, PAIRS).mapping
