"""What does not fit is refused before the work, with a reason, not killed in the middle."""

import subprocess
import sys
from pathlib import Path

import pytest

from overcoat.data import memory
from overcoat.data.samples import write_baskets
from overcoat.errors import DataError

ROOM = 100 << 20  # bytes beyond what the process has when the work starts

LIMITED = f"""
import resource, sys
import numpy, overcoat.release, overcoat.report.text
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


@pytest.mark.parametrize(("rows", "what"), [(1_000_000, "reading it"), (300_000, "the work")])
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
    assert f"{what} needs about" in done.stderr
    assert "of memory" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["data.dat"]
