"""What jobs do: each task goes through the application layer and leaves what pages need.

A task works in the folder of the project's files, so names of files are plain everywhere, in
messages, in the policy and in the command that does the same.
"""

from __future__ import annotations

import csv
import json
import zipfile
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
from overcoat.data.io import Asked
from overcoat.data.io.names import SUFFIXES
from overcoat.data.transactions import Transactions
from overcoat.errors import InfeasibleError, OvercoatError, problem_lines
from overcoat.evidence import Internal
from overcoat.measures.loss import measure_ncp
from overcoat.policy.config import FILES, PARAMETERS, read_settings
from overcoat.policy.hierarchy import is_no_file
from overcoat.policy.keys import written_settings
from overcoat.policy.sets import Sets
from overcoat.release.exposed import Exposed
from overcoat.release.result import Result
from overcoat.reports.names import read_names
from overcoat.reports.wording import costs, gaps, promises, safety
from overcoat.web.choices import SETTINGS, Choices, stated
from overcoat.web.listing import write_listing
from overcoat.web.studio import GIVEN, given_address

__all__ = ["do", "explain_error"]

Params = Mapping[str, Any]
_POLICY = "policy.toml"
_DATABASES = {".db": "sqlite", ".sqlite": "sqlite", ".sqlite3": "sqlite"}


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
    return {"lines": lines, "n_items": error.n_items}


# -- what was chosen -------------------------------------------------------------------------------


def _input(params: Params) -> application.Input:
    reading = dict(params["reading"])
    if isinstance(reading.get("item"), list):
        reading["item"] = tuple(reading["item"])
    return application.Input(_address(params["source"]), Asked(**reading))


def _address(source: str) -> str:
    """Return what the command would be told: of a file that is a database, its address."""
    file, _, table = source.partition("#")
    scheme = _DATABASES.get(Path(file).suffix.lower())
    if scheme is None or "://" in source:
        return source
    return f"{scheme}:///{file}" + (f"#{table}" if table else "")


def _statement(params: Params, *, privacy: bool = True) -> application.Statement:
    data = _input(params)
    settings = params["settings"]
    if not privacy:
        settings = {key: one for key, one in settings.items() if key not in PARAMETERS}
    return application.Statement.of(settings, sep=data.set_sep, privacy=privacy, data=data)


def _names(params: Params, data: Transactions | None = None) -> dict[str, str]:
    own = {} if data is None else dict(data.origin.names)
    return own | (read_names(params["names"]) if params.get("names") else {})


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
    return asdict(application.glimpse(_input(params), context=context))


def _profile(params: Params, folder: Path, context: Context) -> dict[str, Any]:
    """Read everything once: what is in it, and the list of items."""
    data = _input(params)
    with context.stage("read") as stage:
        rows = data.read(stage)
    with context.stage("profile") as stage:
        found = look_at(rows, stage=stage)
    _write_items(folder, rows, _names(params, rows))
    return found.to_json()


def _write_items(folder: Path, data: Transactions, names: Mapping[str, str]) -> None:
    held = data.supports.tolist()
    every = enumerate(zip(data.vocabulary, held, strict=True))
    write_listing(
        folder, "items", ((item, names.get(item, ""), n, place) for place, (item, n) in every)
    )


def _risk(params: Params, folder: Path, context: Context) -> dict[str, Any]:
    found = application.risk(_input(params), None, None, known=3, k=params["k"], context=context)
    return found.risk.to_json()


def _sets(params: Params, folder: Path, context: Context) -> dict[str, Any]:
    found = application.survey(_input(params), _statement(params, privacy=False), context=context)
    names = _names(params, found.data)
    set_of = {item: name for name, items, _ in found.sets for item in items}
    write_listing(
        folder,
        "sets",
        ((name, _told(items, names), held, len(items)) for name, items, held in found.sets),
    )
    held = zip(found.data.vocabulary, found.data.supports.tolist(), strict=True)
    write_listing(
        folder,
        "items",
        ((item, names.get(item, ""), n, set_of.get(item, "")) for item, n in held),
    )
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
    missing = [
        value
        for key, value in settings.items()
        if key in FILES and isinstance(value, str) and not is_no_file(value)
        if not Path(value).is_file()
    ]
    return {"settings": settings, "missing": missing}


# -- results ---------------------------------------------------------------------------------------


def _run(params: Params, folder: Path, context: Context) -> dict[str, Any]:
    """Find a release and verify it, and write nothing but the mapping: what it would be like."""
    risks: list[Exposed] = []
    outputs = application.Outputs("-", allow_identifiers=params["allow_identifiers"], dry_run=True)
    result = application.anonymize(
        *(_input(params), _statement(params), outputs),
        context=context,
        report=lambda _, risk: risks.append(risk),
    )
    names = _names(params, result.data)
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
        "exposed": risks[0].to_json(),
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
            (label, _told(items, names), people.get(label, 0), len(items), block.get(items[0], ""))
            for label, items in mapping.groups.items()
        ),
    )
    write_listing(
        folder,
        "counts",
        ((one.name, "", one.before, one.after, int(one.exact)) for one in result.counts),
    )


