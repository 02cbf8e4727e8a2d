"""How compiled parts are compiled: doubles must come out the same on every machine."""

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import setuptools  # type: ignore[import-untyped]
from setuptools.command.build_ext import build_ext  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[2]


def test_a_product_and_a_sum_are_rounded_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a compiler may fuse them, a search finds its way by other numbers."""
    told: dict[str, Any] = {}
    monkeypatch.setattr(setuptools, "setup", lambda **given: told.update(given))
    monkeypatch.setattr(build_ext, "build_extensions", lambda self: None)
    monkeypatch.chdir(ROOT)
    build = runpy.run_path("setup.py")["BuildParts"]
    globals_of = build.build_extensions.__globals__
    monkeypatch.setitem(globals_of, "cythonize", lambda extensions, **options: extensions)
    job = build(setuptools.Distribution())
    job.extensions, job.compiler = told["ext_modules"], SimpleNamespace(compiler_type="unix")
    job.build_extensions()
    flags_of = {one.name: set(one.extra_compile_args) for one in job.extensions}
    assert {"overcoat.kernels.annealing", "overcoat.kernels.costs"} <= flags_of.keys()
    for flags in flags_of.values():
        assert "-ffp-contract=off" in flags
        assert not flags & {"-ffast-math", "-Ofast", "-funsafe-math-optimizations"}
