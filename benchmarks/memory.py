"""What a family or a method needs, beside what is foretold: ``python -m benchmarks.memory``.

In a process of its own, because memory that was used once is seldom given back.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import overcoat as oc
from overcoat.context import Context
from overcoat.data.memory import StagePeaks, resident_memory_mb
from overcoat.data.native import give_back_memory
from overcoat.release.forecast import forecast
from overcoat.release.walk import find_release

__all__ = ["NEEDS", "Needed", "main"]

# Families with COAT, then the other methods.
NEEDS = (
    *("m = 1", "m = 2", "m = 3", "Pgen", "500 sets"),
    *("PCTA, m = 2", "Apriori, m = 2", "Apriori, m = 3", "Greedy, p = 2", "Search, m = 2"),
)
METHODS: dict[str, oc.Method] = {
    "PCTA": oc.Pcta(),
    "Apriori": oc.Apriori(),
    "Greedy": oc.Greedy(),
    "Search": oc.Search(seconds=10),
}


@dataclass(frozen=True)
class Needed:
    """What one run needed, in MB.

    Attributes
    ----------
    rows : what the distinct rows take
    foretold : on top of them
    found : on top of them, the most of all stages from finding a mapping to verifying it
    stage : the stage with the most
    """

    rows: float
    foretold: float
    found: float
    stage: str

    @property
    def ratio(self) -> float:
        """What was foretold, of what was found; not a number where nothing was needed."""
        return self.foretold / self.found if self.found > 0 else math.nan


def main() -> None:
    """Make one release, and print what it needed as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("need", choices=NEEDS)
    parser.add_argument("--sets", type=Path, help="the 500 sets")
    options = parser.parse_args()
    needed = _needed(options.data, options.need, options.sets)
    sys.stdout.write(json.dumps(asdict(needed)))


def _needed(path: Path, need: str, sets: Path | None) -> Needed:
    data = oc.read(path)
    name, _, known = need.rpartition(" = ")
    method = METHODS.get(name.split(",")[0], oc.Coat())
    family: oc.AllItemsets | oc.Pgen | oc.Itemsets = oc.Pgen()
    if sets is not None:
        family = oc.Itemsets.read(sets)
    elif name:
        family = oc.AllItemsets(int(known))
    tree = oc.Hierarchy.balanced(data.vocabulary.labels, fanout=5)
    suppressed = 100 if isinstance(method, oc.Greedy) else 0.5
    policy = oc.Policy(5, family, hierarchy=tree, max_suppressed=suppressed).bind(data)
    foretold = forecast(data, policy, method).memory / 2**20
    gc.collect()
    give_back_memory()
    peaks, before = StagePeaks(), resident_memory_mb()
    find_release(data, policy, method, context=Context(peaks=peaks), seconds={})
    stages = peaks.by_stage()
    most = max(stages, key=lambda stage: stages[stage])
    rows = (data.codes.nbytes + data.offsets.nbytes + data.counts.nbytes) / 2**20
    return Needed(rows, foretold, stages[most] - before, most)


if __name__ == "__main__":
    main()