def _weigh(params: Params, folder: Path, context: Context) -> dict[str, Any]:
    mapping = str(folder.parent / params["run"] / "mapping.json")
    found = application.weigh(_input(params), mapping, k=params["k"], context=context)
    return {
        "n_people": found.n_people,
        "k": params["k"],
        "before": [one.to_json() for one in found.before],
        "after": [one.to_json() for one in found.after],
        "errors": None if found.errors is None else asdict(found.errors),
    }


def _cures(params: Params, folder: Path, context: Context) -> dict[str, Any]:
    found = application.suggest(_input(params), _statement(params), context=context)
    return {
        "proposals": [
            {
                "name": one.name,
                "change": one.change,
                "settings": one.settings,
                "doubtful": one.doubtful,
                "cost": _cost(one.cost),
            }
            for one in found
        ]
    }


def _cost(cost: Cost) -> dict[str, Any]:
    return cost.to_json() | {"exactness_words": str(cost.exactness)}


def _price(params: Params, folder: Path, context: Context) -> dict[str, Any]:
    found = application.price(_input(params), _statement(params), context=context)
    told = found.to_json()
    for one, price in zip(told["without"], found.each, strict=True):
        one["change"] = found.change(price)
    return told


# -- publishing ------------------------------------------------------------------------------------


def _publish(params: Params, folder: Path, context: Context) -> dict[str, Any]:
    """Write all files of a release, as the command that is told with them does."""
    data = _input(params)
    Path(folder, _POLICY).write_text(written_settings(params["settings"]), "utf-8", newline="\n")
    _copy(params, folder)
    released = _released_name(data.source)

    def outputs(place: Callable[[str], str]) -> application.Outputs:
        papers = application.Papers(
            report=place("report.html"),
            external_report=place("external.html"),
            certificate=place("certificate.json"),
            public_certificate=place("public-certificate.json"),
            describe=params["names"] or None,
        )
        return application.Outputs(
            place(released),
            place("mapping.json"),
            allow_identifiers=params["allow_identifiers"],
            codebook=place("codebook.csv"),
            papers=papers,
        )

    statement = application.Statement.of({}, str(folder / _POLICY), sep=data.set_sep, data=data)
    result = application.anonymize(
        data, statement, outputs(lambda name: str(folder / name)), context=context
    )
    command = application.command_for(data, _POLICY, outputs(str))
    Path(folder, "command.txt").write_text(f"{command}\n", "utf-8", newline="\n")
    names = [one.name for one in sorted(folder.iterdir()) if one.is_file() and one.name[0] != "."]
    _pack(folder, names)
    digests = {name: one for name, one in result.digests.items() if one is not None}
    # First what is passed on, then what belongs to it, in an order in which people look for it.
    first = [released, "mapping.json", "codebook.csv", "external.html", "report.html"]
    files = [*first, *(name for name in names if name not in first), "release.zip"]
    return {
        **_figures(result),
        "released": released,
        "files": [{"name": one, "size": (folder / one).stat().st_size} for one in files],
        "digests": digests,
        "command": command,
    }


def _copy(params: Params, folder: Path) -> None:
    """Put the files beside the policy that it and the command name."""
    said = [value for key, value in params["settings"].items() if key in FILES]
    for value in [*said, params["names"]]:
        if isinstance(value, str) and value and not is_no_file(value):
            target = folder / value
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(Path(value).read_bytes())


def _released_name(source: str) -> str:
    """Return a name for the release that says the format of the data, where there is one."""
    suffixes = Path(source).suffixes
    if suffixes and suffixes[-1].lower() == ".gz":
        suffixes.pop()
    last = suffixes[-1].lower() if suffixes and "://" not in source else ""
    return f"released{last}" if last in SUFFIXES or last == ".xlsx" else "released.csv"


def _pack(folder: Path, names: Iterable[str]) -> None:
    """Pack files into an archive; the same files make the same bytes."""
    with zipfile.ZipFile(folder / "release.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            told = zipfile.ZipInfo(name)  # of 1980, the beginning of such archives' time
            told.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(told, (folder / name).read_bytes())


def _gaps(params: Params, folder: Path, context: Context) -> dict[str, Any]:
    """Say what a release would not protect from."""
    outputs = application.Outputs("-", allow_identifiers=params["allow_identifiers"], dry_run=True)
    result = application.anonymize(_input(params), _statement(params), outputs, context=context)
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
    "publish": _publish,
}
