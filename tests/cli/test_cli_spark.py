"""`anonymize --spark`: the command on a cluster, and what it refuses."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import polars as pl
import pytest

import overcoat as oc
from cli.command import Desk
from spark_cluster import need_spark

pytestmark = pytest.mark.xdist_group("spark-cluster")


def test_refuses_what_a_cluster_does_not_do(desk: Desk) -> None:
    asked = ["anonymize", "in", "--id", "p", "--item", "c", "-k", "2", "--km", "2", "-o", "out"]
    done = desk.run(*asked, "--keep-order", "--sep", ";", "--dry-run", "--spark")
    assert done.status == 2
    for said in ("--id and --item, or --items, only", "--keep-order cannot", "--dry-run cannot"):
        assert said in done.err


def test_the_command(desk: Desk, tmp_path: Path) -> None:
    need_spark()
    rows = [["a", "b"], ["a", "c"], ["a"], ["a"], ["b"]] * 2
    pairs = [(number, item) for number, row in enumerate(rows) for item in row]
    frame = pl.DataFrame(pairs, schema=["p", "c"], orient="row")
    (tmp_path / "in").mkdir()
    frame.write_parquet(tmp_path / "in" / "1.parquet")
    asked = ["anonymize", str(tmp_path / "in"), "--id", "p", "--item", "c", "-k", "3", "--km", "2"]
    asked += ["-o", str(tmp_path / "out"), "--mapping", str(tmp_path / "map.json"), "--json"]
    papers = {"report": "r.html", "external-report": "e.html", "certificate": "c.json"}
    papers |= {"public-certificate": "p.json", "codebook": "book.csv"}
    for option, name in papers.items():
        asked += [f"--{option}", str(tmp_path / name)]
    with desk.start(*asked, "--spark", "local[2]") as process:
        out, err = process.communicate(timeout=300)  # a session alone may take half a minute
    assert process.returncode == 0, err.decode()
    told = json.loads(out)
    alone = oc.anonymize(rows, 3, oc.AllItemsets(2))
    assert told["verified"]
    assert told["spark"]["verified_on_cluster"]
    assert told["n_transactions"] == 10
    assert oc.Mapping.read(tmp_path / "map.json") == alone.mapping
    assert oc.read(tmp_path / "out", id="p", item="c") == alone.released
    # The same evidence as on one machine, about these very files.
    certified = json.loads((tmp_path / "c.json").read_text())
    assert certified["digests"]["released_rows"] == alone.released.content_digest
    mapping = (tmp_path / "map.json").read_bytes()
    assert certified["digests"]["mapping"] == hashlib.sha256(mapping).hexdigest()
    assert json.loads((tmp_path / "p.json").read_text())["edition"] == "public"
    assert len((tmp_path / "book.csv").read_text().splitlines()) == 1 + 3
    assert all("<html" in (tmp_path / name).read_text() for name in ("r.html", "e.html"))
    checked = desk.run(
        *("verify", str(tmp_path / "in"), str(tmp_path / "out"), "--id", "p", "--item", "c"),
        *("--mapping", str(tmp_path / "map.json"), "--certificate", str(tmp_path / "p.json")),
    )
    assert checked.status == 0, checked.err
