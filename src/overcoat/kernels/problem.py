"""What a search is given: the rows, what must hold, what is minimised, what may not get worse.

Everything that decides is a whole number, so that what is found does not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ERROR_BITS",
    "FEW_ITEMS",
    "GUESS_BITS",
    "Limits",
    "Price",
    "Rules",
    "cooling_table",
    "guesses",
]

Numbers = NDArray[np.int64]
Codes = NDArray[np.int32]

ERROR_BITS = 10  # estimates are counted in 1/1024 of a person
GUESS_BITS = 20  # chances in about a millionth
FEW_ITEMS = 12  # of so few, a descent also tries all moves of two items, all merges and splits


_NUMBERS: Numbers = np.empty(0, np.int64)  # none of them
_CODES: Codes = np.empty(0, np.int32)


@dataclass(frozen=True, eq=False)
class Rules:
    """The data, and what must hold of them.

    Attributes
    ----------
    offsets, codes, counts : the distinct rows
    block_of : utility block of each item
    k, budget : and how many items may be suppressed
    all_sets : of each family of all m-itemsets m and which items are linkable
    set_offsets, set_codes : explicit itemsets
    pairs : every two groups that meet must do so in k transactions or more: a consequence of the
        families, known beforehand, by which most moves that cannot be made are told at once
    tied : of each item the first of those that it stays with, itself where it is free; -1 where it
        stays suppressed. Empty: all are free
    """

    offsets: Numbers
    codes: Codes
    counts: Numbers
    block_of: Codes
    k: int
    budget: int
    all_sets: tuple[tuple[int, NDArray[np.uint8]], ...] = ()
    set_offsets: Numbers = field(default_factory=lambda: np.zeros(1, np.int64))
    set_codes: Codes = field(default_factory=lambda: _CODES)
    pairs: bool = False
    tied: Codes = field(default_factory=lambda: _CODES)

    def leaders(self) -> Codes:
        """Return of each item the first of those that it stays with; -1: it stays suppressed."""
        return self.tied if len(self.tied) else np.arange(len(self.block_of), dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Price:
    """What is minimised: flat * flat NCP + errors of items and pairs, or another loss alone.

    Attributes
    ----------
    flat : price of one confused occurrence
    item : price of each item's error, (M,)
    starts, others, supports, prices : for each item the items it is priced with, as CSR, the most
        supported pair first: how many have both, and the price of the error
    only : "" or the loss that alone is minimised: ul, ncp, own
    own : with `own`, the loss of a group of two or more items that so many transactions hold
    own_items : and that of suppressing each item
    """

    flat: int
    item: Numbers
    starts: Numbers
    others: Codes = field(default_factory=lambda: _CODES)
    supports: Numbers = field(default_factory=lambda: _NUMBERS)
    prices: Numbers = field(default_factory=lambda: _NUMBERS)
    only: str = ""
    own: Callable[[Codes, int], float] | None = None
    own_items: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    @classmethod
    def nothing(cls, n_items: int, **more: Any) -> Price:
        """Return the price of what costs nothing, or nothing but what is given."""
        none, empty = np.zeros(n_items, np.int64), np.zeros(n_items + 1, np.int64)
        return replace(cls(0, none, empty), **more)


@dataclass(frozen=True, eq=False)
class Limits:
    """What may not get worse.

    Attributes
    ----------
    flat, ncp, ul : the most there may be; ul in units of 2^ul_shift
    parent, weight : the tree that UL's weights come from; none where `weigh` is to be asked
    weigh : weight of a group, given its items
    penalties : UL of suppressing each item, in units of 2^ul_shift
    ncp_parent, ncp_weight : the hierarchy of NCP, if there is one
    safe_ul : UL of the start, rounded down
    """

    flat: int
    ncp: int
    ul: int
    ul_shift: int
    penalties: Numbers
    parent: Codes = field(default_factory=lambda: _CODES)
    weight: Numbers = field(default_factory=lambda: _NUMBERS)
    weigh: Callable[[Codes], int] | None = None
    ncp_parent: Codes = field(default_factory=lambda: _CODES)
    ncp_weight: Numbers = field(default_factory=lambda: _NUMBERS)
    safe_ul: int = 0

    def keeping(self, kept: Collection[str], losses: tuple[int, int, int]) -> Limits:
        """Return limits by which those of flat NCP, NCP and UL that are named may not grow."""
        flat, ncp, ul = losses
        found = replace(
            self,
            flat=flat if "flat" in kept else self.flat,
            ncp=ncp if "ncp" in kept else self.ncp,
        )
        if "ul" in kept:
            return replace(found, ul=ul)
        # UL is not counted: in such large units nothing is more than one.
        return replace(found, ul_shift=1 << 20, penalties=0 * self.penalties)


def guesses(n_items: int) -> Numbers:
    """Return the chance that a group of each size stands for one of its items, as whole numbers.

    2^(size-1) / (2^size - 1), computed without floating point: the same on every machine.

    >>> guesses(3).tolist()
    [0, 1048576, 699051, 599186]
    """
    one = 1 << GUESS_BITS
    small = [0, *(((one << size) + (1 << size) - 1) // ((2 << size) - 2) for size in range(1, 41))]
    found = np.full(n_items + 1, one >> 1, np.int64)
    found[: min(41, n_items + 1)] = small[: n_items + 1]
    return found


def cooling_table() -> Numbers:
    """Return 2^31 * 2^(-i/256) for i from 0 to 255, computed without floating point.

    >>> cooling_table()[[0, 128]].tolist()
    [2147483648, 1518500250]
    """
    # The 256th root of 1/2 by bisection, with 200 bits.
    low, high, bits = 1 << 199, 1 << 200, 200
    while high - low > 1:
        middle = power = (low + high) // 2
        for _ in range(8):
            power = power * power >> bits
        low, high = (middle, high) if power < 1 << (bits - 1) else (low, middle)
    value, found = 1 << bits, []
    for _ in range(256):
        found.append((value + (1 << (bits - 32))) >> (bits - 31))
        value = value * low >> bits
    return np.array(found, np.int64)
