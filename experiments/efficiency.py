"""Efficiency: time over the number of transactions and over k (paper, section 6.5)."""

from __future__ import annotations

from typing import Any

import overcoat as oc
from experiments.findings import Claim, Findings, times_better
from experiments.materials import Materials, sample_rows
from overcoat.comparison.plots import Panel, series_of

__all__ = ["efficiency"]

SIZES = (1_000, 5_000, 10_000, 25_000, 50_000)
K = (2, 5, 10, 25, 50)
METHODS = ("coat", "apriori", "pcta")
REPEATS = 5


def efficiency(materials: Materials) -> Findings:
    """Time all methods that merge on random parts of BMS1, and on all of it for several k."""
    data = materials.bms["BMS1"]
    rows: list[dict[str, Any]] = []
    for n in [n for n in SIZES if n <= data.n_transactions]:
        part = sample_rows(data, n, seed=n)
        rows += [_time(materials, part, method, k=5, varied="N") for method in METHODS]
    for k in K:
        rows += [_time(materials, data, method, k=k, varied="k") for method in METHODS]
    over_n = [row for row in rows if row["varied"] == "N"]
    over_k = [row for row in rows if row["varied"] == "k"]
    faster = times_better(over_n, "seconds", "N", "coat", "apriori")
    most = max(faster, key=faster.__getitem__)
    slowest = max(row["seconds"] for row in rows if row["algorithm"] == "coat")
    by_k = times_better(over_k, "seconds", "k", "coat", "apriori")
    return Findings(
        title="Efficiency over the number of transactions and over k",
        setup="BMS1, all pairs, one utility set, s = 0.5 %; k = 5 over N, all transactions over k. "
        f"Time of finding the mapping, after reading; the best of {REPEATS} runs, after one "
        "that is not counted.",
        rows=tuple(
            {"N": row["N"], "k": row["k"], "method": row["algorithm"], "seconds": row["seconds"]}
            for row in rows
        ),
        panels=(
            Panel(
                series_of(over_n, "thousands", "seconds"),
                f"BMS1, k = 5, best of {REPEATS}",
                "thousands of transactions",
                "time, seconds",
                log_y=True,
            ),
            Panel(
                series_of(over_k, "k", "seconds"),
                f"BMS1, all transactions, best of {REPEATS}",
                "k",
                "time, seconds",
                log_y=True,
            ),
        ),
        claims=(
            Claim(
                "Over N, COAT is up to 2.5 times faster than Apriori",
                f"{faster[most]:.2g} times at N = {most:,}; "
                + ", ".join(f"{n:,}: {ratio:.2g}" for n, ratio in faster.items()),
                faster[most] >= 2.5,
            ),
            _scaling_claim(over_n),
            Claim(
                "Over k, COAT is slightly slower than Apriori",
                "Apriori's time / COAT's: "
                + ", ".join(f"k = {k}: {ratio:.2g}" for k, ratio in by_k.items()),
                all(0.2 < ratio < 1 for ratio in by_k.values()),
            ),
            Claim(
                "COAT's time is sub-linear in k",
                f"{over_k[-len(METHODS)]['seconds'] / over_k[0]['seconds']:.1f} times from "
                f"k = {K[0]} to {K[-1]}",
                over_k[-len(METHODS)]["seconds"] / over_k[0]["seconds"] < K[-1] / K[0],
            ),
            Claim("COAT takes less than half a minute", f"at most {slowest:.2g} s", slowest < 30),
        ),
        remarks="The paper compares two C++ programs of 2009; these are two compiled kernels of "
        "one package, so the ratio says as much about the care taken with each as about the "
        "methods. Runs of some hundredths of a second are noisy.",
    )


def _scaling_claim(rows: list[dict[str, Any]]) -> Claim:
    grown = {}
    for method in ("coat", "apriori"):
        seconds = [row["seconds"] for row in rows if row["algorithm"] == method]
        grown[method] = seconds[-1] / seconds[0]
    sizes = [row["N"] for row in rows]
    return Claim(
        "COAT scales better with N than Apriori",
        f"from {min(sizes):,} to {max(sizes):,} transactions the time grows {grown['coat']:.1f} "
        f"times with COAT, {grown['apriori']:.1f} times with Apriori",
        grown["coat"] < grown["apriori"],
    )


def _time(
    materials: Materials, data: oc.Transactions, method: str, *, k: int, varied: str
) -> dict[str, Any]:
    materials.progress(f"timing {method}, N = {data.n_transactions:,}, k = {k}", 0)
    policy = oc.Policy(k, oc.AllItemsets(2), hierarchy=materials.hierarchy(data))
    _, *seconds = (  # the first run warms up
        oc.anonymize(data, policy=policy, method=method, partial=True).seconds["anonymize"]
        for _ in range(1 + REPEATS)
    )
    n = data.n_transactions
    values = {"N": n, "thousands": n / 1000, "k": k, "algorithm": method}
    return {**values, "seconds": min(seconds), "varied": varied}
