"""Patterns: which frequent itemsets and rules of the original the release still shows.

Whoever mines a release estimates the support of an itemset over the original items by e, as in
docs/measures.md. An itemset is *frequent in the estimate* when e reaches the minimum support, and a
rule X -> Y holds in the estimate when e(X + Y) does and e(X + Y) / e(X) reaches the minimum
confidence. Here these are held against the itemsets and the rules of the original.

There can be far too many itemsets with a large enough e to list: all pairs of items of one large
group have the same. So they are counted by *kind*: the groups they touch, and how many items they
take of each.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import chain, combinations, groupby, islice, product
from operator import attrgetter

import numpy as np

from overcoat.checks import check_count
from overcoat.context import QUIET, Stage
from overcoat.data.transactions import Transactions
from overcoat.loss.error import guess_factor
from overcoat.mapping import Mapping
from overcoat.measures.estimates import label_codes
from overcoat.measures.frequent import Itemset, mine_frequent

__all__ = ["Patterns", "Survival", "measure_patterns"]


@dataclass(frozen=True, slots=True)
class Survival:
    """How many patterns there are in the original, in the estimate, and in both."""

    n_original: int
    n_estimated: int
    n_both: int

    @property
    def recall(self) -> float | None:
        """Share of the original's patterns that the estimate has; None when it has none."""
        return self.n_both / self.n_original if self.n_original else None

    @property
    def precision(self) -> float | None:
        """Share of the estimate's patterns that are in the original; None when it has none."""
        return self.n_both / self.n_estimated if self.n_estimated else None


@dataclass(frozen=True, slots=True)
class Patterns:
    """Which patterns survive.

    Attributes
    ----------
    min_count : minimum support, in transactions
    min_confidence : of rules, in percent
    max_size : items of the largest itemsets
    itemsets, rules : what survives of them
    top : K, or the number of frequent itemsets where there are fewer
    n_top_kept : how many of the K itemsets of largest support are among the K of largest estimate
    """

    min_count: int
    min_confidence: float
    max_size: int
    itemsets: Survival
    rules: Survival
    top: int
    n_top_kept: int

    @property
    def top_overlap(self) -> float | None:
        """Share of the top K that is kept; None when nothing is frequent."""
        return self.n_top_kept / self.top if self.top else None


def measure_patterns(
    data: Transactions,
    released: Transactions,
    mapping: Mapping,
    min_count: int,
    min_confidence: float = 50.0,
    top: int = 100,
    max_size: int = 3,
    *,
    stage: Stage = QUIET,
) -> Patterns:
    """Hold the patterns that a release lets one see against those of the original.

    Parameters
    ----------
    data, released, mapping : `released` is `data` under `mapping`
    min_count : how many transactions must hold a frequent itemset
    min_confidence : of rules, in percent
    top : K of the K most supported itemsets; ties go to what comes first in item order
    max_size : items of the largest itemsets looked at
    stage : may end it

    Estimates and confidences are taken to the nearest millionth: closer ones are ties.

    >>> data = Transactions.of([{"a", "c"}, {"a", "c"}, {"a", "b"}, {"c"}])
    >>> mapping = Mapping.of("abc", [["a"], ["b", "c"]])  # (b|c) in 4, with a in 3
    >>> found = measure_patterns(data, mapping.apply(data), mapping, min_count=2)
    >>> found.itemsets  # original: a, c, ac; estimate: a 3, b 8/3, c 8/3, ab 2, ac 2
    Survival(n_original=3, n_estimated=5, n_both=3)
    """
    top, max_size = check_count("top", top, 1), check_count("max_size", max_size, 1)
    original = mine_frequent(data, min_count, max_size, stage=stage)
    estimate = _Estimate(data, released, mapping, min_count, max_size, stage)
    seen = {itemset for itemset in original if estimate.is_frequent(itemset)}

    rules = both = 0
    least = _millionths(min_confidence / 100)
    for itemset, support in original.items():
        stage()
        for size in range(1, len(itemset)):
            for left in combinations(itemset, size):
                if _millionths(support / original[left]) >= least:
                    rules += 1
                    both += itemset in seen and estimate.confidence(left, itemset) >= least

    ranked = sorted(original, key=lambda itemset: (-original[itemset], itemset))[:top]
    n_top_kept = len(set(ranked) & set(islice(estimate.ranked(), len(ranked))))
    return Patterns(
        min_count=min_count,
        min_confidence=min_confidence,
        max_size=max_size,
        itemsets=Survival(len(original), sum(k.number for k in estimate.kinds), len(seen)),
        rules=Survival(rules, estimate.count_rules(least), both),
        top=len(ranked),
        n_top_kept=n_top_kept,
    )


