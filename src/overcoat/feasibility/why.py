"""Why a policy cannot be met, in the user's own words, and what would help how much."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from overcoat.context import QUIET, Stage
from overcoat.data.transactions import Transactions
from overcoat.errors import InfeasibleError
from overcoat.feasibility.clashes import Clashes, find_clashes, keep_most
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.privacy import BoundAllItemsets, BoundCoherence, BoundPgen
from overcoat.words import count_of, listed, people

__all__ = ["clashes_of", "explain_clashes", "explained", "percent_for", "what_helps"]


def clashes_of(data: Transactions, bound: BoundPolicy, *, stage: Stage = QUIET) -> Clashes | None:
    """Return the clashes of a policy; None where there is but one set of all items."""
    if not bound.utility.named and bound.utility.rest == "together":
        return None
    return find_clashes(data, bound, stage=stage)


def explained(
    error: InfeasibleError, bound: BoundPolicy, *, stage: Stage = QUIET
) -> InfeasibleError:
    """Return the error with which utility sets clash, and what would help, in its text."""
    data = error.result.data
    clashes = clashes_of(data, bound, stage=stage)
    if clashes is not None:
        lines = explain_clashes(clashes, bound.k)
        start = None if error.result.method is None else error.result.method.start
        # What an earlier release suppressed stays so: then these figures would promise too much.
        if start is None or not any(item in data.vocabulary for item in start.suppressed):
            lines += what_helps(data, bound, clashes, error, stage=stage)
        error.args = ("\n".join([str(error), *lines]),)
    return error


def explain_clashes(clashes: Clashes, k: int, most: int = 5) -> list[str]:
    """Say which utility sets cannot stay, in words."""
    names, rest = clashes.names, clashes.rest

    def called(block: int) -> str:
        if block == rest:
            return "the items in no set"
        return repr(names[block]) if block < clashes.n_sets else f"the item {names[block]!r}"

    kind = "utility set" if clashes.n_sets == rest else "utility set or intact item"
    kinds = kind.replace("set", "sets").replace("item", "items")
    alone = [one for one in clashes.found if len(one.blocks) == 1]
    together = [one for one in clashes.found if len(one.blocks) > 1]
    lines = []
    if alone:
        told = [f"{called(*one.blocks)} ({people(one.people)})" for one in alone]
        which = f"1 {kind} has" if len(alone) == 1 else f"{len(alone):,} {kinds} have"
        lines.append(f"{which} fewer than {k} people: {listed(told)}")
    if together:
        involved = {block for one in together for block in one.blocks} - {rest}
        lines.append(
            f"{len(involved)} of {len(names)} {kinds} clash with others: some people have "
            f"items of both, but fewer than {k}, and neither may be merged with anything else"
        )
        for one in together[:most]:
            both = " and ".join(map(called, sorted(one.blocks)))
            lines.append(f"  {both}: {people(one.people)}")
        if len(together) > most:
            lines.append(f"  … and {len(together) - most:,} more")
    return lines


def what_helps(
    data: Transactions,
    bound: BoundPolicy,
    clashes: Clashes,
    error: InfeasibleError,
    *,
    stage: Stage = QUIET,
) -> list[str]:
    """Say which of sets, s, k and m would help, and how much of it takes."""
    lines = list(_of_sets(data, bound, clashes, stage))
    result = error.result
    gone = len(result.suppressed)
    if gone < data.n_items:
        needed = percent_for(gone, data.n_items)
        if len(result.mapping) > data.n_items:  # it goes on from another, and s holds for both
            whole = percent_for(len(result.mapping.suppressed), len(result.mapping))
            needed = max(needed, whole)
        lines.append(
            f"s: {needed:g} % instead of {bound.max_suppressed:g} % would do; "
            f"{count_of(gone, 'item')} would go"
        )
    limits_private = any(
        isinstance(one, BoundCoherence) and one.limits_private for one in bound.families
    )
    if clashes.found and clashes.whole and not limits_private:
        lines += _of_numbers(bound, clashes)
    return ["what would help, each by itself:", *(f"  {line}" for line in lines)] if lines else []


def _of_sets(
    data: Transactions, bound: BoundPolicy, clashes: Clashes, stage: Stage
) -> Iterator[str]:
    n_sets = clashes.n_sets
    if bound.utility.rest == "intact":
        if len(clashes.names) > n_sets:
            number = len(clashes.names) - n_sets
            yield (
                f"rest: {count_of(number, 'item')} in no set may not be merged at all (rest = "
                "intact); as one more set (rest = together) they may"
            )
        return
    kept, gone = keep_most(data, bound, clashes, stage=stage)
    if kept and gone:
        names = [f"{clashes.names[one]} ({people(clashes.people[one])})" for one in gone]
        yield f"sets: {len(kept)} of {n_sets} can be kept; giving up {listed(names)} would do"
    elif gone:
        yield "sets: none of them can be kept"


def _of_numbers(bound: BoundPolicy, clashes: Clashes) -> Iterator[str]:
    # Where every item counts, sets that clash do so however little is merged inside them. Elsewhere
    # merging may be what brings their people together, and a run may get by without.
    certain = all(
        isinstance(one, BoundPgen) or (isinstance(one, BoundAllItemsets) and one.whole_domain)
        for one in bound.families
    )
    if clashes.least > 1:
        yield f"k: {clashes.least} instead of {bound.k} would do without suppressing"
    elif certain:
        yield (
            "k: no smaller one would do without suppressing; some people are alone with what they "
            "have of these sets"
        )
    sizes = [one.m for one in bound.families if isinstance(one, BoundAllItemsets)]
    if len(sizes) == len(bound.families) and max(sizes) > 1:
        smallest = min(len(one.blocks) for one in clashes.found)
        if smallest > 1:
            yield f"m: {smallest - 1} instead of {max(sizes)} would do without suppressing"
        elif certain:
            yield "m: no smaller one would do without suppressing; single sets have too few people"


def percent_for(number: int, of: int) -> float:
    """Return a percentage of few digits that allows so many items, and no more.

    >>> percent_for(2, 3), percent_for(670, 915)
    (67.0, 73.3)
    """
    exact = Fraction(100 * number, of)
    for digits in range(13):
        power: int = 10**digits
        percent = math.ceil(exact * power) / power
        if Fraction(str(percent)) * of / 100 < number + 1:
            return percent
    return float(exact)
