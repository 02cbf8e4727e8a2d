"""The compiled counting, or its slow twin where that is missing."""

from __future__ import annotations

try:
    from overcoat.measures.compiled import set_supports
except ImportError:  # pragma: no cover - the package is normally installed with its kernels
    from overcoat.measures.reference import set_supports

__all__ = ["set_supports"]
