"""What is in some data: how many people and items, how identifying they are, what is suspicious."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overcoat import html
from overcoat.checks import check_count
from overcoat.context import QUIET, Context, Stage
from overcoat.data.codes import alike_codes
from overcoat.data.identifiers import suspects
from overcoat.data.transactions import Transactions
from overcoat.exposure.crowds import Crowd
from overcoat.exposure.risk import assess
from overcoat.release.given import take_data
from overcoat.words import count_of, listed, people

__all__ = ["Profile", "Spread", "look_at", "profile", "suspicious"]

_SHOWN = 8
_FEW_PEOPLE = 100
_NEARLY_ALL = 0.9
# A long row: so many items, and so many times as many as half of the people have at most.
_LONG, _TIMES = 50, 20
_COPIED_ITEMS, _COPIED_TIMES = 8, 10
_LONG_LABEL = 100
_MISSING = {"", "-", "?", "na", "n/a", "nan", "nil", "none", "null", "unknown", "missing"}


@dataclass(frozen=True)
class Spread:
    """How numbers are spread.

    Attributes
    ----------
    least, most : the smallest and the largest
    low, middle, high : a quarter, half, and three quarters of them are this or smaller
    mean : the mean
    """

    least: int
    low: int
    middle: int
    high: int
    most: int
    mean: float

    @classmethod
    def of(cls, values: NDArray[np.int64], counts: NDArray[np.int64] | None = None) -> Spread:
        """Return how numbers are spread, each counted so many times.

        >>> Spread.of(np.array([1, 2, 2, 9]))
        Spread(least=1, low=1, middle=2, high=2, most=9, mean=3.5)
        """
        weights = np.ones(len(values), np.int64) if counts is None else counts
        values, weights = values[weights > 0], weights[weights > 0]
        if not len(values):
            return cls(0, 0, 0, 0, 0, 0.0)
        order = np.argsort(values, kind="stable")
        ends, ascending = np.cumsum(weights[order]), values[order]
        total = int(ends[-1])

        def at(quarters: int) -> int:
            return int(ascending[np.searchsorted(4 * ends, quarters * total)])

        mean = int((values * weights).sum()) / total
        return cls(int(ascending[0]), at(1), at(2), at(3), int(ascending[-1]), mean)

    def __str__(self) -> str:
        """Render in words."""
        if self.least == self.most:
            return f"{self.least:,} each"
        return (
            f"{self.least:,} to {self.most:,}; half at most {self.middle:,}, "
            f"three quarters at most {self.high:,}; {self.mean:.1f} on average"
        )


@dataclass(frozen=True)
class Profile:
    """What is in some data. It is about the original: not for publication.

    Attributes
    ----------
    n_people, n_items, n_occurrences : N, M, and how many items all people have together
    n_distinct : how many different rows there are
    n_empty : people without items
    lengths : of the numbers of items that people have
    supports : of the numbers of people that items have
    k : below which a crowd counts as too small
    n_rare, rare : how many items fewer than k people have, and the rarest, with how many have them
    common : the items that most people have, with how many
    risk : for an attacker who knows one item, two, or the whole row
    suspicious : what may be wrong, a sentence each
    read_as : how the input was understood
    """

    n_people: int
    n_items: int
    n_occurrences: int
    n_distinct: int
    n_empty: int
    lengths: Spread
    supports: Spread
    k: int
    n_rare: int
    rare: tuple[tuple[str, int], ...]
    common: tuple[tuple[str, int], ...]
    risk: tuple[Crowd, ...]
    suspicious: tuple[str, ...]
    read_as: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return all figures as plain values."""

        def named(some: tuple[tuple[str, int], ...]) -> list[dict[str, Any]]:
            return [{"item": item, "people": number} for item, number in some]

        return {
            "n_people": self.n_people,
            "n_items": self.n_items,
            "n_occurrences": self.n_occurrences,
            "n_distinct": self.n_distinct,
            "n_empty": self.n_empty,
            "lengths": asdict(self.lengths),
            "supports": asdict(self.supports),
            "k": self.k,
            "n_rare": self.n_rare,
            "rare": named(self.rare),
            "common": named(self.common),
            "risk": [one.to_json() for one in self.risk],
            "suspicious": list(self.suspicious),
            "read_as": self.read_as or None,
        }

    def lines(self) -> list[tuple[str, str]]:
        """Return it as named lines."""
        lines = [("people", f"{self.n_people:,}, {self.n_distinct:,} different rows")]
        if self.read_as:
            lines.append(("read as", self.read_as))
        if self.n_empty:
            lines[0] = ("people", f"{lines[0][1]}; {self.n_empty:,} without items")
        lines += [
            ("items", f"{self.n_items:,}; people have {count_of(self.n_occurrences, 'item')}"),
            ("of a person", f"{self.lengths} (items)"),
            ("of an item", f"{self.supports} (people)"),
            ("common", _named(self.common)),
        ]
        share = _percent(self.n_rare, self.n_items)
        rare = f": {_named(self.rare)}" if self.rare else ""
        held = f"{count_of(self.n_rare, 'item')} ({share}) that fewer than {self.k} people have"
        lines.append(("rare", f"{held}{rare}"))
        for one in self.risk:
            known = "all items" if one.known == "all" else count_of(one.known, "item")
            about = "" if one.exact else "about "
            lines.append(
                (
                    "risk",
                    f"with {known} known, {about}{one.unique:,} "
                    f"({_percent(one.unique, self.n_people)}) of the people are unique, {about}"
                    f"{one.below_k:,} ({_percent(one.below_k, self.n_people)}) in a crowd "
                    f"below {self.k}",
                )
            )
        lines += [("suspicious", one) for one in self.suspicious]
        return lines if self.suspicious else [*lines, ("suspicious", "nothing found")]

    def __repr__(self) -> str:
        odd = len(self.suspicious)
        found = f"{odd} suspicious" if odd else "nothing suspicious"
        return f"Profile({people(self.n_people)}, {count_of(self.n_items, 'item')}, {found})"

    def __str__(self) -> str:
        """Render as text."""
        return "\n".join(f"{name:<11} {text}" for name, text in self.lines())

    def _repr_html_(self) -> str:
        return html.card("Profile", html.table(self.lines()))


