"""The groups of a mapping over the codes of the data that are measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overcoat.data.vocabulary import Vocabulary
from overcoat.mapping import Mapping

__all__ = ["Groups", "find_groups", "generalized_items"]


@dataclass(frozen=True, eq=False)
class Groups:
    """Which group each item of the domain is in.

    A mapping may know more items than occur; the size of a group counts those that do, as
    everything in the definitions does.

    Attributes
    ----------
    group_of : int32, (M,); the position of the item's group in ``mapping.labels``, -1 where the
        item is suppressed
    sizes : int64, (groups of the mapping,); how many items of each group occur
    """

    group_of: NDArray[np.int32]
    sizes: NDArray[np.int64]

    @property
    def size_of(self) -> NDArray[np.int64]:
        """Size of each item's group, 0 where the item is suppressed; (M,)."""
        return np.append(self.sizes, 0)[self.group_of]  # -1 is the 0 at the end


def find_groups(vocabulary: Vocabulary, mapping: Mapping) -> Groups:
    """Return the group of each item of `vocabulary`, which `mapping` must cover.

    >>> mapping = Mapping.of("abcd", [["a", "b"], ["c"]])
    >>> find_groups(Vocabulary("abcd"), mapping).size_of
    array([2, 2, 1, 0])
    """
    group_of = np.full(len(vocabulary), -1, np.int32)
    for group, members in enumerate(mapping.members):
        for item in members:
            code = vocabulary.get(item)
            if code is not None:
                group_of[code] = group
    kept = group_of[group_of >= 0]
    return Groups(group_of, np.bincount(kept, minlength=len(mapping.members)).astype(np.int64))


def generalized_items(vocabulary: Vocabulary, mapping: Mapping) -> NDArray[np.bool_]:
    """Return which items are in groups of two or more: a mask for `draw_workload`; (M,).

    >>> generalized_items(Vocabulary("abcd"), Mapping.of("abcd", [["a", "b"], ["c"]]))
    array([ True,  True, False, False])
    """
    return find_groups(vocabulary, mapping).size_of > 1
