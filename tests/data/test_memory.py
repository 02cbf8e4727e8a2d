"""What does not fit is refused before the work, with a reason, not killed in the middle."""

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from overcoat.data import memory
from overcoat.data.io.long import POLARS_PAYS_FROM
from overcoat.data.samples import write_baskets
from overcoat.errors import DataError

ROOM = 100 << 20  # bytes beyond what the process has when the work starts

LIMITED = f"""
import resource, sys
import numpy, overcoat.release, overcoat.reports.text
from overcoat.cli import main
used = next(int(x.split()[1]) * 1024 for x in open("/proc/self/status") if x.startswith("VmSize"))
resource.setrlimit(resource.RLIMIT_AS, (used + {ROOM}, used + {ROOM}))
main()
"""


def test_what_is_needed_is_compared_with_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 100 << 20)
    memory.require_memory(99 << 20, "it")
    with pytest.raises(DataError, match=r"it needs about 3\.0 GiB of memory, and 100 MiB"):
        memory.require_memory(3 << 30, "it")
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    memory.require_memory(1 << 60, "it")  # where nobody can tell, one has to try


def test_something_is_known_about_this_machine() -> None:
    if not Path("/proc/meminfo").exists():
        pytest.skip("only Linux tells")
    free = memory.available_memory()
    assert free is not None
    assert free > 0


@pytest.mark.compiled(reason="what the work needs was measured with it")
@pytest.mark.parametrize(
    ("rows", "what"), [(1_000_000, "hold and sort them takes"), (405_000, "the work needs")]
)
def test_a_run_under_a_small_limit_is_refused(tmp_path: Path, rows: int, what: str) -> None:
    pytest.importorskip("resource", reason="needs POSIX: limits on memory")
    if not Path("/proc/self/status").exists():
        pytest.skip("only Linux tells")
    data = tmp_path / "data.dat"
    write_baskets(data, rows, 1000)
    command = ["anonymize", str(data), "-k", "5", "--km", "2", "-o", str(tmp_path / "out.dat")]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *command],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert f"{what} about" in done.stderr
    assert "of memory" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["data.dat"]


SMALL = """
import resource, sys
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
from overcoat.cli import main
main()
"""
LISTS = pl.DataFrame({"items": [["a", "b"], ["a"], ["b"]] * 400})
PAIRS = pl.DataFrame(
    {"id": [n for n in range(60_000) for _ in range(2)], "item": ["asthma", "diabetes"] * 60_000}
)


@pytest.mark.parametrize("limit", [300, 400, 500, 600, 1000])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_polars_is_not_used_where_it_would_abort(tmp_path: Path, kind: str, limit: int) -> None:
    """A table of text is read without it; what cannot be is refused. Nothing ends in an abort."""
    pytest.importorskip("resource", reason="needs POSIX: limits on memory")
    if not Path("/proc/self/status").exists():
        pytest.skip("only Linux tells")
    data, out = tmp_path / f"data.{kind}", tmp_path / f"out.{kind}"
    if kind == "csv":
        PAIRS.write_csv(data)
        assert data.stat().st_size > POLARS_PAYS_FROM
        columns = ["--id", "id", "--item", "item"]
    else:
        LISTS.write_parquet(data)
        columns = ["--items", "items"]
    command = ["anonymize", str(data), *columns, "-k", "5", "--km", "2", "-o", str(out)]
    environment = {key: value for key, value in os.environ.items() if "THREADS" not in key}
    done = subprocess.run(
        [sys.executable, "-c", SMALL, str(limit << 20), *command],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    if kind == "csv" and limit == 300:  # just about what the program itself takes
        assert done.returncode == 0 or (done.returncode, out.exists()) == (2, False), done.stderr
    elif kind == "csv":
        assert done.returncode == 0, done.stderr
        assert out.exists()
    else:
        assert done.returncode == 2, done.stderr
        assert "reading Parquet needs about 1.3 GiB of address space, and " in done.stderr
        assert not out.exists()


def test_polars_needs_room_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_address_space_free", lambda: 1 << 30)
    memory.require_polars("a frame")  # it is there already
    monkeypatch.delitem(sys.modules, "polars")
    monkeypatch.setenv("POLARS_MAX_THREADS", "8")
    with pytest.raises(DataError, match=r"a frame needs about 2\.2 GiB of address space, and 1\.0"):
        memory.require_polars("a frame")
    monkeypatch.setattr(memory, "_address_space_free", lambda: 3 << 30)
    memory.require_polars("a frame")
    monkeypatch.setattr(memory, "_address_space_free", lambda: None)  # there is no limit
    memory.require_polars("a frame")
