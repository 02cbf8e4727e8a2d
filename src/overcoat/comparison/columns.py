"""What the columns of a comparison are called, and how those that measure are to be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from overcoat.evaluation import Measure
from overcoat.measures.queries import Workload
from overcoat.words import count_of

__all__ = ["METHOD", "Column", "heading", "joined", "measures_of", "setting_words"]

METHOD = "algorithm"  # the column of the method
_PERCENT = ("s", "h")  # sweeps over percentages
_HEADINGS = {
    METHOD: "method",
    "ncp": "NCP",
    "flat_ncp": "flat NCP",
    "times_least_flat_ncp": "flat NCP × least",
    "log2_ul": "log2 UL",
}


@dataclass(frozen=True)
class Column:
    """A column that measures what a release costs.

    Attributes
    ----------
    column : its name
    figure : which figure shows it: error, median or loss
    title, detail : what is written above a panel of it
    phrase : what it is called in a sentence
    unit : what follows a value of it there
    better : which values are better: the lowest or the highest
    log : whether it may be shown on a log scale
    least : how far a linear axis reaches in any case, so that trifles look like trifles
    whole : whether it is counted in whole numbers
    """

    column: str
    figure: str
    title: str
    detail: str
    phrase: str
    unit: str = ""
    better: str = "lowest"
    log: bool = False
    least: float = 0.1
    whole: bool = False


def measures_of(
    workloads: Mapping[str, Workload], n_named: int, own: Iterable[Measure] = ()
) -> list[Column]:
    """Return the measures that are shown and told, in order.

    Parameters
    ----------
    workloads : what all runs answered, by name
    n_named : how many named utility sets there are
    own : measures of the user's own
    """
    found = []
    if n_named:
        found.append(
            Column(
                "n_exact_counts",
                "loss",
                "exact counts",
                f"of {count_of(n_named, 'utility set')}",
                "number of exact counts",
                f" of {count_of(n_named, 'utility set')}",
                better="highest",
                least=n_named,
                whole=True,
            )
        )
    found.append(
        Column(
            "suppressed_items_percent",
            "loss",
            "suppressed items, %",
            "items that are gone, of all",
            "share of suppressed items",
            " %",
            least=1.0,
        )
    )
    for kind, name in (("avg", "AvgRE"), ("median", "median RE")):
        found += [
            Column(
                f"{kind}_re_{workload}",
                "error" if kind == "avg" else "median",
                name,
                queries.title,
                f"{name} for {_queries_words(workload)}",
                log=True,
            )
            for workload, queries in workloads.items()
        ]
    found.append(Column("ncp", "loss", "NCP", "how wide groups are, from 0 to 1", "NCP"))
    # A bit is a factor of 2 in UL, one more item in the largest group: fewer than ten are little.
    found.append(Column("log2_ul", "loss", "UL, bits above the least", "", "UL", least=10.0))
    found += [
        Column(one.name, "loss", one.title or one.name, "", one.name, better=one.better)
        for one in own
    ]
    return found


def _queries_words(name: str) -> str:
    size = name.removeprefix("q")
    if name == f"q{size}" and size.isdecimal():
        return f"queries of {size} item" + "s" * (size != "1")
    return f"the queries {name}"


def setting_words(axis: str, *values: Any) -> str:
    """Return values of a sweep in words.

    >>> setting_words("k", 2, 5, 10), setting_words("s", 0.5), setting_words("policy", "strict")
    ('k = 2, 5 and 10', 's = 0.5 %', 'strict')
    """
    shown = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    if axis in (METHOD, "policy"):
        return joined(shown)
    return f"{axis} = {joined([text + ' %' * (axis in _PERCENT) for text in shown])}"


def joined(words: Sequence[str]) -> str:
    """Return words as people list them.

    >>> joined(["coat", "pcta", "greedy"]), joined(["coat"])
    ('coat, pcta and greedy', 'coat')
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def heading(name: str) -> str:
    """Return the name of a column for people.

    >>> heading("n_groups"), heading("avg_re_q2"), heading("suppressed_items_percent"), heading("s")
    ('groups', 'AvgRE q2', 'suppressed items %', 's %')
    """
    if name in _HEADINGS:
        return _HEADINGS[name]
    if name in _PERCENT:
        return f"{name} %"
    for short, long in (("n_", ""), ("avg_re_", "AvgRE "), ("median_re_", "median RE ")):
        if name.startswith(short):
            return long + name.removeprefix(short).replace("_", " ")
    return name.replace("_percent", " %").replace("_", " ")
