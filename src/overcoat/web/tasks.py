"""What jobs do: each task goes through the application layer and leaves what pages need.

A task works in the folder of the project's files, so names of files are plain everywhere, in
messages, in the policy and in the command that does the same.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from overcoat import application
from overcoat.advice.cost import Cost
from overcoat.advice.profile import look_at
from overcoat.context import Context
from overcoat.data import samples
from overcoat.data.diagnoses import diagnoses
from overcoat.data.transactions import Transactions
from overcoat.errors import InfeasibleError, OvercoatError, problem_lines
from overcoat.evidence import Internal
from overcoat.measures.loss import measure_ncp
from overcoat.policy.config import read_settings
from overcoat.policy.sets import Sets
from overcoat.release.result import Result
from overcoat.reports.wording import costs, gaps, promises, safety
from overcoat.web.choices import SETTINGS, Choices, stated
from overcoat.web.listing import write_listing
from overcoat.web.params import Params, input_of, names_of, statement_of
from overcoat.web.publishing import publish
from overcoat.web.studio import GIVEN, given_address

__all__ = ["do", "explain_error"]


def do(task: Mapping[str, Any], progress: Callable[[str, int, int], None]) -> dict[str, Any]:
    """Do a task; return what it found, as plain values."""
    context = Context(progress=progress, threads=task["threads"], memory=task["memory"])
    params = dict(task["params"])
    if "settings" in params:
        params["settings"] = stated(params["settings"])
    source = str(params.get("source", ""))
    if source.startswith(GIVEN):
        params["source"] = given_address(source, task["given"])
    return _TASKS[task["task"]](params, Path(task["folder"]), context)


def explain_error(error: OvercoatError) -> dict[str, Any]:
    """Return what else a page can say of an error."""
    if not isinstance(error, InfeasibleError):
        return {}
    lines = [line for line in str(error).splitlines() if not line.startswith("--suggest")]
    needed, allowed = len(error.suppressed), error.max_suppressed
    return {"lines": lines, "n_items": error.n_items, "needed": needed, "allowed": allowed}


def _sample(params: Params, folder: Path, context: Context) -> dict[str, Any]:
    """Write the files of the sample hospital, and say what suits them."""
    hospital = samples.hospital()
    files = hospital.write(".")
    with Path("codes.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["code", "description"])
        table.writerows((one.code, one.description) for one in diagnoses())
    settings = read_settings(files.pop("policy"))
    chosen = Choices(
        files["data"].name,
        {"id": "patient", "item": "code"},
        {key: value for key, value in settings.items() if key in SETTINGS},
        names="codes.csv",
    )
    return {"choices": chosen.to_json()}


# -- looking ---------------------------------------------------------------------------------------


def _glimpse(params: Params, folder: Path, context: Context) -> dict[str, Any]:
    return asdict(application.glimpse(input_of(params), context=context))


def _profile(params: Params, folder: Path, context: Context) -> dict[str, Any]:
    """Read everything once: what is in it, and the list of items."""
    data = input_of(params)
    with context.stage("read") as stage:
        rows = data.read(stage)
    with context.stage("profile") as stage:
        found = look_at(rows, stage=stage)
    _write_items(folder, rows, names_of(params, rows))
    return found.to_json()


def _write_items(folder: Path, data: Transactions, names: Mapping[str, str]) -> None:
    held = data.supports.tolist()
    every = enumerate(zip(data.vocabulary, held, strict=True))
    write_listing(
        folder, "items", ((item, names.get(item, ""), n, place, None) for place, (item, n) in every)
    )


def _risk(params: Params, folder: Path, context: Context) -> dict[str, Any]:
    found = application.risk(input_of(params), None, None, known=3, k=params["k"], context=context)
    names = names_of(params)
    told = found.risk.to_json()
    for one in told["items"]:
        one["name"] = names.get(one["item"], "")
    return told


def _sets(params: Params, folder: Path, context: Context) -> dict[str, Any]:
    found = application.survey(
        input_of(params), statement_of(params, privacy=False), context=context
    )
    names = names_of(params, found.data)
    set_of = {
        item: (name, number) for number, (name, items, _) in enumerate(found.sets) for item in items
    }
    write_listing(
        folder,
        "sets",
        (
            (name, _told(items, names), held, len(items), number)
            for number, (name, items, held) in enumerate(found.sets)
        ),
    )
    _write_members(folder, found.data, names, set_of)
    if params.get("write"):  # sets as a file that can be edited by hand
        named = {name: list(items) for name, items, _ in found.sets}
        Path(folder, "sets.json").write_text(json.dumps(named, ensure_ascii=False), "utf-8")
    return {
        "n_sets": len(found.sets),
        "n_items": found.data.n_items,
        "n_covered": len(set_of),
        "n_people": found.data.n_transactions,
        "levels": [asdict(one) for one in found.levels],
    }


def _write_members(
    folder: Path,
    data: Transactions,
    names: Mapping[str, str],
    place_of: Mapping[str, tuple[str, int]],
) -> None:
    """Write all items with the set or the group that each is in, if it is in one."""
    held = zip(data.vocabulary, data.supports.tolist(), strict=True)
    nowhere = ("", None)
    write_listing(
        folder,
        "items",
        ((item, names.get(item, ""), n, *place_of.get(item, nowhere)) for item, n in held),
    )


def _told(items: Iterable[str], names: Mapping[str, str]) -> str:
    """Return items as a list that can be shown and searched."""
    return json.dumps([[item, names.get(item, "")] for item in items], ensure_ascii=False)


def _open(params: Params, folder: Path, context: Context) -> dict[str, Any]:
    """Read a policy file that was given, for its settings."""
    settings: dict[str, Any] = {}
    for key, value in read_settings(params["policy"]).items():
        if isinstance(value, Sets):
            entries = [[*one.items] for one in value.entries]
            if key in ("linkable", "private"):
                settings[key] = entries[0] if entries else []
            elif any(one.name for one in value.entries):
                settings[key] = {str(one.name): [*one.items] for one in value.entries}
            else:
                settings[key] = entries
        else:
            settings[key] = value
    return {"settings": settings}


# -- results ---------------------------------------------------------------------------------------


def _run(params: Params, folder: Path, context: Context) -> dict[str, Any]:
    """Find a release and verify it, and write nothing but the mapping: what it would be like."""
    outputs = application.Outputs("-", allow_identifiers=params["allow_identifiers"], dry_run=True)
    result = application.anonymize(input_of(params), statement_of(params), outputs, context=context)
    names = names_of(params, result.data)
    _write_groups(folder, result, names)
    Path(folder, "mapping.json").write_text(result.mapping.dumps(), "utf-8", newline="\n")
    told = Internal.of(result, names, stage=context.start("report"))
    outside = told.external
    return {
        **_figures(result),
        "promises": promises(outside),
        "safety": safety(outside),
        "costs": costs(outside),
        "notes": problem_lines(result.notes),
        "n_people": result.data.n_transactions,
        "n_items": result.data.n_items,
        "k": result.policy.k,
        "seconds": result.seconds,
    }


def _figures(result: Result) -> dict[str, Any]:
    mapping = result.mapping
    return {
        "algorithm": "" if result.method is None else result.method.name,
        "verified": result.verdict.ok,
        "largest_k": result.verdict.largest_k,
        "n_groups": sum(len(group) > 1 for group in mapping.members),
        "largest_group": max(map(len, mapping.members), default=0),
        "n_suppressed": len(result.suppressed),
        "suppressed_percent": result.verdict.suppressed_percent,
        "suppressed": list(result.suppressed[:50]),
        "n_sets": len(result.counts),
        "n_exact": sum(one.exact for one in result.counts),
        "exactness": result.exactness.to_json(),
        "exactness_words": str(result.exactness),
        "ncp": measure_ncp(result.data, mapping, result.policy.hierarchy),
        "flat_ncp": measure_ncp(result.data, mapping),
        "log2_ul": result.loss.log2_ul if result.mapping.merged else None,
    }


def _write_groups(folder: Path, result: Result, names: Mapping[str, str]) -> None:
    released, mapping = result.released, result.mapping
    people = dict(zip(released.vocabulary, released.supports.tolist(), strict=True))
    labels = result.data.vocabulary.labels
    block = {labels[code]: one.name for one in result.policy.utility.named for code in one.codes}
    write_listing(
        folder,
        "groups",
        (
            (
                label,
                _told(items, names),
                people.get(label, 0),
                len(items),
                block.get(items[0], ""),
                n,
            )
            for n, (label, items) in enumerate(mapping.groups.items())
        ),
    )
    group_of = {
        item: (label, number)
        for number, (label, items) in enumerate(mapping.groups.items())
        for item in items
    }
    _write_members(folder, result.data, names, group_of)
    write_listing(
        folder,
        "counts",
        ((one.name, "", one.before, one.after, int(one.exact)) for one in result.counts),
    )


def _weigh(params: Params, folder: Path, context: Context) -> dict[str, Any]:
    mapping = str(folder.parent / params["run"] / "mapping.json")
    found = application.weigh(input_of(params), mapping, k=params["k"], context=context)
    return {
        "n_people": found.n_people,
        "k": params["k"],
        "before": [one.to_json() for one in found.before],
        "after": [one.to_json() for one in found.after],
        "errors": None if found.errors is None else asdict(found.errors),
    }


def _cures(params: Params, folder: Path, context: Context) -> dict[str, Any]:
    """Find policies near this one that are met; those that keep no exact count come last."""
    found = application.suggest(input_of(params), statement_of(params), context=context)
    return {
        "proposals": [
            {
                "name": one.name,
                "change": one.change,
                "settings": one.settings,
                "doubtful": one.doubtful,
                "cost": _cost(one.cost),
            }
            for one in sorted(found, key=lambda one: not one.cost.n_exact)
        ]
    }


def _cost(cost: Cost) -> dict[str, Any]:
    return cost.to_json() | {"exactness_words": str(cost.exactness)}


def _price(params: Params, folder: Path, context: Context) -> dict[str, Any]:
    found = application.price(input_of(params), statement_of(params), context=context)
    told = found.to_json()
    for one, price in zip(told["without"], found.each, strict=True):
        one["change"] = found.change(price)
    return told


def _gaps(params: Params, folder: Path, context: Context) -> dict[str, Any]:
    """Say what a release would not protect from."""
    outputs = application.Outputs("-", allow_identifiers=params["allow_identifiers"], dry_run=True)
    result = application.anonymize(input_of(params), statement_of(params), outputs, context=context)
    told = Internal.of(result, stage=context.start("risk"))
    return {"gaps": gaps(told.external), "promises": promises(told.external)}


_TASKS: dict[str, Callable[[Params, Path, Context], dict[str, Any]]] = {
    "sample": _sample,
    "glimpse": _glimpse,
    "profile": _profile,
    "risk": _risk,
    "sets": _sets,
    "open": _open,
    "run": _run,
    "weigh": _weigh,
    "cures": _cures,
    "price": _price,
    "gaps": _gaps,
    "publish": publish,
}
