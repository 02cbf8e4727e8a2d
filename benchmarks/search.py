"""What a search reaches: its query error as a share of COAT's, and how long it takes.

``python -m benchmarks.search FOLDER [CASE …]`` measures on real data sets; see docs/search.md.
The ratio is the geometric mean, over queries of 1, 2 and 3 items drawn by items and by
occurrences, of AvgRE divided by COAT's; 3,000 queries each.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import overcoat as oc
from experiments.casestudy import disorders_of
from overcoat.loss.flat import FlatPenalty
from overcoat.loss.ncp import CertaintyPenalty
from overcoat.measures.queries import answer

SEEDS = (101, 102, 103)  # of the search; none was used in tuning
N_QUERIES = 3000

# name -> file, k, family, hierarchy, parameters of the search
CASES: dict[str, tuple[str, int, Any, str, dict[str, Any]]] = {}
for _k in (5, 25):
    for _name, _file, _times in (
        ("bms1", "bms-webview-1.dat", (10,)),
        ("bms2", "bms-webview-2.dat", (10, 30)),
        ("t10", "t10i4d100k.dat.gz", (30,)),
    ):
        for _seconds in _times:
            CASES[f"{_name}-k{_k}-{_seconds}s"] = (
                *(_file, _k, oc.AllItemsets(2), "balanced:5"),
                {"seconds": _seconds},
            )
CASES["bms1-default"] = ("bms-webview-1.dat", 5, oc.AllItemsets(2), "balanced:5", {})
CASES["bms1-ul-10s"] = (
    *("bms-webview-1.dat", 5, oc.AllItemsets(2), "balanced:5"),
    {"minimise": "ul", "seconds": 10},
)
CASES["bms1-keep-ul-10s"] = (
    *("bms-webview-1.dat", 5, oc.AllItemsets(2), "balanced:5"),
    {"keep": ("ul",), "seconds": 10},
)
CASES["bms2-ul-30s"] = (
    *("bms-webview-2.dat", 5, oc.AllItemsets(2), "balanced:5"),
    {"minimise": "ul", "seconds": 30},
)
CASES["groceries-5s"] = (
    *("groceries.csv", 5, oc.AllItemsets(2), "groceries.hierarchy.csv"),
    {"seconds": 5},
)
CASES["diabetes-15s"] = (
    *("diabetes130-patients.dat", 5, oc.AllItemsets(2), "diabetes130.hierarchy.csv"),
    {"seconds": 15},
)
CASES["diabetes-ccs-15s"] = CASES["diabetes-15s"]
CASES["bms1-m3-10s"] = (
    *("bms-webview-1.dat", 5, oc.AllItemsets(3), "balanced:5"),
    {"seconds": 10},
)
CASES["bms1-pgen-10s"] = ("bms-webview-1.dat", 5, oc.Pgen(), "balanced:5", {"seconds": 10})
CASES["bms2-pgen-30s"] = ("bms-webview-2.dat", 5, oc.Pgen(), "balanced:5", {"seconds": 30})


def errors(data: oc.Transactions, result: oc.Result) -> list[float]:
    """Return AvgRE of the six workloads."""
    found = []
    for by in ("items", "occurrences"):
        for size in (1, 2, 3):
            workload = oc.draw_workload(data, size, n=N_QUERIES, seed=7, by=by)
            found.append(answer(workload, data, result.released, result.mapping).avg_re)
    return found


def measure(folder: Path, name: str, seeds: tuple[int, ...] = SEEDS) -> Iterator[dict[str, Any]]:
    """Run a case with each seed; yield what came of it."""
    file, k, family, hierarchy, parameters = CASES[name]
    data = oc.read(folder / file)
    tree = hierarchy if hierarchy.startswith("balanced") else folder / hierarchy
    utility = oc.Utility()
    if "ccs" in name:
        common, _ = disorders_of(folder / "diabetes130.ccs.tsv", data)
        utility = oc.Utility([list(codes) for codes in common.values()])
    policy = oc.Policy(k, family, utility, hierarchy=tree)
    coat = oc.anonymize(data, policy=policy)
    before = errors(data, coat)
    for seed in seeds:
        began, cpu = time.perf_counter(), time.process_time()
        found = oc.anonymize(data, policy=policy, method=oc.Search(seed=seed, **parameters))
        taken, used = time.perf_counter() - began, time.process_time() - cpu
        ratios = [one / other for one, other in zip(errors(data, found), before, strict=True)]
        bound = policy.bind(data)
        losses = [FlatPenalty(data), CertaintyPenalty(data, bound.hierarchy)]
        parts = [float(x.total(found.mapping.partition)) for x in losses]
        firsts = [float(x.total(coat.mapping.partition)) for x in losses]
        assert found.searched is not None
        yield {
            "case": name,
            "seed": seed,
            "ratio": round(math.prod(ratios) ** (1 / 6), 4),
            "log2_ul": round(found.loss.log2_ul, 2),
            "log2_ul_coat": round(coat.loss.log2_ul, 2),
            "flat": round(parts[0] / firsts[0], 4),
            "ncp": round(parts[1] / firsts[1], 4),
            "objective": round(found.searched.after, 4),
            "steps": found.searched.steps,
            "of": found.searched.cooling,
            "at_rest": found.searched.at_rest,
            "seconds": round(taken, 2),
            "of_search": round(found.searched.seconds, 2),
            "cpu_seconds": round(used, 2),
        }


def main() -> None:
    """Measure the cases that are named, or all."""
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    for name in names or list(CASES):
        for found in measure(folder, name):
            sys.stdout.write(f"{found}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
