"""The compiled counts, or their slow twins where these are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overcoat.engines import load

if TYPE_CHECKING:
    from overcoat.verification import reference as _counting
    from overcoat.verification import reference as _images
    from overcoat.verification import reference as _matching
else:
    _counting = load("overcoat.verification.counting", "overcoat.verification.reference")
    _images = load("overcoat.verification.images", "overcoat.verification.reference")
    _matching = load("overcoat.verification.matching", "overcoat.verification.reference")

__all__ = [
    "image_supports",
    "index_of",
    "rows_match",
    "shared_labels",
    "weakest_parts",
    "weakest_sets",
]

image_supports, weakest_parts = _images.image_supports, _images.weakest_parts
rows_match = _matching.rows_match
index_of, shared_labels = _counting.index_of, _counting.shared_labels
weakest_sets = _counting.weakest_sets
