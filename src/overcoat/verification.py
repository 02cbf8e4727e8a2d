"""Verification by the definitions, apart from the algorithms.

Shares no code with `algorithms` or `kernels`: it takes the original, the released rows, the mapping
and the policy, and works out by other means (sparse matrix products, set arithmetic) whether
everything holds. A release exists only when this says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from overcoat.data.native import canonical_rows
from overcoat.data.transactions import Transactions
from overcoat.data.vocabulary import item_order
from overcoat.mapping import Mapping
from overcoat.policy.pgen import maximal_rows
from overcoat.policy.policy import BoundPolicy, Policy
from overcoat.policy.privacy import BoundAllItemsets, BoundItemsets, BoundPgen

__all__ = ["Verdict", "Violation", "verify"]

Kind = Literal["mapping", "rows", "privacy", "utility", "suppression"]

# How many violations of each kind a verdict lists; it counts all of them.
LISTED = 20


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that does not hold.

    Attributes
    ----------
    kind : which promise is broken
    message : what is wrong, for people
    itemset : the labels concerned
    support : how many released transactions hold them, where that is the point
    constraint : the family or the utility set concerned
    """

    kind: Kind
    message: str
    itemset: tuple[str, ...] = ()
    support: int | None = None
    constraint: str | None = None


@dataclass(frozen=True)
class Verdict:
    """Whether a release satisfies its policy, and what shows it.

    Attributes
    ----------
    ok : everything holds
    violations : what does not, at most 20 of each kind
    n_violations : how many there are of each kind
    largest_k : the largest k for which all privacy constraints hold; None when any k would do
    n_suppressed, suppressed_percent : items of the domain that are gone
    """

    ok: bool
    violations: tuple[Violation, ...]
    n_violations: dict[str, int]
    largest_k: int | None
    n_suppressed: int
    suppressed_percent: float


@dataclass
class _Findings:
    listed: dict[str, list[Violation]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, kind: Kind, make: Callable[[], Violation]) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if self.counts[kind] <= LISTED:
            self.listed.setdefault(kind, []).append(make())

    def say(self, kind: Kind, message: str, **details: Any) -> None:
        self.add(kind, lambda: Violation(kind, message, **details))


def verify(
    data: Transactions, released: Transactions, mapping: Mapping, policy: Policy | BoundPolicy
) -> Verdict:
    """Check a release against the original, its mapping and the policy.

    Parameters
    ----------
    data : the original
    released : the released rows, over labels
    mapping : what the release claims to have applied
    policy : what must hold

    >>> from overcoat.policy.privacy import AllItemsets
    >>> data = Transactions.of([{"a", "b"}, {"a"}, {"b"}, {"a", "b"}])
    >>> untouched = Mapping.of(data.vocabulary, [["a"], ["b"]])
    >>> policy = Policy(3, (AllItemsets(2),))
    >>> verdict = verify(data, data, untouched, policy)
    >>> verdict.ok, verdict.largest_k, verdict.violations[0].message
    (False, 2, '{a, b} is supported by 2, fewer than k = 3')
    """
    if isinstance(policy, Policy):
        policy = policy.bind(data)
    findings = _Findings()
    _check_mapping(data, mapping, findings)
    _check_rows(data, released, mapping, findings)
    largest_k = _check_privacy(data, released, mapping, policy, findings)
    _check_utility(mapping, policy, findings)
    n_suppressed = _check_suppression(data, mapping, policy, findings)
    return Verdict(
        ok=not findings.counts,
        violations=tuple(v for kind in findings.listed.values() for v in kind),
        n_violations=findings.counts,
        largest_k=largest_k,
        n_suppressed=n_suppressed,
        suppressed_percent=100 * n_suppressed / max(data.n_items, 1),
    )


# -- the mapping is one, and the rows are the image of the data ---------------------------------


def _check_mapping(data: Transactions, mapping: Mapping, findings: _Findings) -> None:
    """Each item of the data has exactly one group or none; labels are unmistakable."""
    for item in data.vocabulary:
        if item not in mapping.vocabulary:
            findings.say("mapping", f"item {item!r} is not in the mapping", itemset=(item,))
    seen: set[str] = set()
    for members in mapping.members:
        for item in members:
            if item in seen:
                findings.say("mapping", f"item {item!r} is in two groups", itemset=(item,))
            seen.add(item)
    if len(set(mapping.labels)) < len(mapping.labels):
        findings.say("mapping", "two groups have the same label")
    for label, members in zip(mapping.labels, mapping.members, strict=True):
        if label in mapping.vocabulary and members != (label,):
            findings.say(
                "mapping",
                f"the label {label!r} is also the name of an item that is not its group",
                itemset=(label,),
            )


