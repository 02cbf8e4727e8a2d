"""Evaluations for a person, and their queries as a table."""

from __future__ import annotations

import csv
import io
import math

from overcoat.evaluation import Evaluation
from overcoat.measures.changes import Changes
from overcoat.measures.patterns import Patterns, Survival
from overcoat.measures.queries import Answers
from overcoat.release.summary import exact_counts
from overcoat.words import count_of, error_scale, listed

__all__ = ["evaluation_lines", "query_table"]


def evaluation_lines(evaluation: Evaluation) -> str:
    """Return what a release costs, each number with what it means.

    >>> from overcoat.data.transactions import Transactions
    >>> from overcoat.evaluation import evaluate
    >>> from overcoat.mapping import Mapping
    >>> data = Transactions.of([{"a", "b"}, {"a"}, {"b"}, {"c"}])
    >>> mapping = Mapping.of("abc", [["a", "b"], ["c"]])
    >>> print(evaluation_lines(evaluate(data, mapping.apply(data), mapping)))
    data        4 transactions, 3 items
    untouched   1 item (33.3 %), 1 occurrence (20 %)
    generalized 2 items (66.7 %), 4 occurrences (80 %): in 1 group of 2 items
    suppressed  none
    told        of 5 items that people have, 1 is told exactly, 4 are told as one of 2
    loss        log2 UL = -1.637: utility loss, less is better; one less is half the loss
    ncp         0.533: on average an occurrence became a group that spans 53.3 % of all items
    queries     AvgRE 0, median 0, in 1,000 queries of 1 item, drawn by items
    queries     AvgRE 0.333, median 0.333, in 1,000 queries of 2 items, drawn by items
                AvgRE: 0 is exact, 1 is off by as much as the true count
    """
    lines = [
        (
            "data",
            f"{count_of(evaluation.n_transactions, 'transaction')}, "
            f"{count_of(evaluation.n_items, 'item')}",
        ),
        *_change_lines(evaluation),
        *([("told", str(evaluation.exactness))] if evaluation.exactness else []),
        ("loss", _loss(evaluation.loss.log2_ul)),
        *_ncp_lines(evaluation),
        *_bound_lines(evaluation),
        *exact_counts(evaluation.counts),
        *(("queries", _errors(answers)) for answers in evaluation.answers),
    ]
    if evaluation.answers:
        largest = max(answers.avg_re for answers in evaluation.answers)
        lines += [("", sentence) for sentence in error_scale(largest)]
    if evaluation.patterns is not None:
        lines += _pattern_lines(evaluation.patterns)
    return "\n".join(f"{name:<11} {text}" for name, text in lines)


def query_table(evaluation: Evaluation) -> str:
    """Return every query with a, e and its relative error, as CSV.

    The items of a query are written as on a line of a constraint file, split by commas.

    >>> from overcoat.data.transactions import Transactions
    >>> from overcoat.evaluation import evaluate
    >>> from overcoat.mapping import Mapping
    >>> from overcoat.measures.queries import Workload
    >>> data = Transactions.of([{"a", "b"}, {"a"}, {"b"}, {"c"}])
    >>> mapping = Mapping.of("abc", [["a", "b"], ["c"]])
    >>> workload = Workload.of(data, [["c"], ["a", "b"]])
    >>> print(query_table(evaluate(data, mapping.apply(data), mapping, workloads=[workload])))
    workload,items,actual,estimate,relative_error
    your own,c,1,1.0,0.0
    your own,"a,b",1,1.333333,0.333333
    <BLANKLINE>
    """
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["workload", "items", "actual", "estimate", "relative_error"])
    for answers in evaluation.answers:
        columns = (answers.actual, answers.estimate, answers.relative_errors)
        for query, *numbers in zip(
            answers.workload, *(column.tolist() for column in columns), strict=True
        ):
            rounded = (round(number, 6) for number in numbers)
            writer.writerow([answers.workload.title, _line(query), *rounded])
    return table.getvalue()


