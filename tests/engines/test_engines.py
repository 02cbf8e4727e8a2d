"""Which engine runs: the one that was asked for, and never another one in silence."""

import os
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from overcoat.engines import chosen_engine, load
from overcoat.errors import PolicyError

SOURCE = Path(str(resources.files("overcoat")))
COMPILED = sorted(
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
    for path in SOURCE.rglob("*.pyx")
)

RUN = """
import sys, warnings
import overcoat as oc

rows = [{"a", "b"}, {"a"}, {"b", "c"}, {"a", "c"}, {"b"}, {"a", "b", "c"}]
result = oc.anonymize(rows, k=2, privacy=[oc.AllItemsets(2), oc.Pgen()], max_suppressed=50)
oc.evaluate(result.data, result.released, result.mapping, min_support=10)
print(sorted(result.mapping.groups), result.released.to_lists(), result.verdict.ok)
"""
LOADED = "print(*sorted(name for name in sys.modules if name in {compiled!r}))"
MISSING = """
import sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name in {compiled!r}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)

sys.meta_path.insert(0, Missing())
"""


def run(script: str, engine: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "OVERCOAT_ENGINE"}
    if engine is not None:
        environment["OVERCOAT_ENGINE"] = engine
    return subprocess.run(
        [
            sys.executable,
            "-W",
            "always::RuntimeWarning",
            "-c",
            script.replace("{compiled!r}", repr(COMPILED)),
        ],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )


@pytest.fixture(scope="module")
def expected() -> str:
    """What the compiled engine says, without a warning."""
    done = run(RUN, "compiled")
    assert done.returncode == 0, done.stderr
    assert "RuntimeWarning" not in done.stderr
    return done.stdout


def test_the_whole_package_runs_on_twins(expected: str) -> None:
    done = run(RUN + LOADED, "reference")
    assert done.returncode == 0, done.stderr
    assert done.stdout == expected + "\n"  # and no compiled module was loaded
    assert "RuntimeWarning" not in done.stderr  # it was asked for


def test_compiled_is_the_default(expected: str) -> None:
    done = run(RUN + LOADED)
    assert done.stdout.startswith(expected)
    loaded = done.stdout.split("\n")[-2].split()
    assert {"overcoat.data.rows", "overcoat.kernels.grouping"} <= set(loaded)


def test_what_is_missing_is_told_part_by_part(expected: str) -> None:
    done = run(MISSING + RUN)
    assert done.returncode == 0, done.stderr
    assert done.stdout == expected
    for room in ("data.rows", "data.baskets", "data.containment", "kernels.grouping"):
        assert f"RuntimeWarning: overcoat.{room} is not compiled" in done.stderr
    for room in ("verification.counting", "verification.images", "measures.counting"):
        assert f"RuntimeWarning: overcoat.{room} is not compiled" in done.stderr
    assert "reinstall Overcoat with a C compiler present" in done.stderr


def test_a_part_that_cannot_be_imported() -> None:
    twin = "overcoat.data.reference"
    told = r"overcoat\.data\.nowhere is not compiled \(No module named .*\); its slow twin runs"
    with pytest.warns(RuntimeWarning, match=told):
        assert load("overcoat.data.nowhere", twin, "compiled").__name__ == twin
    assert load("overcoat.data.nowhere", twin, "reference").__name__ == twin


def test_an_unknown_engine_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PolicyError, match="there is no engine 'fast'; there are compiled and ref"):
        chosen_engine("fast")
    monkeypatch.setenv("OVERCOAT_ENGINE", "quick")
    with pytest.raises(PolicyError, match="OVERCOAT_ENGINE: there is no engine 'quick'; there are"):
        chosen_engine()
    assert chosen_engine("reference") == "reference"  # what is asked for goes first
    monkeypatch.setenv("OVERCOAT_ENGINE", "")
    assert chosen_engine() == "compiled"


def test_an_unknown_engine_ends_the_command() -> None:
    script = "import sys; sys.argv[1:] = ['demo']; from overcoat.cli import main; main()"
    done = run(script, "fast")
    assert done.returncode == 2
    assert "OVERCOAT_ENGINE: there is no engine 'fast'; there are compiled and reference" in (
        done.stderr
    )
