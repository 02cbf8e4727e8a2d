"""Verification by the definitions, apart from the algorithms.

Shares no code with `algorithms` or `kernels`: it takes the original, the released rows, the mapping
and the policy, and works out by its own means whether everything holds. A release exists only when
this says so.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from overcoat.data.transactions import Transactions
from overcoat.errors import PolicyError
from overcoat.mapping import Mapping
from overcoat.policy.policy import BoundPolicy, Policy
from overcoat.policy.privacy import BoundAllItemsets, BoundCoherence, BoundItemsets, BoundPgen
from overcoat.verification.differences import differing_rows
from overcoat.verification.native import image_supports, rows_match, weakest_sets
from overcoat.verification.shares import labels_of, too_large_shares

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
    largest_k : the largest k for which all privacy constraints hold; None when any k would do, 0
        when none does: too many people share a private item
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

    def join(self, other: _Findings) -> None:
        """Take over what was found elsewhere, of other kinds."""
        self.listed |= other.listed
        self.counts |= other.counts

    def more(self, kind: Kind, number: int) -> None:
        """Count violations that are not listed."""
        if number:
            self.counts[kind] = self.counts.get(kind, 0) + number

    def say(self, kind: Kind, message: str, **details: Any) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if self.counts[kind] <= LISTED:
            self.listed.setdefault(kind, []).append(Violation(kind, message, **details))


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
    elif policy.vocabulary != data.vocabulary:
        raise PolicyError("the policy was bound to other data")
    findings = _Findings()
    _check_mapping(data, mapping, findings)
    # The two long checks share nothing but the released rows: one on each of two cores.
    with ThreadPoolExecutor(1) as other:
        private = _Findings()
        privacy = other.submit(_check_privacy, data, released, mapping, policy, private)
        _check_rows(data, released, mapping, findings)
        largest_k = privacy.result()
    findings.join(private)
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
    codes = _released_codes(data, released, label_of, absent=-2)
    original = (data.offsets, data.codes, data.counts)
    published = (released.offsets, released.codes, released.counts)
    if rows_match(*original, codes, *published):
        return
    for message, row, support in differing_rows(data, released, mapping):
        findings.say("rows", message, itemset=row, support=support)


def _released_codes(
    data: Transactions, released: Transactions, label_of: dict[str, str], *, absent: int
) -> NDArray[np.int32]:
    """Return the released code of each item's label: -1 if it has none, `absent` if it is gone."""
    labels = (label_of.get(item) for item in data.vocabulary)
    codes = (-1 if label is None else released.vocabulary.get(label) for label in labels)
    return np.array([absent if code is None else code for code in codes], np.int32)


# -- privacy: every itemset matches at least k people, or nobody --------------------------------


def _check_privacy(
    data: Transactions,
    released: Transactions,
    mapping: Mapping,
    policy: BoundPolicy,
    findings: _Findings,
) -> int | None:
    """Check every family; return the largest k for which all of them hold."""
    # A label that should be there and is not is reported with the rows; here it makes an image
    # that nobody supports.
    label_of = {item: label for label, group in mapping.groups.items() for item in group}
    image_of = _released_codes(data, released, label_of, absent=released.n_items)
    limits = []
    for family in policy.families:
        if isinstance(family, BoundPgen):
            weakness = _weakness_of_rows(released, policy.k)
        elif isinstance(family, BoundItemsets):
            weakness = _weakness_of_itemsets(family, released, image_of, policy.k)
        else:
            weakness = _weakness_of_all(family, released, image_of, policy.k)
        least, weak, n_weak = weakness
        if least:
            limits.append(least)
        for support, image in weak:
            labels = tuple(released.vocabulary[label] for label in image)
            shown = "{" + ", ".join(labels) + "}"
            findings.say(
                "privacy",
                f"{shown} is supported by {support}, fewer than k = {policy.k}",
                itemset=labels,
                support=support,
                constraint=family.title,
            )
        findings.more("privacy", n_weak - len(weak))
        if isinstance(family, BoundCoherence) and family.limits_private:
            large, n_large = too_large_shares(family, released, image_of, LISTED)
            for message, image, support in large:
                labels = tuple(released.vocabulary[label] for label in image)
                details = {"itemset": labels, "support": support, "constraint": family.title}
                findings.say("privacy", message, **details)
            findings.more("privacy", n_large - len(large))
            limits += [0] * (n_large > 0)
    return min(limits, default=None)


