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

from benchmarks.cases import (
    SCALES,
    Measured,
    Need,
    cases,
    measure,
    measure_need,
    measure_startup,
    needs,
    threads_cases,
)
from benchmarks.memory import Needed
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
        threads = [
            (measure(case, folder, 1), measure(case, folder, 2))
            for case in threads_cases(options.scale, folder)
        ]
        needed = [(need, measure_need(need)) for need in needs(options.scale, folder)]
    page = render(found, measure_startup(), threads, needed)
    sys.stdout.write(page)
    if options.out is not None:
        options.out.write_text(page, encoding="utf-8")


def render(
    found: list[Measured],
    startup: tuple[float, float],
    threads: list[tuple[Measured, Measured]],
    needed: list[tuple[Need, Needed]],
) -> str:
    """Return the page; of `threads` each is a run on one thread, and the same on two."""
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
                    f"{one.floor:.3f}" if one.case.floored else "",
                    f"{one.ratio:.1f}" if one.case.floored else "",
                    str(one.answer["n_groups"]),
                ]
            )
        )
    lines += ["", *growth(found), *memory(found), *estimates(needed)]
    lines += [line for alone, both in threads for line in speedup(alone, both)]
    ours, bare = startup
    lines.append(
        f"`overcoat --version` takes {1000 * ours:.0f} ms, `python -c pass` {1000 * bare:.0f} ms."
    )
    return "\n".join(lines) + "\n"


def growth(found: list[Measured]) -> list[str]:
    """Say how total, finding the mapping, and memory grow along each series."""
    head = ["series", "from", "to", "total", "anonymize", "anonymize, last step", "memory"]
    lines = [
        "## Growth",
        "",
        "The exponent of what a run takes, between the smallest and the largest of its series, and",
        "of the time to find the mapping between the last two: 1 is in proportion. The smallest",
        "runs are short, so what every run takes makes exponents look smaller than they are.",
        "",
        _row(head),
        _row(["---"] * len(head)),
    ]
    for series in dict.fromkeys(one.case.series for one in found if one.case.series):
        runs = [one for one in found if one.case.series == series]
        first, last = runs[0], runs[-1]
        sizes = [f"{one.case.size:,}" for one in (first, last)]
        found_in = [one.seconds["anonymize"] for one in runs]
        exponents = [
            _exponent(first, last, first.seconds["total"], last.seconds["total"]),
            _exponent(first, last, found_in[0], found_in[-1]),
            _exponent(runs[-2], last, found_in[-2], found_in[-1]),
            _exponent(first, last, first.peak_memory_mb, last.peak_memory_mb),
        ]
        lines.append(_row([series, *sizes, *(f"{one:.2f}" for one in exponents)]))
    return [*lines, ""]


def _exponent(first: Measured, last: Measured, before: float, after: float) -> float:
    if min(before, after) <= 0 or first.case.size == last.case.size:
        return math.nan
    return math.log(after / before) / math.log(last.case.size / first.case.size)


def memory(found: list[Measured]) -> list[str]:
    """Return the peak of memory by stage of runs with a floor."""
    stages = [*STAGES[:-1], "risk", "write"]
    lines = [
        "## Memory",
        "",
        "The most memory that the process had in each stage, in MB.",
        "",
        _row(["run", *stages]),
        _row(["---"] * (len(stages) + 1)),
    ]
    for one in found:
        if one.case.floored:
            lines.append(_row([one.case.name, *(f"{one.peaks[stage]:.0f}" for stage in stages)]))
    return [*lines, ""]


def estimates(needed: list[tuple[Need, Needed]]) -> list[str]:
    """Return what is foretold of the memory, beside what was needed."""
    lines = [
        "## Memory foretold",
        "",
        "What the work takes on top of the rows, in MB: as told before it begins, and the most of",
        "all stages from finding a mapping to verifying it.",
        "",
        _row(["family or method", "rows", "they take", "foretold", "found", "ratio", "stage"]),
        _row(["---"] * 7),
    ]
    for need, one in needed:
        sizes = [f"{value:.1f}" for value in (one.rows, one.foretold, one.found)]
        lines.append(_row([need.name, f"{need.size:,}", *sizes, f"{one.ratio:.2f}", one.stage]))
    return [*lines, ""]


def speedup(alone: Measured, both: Measured) -> list[str]:
    """Return what two threads are worth, stage by stage."""
    lines = [
        f"## Threads: {alone.case.name}",
        "",
        "With `--threads 1` and `--threads 2`.",
        "",
        _row(["stage", "one thread, s", "two threads, s", "speed-up"]),
        _row(["---"] * 4),
    ]
    for stage, one in alone.seconds.items():
        two = both.seconds[stage]
        lines.append(_row([stage, f"{one:.2f}", f"{two:.2f}", f"{one / max(two, 1e-9):.2f}"]))
    return [*lines, ""]


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
