"""The keys of `policy.toml`, and settings written with them; nothing here needs data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = [
    "ALIASES",
    "FILES",
    "ITEMS",
    "KEYS",
    "PARAMETERS",
    "PROTECTION",
    "comment_lines",
    "toml_value",
    "written_settings",
]

# What each key may be in TOML; on the command line a path is a path and a number is a number.
KEYS: dict[str, tuple[tuple[type, ...], str]] = {
    "k": ((int,), "a whole number"),
    "max_suppressed": ((int, float), "a percentage"),
    "privacy": ((str, list, dict), "a file name, a list of sets or a table of named sets"),
    "km": ((int,), "a whole number"),
    "linkable": ((str, list), "a file name or a list of items"),
    "private": ((str, list), "a file name or a list of items"),
    "h": ((int, float), "a percentage"),
    "pgen": ((bool,), "true or false"),
    "utility": ((str, list, dict), "a file name, a list of sets or a table of named sets"),
    "utility_level": ((int, str), "a number from the root, or a name"),
    "rest": ((str,), "together or intact"),
    "hierarchy": ((str,), "a file name, balanced:FANOUT or omop"),
    "distances": ((str,), "a file name"),
    "penalties": ((str, dict), "a file name or a table of numbers"),
    "algorithm": ((str,), "a name"),
    "minimise": ((str,), "what the algorithm is to minimise"),
    "queries": ((str,), "a file name"),
    "steps": ((int,), "a whole number"),
    "seconds": ((int, float), "a number"),
    "seed": ((int,), "a whole number"),
    "cooling": ((int, list), "a whole number, or five or ten in a list"),
    "known": ((str,), "a file name"),
    "ignore_unknown": ((bool,), "true or false"),
}
_WIDTH = 96  # of comments
ALIASES = {"s": "max_suppressed"}
FILES = (
    *("privacy", "linkable", "private", "utility"),
    *("hierarchy", "distances", "penalties", "known", "queries"),
)
PARAMETERS = ("minimise", "queries", "steps", "seconds", "seed", "cooling")  # of the method
ITEMS = ("linkable", "private")  # one set of items each
PROTECTION = ("k", "max_suppressed", "privacy", "km", *ITEMS, "h", "pgen")  # not of what it costs


def comment_lines(text: str) -> list[str]:
    """Return a text as comments of a policy file, in lines that can be read.

    >>> comment_lines("What was  asked for.")
    ['# What was asked for.']
    """
    lines, line = [], "#"
    printable = "".join(one if one.isprintable() else "?" for one in " ".join(text.split()))
    for word in printable.split(" "):
        if len(line) + 1 + len(word) > _WIDTH and line != "#":
            lines.append(line)
            line = "#"
        line += f" {word}"
    return [*lines, line]


def written_settings(settings: Mapping[str, Any]) -> str:
    """Return settings as `policy.toml` has them; names of files as they are.

    >>> print(written_settings({"km": 2, "k": 5, "linkable": ["a b", "c"], "pgen": False}), end="")
    k = 5
    km = 2
    linkable = ["a b", "c"]
    """
    lines, tables = [], []
    for key in KEYS:
        value = settings.get(key)
        if value is None or value is False:
            continue
        if isinstance(value, Mapping):
            named = (f"{toml_value(str(name))} = {toml_value(one)}" for name, one in value.items())
            tables += ["", f"[{key}]", *named]
        else:
            lines.append(f"{key} = {toml_value(value)}")
    return "\n".join([*lines, *tables]) + "\n"


def toml_value(value: Any) -> str:
    """Return a value as TOML has it: numbers, strings and lists are as in JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
