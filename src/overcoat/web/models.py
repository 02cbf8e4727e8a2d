"""What the REST interface takes and gives, as its description (OpenAPI) has it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "ChoicesModel",
    "EndModel",
    "ErrorModel",
    "FileModel",
    "JobModel",
    "KeptModel",
    "KeyModel",
    "NewProject",
    "PartModel",
    "PolicyFile",
    "ProjectModel",
    "TaskName",
    "TokenModel",
]

TaskName = Literal[
    "glimpse", "profile", "risk", "sets", "run", "weigh", "cures", "price", "gaps", "publish"
]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TokenModel(_Strict):
    """A token that works once."""

    token: str = Field(max_length=200)


class KeyModel(BaseModel):
    """A key for the header ``Authorization: Bearer KEY``."""

    key: str


class EndModel(BaseModel):
    """What becomes of the projects when the server ends."""

    kept: bool


class NewProject(_Strict):
    """A project to begin."""

    name: str = Field(default="", max_length=200, description="What it is called")
    sample: bool = Field(default=False, description="With the data and policy of a sample hospital")
    given: str | None = Field(
        default=None, max_length=200, description="A source that the server was told of (--data)"
    )


class ProjectModel(BaseModel):
    """A project."""

    id: str
    name: str
    latest: str | None = Field(description="The choices that were made last")


class FileModel(BaseModel):
    """A file of a project, or one that a job has written."""

    name: str
    size: int


class ChoicesModel(_Strict):
    """All that is chosen: data, how they are read, what must hold. Settings as in policy.toml."""

    source: str = Field(default="", max_length=500)
    reading: dict[str, Any] = Field(default_factory=dict)
    settings: dict[str, Any] = Field(
        default_factory=lambda: {"k": 5, "km": 2, "max_suppressed": 0.5}
    )
    names: str = Field(default="", max_length=500, description="The file of what items are called")
    allow_identifiers: bool = False


class KeptModel(BaseModel):
    """Choices, and the digest by which they are addressed."""

    id: str
    choices: ChoicesModel


class JobModel(BaseModel):
    """A piece of work, and how far it has got."""

    id: str
    task: str
    state: Literal["waiting", "running", "done", "failed", "cancelled", "killed"]
    stage: str
    completed: int
    total: int = Field(description="0 where nobody knows")
    remaining: int | None = Field(description="Seconds until this stage is over, if known")
    error: dict[str, Any] | None


class PartModel(BaseModel):
    """A page of a list."""

    rows: list[dict[str, Any]]
    total: int
    page: int
    pages: int


class PolicyFile(_Strict):
    """A policy file among the files of the project."""

    file: str = Field(max_length=500)


class ProblemModel(BaseModel):
    """One thing that is wrong, and where."""

    message: str
    file: str | None = None
    line: int | None = None


class FailureModel(BaseModel):
    """What went wrong: the same shape as the command's ``--json``."""

    kind: str
    message: str
    problems: list[ProblemModel]


class ErrorModel(BaseModel):
    """A refusal."""

    error: FailureModel
