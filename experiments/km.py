"""k^m-anonymity: all m-itemsets, one utility set, s = 0.5 (paper, section 6.2)."""

from __future__ import annotations

from typing import Any

import overcoat as oc
from experiments.findings import Claim, Findings, names_of, only, table, times_better
from experiments.materials import METHODS, Materials
from overcoat.comparison.figures import above_least
from overcoat.comparison.plots import Panel, series_of
from overcoat.comparison.settings import Setting, vary

__all__ = ["over_k", "over_m"]

K = (2, 5, 10, 25, 50)
M = (1, 2, 3)
COLUMNS = {
    "data": "data",
    "algorithm": "method",
    "k": "k",
    "m": "m",
    "status": "status",
    "n_groups": "groups",
    "largest_group": "largest",
    "suppressed_items_percent": "suppressed %",
    "log2_ul": "log2 UL",
    "ncp": "NCP",
    "avg_re_q1": "AvgRE q=1",
    "avg_re_q2": "AvgRE q=2",
    "avg_re_q3": "AvgRE q=3",
    "all_q1": "all items, q=1",
    "all_q3": "all items, q=3",
    "seconds": "seconds",
}


def over_k(materials: Materials) -> Findings:
    """Vary k with m = 2."""
    rows = _rows(materials, k=K, m=(2,))
    return Findings(
        title="k^m-anonymity over k (m = 2)",
        setup=f"BMS1 and BMS2, all pairs, one utility set, s = 0.5 %. {_workloads(materials)}",
        rows=table(rows, COLUMNS),
        panels=_panels(rows, "k"),
        claims=(
            _ratio_claim(rows, "k", "AvgRE of COAT is up to 9 times better than Apriori's", 9),
            _suppression_claim(rows),
            _loss_claim(rows, "k"),
            _growth_claim(rows),
            _queries_claim(rows),
            _insensitive_claim(rows),
        ),
        remarks=f"{GREEDY} {NCP}",
    )


def over_m(materials: Materials) -> Findings:
    """Vary m with k = 5."""
    rows = _rows(materials, k=(5,), m=M)
    ratios, others = (
        {
            q: times_better(only(rows, data=name), f"avg_re_q{q}", "m", "coat", "apriori")[3]
            for q in (1, 2, 3)
        }
        for name in ("BMS1", "BMS2")
    )
    return Findings(
        title="k^m-anonymity over m (k = 5)",
        setup=f"BMS1 and BMS2, all m-itemsets, one utility set, s = 0.5 %. {_workloads(materials)}",
        rows=table(rows, COLUMNS),
        panels=_panels(rows, "m"),
        claims=(
            Claim(
                "On BMS1 with m = 3 Apriori loses 7 times more (AvgRE; q is not given)",
                ", ".join(f"{ratio:.1f} times with q = {q}" for q, ratio in ratios.items()),
                None
                if min(ratios.values()) < 7 <= max(ratios.values())
                else min(ratios.values()) >= 7,
            ),
            Claim(
                "The impact of m is even more evident on BMS2",
                ", ".join(f"{others[q]:.1f} times with q = {q}" for q in others) + " at m = 3",
                all(others[q] > ratios[q] for q in others),
            ),
            _suppression_claim(rows),
            _loss_claim(rows, "m"),
        ),
        remarks=GREEDY,
    )


NCP = (
    "NCP asks how much of the hierarchy the closest common ancestor of a group spans. Apriori only "
    "makes groups that are subtrees, so its NCP is small however large its groups are; COAT merges "
    "across the hierarchy, so its small groups span much of it."
)
GREEDY = (
    "Greedy only suppresses, and far more than s allows: its rows show what it would have taken, "
    "such a result cannot be published. An item that is gone is answered with 0, an error of "
    "exactly 1, so its AvgRE never exceeds 1; generalized items can be overestimated many times."
)


def _workloads(materials: Materials) -> str:
    return (
        f"{materials.workload} *all items*: {materials.n_queries:,} queries drawn uniformly among "
        "all items, so that rare ones weigh as much as common ones."
    )


def _rows(materials: Materials, k: tuple[int, ...], m: tuple[int, ...]) -> list[dict[str, Any]]:
    rows = []
    for name, data in materials.bms.items():
        settings = km_settings(materials, data, k, m)
        field = materials.compare(data, settings, q=(1, 2, 3), among="generalized")
        everything = materials.compare(data, settings, q=(1, 3), by="items")
        for row, other in zip(field.rows, everything.rows, strict=True):
            both = {"all_q1": other["avg_re_q1"], "all_q3": other["avg_re_q3"]}
            rows.append({"data": name, **row, **both})
    return rows


