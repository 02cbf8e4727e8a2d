"""The REST interface: jobs, what they find, the files they write, and events while they run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Request
from fastapi.responses import FileResponse, StreamingResponse

from overcoat.web.api import REFUSALS, Id
from overcoat.web.jobs import Job
from overcoat.web.listing import LISTINGS, PAGE, read_part
from overcoat.web.models import JobModel, PartModel, TaskName
from overcoat.web.studio import Studio
from overcoat.web.texts import stage_words, texts_in
from overcoat.web.workspace import Project

__all__ = ["file_of", "make_results"]

_PAUSE = 15.0  # seconds after which a silent stream says that it is alive


def make_results(studio: Studio) -> APIRouter:
    """Return the routes."""
    api = APIRouter(prefix="/api/v1", responses=REFUSALS)

    # -- jobs --------------------------------------------------------------------------------------

    @api.post("/projects/{project}/choices/{choices}/jobs/{task}", status_code=202, tags=["jobs"])
    async def start(project: Id, choices: Id, task: TaskName) -> JobModel:
        """Begin a job; if it was done before, that one is returned."""
        owner, found = studio.choices_of(project, choices)
        return _state(studio.jobs.again(studio.job(owner, found, task)))

    @api.get("/projects/{project}/jobs", tags=["jobs"])
    async def jobs(project: Id) -> list[JobModel]:
        """List the jobs of a project."""
        return [_state(one) for one in studio.jobs.listed(studio.project_of(project))]

    @api.get("/projects/{project}/jobs/{job}", tags=["jobs"])
    async def job(project: Id, job: Id) -> JobModel:
        """Return how far a job has got."""
        return _state(studio.job_of(project, job))

    @api.delete("/projects/{project}/jobs/{job}", tags=["jobs"])
    async def cancel(project: Id, job: Id) -> JobModel:
        """End a job at once."""
        found = studio.job_of(project, job)
        await studio.jobs.cancel(found)
        return _state(found)

    @api.get("/projects/{project}/jobs/{job}/result", tags=["jobs"])
    async def result(project: Id, job: Id) -> dict[str, Any]:
        """Return what a job has found."""
        return studio.done_job_of(project, job).result()

    @api.get("/projects/{project}/jobs/{job}/lists/{name}", tags=["jobs"])
    async def part(
        project: Id,
        job: Id,
        name: Annotated[str, Path(max_length=20)],
        search: Annotated[str, Query(max_length=200)] = "",
        order: Annotated[str, Query(max_length=20)] = "",
        page: Annotated[int, Query(ge=1, le=10**9)] = 1,
        size: Annotated[int, Query(ge=1, le=500)] = PAGE,
    ) -> PartModel:
        """Return a page of a list that a job has made: items, sets, groups, counts."""
        folder = studio.done_job_of(project, job).folder
        if name not in LISTINGS or not (folder / f"{name}.sqlite").is_file():
            raise HTTPException(404, "the job has no such list")
        found = read_part(folder, name, search=search, order=order, page=page, size=size)
        told = [
            {key: one for key, one in row.items() if key not in ("place", "number")}
            for row in found.rows
        ]
        return PartModel(rows=told, total=found.total, page=found.page, pages=found.pages)

    @api.get(
        "/projects/{project}/jobs/{job}/files/{name}",
        tags=["jobs"],
        response_class=FileResponse,
        responses={200: {"content": {"application/octet-stream": {}}}},
    )
    async def download(
        project: Id, job: Id, name: Annotated[str, Path(max_length=200)]
    ) -> FileResponse:
        """Return a file that a job has written: of a release, its reports, its certificates."""
        return file_of(studio.done_job_of(project, job), name)

    @api.get(
        "/projects/{project}/events",
        tags=["jobs"],
        response_class=StreamingResponse,
        responses={200: {"content": {"text/event-stream": {}}}},
    )
    async def events(project: Id, request: Request) -> StreamingResponse:
        """Tell how the jobs of a project get on, as server-sent events; each is a job."""
        owner = studio.project_of(project)
        return StreamingResponse(_events(studio, owner, request), media_type="text/event-stream")

    return api


def _state(job: Job) -> JobModel:
    return JobModel(**job.to_json())


def file_of(job: Job, name: str) -> FileResponse:
    """Return one of the files that a job says it has written, to be saved."""
    names = {one["name"] for one in job.result().get("files", ())}
    if name not in names:
        raise HTTPException(404, "there is no such file")
    return FileResponse(job.folder / name, media_type="application/octet-stream", filename=name)


async def _events(studio: Studio, project: Project, request: Request) -> AsyncIterator[str]:
    async with studio.jobs.events(project) as queue:
        for job in studio.jobs.listed(project):  # whoever connects again has missed something
            yield _event(job)
        while not await request.is_disconnected():
            try:
                job = await asyncio.wait_for(queue.get(), _PAUSE)
            except TimeoutError:
                yield ": still here\n\n"
                continue
            latest = {job.id: job}
            with suppress(asyncio.QueueEmpty):  # of several tellings of a job the last is enough
                while True:
                    more = queue.get_nowait()
                    latest[more.id] = more
            for one in latest.values():
                yield _event(one)


def _event(job: Job) -> str:
    told = {key: one for key, one in job.to_json().items() if key != "error"}
    told["words"] = stage_words(texts_in(), job.stage, job.remaining)  # of the stage, for people
    return f"event: job\ndata: {json.dumps(told)}\n\n"
