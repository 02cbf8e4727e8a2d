"""Writes docs/api.md from the docstrings (``make docs``); a test holds the two together."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import overcoat as oc

__all__ = ["PAGE", "reference"]

PAGE = Path(__file__).parents[1] / "docs" / "api.md"

_GROUPS = {
    "Data": ("read", "Transactions", "datasets"),
    "Making and checking a release": (
        *("anonymize", "apply_mapping", "verify", "evaluate", "summarize"),
        *("report", "certificate"),
        *("Result", "Mapping", "Partition", "Verdict", "Violation", "Evaluation", "TraceStep"),
        "Sink",
    ),
    "Stating a policy": (
        *("Policy", "Itemsets", "AllItemsets", "Coherence", "Pgen"),
        *("Utility", "Hierarchy", "Balanced", "Distances", "BoundPolicy"),
    ),
    "Methods": (
        "methods",
        "Coat",
        "Pcta",
        "Apriori",
        "Exact",
        "Greedy",
        "Search",
        "Method",
        "Outcome",
        "Searched",
        "Separable",
        "Step",
    ),
    "Comparing and measuring": (
        *("vary", "Setting", "compare", "Comparison"),
        *("draw_workload", "Workload", "Answers", "Measure"),
    ),
    "The least": ("bounds", "Bounds"),
    "The risk": ("risk", "Risk", "Crowd", "attack", "Attack"),
    "Deciding": ("profile", "Profile", "price", "Prices", "Price"),
    "On a cluster": ("spark",),
    "How work runs": ("Context", "Stage"),
    "Errors": (
        *("OvercoatError", "InputError", "DataError", "PolicyError", "MappingError"),
        *("UnknownItemsError", "InfeasibleError", "VerificationError", "CancelledError"),
        "Problem",
    ),
}

_LEAD = """\
# Python API

Every public name of `import overcoat as oc`, made from the docstrings (`make docs`). The examples
are run by the tests. [The tutorial](tutorial.md) shows how they work together,
[extending](extending.md) how to add a method or a measure of your own.

One convention for all functions: **data** are `Transactions` or anything `read` takes (a path, `-`,
a stream; a pandas, polars or Arrow table; anything with an Arrow stream, such as a DuckDB relation;
a SciPy matrix; lists of sets), with the options of `read` as further keywords. A `Result` is taken
for any part of it. Paths are taken for policies, mappings, hierarchies and utility sets.
"""


def reference() -> str:
    """Return the text of the page."""
    listed = {name for names in _GROUPS.values() for name in names}
    missing = sorted(set(oc.__all__) - listed - {"__version__"})
    assert not missing, f"not in the reference: {missing}"
    parts = [_LEAD]
    for title, names in _GROUPS.items():
        parts.append(f"## {title}\n")
        parts += [_entry(name, getattr(oc, name)) for name in names]
    return "\n".join(parts).rstrip() + "\n"


def _entry(name: str, thing: Any) -> str:
    if inspect.ismodule(thing):
        lines = [f"### oc.{name}\n", _text(thing), ""]
        lines += [
            f"- `oc.{name}.{function}{_signature(getattr(thing, function))}`: "
            f"{_first_line(getattr(thing, function))}"
            for function in thing.__all__
            if inspect.isfunction(getattr(thing, function))
        ]
        return "\n".join(lines) + "\n"
    lines = [f"### {name}\n", f"```text\n{name}{_signature(thing)}\n```\n", _text(thing)]
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        members = [
            (member, value)
            for member, value in _members(thing)
            if not member.startswith("_") and _first_line(value)
        ]
        if members:
            lines.append("")
        lines += [
            f"- `{_called(member, value)}`: {_first_line(value)}" for member, value in members
        ]
    return "\n".join(lines) + "\n"


def _members(thing: type) -> list[tuple[str, Any]]:
    """Return what a class and its own ancestors define, in the order they do."""
    found: dict[str, Any] = {}
    for one in reversed(thing.__mro__):
        if one.__module__.startswith("overcoat"):
            found |= {name: value for name, value in vars(one).items() if not _is_field(value)}
    return list(found.items())


def _is_field(value: Any) -> bool:
    return type(value).__name__ == "member_descriptor" or not (
        callable(value)
        or isinstance(value, (property, classmethod, staticmethod))
        or type(value).__name__ == "cached_property"
    )


def _called(name: str, value: Any) -> str:
    if isinstance(value, (classmethod, staticmethod)):
        value = value.__func__
    return f"{name}{_signature(value)}" if inspect.isfunction(value) else name


def _signature(thing: Any) -> str:
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    if inspect.isclass(thing) and not signature.parameters and "__init__" not in vars(thing):
        return "()"
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for name, parameter in signature.parameters.items()
        if name not in ("self", "cls") and not name.startswith("_")
    ]
    text = str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
    return re.sub(r"<factory>|<[\w.]+ object at 0x\w+>", "…", text)


def _first_line(thing: Any) -> str:
    if isinstance(thing, (classmethod, staticmethod)):
        thing = thing.__func__
    if isinstance(thing, property):
        thing = thing.fget
    text = inspect.getdoc(getattr(thing, "func", thing)) or ""
    return re.split(r"\n\s*\n", text)[0].replace("\n", " ").replace("``", "`")


def _text(thing: Any) -> str:
    """Return a docstring as Markdown: sections as bold words, examples as blocks."""
    text = inspect.getdoc(thing) or ""
    text = re.sub(r"^(\w[\w ]*)\n-{3,}$", r"**\1**\n", text, flags=re.MULTILINE)
    blocks = re.split(r"\n\s*\n", text)
    shown = []
    for block in blocks:
        if block.lstrip().startswith(">>>"):
            shown.append(f"```text\n{inspect.cleandoc(block)}\n```")
        elif re.match(r"[\w, *.]+ : ", block) or re.match(r"\w+\n    ", block):
            shown.append(_list(block))
        elif block.startswith("::"):
            shown.append("")
        elif block.startswith("    "):
            shown.append(f"```text\n{inspect.cleandoc(block)}\n```")
        else:
            shown.append(block)
    return re.sub(r"(?<!`)``(?!`)", "`", "\n\n".join(part for part in shown if part))


def _list(block: str) -> str:
    """Return lines ``name : what it is`` as a list; indented lines go on with the one before."""
    entries: list[str] = []
    for line in block.splitlines():
        if line.startswith(" ") and entries:
            entries[-1] += " " + line.strip()
        else:
            name, _, rest = line.partition(" : ")
            entries.append(f"- `{name}`: {rest}".rstrip())
    return "\n".join(entries)


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8", newline="\n")
