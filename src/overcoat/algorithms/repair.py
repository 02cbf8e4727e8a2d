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

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from overcoat.algorithms.outcome import Outcome, Step, telling
from overcoat.algorithms.placing import nearest
from overcoat.algorithms.violations import Found, find, violated_part
from overcoat.context import Stage
from overcoat.data.transactions import Transactions
from overcoat.kernels import grouping_class
from overcoat.mapping import Mapping
from overcoat.partition import Partition
from overcoat.policy.hierarchy import Tree
from overcoat.policy.policy import BoundPolicy

__all__ = ["Choose", "repair_all"]

# choose(supports, has_partner, k) says how to go on with an unsatisfied set of groups, given with
# their supports in item order: merge the one of these groups that it is cheapest to merge, or, if
# there are none, suppress that one.
Choose = Callable[[dict[int, int], Callable[[int], bool], int], tuple[list[int], int]]


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
    finders = [find(family, run.grouping, policy.k, stage, run.tell) for family in policy.families]

    # -- Algorithm 1, steps 2 and 3: the unsatisfied p whose itemset has maximum support ----
    while True:
        proposals = [(finder.worst(), number) for number, finder in enumerate(finders)]
        unsatisfied = [(found, number) for found, number in proposals if found is not None]
        if not unsatisfied:
            break
        # max() keeps the first of equals: the family that comes first in the policy.
        found, number = max(unsatisfied, key=lambda proposal: proposal[0].support)
        run.repair(found, number)
        changed = run.take_changed()
        for finder in finders:
            finder.changed(changed)
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
        self._choose = choose
        self._merged: set[int] = set()  # since the last take_changed()
        self._suppressed: list[int] = []  # likewise
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
        self._unplaced = {
            code for code, item in enumerate(data.vocabulary) if item not in start.vocabulary
        }

    def repair(self, found: Found, family: int) -> None:
        """Algorithm 1, steps 4 to 14: generalize, as a last resort suppress, until p holds."""
        grouping, k = self.grouping, self.policy.k
        items = np.array(found.items, np.int32)
        # What the finder found is violated; if somebody supports it, it is violated whole.
        part = grouping.image(items) if found.support else None
        while True:
            self.tell()
            if part is None:
                part = violated_part(grouping, grouping.image(items), k)
            if part is None:
                return
            supports = {group: grouping.group_support(group) for group in part.tolist()}
            candidates, otherwise = self._choose(supports, grouping.has_partner, k)
            if candidates:
                self._generalize(candidates, found.items, family)
            else:
                self._suppress(otherwise, found.items, family)
            part = None

    def take_changed(self) -> NDArray[np.int32]:
        """Return the items whose group has changed since the last call."""
        members = [self.grouping.members(group) for group in sorted(self._merged)]
        changed = np.concatenate([np.array(self._suppressed, np.int32), *members])
        self._merged.clear()
        self._suppressed.clear()
        return changed

    def outcome(self) -> Outcome:
        """Return what the run came to."""
        partition = Partition(self.grouping.group_of())
        return Outcome(partition, tuple(self.steps), tuple(self._unmet), self._start)

    def _generalize(self, candidates: list[int], constraint: tuple[int, ...], family: int) -> None:
        """Algorithm 2: merge one of them with the group of its block that makes UL smallest."""
        weigh = None if self.policy.weights.tree else self._ask_weights
        group, partner = self.grouping.cheapest_merge(candidates, weigh)
        if group in self._unplaced:
            partner = nearest(self.grouping, group, partner, self.policy, self.tell)
        self._unplaced -= {group, partner}
        union = self.grouping.merge(group, partner)
        support = self.grouping.group_support(union)
        self.steps.append(Step("merge", group, partner, support, family, constraint))
        self._merged -= {group, partner}
        self._merged.add(union)

    def _suppress(self, group: int, constraint: tuple[int, ...], family: int) -> None:
        """Algorithm 3: remove a group from the data and from all constraints."""
        support = self.grouping.group_support(group)
        self.steps.append(Step("suppress", group, -1, support, family, constraint))
        members = self.grouping.members(group).tolist()
        self.grouping.suppress(group)
        self._merged.discard(group)
        self._suppressed += members
        self._n_suppressed += len(members)
        if self._n_suppressed > self.policy.budget:
            # Step 5 of the paper stops here with an error. The run goes on to learn how much
            # suppression the policy needs, so that the error can say it.
            self._unmet[constraint] = None

    def _ask_weights(self, group: int, candidates: NDArray[np.int32]) -> NDArray[np.int64]:
        return self.policy.weights.unions(
            self.grouping.members(group), map(self._members, candidates.tolist())
        )

    def _members(self, group: int) -> NDArray[np.int32]:
        self.tell()  # what follows is a function of the user, which may take its time
        return self.grouping.members(group)
