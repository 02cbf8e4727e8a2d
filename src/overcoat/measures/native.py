"""The compiled counting, or its slow twin where that is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overcoat.engines import load

if TYPE_CHECKING:
    from overcoat.measures import reference as _counting
else:
    _counting = load("overcoat.measures.counting", "overcoat.measures.reference")

__all__ = ["set_supports"]

set_supports = _counting.set_supports
