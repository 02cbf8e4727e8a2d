"""Sets that count more than once: a table of them with a column that says how often.

Two layouts. A row a set, its items in one cell: ``query,weight``. Or a row an item:
``query,item,weight``, where the rows of one query say the same weight. What separates the items
of a cell is a tab, a semicolon or a comma where any cell of the table has one, else white space.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from overcoat.data.io.text import split_fields
from overcoat.errors import PolicyError, Problem
from overcoat.policy.binding import ItemSet
from overcoat.policy.sets import Sets

__all__ = ["counted_sets"]

_WEIGHT = frozenset({"weight", "weights", "count", "times", "n"})
_SET = frozenset({"query", "queries", "set", "itemset", "items"})
_ITEM = frozenset({"item", "code"})
_SEPARATORS = "\t;,"


def counted_sets(sets: Sets) -> Sets:
    """Return the sets of a table with a weight column, each called by its weight; others as given.

    >>> lines = ((1, "query,weight"), (2, "a b,3"), (3, "c,0.5"))
    >>> [(one.items, one.name) for one in counted_sets(Sets(lines=lines)).entries]
    [(('a', 'b'), '3.0'), (('c',), '0.5')]
    >>> lines = ((1, "query,weight"), (2, '"whole milk, curd",3'), (3, "hot chocolate,0.5"))
    >>> [(one.items, one.name) for one in counted_sets(Sets(lines=lines)).entries]
    [(('whole milk', 'curd'), '3.0'), (('hot chocolate',), '0.5')]
    """
    first = sets.lines[0][1] if sets.lines else ""
    for sep in _SEPARATORS:
        head = [name.strip().lower() for name in split_fields(first, sep)]
        columns = [_find(head, names) for names in (_WEIGHT, _SET, _ITEM)]
        if columns[0] is not None and (columns[1] is not None or columns[2] is not None):
            return _read(sets, sep, head, columns)
    return sets


def _find(head: Sequence[str], names: frozenset[str]) -> int | None:
    return next((place for place, name in enumerate(head) if name in names), None)


def _read(sets: Sets, sep: str, head: Sequence[str], columns: Sequence[int | None]) -> Sets:
    of_weight, of_set, of_item = columns
    assert of_weight is not None
    found: dict[object, tuple[list[str], float, int]] = {}
    problems: list[Problem] = []
    rows = [(line, split_fields(text, sep)) for line, text in sets.lines[1:]]
    of_items = of_item if of_set is None else of_set
    assert of_items is not None
    within = {sign for _, cells in rows for cell in cells[of_items : of_items + 1] for sign in cell}
    between = next((sign for sign in _SEPARATORS if sign in within), None)
    for line, cells in rows:
        if len(cells) != len(head):
            problems.append(Problem(f"has {len(cells)} columns, not {len(head)}", sets.file, line))
            continue
        weight = _number(cells[of_weight])
        if weight is None:
            message = f"{cells[of_weight]!r} is no weight: it is a number of 0 or more"
            problems.append(Problem(message, sets.file, line))
            continue
        if of_set is not None and of_item is not None:
            items, known, _ = found.setdefault(cells[of_set], ([], weight, line))
            items.append(cells[of_item])
            if known != weight:
                message = f"query {cells[of_set]!r} has two weights, {known:g} and {weight:g}"
                problems.append(Problem(message, sets.file, line))
        else:
            found[line] = (split_fields(cells[of_items], between), weight, line)
    if problems:
        raise PolicyError(problems)
    if not found:
        raise PolicyError("the table has no query", sets.file, 1)
    return Sets(
        tuple(
            ItemSet(tuple(items), repr(weight), sets.file, line)
            for items, weight, line in found.values()
        ),
        file=sets.file,
    )


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < math.inf else None
