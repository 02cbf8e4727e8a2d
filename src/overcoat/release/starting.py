"""Going on from an earlier release: may it be, what comes out of it, and what has moved.

The mapping of a new month has the items of both months. Whoever had an item last month has a right
to its group next month, even if nobody has the item this month: were it forgotten, it could come
back exactly. Nor does the mapping say which items do not occur any more, for that would tell the
others of their groups apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from overcoat.data.transactions import Transactions
from overcoat.data.vocabulary import Vocabulary
from overcoat.errors import MappingError, Problem, VerificationError
from overcoat.mapping import Mapping
from overcoat.partition import Partition
from overcoat.policy.binding import Domain, Lint
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.utility import BoundUtility
from overcoat.words import count_of, listed

__all__ = ["Moved", "check_start", "go_on", "moved"]


def check_start(start: Mapping, data: Transactions, policy: BoundPolicy) -> None:
    """Raise unless a mapping can be gone on from for these data and this policy."""
    new = [item for item in data.vocabulary if item not in start.vocabulary]
    if new and {*new} <= {*start.labels}:
        raise MappingError(
            "these data hold labels of the mapping, not items: they look like a release; give the "
            "original",
            start.file,
        )
    if len(new) == data.n_items and data.n_items:
        raise MappingError(
            "knows none of the items of these data: it is the mapping of something else", start.file
        )
    if problems := list(_across(start, data, policy)):
        raise MappingError(problems)


def _across(start: Mapping, data: Transactions, policy: BoundPolicy) -> Iterator[Problem]:
    """Say which groups of a mapping lie in several utility sets."""
    vocabulary, utility = _widened(start, data, policy)
    for label, members in start.groups.items():
        sample: dict[int, str] = {}  # an item of the group for each block
        for item in members:
            if (code := vocabulary.get(item)) is not None:
                sample.setdefault(int(utility.block_of[code]), item)
        if len(sample) > 1:
            named = len(utility.named)
            parts = [
                f"{item} is in {utility.named[block].name if block < named else 'the rest'}"
                for block, item in sorted(sample.items())
            ]
            what = f"the group {label!r} reaches across utility sets ({', '.join(parts)})"
            if min(sample) >= named:
                what = f"the group {label!r} is of items that are to be left alone (rest: intact)"
            yield Problem(
                f"{what}: its items cannot be taken apart again; join these sets, or leave the "
                "start out",
                start.file,
                many="groups reach across the utility sets, and cannot be taken apart again",
                what=repr(label),
            )


def _widened(
    start: Mapping, data: Transactions, policy: BoundPolicy
) -> tuple[Vocabulary, BoundUtility]:
    """Return the utility sets over the items of both months; over those that occur, if they fail.

    A set may name an item that the mapping knows and that does not occur now.
    """
    both, of = Vocabulary([*start.vocabulary, *data.vocabulary]), Domain.of(data)
    lint = Lint()
    known, lenient = policy.stated.known, policy.stated.ignore_unknown
    domain = Domain(both, of.longest, of.sep, known, lenient)
    found = lint.attempt(lambda: policy.stated.utility.bind(domain, lint), policy.utility)
    return (data.vocabulary, policy.utility) if lint.errors else (both, found)


def go_on(
    start: Mapping, vocabulary: Vocabulary, partition: Partition, names: list[str | None]
) -> Mapping:
    """Return the mapping over the items of both months that a partition of this month's comes to.

    Groups that have not changed keep their labels. An item that does not occur any more is where
    the rest of its group is.

    Parameters
    ----------
    start : the earlier mapping
    vocabulary, partition : what was found for the items that occur
    names : of the groups of the partition, None where they have none

    >>> start = Mapping.of("abcd", [["a", "b"], ["c", "d"]])
    >>> now = go_on(start, Vocabulary("ace"), Partition([0, 1, 1]), [None, None])
    >>> dict(now)
    {'a': '(a|b)', 'b': '(a|b)', 'c': '(c|d|e)', 'd': '(c|d|e)', 'e': '(c|d|e)'}
    """
    both = Vocabulary([*start.vocabulary, *vocabulary])
    n_now = partition.n_items
    found = np.empty(len(both), np.int64)
    for item in both:
        known = start.vocabulary.get(item)
        group = -1 if known is None else int(start.partition.group_of[known])
        found[both.code(item)] = group if group < 0 else n_now + group
    # The groups of this month, and with each of them what they hold of those of the earlier one.
    home: dict[int, int] = {}
    for code, item in enumerate(vocabulary):
        group, before = int(partition.group_of[code]), int(found[both.code(item)])
        if before >= 0 and home.setdefault(before, group) != group:
            raise VerificationError(f"the method has split the group {start[item]!r} of the start")
        if before < 0 <= group and item in start.vocabulary:
            raise VerificationError(
                f"the method has brought back {item!r}, which the start suppresses"
            )
        found[both.code(item)] = group
    found = np.array([home.get(group, group) for group in found.tolist()], np.int64)
    named = dict(zip(partition.firsts.tolist(), names, strict=True))
    whole = Partition(found)
    names = [named.get(int(found[first])) for first in whole.firsts.tolist()]
    return Mapping.over(both, whole, names, earlier=start)


@dataclass(frozen=True)
class Moved:
    """What has changed since an earlier release.

    Attributes
    ----------
    start : the file of the earlier mapping, if it was one
    kept : how many of its groups, items told by themselves included, are as they were
    grew : the label of each group of two or more that has grown, and its label now
    joined : items that were told by themselves, and the label of the group they are in now
    new : items that the earlier mapping does not know, with their label now; None if suppressed
    suppressed : items that were not suppressed, and are now
    absent : how many items of the earlier mapping do not occur any more
    split : groups that are in several groups now; verified to be none
    """

    start: str | None
    kept: int
    grew: dict[str, str]
    joined: dict[str, str]
    new: dict[str, str | None]
    suppressed: tuple[str, ...]
    absent: int
    split: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return {
            "start": self.start,
            "kept": self.kept,
            "grew": self.grew,
            "joined": self.joined,
            "new": self.new,
            "suppressed": list(self.suppressed),
            "absent": self.absent,
            "split": list(self.split),
        }

    def __str__(self) -> str:
        """Render in a few words."""
        placed = [item for item, label in self.new.items() if label not in (item, None)]
        alone = [item for item, label in self.new.items() if label == item]
        gone = [item for item, label in self.new.items() if label is None]
        new = [
            *([f"{len(placed)} placed"] if placed else []),
            *([f"{len(alone)} as {'it is' if len(alone) == 1 else 'they are'}"] if alone else []),
            *([f"{len(gone)} suppressed"] if gone else []),
        ]
        said = [
            f"{count_of(len(self.grew), 'group')} grew",
            *(
                [f"{count_of(len(self.joined), 'untouched item')} now in a group"]
                if self.joined
                else []
            ),
            f"{count_of(len(self.new), 'new item')}" + (f" ({', '.join(new)})" if new else ""),
            *([f"now suppressed: {listed(self.suppressed)}"] if self.suppressed else []),
            f"{len(self.split)} split",
        ]
        return "; ".join(said)


def moved(start: Mapping, now: Mapping, data: Transactions) -> Moved:
    """Return what has changed between two mappings.

    >>> start = Mapping.of("abc", [["a", "b"], ["c"]])
    >>> now = Mapping.of("abcd", [["a", "b", "d"], ["c"]])
    >>> print(moved(start, now, Transactions.of([set("acd")])))
    1 group grew; 1 new item (1 placed); 0 split
    """
    groups = now.groups
    kept, split = 0, []
    grew: dict[str, str] = {}
    joined: dict[str, str] = {}
    gone: list[str] = []
    for label, members in start.groups.items():
        labels = {now[item] for item in members}
        if len(labels) > 1:
            split.append(label)
            continue
        (after,) = labels
        if after is None:
            gone += members
        elif len(groups[after]) == len(members):
            kept += 1
        elif len(members) > 1:
            grew[label] = after
        else:
            joined[members[0]] = after
    return Moved(
        start=start.file,
        kept=kept,
        grew=grew,
        joined=joined,
        new={item: now[item] for item in data.vocabulary if item not in start.vocabulary},
        suppressed=tuple(gone),
        absent=sum(item not in data.vocabulary for item in start.vocabulary),
        split=tuple(split),
    )
