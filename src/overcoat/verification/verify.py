"""Verification by the definitions, apart from the algorithms.

Shares no code with `algorithms` or `kernels`: it takes the original, the released rows, the mapping
and the policy, and works out by its own means whether everything holds. A release exists only when
this says so.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET, Stage
from overcoat.data.transactions import Transactions
from overcoat.data.vocabulary import Vocabulary
from overcoat.errors import PolicyError
from overcoat.mapping import Mapping
from overcoat.policy.policy import Demands, Policy
from overcoat.policy.privacy import (
    BoundAllItemsets,
    BoundCoherence,
    BoundFamily,
    BoundItemsets,
    BoundPgen,
)
from overcoat.verification.differences import differing_rows
from overcoat.verification.native import (
    image_supports,
    index_of,
    rows_match,
    weakest_parts,
    weakest_sets,
)
from overcoat.verification.reference import Tell
from overcoat.verification.shares import labels_of, too_large_shares
from overcoat.verification.verdict import LISTED, Findings, Verdict

__all__ = ["check_mapping", "conclude", "verify", "verify_published"]


def verify(
    data: Transactions,
    released: Transactions,
    mapping: Mapping,
    policy: Policy | Demands,
    *,
    stage: Stage = QUIET,
) -> Verdict:
    """Check a release against the original, its mapping and the policy.

    Parameters
    ----------
    data : the original
    released : the released rows, over labels
    mapping : what the release claims to have applied
    policy : what must hold
    stage : told how far this has got, and may end it

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
    findings = Findings()
    check_mapping(data.vocabulary, mapping, findings)
    # The two long checks share nothing but the released rows. Larger sets take all threads.
    checks: list[Callable[[Stage], Findings]] = [
        lambda part: _check_rows(data, released, mapping, part),
        lambda part: _check_privacy(data.vocabulary, released, mapping, policy, part),
    ]
    together = not any(_takes_long(family, released) for family in policy.families)
    for found in stage.side_by_side(checks) if together else [check(stage) for check in checks]:
        findings.join(found)
    return conclude(data.vocabulary, mapping, policy, findings)


def verify_published(
    released: Transactions, mapping: Mapping, policy: Policy, *, stage: Stage = QUIET
) -> Verdict:
    """Check what can be checked without the original: by anyone, from what was published.

    Everything `verify` checks but one: that the released rows are those of the original. The domain
    is what the mapping names.

    >>> from overcoat.policy.privacy import AllItemsets
    >>> mapping = Mapping.of("abc", [["a", "b"]])
    >>> released = Transactions.of([{"(a|b)"}, {"(a|b)"}, set()])
    >>> verify_published(released, mapping, Policy(2, AllItemsets(2), max_suppressed=50)).ok
    True
    """
    longest = int(released.lengths.max(initial=0))
    demands = policy.bind_published(mapping.vocabulary, longest)
    findings = Findings()
    check_mapping(mapping.vocabulary, mapping, findings)
    _check_labels(released, mapping, findings)
    findings.join(_check_privacy(mapping.vocabulary, released, mapping, demands, stage))
    return conclude(mapping.vocabulary, mapping, demands, findings)


def conclude(domain: Vocabulary, mapping: Mapping, policy: Demands, findings: Findings) -> Verdict:
    """Check what takes no counting, and return the verdict on everything."""
    _check_utility(mapping, policy, findings)
    n_suppressed = _check_suppression(domain, mapping, policy, findings)
    return Verdict(
        ok=not findings.counts,
        violations=tuple(v for kind in findings.listed.values() for v in kind),
        n_violations=findings.counts,
        largest_k=min(findings.limits, default=None),
        n_suppressed=n_suppressed,
        suppressed_percent=100 * n_suppressed / max(len(domain), 1),
    )


# -- the mapping is one, and the rows are the image of the data ---------------------------------


def check_mapping(domain: Vocabulary, mapping: Mapping, findings: Findings) -> None:
    """Each item of the domain has exactly one group or none; labels are unmistakable."""
    for item in domain:
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
    data: Transactions, released: Transactions, mapping: Mapping, stage: Stage
) -> Findings:
    """Compare the released rows with the original ones, each item replaced by its label."""
    findings = Findings()
    _check_labels(released, mapping, findings)
    codes = _released_codes(data.vocabulary, released, mapping, absent=-2)
    original = (data.offsets, data.codes, data.counts)
    published = (released.offsets, released.codes, released.counts)
    if not rows_match(*original, codes, *published, stage):
        for message, row, support in differing_rows(data, released, mapping, stage):
            findings.say("rows", message, itemset=row, support=support)
    return findings


