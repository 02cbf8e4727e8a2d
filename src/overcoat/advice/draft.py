"""A policy for some data that is known to be met: tried, then written down with its reasons."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overcoat._version import __version__
from overcoat.advice.cost import Cost, Meter
from overcoat.advice.profile import suspicious
from overcoat.advice.suggest import Proposal, propose
from overcoat.algorithms.methods import Coat
from overcoat.context import Context
from overcoat.data.transactions import Transactions
from overcoat.errors import InfeasibleError
from overcoat.feasibility.why import explained
from overcoat.policy.config import state_policy
from overcoat.policy.hierarchy import is_no_file
from overcoat.policy.keys import comment_lines, toml_value
from overcoat.policy.policy import Policy
from overcoat.release.exposed import Exposed, exposed
from overcoat.release.result import Result
from overcoat.release.walk import find_release
from overcoat.words import count_of, people

__all__ = ["Draft", "draft"]

_METHOD = Coat()


@dataclass(frozen=True, eq=False)
class Draft:
    """A policy that was run and is met, and what it gives.

    Attributes
    ----------
    settings : the policy, as keys of `policy.toml` and their values
    result : what it gives
    cost : what that costs
    risk : who is unique before and after
    change : how it differs from what was asked for, in words; empty where it does not
    details : what that leaves out: which utility sets exactly
    suspicious : what the owner should look at first
    asked : the settings that were asked for
    """

    settings: Mapping[str, Any]
    result: Result
    cost: Cost
    risk: Exposed
    change: str = ""
    details: tuple[str, ...] = ()
    suspicious: tuple[str, ...] = ()
    asked: Mapping[str, Any] = field(default_factory=dict)

    def toml(self, source: str, folder: str | Path = ".", command: str = "") -> str:
        """Return the policy file: the keys, and comments with the reasons; ASCII line ends.

        Parameters
        ----------
        source : what the data are called
        folder : where the file will be; names of files in it are relative to that
        command : how to use it
        """
        lines = [*comment_lines(f"A policy for {source}, by overcoat init {__version__}."), "#"]
        lines += [line for text in self._facts() for line in comment_lines(text)]
        if command:
            lines += ["#", *comment_lines("To use it:"), f"#   {command}"]
        lines.append("")
        lines += self._keys(Path(folder))
        return "\n".join(lines) + "\n"

    def _facts(self) -> Iterator[str]:
        data = self.result.data
        yield (
            f"Data: {people(data.n_transactions)}, {count_of(data.n_items, 'item')}. This policy "
            "was run on them and is met; verified."
        )
        if self.change:
            yield f"Changed from what was asked, which cannot be met: {self.change}."
        for one in self.details:
            yield f"{one}."
        yield f"Risk, before → after: {self.risk}."
        yield f"Cost: {self.cost.exactness}."
        more = [f"{self.cost.suppressed_percent:.3g} % of the items suppressed"]
        if self.cost.n_sets:
            more.append(f"{self.cost.n_exact} of {self.cost.n_sets} counts of sets exact")
        more.append(f"NCP {self.cost.ncp:.4f}")
        if (errors := self.cost.errors) is not None:
            more.append(f"expected error of item counts {errors.items:.3g}, of pairs")
            more[-1] += f" {errors.pairs:.3g}"
        yield f"Cost: {', '.join(more)}."
        for one in self.suspicious:
            yield f"Look at this first: {one}."

    def _keys(self, folder: Path) -> list[str]:
        lines: list[str] = []
        tables: list[str] = []
        for key, why in _WHY.items():
            value = self.settings.get(key)
            if value is None:
                continue
            lines += comment_lines(why)
            if key == "utility" and isinstance(value, Mapping):
                tables = ["", *comment_lines(why), "[utility]"]
                each = ((toml_value(name), toml_value(one)) for name, one in value.items())
                tables += [f"{name} = {items}" for name, items in each]
                del lines[-len(comment_lines(why)) :]
                continue
            if key in ("utility", "hierarchy") and not is_no_file(str(value)):
                value = Path(os.path.relpath(value, folder)).as_posix()
            lines += [f"{key} = {toml_value(value)}", ""]
        return [*lines[:-1], *tables]


_WHY = {
    "k": "The crowd (k): whoever knows some items of a person finds at least so many people, or "
    "nobody.",
    "km": "The known items (m): an attacker may know up to so many items of a person.",
    "max_suppressed": "The share that may be left out (s): at most so many percent of the items.",
    "hierarchy": "Which items are near each other.",
    "utility": "The sets whose counts stay exact: items are merged within a set only. Items in no "
    "set are one more.",
    "utility_level": "The sets whose counts stay exact are the nodes of the hierarchy at this "
    "level: items are merged within one only.",
}


def draft(
    data: Transactions,
    *,
    k: int = 5,
    m: int = 2,
    max_suppressed: float = 0.5,
    hierarchy: str | None = None,
    utility: str | None = None,
    utility_level: str | int | None = None,
    sep: str | None = "",
    context: Context | None = None,
) -> Draft:
    """Return a policy near what is asked for that is met.

    Where what is asked for cannot be met, sets are given up or joined, whichever keeps more counts
    exact without joining what has nothing but the root of the hierarchy in common; only if that
    does not help, more may be suppressed, and only then k and m become smaller.

    >>> rows = [{"a", "c"}, {"a", "d"}, {"a"}, {"a"}, {"c"}, {"c"}, {"d"}, {"d"}]
    >>> found = draft(Transactions.of(rows), k=2)
    >>> found.settings["k"], found.result.verdict.ok, found.change
    (2, True, '')
    """
    context = Context.of(context)
    asked = {
        "k": k,
        "km": m,
        "max_suppressed": max_suppressed,
        "hierarchy": hierarchy,
        "utility": utility,
        "utility_level": utility_level,
    }
    policy = state_policy(
        {key: value for key, value in asked.items() if value is not None}, sep=sep
    )
    with context.stage("policy") as stage:
        bound = policy.bind(data, stage=stage)
        odd = tuple(suspicious(data, k, stage))
    try:
        result = find_release(data, bound, _METHOD, context=context, seconds={})
        cost = Meter(data, stage=context.start("evaluate")).cost(result)
        return _drafted(asked, result, cost, None, odd, asked, context)
    except InfeasibleError as error:
        best = _best(data, policy, context)
        if best is None:
            raise explained(error, bound, stage=context.start("suggest")) from None
    settings = dict(asked) | best.settings
    if "utility" in best.settings:
        settings["utility_level"] = None
    return _drafted(settings, best.result, best.cost, best, odd, asked, context)


def _drafted(
    settings: Mapping[str, Any],
    result: Result,
    cost: Cost,
    nearest: Proposal | None,
    odd: tuple[str, ...],
    asked: Mapping[str, Any],
    context: Context,
) -> Draft:
    with context.stage("risk") as stage:
        risk = exposed(result, stage=stage)
    change, details = ("", ()) if nearest is None else (nearest.change, nearest.details)
    return Draft(settings, result, cost, risk, change, details, odd, asked)


def _best(data: Transactions, policy: Policy, context: Context) -> Proposal | None:
    """Return the proposal that changes least of what protects people.

    Of the two that change utility sets, the one with more exact counts, unless it joins what an
    expert may not want joined.
    """
    best: Proposal | None = None
    for one in propose(data, policy, _METHOD, context=context):
        if one.name not in ("sets", "joined"):
            return best or one
        if best is None or (one.cost.n_exact > best.cost.n_exact and not one.doubtful):
            best = one
    return best
