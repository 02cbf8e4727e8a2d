"""Policies near one that cannot be met, each of them met: tried, not guessed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from overcoat.advice.cost import Cost, Meter
from overcoat.advice.folding import Climb, fold_sets
from overcoat.algorithms.method import Method
from overcoat.context import Context
from overcoat.data.transactions import Transactions
from overcoat.errors import InfeasibleError, MappingError, PolicyError
from overcoat.exposure.reach import Reach, reach
from overcoat.feasibility.clashes import keep_most
from overcoat.feasibility.why import percent_for
from overcoat.mapping import Mapping
from overcoat.policy.policy import BoundPolicy, Policy
from overcoat.policy.privacy import AllItemsets, Families
from overcoat.policy.utility import Utility
from overcoat.release.result import Result
from overcoat.release.walk import find_release
from overcoat.words import count_of, listed, people

__all__ = ["Proposal", "propose", "suggest"]

_Candidate = tuple[str, str, dict[str, Any], tuple[str, ...]]  # name, change, settings, details
_NAMES = 3  # of sets, where many are joined


@dataclass(frozen=True)
class Proposal:
    """A policy that was tried and is met, and what it costs.

    Attributes
    ----------
    name : one word
    change : how it differs from what was asked for, in words
    settings : the same, as keys of `policy.toml` and their values
    policy : the policy
    result : what it gives
    cost : what that costs
    below_k : people of whom as many items as was asked fit fewer rows of the release than was
        asked; None where the policy that was asked for is not about all sets of so many items
    details : what `change` has no room for: each set that is given up, or joined with others
    doubtful : whether an expert should look at what it joins
    """

    name: str
    change: str
    settings: dict[str, Any]
    policy: Policy
    result: Result
    cost: Cost
    below_k: Reach | None = None
    doubtful: bool = False
    details: tuple[str, ...] = ()


def suggest(
    data: Transactions, policy: Policy, method: Method, *, context: Context | None = None
) -> list[Proposal]:
    """Return policies near this one that are met, with what each of them costs.

    As many utility sets as can be kept; the least suppression; the largest k; the largest m. Each
    changes one thing and leaves the others as they are.

    >>> from overcoat.algorithms.methods import Coat
    >>> rows = [{"a", "c"}, {"a", "d"}, {"a"}, {"a"}, {"c"}, {"c"}, {"d"}, {"d"}]
    >>> asked = Policy(2, AllItemsets(2), {"x": ["a"], "y": ["c"]}, max_suppressed=0)
    >>> for one in suggest(Transactions.of(rows), asked, Coat()):
    ...     print(f"{one.name}: {one.change}")
    sets: keeps 1 of 2 utility sets; gives up y (3 people)
    suppress: s = 67 %: 2 items may go
    m: m = 1 instead of 2
    """
    return list(propose(data, policy, method, context=Context.of(context)))


def propose(
    data: Transactions, policy: Policy, method: Method, *, context: Context
) -> Iterator[Proposal]:
    """Yield policies near this one that are met, one after the other, see `suggest`."""
    if method.start is not None:  # sets may name what only the earlier release had
        policy = replace(policy, known=policy.known.union(method.start))
    meter: Meter | None = None
    for name, change, settings, details in _candidates(data, policy, method, context):
        if method.start is not None and "utility" in settings:
            settings["utility"] = _completed(settings["utility"], data, method.start)
        candidate = _changed(policy, settings)
        try:
            bound = candidate.bind(data)
            result = find_release(data, bound, method, context=context, seconds={})
        except (InfeasibleError, PolicyError, MappingError):
            continue
        if meter is None:
            meter = Meter(data, stage=context.start("evaluate"))
        doubtful = "doubtful" in change and name.endswith("joined")
        cost = meter.cost(result)
        below = _below(policy, result, context)
        yield Proposal(name, change, settings, candidate, result, cost, below, doubtful, details)


def _below(asked: Policy, result: Result, context: Context) -> Reach | None:
    """Return who is in a small crowd, by what was asked for."""
    sizes = [
        one.m for one in asked.privacy if isinstance(one, AllItemsets) and one.linkable is None
    ]
    if not sizes:
        return None
    return reach(result.released, [max(sizes)], asked.k, stage=context.start("risk"))[0]


def _completed(
    sets: dict[str, list[str]], data: Transactions, start: Mapping
) -> dict[str, list[str]]:
    """Add to sets the items that do not occur now, but are in an earlier group with theirs."""
    labels = {item: label for item, label in start.items() if label is not None}
    completed = {}
    for name, items in sets.items():
        held = {labels[item] for item in items if item in labels}
        absent = (item for item in labels if item not in data.vocabulary)
        completed[name] = [*items, *(item for item in absent if labels[item] in held)]
    return completed


def _candidates(
    data: Transactions, policy: Policy, method: Method, context: Context
) -> Iterator[_Candidate]:
    bound = policy.bind(data)
    if bound.utility.named and bound.utility.rest == "together":
        yield from _fewer_sets(data, bound, context)
    if bound.utility.rest == "intact":
        yield from _loosened(data, policy, context)
    found = _partial(data, bound, method, context)
    if found is not None and len(found.suppressed) < data.n_items:
        needed, mapping = len(found.suppressed), found.mapping
        percent = percent_for(needed, data.n_items)
        if len(mapping) > data.n_items:  # it goes on from another, and s holds for both
            percent = max(percent, percent_for(len(mapping.suppressed), len(mapping)))
        words = f"s = {percent:g} %: {count_of(needed, 'item')} may go"
        yield "suppress", words, {"max_suppressed": percent}, ()

    def met(settings: dict[str, Any]) -> bool:
        return _met(data, _changed(policy, settings), method, context)

    k = _largest(2, policy.k, lambda k: met({"k": k}))
    if k:
        yield "k", f"k = {k} instead of {policy.k}", {"k": k}, ()
    sizes = [family.m for family in policy.privacy if isinstance(family, AllItemsets)]
    m = None
    if sizes and max(sizes) > 1:
        m = _largest(1, max(sizes), lambda m: met({"km": m}))
        if m:
            yield "m", f"m = {m} instead of {max(sizes)}", {"km": m}, ()
    # Neither by itself: both together, if they do.
    if sizes and max(sizes) > 1 and policy.k > 2 and not k and not m:
        k = _largest(2, policy.k, lambda k: met({"k": k, "km": 1}))
        if k:
            words = f"m = 1 instead of {max(sizes)}, and k = {k} instead of {policy.k}"
            yield "both", words, {"k": k, "km": 1}, ()


def _loosened(data: Transactions, policy: Policy, context: Context) -> Iterator[_Candidate]:
    """Yield policies under which the items in no set may be merged; then with fewer sets, too."""
    together: dict[str, Any] = {"rest": "together"}
    words = "the items in no set may be merged with each other (rest = together)"
    yield "together", words, together, ()
    bound = _changed(policy, together).bind(data)
    if bound.utility.named:
        for name, change, settings, details in _fewer_sets(data, bound, context):
            yield f"together-{name}", f"{words}, and it {change}", together | settings, details


def _fewer_sets(data: Transactions, bound: BoundPolicy, context: Context) -> Iterator[_Candidate]:
    keep, gone = keep_most(data, bound, stage=context.start("suggest"))
    if not gone:
        return
    named = bound.utility.named
    labels = data.vocabulary.labels
    kept = {named[number].name: [labels[code] for code in named[number].codes] for number in keep}
    told = [
        f"{named[number].name} ({people(_people(data, named[number].codes))})" for number in gone
    ]
    change = f"keeps {len(keep)} of {count_of(len(named), 'utility set')}; gives up {listed(told)}"
    every = ", ".join(told)
    given_up = () if listed(told) == every else (f"Given up: {every}",)
    yield "sets", change, {"utility": kept}, given_up
    groups = fold_sets(data, bound, stage=context.start("suggest"))
    if groups is not None and len(groups) > 1:
        members = [[named[number].name for number in group] for group in groups]
        short = [_briefly(names) for names in members]
        if len({*short}) < len(short):  # by chance
            short = [" + ".join(names) for names in members]
        joined = {
            name: [labels[code] for number in group for code in named[number].codes]
            for name, group in zip(short, groups, strict=True)
        }
        details = tuple(
            f"{name}: {', '.join(names)}"
            for name, names in zip(short, members, strict=True)
            if len(names) > _NAMES
        )
        change = f"joins {len(named)} utility sets to {len(groups)}, each with its nearest in the "
        change += "hierarchy"
        if far := _far(bound, groups):
            strange = [_briefly([named[number].name for number in group]) for group in far]
            more = f", … and {len(far) - _NAMES} more" if len(far) > _NAMES else ""
            change += (
                f"; {len(far)} of these are doubtful ({'; '.join(strange[:_NAMES])}{more}): "
                "nothing but the root of the hierarchy is above all their items, so an expert may "
                "not want them joined"
            )
        yield "joined", change, {"utility": joined}, details


def _briefly(names: list[str]) -> str:
    more = f" + {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return " + ".join(names[:_NAMES]) + more


def _far(bound: BoundPolicy, groups: list[list[int]]) -> list[list[int]]:
    """Return the joined sets that only the root of the hierarchy has in common."""
    assert bound.hierarchy is not None
    climb = Climb(bound.hierarchy)
    named = bound.utility.named

    def above(blocks: list[int]) -> int:
        return climb.above_all(tuple(code for block in blocks for code in named[block].codes))

    return [group for group in groups if len(group) > 1 and climb.is_root(above(group))]


def _people(data: Transactions, codes: tuple[int, ...]) -> int:
    from overcoat.measures.counts import count_any

    return count_any(data, [data.vocabulary[code] for code in codes])


def _partial(
    data: Transactions, bound: BoundPolicy, method: Method, context: Context
) -> Result | None:
    """Return what this method comes to when s does not matter."""
    try:
        return find_release(data, bound, method, partial=True, context=context, seconds={})
    except PolicyError:
        return None


def _met(data: Transactions, policy: Policy, method: Method, context: Context) -> bool:
    try:
        find_release(data, policy.bind(data), method, context=context, seconds={})
    except (InfeasibleError, PolicyError, MappingError):
        return False
    return True


def _largest(least: int, below: int, met: Callable[[int], bool]) -> int | None:
    """Return the largest number from `least` on and below another that is met, by bisection.

    What is met for a number is met for smaller ones; where a greedy method is an exception to
    that, the number found is met, though a larger one might be, too.
    """
    low, high = least - 1, below
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if met(middle) else (low, middle)
    return low if low >= least else None


def _changed(policy: Policy, settings: dict[str, Any]) -> Policy:
    """Return the policy with some keys of `policy.toml` changed."""
    changed: dict[str, Any] = {}
    utility, rest = policy.utility, settings.get("rest", policy.utility.rest)
    for key, value in settings.items():
        if key == "km":
            changed["privacy"] = Families(
                replace(family, m=min(value, family.m))
                if isinstance(family, AllItemsets)
                else family
                for family in policy.privacy
            )
        elif key == "utility":
            utility = Utility(value)
        elif key != "rest":
            changed[key] = value
    return replace(policy, utility=Utility(utility.sets, rest=rest), **changed)