def _line(items: tuple[str, ...]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(items)  # with its usual line end, it quotes both kinds of them
    return line.getvalue().removesuffix("\r\n")


def _change_lines(evaluation: Evaluation) -> list[tuple[str, str]]:
    changes = evaluation.changes
    suppressed = _share(changes, "suppressed")
    if gone := tuple(evaluation.loss.suppressed):
        suppressed += f": {listed(gone)}"
    return [
        ("untouched", _share(changes, "untouched")),
        ("generalized", _share(changes, "generalized") + _groups(changes)),
        ("suppressed", suppressed),
    ]


def _share(changes: Changes, fate: str) -> str:
    items, occurrences = getattr(changes.items, fate), getattr(changes.occurrences, fate)
    if not items:
        return "none"
    return (
        f"{count_of(items, 'item')} ({changes.items.percent(items):.3g} %), "
        f"{count_of(occurrences, 'occurrence')} "
        f"({changes.occurrences.percent(occurrences):.3g} %)"
    )


def _groups(changes: Changes) -> str:
    sizes = {size: n for size, n in changes.group_sizes.items() if size > 1}
    if not sizes:
        return ""
    spread = f"{max(sizes)} items"
    if len(sizes) > 1:
        spread = f"{min(sizes)} to {max(sizes)} items, {changes.mean_group:.3g} on average"
    return f": in {count_of(sum(sizes.values()), 'group')} of {spread}"


def _loss(log2_ul: float) -> str:
    if not math.isfinite(log2_ul):
        return "none"
    return f"log2 UL = {log2_ul:.3f}: utility loss, less is better; one less is half the loss"


def _ncp_lines(evaluation: Evaluation) -> list[tuple[str, str]]:
    if not evaluation.has_hierarchy:
        return [("ncp", _width(evaluation.ncp, "that spans"))]
    under = "whose closest common ancestor in the hierarchy spans"
    return [
        ("ncp", _width(evaluation.ncp, under)),
        ("flat ncp", _width(evaluation.flat_ncp, "that holds")),
    ]


def _bound_lines(evaluation: Evaluation) -> list[tuple[str, str]]:
    """Say how far from the least possible the release is at most."""
    if (least := evaluation.bounds) is None:
        return []
    lines = [("least", f"{least}, by {least.by}" if least.possible else str(least))]
    losses = [("flat NCP", least.times_flat_ncp(evaluation.flat_ncp))]
    if evaluation.has_hierarchy:
        losses.append(("NCP", least.times_ncp(evaluation.ncp)))
    told = [f"{name} at most {times:.3g} times" for name, times in losses if _known(times)]
    if told:
        lines.append(("", f"{' and '.join(told)} the least possible without suppression"))
    return lines


def _known(times: float | None) -> bool:
    return times is not None and math.isfinite(times)


def _width(ncp: float, wide: str) -> str:
    return (
        f"{ncp:.3g}: on average an occurrence became a group {wide} {100 * ncp:.3g} % of all items"
    )


def _errors(answers: Answers) -> str:
    n = len(answers.workload)
    queries = "1 query" if n == 1 else f"{n:,} queries"
    return (
        f"AvgRE {answers.avg_re:.3g}, median {answers.median_re:.3g}, in {queries} "
        f"of {answers.workload.title}"
    )


def _pattern_lines(patterns: Patterns) -> list[tuple[str, str]]:
    frequent = f"held by at least {count_of(patterns.min_count, 'transaction')}"
    confident = f"of at least {patterns.min_confidence:g} % confidence"
    lines = [
        ("itemsets", _survivors(patterns.itemsets, f"itemsets {frequent}")),
        ("rules", _survivors(patterns.rules, f"rules {confident}")),
    ]
    if patterns.top:
        lines.append(
            (
                "top",
                f"of the {patterns.top:,} most frequent itemsets, {patterns.n_top_kept:,} are "
                f"among the {patterns.top:,} that seem so",
            )
        )
    return lines


def _survivors(survival: Survival, what: str) -> str:
    if survival.recall is None:
        seen = f"there are no {what}"
    else:
        seen = (
            f"{survival.n_both:,} of {survival.n_original:,} {what} are seen in the release "
            f"({100 * survival.recall:.3g} %)"
        )
    if survival.precision is None:
        return f"{seen}; none is seen"
    return f"{seen}; {100 * survival.precision:.3g} % of {survival.n_estimated:,} seen are true"
