"""What a method is: a value that finds a partition of the items for some data and a policy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from typing import Any, ClassVar, Self, cast

from overcoat.algorithms.outcome import Outcome
from overcoat.context import Stage
from overcoat.data.transactions import Transactions
from overcoat.errors import PolicyError
from overcoat.mapping import Mapping
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.privacy import BoundCoherence

__all__ = ["Method"]


def _default(parameter: Field[Any]) -> Any:
    made = parameter.default_factory
    return parameter.default if made is MISSING else made()


class Method:
    """How a mapping is found: the one thing to subclass for a method of your own.

    A method is a frozen value: its parameters, and nothing that changes. It sees codes, never
    labels. Whatever it finds is verified like everything else before it can be published.

    Attributes
    ----------
    name : what it is called in options, reports and plots
    limits_private : whether it can also limit how many of those who match share a private item
    advice : what may help when it takes more suppression than allowed
    start : the mapping of an earlier release, if the method is to go on from it. A method that can
        has a field of this name; its groups of `start` then stay together, whatever else becomes
        of them, and what was suppressed stays suppressed. This is checked before anything is
        published
    """

    name: ClassVar[str] = ""
    limits_private: ClassVar[bool] = False
    advice: ClassVar[str] = "a larger s, a smaller k, or other utility sets may help"
    start: Mapping | None = None

    @property
    def title(self) -> str:
        """The name, and the parameters that are not at their defaults."""
        parameters: tuple[Field[Any], ...] = fields(self) if is_dataclass(self) else ()
        said = [
            f"{one.name}={value!r}"
            for one in parameters
            if (value := getattr(self, one.name)) != _default(one)
        ]
        return f"{self.name}({', '.join(said)})" if said else self.name

    def starting_from(self, start: Mapping) -> Self:
        """Return the method that goes on from an earlier mapping.

        >>> from overcoat.algorithms.methods import Coat
        >>> Coat().starting_from(Mapping.of("ab", [["a", "b"]])).title
        'coat(start=Mapping(2 items, 1 merged groups, 0 suppressed))'
        """
        if is_dataclass(self) and any(one.name == "start" for one in fields(self)):
            return cast(Self, replace(self, start=start))
        raise PolicyError(
            f"{self.name} cannot go on from an earlier mapping (start): it would not keep its "
            "groups; coat, pcta and search do"
        )

    def find(self, data: Transactions, policy: BoundPolicy, stage: Stage) -> Outcome:
        """Return a partition of the items that meets the policy, and how it was found.

        Parameters
        ----------
        data, policy : IN
        stage : to be called now and then with the number of steps done; it may end the work
        """
        raise TypeError(f"{type(self).__name__} does not say how it finds a mapping: write `find`")

    def own_problems(self, policy: BoundPolicy) -> Iterable[str]:
        """Say what else of a policy this method cannot honour."""
        return ()

    def problems(self, policy: BoundPolicy) -> Iterator[str]:
        """Say what of a policy the method cannot honour: before it starts, not after."""
        for family in policy.families:
            limited = isinstance(family, BoundCoherence) and family.limits_private
            if limited and not self.limits_private:
                yield (
                    f"{self.name} cannot limit how many of those who match share a private item "
                    "(h below 100); greedy can"
                )
        yield from self.own_problems(policy)
