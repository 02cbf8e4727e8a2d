"""The REST interface keeps to its description, whatever is sent (schemathesis)."""

from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)

from overcoat.web.app import make_app
from overcoat.web.studio import Studio
from overcoat.web.workspace import Workspace
from web.serving import Server, serving

pytestmark = pytest.mark.xdist_group("serve")

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


def description() -> dict[str, object]:
    studio = Studio(Workspace())
    try:
        app = make_app(studio, "127.0.0.1", 8474)
        content: dict[str, object] = app.application.openapi()
        return content
    finally:
        studio.workspace.end()


SCHEMA = schemathesis.openapi.from_dict(description())


# What streams for ever is tested in the browser; what ends all this has a test of its own.
@(
    SCHEMA.exclude(path_regex="/(events|end)$")
    .exclude(path_regex="/session$", method="DELETE")
    .parametrize()
)
@settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_description(case: schemathesis.Case[Any], server: Server, client: httpx.Client) -> None:
    project = _project(client)
    if "project" in case.path_parameters:
        case.path_parameters["project"] = project
    key = client.headers["authorization"]
    answer = case.call(base_url=server.base, headers={"authorization": key})
    case.validate_response(answer, checks=CHECKS)


def test_leaving_and_the_end() -> None:
    """A key that was given back is of no use; the server ends when it is told to."""
    with serving() as server, server.client() as client:
        key = client.headers.pop("authorization")
        assert client.delete("/session").status_code == 401
        assert client.post("/end").status_code == 401
        client.headers["authorization"] = key
        assert client.post("/end").json() == {"kept": False}
        assert server.process.wait(60) == 0
    with serving() as server, server.client() as client:
        assert client.delete("/session").status_code == 204
        assert client.get("/projects").status_code == 401


def _project(client: httpx.Client) -> str:
    """Return the project that all of it is about; it may have been deleted by a call."""
    found = [one["id"] for one in client.get("/projects").json()]
    if not found:
        found = [client.post("/projects", json={"name": "any"}).json()["id"]]
    return str(found[0])


def test_every_call_is_described() -> None:
    content = description()
    paths = content["paths"]
    assert isinstance(paths, dict)
    calls = [call for one in paths.values() for call in one.values()]
    assert len(calls) >= 18
    assert all(call["description"] and call["tags"] for call in calls)
    assert all({"401", "403", "404"} <= set(call["responses"]) for call in calls)
