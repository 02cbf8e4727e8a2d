"""What can be looked at: workbooks, databases, folders, and what the machine has already."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from openpyxl import Workbook

from web.serving import ended, serving

pytestmark = pytest.mark.xdist_group("serve")

ROWS = [(f"p{n}", item) for n in range(30) for item in ("flu", "gout" if n % 2 else "asthma")]


def workbook(path: Path) -> Path:
    book = Workbook()
    notes = book.active
    assert notes is not None
    notes.title = "Notes"
    notes.append(["nothing", "of interest"])
    sheet = book.create_sheet("Visits")
    for row in [("patient", "code"), *ROWS]:
        sheet.append(row)
    book.save(path)
    return path


def database(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE visits (patient TEXT, code TEXT)")
        connection.execute("CREATE TABLE wards (name TEXT)")
        connection.executemany("INSERT INTO visits VALUES (?, ?)", ROWS)
    return path


def tables(folder: Path) -> list[Path]:
    folder.mkdir()
    for part, rows in enumerate((ROWS[:30], ROWS[30:])):
        lines = ["patient,code", *(",".join(row) for row in rows)]
        (folder / f"part{part}.csv").write_text("\n".join(lines) + "\n", "utf-8")
    return sorted(folder.iterdir())


def put(client: httpx.Client, *files: tuple[str, Path]) -> str:
    """Begin a project with these files."""
    project = str(client.post("/projects", json={"name": "any"}).json()["id"])
    for name, path in files:
        answer = client.put(f"/projects/{project}/files/{name}", content=path.read_bytes())
        assert answer.status_code == 201, answer.text
    return project


def released(client: httpx.Client, project: str, source: str, **reading: str) -> dict[str, Any]:
    """Go from a source to a release; return what was found on the way."""
    chosen = {"source": source, "reading": {"id": "patient", "item": "code", **reading}}
    chosen["settings"] = {"k": 5, "km": 2, "max_suppressed": 0}
    kept = client.post(f"/projects/{project}/choices", json=chosen)
    assert kept.status_code == 201, kept.text
    choices = kept.json()["id"]
    profile = ended(client, project, choices, "profile")
    assert (profile["n_people"], profile["n_items"]) == (30, 3)
    found = ended(client, project, choices, "publish")
    assert found["verified"]
    text = client.get(f"/projects/{project}/jobs/{found['job']}/files/{found['released']}")
    assert text.status_code == 200
    return found | {"content": text.content}


def test_a_workbook(client: httpx.Client, tmp_path: Path) -> None:
    """The sheets are named to choose from, and the release is a workbook again."""
    project = put(client, ("visits.xlsx", workbook(tmp_path / "visits.xlsx")))
    first = client.post(f"/projects/{project}/choices", json={"source": "visits.xlsx"}).json()["id"]
    assert ended(client, project, first, "glimpse")["sheets"] == ["Notes", "Visits"]
    found = released(client, project, "visits.xlsx", sheet="Visits")
    assert found["released"] == "released.xlsx"
    assert found["content"].startswith(b"PK")


def test_a_database(client: httpx.Client, tmp_path: Path) -> None:
    """The tables are named to choose from; the one that is chosen is read."""
    project = put(client, ("ward.db", database(tmp_path / "ward.db")))
    first = client.post(f"/projects/{project}/choices", json={"source": "ward.db"}).json()["id"]
    assert ended(client, project, first, "glimpse")["tables"] == ["visits", "wards"]
    released(client, project, "ward.db#visits")


def test_a_folder(client: httpx.Client, tmp_path: Path) -> None:
    """All files of a folder are one table."""
    files = tables(tmp_path / "visits")
    project = put(client, *((f"visits/{path.name}", path) for path in files))
    first = client.post(f"/projects/{project}/choices", json={"source": "visits"}).json()["id"]
    assert ended(client, project, first, "glimpse")["n_files"] == 2
    released(client, project, "visits")


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A server that was told of a folder and of a database, and not of what lies beside them."""
    folder = tmp_path_factory.mktemp("machine")
    tables(folder / "visits")
    (folder / "secret.csv").write_text("patient,code\na,b\n", "utf-8")
    sources = ("visits", f"sqlite:///{database(folder / 'ward.db')}")
    options = [word for source in sources for word in ("--data", source)]
    with serving(*options, cwd=folder) as server, server.client() as client:
        yield client


def test_what_the_machine_has_is_read_where_it_is(given: httpx.Client) -> None:
    project = given.post("/projects", json={"given": "visits"}).json()["id"]
    assert given.get(f"/projects/{project}/files").json() == []
    released(given, project, "given:visits")


def test_a_database_of_the_machine(given: httpx.Client) -> None:
    page = given.get(f"{str(given.base_url).partition('/api')[0]}/").text
    assert 'value="ward.db"' in page  # and nothing of where it is
    assert "sqlite:" not in page
    project = given.post("/projects", json={"given": "ward.db"}).json()["id"]
    released(given, project, "given:ward.db#visits")


@pytest.mark.parametrize("name", ["secret.csv", "visits/../secret.csv", "", "/etc"])
def test_what_was_not_named_is_refused(given: httpx.Client, name: str) -> None:
    answer = given.post("/projects", json={"given": name})
    assert answer.status_code == 400
    assert "was not told of this source" in answer.text
    project = given.post("/projects", json={"given": "visits"}).json()["id"]
    answer = given.post(f"/projects/{project}/choices", json={"source": f"given:{name}"})
    assert answer.status_code == 400
