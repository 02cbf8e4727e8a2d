"""A release on Spark beside the same on one machine: time by stage, and memory of the driver.

``python -m benchmarks.spark --help``. Generated hospital patients as a Parquet folder of pairs, in
no order. Both ways are the command, each in a process of its own, one after the other; the ratio
within one run is what counts.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.run import machine
from overcoat._version import __version__
from overcoat.data.diagnoses import diagnoses
from overcoat.data.generate import patient_chunks

__all__ = ["main", "write_pairs"]

PAIRS_EACH = 3.2  # of a patient, about
FILES = 8
AT_ONCE = 64  # chunks of patients that are mixed
SMALLEST = 300  # patients of the run that shows what is there before any data
# For executors of a cluster; on this machine the driver's Java is the executor, and Overcoat says.
SUBMITTED = ("--executor-memory", "3g")
POLICY = ("-k", "5", "--km", "2", "--id", "person", "--item", "code")
# What the table shows of a run on Spark, and the stages that make it up.
STAGES = {
    "items": ("read",),
    "reduce": ("reduce",),
    "driver": ("fetch", "policy", "anonymize", "apply", "verify", "measure"),
    "write": ("write",),
    "verify": ("verify on the cluster",),
}


@dataclass
class Run:
    """One run of the command: seconds from start to exit, and what it said."""

    wall: float
    said: dict[str, Any]

    @property
    def memory(self) -> int:
        """The largest memory of the process, in MB; not that of Java beside it."""
        return int(self.said["peak_memory_mb"])

    def stage(self, name: str) -> float:
        """Return the seconds of a column of the table."""
        return float(sum(self.said["seconds"].get(stage, 0.0) for stage in STAGES[name]))

    @property
    def session(self) -> float:
        """Starting Python and Spark, and ending them: what belongs to no stage."""
        return self.wall - sum(map(self.stage, STAGES))


def write_pairs(folder: Path, n: int, seed: int = 1) -> int:
    """Write the pairs of `n` patients into some files, each pair into any; return how many."""
    codes = sorted(diagnosis.code for diagnosis in diagnoses())
    rank = {code: number for number, code in enumerate(codes)}
    disorders: dict[str, list[int]] = {}
    for one in diagnoses():
        disorders.setdefault(one.disorder, []).append(rank[one.code])
    studied = frozenset(one.disorder for one in diagnoses() if one.study == "yes")
    names = pa.array(codes)
    schema = pa.schema({"person": pa.int64(), "code": pa.dictionary(pa.int32(), pa.string())})
    rng = np.random.default_rng(seed)
    folder.mkdir()
    first = n_pairs = 0
    people: list[Any] = []
    codes_of: list[Any] = []
    writers = [pq.ParquetWriter(folder / f"{number}.parquet", schema) for number in range(FILES)]

    def write() -> None:
        person, code = np.concatenate(people), np.concatenate(codes_of)
        order = rng.permutation(len(code))
        for writer, part in zip(writers, np.array_split(order, FILES), strict=True):
            items = pa.DictionaryArray.from_arrays(pa.array(code[part]), names)
            writer.write_table(pa.table([pa.array(person[part]), items], schema))
        people.clear()
        codes_of.clear()

    for offsets, items in patient_chunks(n, disorders, studied, len(codes), seed):
        people.append(np.repeat(np.arange(first, first + len(offsets) - 1), np.diff(offsets)))
        codes_of.append(items)
        first, n_pairs = first + len(offsets) - 1, n_pairs + len(items)
        if len(people) == AT_ONCE or first == n:
            write()
    for writer in writers:
        writer.close()
    return n_pairs


def run(data: Path, folder: Path, *more: str) -> Run:
    """Make a release in a process of its own."""
    released = folder / "released.parquet"
    shutil.rmtree(released, ignore_errors=True)
    released.unlink(missing_ok=True)
    command = [sys.executable, "-m", "overcoat", "anonymize", str(data), *POLICY]
    command += ["-o", str(released), "--mapping", str(folder / "map.json"), "--json", *more]
    began = time.perf_counter()
    environment = {**os.environ, "PYSPARK_SUBMIT_ARGS": f"{' '.join(SUBMITTED)} pyspark-shell"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    return Run(time.perf_counter() - began, json.loads(done.stdout))


@contextlib.contextmanager
def _cluster(memory: str) -> Iterator[str]:
    """Start a master and two workers, as the tests do; give the address."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from spark_cluster import serve_cluster  # noqa: PLC0415  which is of the tests

    with serve_cluster(memory=memory) as cluster:
        yield cluster.address


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--pairs", type=float, nargs="+", default=[1e6], help="(person, item) pairs, about"
    )
    parser.add_argument(
        "--master", default="local[2]", help="of Spark; 'cluster' starts one with two workers"
    )
    parser.add_argument("--memory", default="4g", help="of each worker of such a cluster")
    parser.add_argument("--folder", type=Path, help="where generated data are kept, and found")
    parser.add_argument("--no-alone", action="store_true", help="leave the one machine out")
    options = parser.parse_args(arguments)
    scratch = Path(tempfile.mkdtemp())
    try:
        home = options.folder or scratch
        with contextlib.ExitStack() as stack:
            master = options.master
            if master == "cluster":
                master = stack.enter_context(_cluster(options.memory))
            base = run(_data(home, SMALLEST), scratch, "--spark", master)
            rows = [_header()]
            for pairs in options.pairs:
                data = _data(home, int(pairs / PAIRS_EACH))
                alone = None if options.no_alone else run(data, scratch)
                there = run(data, scratch, "--spark", master)
                rows.append(_row(_n_pairs(data), alone, there, base))
                sys.stderr.write(rows[-1])
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    sys.stdout.write(f"Overcoat {__version__}, {machine()}, {options.master}\n\n{''.join(rows)}")


def _data(home: Path, n: int) -> Path:
    path = home / f"patients-{n}"
    if not path.exists():
        write_pairs(path, n)
    return path


def _n_pairs(data: Path) -> int:
    return sum(pq.read_metadata(path).num_rows for path in data.glob("*.parquet"))


def _header() -> str:
    names = ["pairs", "people", "distinct rows", "one machine, s", "Spark, s", "times", "session"]
    names += [*STAGES, "driver, planned MB", "measured MB", "one machine, MB"]
    return f"| {' | '.join(names)} |\n{'|---' * len(names)}|\n"


def _row(n_pairs: int, alone: Run | None, there: Run, base: Run) -> str:
    said = there.said["spark"]
    cells: list[Any] = [f"{n_pairs:,}", f"{there.said['n_transactions']:,}"]
    cells += [f"{said['n_distinct']:,}"]
    cells += ["", f"{there.wall:.0f}", ""]
    if alone is not None:
        cells[3:] = [f"{alone.wall:.1f}", f"{there.wall:.0f}", f"{there.wall / alone.wall:.1f}"]
    cells += [f"{there.session:.0f}", *(f"{there.stage(name):.0f}" for name in STAGES)]
    cells += [said["driver_memory_planned"] >> 20, there.memory - base.memory]
    cells += ["" if alone is None else alone.memory]
    return f"| {' | '.join(map(str, cells))} |\n"


if __name__ == "__main__":
    main()
