"""Overcoat publishes transactions safely and usefully.

>>> import overcoat as oc
>>> data = oc.read([{"flu", "asthma"}, {"flu", "gout"}, {"flu"}, {"flu"}, {"asthma"}])
>>> result = oc.anonymize(data, k=2, privacy=[oc.AllItemsets(2)])
>>> print(oc.summarize(result))  # doctest: +ELLIPSIS
data        5 transactions, 3 items
policy      crowd (k): 2; known items (m): 2; may be left out (s): 0.5 %; \
3 constraints (all 2-itemsets)
changed     1 group of 2 items; 1 item as it was
suppressed  none
told        of 7 items that people have, 4 are told exactly, 3 are told as one of 2
loss        log2 UL = -1.959
verified    yes: every protected itemset matches at least 2 people or nobody
risk        unique with 2 items known: 2 people (40.0 %) → nobody; with 3: ...
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from overcoat._version import __version__

if TYPE_CHECKING:
    from overcoat import spark
    from overcoat.advice.price import Price, Prices, price
    from overcoat.advice.profile import Profile, profile
    from overcoat.algorithms.method import Method
    from overcoat.algorithms.methods import Apriori, Coat, Exact, Greedy, Pcta, Search, methods
    from overcoat.algorithms.outcome import Outcome, Searched, Step
    from overcoat.comparison.compare import Comparison, compare
    from overcoat.comparison.settings import Setting, vary
    from overcoat.context import Context, Stage
    from overcoat.data import samples as datasets
    from overcoat.data.io import read
    from overcoat.data.transactions import Transactions
    from overcoat.errors import (
        CancelledError,
        DataError,
        InfeasibleError,
        InputError,
        MappingError,
        OvercoatError,
        PolicyError,
        Problem,
        UnknownItemsError,
        VerificationError,
    )
    from overcoat.evaluation import Evaluation, Measure, evaluate
    from overcoat.exposure.crowds import Crowd
    from overcoat.exposure.risk import Attack, Risk
    from overcoat.least.bounds import Bounds
    from overcoat.loss.separable import Separable
    from overcoat.mapping import Mapping
    from overcoat.measures.queries import Answers, Workload, draw_workload
    from overcoat.partition import Partition
    from overcoat.policy.hierarchy import Balanced, Hierarchy
    from overcoat.policy.policy import BoundPolicy, Policy
    from overcoat.policy.privacy import AllItemsets, Coherence, Itemsets, Pgen
    from overcoat.policy.utility import Utility
    from overcoat.policy.weights import Distances
    from overcoat.release.bounds import bounds
    from overcoat.release.public import anonymize, apply_mapping, verify
    from overcoat.release.result import Result, TraceStep
    from overcoat.release.risk import attack, risk
    from overcoat.release.sinks import Sink
    from overcoat.reports.public import certificate, report
    from overcoat.reports.text import summarize
    from overcoat.verification import Verdict, Violation

__all__ = [
    "AllItemsets",
    "Answers",
    "Apriori",
    "Attack",
    "Balanced",
    "BoundPolicy",
    "Bounds",
    "CancelledError",
    "Coat",
    "Coherence",
    "Comparison",
    "Context",
    "Crowd",
    "DataError",
    "Distances",
    "Evaluation",
    "Exact",
    "Greedy",
    "Hierarchy",
    "InfeasibleError",
    "InputError",
    "Itemsets",
    "Mapping",
    "MappingError",
    "Measure",
    "Method",
    "Outcome",
    "OvercoatError",
    "Partition",
    "Pcta",
    "Pgen",
    "Policy",
    "PolicyError",
    "Price",
    "Prices",
    "Problem",
    "Profile",
    "Result",
    "Risk",
    "Search",
    "Searched",
    "Separable",
    "Setting",
    "Sink",
    "Stage",
    "Step",
    "TraceStep",
    "Transactions",
    "UnknownItemsError",
    "Utility",
    "Verdict",
    "VerificationError",
    "Violation",
    "Workload",
    "__version__",
    "anonymize",
    "apply_mapping",
    "attack",
    "bounds",
    "certificate",
    "compare",
    "datasets",
    "draw_workload",
    "evaluate",
    "methods",
    "price",
    "profile",
    "read",
    "report",
    "risk",
    "spark",
    "summarize",
    "vary",
    "verify",
]

# Where each name lives. It is fetched at first use, so that `overcoat --version` does not have to
# wait for NumPy.
_HOMES = {
    "advice.price": ("Price", "Prices", "price"),
    "advice.profile": ("Profile", "profile"),
    "algorithms.method": ("Method",),
    "algorithms.methods": (
        "Apriori",
        "Coat",
        "Exact",
        "Greedy",
        "Pcta",
        "Search",
        "methods",
    ),
    "algorithms.outcome": ("Outcome", "Searched", "Step"),
    "comparison.compare": (
        "Comparison",
        "compare",
    ),
    "comparison.settings": (
        "Setting",
        "vary",
    ),
    "context": ("Context", "Stage"),
    "data.io": ("read",),
    "data.transactions": ("Transactions",),
    "errors": (
        "CancelledError",
        "DataError",
        "InfeasibleError",
        "InputError",
        "MappingError",
        "OvercoatError",
        "PolicyError",
        "Problem",
        "UnknownItemsError",
        "VerificationError",
    ),
    "evaluation": (
        "Evaluation",
        "Measure",
        "evaluate",
    ),
    "least.bounds": ("Bounds",),
    "loss.separable": ("Separable",),
    "mapping": ("Mapping",),
    "measures.queries": (
        "Answers",
        "Workload",
        "draw_workload",
    ),
    "partition": ("Partition",),
    "policy.hierarchy": (
        "Balanced",
        "BoundPolicy",
        "Hierarchy",
    ),
    "policy.policy": ("BoundPolicy", "Policy"),
    "policy.privacy": (
        "AllItemsets",
        "Coherence",
        "Itemsets",
        "Pgen",
    ),
    "policy.utility": ("Utility",),
    "policy.weights": ("Distances",),
    "release.bounds": ("bounds",),
    "release.public": (
        "anonymize",
        "apply_mapping",
        "verify",
    ),
    "release.risk": ("attack", "risk"),
    "exposure.crowds": ("Crowd",),
    "exposure.risk": ("Attack", "Risk"),
    "release.result": (
        "Result",
        "TraceStep",
    ),
    "release.sinks": ("Sink",),
    "reports.public": ("certificate", "report"),
    "reports.text": ("summarize",),
    "verification": (
        "Verdict",
        "Violation",
    ),
}
_MODULES = {"datasets": "data.samples", "spark": "spark"}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


if not TYPE_CHECKING:  # a name that is not there is to be found by type checkers, too

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            value: Any = import_module(f"overcoat.{_MODULES[name]}")
        elif name in _HOME_OF:
            value = getattr(import_module(f"overcoat.{_HOME_OF[name]}"), name)
        else:
            raise AttributeError(f"module 'overcoat' has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