def _check_labels(released: Transactions, mapping: Mapping, findings: Findings) -> None:
    """Compare the labels of the release with those of the mapping: there must be no other."""
    known = set(mapping.groups)
    for label in released.vocabulary:
        if label not in known:
            message = f"the release holds {label!r}, which is no label"
            findings.say("rows", message, itemset=(label,))


def _released_codes(
    domain: Vocabulary, released: Transactions, mapping: Mapping, *, absent: int
) -> NDArray[np.int32]:
    """Return the released code of each item's label: -1 if it has none, `absent` if it is gone."""
    label_of = {item: label for label, group in mapping.groups.items() for item in group}
    labels = (label_of.get(item) for item in domain)
    codes = (-1 if label is None else released.vocabulary.get(label) for label in labels)
    return np.array([absent if code is None else code for code in codes], np.int32)


# -- privacy: every itemset matches at least k people, or nobody --------------------------------


def _check_privacy(
    domain: Vocabulary,
    released: Transactions,
    mapping: Mapping,
    policy: Demands,
    stage: Stage,
) -> Findings:
    """Check every family."""
    # A label that should be there and is not is reported with the rows; here it makes an image
    # that nobody supports.
    findings = Findings()
    image_of = _released_codes(domain, released, mapping, absent=released.n_items)
    turns = _Turns(stage, sum(map(_n_turns, policy.families)))
    for family in policy.families:
        turns.take()
        if isinstance(family, BoundPgen):
            weakness = _weakness_of_rows(released, policy.k, turns)
        elif isinstance(family, BoundItemsets):
            weakness = _weakness_of_itemsets(family, released, image_of, policy.k, turns)
        else:
            weakness = _weakness_of_all(family, released, image_of, policy.k, turns)
        least, weak, n_weak = weakness
        if least:
            findings.limits.append(least)
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
            turns.take()
            large, n_large = too_large_shares(family, released, image_of, LISTED, turns)
            for message, image, support in large:
                labels = tuple(released.vocabulary[label] for label in image)
                details = {"itemset": labels, "support": support, "constraint": family.title}
                findings.say("privacy", message, **details)
            findings.more("privacy", n_large - len(large))
            findings.limits += [0] * (n_large > 0)
    return findings


class _Turns(Stage):
    """A stage for pieces of work that take turns: each tells of its own, the stage is told of all.

    >>> from overcoat.context import Context
    >>> class Printing(Stage):
    ...     def __call__(self, done=0, of=0):
    ...         print(done, of)
    >>> turns = _Turns(Printing("verify", Context()), 2)
    >>> turns.take()
    >>> turns(5, 10)
    5 20
    >>> turns.take()
    >>> turns(5, 10)
    15 20
    """

    def __init__(self, stage: Stage, n: int) -> None:
        self._take(stage.name, stage)
        self._stage, self._n, self._turn = stage, n, -1

    def take(self) -> None:
        self._turn += 1

    def __call__(self, done: int = 0, of: int = 0) -> None:
        self._stage(self._turn * of + done, self._n * of)


def _n_turns(family: BoundFamily) -> int:
    if isinstance(family, BoundCoherence):
        return 1 + family.limits_private
    return 2 if isinstance(family, BoundItemsets) and not isinstance(family, BoundPgen) else 1


# Of one family: the largest k it allows (0 when any k), the first sets that fewer than k support,
# with their supports, and how many there are.
Weakness = tuple[int, list[tuple[int, tuple[int, ...]]], int]


def _weakness_of_rows(released: Transactions, k: int, stage: Tell) -> Weakness:
    """Look at the released rows: these are what Pgen is about.

    Every part of every transaction is supported by k exactly when each released row is. This holds
    for any k, while the maximal infrequent itemsets of the original, which Pgen protects, depend
    on it.
    """
    table = (released.offsets, released.codes, released.counts)
    supports = image_supports(*table, released.offsets, released.codes, k, stage)
    rows = np.flatnonzero(released.lengths)  # the empty row is nobody's
    weak = rows[supports[rows] < k]
    listed = [(int(supports[row]), tuple(released.row(row).tolist())) for row in weak[:LISTED]]
    return int(supports[rows].min()) if len(rows) else 0, listed, len(weak)