def _named(some: tuple[tuple[str, int], ...]) -> str:
    return listed([f"{item} ({number:,})" for item, number in some])


def _percent(number: int, of: int) -> str:
    share = 100 * number / max(of, 1)
    return "< 0.1 %" if number and share < 0.05 else f"{share:.1f} %"


def profile(data: Any, *, k: int = 5, context: Context | None = None, **options: Any) -> Profile:
    """Say what is in some data, how identifying it is, and what is suspicious about it.

    Parameters
    ----------
    data : `Transactions`, or anything `read` takes, with its options
    k : below which a crowd counts as too small
    context : how to run

    >>> rows = [{"flu", "gout"}] * 60 + [{"flu"}] * 60 + [{"flu", "NA"}] * 30
    >>> print(profile(rows))
    people      150, 3 different rows
    items       3; people have 240 items
    of a person 1 to 2; half at most 2, three quarters at most 2; 1.6 on average (items)
    of an item  30 to 150; half at most 60, three quarters at most 150; 80.0 on average (people)
    common      flu (150), gout (60), NA (30)
    rare        0 items (0.0 %) that fewer than 5 people have
    risk        with 1 item known, 0 (0.0 %) of the people are unique, 0 (0.0 %) in a crowd below 5
    risk        with 2 items known, 0 (0.0 %) of the people are unique, 0 (0.0 %) in a crowd below 5
    risk        with all items known, 0 (0.0 %) of the people are unique, 0 (0.0 %) in a crowd \
below 5
    suspicious  'flu' is held by 150 of 150 people: what everybody has tells nobody apart, and \
nothing about them
    suspicious  1 item looks like a missing value: 'NA'
    """
    context = Context.of(context)
    transactions = take_data(data, options, context)
    with context.stage("profile") as stage:
        return look_at(transactions, k=k, stage=stage)


