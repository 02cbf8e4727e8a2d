"""In how large a crowd people stand when an attacker knows some items of theirs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import comb
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET, Stage
from overcoat.data.native import canonical_rows
from overcoat.exposure.native import Persons, weigh_sets
from overcoat.exposure.rows import KnownRows

__all__ = ["BOUNDS", "Crowd", "Interval", "crowd"]

Numbers = NDArray[np.int64]
Interval = tuple[float, float]

# Sets counted at most before people are drawn instead: some seconds.
MOST_SETS = 400_000_000
# People drawn, and the steps taken for each of them at most.
DRAWN, STEPS = 1000, 2_000_000
BOUNDS = (1, 2, 5, 10, 20, 50, 100, 1000)
_LARGEST = np.iinfo(np.int64).max
_NORMAL = 1.959963984540054  # 95 percent of a normal law lie within so many deviations


@dataclass(frozen=True, repr=False)
class Crowd:
    """What an attacker who knows so many items of a person can do.

    Attributes
    ----------
    known : how many items he knows; ``all``: the whole row
    unique : people of whom some such items point to one row
    below_k : people of whom some such items point to fewer than k rows
    chance : how often he picks the right row, knowing items drawn at random: the mean over people
    exact : whether all sets were counted; else people were drawn, and these are estimates
    intervals : of unique, below_k and chance, 95 percent, where they are estimates
    sizes : how many people stand in a crowd of at least so many, and fewer than the next; those
        without items are in none
    """

    known: int | Literal["all"]
    unique: int
    below_k: int
    chance: float
    exact: bool = True
    intervals: dict[str, Interval] | None = None
    sizes: tuple[tuple[int, int], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        plain: dict[str, Any] = {
            "known": self.known,
            "unique": self.unique,
            "below_k": self.below_k,
            "chance": self.chance,
            "exact": self.exact,
        }
        if self.intervals is not None:
            plain["intervals"] = {name: list(both) for name, both in self.intervals.items()}
        return plain | {"sizes": [list(size) for size in self.sizes]}

    def __repr__(self) -> str:
        about = "" if self.exact else "about "
        return (
            f"Crowd({self.known} known: {about}{self.unique:,} unique, {about}{self.below_k:,} "
            f"below k, chance {self.chance:.3g})"
        )


def crowd(
    rows: KnownRows, known: int | Literal["all"], k: int, *, seed: int = 0, stage: Stage = QUIET
) -> Crowd:
    """Return what knowing so many items gives away; exact where the sets can be counted.

    >>> from overcoat.data.transactions import Transactions
    >>> rows = KnownRows.of(Transactions.of([{"a", "b"}, {"a"}, {"a"}]))
    >>> crowd(rows, 1, k=3).unique, crowd(rows, 1, k=3).below_k, crowd(rows, "all", k=3).unique
    (1, 1, 1)
    """
    if known == "all":
        worst, total = _whole(rows, stage)
        return _counted(rows, known, k, worst, total)
    if rows.n_sets(known) <= MOST_SETS:
        worst, _, total = weigh(rows, known, stage=stage)
        return _counted(rows, known, k, worst, total)
    return _sampled(rows, known, k, seed, stage)


def weigh(
    rows: KnownRows, m: int, *, stage: Stage = QUIET
) -> tuple[Numbers, Numbers, NDArray[np.float64]]:
    """Return the worst case of each row and entry, and the attacker's chance at each row.

    The worst case of a row without items is the largest number there is.
    """
    need = np.minimum(rows.n_asked, m)
    worst, worst_with, total = weigh_sets(
        *(rows.offsets, rows.labels, rows.taken, rows.spare, rows.counts, need),
        *(rows.n_labels, m),
        stage=stage,
    )
    nothing = _choose(rows.spare, need) * (need > 0)  # sets of suppressed items alone: anybody
    worst[nothing > 0] = np.minimum(worst[nothing > 0], rows.n_people)
    chance = (total + nothing / rows.n_people) / np.maximum(_choose(rows.n_asked, need), 1)
    chance[need == 0] = 1 / max(rows.n_people, 1)
    return worst, worst_with, chance


def _choose(of: Numbers, some: Numbers) -> NDArray[np.float64]:
    width = int(some.max(initial=0)) + 1
    pairs, place = np.unique(of * width + some, return_inverse=True)
    values = [float(comb(*divmod(pair, width))) for pair in pairs.tolist()]
    return np.array(values, np.float64)[place]


def _whole(rows: KnownRows, stage: Stage) -> tuple[Numbers, NDArray[np.float64]]:
    if (rows.taken > 0).all():
        # All that is published of a person is asked for: equal rows have equal answers.
        ends, labels, counts, became = canonical_rows(
            rows.offsets, rows.labels, rows.counts, stage=stage
        )
        worst = Persons(ends, labels, counts, rows.n_labels, stage=stage).holding_rows()[became]
        nothing = np.diff(rows.offsets) == 0  # but suppressed items, perhaps
        worst[nothing] = np.where(rows.spare[nothing] > 0, rows.n_people, _LARGEST)
        return worst, 1 / np.where(worst == _LARGEST, max(rows.n_people, 1), worst)
    persons = Persons(rows.offsets, rows.labels, rows.counts, rows.n_labels, stage=stage)
    worst = np.full(len(rows.counts), _LARGEST, np.int64)
    for row, asked in enumerate(rows.n_asked.tolist()):
        stage(row, len(worst))
        if asked:
            labels, _ = rows.asked_of(row)
            worst[row] = persons.holding(labels) if len(labels) else rows.n_people
    return worst, 1 / np.where(worst == _LARGEST, max(rows.n_people, 1), worst)


def _counted(
    rows: KnownRows,
    known: int | Literal["all"],
    k: int,
    worst: Numbers,
    chance: NDArray[np.float64],
) -> Crowd:
    counts = rows.counts
    ends = (*BOUNDS[1:], _LARGEST)
    sizes = tuple(
        (first, int(counts[(worst >= first) & (worst < stop)].sum()))
        for first, stop in zip(BOUNDS, ends, strict=True)
    )
    mean = math.fsum((chance * counts).tolist()) / max(rows.n_people, 1)
    unique, below = int(counts[worst == 1].sum()), int(counts[worst < k].sum())
    return Crowd(known, unique, below, mean, sizes=sizes)


@dataclass
class _Stratum:
    """People whose whole rows stand in crowds of one kind, and what was found out about some.

    Attributes
    ----------
    n_people : how many there are
    fewest : the least number of people who hold a whole row of theirs: no set has fewer
    found : for each person looked at: the worst case, the chance, whether all sets were seen, and
        how many people hold the whole row
    weights : how many people each of them stands for, if all were looked at; else None
    """

    n_people: int
    fewest: int
    found: list[tuple[int, float, bool, int]]
    weights: list[int] | None

    def below(self, least: int) -> tuple[float, float, float]:
        """Return how many people are below a number, with an interval."""
        if self.weights is None:
            sure = sum(worst < least for worst, _, _, _ in self.found)
            # Those of whom not all was looked at may be, too, if their whole row is.
            more = sum(w >= least > few and not whole for w, _, whole, few in self.found)
            n = len(self.found)
            low, high = _wilson(sure, n)[0], _wilson(sure + more, n)[1]
            return (
                (sure + more / 2) / n * self.n_people,
                low * self.n_people,
                high * self.n_people,
            )
        each = list(zip(self.found, self.weights, strict=True))
        sure = sum(n for (worst, _, _, _), n in each if worst < least)
        more = sum(n for (w, _, whole, few), n in each if w >= least > few and not whole)
        return sure + more / 2, sure, sure + more

    def chance(self) -> tuple[float, float]:
        """Return the sum of the chances of these people, and the variance of that estimate."""
        chances = [chance for _, chance, _, _ in self.found]
        if self.weights is not None:
            products = (chance * n for chance, n in zip(chances, self.weights, strict=True))
            return math.fsum(products), 0.0
        n, mean = len(chances), math.fsum(chances) / len(chances)
        spread = math.fsum((one - mean) ** 2 for one in chances) / max(n - 1, 1) / n
        return mean * self.n_people, spread * self.n_people**2


def _sampled(rows: KnownRows, m: int, k: int, seed: int, stage: Stage) -> Crowd:
    """Draw people, and look at all sets of each.

    Nobody stands in a smaller crowd than the one that holds the whole row. So the few who can be
    unique at all, and those who can be below k, are drawn from apart.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    whole, _ = _whole(rows, stage)
    persons = Persons(rows.offsets, rows.labels, rows.counts, rows.n_labels, stage=stage)
    strata = []
    for kind in (whole == 1, (whole > 1) & (whole < k), whole >= max(k, 2)):
        here = np.flatnonzero(kind)
        if not len(here):
            continue
        counts, weights = rows.counts[here], None
        if len(here) <= DRAWN:
            drawn, weights = here, counts.tolist()
        else:
            ends = np.cumsum(counts)
            places = np.searchsorted(ends, rng.integers(0, ends[-1], DRAWN), side="right")
            drawn = here[places]
        seen: dict[int, tuple[int, float, bool, int]] = {}
        for number, row in enumerate(drawn.tolist()):
            stage(number, len(drawn))
            if row not in seen:
                seen[row] = _person(rows, persons, row, m)
        found = [seen[row] for row in drawn.tolist()]
        fewest = int(whole[here].min())
        strata.append(_Stratum(int(counts.sum()), fewest, found, weights))
    figures, intervals = {}, {}
    for name, least in (("unique", 2), ("below_k", k)):
        each = [stratum.below(least) for stratum in strata if stratum.fewest < least]
        figures[name] = round(sum(middle for middle, _, _ in each))
        intervals[name] = (sum(low for _, low, _ in each), sum(high for _, _, high in each))
    sums = [stratum.chance() for stratum in strata]
    mean = math.fsum(total for total, _ in sums) / rows.n_people
    reach = _NORMAL * math.sqrt(math.fsum(variance for _, variance in sums)) / rows.n_people
    intervals["chance"] = (max(mean - reach, 0.0), min(mean + reach, 1.0))
    exact = all(s.weights is not None and all(w for _, _, w, _ in s.found) for s in strata)
    if exact:
        return Crowd(m, figures["unique"], figures["below_k"], mean)
    return Crowd(m, figures["unique"], figures["below_k"], mean, False, intervals)


def _person(rows: KnownRows, persons: Any, row: int, m: int) -> tuple[int, float, bool, int]:
    """Return the worst case, the chance, whether all sets were seen, and who holds the row."""
    asked, spare = int(rows.n_asked[row]), int(rows.spare[row])
    need = min(asked, m)
    if not need:
        return _LARGEST, 1 / rows.n_people, True, rows.n_people
    labels, taken = rows.asked_of(row)
    nothing = comb(spare, need)
    if not len(labels):
        return rows.n_people, 1 / rows.n_people, True, rows.n_people
    worst, total, whole = persons.weigh(labels, taken, spare, need, STEPS)
    if nothing:
        worst, total = min(worst, rows.n_people), total + nothing / rows.n_people
    return worst, total / comb(asked, need), whole, persons.holding(labels)


def _wilson(successes: int, n: int) -> Interval:
    """Return the 95 percent interval of a share, by Wilson's score.

    >>> [round(end, 4) for end in _wilson(5, 100)]
    [0.0215, 0.1118]
    """
    z2 = _NORMAL**2
    share = successes / n
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    reach = _NORMAL * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(middle - reach, 0.0), min(middle + reach, 1.0)
