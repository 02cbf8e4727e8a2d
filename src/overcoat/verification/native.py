"""The compiled counts, or their slow twins where these are missing."""

from __future__ import annotations

try:
    from overcoat.verification.compiled import (
        image_supports,
        rows_match,
        shared_labels,
        weakest_sets,
    )
except ImportError:  # pragma: no cover - the package is normally installed with its kernels
    from overcoat.verification.reference import (
        image_supports,
        rows_match,
        shared_labels,
        weakest_sets,
    )

__all__ = ["image_supports", "rows_match", "shared_labels", "weakest_sets"]
