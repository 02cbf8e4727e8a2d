"""The compiled parts of `data`, or their slow twins where these are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overcoat.engines import load

if TYPE_CHECKING:
    from overcoat.data import reference as _baskets
    from overcoat.data import reference as _containment
    from overcoat.data import reference as _heap
    from overcoat.data import reference as _rows
else:
    _baskets = load("overcoat.data.baskets", "overcoat.data.reference")
    _containment = load("overcoat.data.containment", "overcoat.data.reference")
    _heap = load("overcoat.data.heap", "overcoat.data.reference")
    _rows = load("overcoat.data.rows", "overcoat.data.reference")

__all__ = [
    "Tokenizer",
    "canonical_rows",
    "contained_rows",
    "first_unsorted",
    "format_rows",
    "gathered_rows",
    "give_back_memory",
    "item_supports",
    "rows_by_item",
]

Tokenizer, format_rows = _baskets.Tokenizer, _baskets.format_rows
canonical_rows, gathered_rows = _rows.canonical_rows, _rows.gathered_rows
contained_rows, give_back_memory = _containment.contained_rows, _heap.give_back_memory
first_unsorted, item_supports = _rows.first_unsorted, _rows.item_supports
rows_by_item = _rows.rows_by_item
