"""One server for the tests of a file, and a program that may ask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import httpx
import pytest

from browser import launch
from web.serving import Server, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launch() as one:
        yield one


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as one:
        yield one


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client() as one:
        yield one
