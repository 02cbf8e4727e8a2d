"""Measures of what a release costs: pure functions."""
