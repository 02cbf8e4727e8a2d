"""What is compared: policies, each with the values that tell it from the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from overcoat.errors import PolicyError
from overcoat.policy.policy import Policy
from overcoat.policy.privacy import AllItemsets

__all__ = ["Setting", "vary"]


@dataclass(frozen=True, eq=False)
class Setting:
    """One run of a comparison.

    Attributes
    ----------
    values : what tells it from the other runs, such as ``{"algorithm": "coat", "k": 5}``; all
        settings of a comparison have the same names
    policy : what the run has to meet
    """

    values: dict[str, Any]
    policy: Policy

    @property
    def title(self) -> str:
        """The values in words."""
        return ", ".join(
            str(value) if name in ("algorithm", "policy") else f"{name} = {value}"
            for name, value in self.values.items()
        )


def vary(policy: Policy | Mapping[str, Policy], **sweeps: Iterable[Any]) -> list[Setting]:
    """Return a setting for every combination of policies and values.

    Parameters
    ----------
    policy : one policy, or several by name
    sweeps : the values to try of ``algorithm``, ``k``, ``m`` (of the policy's `AllItemsets`) or
        ``s``; the last one given changes fastest

    >>> base = Policy(5, (AllItemsets(2),))
    >>> [setting.title for setting in vary(base, algorithm=["coat", "pcta"], k=[2, 5])]
    ['coat, k = 2', 'coat, k = 5', 'pcta, k = 2', 'pcta, k = 5']
    """
    unknown = sorted(set(sweeps) - set(_AXES))
    if unknown:
        raise PolicyError(f"cannot sweep over {', '.join(unknown)}; there is {', '.join(_AXES)}")
    policies = policy if isinstance(policy, Mapping) else {None: policy}
    values = {name: list(sweep) for name, sweep in sweeps.items()}
    for name, sweep in values.items():
        if not sweep:
            raise PolicyError(f"no value of {name} to try")
    settings = []
    for title, base in policies.items():
        for combination in product(*values.values()):
            chosen = dict(zip(values, combination, strict=True))
            changed = base
            for name, value in chosen.items():
                changed = _AXES[name](changed, value)
            named = {} if title is None else {"policy": title}
            algorithm = {"algorithm": changed.algorithm}
            settings.append(Setting({**named, **algorithm, **chosen}, changed))
    return settings


def _with_m(policy: Policy, m: int) -> Policy:
    families = [
        AllItemsets(m, family.linkable) if isinstance(family, AllItemsets) else family
        for family in policy.privacy
    ]
    if not any(isinstance(family, AllItemsets) for family in families):
        raise PolicyError("m can only be varied when the policy protects all m-itemsets")
    return replace(policy, privacy=tuple(families))


_AXES: dict[str, Callable[[Policy, Any], Policy]] = {
    "algorithm": lambda policy, value: replace(policy, algorithm=value),
    "k": lambda policy, value: replace(policy, k=value),
    "m": _with_m,
    "s": lambda policy, value: replace(policy, max_suppressed=value),
}
