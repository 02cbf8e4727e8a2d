"""The sections of a report, as HTML. Each takes what it shows, and nothing it may not show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape

import numpy as np

from overcoat._version import __version__
from overcoat.errors import PolicyError
from overcoat.evidence import External
from overcoat.exposure.reach import Reach
from overcoat.html import Raw, labelled, table
from overcoat.policy.hierarchy import Hierarchy
from overcoat.reports.page import scrolling
from overcoat.reports.plots import Bars, draw
from overcoat.verification import Verdict
from overcoat.words import count_of, known_words, percent

__all__ = [
    "cards",
    "contents",
    "digest_rows",
    "group_section",
    "listed",
    "paragraphs",
    "parameter_rows",
    "plain",
    "risk_section",
    "section",
    "size_section",
    "violation_list",
]

_MOST_LISTED = 350_000  # characters of items in all
_MOST_GROUPS = 1500
_FEW_GROUPS = 40
_SIZES = (1, 2, 3, 6, 11, 21, 51, 101, 501)
_CROWDS = (1, 5, 10, 50, 100, 500, 1000, 10_000, 100_000)


def section(name: str, title: str, parts: Iterable[str]) -> str:
    """Return a section with its heading, by which it can be reached."""
    inside = "\n".join(parts)
    return (
        f'<section id="{name}" aria-labelledby="{name}-h">\n<h2 id="{name}-h">{escape(title)}</h2>'
        f"\n{inside}\n</section>"
    )


def plain(text: str) -> str:
    """Return a text as HTML; a number stays on one line with its letter and its percent sign."""
    return escape(text).replace(" %", "&nbsp;%").replace(" = ", "&nbsp;=&nbsp;")


def paragraphs(sentences: Iterable[str]) -> str:
    """Return plain texts, a paragraph each."""
    return "\n".join(f"<p>{plain(text)}</p>" for text in sentences)


def listed(sentences: Iterable[str], *, headed: bool = False) -> str:
    """Return plain texts as a list; `headed` if the first sentence of each is its heading."""
    entries = []
    for text in sentences:
        head, stop, rest = text.partition(". ")
        entries.append(
            f"<li><strong>{plain(head)}.</strong> {plain(rest)}</li>"
            if headed and stop
            else f"<li>{plain(text)}</li>"
        )
    return f"<ul>{''.join(entries)}</ul>"


def cards(four: Iterable[tuple[str, str, str]]) -> str:
    """Return the first screen: for each card its kind, its heading, and what it says as HTML."""
    boxes = (
        f'<section class="box {kind}"><h2>{escape(title)}</h2>{inside}</section>'
        for kind, title, inside in four
    )
    return '<div class="boxes">' + "\n".join(boxes) + "</div>"


def contents(sections: Sequence[tuple[str, str]]) -> str:
    """Return links to the sections."""
    links = (f'<li><a href="#{name}">{escape(title)}</a></li>' for name, title in sections)
    return f'<nav aria-label="Contents"><ul>{"".join(links)}</ul></nav>'


def violation_list(verdict: Verdict) -> str:
    """Return what does not hold."""
    shown = "".join(f"<li>{labelled(one.message, 300)}</li>" for one in verdict.violations)
    total = sum(verdict.n_violations.values())
    more = total - len(verdict.violations)
    return f"<ul>{shown}</ul>" + (f"<p>… and {more:,} more.</p>" if more else "")


# -- risk ------------------------------------------------------------------------------------------


def risk_section(
    n_people: int, k: int, after: Sequence[Reach], before: Sequence[Reach] | None
) -> Iterator[str]:
    """Yield a picture of who is unique, and a table of all figures."""
    yield (
        "<p>Somebody knows some items of a person and looks for rows that have them. A person is "
        "<em>unique</em> if some such items fit one row only, and in a <em>small crowd</em> if "
        f"some fit fewer than {k:,} rows. The attacker may know any items.</p>"
    )
    told = [("Release", after)] if before is None else [("Original", before), ("Release", after)]
    pictures: list[tuple[str, Callable[[Reach], int]]] = [
        ("who are unique", lambda one: one.unique),
        (f"in a crowd of fewer than {k:,}", lambda one: one.below_k),
    ]
    for what, pick in pictures:
        rows = [
            (
                known_words(after[place].known),
                [
                    (pick(one[place]), f"{_about(one[place])}{percent(pick(one[place]), n_people)}")
                    for _, one in told
                ],
            )
            for place in range(len(after))
        ]
        words = f"People {what}, in percent. " + " ".join(
            f"{name}: "
            + ", ".join(
                f"{written} {series[0].lower()}"
                for (_, written), series in zip(values, told, strict=True)
            )
            + "."
            for name, values in rows
        )
        yield draw(Bars(f"People {what}", words, tuple(name for name, _ in told), rows, n_people))
    head = ["Known"]
    head += [f"{what}, {name.lower()}" for what in ("Unique", "Small crowd") for name, _ in told]
    body = [
        [
            known_words(after[place].known),
            *(_figure(one[place], "unique") for _, one in told),
            *(_figure(one[place], "below_k") for _, one in told),
        ]
        for place in range(len(after))
    ]
    yield scrolling(table(body, head, f"Of {n_people:,} people"), "Risk in numbers")
    if any(not one.exact for _, series in told for one in series):
        yield (
            "<p>“about”: estimated from people drawn at random, with the interval that holds the "
            "true number in 95 of 100 such draws.</p>"
        )


def _about(one: Reach) -> str:
    return "" if one.exact else "about "


def _figure(one: Reach, name: str) -> str:
    number = getattr(one, name)
    if one.exact or one.intervals is None:
        return f"{number:,}"
    low, high = one.intervals[name]
    return f"about {number:,} ({low:,.0f} to {high:,.0f})"


# -- groups, sizes, supports -----------------------------------------------------------------------


def size_section(told: External) -> Iterator[str]:
    """Yield how large groups are, and how many people each label stands for."""
    released, mapping = told.published.released, told.published.mapping
    size_of = {label: len(items) for label, items in mapping.groups.items()}
    people_of = dict(zip(released.vocabulary, released.supports.tolist(), strict=True))
    labels = [label for label in mapping.labels if label in people_of]
    sizes = np.array([size_of[label] for label in labels], np.int64)
    supports = np.array([people_of[label] for label in labels], np.int64)
    occurrences = int(supports.sum())
    rows = []
    for name, inside in _classes(sizes, _SIZES):
        items, shown = int(sizes[inside].sum()), int(supports[inside].sum())
        rows.append((name, int(inside.sum()), items, shown))
    plotted = [
        (_told_as(name), [(shown, percent(shown, occurrences))]) for name, _, _, shown in rows
    ]
    title = "How exactly rows tell what people have: labels in rows"
    words = title + ". " + " ".join(f"{name}: {one[0][1]}." for name, one in plotted)
    most = max((one[0][0] for _, one in plotted), default=1)
    yield draw(Bars(title, words, ("labels in rows",), plotted, most))
    yield scrolling(
        table(
            rows,
            ["Items in the group", "Labels", "Items", "Times in rows"],
            "Sizes of groups; 1: told as it is",
        ),
        "Sizes of groups",
    )
    crowds = [(name, int(inside.sum())) for name, inside in _classes(supports, _CROWDS)]
    yield scrolling(
        table(
            crowds, ["People with the label", "Labels"], "Supports: how many people have a label"
        ),
        "Supports",
    )


def _told_as(name: str) -> str:
    return "an item as it is" if name == "1" else f"one of {name} items"


def _classes(
    values: np.ndarray[tuple[int], np.dtype[np.int64]], bounds: Sequence[int]
) -> Iterator[tuple[str, np.ndarray[tuple[int], np.dtype[np.bool_]]]]:
    """Yield the classes between bounds that are not empty, by name."""
    for place, first in enumerate(bounds):
        last = bounds[place + 1] - 1 if place + 1 < len(bounds) else None
        inside = (values >= first) & (values <= last if last is not None else True)
        if inside.any():
            if last is None:
                name = f"{first:,} or more"
            else:
                name = f"{first:,}" if first == last else f"{first:,} to {last:,}"
            yield name, inside


class _Listing:
    """Lists items until there are too many for a page of moderate size; the rest is in a file."""

    def __init__(self, names: Mapping[str, str], people: Mapping[str, int]) -> None:
        self._names, self._people, self._left = names, people, _MOST_LISTED

    def __call__(self, items: Sequence[str], *, supports: bool = False) -> str:
        shown: list[str] = []
        for item in items:
            text = str(labelled(item))
            if name := self._names.get(item):
                text += f" {labelled(name)}"
            if supports:
                text += f" ({self._people.get(item, 0):,})"
            self._left -= len(text) + 2
            if self._left < 0:
                shown.append(f"… and {len(items) - len(shown):,} more: the mapping has them all")
                break
            shown.append(text)
        return "; ".join(shown)


def group_section(
    told: External, names: Mapping[str, str], reasons: Mapping[str, str] | None
) -> Iterator[str]:
    """Yield the groups with their items, the items as they were, and those left out."""
    published = told.published
    released, mapping = published.released, published.mapping
    people_of = dict(zip(released.vocabulary, released.supports.tolist(), strict=True))
    block_of = _blocks(told)
    above = _above(told)
    merged = [(label, items) for label, items in mapping.groups.items() if len(items) > 1]
    merged.sort(key=lambda group: -people_of.get(group[0], 0))
    list_items = _Listing(names, people_of)
    columns = ["Group", "Items", "People"]
    columns += ["Set"] * bool(block_of) + ["Lies under"] * bool(above)
    columns += ["Why merged"] * (reasons is not None)
    body, inside = [], []
    for label, items in merged[:_MOST_GROUPS]:
        name, size = labelled(label), count_of(len(items), "item")
        inside.append(
            f"<details><summary>{name}: {size}</summary><p>{list_items(items)}</p></details>"
        )
        row: list[object] = [name, len(items), people_of.get(label, 0)]
        row += [labelled(block_of.get(items[0], ""))] * bool(block_of)
        row += [labelled(above.get(label, ""))] * bool(above)
        row += [] if reasons is None else [labelled(reasons.get(label, ""), 200)]
        body.append(row)
    if body:
        yield "<p>Whoever has a group has one or more of its items.</p>"
        groups = scrolling(table(body, columns, _caption(len(merged))), "Groups")
        yield f'<div class="groups">{groups}</div>'
        unfolded = " open" if len(body) <= _FEW_GROUPS else ""
        yield (
            f"<details{unfolded}><summary><h3>Items of each group</h3></summary>"
            f'<div class="members">{"".join(inside)}</div></details>'
        )
        if len(merged) > len(body):
            yield f"<p>… and {len(merged) - len(body):,} more: the mapping has them all.</p>"
    else:
        yield "<p>No items were merged.</p>"
    single = [items[0] for items in mapping.members if len(items) == 1]
    if single:
        single.sort(key=lambda item: -people_of.get(item, 0))
        yield (
            f"<details><summary>{count_of(len(single), 'item')} told as "
            f"{'it is' if len(single) == 1 else 'they are'}, with the number of people"
            f"</summary><p>{list_items(single, supports=True)}</p></details>"
        )
    if mapping.suppressed:
        yield (
            f"<details open><summary>{count_of(len(mapping.suppressed), 'item')} left out"
            f"</summary><p>{list_items(mapping.suppressed)}</p></details>"
        )


def _caption(n: int) -> str:
    return "The group" if n == 1 else f"{n:,} groups, those that most people have first"


def _blocks(told: External) -> dict[str, str]:
    demands = told.demands
    return {
        demands.vocabulary[code]: block.name
        for block in demands.utility.named
        for code in block.codes
    }


def _above(told: External) -> dict[str, str]:
    """Return, for each group, the closest node of the hierarchy above all its items."""
    hierarchy = told.published.policy.hierarchy
    if not isinstance(hierarchy, Hierarchy):  # names of a balanced one say nothing
        return {}
    found = {}
    for label, items in told.published.mapping.groups.items():
        if len(items) < 2:
            continue
        paths = [hierarchy.ancestors.get(item, ())[::-1] for item in items]
        common = ""
        for depth, nodes in enumerate(zip(*paths, strict=False)):  # from the root down
            if len({*nodes}) > 1:
                break
            common = nodes[0] if depth else ""  # that all lie under the root says nothing
        found[label] = common
    return found


# -- parameters and digests ------------------------------------------------------------------------


def parameter_rows(told: External) -> list[tuple[str, object]]:
    """Return what was fixed, by the paper's letters."""
    demands, policy = told.demands, told.published.policy
    rows: list[tuple[str, object]] = [
        ("people (N)", told.n_transactions),
        ("items (M)", told.n_items),
        ("crowd (k)", told.k),
        ("largest crowd for which all holds", _any(told.verdict.largest_k)),
    ]
    if told.m is not None:
        rows.append(("items known (m)", told.m))
    rows += [
        ("may be left out (s), % of the items", f"{demands.max_suppressed:g}"),
        ("left out", f"{told.verdict.n_suppressed:,} ({told.verdict.suppressed_percent:.3g} %)"),
        ("named sets", len(demands.utility.named)),
        ("other items", policy.utility.rest),
        ("hierarchy", "yes" if policy.hierarchy is not None else "none"),
        ("order of the rows", "that of the input" if told.published.keep_order else "sorted"),
        ("Overcoat", __version__),
    ]
    return rows


def _any(k: int | None) -> object:
    return "any" if k is None else k


def digest_rows(told: External) -> list[tuple[str, object]]:
    """Return the digests of what was published."""
    published = told.published
    try:
        policy = told.demands.settled.digest
    except PolicyError:  # it has a function in it
        policy = "cannot be written down"
    return [
        ("released file", _code(published.digests.get("released"))),
        ("released rows, in whatever format", _code(published.released.content_digest)),
        ("mapping file", _code(published.digests.get("mapping"))),
        ("policy, in its canonical form", _code(policy)),
    ]


def _code(digest: str | None) -> Raw:
    return Raw("no file") if digest is None else Raw(f"<code>{escape(digest)}</code>")
