"""A whole policy: what must not identify anyone, what must stay true, and how to get there."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overcoat.data.transactions import Transactions
from overcoat.data.vocabulary import Vocabulary
from overcoat.errors import PolicyError, Problem
from overcoat.policy.hierarchy import Hierarchy, Tree
from overcoat.policy.privacy import BoundFamily, BoundPgen, Family
from overcoat.policy.sets import Domain, Lint
from overcoat.policy.utility import BoundUtility, Utility
from overcoat.policy.weights import CallableWeights, Distances, TreeWeights, Weights

__all__ = ["BoundPolicy", "Penalties", "Policy", "WeightsLike", "given_parts"]

WeightsLike = Distances | Callable[[frozenset[str]], float]
Penalties = Mapping[str, float] | Callable[[str], float]


@dataclass(frozen=True, eq=False)
class BoundPolicy:
    """A policy over the codes of one domain, checked: what algorithms and verification take.

    Attributes
    ----------
    k : the least number of people an itemset must match, if anybody
    max_suppressed : s, in percent of the domain
    budget : how many items may be suppressed
    families, utility, weights : bound to the domain
    hierarchy : the hierarchy as a tree over the domain, if one was given
    penalties : Y, the loss of suppressing each item; float64, (M,)
    notes : what the user should know although it is no error
    files : the files the policy was read from
    """

    k: int
    max_suppressed: float
    budget: int
    families: tuple[BoundFamily, ...]
    utility: BoundUtility
    weights: Weights
    hierarchy: Tree | None
    penalties: NDArray[np.float64]
    vocabulary: Vocabulary
    algorithm: str
    notes: tuple[Problem, ...]
    files: tuple[str, ...] = ()

    @property
    def n_constraints(self) -> int:
        """How many privacy constraints there are in all."""
        return sum(family.n_constraints for family in self.families)


@dataclass(frozen=True, eq=False)
class Policy:
    """Everything the owner of the data states, not yet bound to data.

    Parameters
    ----------
    k : an itemset must match at least k people, or nobody
    privacy : the families whose itemsets must
    utility : which items may be merged; by default all with all
    max_suppressed : s, how many percent of the domain may be suppressed
    hierarchy : gives weights, and the groups of methods that need one
    weights : a `Distances` table or a function of a frozenset of items, instead of the hierarchy
    penalties : Y of suppressed items, a mapping or a function; by default the support / N
    algorithm : the method
    known : further items that policies may name although they do not occur
    ignore_unknown : let policies name any item
    problems : errors found while reading the policy's files, raised when it is bound, together
        with whatever else is wrong
    files : the files it was read from, which no release may overwrite
    """

    k: int
    privacy: tuple[Family, ...]  # one family will do, too
    utility: Utility = field(default_factory=Utility)
    max_suppressed: float = 0.5
    hierarchy: Hierarchy | Callable[[Vocabulary], Hierarchy] | None = None
    weights: WeightsLike | None = None
    penalties: Penalties | None = None
    algorithm: str = "coat"
    known: Collection[str] = ()
    ignore_unknown: bool = False
    problems: tuple[Problem, ...] = ()
    files: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.privacy, Family):
            object.__setattr__(self, "privacy", (self.privacy,))
        if not isinstance(self.utility, Utility):
            object.__setattr__(self, "utility", Utility(self.utility))

    def bind(self, data: Transactions, *, privacy: bool = True) -> BoundPolicy:
        """Check the policy against `data`, raising all its problems at once.

        Without `privacy` neither k, s nor the privacy constraints are looked at: what a release
        costs depends on the rest only.
        """
        lint = Lint(errors=list(self.problems))
        domain = Domain.of(data, self.known, self.ignore_unknown)
        k = self._checked_k(data, lint) if privacy else 1
        s = self.max_suppressed if privacy else 100
        budget = _budget(s, data.n_items, lint)
        families = self._bind_families(data, domain, k, lint) if privacy else ()
        utility = self.utility.bind(domain, lint)
        tree = self._tree(data.vocabulary, lint)
        weights = self._weights(data.vocabulary, tree)
        penalties = _penalties(self.penalties, data, lint)
        lint.raise_errors()
        return BoundPolicy(
            k=k,
            max_suppressed=float(s),
            budget=budget,
            families=families,
            utility=utility,
            weights=weights,
            hierarchy=tree,
            penalties=penalties,
            vocabulary=data.vocabulary,
            algorithm=self.algorithm,
            notes=tuple(dict.fromkeys(lint.notes)),
            files=self.files,
        )

    def _checked_k(self, data: Transactions, lint: Lint) -> int:
        k = self.k
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
            lint.error(f"k must be a whole number of at least 1, not {k!r}")
            k = 1
        elif k >= 1 << 31:
            lint.error(f"k is larger than any number of people: {k}")
            k = 1
        if not self.privacy and not self.problems:
            lint.error("no privacy constraint was given: nothing would be protected")
        if k == 1:
            lint.note("k = 1 protects nobody: every itemset that matches someone passes")
        if data.n_items > 5 * data.n_transactions:
            lint.note(
                f"{data.n_items:,} items in {data.n_transactions:,} transactions: are ids taken "
                "for items?"
            )
        return int(k)

    def _bind_families(
        self, data: Transactions, domain: Domain, k: int, lint: Lint
    ) -> tuple[BoundFamily, ...]:
        families = []
        for family in self.privacy:
            if not isinstance(family, Family):
                lint.error(
                    f"{family!r} is not a family; use Itemsets, AllItemsets, Coherence or Pgen"
                )
                continue
            families.append(family.bind(data, domain, k, lint))
        if (
            families
            and data.n_items
            and not lint.errors
            and not any(
                isinstance(family, BoundPgen) or family.n_constraints for family in families
            )
        ):
            lint.error("no itemset of the policy names an item that occurs: nothing is protected")
        for bound in families:
            if not bound.n_constraints and not isinstance(bound, BoundPgen):
                lint.note(f"{bound.title}: none names an item that occurs")
        return tuple(families)

    def _tree(self, vocabulary: Vocabulary, lint: Lint) -> Tree | None:
        hierarchy = self.hierarchy
        if hierarchy is None:
            return None
        if not isinstance(hierarchy, Hierarchy):
            hierarchy = hierarchy(vocabulary)
        try:
            return hierarchy.tree(vocabulary)
        except PolicyError as error:
            lint.errors.extend(error.problems)
            return None

    def _weights(self, vocabulary: Vocabulary, tree: Tree | None) -> Weights:
        if isinstance(self.weights, Distances):
            return self.weights.bind(vocabulary)
        if self.weights is not None:
            return CallableWeights(self.weights, vocabulary)
        return TreeWeights(tree or Tree.star(len(vocabulary)))


def given_parts(policy: Policy | None, parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a policy that were given; a whole policy leaves no room for any."""
    given = {name: part for name, part in parts.items() if part is not None}
    if policy is not None and given:
        raise PolicyError(f"give a whole policy, or its parts ({', '.join(given)}), not both")
    return given


