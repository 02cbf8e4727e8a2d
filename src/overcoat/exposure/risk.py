"""The risk of a file: what an attacker who knows some items of a person can do, and to whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from overcoat import html
from overcoat.checks import check_count
from overcoat.context import QUIET, Stage
from overcoat.data.transactions import Transactions
from overcoat.errors import PolicyError
from overcoat.exposure.crowds import MOST_SETS, Crowd, crowd
from overcoat.exposure.revealing import revealing_items, revealing_pairs
from overcoat.exposure.rows import KnownRows
from overcoat.loss.error import ExpectedError, n_pairs
from overcoat.mapping import Mapping
from overcoat.partition import Partition
from overcoat.words import count_of, listed, people

__all__ = ["Attack", "Risk", "assess", "attack"]

_Rows = tuple[tuple[tuple[str, ...], int], ...]  # labels, and how many people have them
_NO_ROWS: _Rows = ()
_SHOWN_ROWS = 3  # of those that fit in an attack


@dataclass(frozen=True)
class Risk:
    """What knowing 1, 2, 3, … items of a person, or all of them, gives away.

    Attributes
    ----------
    n_people : how many there are
    k : below which a crowd counts as too small
    before : in the original
    after : in the release; None where there is none
    items : the items that make most people unique in the original, with how many, when as many
        items are known as `items_known`
    items_known : see `items`
    pairs : the pairs of items that make most people unique in the original together with one more
        item, with how many; none where fewer than 3 items are known
    also : in each further release about the same people
    together : in all releases at once, at most; None where there is but one
    same_as : the first of the releases (0, 1, …) that tells as much alone as all together about the
        items it knows; None if none does
    n_new : how many items of the data that release does not know
    """

    n_people: int
    k: int
    before: tuple[Crowd, ...]
    after: tuple[Crowd, ...] | None = None
    items: tuple[tuple[str, int], ...] = ()
    items_known: int = 0
    pairs: tuple[tuple[tuple[str, str], int], ...] = ()
    also: tuple[tuple[Crowd, ...], ...] = ()
    together: tuple[Crowd, ...] | None = None
    same_as: int | None = None
    n_new: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return all figures as plain values."""
        several: dict[str, Any] = {}
        if self.together is not None:
            several = {
                "also": [[one.to_json() for one in crowds] for crowds in self.also],
                "together": [one.to_json() for one in self.together],
                "same_as": self.same_as,
                "n_new": self.n_new,
            }
        return {
            "n_people": self.n_people,
            "k": self.k,
            "before": [one.to_json() for one in self.before],
            "after": None if self.after is None else [one.to_json() for one in self.after],
            **several,
            "items_known": self.items_known,
            "items": [{"item": item, "people": number} for item, number in self.items],
            "pairs": [{"items": list(pair), "people": number} for pair, number in self.pairs],
        }

    @property
    def tables(self) -> list[tuple[str, tuple[Crowd, ...]]]:
        """What it was measured of, each with its title."""
        after = [] if self.after is None else [self.after]
        releases = [*after, *self.also]
        titles = ["release"] if len(releases) == 1 else [f"release {n + 1}" for n in range(9999)]
        return [
            ("original", self.before),
            *zip(titles, releases, strict=False),
            *([] if self.together is None else [("all releases together, at most", self.together)]),
        ]

    def _repr_html_(self) -> str:
        rows = [
            (when, one.known, f"{one.unique:,}", f"{one.below_k:,}", f"{one.chance:.4%}")
            for when, crowds in self.tables
            for one in crowds
        ]
        head = ["", "items known", "unique", f"below {self.k}", "chance"]
        return html.card(f"Risk of {people(self.n_people)}", html.table(rows, head))

    def __repr__(self) -> str:
        after = self.after or [None] * len(self.before)
        told = ", ".join(
            f"{one.unique:,}{'' if now is None else f' → {now.unique:,}'} unique with {one.known} "
            "known"
            for one, now in zip(self.before, after, strict=True)
        )
        return f"Risk({people(self.n_people)}: {told})"


def assess(
    data: Transactions,
    mapping: Mapping | None = None,
    *,
    known: int = 3,
    k: int = 5,
    linkable: Iterable[str] | None = None,
    seed: int = 0,
    also: Sequence[Mapping] = (),
    stage: Stage = QUIET,
) -> Risk:
    """Return the risk of some data and, with a mapping, of their release.

    `also` are mappings under which the same people were published elsewhere, or before; an item
    that one of them does not know was not published there.

    >>> data = Transactions.of([{"a", "b"}, {"a", "c"}, {"a", "b"}, {"a"}])
    >>> risk = assess(data, known=2, k=3)
    >>> [(one.known, one.unique, one.below_k) for one in risk.before]
    [(1, 1, 3), (2, 1, 3), ('all', 1, 3)]
    """
    known, k = check_count("known", known), check_count("k", k)
    if known > 64:
        raise PolicyError(f"an attacker who knows {known} items knows all of them; ask for 64")
    mask = _mask(data, linkable)
    sizes: list[int | Literal["all"]] = [*range(1, known + 1), "all"]

    def crowds_of(rows: KnownRows) -> tuple[Crowd, ...]:
        return tuple(crowd(rows, size, k, seed=seed, stage=stage) for size in sizes)

    original = KnownRows.of(data, None, mask)
    before, after = crowds_of(original), None
    if mapping is not None:
        after = crowds_of(KnownRows.of(data, mapping, mask))
    others, together, same_as, n_new = [], None, None, 0
    if mapping is not None and also:
        every = [mapping.partition_of(data), *(_told(one, data) for one in also)]
        meet = every[0].meet(*every[1:])
        others = [crowds_of(KnownRows.of(data, one, mask)) for one in every[1:]]
        together = crowds_of(KnownRows.of(data, meet, mask))
        same = (_same(meet, one, of, data) for one, of in zip(every, (mapping, *also), strict=True))
        same_as = next((number for number, is_same in enumerate(same) if is_same), None)
        if same_as is not None:
            n_new = int((~_known((mapping, *also)[same_as], data)).sum())
    at = min(known, 2)
    items: tuple[tuple[str, int], ...] = ()
    pairs: tuple[tuple[tuple[str, str], int], ...] = ()
    if original.n_sets(at) <= MOST_SETS:
        items = revealing_items(data.vocabulary, original, at, stage=stage)
    if known > 2 and n_pairs(data) <= ExpectedError.MOST:
        pairs = revealing_pairs(data.vocabulary, original, stage=stage)
    return Risk(
        *(data.n_transactions, k, before, after),
        items=items,
        items_known=at,
        pairs=pairs,
        also=tuple(others),
        together=together,
        same_as=same_as,
        n_new=n_new,
    )


