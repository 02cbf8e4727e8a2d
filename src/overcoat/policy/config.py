"""Policies from options and from `policy.toml`, which has the same words.

Everything wrong in any of the files is collected, to be told at once when the policy is bound.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from overcoat.data.io.text import read_lines, read_text, split_fields
from overcoat.errors import DataError, PolicyError, Problem
from overcoat.policy.binding import Lint
from overcoat.policy.hierarchy import AnyHierarchy, is_no_file, take_hierarchy
from overcoat.policy.keys import ALIASES, FILES, ITEMS, KEYS, PARAMETERS, PROTECTION
from overcoat.policy.policy import Policy
from overcoat.policy.privacy import AllItemsets, Coherence, Family, Itemsets, Pgen
from overcoat.policy.sets import Sets
from overcoat.policy.utility import Utility
from overcoat.policy.weights import Distances

_NO_TOML = (
    "; it looks like JSON. The policy of a certificate is taken by report (--policy) and by verify "
    "(--certificate)"
)
# What brackets may stand in without meaning anything, and brackets.
_TOKENS = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|\'{3}.*?\'{3}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|\#[^\n]*|[][{}]''',
    re.DOTALL,
)

__all__ = ["FILES", "KEYS", "PARAMETERS", "read_policy", "read_settings", "state_policy"]


def read_settings(path: str | Path) -> dict[str, Any]:
    """Read `policy.toml`: the keys of `KEYS`, file names relative to the file's own folder."""
    file = str(path)
    text = read_text(path, error=PolicyError)
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # beside TOMLDecodeError: monstrous numbers
        found = re.search(r"line (\d+)", str(error))
        line = int(found[1]) if found else text.rstrip("\n").count("\n") + 1  # "at end of document"
        hint = _NO_TOML if text.lstrip().startswith("{") else ""
        raise PolicyError(f"not TOML: {error}{hint}", file, line) from None
    settings: dict[str, Any] = {}
    problems = []
    for written, value in content.items():
        key = written.replace("-", "_")
        key = ALIASES.get(key, key)
        line_number = _line_of(text, written)
        if key not in KEYS:
            near = get_close_matches(key, [*KEYS, *ALIASES], 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(KEYS)}"
            problems.append(Problem(f"unknown key {written!r}; {hint}", file, line_number))
            continue
        types, wanted = KEYS[key]
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            problems.append(Problem(f"{written} must be {wanted}", file, line_number))
            continue
        if key in settings:
            problems.append(Problem(f"{written} was given before: {key}", file, line_number))
        settings[key] = value
        if key in FILES and isinstance(value, str) and not is_no_file(value):
            settings[key] = str(Path(path).parent / value)
        elif isinstance(value, (list, dict)) and key in ("privacy", "utility", *ITEMS):
            if not value:
                problems.append(Problem(f"{written} is empty", file, line_number))
            sets = [value] if key in ITEMS else value
            lines = _lines_of(text, written, value) if sets is value else [line_number]
            try:
                settings[key] = Sets.of(sets, file=file, lines=lines)
            except PolicyError as error:
                problems.extend(error.problems)
    if problems:
        raise PolicyError(problems)
    return settings


def read_policy(path: str | Path) -> Policy:
    """Read a whole policy from `policy.toml`; the method it may name is not part of it."""
    return state_policy(read_settings(path), files=[str(path)])


def state_policy(
    settings: Mapping[str, Any],
    *,
    sep: str | None = "",
    privacy: bool = True,
    files: Iterable[str] = (),
) -> Policy:
    """Build a policy from settings, reading the files they name.

    Parameters
    ----------
    settings : values for the keys of `KEYS`, None where nothing was said
    sep : how set files split items; "" as in the data
    privacy : whether the policy has to protect something; measures do without, and what it says
        about that is not even read
    files : where the settings were read

    >>> state_policy({"k": 5, "km": 2}).privacy
    (AllItemsets(2),)
    >>> (family,) = state_policy({"k": 5, "km": 2, "linkable": ["flu", "gout"]}).privacy
    >>> family.linkable.entries[0].items
    ('flu', 'gout')
    """
    named = [settings[key] for key in FILES if settings.get(key) is not None]
    given = {
        key: value
        for key, value in settings.items()
        if value is not None and (privacy or key not in PROTECTION)
    }
    lint = Lint()
    problems, attempt = lint.errors, lint.attempt

    def sets(value: Any) -> Sets:
        return Sets.read(value, sep=sep) if isinstance(value, (str, Path)) else Sets.of(value)

    def one_set(value: Any) -> Sets:
        """Take the items of one set, as `policy.toml` lists them."""
        plain = isinstance(value, list) and all(isinstance(one, str) for one in value)
        return sets([value] if plain and value else value)

    if privacy and "k" not in given:
        problems.append(Problem("k is missing: how many people must an itemset match?"))
    if "km" not in given:
        problems += [
            Problem(f"{name} items need km: how many items may an attacker know?")
            for name in ITEMS
            if name in given
        ]
    if "h" in given and "private" not in given:
        problems.append(Problem("h needs private items: give them too"))
    families: list[Family | None] = []
    if "privacy" in given:
        several = given["privacy"] if isinstance(given["privacy"], tuple) else (given["privacy"],)
        families += [attempt(lambda one=one: Itemsets(sets(one)), None) for one in several]  # type: ignore[misc]
    if "km" in given:
        # What cannot be read counts as no items and a wrong number as 1, so that the rest is
        # looked at, too.
        items = {
            name: attempt(lambda name=name: one_set(given[name]), Sets())  # type: ignore[misc]
            for name in ITEMS
            if name in given
        }
        if given.keys() & {"private", "h"}:
            items = {"private": Sets()} | items
            h = given.get("h", 100)
            families.append(
                attempt(lambda: Coherence(given["km"], h=h, **items), Coherence(1, **items))
            )
        else:
            families.append(
                attempt(lambda: AllItemsets(given["km"], **items), AllItemsets(1, **items))
            )
    if given.get("pgen"):
        families.append(Pgen())
    if privacy and not families:
        problems.append(Problem("nothing to protect: give itemsets (privacy), km, or pgen"))
    hierarchy = attempt(lambda: take_hierarchy(given.get("hierarchy")), None)
    utility = attempt(lambda: _utility(given, hierarchy, sets), Utility())
    defaults = {"k": 1, "max_suppressed": 0.5, "ignore_unknown": False}
    flat = [x for one in named for x in (one if isinstance(one, tuple) else (one,))]
    return Policy(
        files=(
            *(str(x) for x in flat if isinstance(x, (str, Path)) and not is_no_file(str(x))),
            *files,
        ),
        privacy=tuple(family for family in families if family is not None),
        utility=utility,
        hierarchy=hierarchy,
        weights=attempt(
            lambda: Distances.read(given["distances"]) if "distances" in given else None, None
        ),
        penalties=attempt(lambda: _penalties(given.get("penalties")), None),
        known=attempt(lambda: _known(given.get("known")), frozenset()),
        problems=tuple(problems),
        **{key: given.get(key, default) for key, default in defaults.items()},
    )


