"""All that a person has chosen: a value, addressed by the digest of its content.

Whoever changes something gets another value with another address; the earlier one stays as it was.
So the back button, a reload and two tabs need no care: each address shows what it always showed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from overcoat.policy.keys import KEYS

__all__ = [
    "DEFAULTS",
    "METHODS",
    "NO_SETS",
    "READING",
    "SETTINGS",
    "Choices",
    "digest_of",
    "stated",
]

# How a source is read: the options of the command, by the names of `Asked`.
READING = (
    *("id", "item", "items", "sep", "encoding", "header", "sheet", "query"),
    *("omop", "domain", "system", "pad", "trim", "upper"),
)
# What must hold, and how it is looked for. Not `seconds`: the same choices give the same release.
SETTINGS = tuple(key for key in KEYS if key != "seconds")
DEFAULTS: dict[str, Any] = {"k": 5, "km": 2, "max_suppressed": 0.5}
METHODS = ("coat", "search", "pcta", "apriori")

_LENGTH = 16  # digits of a digest in an address
_ABOUT_SETS = ("utility", "utility_level", "hierarchy", "known", "ignore_unknown")


def digest_of(content: Any) -> str:
    """Return the digest of plain values, as it stands in addresses."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]


# The file of sets by hand as long as there are none: it is shown, and no part of the policy.
NO_SETS = f"sets-{digest_of('{}')[:8]}.json"


def stated(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what settings say as a policy.

    >>> stated({"k": 5, "utility": NO_SETS})
    {'k': 5}
    """
    return {key: one for key, one in settings.items() if (key, one) != ("utility", NO_SETS)}


@dataclass(frozen=True)
class Choices:
    """What was chosen.

    Attributes
    ----------
    source : the file or folder among those of the project, or the name of a source that the server
        was given; empty: none yet
    reading : how it is to be read; what is not said is found
    settings : the policy and the method
    names : the file that says what items are called; empty: none
    allow_identifiers : publish although items look like identifiers of people

    >>> one = Choices("a.csv")
    >>> one.changed(k=7).settings["k"], one.changed(k=7) == one, one.changed(k=5) == one
    (7, False, True)
    """

    source: str = ""
    reading: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=lambda: dict(DEFAULTS))
    names: str = ""
    allow_identifiers: bool = False

    def changed(self, **settings: Any) -> Choices:
        """Return the same with other settings; None takes one away."""
        return replace(self, settings=_merged(self.settings, settings, SETTINGS))

    def read_as(self, **reading: Any) -> Choices:
        """Return the same, to be read in another way; None takes an option away."""
        return replace(self, reading=_merged(self.reading, reading, READING))

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "source": self.source,
            "reading": dict(sorted(self.reading.items())),
            "settings": dict(sorted(self.settings.items())),
            "names": self.names,
            "allow_identifiers": self.allow_identifiers,
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Choices:
        """Build from what `to_json` returned."""
        return cls(
            str(content.get("source", "")),
            _merged({}, content.get("reading", {}), READING),
            _merged({}, content.get("settings", {}), SETTINGS),
            str(content.get("names", "")),
            bool(content.get("allow_identifiers", False)),
        )

    @property
    def digest(self) -> str:
        """By what it is addressed."""
        return digest_of(self.to_json())

    @property
    def about_data(self) -> dict[str, Any]:
        """What decides which transactions there are."""
        return {"source": self.source, "reading": dict(self.reading)}

    @property
    def about_sets(self) -> dict[str, Any]:
        """What decides which utility sets there are."""
        chosen = {key: self.settings[key] for key in _ABOUT_SETS if key in self.settings}
        return self.about_data | {"settings": chosen, "names": self.names}


def _merged(
    old: Mapping[str, Any], new: Mapping[str, Any], known: tuple[str, ...]
) -> dict[str, Any]:
    both = {**old, **new}
    said = {key: both[key] for key in known if key in both}
    return {key: one for key, one in said.items() if not (one is None or one is False or one == "")}
