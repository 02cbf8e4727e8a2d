"""The benchmarks run, tiny, so that they never rot; how fast they are is not tested."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def test_benchmarks_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("scipy")
    from benchmarks.cases import GROWING, LARGE
    from benchmarks.memory import NEEDS
    from benchmarks.run import main

    page = tmp_path / "page.md"
    main(["--scale", "tiny", "--out", str(page)])
    text = page.read_text(encoding="utf-8")
    assert capsys.readouterr().out == text
    tables = [part for part in text.split("\n\n") if part.startswith("|")]
    runs, growth, memory, estimates, *threads = (table.splitlines() for table in tables)
    n_families, n_large = len(GROWING), len(LARGE)
    assert len(runs) == 2 + 2 + 2 * n_large + 2 + 3 * n_families
    assert len(growth) == 2 + 2 + n_large + n_families
    assert len(memory) == 2 + 2 + 2 * n_large + 2
    assert len(estimates) == 2 + 3 * len(NEEDS)
    assert [len(table) for table in threads] == [2 + 9, 2 + 9]
    for table in (runs, growth, memory, estimates, *threads):
        assert len({row.count("|") for row in table}) == 1
    assert "| N | 200 | 400 |" in text
    assert "| Greedy, p = 2 | 60 | 240 |" in text


def test_the_machine_is_described_where_the_system_tells_little(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from benchmarks.run import machine

    monkeypatch.delattr(os, "sysconf", raising=False)
    assert f"{os.cpu_count()} cores of " in machine()


@pytest.mark.xdist_group("postgresql")
def test_sources_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    for module in ("duckdb", "adbc_driver_sqlite", "adbc_driver_postgresql"):
        pytest.importorskip(module)
    from benchmarks.sources import main

    main(["--scale", "tiny", "--times", "1"])
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + 6
    assert len({row.count("|") for row in rows}) == 1


@pytest.mark.xdist_group("browser")
def test_the_page_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    for module in ("playwright", "uvicorn"):
        pytest.importorskip(module)
    if sys.platform != "linux":
        pytest.skip("the memory of a process is told by /proc")
    from benchmarks.web import main

    main(["--times", "1", "--n-rows", "300"])
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + 14
    assert {row.count("|") for row in rows} == {4}


def test_what_runs_on_spark_is_laid_out(tmp_path: Path) -> None:
    """The data, and the row of a run that has been; the tests of Spark run the command itself."""
    pq = pytest.importorskip("pyarrow.parquet")
    from benchmarks import spark

    n_pairs = spark.write_pairs(tmp_path / "in", 40_000)
    table = pq.read_table(tmp_path / "in")
    assert table.num_rows == n_pairs
    assert len(table["person"].unique()) == 40_000
    seconds = {"read": 1.0, "reduce": 2.0, "fetch": 0.5, "measure": 0.5, "write": 3.0}
    plan = {"n_distinct": 70, "driver_memory_planned": 5 << 20}
    said = {"seconds": seconds, "peak_memory_mb": 150.0, "n_transactions": 100, "spark": plan}
    there = spark.Run(10.0, said)
    assert there.session == 3.0
    base = spark.Run(5.0, {**said, "peak_memory_mb": 140.0})
    row = spark._row(320, spark.Run(2.5, said), there, base)
    cells = ["320", "100", "70", "2.5", "10", "4.0", "3", "1", "2", "1", "3", "0", "5", "10", "150"]
    assert row == f"| {' | '.join(cells)} |\n"
    assert row.count("|") == spark._header().splitlines()[0].count("|")
