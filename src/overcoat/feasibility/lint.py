"""What is odd about a policy, before any work: what cannot hold, is implied, or is not covered.

Each finding is one sentence with its number and an example; all of them together take a moment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET, Stage
from overcoat.data.holders import entries, held
from overcoat.data.transactions import Transactions
from overcoat.errors import Problem
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.privacy import BoundAllItemsets, BoundCoherence, BoundItemsets, BoundPgen
from overcoat.words import count_of, listed, people

__all__ = ["findings", "linted"]

_MOST_PAIRS = 5_000_000  # pairs in rows that are counted: some tenths of a second
_MOST_SETS = 20_000  # explicit itemsets that are compared with each other
_MUCH = 20  # percent of the items that may be suppressed
_LITTLE = 10  # percent of what people have that an attacker may know


def linted(data: Transactions, policy: BoundPolicy, *, stage: Stage = QUIET) -> BoundPolicy:
    """Return the policy with what was found among its notes."""
    found = (Problem(sentence) for sentence in findings(data, policy, stage=stage))
    return replace(policy, notes=(*policy.notes, *found))


def findings(data: Transactions, policy: BoundPolicy, *, stage: Stage = QUIET) -> Iterator[str]:
    """Yield a sentence for each kind of oddity.

    >>> from overcoat.policy.policy import Policy
    >>> from overcoat.policy.privacy import AllItemsets, Itemsets
    >>> rows = [{"a", "b"}, {"a"}, {"a"}, {"b"}, {"b"}, {"c"}, {"c"}]
    >>> data = Transactions.of(rows)
    >>> families = AllItemsets(2) | Itemsets([["a", "b"]])
    >>> bound = Policy(2, families, {"x": ["a"], "y": ["b"]}, max_suppressed=0).bind(data)
    >>> for sentence in findings(data, bound):
    ...     print(sentence)
    2 utility sets have one item only, which can stay as it is or be suppressed: x, y
    1 pair of items that may be merged with nothing occurs together in fewer than k = 2 rows, such \
