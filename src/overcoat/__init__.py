"""Overcoat publishes transactions safely and usefully.

>>> import overcoat as oc
>>> data = oc.read([{"flu", "asthma"}, {"flu", "gout"}, {"flu"}, {"flu"}, {"asthma"}])
>>> result = oc.anonymize(data, k=2, privacy=[oc.AllItemsets(2)])
>>> print(oc.summarize(result))
data        5 transactions, 3 items
policy      k = 2, 3 constraints (all 2-itemsets), s = 0.5 %
changed     1 group of 2 items; 1 item as it was
suppressed  none
loss        log2 UL = -1.959
verified    yes: every protected itemset matches at least 2 people or nobody
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from overcoat._version import __version__

if TYPE_CHECKING:
    from overcoat.comparison.compare import Comparison, compare
    from overcoat.comparison.settings import Setting, vary
    from overcoat.context import Context
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
        VerificationError,
    )
    from overcoat.evaluation import Evaluation, evaluate
    from overcoat.mapping import Mapping
    from overcoat.measures.queries import Workload, draw_workload
    from overcoat.policy.config import read_policy
    from overcoat.policy.hierarchy import Hierarchy
    from overcoat.policy.policy import Policy
    from overcoat.policy.privacy import AllItemsets, Coherence, Itemsets, Pgen
    from overcoat.policy.utility import Utility
    from overcoat.policy.weights import Distances
    from overcoat.release import Result, anonymize, apply_mapping
    from overcoat.report.text import summarize
    from overcoat.verification import Verdict, verify

__all__ = [
    "AllItemsets",
    "CancelledError",
    "Coherence",
    "Comparison",
    "Context",
    "DataError",
    "Distances",
    "Evaluation",
    "Hierarchy",
    "InfeasibleError",
    "InputError",
    "Itemsets",
    "Mapping",
    "MappingError",
    "OvercoatError",
    "Pgen",
    "Policy",
    "PolicyError",
    "Result",
    "Setting",
    "Transactions",
    "Utility",
    "Verdict",
    "VerificationError",
    "Workload",
    "__version__",
    "anonymize",
    "apply_mapping",
    "compare",
    "draw_workload",
    "evaluate",
    "read",
    "read_policy",
    "summarize",
    "vary",
    "verify",
]

# Where each name lives. It is fetched at first use, so that `overcoat --version` does not have to
# wait for NumPy.
_HOMES = {
    "comparison.compare": ("Comparison", "compare"),
    "comparison.settings": ("Setting", "vary"),
    "context": ("Context",),
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
        "VerificationError",
    ),
    "evaluation": ("Evaluation", "evaluate"),
    "mapping": ("Mapping",),
    "measures.queries": ("Workload", "draw_workload"),
    "policy.config": ("read_policy",),
    "policy.hierarchy": ("Hierarchy",),
    "policy.policy": ("Policy",),
    "policy.privacy": ("AllItemsets", "Coherence", "Itemsets", "Pgen"),
    "policy.utility": ("Utility",),
    "policy.weights": ("Distances",),
    "release": ("Result", "anonymize", "apply_mapping"),
    "report.text": ("summarize",),
    "verification": ("Verdict", "verify"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'overcoat' has no attribute {name!r}")
    value = getattr(import_module(f"overcoat.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
