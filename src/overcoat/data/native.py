"""The compiled parts of `data`, or their slow twins where these are missing."""

from __future__ import annotations

try:
    from overcoat.data.baskets import Tokenizer, format_rows
    from overcoat.data.rows import canonical_rows, contained_rows, item_supports
except ImportError:  # pragma: no cover - the package is normally installed with its kernels
    from overcoat.data.reference import (
        Tokenizer,
        canonical_rows,
        contained_rows,
        format_rows,
        item_supports,
    )

__all__ = ["Tokenizer", "canonical_rows", "contained_rows", "format_rows", "item_supports"]
