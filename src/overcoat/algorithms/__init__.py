"""Anonymization methods: how a partition of the items is found, one file each."""

from overcoat.algorithms.method import Method
from overcoat.algorithms.methods import methods, take_method

__all__ = ["Method", "methods", "take_method"]