def look_at(data: Transactions, *, k: int = 5, stage: Stage = QUIET) -> Profile:
    """Return the profile of some data."""
    k = check_count("k", k)
    held, labels = data.supports, data.vocabulary.labels
    rising = np.argsort(held, kind="stable")
    falling = np.argsort(-held, kind="stable")
    rare = rising[held[rising] < k]
    return Profile(
        n_people=data.n_transactions,
        n_items=data.n_items,
        n_occurrences=int(held.sum()),
        n_distinct=data.n_distinct,
        n_empty=int(data.counts[data.lengths == 0].sum()),
        lengths=Spread.of(data.lengths, data.counts),
        supports=Spread.of(held),
        k=k,
        n_rare=len(rare),
        rare=tuple((labels[one], int(held[one])) for one in rare[:_SHOWN].tolist()),
        common=tuple((labels[one], int(held[one])) for one in falling[:_SHOWN].tolist()),
        risk=assess(data, known=2, k=k, stage=stage).before,
        suspicious=tuple(suspicious(data, k, stage)),
        read_as=data.origin.read_as,
    )


def suspicious(data: Transactions, k: int, stage: Stage) -> Iterator[str]:
    """Yield what may be wrong: of the items, of the rows, of how they were read."""
    yield from data.origin.notes
    for suspicion in suspects(data, stage=stage):
        yield suspicion.message
    stage()
    yield from alike_codes(data.vocabulary.labels)
    yield from _odd_rows(data, k)
    yield from _odd_items(data)


def _odd_rows(data: Transactions, k: int) -> Iterator[str]:
    n = data.n_transactions
    empty = int(data.counts[data.lengths == 0].sum())
    if n < max(_FEW_PEOPLE, 10 * k):
        verb = "is" if n == 1 else "are"
        yield f"there {verb} only {people(n)}: a crowd of {k} is a large part of them"
    if empty:
        yield f"{people(empty)} without items: were their items lost, or do they belong here?"
    if not len(data.codes):
        return
    usual = max(Spread.of(data.lengths, data.counts).middle, 1)
    longest = int(data.lengths.max())
    if longest > _LONG and longest > _TIMES * usual:
        yield (
            f"one row has {longest:,} items, half of the rows at most {usual:,}: is it one person?"
        )
    copied = (data.lengths >= max(_COPIED_ITEMS, 2 * usual)) & (data.counts >= _COPIED_TIMES)
    if copied.any():
        most = int(np.argmax(np.where(copied, data.counts, 0)))
        yield (
            f"{count_of(int(copied.sum()), 'long row')} repeated {_COPIED_TIMES} times or more, "
            f"one of {int(data.lengths[most])} items {int(data.counts[most]):,} times: were rows "
            "copied?"
        )


def _odd_items(data: Transactions) -> Iterator[str]:
    labels, n = data.vocabulary.labels, data.n_transactions
    for code in np.flatnonzero(data.supports >= _NEARLY_ALL * n)[:3].tolist():
        if n >= _FEW_PEOPLE:
            yield (
                f"{labels[code]!r} is held by {int(data.supports[code]):,} of {people(n)}: what "
                "everybody has tells nobody apart, and nothing about them"
            )
    kinds = {
        "looks like a missing value": [one for one in labels if one.strip().lower() in _MISSING],
        "has blanks around it (--trim drops them)": [one for one in labels if one != one.strip()],
        "has characters that cannot be seen": [one for one in labels if not one.isprintable()],
        f"is longer than {_LONG_LABEL} characters": [x for x in labels if len(x) > _LONG_LABEL],
    }
    for what, some in kinds.items():
        if some:
            shown = listed([repr(one[:_LONG_LABEL]) for one in some[:3]])
            verb = what if len(some) == 1 else _plural(what)
            yield f"{count_of(len(some), 'item')} {verb}: {shown}{', …' * (len(some) > 3)}"


def _plural(what: str) -> str:
    for one, several in (
        ("looks like a missing value", "look like missing values"),
        ("has blanks around it", "have blanks around them"),
        ("has ", "have "),
        ("is ", "are "),
    ):
        if what.startswith(one):
            return several + what.removeprefix(one)
    return what