def _check_rows(
    data: Transactions, released: Transactions, mapping: Mapping, findings: _Findings
) -> None:
    """Compare the released rows with the original ones, each item replaced by its label."""
    label_of = {item: label for label, group in mapping.groups.items() for item in group}
    known = set(label_of.values())
    for label in released.vocabulary:
        if label not in known:
            message = f"the release holds {label!r}, which is no label"
            findings.say("rows", message, itemset=(label,))
    names = item_order([*known, *released.vocabulary])
    number = {label: code for code, label in enumerate(names)}
    expected = _recoded(data, [number.get(label_of.get(x, ""), -1) for x in data.vocabulary])
    found = _recoded(released, [number[label] for label in released.vocabulary])
    if all(map(np.array_equal, expected, found)):
        return
    wanted, there = _counts_by_row(*expected), _counts_by_row(*found)
    for row in sorted({*wanted, *there}):
        if wanted.get(row, 0) == there.get(row, 0):
            continue
        labels = tuple(names[code] for code in row)
        findings.say(
            "rows",
            f"the row {{{', '.join(labels)}}} is released {_times(there.get(row, 0))}, "
            f"the data give it {_times(wanted.get(row, 0))}",
            itemset=labels,
            support=there.get(row, 0),
        )


def _recoded(transactions: Transactions, numbers: list[int]) -> tuple[NDArray[Any], ...]:
    """Return the distinct rows over new codes (-1 is left out), and how often each occurs."""
    codes = np.array(numbers, np.int32)[transactions.codes]
    kept = codes >= 0
    offsets = np.concatenate([[0], np.cumsum(kept)])[transactions.offsets]
    return canonical_rows(offsets, codes[kept], transactions.counts)[:3]


def _counts_by_row(
    offsets: NDArray[Any], codes: NDArray[Any], counts: NDArray[Any]
) -> dict[tuple[int, ...], int]:
    rows = (tuple(codes[a:b].tolist()) for a, b in pairwise(offsets.tolist()))
    return dict(zip(rows, counts.tolist(), strict=True))


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


# -- privacy: every itemset matches at least k people, or nobody --------------------------------


class _Released:
    """The released rows as a sparse matrix, rows by labels."""

    def __init__(self, released: Transactions) -> None:
        from scipy.sparse import csr_array

        self.labels = released.vocabulary
        self.counts = released.counts
        shape = (released.n_distinct, released.n_items)
        ones = np.ones(len(released.codes), np.int64)
        self.rows = csr_array((ones, released.codes, released.offsets), shape=shape)
        columns = self.rows.tocsc()
        self.holders = np.split(columns.indices, columns.indptr[1:-1]) if shape[1] else []

    def holding(self, image: tuple[int, ...]) -> NDArray[Any]:
        """Return the rows that hold all labels of an image, rarest label first."""
        holders = sorted((self.holders[label] for label in image), key=len)
        rows = holders[0]
        for more in holders[1:]:
            rows = rows[np.isin(rows, more, assume_unique=True, kind="table")]
        return rows

    def support(self, image: tuple[int, ...]) -> int:
        return int(self.counts[self.holding(image)].sum())


def _check_privacy(
    data: Transactions,
    released: Transactions,
    mapping: Mapping,
    policy: BoundPolicy,
    findings: _Findings,
) -> int | None:
    """Check every family; return the largest k for which all of them hold."""
    rows = _Released(released)
    # The released label of each item; -1 when it is suppressed. A label that should be there and
    # is not is reported with the rows; here it makes an image that nobody supports.
    label_of = {item: label for label, group in mapping.groups.items() for item in group}
    absent = released.n_items
    image_of = np.array(
        [
            -1
            if (label := label_of.get(item)) is None
            else absent
            if (code := released.vocabulary.get(label)) is None
            else code
            for item in data.vocabulary
        ],
        np.int64,
    )
    largest: int | None = None
    for family in policy.families:
        if isinstance(family, BoundPgen):
            weakest = _weakest_of_rows(released)
        elif isinstance(family, BoundItemsets):
            weakest = _weakest_of_itemsets(family, rows, image_of, absent)
        else:
            weakest = _weakest_of_all(family, rows, image_of, absent, policy.k)
        for support, image in weakest:
            largest = support if largest is None else min(largest, support)
            if support < policy.k:
                labels = tuple(rows.labels[label] for label in image)
                shown = "{" + ", ".join(labels) + "}"
                findings.say(
                    "privacy",
                    f"{shown} is supported by {support}, fewer than k = {policy.k}",
                    itemset=labels,
                    support=support,
                    constraint=family.title,
                )
    return largest


Weakest = Iterator[tuple[int, tuple[int, ...]]]


def _weakest_of_rows(released: Transactions) -> Weakest:
    """Yield the released rows that no other contains, with their support: what Pgen is about.

    Every part of every transaction is supported by k exactly when each released row is, and a row
    that another contains is supported by whoever supports that one. This holds for any k, while
    the maximal infrequent itemsets of the original, which Pgen protects, depend on it.
    """
    for row in maximal_rows(released).tolist():
        yield int(released.counts[row]), tuple(released.row(row).tolist())


