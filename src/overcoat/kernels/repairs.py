"""Repairing one constraint: the readable twin of `repairing`.

COAT's Algorithm 1, steps 4 to 14, with the differences that docs/differences.md lists. Read it
beside the paper; symbols in comments are the paper's. What to merge next is the method's own
choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overcoat.kernels.reference import Grouping

__all__ = ["Change", "Choose", "Merge", "repair", "violated_part"]

# choose(supports, has_partner, k) says how to go on with an unsatisfied set of groups, given with
# their supports in item order: merge the one of these groups that it is cheapest to merge, or, if
# there are none, suppress that one.
Choose = Callable[[dict[int, int], Callable[[int], bool], int], tuple[list[int], int]]

# merge(candidates) returns which of them to merge, and its partner: Algorithm 2.
Merge = Callable[[list[int]], tuple[int, int]]


class Change(NamedTuple):
    """One merge or suppression.

    Attributes
    ----------
    group, partner : which groups; partner is -1 for a suppression
    support : transactions with the union, or with what was suppressed
    gone : the items that were suppressed, ascending
    """

    group: int
    partner: int
    support: int
    gone: list[int]


def repair(
    grouping: Grouping,
    items: Sequence[int],
    support: int,
    k: int,
    choose: Choose,
    merge: Merge | None = None,
) -> list[Change]:
    """Generalize the itemset, as a last resort suppress, until it is satisfied.

    Parameters
    ----------
    items, support : IN; an unsatisfied itemset p, and how many hold its image
    choose : steps 5 and 7 to 10
    merge : says what to merge with what; None for what is cheapest by the grouping's own weights
    """
    changes: list[Change] = []
    # If somebody supports it, it is violated whole.
    part: NDArray[np.int32] | None = grouping.image(np.array(items)) if support else None
    while True:
        if part is None:
            part = violated_part(grouping, grouping.image(np.array(items)), k)
        if part is None:
            return changes
        supports = {group: grouping.group_support(group) for group in part.tolist()}
        candidates, otherwise = choose(supports, grouping.has_partner, k)
        if candidates:
            # Algorithm 2: merge one of them with the group of its block that makes UL smallest.
            group, partner = (merge or grouping.cheapest_merge)(candidates)
            union = grouping.merge(group, partner)
            changes.append(Change(group, partner, grouping.group_support(union), []))
        else:
            # Algorithm 3: remove a group from the data and from all constraints.
            gone = grouping.members(otherwise).tolist()
            changes.append(Change(otherwise, -1, supports[otherwise], gone))
            grouping.suppress(otherwise)
        part = None


def violated_part(grouping: Grouping, image: NDArray[np.int32], k: int) -> NDArray[np.int32] | None:
    """Return what of an image must be repaired; None when it is satisfied.

    The whole image when somebody supports it (clause 1 of docs/how-it-works.md), else its violated
    part of largest support (clause 2).
    """
    if not len(image):
        return None
    support = grouping.support(image)
    if support >= k:
        return None
    if support > 0:
        return image
    return grouping.worst_part(image, k)
