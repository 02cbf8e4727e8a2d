"""One server for the tests of a file, and a program that may ask."""

from collections.abc import Iterator

import httpx
import pytest

from web.serving import Server, serving


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as one:
        yield one


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client() as one:
        yield one