as {a, b} (1 person): one of them has to be suppressed
    at least 1 item has to be suppressed and s allows 0: this policy cannot be met
    1 itemset asks for nothing more: all 2-itemsets protects it already
    """
    alone = _alone(policy)
    yield from _small_sets(policy)
    yield from _cannot_hold(data, policy, alone, stage)
    yield from _implied(policy, stage)
    yield from _not_covered(data, policy)


def _alone(policy: BoundPolicy) -> NDArray[np.bool_]:
    """Return which items are the only ones of their block; (M,)."""
    block_of = policy.utility.block_of
    sizes = np.bincount(block_of, minlength=1)
    return np.asarray(sizes[block_of] == 1)


def _small_sets(policy: BoundPolicy) -> Iterator[str]:
    single = [block.name for block in policy.utility.named if len(block.codes) == 1]
    if single:
        verb = "has one item only" if len(single) == 1 else "have one item only"
        yield (
            f"{count_of(len(single), 'utility set')} {verb}, which can stay as it is or be "
            f"suppressed: {listed(single)}"
        )


# -- what cannot hold -----------------------------------------------------------------------------


def _cannot_hold(
    data: Transactions, policy: BoundPolicy, alone: NDArray[np.bool_], stage: Stage
) -> Iterator[str]:
    k, labels = policy.k, data.vocabulary.labels
    asked = np.zeros(data.n_items, bool)
    for family in policy.families:
        asked |= _asked(family, data.n_items)
    rare = alone & asked & (data.supports < k)
    gone = np.flatnonzero(rare).tolist()
    if gone:
        told = [f"{labels[item]} ({int(data.supports[item]):,})" for item in gone]
        verb = "is" if len(gone) == 1 else "are"
        yield (
            f"{count_of(len(gone), 'item')} that may be merged with nothing {verb} held by fewer "
            f"than k = {k} people, and {'has' if len(gone) == 1 else 'have'} to be suppressed: "
            f"{listed(told)}"
        )
    pairs, together = _pairs(data, policy, alone & ~rare, stage)
    if len(pairs):
        one, other = (labels[item] for item in pairs[0].tolist())
        verb = "occurs" if len(pairs) == 1 else "occur"
        yield (
            f"{count_of(len(pairs), 'pair')} of items that may be merged with nothing {verb} "
            f"together in fewer than k = {k} rows, such as {{{one}, {other}}} "
            f"({people(int(together[0]))}): one of them has to be suppressed"
        )
    # Pairs that share no item need one suppressed item each.
    used: set[int] = set()
    matched = 0
    for one_item, other_item in pairs.tolist():
        if one_item not in used and other_item not in used:
            used |= {one_item, other_item}
            matched += 1
    least = len(gone) + matched
    if least > policy.budget:
        verb = "has" if least == 1 else "have"
        yield (
            f"at least {count_of(least, 'item')} {verb} to be suppressed and s allows "
            f"{policy.budget:,}: this policy cannot be met"
        )


def _asked(family: BoundItemsets | BoundAllItemsets, n_items: int) -> NDArray[np.bool_]:
    """Return which items stand in an itemset of the family; (M,)."""
    if isinstance(family, BoundAllItemsets):
        return family.linkable if family.m else np.zeros(n_items, bool)
    asked = np.zeros(n_items, bool)
    asked[family.codes] = True
    return asked


def _pairs(
    data: Transactions, policy: BoundPolicy, among: NDArray[np.bool_], stage: Stage
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of these items that 1 to k - 1 people have and the policy asks about.

    In order, each with how many people have it: (pairs, 2), (pairs,).
    """
    none = np.empty((0, 2), np.int64), np.empty(0, np.int64)
    n = data.n_items
    if not among.any():
        return none
    each = held(data, among).astype(np.int64)
    if not 0 < int((each * (each - 1) // 2).sum()) <= _MOST_PAIRS:
        return none
    rows, codes = entries(data.offsets, data.codes, np.flatnonzero(each > 1))
    inside = among[codes]
    rows, codes = rows[inside], codes[inside].astype(np.int64)
    firsts, seconds, weights = [], [], []
    # The n-th item after each one of its row, for every n that occurs.
    for step in range(1, int(each.max())):
        stage()
        same = rows[step:] == rows[:-step]
        firsts.append(codes[:-step][same])
        seconds.append(codes[step:][same])
        weights.append(data.counts[rows[step:][same]])
    keys = np.concatenate(firsts) * n + np.concatenate(seconds)
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], np.concatenate(weights)[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    totals = np.add.reduceat(counts, starts)
    few = totals < policy.k
    pairs = np.stack([keys[starts][few] // n, keys[starts][few] % n], axis=1)
    asked = np.zeros(len(pairs), bool)
    for family in policy.families:
        stage()
        if isinstance(family, BoundPgen):
            asked[:] = True
        elif isinstance(family, BoundAllItemsets):
            if family.m > 1:
                asked |= family.linkable[pairs[:, 0]] & family.linkable[pairs[:, 1]]
        elif family.n_constraints <= _MOST_SETS:
            asked |= _asked_pairs(family, pairs)
    return pairs[asked], totals[few][asked]


def _asked_pairs(family: BoundItemsets, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    sets_of: dict[int, set[int]] = {}
    for number in range(family.n_constraints):
        for item in family.itemset(number).tolist():
            sets_of.setdefault(item, set()).add(number)
    none: set[int] = set()
    return np.array(
        [not sets_of.get(a, none).isdisjoint(sets_of.get(b, none)) for a, b in pairs.tolist()], bool
    )


# -- what asks for nothing more -------------------------------------------------------------------


def _implied(policy: BoundPolicy, stage: Stage) -> Iterator[str]:
    families = policy.families
    everything = next((one for one in families if isinstance(one, BoundPgen)), None)
    for number, family in enumerate(families):
        if isinstance(family, BoundCoherence) and family.limits_private:
            continue
        if everything is not None:
            if family is not everything:
                yield f"{family.title}: asks for nothing more, {everything.title} protects it"
            continue
        if isinstance(family, BoundAllItemsets):
            for place, other in enumerate(families):
                if (
                    isinstance(other, BoundAllItemsets)
                    and place != number
                    and _inside(family, other)
                    and not (place > number and _inside(other, family))
                ):
                    yield f"{family.title}: asks for nothing more, {other.title} protects it"
                    break
            continue
        yield from _implied_sets(family, [o for o in families if isinstance(o, BoundAllItemsets)])
        yield from _parts_of_others(family, stage)


def _inside(family: BoundAllItemsets, other: BoundAllItemsets) -> bool:
    return family.m <= other.m and not bool((family.linkable & ~other.linkable).any())


def _implied_sets(family: BoundItemsets, larger: list[BoundAllItemsets]) -> Iterator[str]:
    sizes = np.diff(family.offsets)
    for other in larger:
        outside = ~other.linkable[family.codes]
        starts = family.offsets[:-1]
        strange = np.add.reduceat(outside, starts) if len(starts) else np.empty(0)
        number = int(((sizes <= other.m) & (strange == 0)).sum())
        if number:
            verb = "asks" if number == 1 else "ask"
            it = "it" if number == 1 else "them"
            yield (
                f"{count_of(number, 'itemset')} {verb} for nothing more: {other.title} protects "
                f"{it} already"
            )


def _parts_of_others(family: BoundItemsets, stage: Stage) -> Iterator[str]:
    if family.n_constraints > _MOST_SETS:
        return
    sets = [frozenset(family.itemset(one).tolist()) for one in range(family.n_constraints)]
    holding: dict[int, list[int]] = {}
    for number, items in enumerate(sets):
        for item in items:
            holding.setdefault(item, []).append(number)
    number = 0
    for one, items in enumerate(sets):
        if one % 256 == 0:
            stage()
        rarest = min((holding[item] for item in items), key=len)
        number += any(other != one and items < sets[other] for other in rarest)
    if number:
        verb = (
            "is part of another, which protects it"
            if number == 1
            else ("are parts of others, which protect them")
        )
        yield f"{count_of(number, 'itemset')} of {family.title} {verb} already"


# -- what is not covered --------------------------------------------------------------------------


def _not_covered(data: Transactions, policy: BoundPolicy) -> Iterator[str]:
    n, families = data.n_transactions, policy.families
    if policy.k > n:
        yield f"k = {policy.k:,} is more than the {people(n)} there are"
    if policy.max_suppressed >= _MUCH and policy.budget:
        yield (
            f"s = {policy.max_suppressed:g} % lets {policy.budget:,} of "
            f"{count_of(data.n_items, 'item')} be suppressed"
        )
    if not data.n_items or any(isinstance(one, BoundPgen) for one in families):
        return
    sizes = [one.m for one in families if isinstance(one, BoundAllItemsets)]
    if sizes and max(sizes) == 1 and len(sizes) == len(families):
        yield "m = 1: who knows two items of a person is not covered; overcoat risk says how many"
    asked = np.zeros(data.n_items, bool)
    for family in families:
        asked |= _asked(family, data.n_items)
    all_of_them = int(data.supports.sum())
    known = int(data.supports[asked].sum())
    if 100 * known < _LITTLE * all_of_them:
        yield (
            f"only {int(asked.sum()):,} of {count_of(data.n_items, 'item')} are in any protected "
            f"itemset, {100 * known / all_of_them:.2g} % of what people have: who knows others is "
            "not covered"
        )
