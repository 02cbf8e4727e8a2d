"""The REST interface keeps to its description, whatever is sent (schemathesis)."""

import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
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


def test_the_walk_that_is_documented(tmp_path: Path) -> None:
    """The script of docs/serve.md, as it stands there: from a file to a release, and the end."""
    bash, curl = shutil.which("bash"), shutil.which("curl")
    if bash is None or curl is None:
        pytest.skip("there is no bash, or no curl")
    page = Path(__file__).parents[2].joinpath("docs", "serve.md").read_text("utf-8")
    (script,) = re.findall(r"^```text walk\.sh\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    rows = [f"{n},{item}" for n in range(30) for item in ("flu", "gout" if n % 2 else "asthma")]
    (tmp_path / "visits.csv").write_text("\n".join(["patient,code", *rows]) + "\n", "utf-8")
    with serving() as server:
        told = subprocess.run(
            [bash, "-euo", "pipefail", "-c", script],
            cwd=tmp_path,
            env={**os.environ, "ADDRESS": server.address},
            capture_output=True,
            text=True,
            check=False,
        )
        assert told.returncode == 0, told.stderr
        assert "overcoat anonymize visits.csv --id patient --item code" in told.stdout
        assert server.process.wait(60) == 0
    assert (tmp_path / "released.csv").read_text("utf-8").count("\n") == 61
    with zipfile.ZipFile(tmp_path / "release.zip") as packed:
        assert packed.read("to-pass-on/released.csv") == (tmp_path / "released.csv").read_bytes()


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
