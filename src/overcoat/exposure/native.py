"""The compiled counting, or its slow twin where that is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overcoat.engines import load

if TYPE_CHECKING:
    from overcoat.exposure import reference as _counting
    from overcoat.exposure import reference as _persons
else:
    _counting = load("overcoat.exposure.counting", "overcoat.exposure.reference")
    _persons = load("overcoat.exposure.persons", "overcoat.exposure.reference")

__all__ = ["Persons", "least_holders", "weigh_sets"]

Persons = _persons.Persons
least_holders = _counting.least_holders
weigh_sets = _counting.weigh_sets
