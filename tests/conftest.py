"""Puts this folder on the path: `oracle`, `strategies`, `stores` and others are plain modules."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from postgres import Server, serve


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A PostgreSQL of this worker; tests with it are in the group "postgresql"."""
    with serve() as server:
        yield server


@pytest.fixture
def store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[object]:
    """A database of the kind that the test asks for; see `stores.EVERY`."""
    from stores import make_store

    yield from make_store(request.param, tmp_path, request, monkeypatch)
