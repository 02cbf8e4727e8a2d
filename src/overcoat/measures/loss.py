"""What a release loses by UL, group by group, and by NCP."""

from __future__ import annotations

import math
from dataclasses import dataclass

from overcoat.data.transactions import Transactions
from overcoat.loss.ncp import CertaintyPenalty
from overcoat.loss.ul import UtilityLoss, log2_sum
from overcoat.mapping import Mapping
from overcoat.policy.hierarchy import Tree
from overcoat.policy.policy import BoundPolicy

__all__ = ["Loss", "measure_loss", "measure_ncp"]


@dataclass(frozen=True)
class Loss:
    """The loss of a release.

    Attributes
    ----------
    groups : log2 UL of each group of two or more items, by label
    suppressed : Y of each suppressed item
    log2_ul : log2 of the sum of everything; -inf when nothing is lost
    """

    groups: dict[str, float]
    suppressed: dict[str, float]
    log2_ul: float

    def __repr__(self) -> str:
        return f"Loss(log2_ul={self.log2_ul:.6g})"


def measure_loss(
    data: Transactions, released: Transactions, mapping: Mapping, policy: BoundPolicy
) -> Loss:
    """Return the loss of publishing `data` as `released` under `mapping`."""
    partition = mapping.partition_of(data)
    loss = UtilityLoss(data, policy.weights, policy.penalties)
    groups = {}
    for items in partition.merged:
        label = mapping[data.vocabulary[items[0]]]
        assert label is not None
        support = int(released.supports[released.vocabulary.code(label)])
        groups[label] = loss.log2_of_group(items, support)
    gone = {
        data.vocabulary[item]: float(policy.penalties[item])
        for item in partition.suppressed.tolist()
    }
    penalties = (math.log2(y) if y else -math.inf for y in gone.values())
    return Loss(groups, gone, log2_sum([*groups.values(), *penalties]))


def measure_ncp(data: Transactions, mapping: Mapping, hierarchy: Tree | None = None) -> float:
    """Return NCP, from 0 to 1; without a hierarchy the flat one.

    >>> data = Transactions.of([{"a", "c"}, {"b"}, {"c"}, {"d"}])
    >>> measure_ncp(data, Mapping.of("abcd", [["a", "b"], ["c"]]))
    0.4
    """
    if not len(data.codes):
        return 0.0
    return float(CertaintyPenalty(data, hierarchy).total(mapping.partition_of(data)))
