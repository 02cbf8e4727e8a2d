"""What only the internal edition shows: figures of the original."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from overcoat.advice.price import Prices
from overcoat.algorithms.outcome import Searched
from overcoat.evidence import Internal
from overcoat.exposure.native import Persons
from overcoat.html import Raw, escape, labelled, table
from overcoat.least.bounds import Bounds
from overcoat.reports.page import scrolling
from overcoat.reports.plots import Bars, draw
from overcoat.reports.price import PRICE_COLUMNS, price_rows
from overcoat.reports.wording import errors
from overcoat.words import count_of, listed

__all__ = [
    "error_section",
    "inside_rows",
    "least_section",
    "named_rows",
    "price_section",
    "reasons_of",
]

_POINTS = 6  # of a search, beside its start

Rows = list[tuple[str, object]]


def named_rows(
    told: Internal, prices: Mapping[str, str] | None = None
) -> tuple[list[list[object]], list[str]]:
    """Return each named set before and after, with its price where that is known, in words."""
    head = ["Set", "People before", "People after", "Exact", "Items", "Left out"]
    rows: list[list[object]] = [
        [
            labelled(one.name),
            one.before,
            one.after,
            "yes" if one.exact else "no",
            one.n_items,
            one.n_suppressed,
        ]
        for one in told.counts
    ]
    if prices is not None and rows:
        head.append("Price")
        for row, one in zip(rows, told.counts, strict=True):
            row.append(prices.get(one.name, "not tried"))
    return rows, head


def reasons_of(told: Internal) -> dict[str, str] | None:
    """Say of each group what asked for it first; None where nobody knows how it was found."""
    result, data = told.result, told.result.data
    persons = Persons(data.offsets, data.codes, data.counts, data.n_items)
    n_merges: dict[str, int] = {}
    first: dict[str, str] = {}
    for step in result.trace:
        label = result.mapping[step.items[0]]
        if step.action != "merge" or label is None:
            continue
        n_merges[label] = n_merges.get(label, 0) + 1
        if label not in first:
            held = persons.holding([data.vocabulary.code(item) for item in step.constraint])
            # One that nobody holds in the original was at risk through other merges only.
            if 0 < held < result.policy.k:
                who = "1 person has" if held == 1 else f"{held:,} people have"
                first[label] = f"only {who} {listed(step.constraint)}"
    if not n_merges:
        return None
    return {
        label: f"{first.get(label, 'other merges put it at risk')} ({count_of(number, 'merge')})"
        for label, number in n_merges.items()
    }


def error_section(told: Internal) -> Iterator[str]:
    """Yield how far off counts are that are estimated from the release."""
    expected = told.expected
    if expected is None:
        yield "<p>There are too many pairs of items to count the error of all of them.</p>"
        return
    yield f"<p>{escape(errors(expected))}</p>"
    rows = [
        ("one item", _error(expected.items), _error(expected.item_occurrences)),
        ("two items", _error(expected.pairs), _error(expected.pair_occurrences)),
    ]
    head = ["Count of people with", "every count alike", "as often as people have it"]
    caption = "Mean relative error of all counts that are not 0; 0: exact, 1: off by itself"
    yield scrolling(table(rows, head, caption), "Error of counts")
    yield (
        "<p>A group does not say which of its items a person has, so counts of rare items in large "
        "groups are estimated far too high: errors above 1 are usual where every item counts the "
        "same. Counts of named sets that are exact have no error.</p>"
    )


def least_section(told: Internal) -> Iterator[str]:
    """Yield how far the loss is from the least possible: what is proven, bounds, the search."""
    result, least = told.result, told.bounds
    if result.proof is not None:
        yield f"<p>{escape(_sentence(str(result.proof)))}</p>"
    if least is None:
        yield (
            "<p>Bounds on the loss take a while for these data: <code>overcoat evaluate --bounds"
            "</code> finds them.</p>"
        )
    else:
        yield f"<p>{escape(_sentence(str(least)))}{escape(_more(least))}</p>"
        yield from _bound_table(told, least)
    if result.searched is not None:
        yield from _search(result.searched)


def _more(least: Bounds) -> str:
    if least.by != "cliques":
        return ""
    return (
        " Cliques of conflicts prove that; overcoat evaluate --bounds takes linear programs, too, "
        "which take longer and may prove a little more."
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _bound_table(told: Internal, least: Bounds) -> Iterator[str]:
    losses = [("flat NCP", told.flat_ncp, least.flat_ncp, least.times_flat_ncp(told.flat_ncp))]
    if told.result.policy.hierarchy is not None:
        losses.append(("NCP", told.ncp, least.ncp, least.times_ncp(told.ncp)))
    rows = [
        (name, f"{found:.4g}", f"{float(bound):.4g}", f"{times:.3g}")
        for name, found, bound, times in losses
        if bound is not None and times is not None and math.isfinite(times)
    ]
    if not rows:
        return
    head = ["Loss, 0 to 1", "Here", "At least", "Times, at most"]
    caption = "This release, and the least that is possible without suppression"
    yield scrolling(table(rows, head, caption), "Bounds")
    text = (
        "No method, however long it works, gets below the bound without leaving items out. How far "
        "above it the least possible is, is not known."
    )
    if told.result.suppressed:
        text += " This release leaves items out, so it may lose less than the bound says."
    yield f"<p>{text}</p>"


def _search(found: Searched) -> Iterator[str]:
    """Yield how a search went on, as a picture and a sentence."""
    points = [(steps, value) for steps, value in found.trace if math.isfinite(value)]
    picked = sorted({round(n * (len(points) - 1) / _POINTS) for n in range(_POINTS + 1)})
    shown = [points[place] for place in picked] if points else []
    rows = [(f"{steps:,} steps", [(value, f"{value:.3f}")]) for steps, value in shown]
    title = "The search: the best loss so far, 1 is where it started"
    words = f"{title}. " + " ".join(f"{name}: {each[0][1]}." for name, each in rows)
    if rows:
        yield draw(Bars(title, words, ("loss",), rows, max(value for _, value in shown)))
    rests = (
        "At the end no single item could move with a gain."
        if found.at_rest
        else "It was ended before it came to rest: single items could still move with a gain."
    )
    yield (
        f"<p>It minimised “{escape(found.minimise)}” over {found.steps:,} steps from the seed "
        f"{found.seed}, and came from {found.before:.3g} to {found.after:.3g}. {rests} Where the "
        "last steps still gain much, more steps are worth their time.</p>"
    )


def _error(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def price_section(prices: Prices) -> Iterator[str]:
    """Yield what the release would cost without each part of the policy."""
    yield (
        "<p>Each line is a run that was made and verified with one thing not asked for. The price "
        "of a thing is by how much it makes the flat certainty penalty (flat NCP, 0 to 1) larger; "
        "below 0 the method does worse without it.</p>"
    )
    rows = [[labelled(row[0]), *row[1:]] for row in price_rows(prices)]
    head = [name[:1].upper() + name[1:] for name in PRICE_COLUMNS]
    yield scrolling(table(rows, head, "What the release costs without …"), "Prices")
    if prices.left_out:
        yield f"<p>{count_of(prices.left_out, 'set')} with fewer people not tried.</p>"
    for note in prices.notes:
        yield f"<p>{escape(note)}</p>"


def inside_rows(told: Internal) -> tuple[Rows, Rows]:
    """Return further parameters and digests."""
    result = told.result
    log2_ul = result.loss.log2_ul
    parameters: Rows = [
        ("method", "a mapping found earlier" if result.method is None else result.method.title),
        ("constraints", result.policy.n_constraints),
        ("loss by the paper (log2 UL)", f"{log2_ul:.3f}" if math.isfinite(log2_ul) else "none"),
        ("certainty penalty (NCP), 0 to 1", f"{told.ncp:.4g}"),
    ]
    if result.policy.hierarchy is not None:
        parameters.append(("the same without the hierarchy", f"{told.flat_ncp:.4g}"))
    if result.data.origin.read_as:
        parameters.append(("read as", result.data.origin.read_as))
    parameters += [("note", str(note)) for note in result.notes[:20]]
    if len(result.notes) > 20:
        parameters.append(("", f"… and {count_of(len(result.notes) - 20, 'note')} more"))
    digest = result.digests.get("input")
    code = Raw("no file") if digest is None else Raw(f"<code>{escape(digest)}</code>")
    return parameters, [("input; not to be told outside", code)]
