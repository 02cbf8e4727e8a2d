"""What each utility set and each privacy family costs: the loss without it, actually run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from overcoat import html
from overcoat.advice.cost import Cost, Meter
from overcoat.algorithms.method import Method
from overcoat.checks import check_count
from overcoat.context import Context
from overcoat.data.transactions import Transactions
from overcoat.errors import InfeasibleError, PolicyError
from overcoat.measures.counts import count_sets
from overcoat.policy.policy import Policy
from overcoat.policy.privacy import AllItemsets, Families
from overcoat.policy.utility import Utility
from overcoat.release.given import PolicyLike, method_of, take_data, take_policy
from overcoat.release.result import Result
from overcoat.release.walk import find_release

__all__ = ["MOST_SETS", "Price", "Prices", "price", "price_of"]

MOST_SETS = 20  # utility sets that are priced, those with most people first

_NOTHING = Families((AllItemsets(1),))


@dataclass(frozen=True, repr=False)
class Price:
    """What a release costs when one thing is not asked for.

    Attributes
    ----------
    kind : a utility ``set``, all utility ``sets``, or a privacy ``family``
    name : of the set or the family
    people : how many have something of the set; None for a family
    without : the cost without it; None where the method finds nothing within s then
    """

    kind: Literal["set", "sets", "family"]
    name: str
    people: int | None
    without: Cost | None

    def __repr__(self) -> str:
        left = "not met" if self.without is None else f"flat NCP {self.without.flat_ncp:.3g}"
        return f"Price(without {self.name}: {left})"


@dataclass(frozen=True)
class Prices:
    """What a policy costs, and what it would cost without each of its parts.

    Attributes
    ----------
    cost : with everything
    each : without one part each: families in the order of the policy, all utility sets, then each
        of them, those with most people first
    left_out : how many utility sets were not tried
    notes : what else was not tried, and why
    """

    cost: Cost
    each: tuple[Price, ...]
    left_out: int = 0
    notes: tuple[str, ...] = ()

    def change(self, one: Price) -> float | None:
        """Return the price of a part: by how much it makes flat NCP larger.

        It may be below 0: a method that goes step by step can come out worse with more freedom.
        """
        return None if one.without is None else self.cost.flat_ncp - one.without.flat_ncp

    def words(self) -> dict[str, str]:
        """Return the price of each utility set that was tried, by name, in a few words."""
        said = {}
        for one in self.each:
            if one.kind == "set":
                change = self.change(one)
                said[one.name] = (
                    "the policy is not met without it"
                    if change is None
                    else f"flat NCP {change:+.4f}".replace("-", "−")
                )
        return said

    def to_json(self) -> dict[str, Any]:
        """Return all figures as plain values."""
        return {
            "cost": self.cost.to_json(),
            "without": [
                {
                    "kind": one.kind,
                    "name": one.name,
                    "people": one.people,
                    "cost": None if one.without is None else one.without.to_json(),
                }
                for one in self.each
            ],
            "left_out": self.left_out,
            "notes": list(self.notes),
        }

    def _repr_html_(self) -> str:
        rows: list[list[Any]] = [
            ["as it is", "", f"{self.cost.flat_ncp:.4f}", ""],
            *(
                [
                    f"without {one.name}",
                    one.people,
                    "not met" if one.without is None else f"{one.without.flat_ncp:.4f}",
                    "" if (change := self.change(one)) is None else f"{change:+.4f}",
                ]
                for one in self.each
            ),
        ]
        return html.card("Price", html.table(rows, ["", "people", "flat NCP", "price"]))

    def __repr__(self) -> str:
        return f"Prices({len(self.each)} parts, flat NCP {self.cost.flat_ncp:.3g})"


def price(
    data: Any,
    policy: PolicyLike | None = None,
    *,
    method: Method | str | None = None,
    most: int = MOST_SETS,
    context: Context | None = None,
    **options: Any,
) -> Prices:
    """Say what each utility set and each privacy family costs: the loss without it.

    Every figure is that of a run that was made and verified. Without a utility set its items may
    be merged with those in no set.

    Parameters
    ----------
    data : `Transactions`, or anything `read` takes, with its options; or a `Result`, which has the
        policy and the method, too
    policy : what must hold, or a policy file
    method : how mappings are found; by default that of the result or of the file, else COAT
    most : how many utility sets are tried at most, those with most people first
    context : how to run

    Raises
    ------
    InfeasibleError : the policy itself cannot be met within s

    >>> from overcoat.policy.privacy import AllItemsets
    >>> rows = [{"a", "c"}, {"a"}, {"a"}, {"b", "c"}, {"b"}, {"c"}, {"d"}, {"d"}, {"d"}]
    >>> prices = price(rows, Policy(2, AllItemsets(2), {"first": ["a", "d"]}, 50))
    >>> for one in prices.each:
    ...     print(one.kind, one.name, round(prices.change(one), 3))
    family all 2-itemsets 0.727
    sets all utility sets 0.5
    set first 0.5
    """
    context = Context.of(context)
    if policy is None and isinstance(data, Result):
        policy = data
    how = method_of(policy, method)
    transactions = take_data(data, options, context)
    return price_of(transactions, take_policy(policy), how, most=most, context=context)


def price_of(
    data: Transactions,
    policy: Policy,
    method: Method,
    *,
    most: int = MOST_SETS,
    context: Context,
) -> Prices:
    """Return the price of every part of a policy, see `price`."""
    most = check_count("most", most, 0)
    with context.stage("policy") as stage:
        bound = policy.bind(data, stage=stage)
    meter = Meter(data, stage=context.start("evaluate"))
    cost = meter.cost(find_release(data, bound, method, context=context, seconds={}))

    def without(changed: Policy) -> Cost | None:
        try:
            other = changed.bind(data, stage=context.start("policy"))
            return meter.cost(find_release(data, other, method, context=context, seconds={}))
        except (InfeasibleError, PolicyError):
            return None

    each: list[Price] = []
    for number, family in enumerate(bound.families):
        left = Families(one for place, one in enumerate(policy.privacy) if place != number)
        # Nothing at all to protect is what everybody's own items give with k = 1.
        changed = replace(policy, privacy=left) if left else replace(policy, k=1, privacy=_NOTHING)
        each.append(Price("family", family.title, None, without(changed)))
    named = bound.utility.named
    notes = []
    left_out = 0
    if named and bound.utility.rest == "intact":
        notes.append(
            "the sets were not tried: where the rest is left intact, items in no set may not be "
            "merged at all, so a policy without a set asks for more"
        )
    elif named:
        free = replace(policy, utility=Utility())
        each.append(Price("sets", "all utility sets", None, without(free)))
        labels = data.vocabulary.labels
        sets = [[labels[code] for code in block.codes] for block in named]
        held = count_sets(data, sets, context.start("evaluate"))
        order = sorted(range(len(named)), key=lambda one: (-held[one], one))
        left_out = max(len(named) - most, 0)
        for chosen in order[:most]:
            others = {
                block.name: sets[place] for place, block in enumerate(named) if place != chosen
            }
            changed = replace(policy, utility=Utility(others))
            each.append(Price("set", named[chosen].name, held[chosen], without(changed)))
    return Prices(cost, tuple(each), left_out, tuple(notes))
