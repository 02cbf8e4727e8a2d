"""Random instances: one recipe, fed either by hypothesis or by a seeded `random.Random`.

Every choice is an integer of a range, so both sources follow the same code, and hypothesis shrinks
towards the low end: few items, few rows, plain labels.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from hypothesis import strategies as st

from oracle.definitions import Family, Percent, Rest, domain_of, item_order

T = TypeVar("T")

ROOT = "*"
LETTERS = tuple("abcdefghi")
# Numeric order is not code point order, one is negative, one leaves 64 bits.
INTEGERS = ("9", "10", "2", "0", "100", "11", "38", "-3", "1000", "12345678901234567890")
# Not written canonically, so one of them makes the order that of code points.
ALMOST_INTEGERS = ("038", "-0", "+1", "1.0", "1_0", "\uff11")
HOSTILE = (
    *("a b", "a,b", "(a|b)", "038", "10", "9", "\u00e9", "e\u0301", "\U0001f9a0", "NA"),
    *("#x", "n:x", "'", '"', "\\", "null", "\U0001d4b3", " lead", "trail ", "\u00a0"),
)
PERCENTAGES: tuple[Percent, ...] = (100, 50, 33.3, 10, 0.5, 0)


@dataclass(frozen=True)
class Instance:
    """One problem: data, policy, utility, k, s and perhaps a hierarchy.

    `paths` sends an item to the nodes from the root '*' down to the item itself. It may know items
    that never occur; everything else only names items of the domain.
    """

    rows: list[frozenset[str]]
    families: list[Family]
    named: dict[str, frozenset[str]]
    rest: Rest
    k: int
    s: Percent
    paths: dict[str, tuple[str, ...]] | None

    @property
    def domain(self) -> frozenset[str]:
        return domain_of(self.rows)


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    """Instances for hypothesis."""
    return _build(_Chooser(lambda low, high: draw(st.integers(low, high))))


def random_instance(rng: random.Random) -> Instance:
    """One instance by the same recipe, thousands a second."""
    return _build(_Chooser(rng.randint))


@st.composite
def km_instances(draw: st.DrawFn) -> Instance:
    """Instances for Apriori: one family of all m-itemsets, one block, always a hierarchy."""
    return _build_km(_Chooser(lambda low, high: draw(st.integers(low, high))))


def random_km_instance(rng: random.Random) -> Instance:
    """One of those by the same recipe."""
    return _build_km(_Chooser(rng.randint))


class _Chooser:
    def __init__(self, integer: Callable[[int, int], int]) -> None:
        self.integer = integer  # both ends included

    def one_in(self, n: int) -> bool:
        return self.integer(0, n - 1) == n - 1

    def choice(self, things: Sequence[T]) -> T:
        return things[self.integer(0, len(things) - 1)]

    def sample(self, things: Sequence[T], size: int) -> list[T]:
        left = list(things)
        return [left.pop(self.integer(0, len(left) - 1)) for _ in range(size)]

    def subset(self, things: Sequence[T], lowest: int = 0) -> list[T]:
        mask = self.integer(lowest, 2 ** len(things) - 1)
        return [thing for position, thing in enumerate(things) if mask >> position & 1]


def _build(chooser: _Chooser) -> Instance:
    labels = _labels(chooser)
    rows = _rows(chooser, labels)
    domain = item_order(domain_of(rows))
    return Instance(
        rows=rows,
        families=[_family(chooser, domain) for _ in range(chooser.integer(1, 3))],
        named=_named(chooser, domain),
        rest="intact" if chooser.one_in(3) else "together",
        k=_k(chooser, rows),
        s=chooser.choice(PERCENTAGES),
        paths=_paths(chooser, labels) if chooser.one_in(2) else None,
    )


def _build_km(chooser: _Chooser) -> Instance:
    labels = _labels(chooser)
    rows = _rows(chooser, labels)
    return Instance(
        rows=rows,
        families=[_all_itemsets(chooser, item_order(domain_of(rows)))],
        named={},
        rest="together",
        k=_k(chooser, rows),
        s=chooser.choice(PERCENTAGES),
        paths=_paths(chooser, labels),
    )


def _k(chooser: _Chooser, rows: list[frozenset[str]]) -> int:
    return len(rows) + chooser.integer(1, 3) if chooser.one_in(12) else chooser.integer(1, 8)


def _labels(chooser: _Chooser) -> list[str]:
    size = chooser.integer(1, 9)
    kind = chooser.integer(0, 5)
    if kind == 0:
        return list(LETTERS[:size])
    if kind == 1:
        return chooser.sample(INTEGERS, size)
    if kind == 2:
        return [*chooser.sample(INTEGERS, size - 1), chooser.choice(ALMOST_INTEGERS)]
    return chooser.sample(HOSTILE, size)


def _rows(chooser: _Chooser, labels: list[str]) -> list[frozenset[str]]:
    sparsity = chooser.integer(1, 3)  # each item is in a fresh row with probability 2^-sparsity
    rows: list[frozenset[str]] = []
    for _ in range(chooser.integer(0, 40)):
        if rows and chooser.one_in(4):
            rows.append(chooser.choice(rows))
        else:
            draws = [frozenset(chooser.subset(labels)) for _ in range(sparsity)]
            rows.append(frozenset.intersection(*draws))
    return rows


def _family(chooser: _Chooser, domain: list[str]) -> Family:
    kind = chooser.integer(0, 5)
    if kind == 5:
        return ("pgen",)
    if kind >= 3:
        return _all_itemsets(chooser, domain)
    size = chooser.integer(1, 5) if domain else 0
    return ("itemsets", [frozenset(chooser.subset(domain, lowest=1)) for _ in range(size)])


def _all_itemsets(chooser: _Chooser, domain: list[str]) -> Family:
    m = chooser.integer(1, 4)
    narrowed = bool(domain) and chooser.one_in(2)
    return ("all", m, frozenset(chooser.subset(domain, lowest=1)) if narrowed else None)


def _named(chooser: _Chooser, domain: list[str]) -> dict[str, frozenset[str]]:
    n_sets = chooser.integer(0, 3)
    home = {item: chooser.integer(0, n_sets) for item in domain}  # 0: left over
    sets = {f"u{n}": frozenset(i for i in domain if home[i] == n) for n in range(1, n_sets + 1)}
    return {name: items for name, items in sets.items() if items}


def _paths(chooser: _Chooser, labels: list[str]) -> dict[str, tuple[str, ...]]:
    paths: dict[str, tuple[str, ...]] = {}
    for item in labels:
        turns = [str(chooser.integer(0, 2)) for _ in range(chooser.integer(0, 3))]
        inner = ["n:" + ".".join(turns[: depth + 1]) for depth in range(len(turns))]
        paths[item] = (ROOT, *inner, item)
    return paths
