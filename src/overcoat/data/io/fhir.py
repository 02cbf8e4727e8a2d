"""FHIR bulk data: one resource a line (NDJSON), as servers export them."""

from __future__ import annotations

import hashlib
import json
import os
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from overcoat.context import QUIET, Stage
from overcoat.data.io.asked import Asked
from overcoat.data.io.delimited import BLOCK, TOLD, note_stray, take
from overcoat.data.io.fitting import refuse_options
from overcoat.data.io.names import plain_suffix
from overcoat.data.io.problems import Problems
from overcoat.data.io.resources import KINDS, Kind, is_text, subject_of
from overcoat.data.io.source import Source, open_source
from overcoat.data.layout import Layout
from overcoat.data.origin import Origin
from overcoat.data.transactions import Transactions, TransactionsBuilder
from overcoat.errors import DataError
from overcoat.words import count_of

__all__ = ["fhir_files", "is_fhir", "read_fhir"]

_SUFFIX = ".ndjson"
_LOOKED = 1 << 12  # bytes in which a resource says what it is
_START = re.compile(rb'\s*\{\s*"')


def is_fhir(suffix: str | None, head: bytes) -> bool:
    """Say whether a file holds resources, by its name or its first bytes.

    >>> is_fhir(".ndjson", b""), is_fhir(None, b'{"resourceType":"Condition"}')
    (True, True)
    """
    start = head[:_LOOKED]
    return suffix == _SUFFIX or (_START.match(start) is not None and b'"resourceType"' in start)


def fhir_files(source: Any) -> list[Path]:
    """Return the files of resources in a folder; none where it is no folder of such."""
    if not isinstance(source, (str, os.PathLike)) or not os.path.isdir(source):
        return []
    return sorted(path for path in Path(source).iterdir() if plain_suffix(path.name) == _SUFFIX)


def read_fhir(
    sources: Iterable[str | os.PathLike[str] | Source],
    asked: Asked,
    *,
    name: str,
    keep_order: bool = False,
    stage: Stage = QUIET,
) -> Transactions:
    """Read the codes of one type of resources, a transaction for each subject.

    Parameters
    ----------
    sources : files, or one that is open
    asked : the domain (condition, procedure, drug) and the system of the codes
    name : of all, for messages
    """
    refuse_options(asked, {"domain", "system", "encoding"}, "FHIR resources", name)
    domain = (asked.domain or "condition").strip().lower()
    if domain not in KINDS:
        raise DataError(
            f"FHIR resources are read for one domain, {', '.join(KINDS)}, not for {domain!r}", name
        )
    found = _Found(KINDS[domain])
    digests: dict[str, str] = {}
    paths = list(sources)
    sizes = [0 if isinstance(path, Source) else Path(path).stat().st_size for path in paths]
    for number, path in enumerate(paths):
        if isinstance(path, Source):
            found.read(path, asked.encoding)
            digests[path.name] = path.digest()
            continue
        share = stage.share(sum(sizes[:number]), sum(sizes))
        with open_source(path, share, asked.encoding) as opened:
            found.read(opened, asked.encoding)
            digests[Path(path).name] = opened.digest()
    return found.gather(asked.system, name, digests, keep_order=keep_order, stage=stage)


class _Numbers(dict[str, int]):
    """Numbers strings in order of first sight."""

    def __missing__(self, key: str) -> int:
        number = self[key] = len(self)
        return number


