"""The compiled counts, or their slow twins where these are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overcoat.engines import load

if TYPE_CHECKING:
    from overcoat.verification import reference as _counting
else:
    _counting = load("overcoat.verification.counting", "overcoat.verification.reference")

__all__ = ["image_supports", "rows_match", "shared_labels", "weakest_sets"]

image_supports, rows_match = _counting.image_supports, _counting.rows_match
shared_labels, weakest_sets = _counting.shared_labels, _counting.weakest_sets
