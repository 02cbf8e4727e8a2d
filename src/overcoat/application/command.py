"""The command that does what a page or a notebook did."""

from __future__ import annotations

import shlex

from overcoat.application.said import Input, Outputs
from overcoat.data.io.databases.address import shown

__all__ = ["command_for"]

_VALUES = ("id", "items", "sep", "encoding", "sheet", "query", "domain", "system", "pad")
_FLAGS = ("header", "omop", "trim", "upper")


def command_for(data: Input, policy: str, outputs: Outputs) -> str:
    """Return the command that reads some data and writes a release of them under a policy file.

    >>> from overcoat.data.io import Asked
    >>> outputs = Outputs("out.csv", "map.json")
    >>> command_for(Input("my data.csv", Asked(id="p", item=["a", "b"])), "p.toml", outputs)
    "overcoat anonymize 'my data.csv' --id p --item a,b --policy p.toml -o out.csv \
--mapping map.json"
    """
    words = ["overcoat", "anonymize", shown(data.source), *_reading(data)]
    words += ["--policy", policy, "-o", shown(outputs.released)]
    papers = outputs.papers
    files = {"mapping": outputs.mapping, "codebook": outputs.codebook, **papers.files}
    files |= {"describe": papers.describe, "salt": papers.salt, "to": outputs.to}
    files |= {"label-from": outputs.label_from}
    for name, value in files.items():
        if value is not None:
            words += [f"--{name.replace('_', '-')}", value]
    flags = {
        "keep-order": outputs.keep_order,
        "allow-identifiers": outputs.allow_identifiers,
        "replace": outputs.replace,
        "price": papers.price,
    }
    return shlex.join([*words, *(f"--{name}" for name, said in flags.items() if said)])


def _reading(data: Input) -> list[str]:
    asked, words = data.asked, []
    for name in _VALUES:
        if (value := getattr(asked, name)) is not None:
            words += [f"--{name}", "tab" if value == "\t" else str(value)]
    items = asked.item
    if items is not None:
        several = [items] if isinstance(items, str) else [*items]
        if any("," in one for one in several):
            words += [word for one in several for word in ("--item", one)]
        else:
            words += ["--item", ",".join(several)]
    return [*words, *(f"--{name}" for name in _FLAGS if getattr(asked, name))]
