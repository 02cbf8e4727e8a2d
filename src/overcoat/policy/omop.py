"""Settings that ask for something of the OMOP model that is read: a hierarchy, utility sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from overcoat.data.io import Asked
from overcoat.errors import InputError, PolicyError, Problem
from overcoat.policy.hierarchy import OMOP, Hierarchy
from overcoat.policy.sets import Sets

__all__ = ["settle_omop"]


class Data(Protocol):
    """A source, and what is said of it."""

    @property
    def source(self) -> Any:
        """What is read."""

    @property
    def asked(self) -> Asked:
        """How."""


def settle_omop(
    settings: Mapping[str, Any], data: Data | None
) -> tuple[dict[str, Any], list[Problem]]:
    """Return settings in which what comes from the model has been read, and what went wrong.

    So a policy is a value, which needs no database any more.

    Parameters
    ----------
    settings : by the keys of `policy.toml`: a `hierarchy` ``omop``, a `utility`
        ``omop:ID,ID,…``; all others stay as they are
    data : what the settings are about

    >>> settings, problems = settle_omop({"k": 5, "hierarchy": "omop"}, None)
    >>> settings, problems[0].message
    ({'k': 5}, 'hierarchy omop: needs an OMOP model as data (--omop)')
    """
    settled, problems = dict(settings), []
    for key in ("hierarchy", "utility"):
        text = settings.get(key)
        if not isinstance(text, str) or not (text == OMOP or text.startswith(f"{OMOP}:")):
            continue
        try:
            if data is None or not data.asked.omop:
                raise PolicyError("needs an OMOP model as data (--omop)")
            settled[key] = _read(key, text, data.source, data.asked.domain, settings)
        except InputError as error:
            del settled[key]
            problems += [
                Problem(f"{key} {text}: {problem.message}", problem.file)
                for problem in error.problems
            ]
    return settled, problems


def _read(
    key: str, text: str, source: Any, domain: str | None, settings: Mapping[str, Any]
) -> Hierarchy | Sets:
    if key == "hierarchy":
        if text != OMOP:
            raise PolicyError("a hierarchy is omop, and nothing after it")
        return Hierarchy.omop(source, domain)
    from overcoat.data.io.omop.concepts import concept_sets

    ids = text.removeprefix(OMOP).removeprefix(":").split(",")
    if not all(one.strip().isdecimal() for one in ids):
        raise PolicyError("name concepts by their ids: omop:201820,257907")
    ignore = bool(settings.get("ignore_unknown"))
    return Sets.of(concept_sets(source, [int(one) for one in ids], domain, ignore_unknown=ignore))
