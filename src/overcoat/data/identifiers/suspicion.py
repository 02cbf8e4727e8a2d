"""What is suspicious about some items, in words; and refusing to publish them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET, Stage
from overcoat.data.holders import held
from overcoat.data.identifiers.columns import is_of_people, is_of_things, may_be_of_people
from overcoat.data.identifiers.kinds import KINDS, year_of
from overcoat.data.identifiers.shapes import Shapes
from overcoat.data.identifiers.structure import (
    are_swapped,
    gini,
    id_column,
    own_items,
    unique_items,
)
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError, Problem

__all__ = ["Suspicion", "refuse_identifiers", "suspects"]

_WAY_OUT = (
    "nothing was published. Read other columns, or take these items out of the data first; if they "
    "identify nobody, insist with --allow-identifiers (in Python allow_identifiers=True), which is "
    "put on record"
)


@dataclass(frozen=True)
class Suspicion:
    """A reason to think that items identify people.

    Attributes
    ----------
    rule : one word for it: kind, birth, own, unique, table, header, swapped, column
    message : what was found, with two examples
    """

    rule: str
    message: str


def refuse_identifiers(
    data: Transactions, *, allow: bool = False, file: str | None = None, stage: Stage = QUIET
) -> tuple[str, ...]:
    """Raise if the items look like identifiers; where that is allowed, return why they do.

    >>> data = Transactions.of([{"ann@example.org"}, {"bob@example.org"}, {"cem@example.org"}])
    >>> refuse_identifiers(data, allow=True)
    ("3 items look like e-mail addresses, such as 'ann@example.org' and 'bob@example.org'",)
    """
    if not isinstance(allow, bool):
        raise DataError(f"allow_identifiers must be True or False, not {allow!r}")
    found = tuple(suspicion.message for suspicion in suspects(data, stage=stage))
    if found and not allow:
        raise DataError([Problem(message, file) for message in (*found, _WAY_OUT)])
    return found


def suspects(data: Transactions, *, stage: Stage = QUIET) -> tuple[Suspicion, ...]:
    """Return the reasons to think that items of some data identify people; none if they seem fine.

    >>> [one.rule for one in suspects(Transactions.of([{"flu"}, {"flu", "gout"}, {"gout"}]))]
    []
    """
    stage()
    shapes = Shapes.of_labels(data.vocabulary.labels, stage)
    found = [*_of_columns(data), *_of_labels(data, shapes, stage)]
    header = _header(data)
    if header:
        found.append(Suspicion("header", header))
    stage()
    if len(own := own_items(data, shapes)):
        message = (
            "nearly every person has an item that nobody else has"
            f"{_such_as(data, own)}: is it a number or a name of the person?"
        )
        found.append(Suspicion("own", message))
    stage()
    if len(unique := unique_items(data, shapes)):
        message = (
            f"nearly none of the {data.n_items:,} items occurs twice{_such_as(data, unique)}: are "
            "they identifiers?"
        )
        found.append(Suspicion("unique", message))
    stage()
    if not header and len(column := id_column(data, shapes)):
        message = (
            "the rows look like those of a table, with a column of "
            f"{len(column):,} labels{_such_as(data, column)}: name the columns of the id and of "
            "the item (--id and --item)"
        )
        found.append(Suspicion("table", message))
    stage()
    if not any(one.rule == "column" for one in found) and are_swapped(data):
        message = (
            f"{data.n_items:,} items{_such_as(data, np.arange(2))} in {data.n_transactions:,} "
            "transactions, which differ more in size than the items in frequency: are the columns "
            "of the id and the item swapped?"
        )
        found.append(Suspicion("swapped", message))
    return tuple(found)


def _such_as(data: Transactions, codes: NDArray[np.int64]) -> str:
    """Name two examples: nobody needs to see the numbers of hundreds of people."""
    shown = " and ".join(repr(data.vocabulary[code]) for code in codes[:2].tolist())
    return f", such as {shown}"


def _of_labels(data: Transactions, shapes: Shapes, stage: Stage) -> Iterator[Suspicion]:
    labels, named = data.vocabulary.labels, set()
    for kind in KINDS:
        stage()
        found = kind.find(labels, shapes, data.supports)
        if len(found) and kind.name not in named:
            named.add(kind.name)
            message = f"{len(found):,} items look like {kind.name}{_such_as(data, found)}"
            yield Suspicion("kind", message)
    dates = _births(data, shapes)
    if len(dates):
        message = f"{len(dates):,} items look like dates of birth{_such_as(data, dates)}"
        yield Suspicion("birth", message)


_DATES, _YEARS = 5, 15
_DATED = 0.05  # of the transactions


def _births(data: Transactions, shapes: Shapes) -> NDArray[np.int64]:
    """Return the items that are dates, where many have one, and they go over many years.

    Dates of visits and holidays go over few years, and dates that people search for are held by
    few of them.
    """
    labels = data.vocabulary.labels
    alike = shapes.matching(lambda shape: 6 <= shape.count("9") <= 17 and len(shape) <= 26)
    years = [year_of(labels[place]) for place in alike.tolist()]
    dates = alike[[year is not None for year in years]]
    known = [year for year in years if year is not None]
    if len(dates) < _DATES or max(known) - min(known) < _YEARS:
        return dates[:0]
    is_date = np.zeros(data.n_items, bool)
    is_date[dates] = True
    dated = int(data.counts[held(data, is_date) > 0].sum())
    return dates if dated >= _DATED * data.n_transactions else dates[:0]


def _of_columns(data: Transactions) -> Iterator[Suspicion]:
    layout = data.layout
    if layout is None or layout.format == "basket":
        return
    names = _item_columns(layout)
    called = " and ".join(map(repr, names))
    people = [name for name in names if is_of_people(name)]
    if people:
        called = " and ".join(map(repr, people))
        message = f"the items come from {called}, which by its name is a column of people"
        if layout.format == "long" and not is_of_people(layout.id):
            message += f"; the id comes from {layout.id!r}: are the two swapped?"
        yield Suspicion("column", message)
    elif layout.format == "long" and is_of_things(layout.id) and not any(map(is_of_things, names)):
        # Its name says that the id is no person; something else must say that the item is.
        unlike = gini(data.lengths, data.counts) > gini(data.supports)
        if any(map(may_be_of_people, names)) or (unlike and data.n_items > data.n_transactions):
            message = f"the id comes from {layout.id!r}, the items from {called}: are they swapped?"
            yield Suspicion("column", message)


def _item_columns(layout: Layout) -> Sequence[str]:
    return [layout.items] if layout.format == "list" else layout.columns or [layout.item]


_ALONE = 20  # rows of which nothing comes again: where there are more, a header is nothing special


def _header(data: Transactions) -> str:
    """Say that a row holds the names of columns, of which one is of people; "" if none does.

    The header of a table is a row whose values never come again, and no row is longer.
    """
    longest = int(data.lengths.max(initial=0))
    if longest < 2 or data.n_transactions < 3:
        return ""
    single = data.supports == 1
    alone = (data.lengths == longest) & (held(data, single) == longest)
    rows = np.flatnonzero(alone)
    for row in rows.tolist() if len(rows) <= _ALONE else ():
        labels = [data.vocabulary[code] for code in data.row(row).tolist()]
        people = [label for label in labels if is_of_people(label)]
        if people:
            columns = ", ".join(map(repr, labels[:6]))
            return (
                f"one row is {columns}, which looks like the header of a table with a column of "
                "people: name the columns of the id and of the item (--id and --item)"
            )
    return ""
