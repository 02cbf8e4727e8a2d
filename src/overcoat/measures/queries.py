"""COUNT queries: how far the answers from a release are from the truth (paper, section 6.1).

A query is a set of items and asks how many transactions hold all of them. Its relative error is
|a - e| / a, a being its support in the original and e the estimate from the release; that is
undefined for a = 0, so a workload has only queries that somebody matches.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from overcoat.checks import check_choice, check_count
from overcoat.context import QUIET, Stage
from overcoat.data.holders import Holders
from overcoat.data.io import read
from overcoat.data.transactions import Transactions
from overcoat.data.vocabulary import Vocabulary
from overcoat.errors import PolicyError, Problem
from overcoat.mapping import Mapping
from overcoat.measures.estimates import count_supports, estimate_supports
from overcoat.policy.binding import Domain, Lint
from overcoat.policy.sets import Sets

__all__ = [
    "Answers",
    "By",
    "Workload",
    "answer",
    "draw_workload",
    "draw_workloads",
    "largest_query",
]

By = Literal["items", "occurrences"]
Rows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]  # offsets, codes, counts


@dataclass(frozen=True, eq=False, repr=False)
class Workload:
    """Queries over the items of one domain, immutable.

    Attributes
    ----------
    vocabulary : the domain
    offsets : int64, (n + 1,); query i is ``codes[offsets[i]:offsets[i + 1]]``
    codes : int32, ascending in each query
    title : what kind of queries these are, for people
    n_dropped : how many queries of the user's were left out because nobody matches them
    notes : what the user should know about them

    >>> data = Transactions.of([{"a", "b"}, {"a"}, {"c"}])
    >>> workload = Workload.of(data, [["b", "a"], ["b", "c"]])
    >>> list(workload), workload.n_dropped
    ([('a', 'b')], 1)
    """

    vocabulary: Vocabulary
    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]
    title: str
    n_dropped: int = 0
    notes: tuple[Problem, ...] = ()

    def __post_init__(self) -> None:
        if problem := _misfit(self.vocabulary, self.offsets, self.codes):
            raise PolicyError(f"this is no workload: {problem}; Workload.of takes sets of items")
        self.offsets.flags.writeable = self.codes.flags.writeable = False

    @classmethod
    def of(
        cls,
        data: Any,
        queries: Any,
        *,
        known: Iterable[str] = (),
        title: str = "your own",
    ) -> Workload:
        """Take queries: an iterable of sets of items, or a mapping from names to them.

        An item that neither occurs nor is `known` is an error. Queries that nobody matches are
        left out.
        """
        data, lint = read(data), Lint()
        sets = Sets.of(queries)
        # Read against all known items: a query that names an absent one must go as a whole.
        domain = replace(Domain.of(data), vocabulary=Vocabulary([*data.vocabulary, *known]))
        found = [query.items for query in sets.resolve(domain, lint)]
        lint.raise_errors()
        code = data.vocabulary.get
        coded = [[code(item) for item in items] for items in found]
        occurring = [sorted(query) for query in coded if None not in query]
        lengths = np.array([len(query) for query in occurring], np.int64)
        codes = np.array([item for query in occurring for item in query], np.int32)
        matched = count_supports(data, _ends(lengths), codes) > 0
        if not matched.any():
            raise PolicyError("nobody matches any of the queries: they have no error", sets.file)
        n_dropped = len(found) - int(matched.sum())
        if n_dropped:
            several = (
                "queries that nobody matches are"
                if n_dropped > 1
                else ("query that nobody matches is")
            )
            lint.notes.append(
                Problem(f"{n_dropped} {several} left out: no error is defined there", sets.file)
            )
        return cls(
            data.vocabulary,
            _ends(lengths[matched]),
            codes[np.repeat(matched, lengths)],
            title,
            n_dropped,
            tuple(lint.notes),
        )

    @classmethod
    def read(
        cls,
        path: str | Path,
        data: Any,
        *,
        sep: str | None = "",
        known: Iterable[str] = (),
    ) -> Workload:
        """Read a file of queries, which looks like a constraint file.

        Parameters
        ----------
        path : one query a line, or `.json`, a list of lists (or name -> list)
        data : what they ask about
        sep : what splits items on a line; None is white space; "" takes that of the data
        known : further items that they may name; see `of`
        """
        return cls.of(data, Sets.read(path, sep=sep), known=known, title=str(path))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        labels = self.vocabulary.labels
        for start, stop in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True):
            yield tuple(labels[code] for code in self.codes[start:stop].tolist())

    def __repr__(self) -> str:
        return f"Workload({len(self):,} queries: {self.title})"


@dataclass(frozen=True, eq=False, repr=False)
class Answers:
    """What a release answers to a workload.

    Attributes
    ----------
    workload : the queries
    actual : a, the support of each in the original; int64, (n,)
    estimate : e, the estimate from the release; float64, (n,)
    """

    workload: Workload
    actual: NDArray[np.int64]
    estimate: NDArray[np.float64]

    @cached_property
    def relative_errors(self) -> NDArray[np.float64]:
        """RE of each query: |a - e| / a."""
        return np.asarray(np.abs(self.actual - self.estimate) / self.actual)

    @cached_property
    def avg_re(self) -> float:
        """AvgRE, the mean of the relative errors."""
        # fsum is exact, so the mean does not depend on how a machine adds up.
        return math.fsum(self.relative_errors.tolist()) / len(self.actual)

    @cached_property
    def median_re(self) -> float:
        """The median of the relative errors: half of the answers are no further off."""
        return float(np.median(self.relative_errors))

    def __repr__(self) -> str:
        return f"Answers({len(self.workload):,} queries, AvgRE {self.avg_re:.4g})"


def answer(
    workload: Workload,
    data: Transactions,
    released: Transactions,
    mapping: Mapping,
    *,
    stage: Stage = QUIET,
) -> Answers:
    """Answer every query of a workload from a release, and hold it against the original.

    >>> data = Transactions.of([{"a", "b"}, {"a"}, {"b"}, {"c"}])
    >>> mapping = Mapping.of("abc", [["a", "b"], ["c"]])
    >>> workload = Workload.of(data, [["a", "b"], ["c"]])
    >>> answers = answer(workload, data, mapping.apply(data), mapping)
    >>> answers.actual.tolist(), answers.estimate.round(3).tolist(), round(answers.avg_re, 3)
    ([1, 1], [1.333, 1.0], 0.167)
    """
    if workload.vocabulary != data.vocabulary:
        raise PolicyError("the workload was made for other data: it has another domain")
    sets = workload.offsets, workload.codes
    return Answers(
        workload,
        count_supports(data, *sets, stage=stage),
        estimate_supports(data, released, mapping, *sets, stage=stage),
    )


def largest_query(data: Transactions, among: Iterable[str] | None = None) -> int:
    """Return the largest size of a query over allowed items that somebody matches.

    >>> largest_query(Transactions.of([{"a", "b"}, {"c"}]))
    2
    """
    return int(_n_allowed(data, _mask(data, among)).max(initial=0))


def draw_workload(
    data: Any,
    q: int,
    n: int = 1000,
    seed: int = 0,
    among: Iterable[str] | None = None,
    by: By = "items",
    *,
    stage: Stage = QUIET,
    **options: Any,
) -> Workload:
    """Draw `n` queries of `q` different items, each of which somebody matches.

    Queries are drawn independently of each other, so one can come twice. Only transactions with at
    least q allowed items take part, because only they match a query. Then

    - by ``items``: the first item is drawn uniformly from the allowed items, each further one
      uniformly from the allowed items that occur together with all those drawn so far. Rare and
      common items come alike;
    - by ``occurrences``: a transaction is drawn uniformly, then q of its allowed items. What is
      common comes often.

    Parameters
    ----------
    data : the original; `Transactions`, or anything `read` takes, with its options
    q, n : size and number of the queries
    seed : of PCG64; the same seed gives the same queries on every machine
    among : the items that are allowed, such as `Mapping.generalized`; by default all
    by : the law
    stage : may end the drawing

    Raises
    ------
    PolicyError : no transaction has q allowed items

    >>> data = Transactions.of([{"a", "b"}, {"b", "c"}, {"d"}])
    >>> sorted(set(draw_workload(data, q=2, n=20)))
    [('a', 'b'), ('b', 'c')]
    """
    q, n, seed = check_count("q", q, 1), check_count("n", n, 1), check_count("seed", seed, 0)
    check_choice("by", by, get_args(By))
    data, mask = read(data, **options), None
    if among is not None:
        mask = _mask(data, among)
    if (largest := int(_n_allowed(data, mask).max(initial=0))) < q:
        raise PolicyError(
            f"no query of {q} items can be drawn: no transaction has more than {largest} of the "
            "items to ask about; ask for smaller queries, or among all items"
        )
    rows = _long_rows(data, mask, q)
    rng = np.random.Generator(np.random.PCG64(seed))
    drawn = (_by_items if by == "items" else _by_occurrences)(rows, q, n, rng, stage)
    over = "" if mask is None else f" among {int(mask.sum()):,}"
    return Workload(
        data.vocabulary,
        np.arange(n + 1, dtype=np.int64) * q,
        np.sort(drawn, axis=1).astype(np.int32).ravel(),
        f"{q} item{'s' * (q > 1)}{over}, drawn by {by}",
    )


def draw_workloads(
    data: Transactions,
    sizes: Iterable[int] | None = None,
    n: int = 1000,
    seed: int = 0,
    among: Iterable[str] | None = None,
    by: By = "items",
    *,
    stage: Stage = QUIET,
) -> tuple[Workload, ...]:
    """Draw a workload for each size; by default 1, 2 and 3, as far as anybody matches these.

    >>> [workload.title for workload in draw_workloads(Transactions.of([{"a", "b"}]))]
    ['1 item, drawn by items', '2 items, drawn by items']
    """
    among = None if among is None else tuple(among)
    if sizes is None:
        sizes = range(1, min(largest_query(data, among), 3) + 1)
    return tuple(draw_workload(data, q, n, seed, among, by, stage=stage) for q in sizes)


def _misfit(vocabulary: Vocabulary, offsets: Any, codes: Any) -> str | None:
    """Say what keeps arrays from being queries over the items of a domain."""
    for name, array in (("offsets", offsets), ("codes", codes)):
        if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind != "i":
            return f"{name} must be a one-dimensional array of integers"
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(codes):
        return "offsets must start at 0 and end at the number of codes"
    if not (np.diff(offsets) > 0).all():
        return "offsets must rise: a query has at least one item"
    if not ((codes >= 0) & (codes < len(vocabulary))).all():
        return f"codes must be those of the domain, from 0 to {len(vocabulary) - 1}"
    rises = np.diff(codes) > 0
    rises[offsets[1:-1] - 1] = True  # from one query to the next
    if not rises.all():
        return "codes must rise in each query"
    return None


def _mask(data: Transactions, among: Iterable[str] | None) -> NDArray[np.bool_] | None:
    """Return which items may be asked about; (M,). None: all of them."""
    if among is None:
        return None
    if isinstance(among, (str, bytes)) or not isinstance(among, Iterable):
        raise PolicyError(f"among must list the items to ask about, not {among!r}")
    mask = np.zeros(data.n_items, bool)
    for item in among:
        if (code := data.vocabulary.get(item)) is not None:
            mask[code] = True
    return mask


def _n_allowed(data: Transactions, among: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    """Return how many allowed items each distinct row has."""
    if among is None:
        return data.lengths
    return np.diff(_ends(among[data.codes].astype(np.int64))[data.offsets])


def _long_rows(data: Transactions, among: NDArray[np.bool_] | None, q: int) -> Rows:
    """Return the rows that have at least q allowed items, these items only, and their counts."""
    lengths = _n_allowed(data, among)
    long = lengths >= q
    kept = np.repeat(long, data.lengths)
    if among is not None:
        kept &= among[data.codes]
    return _ends(lengths[long]), data.codes[kept], data.counts[long]


def _by_items(
    rows: Rows, q: int, n: int, rng: np.random.Generator, stage: Stage
) -> NDArray[np.int64]:
    """Draw item after item. Every row is long enough, so there is always one more to draw."""
    offsets, codes, _ = rows
    draws = rng.random((n, q))  # each query has its own, in whatever order they are worked on
    items = np.flatnonzero(np.bincount(codes))
    drawn = np.empty((n, q), np.int64)
    drawn[:, 0] = items[_choose(draws[:, 0], len(items))]
    if q == 1:
        return drawn
    n_items = int(items[-1]) + 1
    holders = Holders(offsets, codes, n_items)
    last = -1
    for query in np.argsort(drawn[:, 0], kind="stable"):  # those with one first item share its rows
        stage()
        if drawn[query, 0] != last:
            last = drawn[query, 0]
            of_first = holders.entries(holders.rows_with(last))
            beside_first = np.bincount(of_first[1], minlength=n_items) > 0
        (places, held), beside = of_first, beside_first.copy()
        for step in range(1, q):
            if step > 1:
                places, held = holders.entries(places[held == drawn[query, step - 1]])
                beside = np.bincount(held, minlength=n_items) > 0
            beside[drawn[query, :step]] = False
            further = np.flatnonzero(beside)
            drawn[query, step] = further[_choose(draws[query, step], len(further))]
    return drawn


def _by_occurrences(
    rows: Rows, q: int, n: int, rng: np.random.Generator, stage: Stage
) -> NDArray[np.int64]:
    """Draw transactions, then items of theirs."""
    offsets, codes, counts = rows
    draws = rng.random((n, q + 1))
    ends = np.cumsum(counts)
    chosen = np.searchsorted(ends, _choose(draws[:, 0], int(ends[-1])), side="right")
    drawn = np.empty((n, q), np.int64)
    for query, row in enumerate(chosen.tolist()):
        stage(query, n)
        left = codes[offsets[row] : offsets[row + 1]].tolist()
        for step in range(q):
            drawn[query, step] = left.pop(int(_choose(draws[query, step + 1], len(left))))
    return drawn


def _choose(draw: Any, n: int) -> NDArray[np.int64]:
    """Turn draws from [0, 1) into places below n; the product can round up to n."""
    places: NDArray[np.int64] = np.minimum(np.asarray(draw) * n, n - 1).astype(np.int64)
    return places


def _ends(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return offsets from lengths."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
