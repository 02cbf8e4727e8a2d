"""What the rows tell, whatever the labels are: that something in them is each person's own.

Honest items are shared: some are common, many are rare, and how many rare ones a transaction holds
is a matter of chance. An identifier is no matter of chance: every transaction has one.

How much data a rule takes is chosen so that chance is out of the question. docs/identifiers.md
tells the reasons, and how often each rule errs.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from overcoat.data.holders import held, held_in_parts
from overcoat.data.identifiers.shapes import Shapes
from overcoat.data.transactions import Transactions

__all__ = ["are_swapped", "gini", "id_column", "own_items", "unique_items"]

Codes = NDArray[np.int64]
NONE: Codes = np.empty(0, np.int64)

_NEARLY = 0.95  # of all, as far as one can expect it of real tables
_TRANSACTIONS = (
    15  # 40 % have exactly one rare item, at most, by chance: of 15 all but one never do
)
_MANY = 500  # transactions in which values such as ages come again, most of them more than once
_EXPECTED = 10  # transactions without a rare item: if ten are expected, there is at least one


def gini(values: NDArray[np.int64], counts: NDArray[np.int64] | None = None) -> float:
    """Return how unequal numbers are: 0 when all are the same, near 1 when one has it all.

    >>> gini(np.array([5, 5, 5])), gini(np.array([0, 0, 0, 8]))
    (0.0, 0.75)
    """
    weights = np.ones(len(values)) if counts is None else counts.astype(float)
    order = np.argsort(values, kind="stable")
    weights = weights[order]
    sums = np.cumsum(values[order] * weights)
    if not len(values) or not sums[-1]:
        return 0.0
    below = np.concatenate([[0.0], sums[:-1]])
    return float(1 - ((sums + below) * weights).sum() / (sums[-1] * weights.sum()))


def own_items(data: Transactions, shapes: Shapes) -> Codes:
    """Return items that nobody else has, where nearly every transaction has one beside others.

    >>> rows = [{str(n), "flu", ("gout", "asthma")[n % 2]} for n in range(1000, 1020)]
    >>> data = Transactions.of(rows)
    >>> own = own_items(data, Shapes.of_labels(data.vocabulary.labels))
    >>> [data.vocabulary[code] for code in own[:2]]
    ['1000', '1001']
    """
    single = data.supports == 1
    by_length, usual = _people(data, single)
    lengths, n_rows = np.arange(len(by_length)), int(by_length[2:].sum())
    if n_rows < max(_TRANSACTIONS, data.n_transactions / 2):
        return NONE
    rare = float(usual @ np.arange(len(usual)) / (by_length[2:] @ lengths[2:]))
    if not 0 < rare <= 0.9:  # where all is rare, there is nothing to compare with
        return NONE
    # Of chance, the number of rare items in a row would vary, and some rows would have none.
    expected = float((1 - rare) ** lengths[2:] @ by_length[2:])
    if usual[1:].max(initial=0) >= _NEARLY * n_rows or (
        expected >= _EXPECTED and usual[0] <= 0.05 * expected
    ):
        return _alike(np.flatnonzero(single), shapes.loose)
    # Or there are other rare items, but of this shape each row has one. Many people share a name.
    for some in (shapes, shapes.loose):
        own = np.bincount(some.of, weights=single)
        sizes = np.bincount(some.of)
        total = np.bincount(some.of, weights=data.supports)
        many = (own >= _NEARLY * n_rows) | ((sizes >= n_rows / 2) & (n_rows >= _MANY))
        for shape in np.flatnonzero(many & (total <= 1.1 * n_rows)):
            inside = some.of == shape
            if _people(data, inside)[1][1:2].sum() >= _NEARLY * n_rows:
                return np.flatnonzero(inside)
    return NONE


def _people(
    data: Transactions, wanted: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how many people have rows of each length; of several items, each number of wanted."""
    size = int(data.lengths.max(initial=0)) + 1
    by_length, by_number = np.zeros(size), np.zeros(size)
    for rows, numbers in held_in_parts(data, wanted):
        lengths, counts = data.lengths[rows], data.counts[rows]
        by_length += np.bincount(lengths, counts, size)
        by_number += np.bincount(numbers[lengths > 1], counts[lengths > 1], size)
    return by_length, by_number


def _alike(codes: Codes, shapes: Shapes) -> Codes:
    """Return those of some items that have the shape most of them have."""
    of = shapes.of[codes]
    alike: Codes = codes[of == np.bincount(of).argmax()]
    return alike


_OCCURRENCES = 100
_OCCURRENCES_OF_TEXT = 1000
_REPEATED = 0.01  # of the occurrences


def unique_items(data: Transactions, shapes: Shapes) -> Codes:
    """Return the items if nearly none occurs twice, in enough transactions.

    A few hundred searches or sentences do not repeat either; numbers of one shape do earlier.

    >>> data = Transactions.of([{f"{n}", f"{n + 1}"} for n in range(1000, 1200, 2)])
    >>> len(unique_items(data, Shapes.of_labels(data.vocabulary.labels)))
    200
    """
    occurrences = int(data.supports.sum())
    single = data.supports == 1
    if occurrences - int(single.sum()) > _REPEATED * occurrences:
        return NONE
    enough = _OCCURRENCES if _are_numbers(shapes) else _OCCURRENCES_OF_TEXT
    if occurrences < enough or data.n_transactions < enough / 2:
        return NONE
    return np.flatnonzero(single)


