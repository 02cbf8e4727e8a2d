"""Policies near one that cannot be met, each of them met: tried, not guessed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from overcoat.advice.clashes import Clashes, find_clashes, keep_most
from overcoat.advice.folding import fold_sets
from overcoat.algorithms.method import Method
from overcoat.context import Context
from overcoat.data.transactions import Transactions
from overcoat.errors import InfeasibleError, PolicyError
from overcoat.evaluation import measure_release
from overcoat.loss.error import Errors
from overcoat.policy.policy import BoundPolicy, Policy
from overcoat.policy.privacy import AllItemsets, Families
from overcoat.policy.utility import Utility
from overcoat.release.result import Result
from overcoat.release.walk import find_release
from overcoat.words import count_of, listed, people

__all__ = ["Proposal", "clashes_of", "explain_clashes", "suggest"]

_Candidate = tuple[str, str, dict[str, Any]]  # name, change, settings


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
    ncp : the certainty penalty, from 0 to 1
    errors : the mean errors of all queries of one and of two items; None where there are too many
    """

    name: str
    change: str
    settings: dict[str, Any]
    policy: Policy
    result: Result
    ncp: float
    errors: Errors | None

    @property
    def n_exact(self) -> int:
        """How many counts of named sets are exact."""
        return sum(count.exact for count in self.result.counts)


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
    context = Context.of(context)
    found = []
    for name, change, settings in _candidates(data, policy, method, context):
        candidate = _changed(policy, settings)
        bound = candidate.bind(data)
        try:
            result = find_release(data, bound, method, context=context, seconds={})
        except (InfeasibleError, PolicyError):
            continue
        cost = measure_release(
            *(data, result.released, result.mapping, bound, ()),
            expected=True,
            stage=context.start("evaluate"),
        )
        found.append(Proposal(name, change, settings, candidate, result, cost.ncp, cost.expected))
    return found


def _candidates(
    data: Transactions, policy: Policy, method: Method, context: Context
) -> Iterator[_Candidate]:
    bound = policy.bind(data)
    if bound.utility.named and bound.utility.rest == "together":
        yield from _fewer_sets(data, bound, context)
    needed = _needed(data, bound, method, context)
    if needed is not None and needed < data.n_items:
        percent = _percent(needed, data.n_items)
        words = f"s = {percent:g} %: {count_of(needed, 'item')} may go"
        yield "suppress", words, {"max_suppressed": percent}

    def met(settings: dict[str, Any]) -> bool:
        return _met(data, _changed(policy, settings), method, context)

    if k := _largest(2, policy.k, lambda k: met({"k": k})):
        yield "k", f"k = {k} instead of {policy.k}", {"k": k}
    sizes = [family.m for family in policy.privacy if isinstance(family, AllItemsets)]
    if sizes and max(sizes) > 1 and (m := _largest(1, max(sizes), lambda m: met({"km": m}))):
        yield "m", f"m = {m} instead of {max(sizes)}", {"km": m}


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
    change = f"keeps {len(keep)} of {len(named)} utility sets; gives up {listed(told)}"
    yield "sets", change, {"utility": kept}
    groups = fold_sets(data, bound, stage=context.start("suggest"))
    if groups is not None and len(groups) > 1:
        joined = {
            " + ".join(named[number].name for number in group): [
                labels[code] for number in group for code in named[number].codes
            ]
            for group in groups
        }
        change = f"joins {len(named)} utility sets to {len(groups)}, each with its nearest in the "
        yield "joined", change + "hierarchy", {"utility": joined}


def _people(data: Transactions, codes: tuple[int, ...]) -> int:
    from overcoat.measures.counts import count_any

    return count_any(data, [data.vocabulary[code] for code in codes])


def _needed(data: Transactions, bound: BoundPolicy, method: Method, context: Context) -> int | None:
    """Return how many items have to go so that this method meets the policy."""
    try:
        found = find_release(data, bound, method, partial=True, context=context, seconds={})
    except PolicyError:
        return None
    return len(found.mapping.suppressed)


def _met(data: Transactions, policy: Policy, method: Method, context: Context) -> bool:
    try:
        find_release(data, policy.bind(data), method, context=context, seconds={})
    except (InfeasibleError, PolicyError):
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
    for key, value in settings.items():
        if key == "km":
            changed["privacy"] = Families(
                replace(family, m=min(value, family.m))
                if isinstance(family, AllItemsets)
                else family
                for family in policy.privacy
            )
        else:
            changed[key] = Utility(value) if key == "utility" else value
    return replace(policy, **changed)


def _percent(number: int, of: int) -> float:
    """Return a percentage of few digits that allows so many items, and no more.

    >>> _percent(2, 3), _percent(670, 915)
    (67.0, 73.3)
    """
    exact = Fraction(100 * number, of)
    for digits in range(13):
        power: int = 10**digits
        percent = math.ceil(exact * power) / power
        if Fraction(str(percent)) * of / 100 < number + 1:
            return percent
    return float(exact)


def explain_clashes(clashes: Clashes, k: int, most: int = 5) -> list[str]:
    """Say which utility sets cannot stay, in words."""
    names, rest = clashes.names, clashes.rest

    def called(block: int) -> str:
        return "the items in no set" if block == rest else repr(names[block])

    alone = [one for one in clashes.found if len(one.blocks) == 1]
    together = [one for one in clashes.found if len(one.blocks) > 1]
    lines = []
    if alone:
        told = [f"{called(*one.blocks)} ({people(one.people)})" for one in alone]
        verb = "has" if len(alone) == 1 else "have"
        lines.append(
            f"{count_of(len(alone), 'utility set')} {verb} fewer than {k} people: {listed(told)}"
        )
    if together:
        involved = {block for one in together for block in one.blocks} - {rest}
        lines.append(
            f"{len(involved)} of {len(names)} utility sets clash with others: some people have "
            f"items of both, but fewer than {k}, and neither may be merged with anything else"
        )
        for one in together[:most]:
            both = " and ".join(map(called, sorted(one.blocks)))
            lines.append(f"  {both}: {people(one.people)}")
        if len(together) > most:
            lines.append(f"  … and {len(together) - most:,} more")
    return lines


def clashes_of(data: Transactions, bound: BoundPolicy, context: Context) -> Clashes | None:
    """Return the clashes of a policy; None where there are no sets to give up."""
    if not bound.utility.named or bound.utility.rest != "together":
        return None
    return find_clashes(data, bound, stage=context.start("suggest"))
