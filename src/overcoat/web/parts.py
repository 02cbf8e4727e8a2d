"""What each step and each part of it shows: from jobs to what templates are filled with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any
from urllib.parse import quote

from starlette.exceptions import HTTPException

from overcoat.web.choices import METHODS, Choices
from overcoat.web.jobs import Job
from overcoat.web.listing import Part, missing, read_part
from overcoat.web.saving import named_files
from overcoat.web.sets import written_sets
from overcoat.web.studio import SOON, Studio
from overcoat.web.views import Views, promise_of
from overcoat.web.workspace import Project

__all__ = ["INSIDE", "LISTS", "STEPS", "STEP_OF", "Parts", "list_url", "set_names"]

STEPS = ("data", "risk", "keep", "protect", "result", "publish")

_SOONER = 0.15  # seconds that a result which is there waits for the rest of it

Asked = Mapping[str, str]  # of an address, behind the question mark


class Parts:
    """Fills pages, and the parts of them that jobs find."""

    def __init__(self, studio: Studio, views: Views) -> None:
        self._studio, self._views = studio, views

    def base(self, project: Project, choices: Choices, step: str) -> dict[str, Any]:
        """Return what every page about choices shows."""
        here = f"/p/{project.id}/{choices.digest}"
        at = STEPS.index(step)
        steps = [
            {
                "title": self._views.t(f"step.{name}"),
                "href": f"{here}/{name}" if choices.source else "",
                "here": name == step,
                "state": "here" if name == step else "past" if place < at else "ahead",
            }
            for place, name in enumerate(STEPS)
        ]
        return {
            "title": self._views.t(f"step.{step}"),
            "project": {"id": project.id, "name": project.info["name"]},
            "choices": choices,
            "step": step,
            "steps": steps,
            "here": here,
            "link": lambda name: f"{here}/{name}",
            "url_of": lambda kind, job: f"{here}/{kind}/{job.id}",
        }

    async def step(
        self, step: str, project: Project, choices: Choices, asked: Asked
    ) -> dict[str, Any]:
        """Return what a step shows."""
        show = {
            "data": self._data,
            "risk": self._risk,
            "keep": self._keep,
            "protect": self._protect,
            "result": self._result,
            "publish": self._publish,
        }[step]
        return await show(project, choices, asked)

    async def _data(self, project: Project, choices: Choices, asked: Asked) -> dict[str, Any]:
        glimpse = await self.part(project, choices, "glimpse")
        said = choices.reading
        seen = glimpse.get("seen")
        ready = {"id", "item", "items", "query", "omop"} & set(said) or (
            seen is not None and seen["kind"] in ("baskets", "fhir", "lists", "model")
        )
        profile = await self.part(project, choices, "profile") if ready else {"profile": None}
        return glimpse | profile | {"go_on": bool(ready) or seen is None}

    async def _risk(self, project: Project, choices: Choices, asked: Asked) -> dict[str, Any]:
        return await self.part(project, choices, "risk")

    async def _keep(self, project: Project, choices: Choices, asked: Asked) -> dict[str, Any]:
        sets = await self.part(project, choices, "sets")
        return sets | {"kind": _kind_of(choices), "levels": sets.get("found", {}).get("levels", ())}

    async def _protect(self, project: Project, choices: Choices, asked: Asked) -> dict[str, Any]:
        settings = choices.settings
        listed, linkable = settings.get("privacy"), settings.get("linkable")
        inside = listed.values() if isinstance(listed, dict) else listed
        named = [] if isinstance(listed, str) else [x for items in inside or () for x in items]
        named += linkable if isinstance(linkable, list) else []
        unknown: list[str] = []
        if named:
            profile = await self._studio.soon(self._studio.job(project, choices, "profile"))
            if profile.state == "done":
                unknown = missing(profile.folder, "items", named)
        return {
            "known": _known_of(choices),
            "promise": promise_of(self._views.t, settings),
            "unknown": unknown,
            "privacy_file": listed if isinstance(listed, str) else "",
            "listed": "" if isinstance(listed, str) else written_sets(inside or ()),
            "linkable": written_sets([linkable]) if isinstance(linkable, list) else linkable or "",
        }

    async def _result(self, project: Project, choices: Choices, asked: Asked) -> dict[str, Any]:
        values = await self.part(project, choices, "run", asked)
        run, cures = values["run"], None
        if run.state == "failed" and (run.error or {}).get("kind") == "infeasible":
            more = await self.part(project, choices, "cures")
            cures = more.pop("cures")
            values |= more
        return values | {
            "cures": cures,
            "known": _known_of(choices),
            "methods": METHODS,
            "named": named_files(choices),
            "algorithm": choices.settings.get("algorithm", "coat"),
        }

    async def _publish(self, project: Project, choices: Choices, asked: Asked) -> dict[str, Any]:
        job = self._studio.planned(project, choices, "publish")
        if job is not None:
            return await self.part(project, choices, "publish")
        return await self.part(project, choices, "gaps") | {"published": None}

    async def part(
        self,
        project: Project,
        choices: Choices,
        task: str,
        asked: Asked | None = None,
        patience: float = SOON,
    ) -> dict[str, Any]:
        """Return the job that a part waits for, and if it is done, what the part shows."""
        studio, asked = self._studio, asked or {}
        # As it is now: what is shown fits it, though it may get on until all is gathered.
        job = copy(await studio.soon(studio.job(project, choices, task), patience))
        values: dict[str, Any] = {"published" if task == "publish" else task: job}
        if job.state != "done":
            return values
        found = job.result()
        here = f"/p/{project.id}/{choices.digest}"
        match task:
            case "glimpse":
                values |= self._views.reading(found, choices)
            case "profile":
                values["facts"] = found
            case "risk":
                values |= self._views.risk(found)
            case "sets":
                values |= {"found": found, "kind": _kind_of(choices)}
                values |= _listed(job, "sets", here)
                if values["kind"] == "hand":
                    values |= {
                        "choose_part": read_part(job.folder, "items"),
                        "choose_url": f"{here}/list/choose?search=",
                        "set_names": set_names(job),
                    }
            case "run":
                values["found"] = found
                values |= _listed(job, "counts", here) | _listed(job, "groups", here)
                values |= await self.part(project, choices, "weigh", patience=_SOONER)
                names = METHODS if "compare" in asked else ()
                values["compared"] = await self.compared(project, choices, names)
                values["algorithm"] = choices.settings.get("algorithm", "coat")
                values["price"] = None
                if "price" in asked:
                    values |= await self.part(project, choices, "price")
            case "weigh":
                values |= self._views.weighed(found, choices.settings)
            case "cures":
                values["proposals"] = found["proposals"]
            case "price":
                values["prices"] = found
            case "gaps":
                values["missing"] = found
            case "publish":
                values |= {"found": found, "parts": _parted(found), "release": f"{here}/release"}
        return values

    async def compared(
        self, project: Project, choices: Choices, names: Iterable[str]
    ) -> list[dict[str, Any]]:
        """Return what other methods make of the same choices."""
        compared = []
        for name in names:
            if name not in METHODS:
                raise HTTPException(404)
            other = choices.changed(algorithm=None if name == "coat" else name)
            if name == choices.settings.get("algorithm", "coat"):
                other = choices
            job = copy(self._studio.job(project, other, "run"))
            found = job.result() if job.state == "done" else None
            href = f"/p/{project.id}/{project.keep(other, latest=False)}/result?compare=yes#methods"
            compared.append({"name": name, "job": job, "found": found, "href": href})
        return compared


STEP_OF = {
    "glimpse": "data",
    "profile": "data",
    "risk": "risk",
    "sets": "keep",
    "run": "result",
    "weigh": "result",
    "cures": "result",
    "price": "result",
    "method": "result",
    "gaps": "publish",
    "publish": "publish",
}
# Of each list the job that made it, what it is called there, and the step it belongs to.
LISTS = {
    "items": ("profile", "items", "data"),
    "sets": ("sets", "sets", "keep"),
    "choose": ("sets", "items", "keep"),
    "groups": ("run", "groups", "result"),
    "counts": ("run", "counts", "result"),
    "of-set": ("sets", "items", "keep"),
    "of-group": ("run", "items", "result"),
}
INSIDE = ("of-set", "of-group")  # those that are about one row of another list


def _kind_of(choices: Choices) -> str:
    """Return where the utility sets come from."""
    settings = choices.settings
    if settings.get("utility_level"):
        return "level"
    utility = settings.get("utility")
    if utility is None:
        return "none"
    return "hand" if isinstance(utility, str) and utility.startswith("sets-") else "table"


def _known_of(choices: Choices) -> str:
    settings = choices.settings
    return "all" if settings.get("pgen") else str(settings.get("km") or "listed")


def _listed(job: Job, name: str, here: str) -> dict[str, Any]:
    part = read_part(job.folder, name)
    return {f"{name}_part": part, f"{name}_url": list_url(here, name, part)}


def list_url(here: str, name: str, part: Part) -> str:
    """Return the address of a list, to which a page can be added."""
    return f"{here}/list/{name}?search={quote(part.search)}"


def set_names(job: Job) -> list[str]:
    """Return the names of sets, to choose from."""
    return [row["name"] for row in read_part(job.folder, "sets", order="name", size=500).rows]


def _parted(found: Mapping[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the files of a release: those to pass on, and those to keep."""
    parts = ("outward", "inward")
    return [(part, [one for one in found["files"] if one["part"] == part]) for part in parts]
