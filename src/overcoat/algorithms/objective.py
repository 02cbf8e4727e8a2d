"""What a search minimises and what it may not make worse, as whole numbers for its kernel.

Docs: docs/search.md. A start that loses nothing cannot be improved and never gets here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from overcoat.context import Stage
from overcoat.data.transactions import Transactions
from overcoat.kernels.problem import ERROR_BITS, GUESS_BITS, Limits, Price, Rules, guesses
from overcoat.loss.error import ExpectedError, n_pairs
from overcoat.loss.flat import FlatPenalty
from overcoat.loss.ul import UtilityLoss
from overcoat.partition import Partition
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.privacy import BoundItemsets, BoundPgen

__all__ = ["Minimise", "Objective", "limits_of", "rules_of"]

Minimise = Literal["useful", "ul", "ncp", "queries"]

MOST_PAIRS = 8_000_000  # in rows: beyond, errors of pairs take more memory than they are worth
_SCALE = 52  # bits of the cost of the start: doubles hold it exactly
_ROOM = 61  # bits of any cost
_UL_BITS = 54


def rules_of(data: Transactions, policy: BoundPolicy) -> Rules:
    """Return what must hold of every partition that the search visits."""
    explicit = [one for one in policy.families if isinstance(one, BoundItemsets)]
    everything = [one for one in policy.families if not isinstance(one, BoundItemsets)]
    pairs = any(one.whole_domain and one.largest >= 2 for one in everything)
    # Of every part of a transaction, pairs are parts.
    pairs = pairs or any(isinstance(one, BoundPgen) for one in explicit)
    ends = [np.zeros(1, np.int64)]
    for one in explicit:
        ends.append(one.offsets[1:] + ends[-1][-1])
    return Rules(
        data.offsets,
        data.codes,
        data.counts,
        policy.utility.block_of,
        policy.k,
        policy.budget,
        tuple((one.largest, one.linkable.astype(np.uint8)) for one in everything),
        np.concatenate(ends),
        np.concatenate([np.empty(0, np.int32), *(one.codes for one in explicit)]),
        pairs,
    )


def limits_of(
    data: Transactions, policy: BoundPolicy, start: Partition, *, exactly: bool, free: bool
) -> Limits:
    """Return what may not get worse than the start.

    Parameters
    ----------
    exactly : UL in units has rounded terms; what is below this limit is below the start for sure,
        but so may not be the start itself
    free : the start is no result: nothing limits what is found
    """
    n = data.n_items
    loss = UtilityLoss(data, policy.weights, policy.penalties)
    unit = ((1 << n) - 1) * policy.weights.denominator * data.n_transactions
    total = loss.total(start) * unit  # the sum of (2^size - 1) * weight * support
    shift = max(0, math.ceil(total).bit_length() - _UL_BITS)
    huge = 1 << 59
    penalties = [min(math.ceil(loss.of_item(x) * unit / (1 << shift)), huge) for x in range(n)]
    tree, hierarchy = policy.weights.tree, policy.hierarchy
    trees: dict[str, Any] = {}
    if tree is None:
        trees["weigh"] = policy.weights.weight
    else:
        trees |= {"parent": tree.parent, "weight": tree.weight}
    if hierarchy is not None:
        trees |= {"ncp_parent": hierarchy.parent, "ncp_weight": hierarchy.weight}
    most = 1 << 61
    ul = math.floor(total / (1 << shift)) if exactly else most
    return Limits(most, most, ul, shift, np.array(penalties, np.int64), **trees)


@dataclass(frozen=True, eq=False)
class Objective:
    """What is minimised: for the kernel, and exactly, for the last word.

    Attributes
    ----------
    price : for the kernel
    scale : what the start costs, where that is 1; 0 where it depends on the start
    """

    price: Price
    scale: float

    @classmethod
    def of(
        cls,
        minimise: Minimise,
        data: Transactions,
        policy: BoundPolicy,
        start: Partition,
        stage: Stage,
    ) -> Objective:
        """Make the objective of a search from a start."""
        none = np.zeros(data.n_items, np.int64)
        empty = np.zeros(data.n_items + 1, np.int64)
        if minimise == "ul":
            return cls(Price(0, none, empty, only="ul"), 0.0)
        if minimise == "ncp":
            if policy.hierarchy is not None:
                return cls(Price(0, none, empty, only="ncp"), 0.0)
            return cls(Price(1, none, empty), 0.0)
        return _useful(data, start, stage)


def _useful(data: Transactions, start: Partition, stage: Stage) -> Objective:
    """Flat NCP and the expected errors, each divided by the start's, on the average."""
    guess = guesses(data.n_items)
    parts: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = []
    with_pairs = n_pairs(data) <= MOST_PAIRS
    first = second = np.empty(0, np.int64)
    sizes = start.size_of
    if with_pairs:
        error = ExpectedError(data, stage=stage)
        of_items, of_pairs = error.images(start)
        first, second, together = error.pairs
        both = guess[sizes[first]] * guess[sizes[second]] >> GUESS_BITS
        parts.append((together, of_pairs * both >> (GUESS_BITS - ERROR_BITS), first))
    else:
        of_items = _item_images(data, start)
    one = of_items * guess[sizes] >> (GUESS_BITS - ERROR_BITS)
    parts.insert(0, (data.supports, one, first))
    # Each error's weight in the mean, divided by what it is at the start.
    prices = []
    for support, estimate, _ in parts:
        off = np.abs((support << ERROR_BITS) - estimate)
        alike = math.fsum((off / support).tolist())
        weighted = int(off.sum())
        price = np.zeros(len(support))
        if alike > 0:
            price += 1 / (support * alike)
        if weighted:
            price += 1 / weighted
        prices.append(price)
    flat = FlatPenalty(data)
    at_start = int(flat.total(start) * flat.whole)
    n_terms = 1 + 2 * len(parts)
    # The most an error can be is all people: the scale leaves room for that.
    worst = sum(float(np.sum(price)) for price in prices) * (data.n_transactions << ERROR_BITS)
    worst += flat.whole / max(at_start, 1)
    bits = min(_SCALE, _ROOM - math.ceil(math.log2(max(worst, 1))))
    scale = 2.0**bits
    whole = [np.rint(price * (scale / n_terms)).astype(np.int64) for price in prices]
    flat_price = round(scale / n_terms / at_start) if at_start else 0
    if not with_pairs:
        return Objective(Price(flat_price, whole[0], np.zeros(data.n_items + 1, np.int64)), scale)
    ends = np.concatenate([first, second])
    others = np.concatenate([second, first])
    supports = np.concatenate([parts[1][0]] * 2)
    priced = np.concatenate([whole[1]] * 2)
    order = np.lexsort((others, -supports, ends))
    starts = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=data.n_items))])
    price = Price(
        flat_price,
        whole[0],
        starts.astype(np.int64),
        others[order].astype(np.int32),
        supports[order],
        priced[order],
    )
    return Objective(price, scale)


def _item_images(data: Transactions, partition: Partition) -> NDArray[np.int64]:
    """Return how many have the group of each item; 0 where it is suppressed."""
    rows = np.repeat(np.arange(data.n_distinct), data.lengths)
    groups = partition.group_of[data.codes].astype(np.int64)
    kept = groups >= 0
    keys = np.sort(rows[kept] * data.n_items + groups[kept])
    keys = keys[np.diff(keys, prepend=-1) > 0]
    width = max(data.n_items, 1)
    supports = np.bincount(keys % width, data.counts[keys // width], data.n_items).astype(np.int64)
    home = partition.group_of
    return np.where(home >= 0, supports[np.maximum(home, 0)], 0)


def exactly(value: float | int) -> Fraction:
    """Return a number as it is."""
    return Fraction(value)
