"""From a file to a release by REST, and the same by the command: the same bytes."""

import io
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from overcoat.data import samples
from web.serving import ended

pytestmark = pytest.mark.xdist_group("serve")


def test_way_and_the_same_by_command(client: httpx.Client, tmp_path: Path) -> None:
    sample = samples.hospital(400)
    files = sample.write(tmp_path)
    # Files of hers that are called as the files of a release are.
    for name, called in (("data", "released.csv"), ("hierarchy", "codebook.csv")):
        files[name] = files[name].rename(tmp_path / called)
    project = client.post("/projects", json={"name": "Ward"}).json()["id"]
    files["names"] = tmp_path / "codes.csv"
    files["names"].write_text("code,description\n250.00,Diabetes\n", "utf-8")
    for name in ("data", "utility", "hierarchy", "names"):
        path = files[name]
        answer = client.put(f"/projects/{project}/files/{path.name}", content=path.read_bytes())
        assert answer.status_code == 201, answer.text
    plain = {"source": files["data"].name}
    first = client.post(f"/projects/{project}/choices", json=plain).json()["id"]
    glimpse = ended(client, project, first, "glimpse")
    assert glimpse["columns"] == ["patient", "code"]
    assert glimpse["guess"] == {"id": "patient", "item": "code"}
    choices = {
        "source": files["data"].name,
        "reading": {"id": "patient", "item": "code"},
        "settings": {
            "k": 4,
            "km": 2,
            "max_suppressed": 30,
            "utility": files["utility"].name,
            "hierarchy": files["hierarchy"].name,
            "known": files["hierarchy"].name,
        },
        "names": "codes.csv",
    }
    kept = client.post(f"/projects/{project}/choices", json=choices)
    assert kept.status_code == 201, kept.text
    identifier = kept.json()["id"]
    profile = ended(client, project, identifier, "profile")
    assert profile["n_people"] == 400
    part = client.get(
        f"/projects/{project}/jobs/{profile['job']}/lists/items", params={"search": "250"}
    ).json()
    assert all("250" in row["item"] for row in part["rows"])
    assert part["total"] >= len(part["rows"]) > 0
    run = ended(client, project, identifier, "run")
    assert run["verified"]
    published = ended(client, project, identifier, "publish")
    assert published["archive"] == "released-release.zip"
    archive = client.get(
        f"/projects/{project}/jobs/{published['job']}/files/{published['archive']}"
    )
    house = tmp_path / "house"
    house.mkdir()
    with zipfile.ZipFile(io.BytesIO(archive.content)) as packed:
        packed.extractall(house)
    parts = {
        part: {one.name for one in (house / part).iterdir()} for part in ("to-pass-on", "to-keep")
    }
    assert parts["to-pass-on"] == {
        *("released-2.csv", "codebook-2.csv", "mapping.json"),
        *("external.html", "public-certificate.json"),
    }
    # As the page says: the command is given in the folder to keep, with the original in it.
    passed, house = house / "to-pass-on", house / "to-keep"
    made = {path.name: path.read_bytes() for path in (*house.iterdir(), *passed.iterdir())}
    assert b"\n250.00,Diabetes," in made["codebook-2.csv"]
    # Beside the policy and the original, the command makes all of it again.
    (house / files["data"].name).write_bytes(files["data"].read_bytes())
    words = shlex.split(made["command.txt"].decode())
    again = [word for word in made if word not in ("policy.toml", "command.txt")]
    for name in set(again) - {files["utility"].name, files["hierarchy"].name, "codes.csv"}:
        (house / name).unlink(missing_ok=True)
    subprocess.run([sys.executable, "-m", *words], cwd=house, check=True, capture_output=True)
    assert {name: (house / name).read_bytes() for name in made} == made
    assert {
        "released-2.csv",
        "codebook-2.csv",
        "mapping.json",
        "report.html",
        "external.html",
    } <= set(made)
    assert {"certificate.json", "public-certificate.json", "codebook.csv"} <= set(made)
    # The same choices are the same address, and nothing is done twice.
    assert client.post(f"/projects/{project}/choices", json=choices).json()["id"] == identifier
    state = client.post(f"/projects/{project}/choices/{identifier}/jobs/run").json()
    assert state["state"] == "done"
    assert client.delete(f"/projects/{project}").status_code == 204
    assert client.get(f"/projects/{project}").status_code == 404


def test_a_policy_whose_files_come_later(client: httpx.Client) -> None:
    project = client.post("/projects", json={"name": "Ward"}).json()["id"]

    def send(name: str, content: str) -> None:
        answer = client.put(f"/projects/{project}/files/{name}", content=content.encode())
        assert answer.status_code == 201, answer.text

    send("visits.csv", "patient,code\np1,flu\np2,flu\n")
    send("policy.toml", 'k = 2\nkm = 1\nutility = "sets.txt"\n')
    plain = client.post(f"/projects/{project}/choices", json={"source": "visits.csv"}).json()["id"]
    opened = f"/projects/{project}/choices/{plain}/policy"
    answer = client.post(opened, json={"file": "policy.toml"})
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["message"].endswith("open them together with it: sets.txt")
    send("sets.txt", "lungs: flu\n")
    answer = client.post(opened, json={"file": "policy.toml"})
    assert answer.status_code == 201, answer.text


def test_two_files_of_one_name_at_a_time(client: httpx.Client) -> None:
    """What was found in the one that was whole first is not told of the other."""
    project = client.post("/projects", json={"name": "Ward"}).json()["id"]
    path = f"/projects/{project}/files/visits.csv"

    def columns() -> list[str]:
        chosen = client.post(f"/projects/{project}/choices", json={"source": "visits.csv"}).json()
        found: list[str] = ended(client, project, chosen["id"], "glimpse")["columns"]
        return found

    def slowly() -> Iterator[bytes]:
        yield b"person,item\n"
        assert client.put(path, content=b"patient,code\np1,flu\np2,flu\n").status_code == 201
        assert columns() == ["patient", "code"]
        yield b"p1,flu\np2,flu\n"

    assert client.put(path, content=slowly()).status_code == 201
    assert columns() == ["person", "item"]