def _weakness_of_itemsets(
    family: BoundItemsets,
    released: Transactions,
    image_of: NDArray[np.int32],
    k: int,
    turns: _Turns,
) -> Weakness:
    """Look at each distinct image.

    The largest k it allows is its support, or if nobody supports it the least support among its
    parts that somebody supports: these are the subsets of what single rows share with the image.
    """
    absent = released.n_items
    images: dict[tuple[int, ...], None] = {}
    for index in range(family.n_constraints):
        turns(0, 0)
        held = set(image_of[family.itemset(index)].tolist()) - {-1}
        if held:
            images[tuple(sorted(held))] = None
    unsupported = [image[:-1] for image in images if image[-1] == absent]
    whole = [image for image in images if image[-1] != absent]
    table = (released.offsets, released.codes, released.counts)
    supports = image_supports(*table, *_csr(whole), k, turns).tolist()
    limits = []
    for image, support in zip(whole, supports, strict=True):
        if support:
            limits.append((support, image))
        else:
            unsupported.append(image)
    turns.take()
    least, weak, n_weak = weakest_parts(*table, *_csr(unsupported), k, LISTED, turns)
    weak_images = [(support, image) for support, image in limits if support < k]
    return (
        min([support for support, _ in limits] + [least] * (least > 0), default=0),
        [*weak_images, *weak][:LISTED],
        len(weak_images) + n_weak,
    )


def _csr(images: list[tuple[int, ...]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    ends = np.cumsum([0, *map(len, images)], dtype=np.int64)
    codes = itertools.chain.from_iterable(images)
    return ends, np.fromiter(codes, np.int32, int(ends[-1]))


def _weakness_of_all(
    family: BoundAllItemsets,
    released: Transactions,
    image_of: NDArray[np.int32],
    k: int,
    stage: Stage,
) -> Weakness:
    """Look at the sets of up to m linkable labels that somebody supports.

    Every m-itemset is satisfied for k exactly when each set of at most m linkable labels is
    supported by nobody or by at least k: each such set is part of the image of an m-itemset.
    """
    table = (released.offsets, released.codes, released.counts)
    allowed, m = labels_of(family.linkable, released, image_of), family.largest
    if stage.threads < 2 or not _takes_long(family, released):
        return weakest_sets(*table, allowed, m, k, LISTED, stage)
    index = index_of(*table, released.n_items, stage)
    bounds = [released.n_items * part // _PARTS for part in range(_PARTS + 1)]

    def look(part: Stage, labels: tuple[int, int]) -> Weakness:
        return weakest_sets(*table, allowed, m, k, LISTED, part, index=index, labels=labels)

    found = stage.side_by_side([partial(look, labels=some) for some in itertools.pairwise(bounds)])
    return (
        min((least for least, _, _ in found if least), default=0),
        [one for _, weak, _ in found for one in weak][:LISTED],
        sum(n_weak for _, _, n_weak in found),
    )


_PARTS = 64  # of the labels with which sets begin, for threads to share: some take long
_MANY = 1 << 20  # entries of rows


def _takes_long(family: BoundFamily, released: Transactions) -> bool:
    """Say whether looking at a family is worth more than one thread."""
    larger = isinstance(family, BoundAllItemsets) and family.largest > 2
    return larger and len(released.codes) >= _MANY


# -- utility ------------------------------------------------------------------------------------


def _check_utility(mapping: Mapping, policy: Demands, findings: Findings) -> None:
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
    domain: Vocabulary, mapping: Mapping, policy: Demands, findings: Findings
) -> int:
    """At most s percent of the domain is suppressed; return how many items are."""
    kept = {item for members in mapping.members for item in members}
    gone = tuple(item for item in domain if item not in kept)
    if 100 * len(gone) > policy.percent * len(domain):
        percent = 100 * len(gone) / len(domain)
        findings.say(
            "suppression",
            f"{len(gone)} of {len(domain)} items are suppressed ({percent:.4g} %), "
            f"more than s = {policy.max_suppressed:g} %",
            itemset=gone[:LISTED],
        )
    return len(gone)
