"""The benchmarks run, tiny, so that they never rot; how fast they are is not tested."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def test_benchmarks_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("scipy")
    from benchmarks.cases import GROWING
    from benchmarks.run import main

    page = tmp_path / "page.md"
    main(["--scale", "tiny", "--out", str(page)])
    text = page.read_text(encoding="utf-8")
    assert capsys.readouterr().out == text
    tables = [part for part in text.split("\n\n") if part.startswith("|")]
    runs, growth, memory, threads = (table.splitlines() for table in tables)
    n_families = len(GROWING)
    assert len(runs) == 2 + 2 + 2 + 3 * n_families
    assert len(growth) == 2 + 2 + n_families
    assert len(memory) == 2 + 2 + 2
    assert len(threads) == 2 + 9
    for table in (runs, growth, memory, threads):
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
