"""The two editions of the report on a release: one for the house, one that may leave it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from html import escape

from overcoat.advice.price import Prices
from overcoat.data.layout import Layout
from overcoat.evidence import External, Internal
from overcoat.html import Raw, labelled, table
from overcoat.reports.inside import (
    error_section,
    inside_rows,
    least_section,
    named_rows,
    price_section,
    reasons_of,
)
from overcoat.reports.page import page, scrolling
from overcoat.reports.sections import (
    cards,
    contents,
    digest_rows,
    group_section,
    listed,
    paragraphs,
    parameter_rows,
    plain,
    risk_section,
    section,
    size_section,
    violation_list,
)
from overcoat.reports.style import STYLE
from overcoat.reports.wording import board, costs, gaps, promises, safety
from overcoat.words import count_of, known_words, people, share

__all__ = ["external_page", "internal_page"]

_EXTERNAL = (
    "External edition. Everything here was worked out from the published files alone: the released "
    "rows, the mapping and the policy."
)
_INTERNAL = (
    "Internal edition. It has figures of the original that the release does not show. Do not pass "
    "it on: the external edition is made for that."
)
_CHECK = """\
overcoat verify RELEASED{columns} --mapping MAPPING --certificate PUBLIC-CERTIFICATE
overcoat verify RELEASED{columns} --mapping MAPPING --policy POLICY
overcoat report RELEASED{columns} --mapping MAPPING --policy POLICY -o external.html"""


def external_page(told: External) -> str:
    """Return the external edition, a function of what was published."""
    sets = [[labelled(one.name), one.number, _yes(one.exact)] for one in told.counts]
    head = ["Set", "People in the release", "Exact"]
    return _page(
        "Report on a release",
        _EXTERNAL,
        [
            _first_screen(told, costs(told)),
            ("board", "For the board", _board(board(told))),
            ("risk", "Risk", _risk(risk_section(told.n_transactions, told.k, told.risk, None))),
            *_sets(sets, head),
            ("groups", "Groups", group_section(told, told.published.names, None)),
            ("sizes", "Sizes and supports", size_section(told)),
            ("checks", "Parameters and digests", _checks(told, [], [])),
        ],
    )


def internal_page(told: Internal, prices: Prices | None = None) -> str:
    """Return the internal edition; `prices` say what each part of the policy costs."""
    outside = told.external
    sets, head = named_rows(told, None if prices is None else prices.words())
    risk = risk_section(outside.n_transactions, outside.k, outside.risk, told.risk)
    parameters, digests = inside_rows(told)
    return _page(
        "Report on a release",
        _INTERNAL,
        [
            _first_screen(outside, costs(outside, told)),
            ("board", "For the board", _board(board(outside, told))),
            ("risk", "Risk before and after", _risk(risk)),
            *_sets(sets, head),
            ("groups", "Groups", group_section(outside, told.names, reasons_of(told))),
            ("sizes", "Sizes and supports", size_section(outside)),
            ("errors", "Error of counts", error_section(told)),
            ("least", "How far from the least loss?", least_section(told)),
            *([("price", "What each wish costs", price_section(prices))] if prices else []),
            ("checks", "Parameters and digests", _checks(outside, parameters, digests)),
        ],
    )


Section = tuple[str, str, Iterator[str]]


def _page(title: str, edition: str, parts: list[str | Section]) -> str:
    sections = [part for part in parts if not isinstance(part, str)]
    first = [part for part in parts if isinstance(part, str)]
    kind, _, explained = edition.partition(". ")
    body = [
        f'<p><span class="edition">{escape(kind)}</span> {escape(explained)}</p>',
        *first,
        contents([(name, heading) for name, heading, _ in sections]),
        *(section(name, heading, inside) for name, heading, inside in sections),
    ]
    return page(title, body, style=STYLE, paper="portrait")


def _first_screen(told: External, cost: list[str]) -> str:
    verdict = told.verdict
    good = verdict.ok and told.k > 1
    answer = safety(told)
    short, _, rest = answer.partition(". " if not answer.startswith("Yes,") else ": ")
    safe = f'<p class="big">{escape(short)}.</p><p>{escape(rest[:1].upper() + rest[1:])}</p>'
    size = f"{people(told.n_transactions)}, {count_of(told.n_items, 'item')}."
    safe += f"<p>{plain(f'{size} {_unique(told)}')}</p>"
    if not verdict.ok:
        safe += violation_list(verdict)
    return cards(
        [
            ("good" if good else "bad", "Is it safe?", safe),
            ("plain", "Under which policy?", listed(promises(told))),
            ("plain", "What did it cost?", paragraphs(cost)),
            ("open", "What is not covered?", listed(gaps(told), headed=True)),
        ]
    )


def _unique(told: External) -> str:
    """Say who is unique with as much known as the policy is about."""
    at = next(one for one in told.risk if one.known == (told.m or 2))
    who = share(at.unique, told.n_transactions, at.exact)
    return f"With {known_words(at.known)}, {who} {'is' if at.unique < 2 else 'are'} unique."


def _board(texts: list[str]) -> Iterator[str]:
    yield "<p>To be copied into an application or a protocol:</p>"
    yield f"<blockquote>{paragraphs(texts)}</blockquote>"


def _risk(parts: Iterator[str]) -> Iterator[str]:
    """Put figures side by side where there is room."""
    every = list(parts)
    figures = [part for part in every if part.startswith("<figure")]
    others = [part for part in every if not part.startswith("<figure")]
    yield others[0]
    yield f'<div class="plots">{"".join(figures)}</div>'
    yield from others[1:]


def _sets(rows: list[list[object]], head: list[str]) -> list[str | Section]:
    if not rows:
        return []

    def inside() -> Iterator[str]:
        yield (
            "<p>How many people have something of a set. A count is exact if nothing of the set "
            "was left out and none of its groups reaches outside: then it is the same before and "
            "after.</p>"
        )
        yield scrolling(table(rows, head, count_of(len(rows), "named set")), "Named sets")

    return [("sets", "Named sets", inside())]


def _checks(
    told: External, parameters: list[tuple[str, object]], digests: list[tuple[str, object]]
) -> Iterator[str]:
    rows = [*parameter_rows(told), *parameters]
    yield scrolling(table(rows, ["Parameter", "Value"], "Parameters"), "Parameters")
    yield scrolling(
        table([*digest_rows(told), *digests], ["File", "SHA-256"], "Digests"), "Digests"
    )
    yield (
        "<p>Whoever has the published files can check all of the external edition. The public "
        "certificate holds the policy; it may also be a file of its own:</p>"
    )
    check = _CHECK.format(columns=_columns(told.published.layout))
    yield f"<pre><code>{escape(check)}</code></pre>"


def _columns(layout: Layout | None) -> str:
    """Return the options that name the columns of a release."""
    if layout is None or (layout.format == "basket" and not layout.header):
        return ""
    if layout.format == "basket":
        return " --header"
    words = ["--items", layout.items]
    if layout.format == "long":
        words = ["--id", layout.id, "--item", layout.item]
    return f" {shlex.join(words)}"


def _yes(is_so: bool) -> Raw:
    return Raw("yes") if is_so else Raw("no")
