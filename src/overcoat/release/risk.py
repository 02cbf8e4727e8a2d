"""The risk of data and of a release, as users ask for it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from overcoat.context import Context
from overcoat.data.io.databases.address import shown
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError, VerificationError
from overcoat.exposure.risk import Attack, Risk, assess
from overcoat.exposure.risk import attack as simulate
from overcoat.mapping import Mapping
from overcoat.release.given import MappingLike, fill_in, take_data, take_mapping, take_release
from overcoat.release.result import Result

__all__ = ["attack", "risk"]


def risk(
    data: Any,
    released: Any = None,
    mapping: MappingLike | None = None,
    *,
    known: int = 3,
    k: int | None = None,
    linkable: Iterable[str] | None = None,
    seed: int = 0,
    also: Any = (),
    context: Context | None = None,
    **options: Any,
) -> Risk:
    """Say what an attacker who knows some items of a person can do, before and after.

    Parameters
    ----------
    data : the original, `Transactions` or anything `read` takes, with its options; or a `Result`,
        which has all the rest
    released : the released rows, or a file of them
    mapping : its mapping, or a mapping file
    known : for 1, 2, … up to so many known items, and for the whole row
    k : the crowd that is large enough; by default that of the result's policy, else 5
    linkable : the items an attacker may know; by default all
    seed : of the draws, where there are too many sets to count them all
    also : what else was published about the same people: a mapping, a file of one, a `Result`, a
        pair (released, mapping), or a list of these. The risk then has `also`, each of them alone,
        and `together`, which no attacker who has them all can exceed
    context : how to run

    >>> risk([{"a", "b"}, {"a", "c"}, {"a", "b"}], known=1)
    Risk(3 people: 1 unique with 1 known, 1 unique with all known)
    """
    context = Context.of(context)
    original, known_mapping = _taken(data, released, mapping, options, context)
    if k is None:
        k = data.policy.k if isinstance(data, Result) else 5
    every = also if isinstance(also, list) else [also] if also else []
    others = [_other(one, original, context) for one in every]
    if others and known_mapping is None:
        raise DataError("what several releases tell together needs a release, and others (also)")
    with context.stage("risk") as stage:
        return assess(
            *(original, known_mapping),
            known=known,
            k=k,
            linkable=linkable,
            seed=seed,
            also=others,
            stage=stage,
        )


def attack(
    data: Any,
    released: Any = None,
    mapping: MappingLike | None = None,
    *,
    known: int = 3,
    number: int = 10,
    linkable: Iterable[str] | None = None,
    seed: int = 0,
    context: Context | None = None,
    **options: Any,
) -> tuple[Attack, ...]:
    """Draw people, tell an attacker some of their items, and show the rows it may be.

    For a talk or a class: it shows what `risk` counts. The parameters are those of `risk`; `number`
    is how many people are drawn.

    >>> [one.before for one in attack([{"a"}, {"a"}, {"a"}], known=1, number=2)]
    [3, 3]
    """
    context = Context.of(context)
    original, known_mapping = _taken(data, released, mapping, options, context)
    return simulate(
        original, known_mapping, known=known, number=number, linkable=linkable, seed=seed
    )


def _taken(
    data: Any, released: Any, mapping: Any, options: dict[str, Any], context: Context
) -> tuple[Any, Any]:
    released, mapping, _ = fill_in(data, released, mapping, None)
    original = take_data(data, options, context)
    if released is None and mapping is None:
        return original, None
    if mapping is None:
        raise DataError("the risk of a release needs its mapping, too")
    known = take_mapping(mapping)
    if released is not None and not isinstance(released, Result):
        _check_pair(released, known, original, context)
    return original, known


def _other(given: Any, original: Transactions, context: Context) -> Mapping:
    """Take a further release: its mapping, and if it is there, see that it is of these people."""
    if not isinstance(given, tuple):
        return take_mapping(given)
    if len(given) != 2:
        raise DataError("a further release is a mapping, or a pair: the release and its mapping")
    mapping = take_mapping(given[1])
    _check_pair(given[0], mapping, original, context)
    return mapping


def _check_pair(released: Any, mapping: Mapping, original: Transactions, context: Context) -> None:
    copy = take_release(released, original, stage=context.start("read"))
    if mapping.apply(original) != copy:
        raise VerificationError(
            f"{_called(released)} is not the data under this mapping; `overcoat verify` says where"
        )


def _called(released: Any) -> str:
    """Return what a release is called in a sentence."""
    return shown(os.fspath(released)) if isinstance(released, (str, os.PathLike)) else "the release"