# Of one family: the largest k it allows (0 when any k), the first sets that fewer than k support,
# with their supports, and how many there are.
Weakness = tuple[int, list[tuple[int, tuple[int, ...]]], int]


def _weakness_of_rows(released: Transactions, k: int) -> Weakness:
    """Look at the released rows: these are what Pgen is about.

    Every part of every transaction is supported by k exactly when each released row is. This holds
    for any k, while the maximal infrequent itemsets of the original, which Pgen protects, depend
    on it.
    """
    table = (released.offsets, released.codes, released.counts)
    supports = image_supports(*table, released.offsets, released.codes, k)
    rows = np.flatnonzero(released.lengths)  # the empty row is nobody's
    weak = rows[supports[rows] < k]
    listed = [(int(supports[row]), tuple(released.row(row).tolist())) for row in weak[:LISTED]]
    return int(supports[rows].min()) if len(rows) else 0, listed, len(weak)


def _weakness_of_itemsets(
    family: BoundItemsets, released: Transactions, image_of: NDArray[np.int32], k: int
) -> Weakness:
    """Look at each distinct image.

    The largest k it allows is its support, or if nobody supports it the least support among its
    parts that somebody supports: these are the subsets of what single rows share with the image.
    """
    absent = released.n_items
    images: dict[tuple[int, ...], None] = {}
    for index in range(family.n_constraints):
        held = set(image_of[family.itemset(index)].tolist()) - {-1}
        if held:
            images[tuple(sorted(held))] = None
    unsupported = [image for image in images if image[-1] == absent]
    supported = [image for image in images if image[-1] != absent]
    limits: list[tuple[int, tuple[int, ...]]] = []
    for image, support in zip(supported, _supports(released, supported, k), strict=True):
        if support:
            limits.append((support, image))
        else:
            unsupported.append(image)
    for image in unsupported:
        shares = _shares(released, [label for label in image if label != absent])
        limits += zip(_supports(released, shares, k), shares, strict=True)
    weak = [(support, image) for support, image in limits if support < k]
    return min((support for support, _ in limits), default=0), weak[:LISTED], len(weak)


def _supports(released: Transactions, images: list[tuple[int, ...]], k: int) -> list[int]:
    ends = np.cumsum([0, *map(len, images)])
    codes = np.array([label for image in images for label in image], np.int32)
    rows = (released.offsets, released.codes, released.counts)
    return [int(support) for support in image_supports(*rows, ends, codes, k)]


def _shares(released: Transactions, image: list[int]) -> list[tuple[int, ...]]:
    """Return what single rows share with an image, each distinct non-empty share once."""
    wanted = np.zeros(released.n_items, bool)
    wanted[image] = True
    rows = np.repeat(np.arange(released.n_distinct), released.lengths)
    inside = wanted[released.codes]
    rows, codes = rows[inside], released.codes[inside]
    ends = np.flatnonzero(np.diff(rows, append=-1)) + 1
    return sorted({tuple(part.tolist()) for part in np.split(codes, ends[:-1]) if len(part)})


def _weakness_of_all(
    family: BoundAllItemsets, released: Transactions, image_of: NDArray[np.int32], k: int
) -> Weakness:
    """Look at the sets of up to m linkable labels that somebody supports.

    Every m-itemset is satisfied for k exactly when each set of at most m linkable labels is
    supported by nobody or by at least k: each such set is part of the image of an m-itemset.
    """
    table = (released.offsets, released.codes, released.counts)
    allowed = labels_of(family.linkable, released, image_of)
    return weakest_sets(*table, allowed, family.largest, k, LISTED)


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
    if 100 * len(gone) > policy.percent * data.n_items:
        percent = 100 * len(gone) / data.n_items
        findings.say(
            "suppression",
            f"{len(gone)} of {data.n_items} items are suppressed ({percent:.4g} %), "
            f"more than s = {policy.max_suppressed:g} %",
            itemset=gone[:LISTED],
        )
    return len(gone)
