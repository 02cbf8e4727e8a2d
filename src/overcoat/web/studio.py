"""What the pages and the REST interface have in common: projects, choices, jobs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from starlette.exceptions import HTTPException

from overcoat.errors import DataError
from overcoat.policy.keys import FILES, KEYS
from overcoat.web.choices import Choices
from overcoat.web.jobs import Job, Jobs, Limits
from overcoat.web.session import Session
from overcoat.web.texts import texts_in
from overcoat.web.workspace import Project, Workspace

__all__ = ["GIVEN", "SOON", "TASKS", "Studio", "given_address"]

t = texts_in()

# Of which part of the choices a task is a function: so no more is done again than has changed.
TASKS = ("glimpse", "profile", "risk", "sets", "run", "weigh", "cures", "price", "gaps", "publish")
GIVEN = "given:"  # before the names of sources that the server was told of
_SPECIAL = re.compile(r"omop(:[\w,. -]*)?|balanced:\d+", re.ASCII)
_LONGEST = 120  # characters of a project's name
_ANSWERED = 0.3  # seconds in which an answer is with whoever asked
SOON = 0.7  # seconds that a page waits for a result before it shows the progress instead


@dataclass
class Studio:
    """Everything that a server has.

    Attributes
    ----------
    workspace : where the projects are
    session : who may ask
    limits : what a job may use
    max_upload : bytes of a file, at most
    given : sources that the server was told of, by name
    stop : what ends the server
    """

    workspace: Workspace
    session: Session = field(default_factory=Session)
    limits: Limits = field(default_factory=Limits)
    max_upload: int = 16 << 30
    given: Mapping[str, str] = field(default_factory=dict)
    stop: Callable[[], None] | None = None
    jobs: Jobs = field(init=False)

    def __post_init__(self) -> None:
        self.jobs = Jobs(self.limits, self.given)

    async def begin(
        self, name: str = "", *, sample: bool = False, given: str | None = None
    ) -> Project:
        """Begin a project: empty, with the sample hospital, or with a source that was given."""
        if given is not None and given not in self.given:
            raise DataError(t("studio.not_given"))
        project = self.workspace.create(name[:_LONGEST].strip() or self._called(sample, given))
        if given is not None:
            project.keep(Choices(f"{GIVEN}{given}"))
        if sample:
            job = self.jobs.ensure(project, "sample", {})
            project.keep(Choices.from_json((await self.result(job))["choices"]))
        return project

    @staticmethod
    def _called(sample: bool, given: str | None) -> str:
        return t("studio.sample") if sample else given or t("studio.untitled")

    async def delete(self, project: Project) -> None:
        """Delete a project, and end its jobs."""
        await self.jobs.forget(project)
        self.workspace.delete(project)

    def touched(self, project: Project) -> None:
        """Take note that a file is not what it was: what was found in it holds no more."""
        project.update(version=project.info.get("version", 0) + 1)

    def checked(self, project: Project, choices: Choices) -> Choices:
        """Return choices if they name nothing but what belongs to the project, or raise."""
        source, query = choices.source, choices.reading.get("query")
        given = given_address(source, self.given) if source.startswith(GIVEN) else None
        if source.startswith(GIVEN) and given is None:
            raise DataError(t("studio.not_given"))
        if query and (given is None or given.startswith("duckdb:")):  # one could read other files
            raise DataError(t("studio.query"))
        if source and given is None:
            file, *_ = source.partition("#")
            if not project.path_of(file).exists():
                raise DataError(t("studio.no_file"), file)
            if file.lower().endswith(".duckdb"):  # a view in it may read any file
                raise DataError(t("studio.duckdb"))
        for key, value in choices.settings.items():
            if key in FILES and isinstance(value, str) and not _SPECIAL.fullmatch(value):
                _require(project, value)
        if choices.names:
            _require(project, choices.names)
        for key, value in {**choices.settings, **choices.reading}.items():
            if key in KEYS and (isinstance(value, bool) and bool not in KEYS[key][0]):
                raise DataError(f"{key} must be {KEYS[key][1]}")
            if key in KEYS and not isinstance(value, KEYS[key][0]):
                raise DataError(f"{key} must be {KEYS[key][1]}")
            if key not in KEYS and not isinstance(value, (str, int, bool, list)):
                raise DataError(f"{key} cannot be {type(value).__name__}")
        return choices

    def job(self, project: Project, choices: Choices, task: str, **more: Any) -> Job:
        """Return the job that does a task for what was chosen; it is begun unless it was before."""
        return self.jobs.ensure(project, task, self.params(project, choices, task) | more)

    def planned(self, project: Project, choices: Choices, task: str) -> Job | None:
        """Return the job that does a task if it was begun."""
        return self.jobs.planned(project, task, self.params(project, choices, task))

    async def supersede(self, project: Project, old: Choices, new: Choices) -> None:
        """End what was begun for choices that were changed at once."""
        if old == new or not old.source:
            return
        for task in ("run", "weigh", "cures", "price"):
            job = self.planned(project, old, task)
            if job is not None and not job.ended:
                await self.jobs.cancel(job)
                self.jobs.drop(job)

    def params(self, project: Project, choices: Choices, task: str) -> dict[str, Any]:
        """Return the part of the choices that a task is a function of."""
        if not choices.source:
            raise DataError(t("studio.no_data"))
        k = int(choices.settings.get("k", 5))
        # A file that is given again under its name is another file.
        version = {"files": project.info.get("version", 0)}
        match task:
            case "glimpse":
                return choices.about_data | version
            case "profile":
                return choices.about_data | {"names": choices.names} | version
            case "risk":
                return choices.about_data | {"k": k, "names": choices.names} | version
            case "sets":
                return choices.about_sets | version
            case "weigh":
                run = self.jobs.called("run", self.params(project, choices, "run"))
                return choices.about_data | {"run": run, "k": k} | version
            case "run" | "cures" | "price" | "gaps" | "publish":
                return choices.to_json() | version
        raise DataError(f"there is no task {task!r}")

    # -- what an address names ---------------------------------------------------------------------

    def project_of(self, identifier: str) -> Project:
        """Return a project, or answer that there is none."""
        found = self.workspace.project(identifier)
        if found is None:
            raise HTTPException(404, "there is no such project")
        return found

    def choices_of(self, project: str, identifier: str) -> tuple[Project, Choices]:
        """Return a project and what was chosen in it, or answer that there is none."""
        owner = self.project_of(project)
        found = owner.choices(identifier)
        if found is None:
            raise HTTPException(404, "nothing was chosen under this name")
        return owner, found

    def job_of(self, project: str, identifier: str) -> Job:
        """Return a job, or answer that there is none."""
        found = self.jobs.find(self.project_of(project), identifier)
        if found is None:
            raise HTTPException(404, "there is no such job")
        return found

    def done_job_of(self, project: str, identifier: str) -> Job:
        """Return a job that has a result, or answer that there is none."""
        found = self.job_of(project, identifier)
        if found.state != "done":
            raise HTTPException(404, f"the job has no result: it is {found.state}")
        return found

    # -- waiting -----------------------------------------------------------------------------------

    async def soon(self, job: Job, seconds: float = SOON) -> Job:
        """Wait a moment for a job, so that what is quick is there at once."""
        if not job.ended:
            with suppress(TimeoutError):
                await asyncio.wait_for(job.over.wait(), seconds)
        return job

    async def result(self, job: Job) -> dict[str, Any]:
        """Wait for a job and return what it found."""
        await job.over.wait()
        if job.state != "done":
            message = (job.error or {}).get("message") or t("studio.ended")
            raise DataError(message)
        return job.result()

    def stop_soon(self) -> None:
        """End the server, once what asked for it has its answer."""
        if self.stop is not None:
            asyncio.get_running_loop().call_later(_ANSWERED, self.stop)

    async def end(self) -> None:
        """End all work, and delete what is not to be kept."""
        await self.jobs.end()
        self.workspace.end()


def _require(project: Project, name: str) -> None:
    if not project.path_of(name).is_file():
        raise DataError(t("studio.no_file"), name)


def given_address(source: str, given: Mapping[str, str]) -> str | None:
    """Return the address of a source that the server was told of, with the table it names.

    >>> given_address("given:ward#visits", {"ward": "sqlite:///ward.db"})
    'sqlite:///ward.db#visits'
    """
    name = source.removeprefix(GIVEN)
    if name in given:
        return given[name]
    name, _, table = name.rpartition("#")
    return f"{given[name]}#{table}" if name in given and table else None