def km_settings(
    materials: Materials, data: oc.Transactions, k: tuple[int, ...], m: tuple[int, ...]
) -> list[Setting]:
    """Return all methods for each k and m."""
    base = oc.Policy(5, (oc.AllItemsets(2),), hierarchy=materials.hierarchy(data))
    return vary(base, algorithm=METHODS, k=k, m=m)


def _panels(rows: list[dict[str, Any]], x: str) -> tuple[Panel, ...]:
    panels = []
    for name in names_of(rows):
        some = only(rows, data=name)
        panels += [
            Panel(series_of(some, x, f"avg_re_q{q}"), name, x, f"AvgRE, q = {q}", log_y=True)
            for q in (1, 3)
        ]
        merging = [row for row in some if row["algorithm"] != "greedy"]
        found, least = above_least(merging, ("algorithm", x))
        title = f"{name}; {least}"
        panels.append(Panel(series_of(found, x, "log2_ul"), title, x, "UL, bits above the least"))
    return tuple(panels)


def _ratio_claim(rows: list[dict[str, Any]], x: str, paper: str, times: float) -> Claim:
    found = {
        (name, q, at): ratio
        for name in names_of(rows)
        for q in (1, 3)
        for at, ratio in times_better(
            only(rows, data=name), f"avg_re_q{q}", x, "coat", "apriori"
        ).items()
    }
    (name, q, at), best = max(found.items(), key=lambda entry: entry[1])
    worst = min(found.values())
    return Claim(
        paper,
        f"between {worst:.1f} and {best:.1f} times; the most on {name}, q = {q}, {x} = {at}",
        best >= times,
    )


def _suppression_claim(rows: list[dict[str, Any]]) -> Claim:
    most = max(row["suppressed_items_percent"] for row in rows if row["algorithm"] == "coat")
    return Claim("COAT suppresses no item", f"at most {most:.3g} % of the items", most == 0)


def _loss_claim(rows: list[dict[str, Any]], x: str) -> Claim:
    pairs = {(row["data"], row["algorithm"], row[x]): row["log2_ul"] for row in rows}
    gaps = [
        pairs[name, "apriori", at] - loss
        for (name, algorithm, at), loss in pairs.items()
        if algorithm == "coat" and loss is not None and pairs[name, "apriori", at] is not None
    ]
    return Claim(
        "UL of COAT is smaller than Apriori's for every value",
        f"log2 UL smaller by {min(gaps):.0f} to {max(gaps):.0f}",
        min(gaps) > 0,
    )


def _growth_claim(rows: list[dict[str, Any]]) -> Claim:
    shown, holds = [], []
    for name in names_of(rows):
        ours = only(rows, data=name, algorithm="coat")
        errors = [row["avg_re_q1"] for row in ours]
        losses = [row["log2_ul"] for row in ours]
        holds += [errors == sorted(errors), losses == sorted(losses)]
        shown.append(
            f"{name}: AvgRE (q = 1) {', '.join(f'{error:.2g}' for error in errors)}; "
            f"log2 UL {', '.join(f'{loss:.0f}' for loss in losses)}"
        )
    verdict = None if any(holds) and not all(holds) else all(holds)
    return Claim("Increasing k induces more information loss", "; ".join(shown), verdict)


def _queries_claim(rows: list[dict[str, Any]]) -> Claim:
    ours = only(rows, algorithm="coat")
    worse = [row for row in ours if row["avg_re_q3"] > row["avg_re_q1"]]
    return Claim(
        "Queries with more items are answered worse (COAT, q = 3 against q = 1)",
        f"for {len(worse)} of {len(ours)} runs",
        len(worse) == len(ours) if len(worse) in (0, len(ours)) else None,
    )


def _insensitive_claim(rows: list[dict[str, Any]]) -> Claim:
    losses = {row["k"]: row["log2_ul"] for row in only(rows, data="BMS2", algorithm="apriori")}
    up_to_25 = [loss for k, loss in losses.items() if k <= 25]
    return Claim(
        "Apriori's UL is fairly insensitive to k up to 25 (BMS2)",
        f"log2 UL from {min(up_to_25):.1f} to {max(up_to_25):.1f}",
        max(up_to_25) - min(up_to_25) < 5,
    )
