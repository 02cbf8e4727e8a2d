"""What is measured: the runs, the data they need, the floor beside them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overcoat.data.samples import write_baskets

__all__ = ["SCALES", "Case", "Measured", "cases", "measure", "measure_startup"]

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
    "tiny": {"rows": [200, 400], "items": [20, 40], "wide": 300, "law": 50},
    "small": {
        "rows": [10_000, 100_000],
        "items": [1_000, 5_000, 20_000],
        "wide": 100_000,
        "law": 20_000,
    },
    "full": {
        "rows": [100_000, 1_000_000, 10_000_000],
        "items": [1_000, 5_000, 20_000, 40_000],
        "wide": 500_000,
        "law": 20_000,
    },
}
REAL = ("bms-webview-1.dat", "bms-webview-2.dat")


@dataclass(frozen=True)
class Case:
    """One run of the command."""

    name: str
    data: Path
    policy: tuple[str, ...]
    series: str | None = None  # runs of one series differ in `size` only
    size: int = 0


@dataclass
class Measured:
    """What one run took.

    Attributes
    ----------
    wall : seconds from start to exit of the process
    seconds : by stage, inside the process
    floor : seconds of the floor
    """

    case: Case
    wall: float
    seconds: dict[str, float]
    peak_memory_mb: float
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
    wide = sizes["wide"]
    for n_items in sizes["items"]:
        path = folder / f"items-{n_items}.dat"
        write_baskets(path, wide, n_items, mean=8.0, skew=1.0)
        name = f"{wide:,} x {n_items:,}, pairs"
        found.append(Case(name, path, pairs, "items", n_items))
    small = folder / f"rows-{sizes['rows'][0]}.dat"
    found.append(Case("the smallest, Pgen", small, ("-k", "5", "--pgen")))
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


def measure(case: Case, folder: Path) -> Measured:
    """Run one case in a process of its own, and its floor in another."""
    command = [sys.executable, "-m", "overcoat", "anonymize", str(case.data), *case.policy]
    command += ["-o", str(folder / "released.dat"), "--mapping", str(folder / "map.json"), "--json"]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    wall = time.perf_counter() - start
    floor = subprocess.run(
        [sys.executable, "-c", FLOOR, str(case.data)], capture_output=True, text=True, check=True
    )
    answer = json.loads(done.stdout)
    return Measured(
        case, wall, answer["seconds"], answer["peak_memory_mb"], float(floor.stdout), answer
    )


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
