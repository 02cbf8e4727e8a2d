"""Prices as text and as a table."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping

from overcoat.advice.cost import Cost
from overcoat.advice.price import Prices
from overcoat.words import count_of

__all__ = ["PRICE_COLUMNS", "price_lines", "price_rows", "price_tables"]

PRICE_COLUMNS = (
    *("without", "people", "flat NCP", "price", "NCP", "log2 UL"),
    *("error of items", "error of pairs"),
)


def price_rows(prices: Prices) -> list[list[str]]:
    """Return one row for the policy as it is, and one for it without each of its parts.

    The price of a part is by how much it makes flat NCP larger.
    """
    rows = [["nothing: as it is", "", *_figures(prices.cost, "")]]
    for one in prices.each:
        held = "" if one.people is None else f"{one.people:,}"
        change = prices.change(one)
        if one.without is None or change is None:
            rows.append([one.name, held, "not met", *[""] * 5])
        else:
            rows.append([one.name, held, *_figures(one.without, f"{change:+.4f}")])
    return rows


def price_lines(prices: Prices) -> str:
    """Return what each part of a policy costs, as a table and a few sentences."""
    rows = [list(PRICE_COLUMNS), *price_rows(prices)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        first, *others = (cell for cell in row)
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        lines.append(f"{first.ljust(widths[0])}  {'  '.join(cells)}".rstrip())
    lines.append(
        "price: by how much it makes flat NCP larger; below 0 the method does worse without it"
    )
    if prices.left_out:
        lines.append(
            f"{count_of(prices.left_out, 'utility set')} with fewer people not tried: --price N "
            "tries more"
        )
    return "\n".join([*lines, *prices.notes])


def price_tables(several: Mapping[str, Prices]) -> str:
    """Return the prices of policies, by name, as one CSV table, in full digits."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    head = ("kind", "without", "people", "flat_ncp", "ncp", "log2_ul")
    writer.writerow(["policy", *head, "error_items", "error_pairs", "suppressed_percent"])
    for name, prices in several.items():
        writer.writerow([name, "", "", "", *_plain(prices.cost)])
        for one in prices.each:
            writer.writerow([name, one.kind, one.name, one.people, *_plain(one.without)])
    return table.getvalue()


def _plain(cost: Cost | None) -> list[float | None]:
    if cost is None:
        return [None] * 6
    errors = cost.errors
    return [
        cost.flat_ncp,
        cost.ncp,
        cost.log2_ul if math.isfinite(cost.log2_ul) else None,
        None if errors is None else errors.items,
        None if errors is None else errors.pairs,
        cost.suppressed_percent,
    ]


def _figures(cost: Cost, change: str) -> list[str]:
    errors = cost.errors
    return [
        f"{cost.flat_ncp:.4f}",
        change,
        f"{cost.ncp:.4f}",
        f"{cost.log2_ul:.2f}" if math.isfinite(cost.log2_ul) else "none",
        "" if errors is None else f"{errors.items:.3g}",
        "" if errors is None else f"{errors.pairs:.3g}",
    ]
