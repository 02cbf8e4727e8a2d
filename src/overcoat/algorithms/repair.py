"""Repairing one unsatisfied constraint after the other: the loop that COAT and PCTA share.

COAT's Algorithm 1 (COAT), 2 (Generalize) and 3 (Suppress), with the differences that
docs/differences.md lists. Read it beside the paper; symbols in comments are the paper's. What to
merge next is the method's own choice.

A run may go on from the mapping of an earlier release. Its groups are there from the beginning, and
a run takes no group apart, so each stays within one; what was suppressed stays suppressed. An item
that the mapping does not know stands alone; if a constraint asks for it, it is placed with its
nearest relative (`placing.py`).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from overcoat.algorithms.outcome import Outcome, Step, telling
from overcoat.algorithms.placing import nearest
from overcoat.algorithms.violations import Found, find
from overcoat.context import Stage
from overcoat.data.transactions import Transactions
from overcoat.kernels import grouping_class, repairer
from overcoat.kernels.repairs import Choose
from overcoat.mapping import Mapping
from overcoat.partition import Partition
from overcoat.policy.hierarchy import Tree
from overcoat.policy.policy import BoundPolicy

__all__ = ["repair_all"]


def repair_all(
    data: Transactions,
    policy: BoundPolicy,
    choose: Choose,
    stage: Stage,
    start: Mapping | None = None,
) -> Outcome:
    """Merge and suppress items until every privacy constraint is satisfied.

    It always ends with all constraints satisfied. When that took more suppression than the policy
    allows, the outcome says so (`Outcome.unmet`): the constraints whose repair went beyond it.
    """
    run = _Run(data, policy, stage, choose)
    if start is not None:
        run.go_on_from(start, data)
    alone = start is None
    finders = [
        find(family, run.grouping, policy.k, alone, stage, run.tell) for family in policy.families
    ]

    # -- Algorithm 1, steps 2 and 3: the unsatisfied p whose itemset has maximum support ----
    while True:
        proposals = [(finder.worst(), number) for number, finder in enumerate(finders)]
        unsatisfied = [(found, number) for found, number in proposals if found is not None]
        if not unsatisfied:
            break
        # max() keeps the first of equals: the family that comes first in the policy.
        found, number = max(unsatisfied, key=lambda proposal: proposal[0].support)
        merged, suppressed = run.repair(found, number)
        for finder in finders:
            finder.changed(merged, suppressed)
        run.tell()
    return run.outcome()


class _Run:
    """The state of one run: the grouping, what was suppressed, the steps taken."""

    def __init__(
        self, data: Transactions, policy: BoundPolicy, stage: Stage, choose: Choose
    ) -> None:
        self.steps: list[Step] = []
        self.tell = telling(stage, self.steps)
        tree, denominator = policy.weights.tree, 1
        if tree is None:  # weights are asked for, and are at most 1
            tree, denominator = Tree.star(data.n_items), policy.weights.denominator
        self.grouping = grouping_class(stage.engine)(
            data.offsets,
            data.codes,
            data.counts,
            policy.utility.block_of,
            tree.parent,
            denominator * tree.weight,
            self.tell,
        )
        self.policy = policy
        self._choose, self._repair = choose, repairer(stage.engine)
        self._asks = policy.weights.tree is None  # what to merge is not for the grouping to tell
        self._n_suppressed = 0
        self._unmet: dict[tuple[int, ...], None] = {}
        self._start: Partition | None = None
        self._unplaced: set[int] = set()  # items new to the start that still stand alone

    def go_on_from(self, start: Mapping, data: Transactions) -> None:
        """Make the groups of an earlier mapping, as far as their items occur."""
        self._start = start.partition_over(data.vocabulary)
        for item in self._start.suppressed.tolist():
            self.grouping.suppress(item)
        for members in self._start.merged:
            self.tell()
            group, *others = members.tolist()
            for other in others:
                group = self.grouping.merge(group, other)
        self._n_suppressed = len(self._start.suppressed)
        self._asks = True
        self._unplaced = {
            code for code, item in enumerate(data.vocabulary) if item not in start.vocabulary
        }

    def repair(self, found: Found, family: int) -> tuple[list[int], list[int]]:
        """Algorithm 1, steps 4 to 14: generalize, as a last resort suppress, until p holds.

        Returns the groups that came out of merges, and the items that were suppressed.
        """
        merge = self._choose_merge if self._asks else None
        changes = self._repair(
            self.grouping, found.items, found.support, self.policy.k, self._choose, merge
        )
        merged: dict[int, None] = {}  # in order
        suppressed: list[int] = []
        for group, partner, support, gone in changes:
            action: Literal["merge", "suppress"] = "suppress" if gone else "merge"
            self.steps.append(Step(action, group, partner, support, family, found.items))
            merged.pop(group, None)
            merged.pop(partner, None)
            if not gone:
                merged[min(group, partner)] = None
                continue
            suppressed += gone
            self._n_suppressed += len(gone)
            if self._n_suppressed > self.policy.budget:
                # Step 5 of the paper stops here with an error. The run goes on to learn how much
                # suppression the policy needs, so that the error can say it.
                self._unmet[found.items] = None
        return list(merged), suppressed

    def outcome(self) -> Outcome:
        """Return what the run came to."""
        partition = Partition(self.grouping.group_of())
        return Outcome(partition, tuple(self.steps), tuple(self._unmet), self._start)

    def _choose_merge(self, candidates: list[int]) -> tuple[int, int]:
        """Algorithm 2, where the grouping alone cannot tell what to merge."""
        weigh = None if self.policy.weights.tree else self._ask_weights
        group, partner = self.grouping.cheapest_merge(candidates, weigh)
        if group in self._unplaced:
            partner = nearest(self.grouping, group, partner, self.policy, self.tell)
        self._unplaced -= {group, partner}
        return group, partner

    def _ask_weights(self, group: int, candidates: NDArray[np.int32]) -> NDArray[np.int64]:
        return self.policy.weights.unions(
            self.grouping.members(group), map(self._members, candidates.tolist())
        )

    def _members(self, group: int) -> NDArray[np.int32]:
        self.tell()  # what follows is a function of the user, which may take its time
        return self.grouping.members(group)