def _budget(max_suppressed: Any, n_items: int, lint: Lint) -> int:
    """Return how many items s percent of the domain are, exactly."""
    s = max_suppressed
    if (
        isinstance(s, bool)
        or not isinstance(s, (Real, np.number))
        or not 0 <= float(s) <= 100  # also refuses nan
    ):
        lint.error(f"max_suppressed (s) is a percentage from 0 to 100, not {s!r}")
        return 0
    # 0.1 means one tenth of a percent, not the double nearest to it.
    return math.floor(Fraction(str(s)) * n_items / 100)


def _penalties(penalties: Penalties | None, data: Transactions, lint: Lint) -> NDArray[np.float64]:
    values: NDArray[np.float64] = data.supports / max(data.n_transactions, 1)
    if penalties is None:
        return values
    items: Iterable[str] = penalties if isinstance(penalties, Mapping) else data.vocabulary
    look_up = penalties.__getitem__ if isinstance(penalties, Mapping) else penalties
    for item in items:
        code = data.vocabulary.get(item)
        value = look_up(item)
        if not isinstance(value, (Real, np.number)) or not 0 <= float(value) < math.inf:
            lint.error(f"the penalty of {item!r} must be a number of at least 0, not {value!r}")
        elif code is not None:
            values[code] = value
        else:
            lint.note(f"the penalty of {item!r} is for an item that does not occur in the data")
    return values