def _utility(
    given: Mapping[str, Any], hierarchy: AnyHierarchy | None, sets: Callable[[Any], Sets]
) -> Utility:
    rest = given.get("rest", "together")
    if "utility_level" not in given:
        return Utility(sets(given.get("utility", ())), rest=rest)
    if "utility" in given:
        raise PolicyError("give either utility sets or a level of the hierarchy, not both")
    if "hierarchy" not in given:
        raise PolicyError("a level of utility sets needs a hierarchy: give it too")
    if hierarchy is None:  # which is told elsewhere
        return Utility(rest=rest)
    return Utility.level(hierarchy, given["utility_level"], rest=rest)


def _penalties(value: Any) -> dict[str, float] | None:
    """Take a table, or read lines ``item,penalty``."""
    if value is None or isinstance(value, dict):
        return value
    penalties: dict[str, float] = {}
    problems = []
    for number, line in read_lines(value, error=PolicyError):
        try:
            item, text = split_fields(line, ",")
            penalty = float(text)
        except (ValueError, DataError):
            penalty = math.nan
        if not 0 <= penalty < math.inf:
            wanted = "expected item,penalty with a number of at least 0"
            problems.append(
                Problem(wanted, str(value), number, wanted.replace("expected", "lines are not"))
            )
        elif penalties.setdefault(item, penalty) != penalty:
            message = f"item {item!r} has another penalty already"
            many = "items have another penalty already"
            problems.append(Problem(message, str(value), number, many, repr(item)))
    if problems:
        raise PolicyError(problems)
    return penalties


def _known(value: Any) -> frozenset[str]:
    """Read a code list or a hierarchy: the first field of each line, or the whole line."""
    if value is None:
        return frozenset()
    lines = [line.strip() for _, line in read_lines(value, error=PolicyError)]
    first = [re.split(r"[;,\t]", line, maxsplit=1)[0].strip().strip('"') for line in lines]
    return frozenset(lines) | frozenset(first)


def _line_of(text: str, key: str) -> int:
    """Return the line of a TOML key, as near as one can tell."""
    return text.count("\n", 0, _place_of(text, key)) + 1


def _place_of(text: str, key: str) -> int:
    name = re.escape(key)
    found = re.search(rf"^[ \t]*(\[+\s*)?[\"']?{name}[\"']?\s*[=.\]]", text, re.MULTILINE)
    return found.start() if found else 0


def _lines_of(text: str, key: str, value: dict[str, Any] | list[Any]) -> list[int]:
    r"""Return the lines of the sets of a table or a list, as near as one can tell.

    >>> _lines_of('k = 5\n\n[utility]\na = ["x"]\n"b c" = ["y"]\n', "utility", {"a": 0, "b c": 0})
    [4, 5]
    >>> _lines_of('utility = [\n["x", "]"],  # [\n["y"]]\n', "utility", [["x", "]"], ["y"]])
    [2, 3]
    """
    start = _place_of(text, key)
    places = []
    if isinstance(value, dict):
        for name in value:
            written = "|".join(map(re.escape, (name, json.dumps(name), f"'{name}'")))
            found = re.compile(rf"(?:^|[{{,.])[ \t]*({written})\s*=", re.MULTILINE).search(
                text, start
            )
            places.append(found.start(1) if found else start)
    else:
        depth = 0
        for found in _TOKENS.finditer(text, text.index("=", start)):
            if found[0] in "[{":
                depth += 1
                if depth > 1 and len(places) < len(value):
                    places += [found.start()] if depth == 2 else []
            elif found[0] in "]}":
                depth -= 1
                if not depth:
                    break
        places += [start] * (len(value) - len(places))
    return [text.count("\n", 0, place) + 1 for place in places]
