"""Privacy policies: pairs over some items (PP1 to PP5), itemsets of mixed sizes (PP6 to PP9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import overcoat as oc
from experiments.findings import Claim, Findings, table, times_better
from experiments.materials import Materials
from overcoat.comparison.plots import Panel, series_of
from overcoat.comparison.settings import Setting
from overcoat.measures.queries import draw_workload

__all__ = ["mixed_sizes", "some_items"]

SHARES = {"PP1": 2, "PP2": 5, "PP3": 10, "PP4": 25, "PP5": 50}
MAKE_UP = {
    "PP6": (33, 33, 33, 1),
    "PP7": (30, 30, 30, 10),
    "PP8": (25, 25, 25, 25),
    "PP9": (16.7, 16.7, 16.7, 50),
}
SIZES = (100, 1000, 10_000)
COLUMNS = {
    "data": "data",
    "policy": "policy",
    "algorithm": "method",
    "n_groups": "groups",
    "largest_group": "largest",
    "suppressed_items_percent": "suppressed %",
    "log2_ul": "log2 UL",
}
METHODS = ("coat", "pcta", "apriori")


def some_items(materials: Materials) -> Findings:
    """PP1 to PP5: all pairs over a random share of the items, k = 5."""
    rows: list[dict[str, Any]] = []
    for name, data in materials.bms.items():
        hierarchy = materials.hierarchy(data)
        settings = []
        for policy, share in SHARES.items():
            some = _random_items(data, share)
            for method in METHODS:
                # Apriori has to protect all pairs to protect these.
                linkable = None if method == "apriori" else some
                family = oc.AllItemsets(2, linkable)
                settings.append(_setting(policy, method, family, hierarchy))
        field = materials.compare(data, settings, q=(1, 3), among="generalized")
        rows += [{"data": name, **row} for row in field.rows]
    ratios = _ratios(rows, ("q1", "q3"))
    return Findings(
        title="PP1 to PP5: pairs over 2, 5, 10, 25 and 50 percent of the items",
        setup="k = 5, s = 0.5 %; the items are drawn at random. Apriori has to protect all pairs.",
        rows=table(rows, {**COLUMNS, "avg_re_q1": "AvgRE q=1", "avg_re_q3": "AvgRE q=3"}),
        panels=_panels(rows, ("q1", "q3")),
        claims=(
            Claim(
                "COAT's AvgRE is better than Apriori's for every policy",
                f"between {min(ratios):.1f} and {max(ratios):.1f} times better",
                min(ratios) > 1,
            ),
            _strictness_claim(rows),
        ),
        columns=2,
    )


def mixed_sizes(materials: Materials, sizes: Sequence[int] = SIZES) -> Findings:
    """PP6 to PP9: explicit itemsets of 1 to 4 items in different shares, k = 5."""
    rows: list[dict[str, Any]] = []
    for name, data in materials.bms.items():
        hierarchy = materials.hierarchy(data)
        settings = []
        for size in sizes:
            for policy, shares in MAKE_UP.items():
                explicit = oc.Itemsets(_random_itemsets(data, shares, size))
                for method in METHODS:
                    family = oc.AllItemsets(4) if method == "apriori" else explicit
                    setting = _setting(policy, method, family, hierarchy)
                    setting.values["size"] = size
                    settings.append(setting)
        field = materials.compare(data, settings, q=(2,), among="generalized")
        rows += [{"data": name, **row} for row in field.rows]
    ratios = [
        ratio
        for size in sizes
        for ratio in _ratios([r for r in rows if r["size"] == size], ("q2",))
    ]
    panels = [
        Panel(
            series_of(
                [row for row in rows if row["data"] == name and row["size"] == size],
                "policy",
                "avg_re_q2",
            ),
            f"{name}, {size:,} itemsets",
            "policy",
            "AvgRE, q = 2",
            log_y=True,
        )
        for name in materials.bms
        for size in sizes
    ]
    return Findings(
        title="PP6 to PP9: itemsets of 1, 2, 3 and 4 items",
        setup="k = 5, s = 0.5 %. The paper does not say how many itemsets a policy has: here "
        f"{', '.join(f'{size:,}' for size in sizes)}, drawn so that somebody has each of them. "
        "Apriori has to protect all itemsets of 4 items.",
        rows=table(rows, {"size": "itemsets", **COLUMNS, "avg_re_q2": "AvgRE q=2"}),
        panels=tuple(panels),
        claims=(
            Claim(
                "COAT answers up to 40 times more accurately than Apriori",
                f"between {min(ratios):.1f} and {max(ratios):.1f} times",
                max(ratios) >= 40,
            ),
            Claim(
                "COAT's AvgRE is better than Apriori's for every policy",
                f"at least {min(ratios):.1f} times better",
                min(ratios) > 1,
            ),
        ),
    )


def _setting(
    policy: str, method: str, family: Any, hierarchy: oc.Hierarchy, **options: Any
) -> Setting:
    made = oc.Policy(5, (family,), hierarchy=hierarchy, algorithm=method, **options)
    return Setting({"policy": policy, "algorithm": method}, made)


def _random_items(data: oc.Transactions, percent: float) -> list[str]:
    generator = np.random.Generator(np.random.PCG64(7))
    order = generator.permutation(data.n_items)  # so that each policy holds the one before
    n = max(2, round(data.n_items * percent / 100))
    return [data.vocabulary[int(code)] for code in np.sort(order[:n])]


def _random_itemsets(
    data: oc.Transactions, shares: Sequence[float], n: int
) -> list[tuple[str, ...]]:
    found: dict[tuple[str, ...], None] = {}
    for size, share in enumerate(shares, start=1):
        drawn = draw_workload(data, size, max(1, round(n * share / 100)), seed=size)
        for query in drawn:
            found[query] = None
    return list(found)


def _ratios(rows: list[dict[str, Any]], workloads: Sequence[str]) -> list[float]:
    return [
        ratio
        for name in dict.fromkeys(row["data"] for row in rows)
        for workload in workloads
        for ratio in times_better(
            [row for row in rows if row["data"] == name],
            f"avg_re_{workload}",
            "policy",
            "coat",
            "apriori",
        ).values()
    ]


def _strictness_claim(rows: list[dict[str, Any]]) -> Claim:
    shown, holds = [], True
    for name in dict.fromkeys(row["data"] for row in rows):
        found = {
            row["policy"]: row["avg_re_q1"]
            for row in rows
            if row["data"] == name and row["algorithm"] == "coat"
        }
        holds &= found["PP5"] > found["PP1"]
        shown.append(f"{name}: from {found['PP1']:.2g} (PP1) to {found['PP5']:.2g} (PP5), q = 1")
    return Claim(
        "COAT's AvgRE becomes slightly worse as policies get stricter", "; ".join(shown), holds
    )


def _panels(rows: list[dict[str, Any]], workloads: Sequence[str]) -> tuple[Panel, ...]:
    return tuple(
        Panel(
            series_of([row for row in rows if row["data"] == name], "policy", f"avg_re_{workload}"),
            f"{name}, q = {workload[1:]}",
            "policy",
            "AvgRE",
            log_y=True,
        )
        for name in dict.fromkeys(row["data"] for row in rows)
        for workload in workloads
    )