def _are_numbers(shapes: Shapes) -> bool:
    """Say whether nearly all labels have one loose shape, of little but digits: ``P9``, ``9-9``."""
    loose = shapes.loose
    sizes = np.bincount(loose.of, minlength=1)
    name = loose.names[int(sizes.argmax())] if loose.names else ""
    few = "9" in name and len(name) <= 5  # a number with a letter or a sign, not a page or a text
    return (few or "x" in name) and bool(sizes.max() >= 0.9 * len(loose.of))


def are_swapped(data: Transactions) -> bool:
    """Say whether the rows look like those of a table whose two columns were swapped.

    Of things some are far more common than others, while people differ less in how many they have,
    and there are more people than things. Here it is the other way round.
    """
    n, m = data.n_transactions, data.n_items
    mean = float(data.supports.mean()) if m else 0.0
    if n < 30 or m < 500 or m <= n:  # how unequal fewer are, tells nothing
        return False
    excess = gini(data.lengths, data.counts) - gini(data.supports)
    # Rows are long then. A long tail of things that few have makes supports look even, but most of
    # them are held once.
    if m >= 2 * n and mean * m >= 10 * n and (data.supports == 1).mean() <= 0.6:
        return excess >= 0.1
    # Numbers without a gap: all numbers of a catalogue occur only where each occurs often.
    return _are_running(data.vocabulary.labels) and mean <= math.log(m) and excess >= 0.05


def _are_running(labels: tuple[str, ...]) -> bool:
    """Say whether labels, in item order, are whole numbers with hardly a gap."""
    first, last = labels[0], labels[-1]
    if not (first.isascii() and first.isdecimal() and last.isascii() and last.isdecimal()):
        return False
    if len(last) > 18:
        return False
    return int(last) - int(first) < 1.05 * len(labels) and all(map(str.isdecimal, labels))


_ROUNDS = 40
_RINGS = 20
_LABELS = 100  # of a column; ages and hours have fewer


def id_column(data: Transactions, shapes: Shapes) -> Codes:
    """Return the labels of a column with many, where the rows look like those of a table.

    Then all have the same number of items, one from each column. A label that identifies somebody
    comes in few rows; so the column has as many labels as a tenth of the rows.

    >>> data = Transactions.of([(f"P{n // 3}", str(n % 7)) for n in range(300)])
    >>> len(id_column(data, Shapes.of_labels(data.vocabulary.labels)))
    100
    """
    usual = int(np.bincount(data.lengths, weights=data.counts).argmax()) if data.n_distinct else 0
    n = int(data.counts[data.lengths == usual].sum())
    least = max(_LABELS, n / 10)
    if usual < 2 or n < 0.98 * data.n_transactions or data.n_items < least:
        return NONE
    for some in (shapes, shapes.loose):
        total = np.bincount(some.of, weights=data.supports)
        for shape in np.flatnonzero(
            (np.bincount(some.of) >= least) & (abs(total - n) <= (1 - _NEARLY) * n)
        ):
            inside = some.of == shape
            if data.counts[held(data, inside) == 1].sum() >= _NEARLY * n:
                return np.flatnonzero(inside)
    larger = _larger_side(data) if usual == 2 else NONE
    return larger if len(larger) >= least else NONE


def _larger_side(data: Transactions) -> Codes:
    """Return the side with more labels, where pairs always take one label of each of two sides.

    Pairs drawn from one set of labels form rings of three, five, … labels as often as others.
    """
    starts = data.offsets[:-1][data.lengths == 2]
    one, other = data.codes[starts].astype(np.int64), data.codes[starts + 1].astype(np.int64)
    side, n_parts = _sides(one, other, data.n_items)
    known = side[one] > 0
    one, other = one[known], other[known]
    n_rings = len(one) - int((side > 0).sum()) + n_parts
    if n_rings < _RINGS or (side[one] == side[other]).sum() > 0.05 * n_rings:
        return NONE
    first, second = np.flatnonzero(side == 1), np.flatnonzero(side == 2)
    return first if len(first) >= len(second) else second


def _sides(one: Codes, other: Codes, n: int) -> tuple[NDArray[np.int8], int]:
    """Put the ends of each pair on two sides, 1 and 2, going out from labels with many pairs.

    Returns 0 for labels that were not reached, and the number of parts that were.
    """
    ends, others = np.concatenate([one, other]), np.concatenate([other, one])
    others = others[np.argsort(ends, kind="stable")]
    degrees = np.bincount(ends, minlength=n)
    offsets = np.cumsum(degrees) - degrees
    side, n_parts = np.zeros(n, np.int8), 0
    for start in np.argsort(-degrees, kind="stable")[:_ROUNDS].tolist():
        if side[start]:
            continue
        n_parts += 1
        side[start] = 1
        front = np.array([start])
        for _ in range(_ROUNDS):
            sizes = degrees[front]
            inside = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            reached = others[np.repeat(offsets[front], sizes) + inside]
            new = side[reached] == 0
            side[reached[new]] = np.repeat(3 - side[front], sizes)[new]
            front = np.unique(reached[new])
            if not len(front):
                break
    return side, n_parts
