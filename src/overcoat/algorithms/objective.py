"""What a search minimises and what it may not make worse, as whole numbers for its kernel.

Docs: docs/search.md. A start that loses nothing cannot be improved and never gets here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from overcoat.context import Stage
from overcoat.data.transactions import Transactions
from overcoat.errors import PolicyError
from overcoat.kernels.problem import ERROR_BITS, GUESS_BITS, Limits, Price, Rules, guesses
from overcoat.loss.error import ExpectedError, n_pairs
from overcoat.loss.flat import FlatPenalty
from overcoat.loss.separable import Separable
from overcoat.loss.ul import UtilityLoss
from overcoat.mapping import Mapping
from overcoat.partition import Partition
from overcoat.policy.binding import Domain, Lint
from overcoat.policy.counted import counted_sets
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.privacy import BoundItemsets, BoundPgen
from overcoat.policy.sets import Sets

__all__ = ["Aim", "Loss", "Minimise", "limits_of", "rules_of"]

Minimise = Literal["useful", "ul", "ncp", "flat", "queries"]
Loss = Literal["ul", "ncp", "flat"]  # that may be kept from growing

MOST_PAIRS = 8_000_000  # in rows: beyond, errors of pairs take more memory than they are worth
_SCALE = 52  # bits of the cost of the start: doubles hold it exactly
_ROOM = 61  # bits of any cost
_UL_BITS = 54
_ROWS = 1 << 16  # looked at together, so that memory does not grow with the data


def rules_of(data: Transactions, policy: BoundPolicy, start: Mapping | None = None) -> Rules:
    """Return what must hold of every partition that the search visits.

    start : the mapping of an earlier release, whose groups stay together
    """
    tied = np.empty(0, np.int32)
    if start is not None:
        tied = start.partition_over(data.vocabulary).group_of
    explicit = [one for one in policy.families if isinstance(one, BoundItemsets)]
    everything = [one for one in policy.families if not isinstance(one, BoundItemsets)]
    pairs = any(one.whole_domain and one.largest >= 2 for one in everything)
    # Of every part of a transaction, pairs are parts.
    pairs = pairs or any(isinstance(one, BoundPgen) for one in explicit)
    lengths = [np.empty(0, np.int64), *(np.diff(one.offsets) for one in explicit)]
    return Rules(
        data.offsets,
        data.codes,
        data.counts,
        policy.utility.block_of,
        policy.k,
        policy.budget,
        tuple((one.largest, one.linkable.astype(np.uint8)) for one in everything),
        np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64),
        np.concatenate([np.empty(0, np.int32), *(one.codes for one in explicit)]),
        pairs,
        tied,
    )


def limits_of(data: Transactions, policy: BoundPolicy, start: Partition) -> Limits:
    """Return how losses are counted; nothing is limited yet.

    `safe_ul` is a limit in units for UL: as terms are rounded up, what is below it loses no more
    than the start for sure. The start itself may be above.
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
    safe = math.floor(total / (1 << shift))
    found = np.array(penalties, np.int64)
    return Limits(most, most, most, shift, found, safe_ul=safe, **trees)


@dataclass(frozen=True, eq=False)
class Aim:
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
        minimise: Minimise | Separable,
        data: Transactions,
        policy: BoundPolicy,
        start: Partition,
        stage: Stage,
        queries: Any = None,
    ) -> Aim:
        """Make the objective of a search from a start."""
        nothing = partial(Price.nothing, data.n_items)
        if isinstance(minimise, Separable):
            return cls(nothing(only="own", **_own(minimise)), 0.0)
        if minimise == "ul":
            return cls(nothing(only="ul"), 0.0)
        if minimise == "ncp" and policy.hierarchy is not None:
            return cls(nothing(only="ncp"), 0.0)
        if minimise in ("ncp", "flat"):
            return cls(nothing(flat=1), 0.0)
        if minimise == "queries":
            return _queries(data, start, stage, queries)
        return _useful(data, start, stage)


@dataclass(eq=False)
class _Queries:
    """Queries of one kind: how many match each, and what the start estimates, in 1/1024."""

    support: NDArray[np.int64]
    estimate: NDArray[np.int64]
    price: NDArray[np.float64]  # of an error of one

    @property
    def off(self) -> NDArray[np.int64]:
        """How far the start is off."""
        found: NDArray[np.int64] = np.abs((self.support << ERROR_BITS) - self.estimate)
        return found


def _own(loss: Separable) -> dict[str, Any]:
    """Return a loss of the user's own as the kernel asks for it: in doubles."""

    def of_group(items: NDArray[np.int32], support: int) -> float:
        return _number(loss, loss.of_group(items, support))

    gone = [_number(loss, loss.of_item(item)) for item in range(loss.data.n_items)]
    return {"own": of_group, "own_items": np.array(gone, np.float64)}


def _number(loss: Separable, found: Any) -> float:
    number = float(found)
    if not 0 <= number < math.inf:
        raise PolicyError(f"{type(loss).__name__} gives a loss of {found!r}: it is 0 or more")
    return number