def _weakest_of_itemsets(
    family: BoundItemsets, rows: _Released, image_of: NDArray[np.int64], absent: int
) -> Weakest:
    """Yield, for each distinct image, the largest k it allows and the part that sets it.

    That k is the support of the image, or if nobody supports it the least support among the parts
    that somebody supports: these are the subsets of what single rows share with the image.
    """
    images: dict[tuple[int, ...], None] = {}
    for index in range(family.n_constraints):
        held = set(image_of[family.itemset(index)].tolist()) - {-1}
        images[tuple(sorted(held))] = None
    for image in images:
        present = tuple(label for label in image if label != absent)
        if not present:
            continue
        if len(present) == len(image) and (support := rows.support(image)):
            yield support, image
            continue
        some = np.unique(np.concatenate([rows.holders[label] for label in present]))
        table = rows.rows[some][:, list(present)].toarray().astype(bool)
        shares = {
            tuple(label for label, held in zip(present, row, strict=True) if held)
            for row in np.unique(table, axis=0).tolist()
        }
        yield min((rows.support(share), share) for share in shares if share)


def _weakest_of_all(
    family: BoundAllItemsets, rows: _Released, image_of: NDArray[np.int64], absent: int, k: int
) -> Weakest:
    """Yield the least supported of the sets of up to m linkable labels that somebody supports.

    Every m-itemset is satisfied for k exactly when each set of at most m linkable labels is
    supported by nobody or by at least k: each such set is part of the image of an m-itemset.
    """
    linkable = np.unique(image_of[family.linkable])
    linkable = linkable[(linkable >= 0) & (linkable != absent)]
    if not len(linkable) or family.m == 0:
        return
    matrix = rows.rows[:, linkable]
    yield from _weakest_sets(matrix, rows.counts, linkable, (), family.m, k)


def _weakest_sets(
    matrix: Any,
    counts: NDArray[np.int64],
    labels: NDArray[np.int64],
    prefix: tuple[int, ...],
    m: int,
    k: int,
) -> Weakest:
    """Yield sets of the prefix and up to m more labels, in the rows that hold the prefix.

    Of each matrix product, the least supported set and every one that fewer than k support.
    """
    supports = counts @ matrix  # (labels,)
    supported = np.flatnonzero(supports)
    for place in _weakest_places(supports[supported], k):
        column = supported[place]
        yield int(supports[column]), (*prefix, int(labels[column]))
    if m == 2:
        weighted = matrix.multiply(counts[:, None]).tocsr()
        pairs = (matrix.T @ weighted).tocoo()  # (labels, labels): support of each pair
        upper = pairs.row < pairs.col
        support, one, other = pairs.data[upper], pairs.row[upper], pairs.col[upper]
        for place in _weakest_places(support, k):
            pair = int(labels[one[place]]), int(labels[other[place]])
            yield int(support[place]), (*prefix, *pair)
    elif m > 2:
        columns = matrix.tocsc()
        for column in supported.tolist():
            held = columns.indices[columns.indptr[column] : columns.indptr[column + 1]]
            inside = matrix[held][:, column + 1 :]
            some = np.flatnonzero(np.diff(inside.tocsc().indptr))
            yield from _weakest_sets(
                inside[:, some],
                counts[held],
                labels[column + 1 :][some],
                (*prefix, int(labels[column])),
                m - 1,
                k,
            )


def _weakest_places(supports: NDArray[Any], k: int) -> NDArray[np.int64]:
    """Return where supports are below k; where the least is, if none is."""
    below = np.flatnonzero(supports < k)
    return below if len(below) or not len(supports) else np.array([supports.argmin()])


# -- utility ------------------------------------------------------------------------------------


def _check_utility(mapping: Mapping, policy: BoundPolicy, findings: _Findings) -> None:
    """Every group lies inside one block."""
    utility = policy.utility
    for label, members in mapping.groups.items():
        codes = [code for item in members if (code := policy.vocabulary.get(item)) is not None]
        blocks = sorted({int(utility.block_of[code]) for code in codes})
        if len(blocks) > 1:
            names = [
                utility.named[block].name if block < len(utility.named) else "the rest"
                for block in blocks
            ]
            findings.say(
                "utility",
                f"the group {label} reaches across {', '.join(dict.fromkeys(names))}",
                itemset=members,
                constraint=names[0],
            )


def _check_suppression(
    data: Transactions, mapping: Mapping, policy: BoundPolicy, findings: _Findings
) -> int:
    """At most s percent of the domain is suppressed; return how many items are."""
    kept = {item for members in mapping.members for item in members}
    gone = tuple(item for item in data.vocabulary if item not in kept)
    if 100 * len(gone) > Fraction(str(policy.max_suppressed)) * data.n_items:
        percent = 100 * len(gone) / data.n_items
        findings.say(
            "suppression",
            f"{len(gone)} of {data.n_items} items are suppressed ({percent:.4g} %), "
            f"more than s = {policy.max_suppressed:g} %",
            itemset=gone[:LISTED],
        )
    return len(gone)
