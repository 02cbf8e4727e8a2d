"""Measures of what a release costs: pure functions."""

from overcoat.measures.groups import generalized_items

__all__ = ["generalized_items"]
