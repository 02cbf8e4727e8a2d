"""The methods that come with Overcoat, as values, by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from difflib import get_close_matches
from typing import Any, ClassVar, get_args

from overcoat.algorithms.apriori import apriori, apriori_problems
from overcoat.algorithms.coat import coat
from overcoat.algorithms.exact import exact, exact_problems
from overcoat.algorithms.greedy import greedy, greedy_problems
from overcoat.algorithms.method import Method
from overcoat.algorithms.objective import Aim, Loss, Minimise
from overcoat.algorithms.outcome import Cooling, Outcome
from overcoat.algorithms.pcta import pcta
from overcoat.algorithms.prices import Objective
from overcoat.algorithms.schedule import NUMBERS, STRETCHES
from overcoat.algorithms.search import search
from overcoat.checks import check_choice, check_count
from overcoat.context import QUIET, Stage
from overcoat.data.transactions import Transactions
from overcoat.errors import PolicyError
from overcoat.loss.separable import Separable
from overcoat.mapping import Mapping
from overcoat.policy.policy import BoundPolicy

__all__ = ["Apriori", "Coat", "Exact", "Greedy", "Pcta", "Search", "methods", "take_method"]


@dataclass(frozen=True)
class Coat(Method):
    """COAT: repairs one constraint after the other, merging where that costs least.

    Parameters
    ----------
    start : the mapping of an earlier release to go on from: its groups are only merged further
    """

    name: ClassVar[str] = "coat"
    start: Mapping | None = field(default=None, repr=False)

    def find(self, data: Transactions, policy: BoundPolicy, stage: Stage = QUIET) -> Outcome:
        """See `overcoat.algorithms.coat`."""
        return coat(data, policy, stage, self.start)


@dataclass(frozen=True)
class Pcta(Method):
    """PCTA: like COAT, but merges the group of a constraint that it is cheapest to merge.

    Parameters
    ----------
    start : see `Coat`
    """

    name: ClassVar[str] = "pcta"
    start: Mapping | None = field(default=None, repr=False)

    def find(self, data: Transactions, policy: BoundPolicy, stage: Stage = QUIET) -> Outcome:
        """See `overcoat.algorithms.pcta`."""
        return pcta(data, policy, stage, self.start)


@dataclass(frozen=True)
class Apriori(Method):
    """Apriori: k^m-anonymity by merging whole subtrees of a hierarchy."""

    name: ClassVar[str] = "apriori"
    advice: ClassVar[str] = (
        "apriori suppresses all linkable items when fewer than k people have any: a larger s, a "
        "smaller k, or more linkable items may help"
    )

    def find(self, data: Transactions, policy: BoundPolicy, stage: Stage = QUIET) -> Outcome:
        """See `overcoat.algorithms.apriori`."""
        return apriori(data, policy, stage)

    def own_problems(self, policy: BoundPolicy) -> Iterable[str]:
        """See `apriori_problems`."""
        return apriori_problems(policy)


@dataclass(frozen=True)
class Exact(Method):
    """The proven optimum, for blocks of about a dozen items.

    Parameters
    ----------
    minimise : ``ul``, ``ncp`` (with the hierarchy; without one it is flat) or ``flat`` (flat NCP)
    nodes : how many states to look at, at most; where that does not suffice, the best found is
        returned with what is proven of it (`Outcome.proof`)
    """

    name: ClassVar[str] = "exact"
    minimise: Objective = "ul"
    nodes: int = 200_000

    def __post_init__(self) -> None:
        check_choice("minimise", self.minimise, get_args(Objective))
        check_count("nodes", self.nodes)

    def find(self, data: Transactions, policy: BoundPolicy, stage: Stage = QUIET) -> Outcome:
        """See `overcoat.algorithms.exact`."""
        return exact(data, policy, self.minimise, self.nodes, stage)

    def own_problems(self, policy: BoundPolicy) -> Iterable[str]:
        """See `exact_problems`."""
        return exact_problems(policy)


@dataclass(frozen=True)
class Greedy(Method):
    """Greedy: (h,k,p)-coherence by suppression."""

    name: ClassVar[str] = "greedy"
    limits_private: ClassVar[bool] = True
    advice: ClassVar[str] = (
        "greedy only suppresses: a larger s (100 allows anything), a smaller k or p (--km), fewer "
        "public items, or a method that merges, such as coat, may help"
    )

    def find(self, data: Transactions, policy: BoundPolicy, stage: Stage = QUIET) -> Outcome:
        """See `overcoat.algorithms.greedy`."""
        return greedy(data, policy, stage)

    def own_problems(self, policy: BoundPolicy) -> Iterable[str]:
        """See `greedy_problems`."""
        return greedy_problems(policy)


@dataclass(frozen=True)
class Search(Method):
    """Search: goes on from another method's result, and makes it more useful.

    Parameters
    ----------
    minimise : useful, ul, ncp, flat or queries; or a loss of your own: a subclass of `Separable`,
        or whatever makes one when it is called with the data
    start : the mapping of an earlier release to go on from: its groups stay together
    steps : how many each of the two chains takes; by default 160 times the number of items
    seconds : when to stop, instead; the steps that were done are recorded
    seed : of the draws
    queries : the workload that the objective queries asks: a `Workload`, a file, or sets of items
    base : the method whose result it starts from
    cooling : over how many steps the temperature falls; to repeat a search that was ended early.
        Five numbers a part where `seconds` planned them: the steps of four stretches, and the looks
        of the descent
    keep : of the losses ul, ncp (with the hierarchy; without one it is flat) and flat (flat NCP)
        those that may not be larger in the end than at the start; what is minimised never is

    >>> Search(steps=1000).title
    'search(steps=1000)'
    """

    name: ClassVar[str] = "search"
    steps: int | None = None
    seconds: float | None = None
    seed: int = 0
    minimise: Minimise | Callable[[Transactions], Separable] = "useful"
    queries: Any = None
    base: Method = field(default_factory=Coat)
    cooling: Cooling | None = None
    keep: tuple[Loss, ...] = get_args(Loss)
    start: Mapping | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.keep, str):
            raise PolicyError(f"keep must be a tuple of losses, such as ({self.keep!r},)")
        for loss in self.keep:
            check_choice("keep", loss, get_args(Loss))
        object.__setattr__(self, "keep", tuple(self.keep))  # no list is part of a value
        if not callable(self.minimise):
            check_choice("minimise", self.minimise, get_args(Minimise))
        check_count("seed", self.seed, 0)
        if self.steps is not None:
            check_count("steps", self.steps, 0)
        if self.cooling is not None:
            self._check_cooling(self.cooling)
        if self.seconds is not None and not 0 <= self.seconds < math.inf:
            raise PolicyError(f"seconds must be a number of at least 0, not {self.seconds!r}")
        if (self.queries is None) == (self.minimise == "queries"):
            raise PolicyError(
                "queries and minimise = queries go together: what is asked, and that it counts"
            )

    def _check_cooling(self, given: Cooling) -> None:
        listed = list(given) if isinstance(given, list | tuple) else [given]
        total = sum(check_count("cooling", one, 0) for one in listed)
        if isinstance(given, list | tuple):
            if len(listed) not in (NUMBERS, 2 * NUMBERS):
                raise PolicyError(
                    f"cooling must be a whole number, or {NUMBERS} of them for each part of the "
                    f"search, or for both; these are {len(listed)}"
                )
            total -= sum(listed[STRETCHES::NUMBERS])  # looks
            object.__setattr__(self, "cooling", tuple(listed))
        if self.steps is not None and total < self.steps:
            raise PolicyError("cooling must be at least as many steps as are taken")

    def find(self, data: Transactions, policy: BoundPolicy, stage: Stage = QUIET) -> Outcome:
        """See `overcoat.algorithms.search`."""
        minimise = self.minimise(data) if callable(self.minimise) else self.minimise
        own = minimise if isinstance(minimise, Separable) else None
        if own is None and callable(self.minimise):
            raise PolicyError(
                f"minimise must make a Separable of the data, and makes {minimise!r} of them"
            )
        return search(
            *(data, policy, stage),
            base=self.base if self.start is None else self.base.starting_from(self.start),
            minimise=type(own).__name__ if own is not None else str(minimise),
            objective=lambda start: Aim.of(minimise, data, policy, start, stage, self.queries),
            own=own,
            keep=self.keep,
            start=self.start,
            steps=self.steps,
            cooling=self.cooling,
            seconds=self.seconds,
            seed=self.seed,
        )

    def own_problems(self, policy: BoundPolicy) -> Iterable[str]:
        """Say what its base cannot honour."""
        return self.base.own_problems(policy)


def methods() -> dict[str, type[Method]]:
    """Return the methods that come with Overcoat, by name.

    >>> list(methods())
    ['apriori', 'coat', 'exact', 'greedy', 'pcta', 'search']
    """
    return {method.name: method for method in (Apriori, Coat, Exact, Greedy, Pcta, Search)}


def take_method(given: Any, **parameters: Any) -> Method:
    """Take a method, the name of one, or None for COAT.

    Parameters
    ----------
    parameters : those of the method that were given beside its name; None where none was

    >>> take_method("pcta"), take_method("exact", minimise="ncp")
    (Pcta(), Exact(minimise='ncp', nodes=200000))
    """
    method = _named(given)
    said = {name: value for name, value in parameters.items() if value is not None}
    known: set[str] = {one.name for one in fields(method)} if is_dataclass(method) else set()
    if unknown := sorted(said.keys() - known):
        raise PolicyError(f"{method.name} takes no {', '.join(unknown)}")
    return replace(method, **said) if said else method  # type: ignore[type-var]


def _named(given: Any) -> Method:
    if given is None:
        return Coat()
    if isinstance(given, Method):
        if not given.name:
            raise PolicyError(f"{type(given).__name__} needs a name: set it in the class")
        return given
    if isinstance(given, str):
        if given in methods():
            return methods()[given]()
        near = get_close_matches(given, methods(), 1)
        hint = f"did you mean {near[0]!r}? There is" if near else "there is"
        raise PolicyError(f"there is no algorithm {given!r}; {hint} {', '.join(methods())}")
    hint = f"; write {given.__name__}()" if isinstance(given, type) else ""
    raise PolicyError(
        f"{given!r} is not a method: take one of oc.methods(), or subclass Method{hint}"
    )
