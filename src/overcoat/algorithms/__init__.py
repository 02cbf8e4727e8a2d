"""Anonymization methods: one file each, all with the signature of `coat.coat`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from overcoat.algorithms.apriori import apriori, apriori_problems
from overcoat.algorithms.coat import coat
from overcoat.algorithms.greedy import greedy, greedy_problems
from overcoat.algorithms.outcome import Outcome
from overcoat.algorithms.pcta import pcta
from overcoat.errors import PolicyError
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.privacy import BoundCoherence

__all__ = ["ALGORITHMS", "Method", "get_method"]


def _none(policy: BoundPolicy) -> Iterable[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Method:
    """An anonymization method.

    Attributes
    ----------
    run : the algorithm
    own_problems : what of a policy the method cannot honour, in words for the user
    limits_private : whether it can also limit how many of those who match share a private item
    advice : what may help when it takes more suppression than allowed
    """

    run: Callable[..., Outcome]
    own_problems: Callable[[BoundPolicy], Iterable[str]] = _none
    limits_private: bool = False
    advice: str = "a larger s, a smaller k, or other utility sets may help"

    def problems(self, policy: BoundPolicy) -> Iterator[str]:
        """Say what of a policy the method cannot honour: before it starts, not after."""
        for family in policy.families:
            limited = isinstance(family, BoundCoherence) and family.limits_private
            if limited and not self.limits_private:
                yield (
                    f"{policy.algorithm} cannot limit how many of those who match share a private "
                    "item (h below 100); greedy can"
                )
        yield from self.own_problems(policy)


ALGORITHMS = {
    "apriori": Method(
        apriori,
        apriori_problems,
        advice="apriori suppresses all linkable items when fewer than k people have any: a larger "
        "s, a smaller k, or more linkable items may help",
    ),
    "coat": Method(coat),
    "greedy": Method(
        greedy,
        greedy_problems,
        limits_private=True,
        advice="greedy only suppresses: a larger s (100 allows anything), a smaller k or p "
        "(--km), fewer public items, or a method that merges, such as coat, may help",
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
