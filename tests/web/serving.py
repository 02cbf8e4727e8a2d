"""A server of its own for tests: the command as a process, and a way in."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

__all__ = ["Server", "ended", "followed", "serving"]


@dataclass
class Server:
    """A running server.

    Attributes
    ----------
    process : it
    address : where one comes in, once
    said : what it says on standard error
    """

    process: subprocess.Popen[str]
    address: str
    said: list[str] = field(default_factory=list)

    @property
    def base(self) -> str:
        """Where it is, without a path."""
        return self.address.partition("/enter")[0]

    @property
    def token(self) -> str:
        """What the address has."""
        return self.address.partition("token=")[2]

    @contextmanager
    def client(self) -> Iterator[httpx.Client]:
        """Give a program that may ask; this uses up the address."""
        with httpx.Client(base_url=f"{self.base}/api/v1", timeout=120) as client:
            key = client.post("/session", json={"token": self.token}).json()["key"]
            client.headers["authorization"] = f"Bearer {key}"
            yield client


@contextmanager
def serving(*options: str, cwd: Path | None = None) -> Iterator[Server]:
    """Start the command `overcoat serve` on a free port, and end it."""
    command = [sys.executable, "-m", "overcoat", "serve", "--no-browser", "--port", "0", *options]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=cwd
    )
    assert process.stderr is not None
    said: list[str] = []
    address = ""
    for line in process.stderr:
        said.append(line)
        if found := re.search(r"http\S+token=\S+", line):
            address = found[0]
            break
    assert address, "".join(said)
    rest = threading.Thread(target=lambda: said.extend(process.stderr or ()), daemon=True)
    rest.start()
    try:
        yield Server(process, address, said)
    finally:
        process.terminate()
        try:
            process.wait(20)
        finally:
            process.kill()
            process.wait()
            rest.join()
            process.stderr.close()


def ended(client: httpx.Client, project: str, choices: str, task: str) -> dict[str, Any]:
    """Begin a job, follow it by its events, and return what it found."""
    job = followed(client, project, choices, task)
    assert job["state"] == "done", job
    found: dict[str, Any] = client.get(f"/projects/{project}/jobs/{job['id']}/result").json()
    return found | {"job": job["id"]}


def followed(client: httpx.Client, project: str, choices: str, task: str) -> dict[str, Any]:
    """Begin a job and follow it by its events until it has ended, in whatever way."""
    job = client.post(f"/projects/{project}/choices/{choices}/jobs/{task}").json()
    with client.stream("GET", f"/projects/{project}/events") as stream:
        for line in stream.iter_lines():
            said = json.loads(line.removeprefix("data: ")) if line.startswith("data: ") else {}
            if said.get("id") == job["id"] and said["state"] not in ("waiting", "running"):
                return dict(said)
    raise AssertionError("the events ended")
