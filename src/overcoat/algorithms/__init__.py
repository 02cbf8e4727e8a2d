"""Anonymization methods: one file each, all with the signature of `coat.coat`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from overcoat.algorithms.apriori import apriori, problems
from overcoat.algorithms.coat import coat
from overcoat.algorithms.greedy import greedy, greedy_problems
from overcoat.algorithms.outcome import Outcome
from overcoat.algorithms.pcta import pcta
from overcoat.errors import PolicyError
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.privacy import BoundCoherence

__all__ = ["ALGORITHMS", "Method", "get_method"]


def _refuse_h(policy: BoundPolicy) -> Iterable[str]:
    """Say that a method looks at how many people match, not at what they have in common."""
    for family in policy.families:
        if isinstance(family, BoundCoherence) and family.limits_private:
            yield (
                f"{policy.algorithm} cannot limit how many of those who match share a private item "
                "(h below 100); greedy can"
            )


@dataclass(frozen=True, slots=True)
class Method:
    """An anonymization method.

    Attributes
    ----------
    run : the algorithm
    problems : what of a policy the method cannot honour, in words for the user; a method that
        cannot meet a policy must say so before it starts
    advice : what may help when it takes more suppression than allowed
    """

    run: Callable[..., Outcome]
    problems: Callable[[BoundPolicy], Iterable[str]] = _refuse_h
    advice: str = "a larger s, a smaller k, or other utility sets may help"


ALGORITHMS = {
    "apriori": Method(apriori, problems),
    "coat": Method(coat),
    "greedy": Method(
        greedy,
        greedy_problems,
        "greedy only suppresses: a larger s (100 allows anything), a smaller k or p, fewer public "
        "items, or a method that merges, such as coat, may help",
    ),
    "pcta": Method(pcta),
}


def get_method(name: Any) -> Method:
    """Return the method of that name."""
    try:
        return ALGORITHMS[name]
    except KeyError:
        raise PolicyError(
            f"there is no algorithm {name!r}; there is {', '.join(sorted(ALGORITHMS))}"
        ) from None
