"""Risk and attacks as text."""

from __future__ import annotations

from collections.abc import Sequence

from overcoat.exposure.crowds import Crowd
from overcoat.exposure.risk import Attack, Risk
from overcoat.words import listed, people

__all__ = ["attack_lines", "risk_lines"]


def risk_lines(risk: Risk) -> str:
    """Return the risk as a small table and a few sentences."""
    head = ["items known", "unique", f"fewer than {risk.k}", "chance"]
    lines = [f"{people(risk.n_people)}; an attacker knows some items of one of them"]
    for title, crowds in risk.tables:
        rows = [_row(one, risk.n_people) for one in crowds]
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        lines += ["", title]
        for row in (head, *rows):
            cells = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            lines.append("  " + "   ".join(cells))
    lines += ["", *_histogram(risk)]
    lines += [
        "",
        "unique: some such items of these people fit one row only",
        f"fewer than {risk.k}: some fit fewer than {risk.k} rows",
        "chance: how often the attacker picks the right row, knowing items drawn at random",
    ]
    if risk.together is not None:
        lines.append(_together(risk))
    if any(not one.exact for _, crowds in risk.tables for one in crowds):
        lines.append("~: estimated from people drawn at random; --json has the intervals")
    with_others = "" if risk.items_known == 1 else " together with one more item"
    pairs = [(" + ".join(pair), number) for pair, number in risk.pairs]
    for what, others, found in (
        ("items", with_others, risk.items),
        ("pairs", " together with one more item", pairs),
    ):
        if found:
            told = ", ".join(f"{name} ({number:,})" for name, number in found)
            lines += ["", f"{what} that make most people unique in the original{others}: {told}"]
    return "\n".join(lines)


def _together(risk: Risk) -> str:
    """Say what several releases come to."""
    text = (
        "together, at most: as if one release had told which groups an item is in everywhere; an "
        "attacker who links the rows of the releases can do no more"
    )
    if risk.same_as is not None:
        text += f"\nrelease {risk.same_as + 1} alone tells as much as all of them together"
        if risk.n_new:
            new = "1 item is" if risk.n_new == 1 else f"{risk.n_new:,} items are"
            text += (
                f" about the items it knows; {new} new to it, and all that the table above adds to "
                "that release"
            )
    return text


def _histogram(risk: Risk) -> list[str]:
    """Return how many people stand in crowds of which size, for each number of known items."""
    bounds = [first for first, _ in risk.before[0].sizes]
    if not bounds:
        return []
    ends = [*(following - 1 for following in bounds[1:]), None]
    head = ["size of the crowd"]
    for first, last in zip(bounds, ends, strict=True):
        spread = f"{first}" if first == last else f"{first}-{last}"
        head.append(f"{first} or more" if last is None else spread)
    lines = []
    for title, crowds in (("original", risk.before), ("release", risk.after or ())):
        for one in crowds:
            if not one.sizes:
                continue
            known = "whole row" if one.known == "all" else f"{one.known} known"
            about = "" if one.exact else "~ "
            lines.append([f"{title}, {known}", *(f"{about}{number:,}" for _, number in one.sizes)])
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    return [
        "  "
        + row[0].ljust(widths[0])
        + "".join(
            f"   {cell.rjust(width)}" for cell, width in zip(row[1:], widths[1:], strict=True)
        )
        for row in (head, *lines)
    ]


def _row(one: Crowd, n_people: int) -> list[str]:
    about = "" if one.exact else "~ "
    known = "the whole row" if one.known == "all" else str(one.known)
    numbers = [f"{about}{n:,} ({_percent(n, n_people)})" for n in (one.unique, one.below_k)]
    return [known, *numbers, f"{about}{100 * one.chance:.3g} %"]


def _percent(number: int, of: int) -> str:
    if number and 100 * number / of < 0.05:
        return "< 0.1 %"
    return f"{100 * number / max(of, 1):.1f} %"


def attack_lines(attacks: Sequence[Attack]) -> str:
    """Return what each attacker knows, how many rows fit, and the first of them."""
    lines = []
    for number, one in enumerate(attacks, 1):
        after = "" if one.after is None else f", {one.after:,} of the release"
        what = ", ".join(one.items) or "nothing"
        fit = f"{one.before:,} row{'s' * (one.before != 1)} of the original fit"
        lines.append(f"{number}. knows {what}: {fit}{'s' * (one.before == 1)}{after}")
        lines += _candidates("original", one.before, one.rows_before)
        lines += _candidates("release", one.after or 0, one.rows_after)
    return "\n".join(lines)


def _candidates(where: str, number: int, rows: Sequence[tuple[Sequence[str], int]]) -> list[str]:
    lines = []
    for labels, people_ in rows:
        several = "" if people_ == 1 else f"  ({people_:,} rows)"
        lines.append(f"     {where.ljust(8)}  {listed(labels) or 'nothing'}{several}")
        where = ""
    more = number - sum(people_ for _, people_ in rows)
    return [*lines, f"     {'':8}  … and {more:,} more"] if lines and more else lines