def _useful(data: Transactions, start: Partition, stage: Stage) -> Aim:
    """Flat NCP and the expected errors, each divided by the start's, on the average."""
    with_pairs = n_pairs(data) <= MOST_PAIRS
    items, pairs, ends = _kinds(data, start, stage, with_pairs=with_pairs)
    kinds = [items, pairs] if with_pairs else [items]
    n_terms = 1 + 2 * len(kinds)
    for kind in kinds:
        alike, weighted = math.fsum((kind.off / kind.support).tolist()), int(kind.off.sum())
        if alike > 0:
            kind.price += 1 / (kind.support * alike) / n_terms
        if weighted:
            kind.price += 1 / (weighted * n_terms)
    flat = FlatPenalty(data)
    at_start = int(flat.total(start) * flat.whole)
    return _whole(data, items, pairs, ends, 1 / (n_terms * at_start) if at_start else 0.0)


def _queries(data: Transactions, start: Partition, stage: Stage, queries: Any) -> Aim:
    """Return the mean error of given queries; of larger ones, the mean of their pairs."""
    items, pairs, ends = _kinds(data, start, stage, with_pairs=True)
    lint = Lint()
    asked = counted_sets(Sets.of(queries)).resolve(Domain.of(data, stage=stage), lint)
    lint.raise_errors()
    keys = ends[0] * data.n_items + ends[1]
    for query in asked:
        codes = sorted(data.vocabulary.code(item) for item in query.items)
        weight = _weight(query.name)
        if len(codes) == 1:
            items.price[codes[0]] += weight / data.supports[codes[0]]
            continue
        two = [a * data.n_items + b for a, b in combinations(codes, 2)]
        at = np.searchsorted(keys, two)
        there = [i for i, key in zip(at.tolist(), two, strict=True) if keys[i : i + 1] == key]
        if len(there) == len(two):  # or nobody matches the query, and it has no error
            pairs.price[there] += weight / len(two) / pairs.support[there]
    cost = math.fsum((items.price * items.off).tolist() + (pairs.price * pairs.off).tolist())
    if not items.price.any() and not pairs.price.any():
        raise PolicyError("nobody matches any of the queries: they have no error")
    for kind in (items, pairs):
        kind.price /= cost or 1.0
    priced = pairs.price > 0
    chosen = _Queries(pairs.support[priced], pairs.estimate[priced], pairs.price[priced])
    return _whole(data, items, chosen, (ends[0][priced], ends[1][priced]), 0.0)


def _weight(name: str | None) -> float:
    """Return how much a query counts: its name, where that is a number."""
    try:
        weight = float(name) if name is not None else 1.0
    except ValueError:
        return 1.0
    return weight if 0 <= weight < math.inf else 1.0


def _kinds(
    data: Transactions, start: Partition, stage: Stage, *, with_pairs: bool
) -> tuple[_Queries, _Queries, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return all items, and all pairs somebody has, as queries without a price."""
    guess, sizes = guesses(data.n_items), start.size_of
    none = np.empty(0, np.int64)
    first, second, pairs = none, none, _Queries(none, none, np.empty(0))
    if with_pairs:
        error = ExpectedError(data, stage=stage)
        of_items, of_pairs = error.images(start)
        first, second, together = error.pairs
        both = guess[sizes[first]] * guess[sizes[second]] >> GUESS_BITS
        estimate = of_pairs * both >> (GUESS_BITS - ERROR_BITS)
        pairs = _Queries(together, estimate, np.zeros(len(together)))
    else:
        of_items = _item_images(data, start)
    one = of_items * guess[sizes] >> (GUESS_BITS - ERROR_BITS)
    return _Queries(data.supports, one, np.zeros(data.n_items)), pairs, (first, second)


def _whole(
    data: Transactions,
    items: _Queries,
    pairs: _Queries,
    ends: tuple[NDArray[np.int64], NDArray[np.int64]],
    flat: float,
) -> Aim:
    """Return prices as whole numbers, on a scale on which the start costs about 2^52."""
    # The most an error can be is all people: the scale leaves room for that.
    worst = float(np.sum(items.price) + np.sum(pairs.price))
    worst = worst * (data.n_transactions << ERROR_BITS) + flat * FlatPenalty(data).whole
    scale = 2.0 ** min(_SCALE, _ROOM - math.ceil(math.log2(max(worst, 1))))
    item, pair = (np.rint(kind.price * scale).astype(np.int64) for kind in (items, pairs))
    one, other = np.concatenate(ends), np.concatenate(ends[::-1])
    supports, prices = np.concatenate([pairs.support] * 2), np.concatenate([pair] * 2)
    order = np.lexsort((other, -supports, one))  # of each item the most supported pair first
    starts = np.concatenate([[0], np.cumsum(np.bincount(one, minlength=data.n_items))])
    price = Price(
        round(flat * scale),
        item,
        starts.astype(np.int64),
        other[order].astype(np.int32),
        supports[order],
        prices[order],
    )
    return Aim(price, scale)


def _item_images(data: Transactions, partition: Partition) -> NDArray[np.int64]:
    """Return how many have the group of each item; 0 where it is suppressed."""
    home, width = partition.group_of.astype(np.int64), max(data.n_items, 1)
    supports = np.zeros(data.n_items, np.int64)
    for start in range(0, data.n_distinct, _ROWS):
        offsets = data.offsets[start : start + _ROWS + 1]
        rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        groups = home[data.codes[offsets[0] : offsets[-1]]]
        keys = np.unique((rows * width + groups)[groups >= 0])
        counts = data.counts[start : start + _ROWS][keys // width]
        supports += np.bincount(keys % width, counts, data.n_items).astype(np.int64)
    return np.where(home >= 0, supports[np.maximum(home, 0)], 0)
