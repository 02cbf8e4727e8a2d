"""What is measured: the runs, the data they need, the floor beside them."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import overcoat as oc
from benchmarks.memory import NEEDS, Needed
from overcoat.data.samples import write_baskets

__all__ = [
    "SCALES",
    "Case",
    "Measured",
    "Need",
    "cases",
    "measure",
    "measure_need",
    "measure_startup",
    "needs",
    "threads_cases",
]

# The floor: read the file, and one product of the sparse matrix with itself. Nobody who looks at
# all pairs of items can do with less. Imports are not part of it, nor of the run's own total.
FLOOR = """
import sys, time
import numpy as np
from scipy.sparse import csr_array
import overcoat
overcoat.read([{"warm", "up"}])
start = time.perf_counter()
data = overcoat.read(sys.argv[1])
shape = data.n_distinct, data.n_items
matrix = csr_array((np.ones(len(data.codes), np.int32), data.codes, data.offsets), shape)
matrix.T @ matrix
print(time.perf_counter() - start)
"""

SCALES: dict[str, dict[str, Any]] = {
    "tiny": {
        "rows": [200, 400],
        "items": [20, 40],
        "wide": 300,
        "law": 50,
        "families": [60, 120, 240],
    },
    "small": {
        "rows": [10_000, 100_000],
        "items": [1_000, 5_000, 20_000],
        "wide": 100_000,
        "law": 20_000,
        "families": [2_500, 5_000, 10_000],
    },
    "full": {
        "rows": [100_000, 1_000_000, 3_000_000, 10_000_000],
        "items": [1_000, 5_000, 20_000, 40_000],
        "wide": 500_000,
        "law": 20_000,
        "families": [10_000, 30_000, 100_000],
    },
}
# Every family and every method that takes large data, to see how each grows.
GROWING = {
    "m = 1": "--km 1",
    "m = 2": "--km 2",
    "m = 3": "--km 3",
    "Pgen": "--pgen",
    "500 sets": "--privacy SETS",
    "PCTA, m = 2": "--km 2 --algorithm pcta",
    "Apriori, m = 2": "--km 2 --algorithm apriori",
    "Greedy, p = 2": "--km 2 --algorithm greedy -s 100",
    "Search, m = 2": "--km 2 --algorithm search --steps 20",
}
# Those of them that are measured on many rows, too, but for the largest.
LARGE = ("m = 3", "Pgen", "500 sets")
ROOT = Path(__file__).resolve().parents[1]
REAL = ("bms-webview-1.dat", "bms-webview-2.dat")


@dataclass(frozen=True)
class Case:
    """One run of the command."""

    name: str
    data: Path
    policy: tuple[str, ...]
    series: str | None = None  # runs of one series differ in `size` only
    size: int = 0
    floored: bool = True  # whether its floor is measured, too


@dataclass
class Measured:
    """What one run took.

    Attributes
    ----------
    wall : seconds from start to exit of the process
    seconds : by stage, inside the process
    peaks : MB by stage
    floor : seconds of the floor; not a number where that was not measured
    """

    case: Case
    wall: float
    seconds: dict[str, float]
    peak_memory_mb: float
    peaks: dict[str, float]
    floor: float
    answer: dict[str, Any] = field(repr=False)

    @property
    def ratio(self) -> float:
        """From read to written, in floors."""
        return self.seconds["total"] / self.floor


def cases(scale: str, folder: Path, real: Path | None) -> list[Case]:
    """Return the runs of a scale, making the data they need in `folder`."""
    sizes = SCALES[scale]
    pairs = ("-k", "5", "--km", "2", "--hierarchy", "balanced:5")
    found = []
    for n in sizes["rows"]:
        path = folder / f"rows-{n}.dat"
        write_baskets(path, n, sizes["law"], mean=8.0, skew=1.0)
        found.append(Case(f"{n:,} x {sizes['law']:,}, pairs", path, pairs, "N", n))
    for name in LARGE:
        for n in sizes["rows"][:3]:
            path = folder / f"rows-{n}.dat"
            policy = _policy(name, path)
            found.append(Case(f"{n:,} x {sizes['law']:,}, {name}", path, policy, f"N, {name}", n))
    wide = sizes["wide"]
    for n_items in sizes["items"]:
        path = folder / f"items-{n_items}.dat"
        write_baskets(path, wide, n_items, mean=8.0, skew=1.0)
        name = f"{wide:,} x {n_items:,}, pairs"
        found.append(Case(name, path, pairs, "items", n_items))
    found += _growing(sizes["families"], folder)
    for name in REAL if real is not None else ():
        assert real is not None
        for m in (2, 3, 4, 5) if name == REAL[0] else (2, 3):
            words = f"-k 5 --km {m} --hierarchy balanced:5"
            found.append(Case(f"{name}, m = {m}", real / name, tuple(words.split())))
        for m in (2, 3):
            words = f"-k 5 --km {m} --hierarchy balanced:5 --algorithm apriori"
            found.append(Case(f"{name}, Apriori, m = {m}", real / name, tuple(words.split())))
        for k in (5, 50):
            words = f"-k {k} --pgen --hierarchy balanced:5"
            found.append(Case(f"{name}, Pgen, k = {k}", real / name, tuple(words.split())))
    return found


def _growing(sizes: list[int], folder: Path) -> list[Case]:
    """Return runs of every family over data of some sizes, with a tenth as many items as rows."""
    found = []
    for name in GROWING:
        for n in sizes:
            path = _family_data(n, folder)
            words = _policy(name, path)
            found.append(Case(f"{n:,} rows, {name}", path, words, name, n, floored=False))
    return found


def _family_data(n: int, folder: Path) -> Path:
    path = folder / f"family-{n}.dat"
    if not path.exists():
        write_baskets(path, n, max(n // 10, 20), mean=8.0, skew=1.0)
    return path


def _policy(name: str, data: Path) -> tuple[str, ...]:
    """Return the options of a family or method of `GROWING`."""
    words = GROWING[name].replace("SETS", str(_sets(data)))
    return ("-k", "5", *words.split(), "--hierarchy", "balanced:5")


def _sets(data: Path) -> Path:
    """Return a file with 500 sets of 2 to 4 items of some data, drawn at random."""
    sets = data.with_suffix(".txt")
    if not sets.exists():
        labels, rng = oc.read(data).vocabulary.labels, random.Random(1)
        lines = (" ".join(rng.sample(labels, rng.randint(2, 4))) for _ in range(500))
        sets.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return sets


def threads_cases(scale: str, folder: Path) -> list[Case]:
    """Return the runs that are measured on one thread and on two; `cases` made their data."""
    n = SCALES[scale]["rows"][1]
    path = folder / f"rows-{n}.dat"
    return [
        Case(f"{n:,} rows, {name}", path, _policy(name, path), floored=False)
        for name in ("m = 2", "Pgen")
    ]


@dataclass(frozen=True)
class Need:
    """A run whose memory is measured beside what is foretold."""

    name: str
    data: Path
    size: int


def needs(scale: str, folder: Path) -> list[Need]:
    """Return every family and method over data of some sizes; `cases` made them."""
    sizes = SCALES[scale]["families"]
    return [Need(name, _family_data(n, folder), n) for name in NEEDS for n in sizes]


def measure_need(need: Need) -> Needed:
    """Measure the memory of a run, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.memory", str(need.data), need.name]
    if need.name == "500 sets":
        command += ["--sets", str(_sets(need.data))]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return Needed(**json.loads(done.stdout))


def measure(case: Case, folder: Path, threads: int | None = None) -> Measured:
    """Run one case in a process of its own, and its floor in another."""
    command = [sys.executable, "-m", "overcoat", "anonymize", str(case.data), *case.policy]
    command += ["-o", str(folder / "released.dat"), "--mapping", str(folder / "map.json"), "--json"]
    command += [] if threads is None else ["--threads", str(threads)]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    wall = time.perf_counter() - start
    floor = float("nan")
    if case.floored:
        command = [sys.executable, "-c", FLOOR, str(case.data)]
        floor = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    answer = json.loads(done.stdout)
    peaks = answer["peak_memory_mb"], answer["peak_memory_by_stage_mb"]
    return Measured(case, wall, answer["seconds"], *peaks, floor, answer)


def measure_startup(times: int = 5) -> tuple[float, float]:
    """Return the best times of `overcoat --version` and of `python -c pass`."""

    def best(*arguments: str) -> float:
        taken = []
        for _ in range(times):
            start = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
            taken.append(time.perf_counter() - start)
        return min(taken)

    return best("-m", "overcoat", "--version"), best("-c", "pass")
