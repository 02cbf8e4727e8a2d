"""Search against COAT, PCTA, Apriori and Greedy, over the paper's policies; writes its page.

    python -m experiments.search --data FOLDER [--page docs/experiments-search.md]

Without real data it runs on small stand-ins. Steps are the default ones, so the run can be repeated
to the byte; seconds depend on the machine.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Iterator
from math import exp, log
from pathlib import Path
from typing import Any

import overcoat as oc
from experiments.findings import markdown
from experiments.materials import Materials
from experiments.policies import random_items, random_itemsets
from overcoat.comparison.plots import Panel, Point, draw, write_figure
from overcoat.comparison.settings import Setting

__all__ = ["main"]

MIXED = (25, 25, 25, 25)  # percent of itemsets of 1, 2, 3 and 4 items: PP8
QUERIES = ("avg_re_q1", "avg_re_q2", "avg_re_q3")
METHODS = ("coat", "pcta", "apriori", "greedy", "search")
GAIN = "AvgRE / COAT's"
# Each step costs far more where larger sets than pairs are protected.
SLOW, FEW = ("k = 5, m = 3", "PP8", "Pgen"), 500
STEPS = (0, 1, 3, 10, 30, 80)  # for each item, of the picture of convergence


def policies(data: oc.Transactions, hierarchy: oc.Hierarchy) -> Iterator[tuple[str, oc.Policy]]:
    """Yield the paper's policies, one or two of each kind."""
    labels = data.vocabulary.labels

    def made(k: int, family: Any, utility: Any = None) -> oc.Policy:
        return oc.Policy(k, family, utility or oc.Utility(), hierarchy=hierarchy)

    yield "k = 5, m = 1", made(5, oc.AllItemsets(1))
    yield "k = 5, m = 2", made(5, oc.AllItemsets(2))
    yield "k = 25, m = 2", made(25, oc.AllItemsets(2))
    yield "k = 5, m = 3", made(5, oc.AllItemsets(3))
    yield "PP3", made(5, oc.AllItemsets(2, random_items(data, 10)))
    yield "PP5", made(5, oc.AllItemsets(2, random_items(data, 50)))
    yield "PP8", made(5, oc.Itemsets(random_itemsets(data, MIXED, 100)))
    for name, size in (("UP2", 50), ("UP3", 250)):
        blocks = [labels[at : at + size] for at in range(0, len(labels), size)]
        yield name, made(5, oc.AllItemsets(2), oc.Utility(blocks))
    yield "Pgen", made(5, oc.Pgen())


def settings(data: oc.Transactions, hierarchy: oc.Hierarchy) -> Iterator[Setting]:
    """Yield every method on every policy that it takes."""
    for name, policy in policies(data, hierarchy):
        bound = policy.bind(data)
        for method in METHODS:
            made = oc.methods()[method]()
            if method == "search" and name in SLOW:
                made = oc.Search(steps=FEW)
            if not list(made.problems(bound)):
                yield Setting({"policy": name, "algorithm": method}, policy, made)


def measured(materials: Materials, name: str, data: oc.Transactions) -> list[dict[str, Any]]:
    """Return a row of the table for each run."""
    hierarchy = materials.hierarchy(data)
    options: dict[str, Any] = {"q": (1, 2, 3), "by": "items"}
    field = materials.compare(data, list(settings(data, hierarchy)), **options)
    base = {row["policy"]: row for row in field.rows if row["algorithm"] == "coat"}
    rows = []
    for row in field.rows:
        coat = base[row["policy"]]
        met = row["status"] == "met"
        ratio = _mean_ratio(row, coat) if met and coat["status"] == "met" else None
        rows.append(
            {
                "data": name,
                "policy": row["policy"],
                "method": row["algorithm"],
                "status": row["status"],
                GAIN: "" if ratio is None else f"{ratio:.2f}",
                **{f"q = {q[-1]}": f"{row[q]:.3g}" for q in QUERIES if row[q] is not None},
                "flat NCP": f"{row['flat_ncp']:.4f}",
                "NCP": f"{row['ncp']:.3f}",
                "log2 UL": "" if row["log2_ul"] is None else f"{row['log2_ul']:.1f}",
                "suppressed %": f"{row['suppressed_items_percent']:.3g}",
                "seconds": f"{row['seconds']:.1f}",
            }
        )
    return rows


