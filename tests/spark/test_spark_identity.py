"""On a cluster comes out what comes out on one machine: mapping, released rows, verdict."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import overcoat as oc
from bridge import policy_of
from spark_frames import list_frame, long_frame
from strategies import Instance, random_instance

pytestmark = pytest.mark.xdist_group("spark")

# Of every family, alone and together; 8 cannot be met.
SEEDS = (0, 1, 2, 4, 6, 8, 12, 21, 27, 29)


def outcome(call: Any) -> Any:
    try:
        return call()
    except oc.OvercoatError as error:
        return error


def instance_of(seed: int) -> Instance:
    """An instance whose policy can be met more often than not."""
    rng = random.Random(seed)
    while True:
        instance = random_instance(rng)
        kinds = {family[0] for family in instance.families}
        if instance.rows and ("itemsets", "all", "pgen")[seed % 3] in kinds:
            return instance


@pytest.mark.parametrize("seed", SEEDS)
def test_as_on_one_machine(spark: Any, seed: int, tmp_path: Path) -> None:
    instance = instance_of(seed)
    rng, policy = random.Random(seed), policy_of(instance)
    alone = outcome(lambda: oc.anonymize(instance.rows, policy, allow_identifiers=True))
    target = tmp_path / "released"
    how: dict[str, Any] = {"policy": policy, "allow_identifiers": True, "released": target}
    how["mapping"] = tmp_path / "map.json"
    columns: dict[str, Any] = {"id": "person", "item": "code"} if seed % 2 else {"items": "codes"}
    frame = (long_frame if seed % 2 else list_frame)(spark, instance.rows, rng)
    there = outcome(lambda: oc.spark.anonymize(frame, **columns, **how))
    assert type(there).__name__.removeprefix("Spark") == type(alone).__name__, there
    if isinstance(alone, oc.OvercoatError):
        assert str(there) == str(alone)
        assert not list(tmp_path.iterdir())
        return
    assert there.mapping == alone.mapping
    assert there.verdict == alone.verdict
    assert there.evidence.released == alone.released
    copy = oc.read(target, **columns)
    assert copy == alone.released
    assert there.released.count() == len(alone.released.to_polars("long" if seed % 2 else "list"))
    mine = alone.released.to_polars("long" if seed % 2 else "list").rows()
    order = sorted(path for path in target.iterdir() if path.suffix == ".parquet")
    # Not only the same rows: the same numbers, in the same order.
    assert [row for path in order for row in pl.read_parquet(path).rows()] == mine
    known = oc.Mapping.read(tmp_path / "map.json")
    assert known == alone.mapping
    assert known.release == alone.released.content_digest
    verdict = oc.spark.verify(frame, there.released, known, policy, **columns)
    assert verdict == alone.verdict
    assert sorted(path.name for path in tmp_path.iterdir()) == ["map.json", "released"]


BLOCKS = {"vowels": ["a", "e"], "hard": ["b", "c", "d"]}
TOGETHER, INTACT = oc.Utility(BLOCKS), oc.Utility(BLOCKS, rest="intact")
EXPLICIT = oc.Itemsets([["a"], ["a", "b"], ["c", "d", "e"], ["b", "c", "d", "e", "f"]])
# What is asked for, and the method that finds it.
ASKED: dict[str, tuple[oc.Policy, str | oc.Method]] = {
    "explicit": (oc.Policy(6, EXPLICIT, TOGETHER, 30), "coat"),
    "explicit, intact": (oc.Policy(6, EXPLICIT, INTACT, 60), "coat"),
    "m = 1": (oc.Policy(9, oc.AllItemsets(1), TOGETHER, 50), "pcta"),
    "m = 2, linkable": (oc.Policy(4, oc.AllItemsets(2, list("abcfgh")), None, 0), "coat"),
    "m = 3": (oc.Policy(3, oc.AllItemsets(3), INTACT, 100), "coat"),
    "m = 4, searched": (oc.Policy(3, oc.AllItemsets(4)), oc.Search(steps=200)),
    "Pgen": (oc.Policy(3, oc.Pgen(), TOGETHER, 60), "coat"),
    "several": (oc.Policy(4, [EXPLICIT, oc.AllItemsets(2), oc.Pgen()], None, 50), "coat"),
    "coherence": (oc.Policy(3, oc.Coherence(2, private=["c", "h"], h=60), None, 100), "greedy"),
}


@pytest.mark.parametrize("name", ASKED)
def test_every_family(spark: Any, name: str) -> None:
    """Nothing is written here, so there is time for more of them."""
    policy, method = ASKED[name]
    rng = random.Random(name)
    rows = [
        frozenset(rng.choices("abcdefgh", [9, 8, 7, 5, 4, 3, 2, 1], k=rng.randint(0, 5)))
        for _ in range(rng.randint(40, 120))
    ]
    alone = oc.anonymize(rows, policy=policy, method=method)
    columns: dict[str, Any] = {"id": "person", "item": "code"}
    frame = long_frame(spark, rows, rng)
    there = oc.spark.anonymize(frame, policy=policy, method=method, to="list", **columns)
    assert there.mapping == alone.mapping
    assert there.verdict == alone.verdict
    assert [tuple(row) for row in there.released.collect()] == alone.released.to_polars(
        "list"
    ).rows()
