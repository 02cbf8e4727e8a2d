"""What the package says of itself in several places is the same in all."""

import re
import tomllib
from pathlib import Path

from overcoat._version import __version__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
CITATION = (ROOT / "CITATION.cff").read_text("utf-8")


def test_the_citation_is_of_this_version() -> None:
    assert f"\nversion: {__version__}\n" in CITATION
    assert f"\nlicense: {PROJECT['license']}\n" in CITATION
    assert f"\n  - name: {PROJECT['authors'][0]['name']}\n" in CITATION


def test_every_version_of_python_is_named_tested_and_built_for() -> None:
    named = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    assert PROJECT["requires-python"] == f">={named[0]}"
    tests = (ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8")
    assert "[" + ", ".join(f'"{version}"' for version in named) + "]" in tests
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    assert tool["cibuildwheel"]["build"] == [f"cp{v.replace('.', '')}-*" for v in named]


def test_what_is_installed_is_pinned_for_developers() -> None:
    pinned = {
        line.partition("==")[0].lower()
        for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    }
    system = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]
    extras = [name for names in PROJECT["optional-dependencies"].values() for name in names]
    for requirement in [*PROJECT["dependencies"], *extras, *system["requires"]]:
        name = re.match(r"[\w.-]+", requirement)
        assert name is not None
        assert name[0].lower() in pinned, requirement
