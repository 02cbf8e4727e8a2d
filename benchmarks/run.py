"""Run the benchmarks and print a table: ``python -m benchmarks.run --help``."""

from __future__ import annotations

import argparse
import math
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.cases import SCALES, Measured, cases, measure, measure_startup
from overcoat._version import __version__

__all__ = ["main"]

STAGES = ("read", "policy", "anonymize", "apply", "verify", "measure", "write")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write the page if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", choices=list(SCALES), default="small")
    parser.add_argument("--data", type=Path, help="folder with bms-webview-1.dat and -2.dat")
    parser.add_argument("--out", type=Path, help="write the page here too")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = []
        for case in cases(options.scale, folder, options.data):
            found.append(measure(case, folder))
            sys.stderr.write(f"{case.name}: {found[-1].wall:.2f} s\n")
    page = render(found, measure_startup())
    sys.stdout.write(page)
    if options.out is not None:
        options.out.write_text(page, encoding="utf-8")


def render(found: list[Measured], startup: tuple[float, float]) -> str:
    """Return the page."""
    head = ["run", "wall s", *STAGES, "total s", "peak MB", "floor s", "total / floor", "groups"]
    lines = [
        "# Benchmarks",
        "",
        f"Overcoat {__version__}, Python {platform.python_version()}, {machine()}.",
        "",
        "Each run is a process of its own: the file is read, anonymized, verified, written and",
        "read back, with its mapping. *Wall* is the whole process; the stages and the *total* are",
        "inside it. The *floor*, measured beside each run, is reading the same file and one SciPy",
        "product X'X of its distinct rows. Generated rows have 8 items on average, drawn by",
        "Zipf's law with exponent 1; weights come from a balanced hierarchy of fan-out 5.",
        "",
        _row(head),
        _row(["---"] * len(head)),
    ]
    for one in found:
        stages = [f"{one.seconds[stage]:.2f}" for stage in STAGES]
        lines.append(
            _row(
                [
                    one.case.name,
                    f"{one.wall:.2f}",
                    *stages,
                    f"{one.seconds['total']:.2f}",
                    f"{one.peak_memory_mb:.0f}",
                    f"{one.floor:.3f}",
                    f"{one.ratio:.1f}",
                    str(one.answer["n_groups"]),
                ]
            )
        )
    lines += ["", *growth(found)]
    ours, bare = startup
    lines.append(
        f"`overcoat --version` takes {1000 * ours:.0f} ms, `python -c pass` {1000 * bare:.0f} ms."
    )
    return "\n".join(lines) + "\n"


def growth(found: list[Measured]) -> list[str]:
    """Say how the total grows along each series: the exponent between its ends."""
    lines = []
    for series in dict.fromkeys(one.case.series for one in found if one.case.series):
        ends = [one for one in found if one.case.series == series]
        first, last = ends[0], ends[-1]
        times = last.seconds["total"] / first.seconds["total"]
        exponent = math.log(times) / math.log(last.case.size / first.case.size)
        lines += [
            f"Growth in {series} from {first.case.size:,} to {last.case.size:,}: "
            f"{times:.1f} times the time, exponent {exponent:.2f}.",
            "",
        ]
    return lines


def machine() -> str:
    """Describe the machine."""
    model = platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [x for x in info.read_text().splitlines() if x.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    found = f"{platform.system()}, {os.cpu_count()} cores of {model}"
    if hasattr(os, "sysconf"):  # not on Windows
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
        found += f", {memory:.0f} GiB"
    return found


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
