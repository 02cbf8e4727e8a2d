"""Puts this folder on the path: `oracle`, `strategies` and `bridge` are plain modules."""
