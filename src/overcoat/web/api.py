"""The REST interface: projects, their files, and what is chosen; `results` has the rest of it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Request, Response

from overcoat.web.choices import Choices
from overcoat.web.models import (
    ChoicesModel,
    EndModel,
    ErrorModel,
    FileModel,
    KeptModel,
    KeyModel,
    NewProject,
    PolicyFile,
    ProjectModel,
    TokenModel,
)
from overcoat.web.saving import opened_policy, saved_policy
from overcoat.web.studio import Studio
from overcoat.web.uploads import receive
from overcoat.web.workspace import Project

__all__ = ["REFUSALS", "Id", "make_api"]

REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorModel, "description": "What was asked cannot be"},
    401: {"model": ErrorModel, "description": "No cookie and no key"},
    403: {"model": ErrorModel, "description": "Asked from another page"},
    404: {"model": ErrorModel, "description": "There is none"},
    422: {"model": ErrorModel, "description": "Not what the description says"},
}
_TOO_LARGE: dict[int | str, dict[str, Any]] = {
    413: {"model": ErrorModel, "description": "Larger than the server takes"}
}


Id = Annotated[str, Path(max_length=64)]


def make_api(studio: Studio) -> APIRouter:
    """Return the routes."""
    api = APIRouter(prefix="/api/v1", responses=REFUSALS)

    # -- who asks ----------------------------------------------------------------------------------

    @api.post("/session", status_code=201, tags=["session"])
    async def begin(given: TokenModel) -> KeyModel:
        """Exchange a token, which works once, for a key."""
        key = studio.session.exchange(given.token)
        if key is None:
            raise HTTPException(401, "this token was used before, or is too old")
        return KeyModel(key=key)

    @api.delete("/session", status_code=204, tags=["session"])
    async def leave(request: Request) -> None:
        """Give the key back; it is of no use afterwards."""
        key = request.scope["state"]["key"]
        if key is None:
            raise HTTPException(401, "there is no such key")
        studio.session.end(key)

    @api.post("/end", status_code=202, tags=["session"])
    async def end() -> EndModel:
        """End the server and all jobs; without a workspace folder everything is deleted."""
        studio.stop_soon()
        return EndModel(kept=studio.workspace.kept)

    # -- projects ----------------------------------------------------------------------------------

    @api.get("/projects", tags=["projects"])
    async def projects() -> list[ProjectModel]:
        """List the projects, the latest first."""
        return [_told(one) for one in studio.workspace.listed()]

    @api.post("/projects", status_code=201, tags=["projects"])
    async def create(new: NewProject) -> ProjectModel:
        """Begin a project."""
        return _told(await studio.begin(new.name, sample=new.sample, given=new.given))

    @api.get("/projects/{project}", tags=["projects"])
    async def project(project: Id) -> ProjectModel:
        """Return a project."""
        return _told(studio.project_of(project))

    @api.delete("/projects/{project}", status_code=204, tags=["projects"])
    async def delete(project: Id) -> None:
        """Delete a project with all its files, and end its jobs."""
        await studio.delete(studio.project_of(project))

    # -- files -------------------------------------------------------------------------------------

    @api.get("/projects/{project}/files", tags=["files"])
    async def files(project: Id) -> list[FileModel]:
        """List the files of a project."""
        return [
            FileModel(name=one, size=size)
            for one, size in studio.project_of(project).listed_files()
        ]

    @api.put(
        "/projects/{project}/files/{name:path}",
        status_code=201,
        tags=["files"],
        responses=_TOO_LARGE,
        openapi_extra={
            "requestBody": {
                "content": {
                    "application/octet-stream": {"schema": {"type": "string", "format": "binary"}}
                }
            }
        },
    )
    async def put(
        project: Id, name: Annotated[str, Path(max_length=500)], request: Request
    ) -> FileModel:
        """Give a file to a project, as the body, of any length; it replaces one of that name."""
        size = await receive(studio, studio.project_of(project), name, request)
        return FileModel(name=name, size=size)

    # -- choices -----------------------------------------------------------------------------------

    @api.post("/projects/{project}/choices", status_code=201, tags=["choices"])
    async def choose(project: Id, chosen: ChoicesModel) -> KeptModel:
        """Keep choices; what was chosen before stays where it was."""
        owner = studio.project_of(project)
        return _kept(owner, studio.checked(owner, Choices.from_json(chosen.model_dump())))

    @api.get("/projects/{project}/choices/{choices}", tags=["choices"])
    async def chosen(project: Id, choices: Id) -> KeptModel:
        """Return choices."""
        _, found = studio.choices_of(project, choices)
        return KeptModel(id=found.digest, choices=ChoicesModel(**found.to_json()))

    @api.get(
        "/projects/{project}/choices/{choices}/policy.toml",
        tags=["choices"],
        response_class=Response,
        responses={200: {"content": {"application/toml": {}}}},
    )
    async def policy(project: Id, choices: Id) -> Response:
        """Return the policy as a file for the command."""
        _, found = studio.choices_of(project, choices)
        return Response(saved_policy(found), media_type="application/toml")

    @api.post("/projects/{project}/choices/{choices}/policy", status_code=201, tags=["choices"])
    async def open_policy(project: Id, choices: Id, given: PolicyFile) -> KeptModel:
        """Take the settings of a policy file that is among the files of the project."""
        owner, found = studio.choices_of(project, choices)
        return _kept(owner, await opened_policy(studio, owner, found, given.file))

    return api


def _told(project: Project) -> ProjectModel:
    info = project.info
    return ProjectModel(id=project.id, name=info["name"], latest=info.get("latest"))


def _kept(project: Project, choices: Choices) -> KeptModel:
    identifier = project.keep(choices)
    return KeptModel(id=identifier, choices=ChoicesModel(**choices.to_json()))
