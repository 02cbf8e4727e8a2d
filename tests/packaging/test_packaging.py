"""What is handed out: a source distribution that builds, and a wheel that runs and is typed.

All of it is made from a clean copy of the sources, in environments of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from overcoat._version import __version__

ROOT = Path(__file__).parents[2]
CONSTRAINTS = str(ROOT / "constraints.txt")
NOT_SOURCES = shutil.ignore_patterns(
    *(".venv", ".git", ".*_cache", ".hypothesis", "__pycache__", "*.egg-info"),
    *("build", "dist", "demo", "experiments-out", "*.so", "*.pyd", "*.c", ".coverage*"),
)

OURS = ("PYTHONPATH", "MYPYPATH", "OVERCOAT_ENGINE")  # what would lead back to these sources

# One group runs on one worker: what is built here is built once.
pytestmark = pytest.mark.xdist_group("packaging")


def run(*command: object, cwd: Path) -> str:
    """Run a command away from these sources; what it prints is shown if it fails."""
    environment = {name: os.environ[name] for name in os.environ if name not in OURS}
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=environment | {"PYTHONWARNINGS": "error::RuntimeWarning"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def make_environment(folder: Path, *packages: object) -> Path:
    """Return the Python of a new environment with these packages, at the versions of ours."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(python, "-m", "pip", "install", "--no-compile", "-c", CONSTRAINTS, *packages, cwd=folder)
    return python


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("packaging")


@pytest.fixture(scope="module")
def sources(folder: Path) -> Path:
    return Path(shutil.copytree(ROOT, folder / "sources", ignore=NOT_SOURCES))


@pytest.fixture(scope="module")
def builder(folder: Path, sources: Path) -> Path:
    """The Python of an environment with nothing but what building is declared to need."""
    system = tomllib.loads((sources / "pyproject.toml").read_text("utf-8"))["build-system"]
    try:
        return make_environment(folder / "builder", "build", *system["requires"])
    except AssertionError as error:
        pytest.skip(f"what building needs cannot be installed here: {str(error)[-200:]}")


@pytest.fixture(scope="module")
def unpacked(folder: Path, sources: Path, builder: Path) -> Path:
    """The source distribution, unpacked."""
    build = ("-m", "build", "--no-isolation", "--outdir", folder)
    run(builder, *build, "--sdist", sources, cwd=folder)
    name = f"overcoat-{__version__}"
    with tarfile.open(folder / f"{name}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / name


@pytest.fixture(scope="module")
def wheel(folder: Path, unpacked: Path, builder: Path) -> Path:
    """The wheel that is built from the source distribution."""
    build = ("-m", "build", "--no-isolation", "--outdir", folder)
    run(builder, *build, "--wheel", unpacked, cwd=folder)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(folder: Path, wheel: Path) -> Path:
    """The Python of an environment with the wheel and what it needs."""
    return make_environment(folder / "installed", wheel)


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_the_source_distribution_is_all_there_is(sources: Path, unpacked: Path) -> None:
    written = {"PKG-INFO", "setup.cfg"}
    held, there = (
        {name for name in files_below(folder) if ".egg-info/" not in name}
        for folder in (unpacked, sources)
    )
    assert held - written == there - {".gitignore"}


def test_the_wheel_is_what_runs_and_nothing_else(sources: Path, wheel: Path) -> None:
    """The sources of compiled parts are among it: by them a kept run knows what made it."""
    package = sources / "src"
    with zipfile.ZipFile(wheel) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    files = {name: held.pop(name) for name in list(held) if name.startswith("overcoat/")}
    compiled = {name: files.pop(name) for name in list(files) if name.endswith((".so", ".pyd"))}
    assert all(name.startswith(f"overcoat-{__version__}.dist-info/") for name in held)
    names = {name for name in files_below(package) if name.startswith("overcoat/")}
    assert files == {name: (package / name).read_bytes() for name in names}
    assert "overcoat/py.typed" in files

    parts = {name.removesuffix(".pyx") for name in files if name.endswith(".pyx")}
    assert {name.partition(".")[0] for name in compiled} == parts | {"overcoat/_shared"}
    assert not any(b".debug_info" in content for content in compiled.values())


def test_the_command_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    command = installed.with_name("overcoat")
    assert run(command, "--version", cwd=tmp_path) == f"overcoat {__version__}\n"
    assert "verified    yes" in run(command, "demo", "--out", "demo", cwd=tmp_path)
    assert (tmp_path / "demo" / "released.csv").exists()


OUTSIDE = """
from pathlib import Path

import overcoat as oc

data: oc.Transactions = oc.read([{"flu", "gout"}, {"flu"}, {"gout"}, {"flu", "gout"}])
result: oc.Result = oc.anonymize(data, k=2, privacy=[oc.AllItemsets(2)], max_suppressed=0.5)
label: str | None = result.mapping["flu"]
verdict: oc.Verdict = oc.verify(data, result.released, result.mapping, result.policy)


def publish(path: Path) -> None:
    result.write(path)
"""


@pytest.mark.parametrize(
    ("more", "complaint"),
    [("", ""), ('oc.read(["a"], item=1)\n', "[arg-type]")],
    ids=["right", "wrong"],
)
def test_types_are_seen_from_outside(
    installed: Path, folder: Path, tmp_path: Path, more: str, complaint: str
) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "outside.py").write_text(OUTSIDE + more, encoding="utf-8")
    check = [
        *(sys.executable, "-m", "mypy", "--strict", "--config-file="),
        *("--python-executable", installed, "--cache-dir", folder / "mypy", "outside.py"),
    ]
    if complaint:
        with pytest.raises(AssertionError) as caught:
            run(*check, cwd=tmp_path)
        assert complaint in str(caught.value)
    else:
        run(*check, cwd=tmp_path)
