"""Proposals as policy files, and as a table."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from overcoat.advice.suggest import Proposal
from overcoat.data.io import Staging, make_folder
from overcoat.policy.config import FILES, KEYS
from overcoat.policy.hierarchy import is_no_file
from overcoat.policy.keys import comment_lines
from overcoat.policy.policy import Policy
from overcoat.policy.privacy import Itemsets
from overcoat.policy.sets import Sets
from overcoat.words import count_of, share

__all__ = ["proposal_lines", "write_proposals"]


def proposal_lines(proposals: Sequence[Proposal], asked: Policy) -> list[str]:
    """Return proposals side by side: what each changes of what was asked for, and what it costs."""
    if not proposals:
        return ["no policy near this one was found that is met"]
    head = ["", "exact counts", "suppressed", "small crowds", "NCP", "error of items"]
    head.append("error of pairs")
    rows = [
        [
            one.name,
            f"{one.cost.n_exact} of {one.cost.n_sets}" if one.cost.n_sets else "no sets",
            f"{one.cost.suppressed_percent:.3g} %",
            _below(one),
            f"{one.cost.ncp:.3f}",
            *_errors(one),
        ]
        for one in proposals
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, *rows)
    ]
    lines += [f"{one.name}: {one.change}" for one in proposals]
    below = proposals[0].below_k
    if below is not None:
        lines.append(
            f"small crowds: people found among fewer than {asked.k:,} by somebody who knows "
            f"{count_of(int(below.known), 'item')}, as was asked: what a smaller k or m gives up"
        )
    return lines


def _below(one: Proposal) -> str:
    if one.below_k is None:
        return ""
    number, of = one.below_k.below_k, one.result.released.n_transactions
    return share(number, of, one.below_k.exact) if number else "nobody"


def write_proposals(
    folder: str | Path, proposals: Sequence[Proposal], policy: Policy, settings: Mapping[str, Any]
) -> list[Path]:
    """Write each proposal as a policy file, with the sets it needs beside it; all or nothing.

    Parameters
    ----------
    folder : made if it is not there
    policy, settings : what was asked for, and the keys of `policy.toml` that said it
    """
    folder = Path(folder)
    make_folder(folder)
    files: dict[str, str] = {}
    for one in proposals:
        values = dict(settings) | one.settings
        if "utility" in one.settings:  # instead of the level they were read from
            values["utility_level"] = None
        told = [one.change, f"tried and met: {_cost(one)}", str(one.cost.exactness), *one.details]
        lines = [line for text in told for line in comment_lines(text)]
        for key in KEYS:
            value = values.get(key)
            if value is None or value is False or value == ():
                continue
            if key == "privacy" and isinstance(value, tuple) and len(value) == 1:
                (value,) = value
            if key in FILES and isinstance(value, (str, Path)):
                written = value if is_no_file(str(value)) else os.path.relpath(value, folder)
            elif key in ("privacy", "utility", "linkable", "private", "penalties"):
                written = f"{one.name}-{key}.json"
                files[written] = json.dumps(
                    _plain(key, value, policy), ensure_ascii=False, indent=1
                )
            else:
                written = value
            lines.append(f"{key} = {json.dumps(written, ensure_ascii=False)}")
        files[f"{one.name}.toml"] = "\n".join(lines)
    with Staging() as staging:
        for name, text in files.items():
            staging.stage(folder / name).write_text(f"{text}\n", encoding="utf-8", newline="\n")
        staging.commit()
    return [folder / name for name in files]


def _cost(one: Proposal) -> str:
    cost = one.cost
    counts = f"{cost.n_exact} of {cost.n_sets} counts exact, " if cost.n_sets else ""
    told = f"{counts}{cost.suppressed_percent:.3g} % of the items suppressed, NCP {cost.ncp:.3f}"
    if one.below_k is not None and one.below_k.below_k:
        told += f", in crowds smaller than was asked {_below(one)}"
    items, pairs = _errors(one)
    if not items:
        return told
    return f"{told}, expected error of items {items}, of pairs {pairs}"


def _errors(one: Proposal) -> tuple[str, str]:
    errors = one.cost.errors
    return ("", "") if errors is None else (f"{errors.items:.3g}", f"{errors.pairs:.3g}")


def _plain(key: str, value: Any, policy: Policy) -> Any:
    """Return sets, or what else a file may hold, as a JSON file has them."""
    if key == "privacy":  # of several files, or written in the policy itself
        families = [one for one in policy.privacy if isinstance(one, Itemsets)]
        return [list(entry.items) for one in families for entry in one.sets.entries]
    if isinstance(value, Sets):
        named = all(entry.name is not None for entry in value.entries)
        if named and value.entries:
            return {entry.name: list(entry.items) for entry in value.entries}
        return [list(entry.items) for entry in value.entries]
    return value
