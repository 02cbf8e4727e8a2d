"""What any mapping must lose at least, as users ask for it."""

from __future__ import annotations

from typing import Any

from overcoat.context import Context
from overcoat.least.bounds import Bounds, find_bounds
from overcoat.release.given import PolicyLike, take_data, take_policy
from overcoat.release.result import Result

__all__ = ["bounds"]


def bounds(
    data: Any,
    policy: PolicyLike | None = None,
    *,
    program: bool = True,
    context: Context | None = None,
    **options: Any,
) -> Bounds:
    """Say what any mapping that meets a policy without suppression must lose at least.

    Parameters
    ----------
    data : `Transactions`, or anything `read` takes, with its options; or a `Result`, which has the
        policy
    policy : a policy, or a file of one
    program : tighten the bounds by linear programs; needs SciPy, goes without where it is missing
    context : how to run

    >>> from overcoat.policy.policy import Policy
    >>> from overcoat.policy.privacy import AllItemsets
    >>> rows = [{"a", "b"}, {"a", "c"}, {"b", "c"}, {"a"}, {"b"}, {"c"}, {"d"}, {"d"}]
    >>> found = bounds(rows, Policy(2, AllItemsets(2)))
    >>> print(found)
    without suppression at least 2 items of 4 must be merged (3 conflicts)
    >>> found.flat_ncp  # a and b, say, three occurrences each: 2 * 6 / (4 * 11)
    Fraction(3, 11)
    """
    context = Context.of(context)
    if policy is None and isinstance(data, Result):
        policy = data
    stated = take_policy(policy)
    transactions = take_data(data, options, context)
    with context.stage("bounds") as stage:
        bound = stated.bind(transactions, stage=stage)
        return find_bounds(transactions, bound, program=program, stage=stage)
