"""What is compared: policies, each with the values that tell it from the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from overcoat.algorithms import Method, take_method
from overcoat.algorithms.methods import Coat
from overcoat.errors import PolicyError
from overcoat.policy.policy import Policy
from overcoat.policy.privacy import AllItemsets, Coherence, Families, Family
from overcoat.release.given import method_of, take_policy

__all__ = ["Setting", "vary"]


@dataclass(frozen=True)
class Setting:
    """One run of a comparison.

    Attributes
    ----------
    values : what tells it from the other runs, such as ``{"algorithm": "coat", "k": 5}``; all
        settings of a comparison have the same names
    policy : what the run has to meet
    method : how it finds a mapping
    """

    values: dict[str, Any]
    policy: Policy
    method: Method = field(default_factory=Coat)

    def __post_init__(self) -> None:
        called = self.values.get("algorithm", self.method.title)
        if called not in (self.method.name, self.method.title):
            raise PolicyError(f"a run that is called {called} has the method {self.method.title}")

    @property
    def title(self) -> str:
        """The values in words."""
        return ", ".join(
            str(value) if name in ("algorithm", "policy") else f"{name} = {value}"
            for name, value in self.values.items()
        )


def vary(policy: Any, **sweeps: Any) -> list[Setting]:
    """Return a setting for every combination of policies and values.

    Parameters
    ----------
    policy : one policy (or a policy file), or several by name
    sweeps : the values to try of ``algorithm`` (methods, or names of methods), ``k``, ``m`` (of
        `AllItemsets`, and `Coherence`'s p), ``h`` or ``s``; the last one given changes fastest.
        Without algorithms, the one that the policy file names, else COAT

    >>> base = Policy(5, AllItemsets(2))
    >>> [setting.title for setting in vary(base, algorithm=["coat", "pcta"], k=[2, 5])]
    ['coat, k = 2', 'coat, k = 5', 'pcta, k = 2', 'pcta, k = 5']
    """
    unknown = sorted(set(sweeps) - {"algorithm", *_AXES})
    if unknown:
        known = ", ".join(["algorithm", *_AXES])
        raise PolicyError(f"cannot sweep over {', '.join(unknown)}; there is {known}")
    policies = policy if isinstance(policy, Mapping) else {None: policy}
    values = {name: _values(sweep) for name, sweep in sweeps.items()}
    for name, sweep in values.items():
        if not sweep:
            raise PolicyError(f"no value of {name} to try")
    settings = []
    for title, given in policies.items():
        base, named_method = take_policy(given), method_of(given, None)
        for combination in product(*values.values()):
            chosen = dict(zip(values, combination, strict=True))
            method = take_method(chosen.pop("algorithm", None) or named_method)
            changed = base
            for name, value in chosen.items():
                changed = _AXES[name](changed, value)
            named = {} if title is None else {"policy": title}
            order = {"algorithm": method.title, **dict.fromkeys(values)}
            told = {**order, **chosen, "algorithm": method.title}
            settings.append(Setting({**named, **told}, changed, method))
    return settings


def _values(sweep: Any) -> list[Any]:
    """Return the values of a sweep; a single one will do, and so will NumPy's."""
    single = isinstance(sweep, str) or not isinstance(sweep, Iterable)
    values = [sweep] if single else sweep
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def _with_m(policy: Policy, m: int) -> Policy:
    def changed(family: Family) -> Family | None:
        match family:
            case AllItemsets():
                return AllItemsets(m, family.linkable)
            case Coherence():
                return Coherence(m, family.private, family.h, family.linkable)
        return None

    return _changed(policy, changed, "m can only be varied when the policy protects all m-itemsets")


def _with_h(policy: Policy, h: Any) -> Policy:
    def changed(family: Family) -> Family | None:
        if isinstance(family, Coherence):
            return Coherence(family.p, family.private, h, family.linkable)
        return None

    return _changed(policy, changed, "h can only be varied when the policy has private items")


def _changed(policy: Policy, change: Callable[[Family], Family | None], otherwise: str) -> Policy:
    """Return the policy with those of its families changed that can be."""
    changed = [change(family) for family in policy.privacy]
    if not any(changed):
        raise PolicyError(otherwise)
    families = [new or old for new, old in zip(changed, policy.privacy, strict=True)]
    return replace(policy, privacy=Families(families))


_AXES: dict[str, Callable[[Policy, Any], Policy]] = {
    "k": lambda policy, value: replace(policy, k=value),
    "m": _with_m,
    "h": _with_h,
    "s": lambda policy, value: replace(policy, max_suppressed=value),
}
