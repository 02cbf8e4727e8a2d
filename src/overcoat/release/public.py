"""What users call to make a release, to use a mapping again, and to check a release."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from overcoat.algorithms import Method
from overcoat.context import Context
from overcoat.data.identifiers import refuse_identifiers
from overcoat.errors import InfeasibleError
from overcoat.feasibility.lint import linted
from overcoat.feasibility.why import explained
from overcoat.log import event
from overcoat.policy.hierarchy import AnyHierarchy
from overcoat.policy.policy import BoundPolicy, Penalties, WeightsLike
from overcoat.policy.privacy import Family
from overcoat.policy.utility import Utility
from overcoat.release.given import (
    MappingLike,
    PolicyLike,
    ask,
    fill_in,
    pair_notes,
    take_data,
    take_mapping,
    take_policy,
    take_release,
)
from overcoat.release.naming import LabelFrom
from overcoat.release.result import Result
from overcoat.release.walk import find_release, make_release
from overcoat.verification import Verdict
from overcoat.verification import verify as check

__all__ = ["anonymize", "apply_mapping", "verify"]


def anonymize(
    data: Any,
    k: int | PolicyLike | None = None,
    privacy: Family | Iterable[Family] | None = None,
    *,
    utility: Utility | str | Path | Iterable[Any] | None = None,
    max_suppressed: float | None = None,
    hierarchy: AnyHierarchy | str | Path | None = None,
    weights: WeightsLike | None = None,
    penalties: Penalties | None = None,
    policy: PolicyLike | None = None,
    method: Method | str | None = None,
    start: MappingLike | None = None,
    partial: bool = False,
    allow_identifiers: bool = False,
    label_from: LabelFrom | None = None,
    context: Context | None = None,
    **options: Any,
) -> Result:
    """Find the mapping that meets the policy with little loss, apply it and verify it.

    Parameters
    ----------
    data : `Transactions`, or anything `read` takes (with its `id`, `item`, `items`, … options)
    k : each protected itemset must match at least k people, or nobody; or a whole policy
    privacy : the families of protected itemsets: `Itemsets`, `AllItemsets`,
        `Coherence`, `Pgen`
    utility : which items may be merged: a `Utility`, a file or sets; by default all with all
    max_suppressed : s, in percent of the items that occur; by default 0.5
    hierarchy, weights : how far apart items are; by default all the same
    penalties : loss of suppressing each item; by default its support / N
    policy : a whole `Policy`, or a policy file, instead of all the above
    method : how the mapping is found, a `Method` or its name; by default the one that the policy
        file names, else `Coat`
    start : the mapping of an earlier release, its file or its `Result`: its groups are kept and
        only merged further, what it suppresses stays suppressed, new items are placed where the
        policy asks for it; the result's `moved` says what has changed
    partial : when the policy cannot be met within s, return what would have met it, for study
        only, instead of raising `InfeasibleError`
    allow_identifiers : publish items although they look like identifiers of people
    label_from : name a group after the utility set, or the node of the hierarchy, that it is: all
        of it, or at least 80 percent, which the label then says (``lungs(8/10)``)
    context : how to run: progress, cancelling, threads, memory

    Raises
    ------
    DataError : the data cannot be read, or their items look like identifiers of people
    PolicyError : the policy is wrong; all its problems at once
    InfeasibleError : it cannot be met within s
    VerificationError : verification failed, which is a bug in Overcoat or in your method

    >>> from overcoat.policy.privacy import AllItemsets
    >>> rows = [{"a", "b"}, {"a", "c"}, {"a"}, {"a"}, {"b"}]
    >>> result = anonymize(rows, 2, AllItemsets(2), max_suppressed=0)
    >>> result.mapping.groups, result.verdict.largest_k
    ({'a': ('a',), '(b|c)': ('b', 'c')}, 2)
    """
    context = Context.of(context)
    data = take_data(data, options, context)
    asked = ask(
        policy,
        method,
        start,
        k=k,
        privacy=privacy,
        utility=utility,
        max_suppressed=max_suppressed,
        hierarchy=hierarchy,
        weights=weights,
        penalties=penalties,
    )
    seconds: dict[str, float] = {}
    with context.stage("policy", seconds) as stage:
        identifiers = refuse_identifiers(data, allow=allow_identifiers, stage=stage)
        bound = asked.policy.bind(data, known=asked.start or (), stage=stage)
        bound = linted(data, bound, stage=stage)
    try:
        return find_release(
            *(data, bound, asked.method),
            partial=partial,
            context=context,
            seconds=seconds,
            identifiers=identifiers,
            label_from=label_from,
        )
    except InfeasibleError as error:
        raise explained(error, bound, stage=context.start("suggest")) from None


def apply_mapping(
    data: Any,
    mapping: MappingLike,
    policy: PolicyLike | None = None,
    *,
    allow_identifiers: bool = False,
    context: Context | None = None,
    **options: Any,
) -> Result:
    """Publish `data` under a mapping found earlier, if the policy holds for it.

    The domain may have shrunk; an item that the mapping does not know is an error.

    Parameters
    ----------
    data : `Transactions`, or anything `read` takes, with its options
    mapping : a `Mapping`, a mapping file, or the `Result` that has one
    policy : what must hold; by default that of the result
    allow_identifiers : publish items although they look like identifiers of people
    context : how to run

    Raises
    ------
    UnknownItemsError : the mapping does not cover the data
    VerificationError : the policy does not hold; the error's `verdict` says where
    """
    context = Context.of(context)
    data = take_data(data, options, context)
    if policy is None and isinstance(mapping, Result):
        policy = mapping
    chosen = take_policy(policy)
    known = take_mapping(mapping)
    seconds: dict[str, float] = {}
    with context.stage("policy", seconds) as stage:
        identifiers = refuse_identifiers(data, allow=allow_identifiers, stage=stage)
        bound = chosen.bind(data, known=known, stage=stage)
    return make_release(data, bound, known, context, seconds, identifiers)


def verify(
    data: Any,
    released: Any = None,
    mapping: MappingLike | None = None,
    policy: PolicyLike | None = None,
    *,
    context: Context | None = None,
    **options: Any,
) -> Verdict:
    """Check a release against the original, its mapping and the policy.

    Parameters
    ----------
    data : the original, `Transactions` or anything `read` takes, with its options; or a `Result`,
        which has all the rest
    released : the released rows, over labels, or a file of them
    mapping : what the release claims to have applied, or a mapping file
    policy : what must hold, or a policy file
    context : how to run

    >>> from overcoat.policy.policy import Policy
    >>> from overcoat.policy.privacy import AllItemsets
    >>> rows = [{"a", "b"}, {"a"}, {"b"}, {"a", "b"}]
    >>> untouched = {"a": "a", "b": "b"}
    >>> verdict = verify(rows, rows, untouched, Policy(3, AllItemsets(2)))
    >>> verdict.ok, verdict.largest_k, verdict.violations[0].message
    (False, 2, '{a, b} is supported by 2, fewer than k = 3')
    """
    context = Context.of(context)
    released, mapping, policy = fill_in(data, released, mapping, policy)
    original = take_data(data, options, context)
    known = take_mapping(mapping)
    copy = take_release(released, original, stage=context.start("read"))
    if isinstance(policy, Result) and policy.data is original:
        policy = policy.policy  # bound to these data already
    if not isinstance(policy, BoundPolicy):
        with context.stage("policy") as stage:
            policy = take_policy(policy).bind(original, known=known, stage=stage)
    for note in pair_notes(original, copy, known):
        event("note", str(note), level=logging.WARNING)
    with context.stage("verify") as stage:
        return check(original, copy, known, policy, stage=stage)
