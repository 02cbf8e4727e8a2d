"""The files of a release: written, named, packed, as the command that is told with them does."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Collection, Mapping
from pathlib import Path, PurePath
from typing import Any

from overcoat import application
from overcoat.context import Context
from overcoat.data.io.databases.address import is_address, parse_address
from overcoat.data.io.names import SUFFIXES
from overcoat.policy.hierarchy import is_no_file
from overcoat.policy.keys import FILES, written_settings
from overcoat.web.params import Params, input_of

__all__ = ["publish"]

# The folders of the archive: who passes on the first passes on nothing of the second.
_FOLDERS = {"outward": "to-pass-on", "inward": "to-keep"}

# The files of a release: what they are called unless a file that the policy names is called so, and
# whether they are to be passed on or to be kept, in the order in which people look for them.
_FILES = {
    "released": ("", "outward"),
    "codebook": ("codebook.csv", "outward"),
    "mapping": ("mapping.json", "outward"),
    "external": ("external.html", "outward"),
    "public-certificate": ("public-certificate.json", "outward"),
    "report": ("report.html", "inward"),
    "certificate": ("certificate.json", "inward"),
    "policy": ("policy.toml", "inward"),
    "command": ("command.txt", "inward"),
}


def publish(params: Params, folder: Path, context: Context) -> dict[str, Any]:
    """Write all files of a release, as the command that is told with them does."""
    data = input_of(params)
    needed = _copy(params, folder)
    # The command is given where the original and what the policy needs lie side by side.
    taken = {Path(one).parts[0] for one in (*needed, data.source.partition("#")[0])}
    names = {
        key: _free(name or _released_name(data.source), taken) for key, (name, _) in _FILES.items()
    }
    policy = folder / names["policy"]
    policy.write_text(written_settings(params["settings"]), "utf-8", newline="\n")

    def outputs(place: Callable[[str], str]) -> application.Outputs:
        papers = application.Papers(
            report=place(names["report"]),
            external_report=place(names["external"]),
            certificate=place(names["certificate"]),
            public_certificate=place(names["public-certificate"]),
            describe=params["names"] or None,
        )
        return application.Outputs(
            place(names["released"]),
            place(names["mapping"]),
            allow_identifiers=params["allow_identifiers"],
            codebook=place(names["codebook"]),
            papers=papers,
        )

    statement = application.Statement.of({}, str(policy), sep=data.set_sep, data=data)
    result = application.anonymize(
        data, statement, outputs(lambda name: str(folder / name)), context=context
    )
    command = application.command_for(data, policy.name, outputs(str))
    Path(folder, names["command"]).write_text(f"{command}\n", "utf-8", newline="\n")
    files = [{"name": names[key], "key": key, "part": part} for key, (_, part) in _FILES.items()]
    files += [{"name": one, "key": "needed", "part": "inward"} for one in needed]
    archive = _free(_archive_name(data.source), {one["name"] for one in files})
    _pack(
        folder / archive, {f"{_FOLDERS[one['part']]}/{one['name']}": one["name"] for one in files}
    )
    files.append({"name": archive, "key": "archive", "part": ""})
    return {
        "verified": result.verdict.ok,
        "released": names["released"],
        "archive": archive,
        "files": [one | {"size": (folder / one["name"]).stat().st_size} for one in files],
        "digests": {name: one for name, one in result.digests.items() if one is not None},
        "command": command,
    }


def _copy(params: Params, folder: Path) -> list[str]:
    """Put the files beside the policy that it and the command name; return their names."""
    said = [*(value for key, value in params["settings"].items() if key in FILES), params["names"]]
    needed = sorted({one for one in said if isinstance(one, str) and one and not is_no_file(one)})
    for name in needed:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(Path(name).read_bytes())
    return needed


def _free(name: str, taken: Collection[str]) -> str:
    """Return a name, with a number if it is taken.

    >>> _free("mapping.json", {"mapping.json", "mapping-2.json"})
    'mapping-3.json'
    """
    start, suffix = name.partition(".")[0], name.partition(".")[2]
    found, number = name, 1
    while found.lower() in {one.lower() for one in taken}:  # as some systems compare them
        number += 1
        found = f"{start}-{number}.{suffix}"
    return found


def _released_name(source: str) -> str:
    """Return a name for the release that says the format of the data, where there is one."""
    suffixes = Path(source).suffixes
    if suffixes and suffixes[-1].lower() == ".gz":
        suffixes.pop()
    last = suffixes[-1].lower() if suffixes and "://" not in source else ""
    return f"released{last}" if last in SUFFIXES or last == ".xlsx" else "released.csv"


def _archive_name(source: str) -> str:
    """Return a name for the archive that says what it is a release of.

    Of an address of a server nothing is told but the table: it may hold a password.

    >>> _archive_name("ward/visits 2026.csv.gz"), _archive_name("sqlite:///ward.db#visits")
    ('visits 2026-release.zip', 'ward-release.zip')
    >>> _archive_name("postgresql://bob:secret@db#visits"), _archive_name("postgresql://b:s@db")
    ('visits-release.zip', 'release.zip')
    """
    called = PurePath(source).name
    if is_address(source):
        address = parse_address(source)
        called = address.path.name or "".join(address.table[-1:])
    stem = re.sub(r"[^\w -]", "_", called.partition(".")[0])
    return f"{stem}-release.zip" if stem else "release.zip"


def _pack(path: Path, names: Mapping[str, str]) -> None:
    """Pack files beside an archive under other names; the same files make the same bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for called, name in sorted(names.items()):
            told = zipfile.ZipInfo(called)  # of 1980, the beginning of such archives' time
            told.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(told, (path.parent / name).read_bytes())