class _Found:
    """What the resources say: who, and by which systems which codes."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._subjects, self._systems, self._codes = _Numbers(), _Numbers(), _Numbers()
        # Of each coding: the number of the subject, of the system, of the code.
        self._who, self._where, self._what = array("q"), array("i"), array("i")
        self._displays: dict[tuple[int, int], str] = {}
        self._having: Counter[int] = Counter()  # system -> resources that have it
        self._n_resources = self._n_coded = 0
        self._left_out: Counter[str] = Counter()
        self._others: Counter[str] = Counter()  # resources of other types

    # -- one by one -----------------------------------------------------------------------------

    def read(self, source: Source, encoding: str | None) -> None:
        """Take the resources of a file, which is UTF-8 unless an encoding is named."""
        problems = Problems(source.name)
        if source.empty:
            raise DataError("the file is empty", source.name, 1)
        source.settle_line_ends(quote="")
        number = 1
        while block := take(source.stream, BLOCK, quote=""):
            for line in block.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n"):
                if number % TOLD == 0:
                    source.tell()
                if line and not line.isspace():
                    self._take(line, number, problems)
                number += 1
            source.tell()
        problems.check()
        if encoding is None and source.encoding not in ("", "UTF-8"):
            raise DataError(
                f"is not UTF-8, as FHIR has to be, but perhaps {source.encoding}; if it is, name "
                "its encoding (--encoding)",
                source.name,
            )

    def _take(self, line: str, number: int, problems: Problems) -> None:
        try:
            resource = json.loads(line)
        except (ValueError, RecursionError) as error:
            first = line.strip() == "{" or (number == 1 and line.strip().endswith(("{", "[", ",")))
            problems.add(
                "not one JSON object a line; if this is a Bundle, export the resources in bulk "
                "(NDJSON), or write one a line"
                if first
                else f"not JSON: {_about(error)}",
                number,
            )
            if first:
                problems.check()
            return
        if not isinstance(resource, dict) or not isinstance(resource.get("resourceType"), str):
            problems.add("no FHIR resource: it has no resourceType", number)
            return
        kind = resource["resourceType"]
        if kind == "Bundle":
            problems.add("is a Bundle; export the resources in bulk (NDJSON): one a line", number)
            problems.check()
        if kind != self._kind.name:
            self._others[kind] += 1
            return
        denied = self._kind.denied(resource)
        if denied is not None:
            self._left_out[denied] += 1
            return
        who = subject_of(resource)
        if who is None:
            problems.add("the subject has no reference", number)
        elif who.startswith("#"):
            problems.add(f"the subject {who} is inside the resource, so nobody knows it", number)
        elif "Group" in who.split("/"):
            self._left_out["about groups"] += 1
        else:
            self._add(who, resource, number, problems)

    def _add(self, who: str, resource: Mapping[str, Any], line: int, problems: Problems) -> None:
        subject = self._subjects[who]
        self._n_resources += 1
        seen = set()
        for coding in self._kind.codings(resource):
            code, system = coding.get("code"), coding.get("system", "")
            if code is None or code == "":
                continue
            if not isinstance(code, str) or not isinstance(system, str):
                problems.add(f"the code {code!r} is not a string", line)
                continue
            if not is_text(code):
                note_stray(problems, line)
                continue
            where, what = self._systems[system], self._codes[code]
            self._who.append(subject)
            self._where.append(where)
            self._what.append(what)
            seen.add(where)
            display = coding.get("display")
            if isinstance(display, str) and display and is_text(display):
                self._displays.setdefault((where, what), display)
        self._having.update(seen)
        self._n_coded += bool(seen)

    # -- all together ---------------------------------------------------------------------------

    def gather(
        self,
        system: str | None,
        name: str,
        digests: Mapping[str, str],
        *,
        keep_order: bool,
        stage: Stage,
    ) -> Transactions:
        """Return the transactions, over the codes of one system."""
        kind = self._kind.name
        if not self._n_resources:
            there = ", ".join(f"{one} ({n:,})" for one, n in sorted(self._others.items()))
            left = " that says what somebody has" if self._left_out else ""
            raise DataError(
                f"there is no {kind}{left}"
                + (f"; there is {there}: another --domain?" if there else ""),
                name,
            )
        chosen, notes = self._choose(system, name)
        where, what, who = map(np.asarray, (self._where, self._what, self._who))
        held = where == chosen
        subjects, codes = who[held], what[held]
        order = np.argsort(subjects, kind="stable")
        offsets = np.searchsorted(subjects[order], np.arange(len(self._subjects) + 1))
        stage()
        labels = list(self._codes)
        builder = TransactionsBuilder(keep_order=keep_order)
        used = np.unique(codes)
        new = np.zeros(len(labels), np.int64)
        new[used] = [builder.code(labels[code]) for code in used.tolist()]
        builder.add_rows(offsets, new[codes[order]], stage=stage)
        title = self._title(chosen)
        names = {labels[c]: text for (s, c), text in self._displays.items() if s == chosen}
        digest, *others = digests.values()
        if others:
            list_of = "".join(f"{one}  {file}\n" for file, one in digests.items())
            digest = hashlib.sha256(list_of.encode("utf-8", "surrogateescape")).hexdigest()
        origin = Origin(
            Layout("long", id="subject", item="code"),
            digest,
            f"FHIR, {count_of(self._n_resources, kind)}, codes of {title}",
            (*notes, *self._notes(chosen)),
            {item: names[item] for item in sorted(names)},
            tuple(digests.values()) if others else (),
        )
        return builder.build(origin=origin, stage=stage)

    def _title(self, system: int) -> str:
        return list(self._systems)[system] or "no system"

    def _choose(self, asked: str | None, name: str) -> tuple[int, list[str]]:
        """Return the system to take: the one asked for, the only one, or the one that all have."""
        kind = self._kind.name
        there = "; ".join(
            f"{self._title(system)} ({n:,} of {self._n_resources:,})"
            for system, n in sorted(self._having.items(), key=lambda one: (-one[1], one[0]))
        )
        if asked is not None:
            if asked not in self._systems:
                raise DataError(
                    f"no {kind} has a code of {asked}; there are {there or 'none'}", name
                )
            return self._systems[asked], []
        if not self._having:
            raise DataError(f"no {kind} has a code", name)
        complete = [system for system, n in self._having.items() if n == self._n_coded]
        if len(self._having) > 1 and len(complete) != 1:
            raise DataError(
                f"the codes are of several systems; choose one (system, --system): {there}", name
            )
        if len(self._having) == 1:
            return next(iter(self._having)), []
        (chosen,) = complete
        taken = f"the one that every coded {kind} has was taken"
        return chosen, [f"codes are of several systems ({there}); {taken}"]

    def _notes(self, chosen: int) -> Iterator[str]:
        kind = self._kind.name
        for why, number in sorted(self._left_out.items()):
            yield f"{count_of(number, kind)} {why}, left out"
        without = self._n_resources - self._having[chosen]
        if without:
            yield (
                f"{count_of(without, kind)} of {self._n_resources:,} without such a code; their "
                "people count"
            )
        whole = sum("://" in subject for subject in self._subjects)
        if 0 < whole < len(self._subjects):
            yield (
                f"{whole:,} of {len(self._subjects):,} subjects are named with their server, the "
                "others without; if these are the same people, name them alike"
            )
        if self._others:
            there = ", ".join(f"{one} ({n:,})" for one, n in sorted(self._others.items()))
            yield f"resources of other types were not read: {there}"


def _about(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.removesuffix(' at')} at character {error.colno}"
    return "it nests too deeply" if isinstance(error, RecursionError) else str(error)
