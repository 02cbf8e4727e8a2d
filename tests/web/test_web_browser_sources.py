"""Files of other kinds in the page: chosen, understood, and followed to the result."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from overcoat.data import samples
from web.browsing import PATIENCE, check, entered, settled
from web.serving import Server, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def started(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Server, Page]]:
    """A server that was told of a folder of the machine, and a page that is in."""
    folder = tmp_path_factory.mktemp("machine")
    samples.write_omop(folder / "cdm", 200)
    with serving("--data", "cdm", cwd=folder) as server:
        context = browser.new_context()
        context.set_default_timeout(PATIENCE)
        yield server, entered(context, server)
        context.close()


def to_the_result(page: Page) -> None:
    """Go from the data to a result, without a crowd to hide in: so all of it can be met."""
    page.goto(page.url.replace("/data", "/result"))
    page.fill("#s", "100")
    before = page.url
    page.press("#s", "Tab")
    page.wait_for_url(lambda address: address != before)
    page.wait_for_selector(".verdict.good")
    settled(page, "result")
    check(page)


def test_fhir(started: tuple[Server, Page], tmp_path: Path) -> None:
    """A file of FHIR resources: codes and what they are called are found in it."""
    server, page = started
    page.goto(server.base)
    page.set_input_files("#file", samples.write_fhir(tmp_path, 200))
    settled(page, "data")
    assert "FHIR" in page.inner_text("#part-glimpse")
    assert "200\npeople" in page.inner_text("#part-profile")
    page.click("text=All items")
    page.wait_for_selector("#list-items >> text=hypertension")
    to_the_result(page)


def test_a_folder_of_omop(started: tuple[Server, Page], tmp_path: Path) -> None:
    """A folder is chosen whole; that it is a common data model is seen by its tables."""
    server, page = started
    samples.write_omop(tmp_path / "model", 200)
    page.goto(server.base)
    page.set_input_files("#folder", tmp_path / "model")
    settled(page, "data")
    assert "OMOP" in page.inner_text("#part-glimpse")
    assert "people" in page.inner_text("#part-profile")
    to_the_result(page)


def test_omop_of_the_machine(started: tuple[Server, Page]) -> None:
    """What the machine has need not be sent."""
    server, page = started
    page.goto(server.base)
    page.click("button:has-text('cdm')")
    settled(page, "data")
    assert "OMOP" in page.inner_text("#part-glimpse")
    to_the_result(page)


def test_a_database(started: tuple[Server, Page], tmp_path: Path) -> None:
    """The table is chosen from those there are, and what its columns hold is guessed."""
    server, page = started
    rows = [(f"p{n}", item) for n in range(30) for item in ("flu", "gout" if n % 2 else "asthma")]
    with closing(sqlite3.connect(tmp_path / "ward.db")) as connection, connection:
        connection.execute("CREATE TABLE wards (name TEXT)")
        connection.execute("CREATE TABLE visits (patient TEXT, code TEXT)")
        connection.executemany("INSERT INTO visits VALUES (?, ?)", rows)
    page.goto(server.base)
    page.set_input_files("#file", tmp_path / "ward.db")
    settled(page, "data")
    before = page.url
    page.select_option("#table", "visits")
    page.wait_for_url(lambda address: address != before)
    settled(page, "data")
    assert "30\npeople" in page.inner_text("#part-profile")
    to_the_result(page)
