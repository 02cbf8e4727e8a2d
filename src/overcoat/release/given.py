"""What users hand in, as values: one way for every function.

Data are `Transactions` or anything `read` takes. A `Result` is taken for whatever part of it is
asked for. Paths are taken for mappings and policies.
"""

from __future__ import annotations

import os
from collections.abc import Mapping as Abstract
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from inspect import signature
from pathlib import Path
from typing import Any

from overcoat.algorithms import Method, take_method
from overcoat.context import QUIET, Context, Stage
from overcoat.data.io import Asked, output_layout, read, read_as, read_source
from overcoat.data.io.databases.address import is_address
from overcoat.data.io.dialects import guess_columns, looks_like_table
from overcoat.data.io.frames import home
from overcoat.data.io.names import is_parquet_name
from overcoat.data.io.source import open_source
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError, MappingError, PolicyError, Problem
from overcoat.mapping import Mapping
from overcoat.policy.config import read_policy, read_settings
from overcoat.policy.policy import BoundPolicy, Policy, given_parts
from overcoat.release.result import Result

__all__ = [
    "MappingLike",
    "PolicyLike",
    "Run",
    "ask",
    "fill_in",
    "method_of",
    "pair_notes",
    "read_release",
    "release_notes",
    "take_data",
    "take_mapping",
    "take_policy",
    "take_release",
]

# What options of the command are called here, where that is something else.
_COMMAND_WORDS = {"algorithm": "method", "s": "max_suppressed", "m": "privacy", "km": "privacy"}

PolicyLike = Policy | BoundPolicy | Result | str | Path
MappingLike = Abstract[str, str | None] | Result | str | Path  # a `Mapping` is one, too


def take_data(
    given: Any, options: dict[str, Any] | None = None, context: Context | None = None
) -> Transactions:
    """Take the original: transactions, a result, or anything `read` takes with its options."""
    if isinstance(given, Result):
        given = given.data
    known = signature(read).parameters
    for name in options or ():
        if name not in known:
            near = get_close_matches(name, [*known, "allow_identifiers", "label_from"], 1)
            meant = _COMMAND_WORDS.get(name) or "".join(near)
            hint = f"; did you mean {meant!r}?" if meant else ""
            raise TypeError(f"there is no option {name!r}{hint}")
    if isinstance(given, Transactions):
        if options:
            raise TypeError(f"{', '.join(options)}: these data have been read already")
        return given
    with Context.of(context).stage("read") as stage:
        return read(given, stage=stage, **(options or {}))


def take_release(
    given: Any, data: Transactions, to: str | None = None, *, stage: Stage = QUIET
) -> Transactions:
    """Take a release of some data; a file has the layout of the input unless its name says else.

    Where it has not, its separator and its columns are looked for, unless `to` says which.
    """
    if isinstance(given, Result):
        return given.released
    if is_address(given):
        from overcoat.data.io.databases.reading import read_table

        return read_table(given, data.layout, to, stage=stage)
    if isinstance(given, (str, os.PathLike)):
        layout = output_layout(given, data.layout, to)
        if layout.format == "basket" and to is None:
            table = _columns(given, layout, stage)
            if table is not None:
                return read_source(given, table, stage=stage)
        try:
            return read_as(given, layout, stage=stage)
        except DataError:
            asked = Asked(items=layout.items if layout.format == "list" else None)
            if layout.format == "long":
                asked = Asked(id=layout.id, item=layout.item)
            found = _read_otherwise(given, [asked, *_others(asked, given)], stage)
            if found is None or to is not None:
                raise
            return found
    if given is None:
        raise DataError("the release is missing: give it, or the Result that has it")
    columns: dict[str, Any] = {}
    if home(given) is not None and data.layout is not None and data.layout.format == "long":
        columns = {"id": data.layout.id, "item": data.layout.item}
    return read(given, stage=stage, **columns)


def _columns(source: str | os.PathLike[str], layout: Layout, stage: Stage) -> Asked | None:
    """Return the columns of a release that is a table though its original was none."""
    if os.fspath(source) == "-":
        return None  # it can be read once only
    with open_source(source, stage) as opened:
        found = looks_like_table(opened.first_lines(), layout)
    return None if found is None else Asked(**guess_columns(found[0]))


def read_release(source: Any, asked: Asked, *, stage: Stage = QUIET) -> Transactions:
    """Read a release by itself, with what is said of its original, which has another layout.

    The columns of a wide table become one, lists may become lines, and the other way round.
    """
    try:
        return read_source(source, asked, stage=stage)
    except DataError:
        found = _read_otherwise(source, _others(asked, source), stage)
        if found is None:
            raise
        return found


