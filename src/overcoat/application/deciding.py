"""Before a policy is chosen: what is in the data, and which policy can be met."""

from __future__ import annotations

from overcoat.advice.profile import Profile, look_at
from overcoat.application.said import Input
from overcoat.context import Context

__all__ = ["profile"]


def profile(data: Input, *, k: int = 5, context: Context) -> Profile:
    """Say what is in some data."""
    with context.stage("read") as stage:
        transactions = data.read(stage)
    with context.stage("profile") as stage:
        return look_at(transactions, k=k, stage=stage)
