"""What an experiment found: a table, a figure, and the paper's claims held against them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import overcoat as oc
from experiments.materials import Materials
from overcoat.comparison.plots import Panel, series_of
from overcoat.comparison.text import show_value
from overcoat.policy.privacy import BoundAllItemsets, BoundPgen

__all__ = [
    "Claim",
    "Experiment",
    "Findings",
    "error_panels",
    "markdown",
    "names_of",
    "only",
    "table",
    "times_better",
    "violated_when_merged_whole",
]


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, what was measured, and whether it holds; None: in part."""

    paper: str
    measured: str
    holds: bool | None

    @property
    def verdict(self) -> str:
        """In words."""
        return {True: "holds", False: "does not hold", None: "holds in part"}[self.holds]


@dataclass(frozen=True)
class Findings:
    """What came of one experiment.

    Attributes
    ----------
    title : what was examined
    setup : how, in a sentence or two
    rows : the table
    panels, columns : the figure, so many panels side by side
    claims : of the paper
    remarks : what else a reader must know
    """

    title: str
    setup: str
    rows: tuple[Mapping[str, Any], ...]
    panels: tuple[Panel, ...]
    claims: tuple[Claim, ...]
    remarks: str = ""
    columns: int = 3


@dataclass(frozen=True)
class Experiment:
    """An experiment by name."""

    name: str
    run: Callable[[Materials], Findings]


def table(
    rows: Iterable[Mapping[str, Any]], columns: Mapping[str, str]
) -> tuple[dict[str, Any], ...]:
    """Return some columns of `rows`, under other names."""
    return tuple({title: row[name] for name, title in columns.items()} for row in rows)


def times_better(
    rows: Iterable[Mapping[str, Any]], measure: str, x: str, better: str, worse: str
) -> dict[Any, float]:
    """Return, for each value of `x`, how many times larger `worse` is than `better`.

    >>> rows = [{"algorithm": "coat", "k": 2, "re": 0.5}, {"algorithm": "apriori", "k": 2, "re": 2}]
    >>> times_better(rows, "re", "k", "coat", "apriori")
    {2: 4.0}
    """
    found = {(row["algorithm"], row[x]): row[measure] for row in rows}
    return {
        at: found[worse, at] / value
        for (algorithm, at), value in found.items()
        if algorithm == better and value and found.get((worse, at)) is not None
    }


def violated_when_merged_whole(data: oc.Transactions, policy: oc.Policy) -> int:
    """Return how many sets stay violated when every utility set is merged whole.

    No mapping that respects the utility sets merges more, and merging only adds to supports. A
    set that fewer than k have then is part of the image of some row, and so of a protected
    itemset, when all m-itemsets over the whole domain or all parts of all rows are protected (not
    so for a few explicit itemsets): the policy cannot be met without suppression, by any method.
    """
    bound = policy.bind(data)
    assert all(
        family.whole_domain
        if isinstance(family, BoundAllItemsets)
        else isinstance(family, BoundPgen)
        for family in bound.families
    )
    mapping = oc.Mapping.over(data.vocabulary, oc.Partition(bound.utility.block_of))
    verdict = oc.verify(data, mapping.apply(data), mapping, bound)
    return verdict.n_violations.get("privacy", 0)


def names_of(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the data sets of some rows, in order."""
    return list(dict.fromkeys(row["data"] for row in rows))


def only(rows: Iterable[dict[str, Any]], **values: Any) -> list[dict[str, Any]]:
    """Return the rows with these values."""
    return [row for row in rows if all(row[name] == value for name, value in values.items())]


def error_panels(
    rows: Sequence[dict[str, Any]], x: str, workloads: Mapping[str, str]
) -> tuple[Panel, ...]:
    """Return a panel of AvgRE for each data set and each workload, given with its title."""
    return tuple(
        Panel(
            series_of(only(rows, data=name), x, f"avg_re_{workload}"),
            name,
            x,
            f"AvgRE, {title}",
            log_y=True,
        )
        for name in names_of(rows)
        for workload, title in workloads.items()
    )


def markdown(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return a table in Markdown."""
    rows = list(rows)
    head = list(rows[0])
    lines = [head, ["---"] * len(head), *([show_value(row[name]) for name in head] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
