"""Transactions and how they come in and go out."""