def _known(mapping: Mapping, data: Transactions) -> NDArray[np.bool_]:
    return np.array([item in mapping.vocabulary for item in data.vocabulary], bool)


def _told(mapping: Mapping, data: Transactions) -> Partition:
    """Return what a mapping tells of the items that occur: nothing of those it does not know."""
    partition = mapping.partition_over(data.vocabulary)
    return Partition(np.where(_known(mapping, data), partition.group_of, -1))


def _same(meet: Partition, one: Partition, mapping: Mapping, data: Transactions) -> bool:
    """Whether one release tells as much as all of them about the items it knows."""
    known = np.flatnonzero(_known(mapping, data))
    return meet.over(known) == one.over(known)


@dataclass(frozen=True)
class Attack:
    """One attack: what the attacker knows of somebody, and which rows it may be.

    Attributes
    ----------
    items : what he knows
    before, after : how many rows of the original, and of the release, fit
    rows_before, rows_after : the first few of these, as he reads them, each with how many people
        have such a row
    """

    items: tuple[str, ...]
    before: int
    after: int | None = None
    rows_before: _Rows = ()
    rows_after: _Rows = ()


def attack(
    data: Transactions,
    mapping: Mapping | None = None,
    *,
    known: int = 3,
    number: int = 10,
    seed: int = 0,
    linkable: Iterable[str] | None = None,
) -> tuple[Attack, ...]:
    """Draw people, tell an attacker some of their items, and show who it may be.

    >>> data = Transactions.of([{"a", "b"}, {"a", "c"}, {"a", "b"}])
    >>> for one in attack(data, known=2, number=2):
    ...     print(one.items, one.before, one.rows_before)
    ('a', 'c') 1 ((('a', 'c'), 1),)
    ('a', 'b') 2 ((('a', 'b'), 2),)
    """
    known, number = check_count("known", known), check_count("number", number)
    mask = _mask(data, linkable)
    rng = np.random.Generator(np.random.PCG64(check_count("seed", seed, 0)))
    ends = np.cumsum(data.counts)
    drawn = np.searchsorted(ends, rng.integers(0, ends[-1], number), side="right")
    published = None if mapping is None else mapping.apply(data)
    attacks = []
    for row in drawn.tolist():
        codes = data.row(row)
        if mask is not None:
            codes = codes[mask[codes]]
        told = np.sort(rng.permutation(codes)[:known])
        items = tuple(data.vocabulary[code] for code in told.tolist())
        before, rows_before = _fitting(data, told.tolist())
        after, rows_after = None, _NO_ROWS
        if mapping is not None and published is not None:
            labels = {label for item in items if (label := mapping[item]) is not None}
            after, rows_after = _fitting(published, [published.vocabulary.code(x) for x in labels])
        attacks.append(Attack(items, before, after, rows_before, rows_after))
    return tuple(attacks)


def _fitting(data: Transactions, codes: list[int]) -> tuple[int, _Rows]:
    """Return how many rows have all of these, and the first few of them."""
    rows = np.repeat(np.arange(data.n_distinct), data.lengths)
    wanted = np.zeros(data.n_items, bool)
    wanted[codes] = True
    held = np.bincount(rows[wanted[data.codes]], minlength=data.n_distinct)
    fit = np.flatnonzero(held == len(codes))
    shown = tuple(
        (tuple(data.vocabulary[code] for code in data.row(row).tolist()), int(data.counts[row]))
        for row in fit[:_SHOWN_ROWS].tolist()
    )
    return int(data.counts[fit].sum()), shown


def _mask(data: Transactions, linkable: Iterable[str] | None) -> NDArray[np.bool_] | None:
    if linkable is None:
        return None
    names = {linkable} if isinstance(linkable, str) else {*linkable}
    mask = np.zeros(data.n_items, bool)
    mask[[data.vocabulary.code(item) for item in names if item in data.vocabulary]] = True
    if not mask.any() and data.n_items:
        raise PolicyError("none of the linkable items occurs in the data")
    absent = sorted(str(item) for item in names if item not in data.vocabulary)
    if absent:  # a typo would make the risk look smaller than it is
        raise PolicyError(
            f"{count_of(len(absent), 'linkable item')} {'does' if len(absent) == 1 else 'do'} not "
            f"occur in the data: {listed(absent)}"
        )
    return mask
