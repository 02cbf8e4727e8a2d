"""Privacy policies: pairs over some items (PP1 to PP5), itemsets of mixed sizes (PP6 to PP9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import overcoat as oc
from experiments.findings import (
    Claim,
    Findings,
    error_panels,
    names_of,
    only,
    table,
    times_better,
)
from experiments.materials import Materials
from overcoat.comparison.plots import Panel, series_of
from overcoat.comparison.settings import Setting
from overcoat.measures.queries import draw_workload

__all__ = ["mixed_sizes", "random_items", "random_itemsets", "some_items"]

SHARES = {"PP1": 2, "PP2": 5, "PP3": 10, "PP4": 25, "PP5": 50}
MAKE_UP = {
    "PP6": (33, 33, 33, 1),
    "PP7": (30, 30, 30, 10),
    "PP8": (25, 25, 25, 25),
    "PP9": (16.7, 16.7, 16.7, 50),
}
COLUMNS = {
    "data": "data",
    "policy": "policy",
    "algorithm": "method",
    "status": "status",
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
            some = random_items(data, share)
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
        setup="k = 5, s = 0.5 %; the items are drawn at random, those of a policy are among the "
        f"next one's. Apriori has to protect all pairs. {materials.workload}",
        rows=table(rows, {**COLUMNS, "avg_re_q1": "AvgRE q=1", "avg_re_q3": "AvgRE q=3"}),
        panels=error_panels(rows, "policy", {"q1": "q = 1", "q3": "q = 3"}),
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


def mixed_sizes(materials: Materials) -> Findings:
    """PP6 to PP9: explicit itemsets of 1 to 4 items in different shares, k = 5."""
    sizes = materials.policy_sizes
    rows: list[dict[str, Any]] = []
    for name, data in materials.bms.items():
        hierarchy = materials.hierarchy(data)
        settings = []
        for size in sizes:
            for policy, shares in MAKE_UP.items():
                itemsets = random_itemsets(data, shares, size)
                for method in METHODS:
                    family = oc.AllItemsets(4) if method == "apriori" else oc.Itemsets(itemsets)
                    setting = _setting(policy, method, family, hierarchy)
                    more = {"size": size, "itemsets": len(itemsets)}
                    settings.append(replace(setting, values={**setting.values, **more}))
        field = materials.compare(data, settings, q=(2,), among="generalized")
        rows += [{"data": name, **row} for row in field.rows]
    ratios = {size: _ratios(only(rows, size=size), ("q2",)) for size in _sizes(rows)}
    best = [max(some) for some in ratios.values()]
    least = min(min(some) for some in ratios.values())
    return Findings(
        title="PP6 to PP9: itemsets of 1, 2, 3 and 4 items",
        setup="k = 5, s = 0.5 %. The paper does not say how many itemsets a policy has: here "
        f"{', '.join(f'{size:,}' for size in sizes)} (`--policy-sizes`), different ones, drawn so "
        "that somebody has each of them. Apriori has to protect all itemsets of 4 items. "
        f"{materials.workload}",
        rows=table(rows, {"itemsets": "itemsets", **COLUMNS, "avg_re_q2": "AvgRE q=2"}),
        panels=tuple(
            Panel(
                series_of(only(rows, data=name, size=size), "policy", "avg_re_q2"),
                f"{name}, {size:,} itemsets",
                "policy",
                "AvgRE, q = 2",
                log_y=True,
            )
            for name in names_of(rows)
            for size in _sizes(rows)
        ),
        claims=(
            Claim(
                "COAT answers up to 40 times more accurately than Apriori",
                "; ".join(
                    f"{size:,} itemsets: between {min(some):.1f} and {max(some):.1f} times"
                    for size, some in ratios.items()
                ),
                all(most >= 40 for most in best) or (None if max(best) >= 40 else False),
            ),
            Claim(
                "COAT's AvgRE is better than Apriori's for every policy",
                f"at least {least:.1f} times better",
                least > 1,
            ),
        ),
        remarks="The more itemsets a policy has, the less COAT can gain by not protecting the "
        "others. BMS1 has 497 items, so a third of them singles sets the largest size.",
    )


def _sizes(rows: list[dict[str, Any]]) -> list[int]:
    return sorted({row["size"] for row in rows})


def _setting(
    policy: str, method: str, family: Any, hierarchy: oc.Hierarchy, **options: Any
) -> Setting:
    made = oc.Policy(5, family, hierarchy=hierarchy, **options)
    return Setting({"policy": policy, "algorithm": method}, made, oc.methods()[method]())


def random_items(data: oc.Transactions, percent: float) -> list[str]:
    """Return so many percent of the items, drawn at random."""
    generator = np.random.Generator(np.random.PCG64(7))
    order = generator.permutation(data.n_items)  # so that each policy holds the one before
    n = max(2, round(data.n_items * percent / 100))
    return [data.vocabulary[int(code)] for code in np.sort(order[:n])]


def random_itemsets(
    data: oc.Transactions, shares: Sequence[float], n: int
) -> list[tuple[str, ...]]:
    """Draw different itemsets that somebody has, so many percent of them of 1, 2, … items."""
    found: list[tuple[str, ...]] = []
    for size, share in enumerate(shares, start=1):
        wanted = max(1, round(n * share / 100))
        drawn: dict[tuple[str, ...], None] = {}
        for seed in range(100):
            drawn |= dict.fromkeys(draw_workload(data, size, 2 * wanted, seed=seed))
            if len(drawn) >= wanted:
                break
        found += list(drawn)[:wanted]
    return found


def _ratios(rows: list[dict[str, Any]], workloads: Sequence[str]) -> list[float]:
    return [
        ratio
        for name in names_of(rows)
        for workload in workloads
        for ratio in times_better(
            only(rows, data=name),
            f"avg_re_{workload}",
            "policy",
            "coat",
            "apriori",
        ).values()
    ]


def _strictness_claim(rows: list[dict[str, Any]]) -> Claim:
    shown, worse, slightly = [], True, True
    for name in names_of(rows):
        found = {row["policy"]: row["avg_re_q1"] for row in only(rows, data=name, algorithm="coat")}
        worse &= found["PP5"] > found["PP1"]
        slightly &= found["PP5"] < 1.5 * found["PP1"]
        shown.append(f"{name}: {', '.join(f'{error:.2g}' for error in found.values())}")
    return Claim(
        "COAT's AvgRE becomes slightly worse as policies get stricter (q = 1, PP1 to PP5)",
        "; ".join(shown),
        worse and slightly if worse == slightly else None,
    )