def _mean_ratio(row: dict[str, Any], coat: dict[str, Any]) -> float:
    """Return the geometric mean over the workloads of AvgRE over COAT's."""
    ratios = [row[name] / coat[name] for name in QUERIES if coat[name]]
    return exp(sum(log(max(ratio, 1e-9)) for ratio in ratios) / len(ratios)) if ratios else 1.0


def convergence(data: oc.Transactions, policy: oc.Policy, name: str) -> Panel:
    """Return how flat NCP and the errors of queries fall with the steps, COAT's being 1."""
    workloads = [
        oc.draw_workload(data, q, 1000, seed=5, by=by)
        for q in (1, 2)
        for by in ("items", "occurrences")
    ]
    curves: dict[str, list[Point]] = {"flat NCP": [], "AvgRE": []}
    first: tuple[float, float] | None = None
    for steps in STEPS:
        method = oc.Search(steps=steps * data.n_items)
        found = oc.evaluate(oc.anonymize(data, policy=policy, method=method), workloads=workloads)
        errors = sum(log(max(one.avg_re, 1e-9)) for one in found.answers) / len(workloads)
        if first is None:
            coat = oc.evaluate(oc.anonymize(data, policy=policy), workloads=workloads)
            of_coat = sum(log(max(one.avg_re, 1e-9)) for one in coat.answers) / len(workloads)
            first = coat.flat_ncp, of_coat
        curves["flat NCP"].append(Point(steps, found.flat_ncp / first[0]))
        curves["AvgRE"].append(Point(steps, exp(errors - first[1])))
    return Panel(curves, f"{name}, k = {policy.k}", "steps for each item", "of COAT's", least=1.0)


def main() -> None:
    """Run everything and write the page."""
    parser = argparse.ArgumentParser(description="search against the other methods")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--runs", type=Path, default=Path("experiments-runs"))
    parser.add_argument("--page", type=Path, default=Path("experiments-search.md"))
    parser.add_argument("--only", nargs="*", default=["BMS1"])
    options = parser.parse_args()
    materials = Materials(options.data, options.runs)
    rows: list[dict[str, Any]] = []
    panels = []
    for name, data in materials.bms.items():
        if name in options.only:
            rows += measured(materials, name, data)
            policy = oc.Policy(5, oc.AllItemsets(2), hierarchy=materials.hierarchy(data))
            panels.append(convergence(data, policy, name))
    picture = options.page.with_name("search-convergence.svg")
    with picture.open("wb") as file:
        write_figure(draw(panels, columns=2), file, "svg")
    options.page.write_text(page(rows, picture.name, options.only), encoding="utf-8")


def page(rows: list[dict[str, Any]], picture: str, names: list[str]) -> str:
    """Return the page."""
    gains = [row for row in rows if row["method"] == "search" and row[GAIN]]
    best = "; ".join(f"{row['data']}, {row['policy']}: {row[GAIN]}" for row in gains)
    return f"""\
# Search against the others

[Search](search.md) starts from COAT's mapping and makes it more useful, within the same
policy. Here it stands beside COAT, PCTA, Apriori and Greedy, over the paper's policies, on
{", ".join(names)} with a balanced hierarchy of fan-out 5. `python -m experiments.search --data
FOLDER` runs all this and writes this page. Python {platform.python_version()}; default steps, but
{FEW} for {", ".join(SLOW)}, where a step takes longer; seed 0.
The queries (1,000 of each size, drawn over all items, the same for all methods) are not what
search minimises.

*AvgRE / COAT's* is the geometric mean over queries of 1, 2 and 3 items. Of search: {best}.

![Convergence: flat NCP and AvgRE over the steps, as a share of COAT's]({picture})

No steps means the descent alone, which ends every search.

{markdown(rows)}
"""


if __name__ == "__main__":
    main()