@dataclass(frozen=True, slots=True)
class _Kind:
    """Itemsets that touch the same groups and take as many items of each: all have the same e.

    Attributes
    ----------
    labels : codes of the groups in the release, ascending
    taken : how many items of each
    number : how many such itemsets there are
    key : e in millionths
    """

    labels: Itemset
    taken: tuple[int, ...]
    number: int
    key: int


class _Estimate:
    """What can be seen in a release: the kinds of itemsets whose e reaches the minimum support."""

    def __init__(
        self,
        data: Transactions,
        released: Transactions,
        mapping: Mapping,
        min_count: int,
        max_size: int,
        stage: Stage,
    ) -> None:
        # e is at most the support of the image: an image that is not frequent need not be known.
        self._stage = stage
        self._supports = mine_frequent(released, min_count, max_size, stage=stage)
        self._least = _millionths(min_count)
        self._members: dict[int, list[int]] = {}  # label -> its items, ascending
        self._label_of: dict[int, int] = {}
        for item, label in enumerate(label_codes(data, released, mapping).tolist()):
            if label >= 0:
                self._members.setdefault(label, []).append(item)
                self._label_of[item] = label
        labels = sorted(self._members)
        sizes = np.array([len(self._members[label]) for label in labels], np.int64)
        self._factor = dict(zip(labels, guess_factor(sizes).tolist(), strict=True))
        self.kinds = sorted(self._find_kinds(max_size), key=lambda k: (-k.key, k.labels, k.taken))

    def _find_kinds(self, max_size: int) -> Iterator[_Kind]:
        for labels in self._supports:
            self._stage()
            sizes = [len(self._members[label]) for label in labels]
            most = max_size - len(labels) + 1
            for taken in product(*(range(1, min(size, most) + 1) for size in sizes)):
                key = _millionths(self._estimate(labels, taken))
                if sum(taken) <= max_size and key >= self._least:
                    yield _Kind(labels, taken, math.prod(map(math.comb, sizes, taken)), key)

    def _estimate(self, labels: Sequence[int], taken: Sequence[int]) -> float:
        """Return e of itemsets that take so many items of each group; 0 if it is below any use."""
        used = [(label, n) for label, n in zip(labels, taken, strict=True) if n]
        support = self._supports.get(tuple(label for label, _ in used), 0)
        chance: float = math.prod(self._factor[label] ** n for label, n in used)
        return support * chance

    def _of_itemset(self, itemset: Itemset) -> float:
        labels = sorted(self._label_of.get(item, -1) for item in itemset)
        if labels[0] < 0:
            return 0.0
        taken = {label: len(list(same)) for label, same in groupby(labels)}
        return self._estimate(list(taken), list(taken.values()))

    def is_frequent(self, itemset: Itemset) -> bool:
        """Whether the estimate of an itemset reaches the minimum support."""
        return _millionths(self._of_itemset(itemset)) >= self._least

    def confidence(self, left: Itemset, itemset: Itemset) -> int:
        """Return e(itemset) / e(left), in millionths, for an itemset that is frequent here."""
        return _millionths(self._of_itemset(itemset) / self._of_itemset(left))

    def count_rules(self, least: int) -> int:
        """Return how many rules have at least that confidence, in millionths."""
        rules = 0
        for kind in self.kinds:
            self._stage()
            whole = self._estimate(kind.labels, kind.taken)
            for left in product(*(range(n + 1) for n in kind.taken)):
                if (
                    0 < sum(left) < sum(kind.taken)
                    and _millionths(whole / self._estimate(kind.labels, left)) >= least
                ):
                    rules += kind.number * math.prod(map(math.comb, kind.taken, left))
        return rules

    def ranked(self) -> Iterator[Itemset]:
        """Yield the itemsets that are frequent here, by estimate, ties in item order."""
        for _, same in groupby(self.kinds, attrgetter("key")):
            yield from merge(
                *(
                    _combinations([self._members[label] for label in kind.labels], kind.taken)
                    for kind in same
                )
            )


def _combinations(groups: Sequence[list[int]], taken: Sequence[int]) -> Iterator[Itemset]:
    """Yield the itemsets with so many items of each group, in lexicographic order.

    >>> list(_combinations([[0, 3], [1, 2]], [1, 1]))
    [(0, 1), (0, 2), (1, 3), (2, 3)]
    """
    if not any(taken):
        yield ()
        return
    open_ = [group for group, n in zip(groups, taken, strict=True) if n]
    for first in sorted(chain(*open_)):
        rest = [group[bisect_right(group, first) :] for group in groups]
        left = [n - (first in group) for group, n in zip(groups, taken, strict=True)]
        if any(len(group) < n for group, n in zip(rest, left, strict=True)):
            return  # the greater the first item, the less is left to go with it
        for others in _combinations(rest, left):
            yield (first, *others)


def _millionths(number: float) -> int:
    return round(number * 1e6)