def _others(asked: Asked, source: Any) -> list[Asked]:
    """Return how else a release may have to be read."""
    others = []
    if asked.item is not None:
        item = "value" if asked.id == "item" else "item"
        others.append(replace(asked, id=asked.id or "id", item=item, sep=None))
    lists = isinstance(source, (str, os.PathLike)) and is_parquet_name(os.fspath(source))
    if asked.items is not None or lists:
        others.append(replace(asked, id=None, item=None, items=None))
    if asked.items is not None:
        others.append(replace(asked, id="id", item="item", items=None))
    return others


def _read_otherwise(source: Any, ways: list[Asked], stage: Stage) -> Transactions | None:
    """Return a release read in the first way that can be; None where none does."""
    if not isinstance(source, (str, os.PathLike)) or os.fspath(source) == "-":
        return None  # it can be read once only
    for asked in ways:
        with suppress(DataError):
            return read_source(source, asked, stage=stage)
    return None


def release_notes(released: Transactions, mapping: Mapping) -> list[Problem]:
    """Say that a mapping is of another release."""
    if mapping.release in (None, released.content_digest):
        return []
    return [Problem("was written with another release than this one", mapping.file)]


def pair_notes(data: Transactions, released: Transactions, mapping: Mapping) -> list[Problem]:
    """Say what about a release, its mapping and its original does not go together."""
    notes = release_notes(released, mapping)
    labels = {*mapping.labels}
    if any(item not in mapping for item in data.vocabulary) and {*data.vocabulary} <= labels:
        changed = (
            "has the items of what was given as the original as labels: the original and "
            "the release may have changed places"
        )
        notes.append(Problem(changed, mapping.file))
    return notes


def fill_in(data: Any, released: Any, mapping: Any, policy: Any) -> tuple[Any, Any, Any]:
    """Return the release, the mapping and the policy, from a result wherever one was given."""
    found = next((one for one in (data, released, mapping) if isinstance(one, Result)), None)
    if found is None:
        return released, mapping, policy
    return (
        found if released is None else released,
        found if mapping is None else mapping,
        found if policy is None else policy,
    )


def take_mapping(given: Any) -> Mapping:
    """Take a mapping, a file of one, a result, or a plain dict from items to labels."""
    if isinstance(given, Mapping):
        return given
    if isinstance(given, Result):
        return given.mapping
    if isinstance(given, (str, os.PathLike)):
        return Mapping.read(Path(given))
    if isinstance(given, Abstract):
        return Mapping.from_labels(given)
    if given is None:
        raise MappingError("the mapping is missing: give it, or the Result that has it")
    raise MappingError(f"a mapping is a Mapping, a file, a Result or a dict, not {given!r}")


def take_policy(given: Any) -> Policy:
    """Take a policy, a file of one, or that of a result."""
    if isinstance(given, Policy):
        return given
    if isinstance(given, Result):
        given = given.policy
    if isinstance(given, BoundPolicy):
        return given.stated
    if isinstance(given, (str, os.PathLike)):
        return read_policy(Path(given))
    if given is None:
        raise PolicyError("the policy is missing: give it, or the Result that has it")
    raise PolicyError(f"a policy is a Policy, a file or a Result, not {given!r}")


def method_of(policy: Any, method: Any) -> Method:
    """Return the method that was asked for, else that of a result or a policy file, else COAT."""
    if method is None and isinstance(policy, Result):
        return take_method(policy.method)
    if method is None and isinstance(policy, (str, os.PathLike)):
        settings = read_settings(Path(policy))
        return take_method(settings.get("algorithm"), minimise=settings.get("minimise"))
    return take_method(method)


@dataclass(frozen=True)
class Run:
    """What is to be found: by which policy, by which method, from which earlier mapping on."""

    policy: Policy
    method: Method
    start: Mapping | None


def ask(policy: Any, method: Any, start: Any, **parts: Any) -> Run:
    """Take what a run is asked for by: a whole policy, or its `parts`, of which k is one.

    A wrong method is a problem of the policy, to be told with whatever else is wrong when that is
    bound.
    """
    k = parts["k"]
    if isinstance(k, str) and k.strip().isdecimal():
        raise PolicyError(f"k must be a whole number, not a string: write k={k.strip()}")
    if isinstance(k, (str, Path)) and parts.get("privacy") is not None:
        raise PolicyError(
            f"k must be a whole number, not {str(k)!r}; a policy file stands alone, without privacy"
        )
    if policy is None and isinstance(k, (Policy, BoundPolicy, Result, str, Path)):
        policy, parts = k, {**parts, "k": None}
    given = given_parts(policy, parts)
    if policy is None and k is None:
        raise PolicyError("k is missing: how many people must an itemset match?")
    chosen = Policy(**{"privacy": (), **given}) if policy is None else take_policy(policy)
    earlier = None if start is None else take_mapping(start)
    try:
        how = method_of(policy, method)
        return Run(chosen, how if earlier is None else how.starting_from(earlier), earlier)
    except PolicyError as error:
        return Run(chosen.with_problems(error.problems), take_method(None), earlier)
