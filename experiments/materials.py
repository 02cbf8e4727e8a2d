"""What experiments work on: data sets by name, hierarchies, and a folder for finished runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import overcoat as oc
from overcoat.comparison.compare import Comparison, compare
from overcoat.comparison.settings import Setting
from overcoat.context import Context
from overcoat.data import samples

__all__ = ["BMS", "METHODS", "Materials", "sample_rows"]

METHODS = ("coat", "apriori", "pcta", "greedy")
BMS = {"BMS1": "bms-webview-1.dat", "BMS2": "bms-webview-2.dat"}
# Without the real files: generated baskets, small enough for every experiment to be tried out.
_STAND_INS = {"BMS1": (1500, 60, 2.5), "BMS2": (2000, 150, 4.6)}


@dataclass(frozen=True)
class Materials:
    """Where data come from and where finished runs are kept.

    Attributes
    ----------
    data : folder with the real data sets; None: small generated stand-ins
    runs : folder for finished runs
    policy_sizes : how many itemsets the policies PP6 to PP9 have
    progress : called with what is being done and the number of steps
    """

    data: Path | None
    runs: Path
    policy_sizes: tuple[int, ...] = (100, 500, 1500)
    progress: Callable[[str, int], None] = field(default=lambda stage, steps: None)

    @cached_property
    def bms(self) -> dict[str, oc.Transactions]:
        """BMS1 and BMS2, or their stand-ins."""
        if self.data is None:
            return {
                name: samples.baskets(n, n_items, mean=mean)
                for name, (n, n_items, mean) in _STAND_INS.items()
            }
        return {name: oc.read(self.data / file) for name, file in BMS.items()}

    @cached_property
    def n_queries(self) -> int:
        """How many queries a workload has: the paper's 1,000, fewer for stand-ins."""
        return 100 if self.data is None else 1000

    def hierarchy(self, data: oc.Transactions) -> oc.Hierarchy:
        """Return the balanced hierarchy of fan-out 5 over the items in order."""
        return oc.Hierarchy.balanced(data.vocabulary, 5)

    @property
    def workload(self) -> str:
        """How the queries are drawn by default, in words."""
        return (
            f"AvgRE is over {self.n_queries:,} queries drawn as they occur, among the items that "
            "at least one of the methods generalizes; all methods answer the same queries."
        )

    def compare(
        self, data: oc.Transactions, settings: Iterable[Setting], **options: Any
    ) -> Comparison:
        """Run the settings, or find them in the folder, and measure all by one workload."""
        options = {"n_queries": self.n_queries, "by": "occurrences", **options}
        return compare(
            data,
            settings,
            folder=self.runs,
            context=Context(progress=lambda stage, done, of: self.progress(stage, done)),
            **options,
        )


def sample_rows(data: oc.Transactions, n: int, seed: int) -> oc.Transactions:
    """Return n transactions of `data`, drawn at random without replacement."""
    rows = np.repeat(np.arange(data.n_distinct), data.counts)
    chosen = np.random.Generator(np.random.PCG64(seed)).permutation(rows)[:n]
    labels = np.array(data.vocabulary.labels, object)
    return oc.Transactions.of(
        labels[data.codes[data.offsets[row] : data.offsets[row + 1]]].tolist() for row in chosen
    )
