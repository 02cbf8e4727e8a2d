"""Why an item was merged or suppressed: the constraints behind it, and what else was possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from overcoat.context import QUIET, Stage
from overcoat.errors import PolicyError
from overcoat.loss.ul import UtilityLoss
from overcoat.partition import Partition
from overcoat.policy.sets import near_items
from overcoat.release.result import Result
from overcoat.words import count_of, listed, people

__all__ = ["Alternative", "Explanation", "Reason", "explain"]

_ALTERNATIVES = 3


@dataclass(frozen=True)
class Alternative:
    """A partner that would have come next.

    Attributes
    ----------
    partner : its items
    people : how many people hold the union
    log2_loss : of the union
    """

    partner: tuple[str, ...]
    people: int
    log2_loss: float


@dataclass(frozen=True)
class Reason:
    """One step that touched the item.

    Attributes
    ----------
    action : what was done
    group : the items of the group that had to grow, or to go
    partner : what it was merged with; the item is in one of the two
    constraint : the itemset that asked for it
    matched : how many people its labels matched at that time, too few of them
    people : how many people hold the union, or what was suppressed
    log2_loss : of the union, or of the suppression
    alternatives : other partners, the cheapest first; none for a suppression, which is the last
        resort
    """

    action: Literal["merge", "suppress"]
    group: tuple[str, ...]
    partner: tuple[str, ...]
    constraint: tuple[str, ...]
    matched: int
    people: int
    log2_loss: float
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True)
class Explanation:
    """What became of an item, and why.

    Attributes
    ----------
    item : the item
    label : what it is published as; None where it is suppressed
    people : how many people have it
    reasons : the steps that touched it, in order
    """

    item: str
    label: str | None
    people: int
    reasons: tuple[Reason, ...]

    def __str__(self) -> str:
        """Render in words."""
        lines = [f"{self.item}: {people(self.people)}"]
        if self.label is None:
            lines[0] += "; suppressed"
        elif self.label == self.item:
            lines[0] += "; published as it is"
        else:
            lines[0] += f"; published as {self.label}"
        if not self.reasons:
            lines.append("  no constraint asked for anything else")
        for number, one in enumerate(self.reasons, 1):
            held = "nobody whole" if not one.matched else f"only {people(one.matched)}"
            lines.append(f"  {number}. {{{', '.join(one.constraint)}}} matched {held}:")
            if one.action == "suppress":
                lines.append(
                    f"     {_called(one.group)} could not be merged with anything any more, and "
                    "was suppressed"
                )
                continue
            size = len(one.group)
            cost = _cost(size + len(one.partner), one.people, one.log2_loss)
            lines.append(
                f"     {_called(one.group)} was merged with {_called(one.partner)}: {cost}"
            )
            for other in one.alternatives:
                cost = _cost(size + len(other.partner), other.people, other.log2_loss)
                lines.append(f"       next: {_called(other.partner)}: {cost}")
        return "\n".join(lines)


def _cost(size: int, holders: int, log2_loss: float) -> str:
    """Return what a group costs, in people before any logarithm."""
    return f"{people(holders)} told as one of {count_of(size, 'item')} (log2 UL {log2_loss:.2f})"


def _called(items: tuple[str, ...]) -> str:
    return items[0] if len(items) == 1 else "{" + listed(items) + "}"


def explain(result: Result, item: str, *, stage: Stage = QUIET) -> Explanation:
    """Return why an item became what it is published as.

    >>> from overcoat.policy.privacy import AllItemsets
    >>> from overcoat.release.public import anonymize
    >>> rows = [{"a", "b"}, {"a", "c"}, {"a"}, {"a"}, {"b"}]
    >>> print(explain(anonymize(rows, 2, AllItemsets(2)), "c"))
    c: 1 person; published as (b|c)
      1. {c} matched only 1 person:
         c was merged with b: 3 people told as one of 2 items (log2 UL -1.96)
           next: a: 4 people told as one of 2 items (log2 UL -1.54)
    """
    data, outcome = result.data, result._outcome
    if item not in data.vocabulary:
        near = near_items(item, data.vocabulary)
        raise PolicyError(f"item {item!r} does not occur in the data{near}")
    if outcome is None:
        raise PolicyError("a mapping that was found earlier comes without its reasons")
    code = data.vocabulary.code(item)
    loss = UtilityLoss(data, result.policy.weights, result.policy.penalties)
    labels = data.vocabulary.labels
    block_of = result.policy.utility.block_of
    start = outcome.start or Partition.untouched(data.n_items)
    groups = {int(group[0]): tuple(group.tolist()) for group in start.groups}
    home = start.group_of.copy()  # the group of each item; -1 once it is suppressed
    reasons = []
    for step, group, partner in outcome.replay():
        stage()
        if code in group or code in partner:
            alternatives: list[tuple[float, tuple[int, ...], int]] = []
            if step.action == "merge":
                for first, members in groups.items():
                    stage()
                    if first in (min(group), min(partner)) or block_of[first] != block_of[group[0]]:
                        continue
                    union = np.array(sorted(group + members), np.int32)
                    holders = loss.support(union)
                    cost = loss.log2_of_group(union, holders)
                    alternatives.append((cost, members, holders))
                alternatives.sort()
            union = np.array(sorted(group + partner), np.int32)
            image = {int(home[one]) for one in step.constraint} - {-1}
            reasons.append(
                Reason(
                    step.action,
                    tuple(labels[one] for one in group),
                    tuple(labels[one] for one in partner),
                    tuple(labels[one] for one in step.constraint),
                    _matched(result, [groups[first] for first in sorted(image)]),
                    step.support,
                    loss.log2_of_items(group)
                    if step.action == "suppress"
                    else loss.log2_of_group(
                        np.array(sorted(group + partner), np.int32), step.support
                    ),
                    tuple(
                        Alternative(tuple(labels[one] for one in members), holders, cost)
                        for cost, members, holders in alternatives[:_ALTERNATIVES]
                    ),
                )
            )
        for one in (group, partner):
            if one:
                groups.pop(min(one), None)
        if step.action == "merge":
            groups[min(group + partner)] = tuple(sorted(group + partner))
            home[list(group + partner)] = min(group + partner)
        else:
            home[list(group)] = -1
    return Explanation(item, result.mapping[item], int(data.supports[code]), tuple(reasons))


def _matched(result: Result, groups: list[tuple[int, ...]]) -> int:
    """Return how many people have something of each of these groups."""
    data = result.data
    rows = np.repeat(np.arange(data.n_distinct), data.lengths)
    held = np.ones(data.n_distinct, bool)
    for members in groups:
        wanted = np.zeros(data.n_items, bool)
        wanted[list(members)] = True
        has = np.zeros(data.n_distinct, bool)
        has[rows[wanted[data.codes]]] = True
        held &= has
    return int(data.counts[held].sum())
