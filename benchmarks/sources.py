"""Reading from databases beside reading Parquet, and beside what their drivers need to fetch rows.

``python -m benchmarks.sources --help``. All in one run, each in a process of its own, in turns, and
the best of several: ratios of these are what counts.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
from adbc_driver_postgresql import dbapi

from benchmarks.run import machine
from overcoat._version import __version__

__all__ = ["main"]

SCALES = {"tiny": 2_000, "small": 1_000_000, "full": 10_000_000}
QUERY = "SELECT patient, code FROM diagnoses"

# What a process does; it prints its seconds, without imports, and its largest memory.
_OVERCOAT = """
import overcoat as oc, polars, pyarrow
{imports}
from overcoat.context import Context
oc.read
stage = Context().start("read")
began = time.perf_counter()
data = oc.read({source!r}, id="patient", item="code", stage=stage, **{said!r})
print(json.dumps([time.perf_counter() - began, peak(), data.n_transactions]))
"""
_DRIVER = """
from {module} import dbapi
began = time.perf_counter()
with dbapi.connect({uri!r}) as connection, connection.cursor() as cursor:
    cursor.execute({query!r})
    rows = sum(batch.num_rows for batch in cursor.fetch_record_batch())
print(json.dumps([time.perf_counter() - began, peak(), rows]))
"""
_START = """
import json, time
from pathlib import Path

def peak():
    # Not that of getrusage, which starts with what the process that started this one had.
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))
"""


@dataclass
class Measured:
    """What one way to read took: the best of its times, the largest memory."""

    name: str
    script: str
    seconds: float = float("inf")
    memory: float = 0.0

    def measure(self) -> None:
        """Run it once more."""
        done = subprocess.run(
            [sys.executable, "-c", _START + self.script], capture_output=True, text=True, check=True
        )
        seconds, memory, _ = json.loads(done.stdout)
        self.seconds = min(self.seconds, seconds)
        self.memory = max(self.memory, memory)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", choices=list(SCALES), default="small")
    parser.add_argument("--times", type=int, default=3, help="how often each is measured")
    parser.add_argument("--no-postgresql", action="store_true", help="leave PostgreSQL out")
    parser.add_argument(
        "--first",
        action="store_true",
        help="before all other work of the machine (real-time priority, which needs the right to)",
    )
    options = parser.parse_args(arguments)
    n_rows = SCALES[options.scale]
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp())
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        ways = dict(_files(folder, n_rows))
        if options.first:  # and so do all processes that are started from here
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        if not options.no_postgresql:
            ways |= stack.enter_context(_server(folder))
        for _ in range(options.times):
            for way in ways.values():
                way.measure()
                sys.stderr.write(f"{way.name}: {way.seconds:.2f} s\n")
    sys.stdout.write(render(ways, n_rows))


def _files(folder: Path, n_rows: int) -> Iterator[tuple[str, Measured]]:
    """Write the pairs as Parquet, DuckDB and SQLite; yield the ways to read them."""
    rng = np.random.default_rng(1)
    ids = np.sort(rng.integers(0, max(n_rows * 10 // 32, 1), n_rows))
    labels = pl.Series([f"{number // 10:03d}.{number % 10}" for number in range(5000)])
    frame = pl.DataFrame({"patient": ids, "code": labels.gather(rng.zipf(1.3, n_rows) % 5000)})
    parquet, duck, lite = (folder / f"rows.{name}" for name in ("parquet", "duckdb", "sqlite"))
    frame.write_parquet(parquet, row_group_size=1 << 18)
    with duckdb.connect(str(duck)) as connection:
        connection.execute(f"CREATE TABLE diagnoses AS SELECT * FROM '{parquet}'")
    plain = sqlite3.connect(lite)
    plain.execute("CREATE TABLE diagnoses (patient INTEGER, code TEXT)")
    plain.executemany("INSERT INTO diagnoses VALUES (?, ?)", frame.iter_rows())
    plain.commit()
    plain.close()
    yield "parquet", Measured("Parquet", _OVERCOAT.format(source=str(parquet), said={}, imports=""))
    yield "duckdb", _read("DuckDB", f"duckdb:///{duck}", "duckdb")
    yield "sqlite", _read("SQLite", f"sqlite:///{lite}", "adbc_driver_sqlite.dbapi")
    uri = f"file:{lite}?mode=ro"
    yield "sqlite alone", _fetch("SQLite, ADBC alone", "adbc_driver_sqlite", uri)


@contextmanager
def _server(folder: Path) -> Iterator[dict[str, Measured]]:
    """Start a PostgreSQL with the same pairs, as the tests do; give the ways to read them."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from postgres import serve  # noqa: PLC0415  which is of the tests

    with serve() as server:
        with dbapi.connect(server.url()) as connection, connection.cursor() as cursor:
            rows = pl.read_parquet(folder / "rows.parquet").to_arrow()
            cursor.adbc_ingest("diagnoses", rows, mode="create")
            connection.commit()
        server.run("ANALYZE diagnoses")
        yield {
            "postgresql": _read("PostgreSQL", server.url(), "adbc_driver_postgresql.dbapi"),
            "postgresql alone": _fetch(
                "PostgreSQL, ADBC alone", "adbc_driver_postgresql", server.url()
            ),
        }


def _read(name: str, source: str, driver: str) -> Measured:
    # Importing a driver takes longer than a million rows, and is no part of what is measured.
    imports = f"import {driver}"
    said = {"query": QUERY}
    return Measured(name, _OVERCOAT.format(source=source, said=said, imports=imports))


def _fetch(name: str, module: str, uri: str) -> Measured:
    return Measured(name, _DRIVER.format(module=module, uri=uri, query=QUERY))


def render(ways: dict[str, Measured], n_rows: int) -> str:
    """Return the table: seconds, memory, and what they are beside others."""
    goals: dict[str, tuple[str, float]] = {
        "duckdb": ("parquet", 1.3),
        "sqlite": ("sqlite alone", 1.5),
        "postgresql": ("postgresql alone", 1.5),
    }
    parquet = ways["parquet"]
    lines = [
        f"Overcoat {__version__}, {machine()}: {n_rows:,} rows of (id, item)",
        "",
        "| read from | seconds | times | of | goal | peak MB | times that of Parquet | goal |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for key, way in ways.items():
        cells: list[Any] = [way.name, f"{way.seconds:.2f}", "", "", "", f"{way.memory:.0f}", "", ""]
        if key in goals:
            other, goal = goals[key]
            cells[2:5] = [f"{way.seconds / ways[other].seconds:.2f}", ways[other].name, goal]
            cells[6:] = [f"{way.memory / parquet.memory:.2f}", 1.5]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
