"""A whole policy: what must not identify anyone, and what must stay true."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overcoat import html
from overcoat.checks import check_count, check_percent, exact
from overcoat.context import QUIET, Stage
from overcoat.data.transactions import Transactions
from overcoat.data.vocabulary import Vocabulary
from overcoat.errors import PolicyError, Problem
from overcoat.policy.binding import Domain, Lint
from overcoat.policy.hierarchy import (
    AnyHierarchy,
    Tree,
    hierarchy_from_json,
    is_no_file,
    take_hierarchy,
)
from overcoat.policy.lost import lint_codes
from overcoat.policy.privacy import (
    BoundFamily,
    BoundPgen,
    Families,
    Family,
    family_from_json,
)
from overcoat.policy.utility import BoundUtility, Utility
from overcoat.policy.weights import CallableWeights, Distances, TreeWeights, Weights

__all__ = ["BoundPolicy", "Demands", "Penalties", "Policy", "WeightsLike", "given_parts"]

WeightsLike = Distances | Callable[[frozenset[str]], float]
Penalties = Mapping[str, float] | Callable[[str], float]

# What a policy states, s apart; the rest is how it came to be.
_STATED = (
    *("k", "privacy", "utility", "hierarchy", "weights", "penalties", "known"),
    "ignore_unknown",
)


@dataclass(frozen=True, eq=False)
class Demands:
    """What of a policy must hold, over the codes of one domain: what verification takes.

    Attributes
    ----------
    k : the least number of people an itemset must match, if anybody
    max_suppressed, percent : s, in percent of the domain, for people and exactly
    budget : how many items may be suppressed
    families, utility : bound to the domain
    notes : what the user should know although it is no error
    stated : the policy as it was stated
    settled : the same, with the lines of its files read
    """

    k: int
    max_suppressed: float
    percent: Fraction
    budget: int
    families: tuple[BoundFamily, ...]
    utility: BoundUtility
    vocabulary: Vocabulary
    notes: tuple[Problem, ...]
    stated: Policy
    settled: Policy

    @property
    def files(self) -> tuple[str, ...]:
        """The files the policy was read from."""
        return self.stated.files

    @property
    def n_constraints(self) -> int:
        """How many privacy constraints there are in all."""
        return sum(family.n_constraints for family in self.families)


@dataclass(frozen=True, eq=False)
class BoundPolicy(Demands):
    """A policy over the codes of some data, checked: what algorithms take.

    Attributes
    ----------
    weights : bound to the domain
    hierarchy : the hierarchy as a tree over the domain, if one was given
    penalties : Y, the loss of suppressing each item; float64, (M,)
    """

    weights: Weights
    hierarchy: Tree | None
    penalties: NDArray[np.float64]


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Policy:
    """Everything the owner of the data states, not yet bound to data: a value.

    It has ``==``, a canonical JSON form (`to_json`) and a `digest`; where it was written down does
    not matter to these.

    Parameters
    ----------
    k : an itemset must match at least k people, or nobody
    privacy : the family, or families, whose itemsets must
    utility : which items may be merged, a `Utility`, a file or sets; by default all with all
    max_suppressed : s, how many percent of the domain may be suppressed
    hierarchy : a `Hierarchy`, a file, or ``balanced:FANOUT``; gives weights, and the groups of
        methods that need one
    weights : a `Distances` table or a function of a frozenset of items, instead of the hierarchy
    penalties : Y of suppressed items, a mapping or a function; by default the support / N
    known : further items that policies may name although they do not occur
    ignore_unknown : let policies name any item
    problems : errors found while reading the policy's files, raised when it is bound, together
        with whatever else is wrong
    files : the files it was read from, which no release may overwrite

    >>> from overcoat.policy.privacy import AllItemsets
    >>> Policy(5, AllItemsets(2)) == Policy(5, [AllItemsets(2)], max_suppressed=0.5)
    True
    """

    k: int
    privacy: Families
    utility: Utility
    max_suppressed: float | Decimal | Fraction
    hierarchy: AnyHierarchy | None
    weights: WeightsLike | None
    penalties: Penalties | None
    known: frozenset[str]
    ignore_unknown: bool
    problems: tuple[Problem, ...]
    files: tuple[str, ...]

    def __init__(
        self,
        k: int,
        privacy: Family | Iterable[Family],
        utility: Utility | str | Path | Iterable[Any] | None = None,
        max_suppressed: float | Decimal | Fraction = 0.5,
        hierarchy: AnyHierarchy | str | Path | None = None,
        weights: WeightsLike | None = None,
        penalties: Penalties | None = None,
        known: Iterable[str] = (),
        ignore_unknown: bool = False,
        problems: Iterable[Problem] = (),
        files: Iterable[str] = (),
    ) -> None:
        if not isinstance(k, Integral) or isinstance(k, bool):
            check_count("k", k)  # a number out of range is told with all else, when it is bound
        named = [str(x) for x in (utility, hierarchy) if isinstance(x, (str, Path))]
        values = {
            "k": k,
            "privacy": Families.of(privacy),
            "utility": Utility.of(utility),
            "max_suppressed": max_suppressed,
            "hierarchy": take_hierarchy(hierarchy),
            "weights": weights,
            "penalties": penalties,
            "known": frozenset(known),
            "ignore_unknown": ignore_unknown,
            "problems": tuple(problems),
            "files": (*files, *(name for name in named if not is_no_file(name))),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def read(cls, path: str | Path) -> Policy:
        """Read `policy.toml`; the method it may name is not part of the policy."""
        from overcoat.policy.config import read_policy

        return read_policy(path)

    def to_json(self) -> dict[str, Any]:
        """Return the policy as plain values: equal policies, equal values.

        >>> from overcoat.policy.privacy import Pgen
        >>> Policy(5, Pgen()).to_json()["privacy"]
        [{'family': 'pgen'}]
        """
        for name in ("weights", "penalties"):
            if callable(getattr(self, name)):
                raise PolicyError(f"{name} given as a function cannot be written down")
        weights, penalties = self.weights, self.penalties
        return {
            "k": check_count("k", self.k),
            "privacy": [family.to_json() for family in self.privacy],
            "utility": self.utility.to_json(),
            "max_suppressed": str(check_percent("max_suppressed (s)", self.max_suppressed)),
            "hierarchy": None if self.hierarchy is None else self.hierarchy.to_json(),
            "weights": weights.to_json() if isinstance(weights, Distances) else None,
            "penalties": {item: float(penalties[item]) for item in sorted(penalties)}
            if isinstance(penalties, Mapping)
            else None,
            "known": sorted(self.known),
            "ignore_unknown": bool(self.ignore_unknown),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Policy:
        """Build from what `to_json` returned."""
        try:
            return cls(
                k=content["k"],
                privacy=[family_from_json(family) for family in content["privacy"]],
                utility=Utility.from_json(content["utility"]),
                max_suppressed=_number(content["max_suppressed"]),
                hierarchy=hierarchy_from_json(content["hierarchy"]),
                weights=content["weights"] and Distances.from_json(content["weights"]),
                penalties=content["penalties"],
                known=content["known"],
                ignore_unknown=content["ignore_unknown"],
            )
        except (KeyError, TypeError, ValueError) as error:
            why = f"it has no {error}" if isinstance(error, KeyError) else str(error)
            raise PolicyError(f"this is not a policy written down: {why}") from None

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON form.

        >>> from overcoat.policy.privacy import AllItemsets
        >>> Policy(5, AllItemsets(2)).digest == Policy(5, AllItemsets(3)).digest
        False
        """
        text = json.dumps(self.to_json(), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def _key(self) -> tuple[Any, ...]:
        given = (getattr(self, name) for name in _STATED)
        s = self.max_suppressed
        return (*given, exact(s) if isinstance(s, (Real, Decimal)) and s == s else s)  # noqa: PLR0124

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.k, self.privacy, self.utility))

    def _repr_html_(self) -> str:
        facts: list[tuple[str, Any]] = [("k", self.k)]
        facts += [("protects", repr(family)) for family in self.privacy]
        facts += [
            ("utility", repr(self.utility) if len(self.utility.sets) else "all with all"),
            ("s, % of the items", self.max_suppressed),
        ]
        facts += [
            (name, repr(value))
            for name in ("hierarchy", "weights", "penalties")
            if (value := getattr(self, name)) is not None
        ]
        return html.card("Policy", html.table(facts))

    def __repr__(self) -> str:
        protected = self.privacy[0] if len(self.privacy) == 1 else tuple(self.privacy)
        stated = [str(self.k), repr(protected)]
        if self.utility != Utility():
            stated.append(repr(self.utility))
        stated.append(f"max_suppressed={self.max_suppressed}")
        stated += [
            f"{name}={value!r}"
            for name in ("hierarchy", "weights")
            if (value := getattr(self, name)) is not None
        ]
        return f"Policy({', '.join(stated)})"

    def with_problems(self, problems: Iterable[Problem]) -> Policy:
        """Return the policy with further problems, to be told when it is bound."""
        return replace(self, problems=(*self.problems, *problems))

    def settled(self, domain: Domain) -> Policy:
        """Return the policy with the lines of its files read: what they name, in this domain."""
        return replace(
            self,
            privacy=Families(family.settled(domain) for family in self.privacy),
            utility=self.utility.settled(domain),
        )

    def bind(
        self,
        data: Transactions,
        *,
        privacy: bool = True,
        known: Iterable[str] = (),
        stage: Stage = QUIET,
    ) -> BoundPolicy:
        """Check the policy against `data`, raising all its problems at once.

        Parameters
        ----------
        data : IN
        privacy : without it neither k, s nor the privacy constraints are looked at: what a release
            costs depends on the rest only
        known : further items that may be named, those of a mapping: not everybody comes every month
        stage : called by what takes long
        """
        lint = Lint(errors=list(self.problems))
        domain = Domain.of(data, self.known.union(known), self.ignore_unknown, stage)
        demands = self._demand(domain, lint, privacy)
        if privacy and data.n_items > 5 * data.n_transactions:
            lint.note(
                f"{data.n_items:,} items in {data.n_transactions:,} transactions: are ids taken "
                "for items?"
            )
        tree = self._tree(data.vocabulary, lint)
        weights = self._weights(data.vocabulary, tree, lint)
        penalties = _penalties(self.penalties, data, lint)
        lint_codes(self, domain, lint)
        lint.raise_errors()
        values = {one.name: getattr(demands, one.name) for one in fields(demands)}
        values["notes"] = tuple(dict.fromkeys(lint.notes))
        values["settled"] = self.settled(domain) if privacy else self
        return BoundPolicy(**values, weights=weights, hierarchy=tree, penalties=penalties)

    def bind_published(
        self, vocabulary: Vocabulary, longest: int, *, privacy: bool = True
    ) -> Demands:
        """Check the policy against what was published alone: the items that a mapping names.

        Parameters
        ----------
        vocabulary : the items of the mapping
        longest : size of the largest released transaction
        privacy : see `bind`
        """
        lint = Lint(errors=list(self.problems))
        domain = Domain(vocabulary, longest, known=self.known, ignore_unknown=self.ignore_unknown)
        demands = self._demand(domain, lint, privacy)
        lint.raise_errors()
        notes = tuple(dict.fromkeys(lint.notes))
        return replace(demands, notes=notes, settled=self.settled(domain))

    def _demand(self, domain: Domain, lint: Lint, privacy: bool) -> Demands:
        k = self._checked_k(lint) if privacy else 1
        s = self.max_suppressed if privacy else 100
        percent = lint.attempt(lambda: check_percent("max_suppressed (s)", s), Fraction(0))
        return Demands(
            k=k,
            max_suppressed=float(percent),
            percent=percent,
            budget=math.floor(percent * len(domain.vocabulary) / 100),
            families=self._bind_families(domain, k, lint) if privacy else (),
            utility=self.utility.bind(domain, lint),
            vocabulary=domain.vocabulary,
            notes=(),
            stated=self,
            settled=self,
        )

    def _checked_k(self, lint: Lint) -> int:
        k = lint.attempt(lambda: check_count("k", self.k), 1)
        if not self.privacy and not self.problems:
            lint.error("no privacy constraint was given: nothing would be protected")
        if k == 1:
            lint.note("k = 1 protects nobody: every itemset that matches someone passes")
        return k

    def _bind_families(self, domain: Domain, k: int, lint: Lint) -> tuple[BoundFamily, ...]:
        families = []
        for family in self.privacy:
            if not isinstance(family, Family):
                lint.error(
                    f"{family!r} is not a family; use Itemsets (Itemsets.read reads a file), "
                    "AllItemsets, Coherence or Pgen"
                )
                continue
            families.append(family.bind(domain, k, lint))
        if (
            families
            and len(domain.vocabulary)
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
        return None if hierarchy is None else lint.attempt(lambda: hierarchy.tree(vocabulary), None)

    def _weights(self, vocabulary: Vocabulary, tree: Tree | None, lint: Lint) -> Weights:
        if isinstance(self.weights, Distances):
            return self.weights.bind(vocabulary, lint)
        if callable(self.weights):
            return CallableWeights(self.weights, vocabulary)
        if self.weights is not None:
            lint.error(f"weights are a Distances table or a function, not {self.weights!r}")
        return TreeWeights(tree or Tree.star(len(vocabulary)))


def given_parts(policy: Any, parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a policy that were given; a whole policy leaves no room for any."""
    given = {name: part for name, part in parts.items() if part is not None}
    if policy is not None and given:
        raise PolicyError(f"give a whole policy, or its parts ({', '.join(given)}), not both")
    return given


def _number(text: str) -> float:
    """Return a number that was written down exactly; a float where that loses nothing."""
    value = Fraction(text)
    plain = int(value) if value.denominator == 1 else float(value)
    return plain if exact(plain) == value else value  # type: ignore[return-value]


def _penalties(penalties: Penalties | None, data: Transactions, lint: Lint) -> NDArray[np.float64]:
    values: NDArray[np.float64] = data.supports / max(data.n_transactions, 1)
    if penalties is None:
        return values
    if not isinstance(penalties, Mapping) and not callable(penalties):
        lint.error(
            f"penalties are a mapping from items to numbers or a function, not {penalties!r}"
        )
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
            unknown = f"the penalty of {item!r} is for an item that does not occur in the data"
            lint.note(unknown, many="penalties are for items that do not occur", what=repr(item))
    return values
