"""OMOP and FHIR on the command line: one command each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import overcoat as oc
from cli.command import Desk
from stores import EVERY, Postgres, Store

every = pytest.mark.parametrize("store", EVERY, indirect=True)

POLICY = ["-k", "3", "--km", "1", "-s", "100"]


def disorders(folder: Path, *names: str) -> str:
    """Return the ids of disorders in the sample."""
    lines = (folder / "concept.csv").read_text().splitlines()
    ids = {line.split(",")[1]: line.split(",")[0] for line in lines if ",Disorder," in line}
    return ",".join(ids[name] for name in names)


@pytest.fixture
def cdm(desk: Desk) -> Path:
    oc.datasets.write_omop(desk.folder / "cdm", 200)
    return desk.folder / "cdm"


def test_a_folder(desk: Desk, cdm: Path) -> None:
    utility = f"omop:{disorders(cdm, 'Hypertension', 'Asthma')}"
    policy = [*POLICY, "--hierarchy", "omop", "--utility", utility]
    done = desk.run(
        *("anonymize", "cdm", "--omop", *policy, "-o", "o.csv", "--mapping", "map.json", "--json"),
    )
    assert done.status == 0
    assert done.json["read_as"] == "OMOP (a folder), conditions"
    assert [one["name"] for one in done.json["named_sets"]] == ["Hypertension", "Asthma"]
    assert any("concept 0" in note for note in done.json["notes"])
    assert desk.lines("o.csv")[0] == "person_id,condition_concept_id"
    for command in ("verify", "evaluate"):
        more = policy if command == "verify" else policy[-4:]
        done = desk.run(command, "cdm", "o.csv", "--omop", *more, "--mapping", "map.json")
        assert done.status == 0, done.err


def test_a_policy_file(desk: Desk, cdm: Path) -> None:
    utility = f"omop:{disorders(cdm, 'Hypertension')}"
    desk.write(
        {"p.toml": f'k = 3\nkm = 1\ns = 100\nhierarchy = "omop"\nutility = "{utility}"\n'},
    )
    done = desk.run("anonymize", "cdm", "--omop", "--policy", "p.toml", "-o", "o.csv", "--json")
    assert done.status == 0
    assert [one["name"] for one in done.json["named_sets"]] == ["Hypertension"]
    domains = ["--domain", "condition,drug"]
    done = desk.run("anonymize", "cdm", "--omop", *domains, *POLICY, "-o", "o.csv", "--json")
    assert done.status == 0


@every
def test_a_database(desk: Desk, store: Store, cdm: Path) -> None:
    from overcoat.data.clinical import omop_tables
    from overcoat.data.diagnoses import diagnoses

    for name, (columns, rows) in omop_tables(oc.datasets.hospital(30).rows, diagnoses()).items():
        store.fill(name, columns, rows)
    url = store.url
    if isinstance(store, Postgres):
        url = f"{store.server.url()}#{store.schema}"
    before = store.tables()
    policy = [*POLICY, "--hierarchy", "omop"]
    done = desk.run(
        *("anonymize", url, "--omop", *policy, "-o", f"{store.url}#released"),
        *("--mapping", "map.json", "--codebook", "codes.csv"),
    )
    assert done.status == 0, done.err
    assert store.tables() == sorted([*before, "released"])
    assert "concept_name" not in desk.lines("codes.csv")[0]
    assert any("hypertension" in line for line in desk.lines("codes.csv"))
    done = desk.run(
        "verify", url, f"{store.url}#released", "--omop", *policy, "--mapping", "map.json"
    )
    assert done.status == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["cdm", "--omop", "--utility", "omop:1"], "utility omop:1: nobody has a concept below 1"),
        (["cdm", "--omop", "--utility", "omop:x"], "name concepts by their ids"),
        (["cdm", "--omop", "--hierarchy", "omop:1"], "a hierarchy is omop, and nothing after it"),
        (["d.dat", "--hierarchy", "omop"], "hierarchy omop: needs an OMOP model as data"),
        (["d.dat", "--utility", "omop:1"], "utility omop:1: needs an OMOP model as data"),
        (["cdm", "--omop", "--domain", "vaccine"], "there is no domain 'vaccine'"),
        (["cdm", "--omop", "--id", "person_id"], "id does not fit an OMOP model"),
        (["d.dat", "--domain", "drug"], "a domain is for OMOP models"),
        (["d.dat", "--system", "urn:x"], "a system is for FHIR resources"),
        (["none", "--omop"], "a database or a folder of its tables, and this is not there"),
        (["bulk", "--system", "urn:x"], "no Condition has a code of urn:x"),
        (["bulk", "--domain", "drug"], "there is no MedicationRequest; there is Condition"),
    ],
)
def test_what_goes_wrong(desk: Desk, cdm: Path, arguments: list[str], says: str) -> None:
    oc.datasets.write_fhir(desk.folder / "bulk", 20)
    before = desk.files().keys()
    done = desk.run("anonymize", *arguments, *POLICY, "-o", "o.csv", "--mapping", "map.json")
    assert (done.status, says in done.err) == (2, True), done.err
    assert desk.files().keys() == before


def test_one_broken_line(desk: Desk) -> None:
    path = oc.datasets.write_fhir(desk.folder, 20)
    lines = path.read_text().splitlines()
    lines[6] = lines[6][:-9]
    path.write_text("\n".join(lines))
    done = desk.run("anonymize", "Condition.ndjson", *POLICY, "-o", "o.csv", "--json")
    assert done.status == 2
    (problem,) = done.json["error"]["problems"]
    assert (problem["file"], problem["line"]) == ("Condition.ndjson", 7)
    assert "o.csv" not in desk.files()


def test_resources(desk: Desk) -> None:
    path = oc.datasets.write_fhir(desk.folder / "bulk", 200)
    done = desk.run("anonymize", "bulk", *POLICY, "-o", "o.csv", "--mapping", "map.json", "--json")
    assert done.status == 0
    assert done.json["read_as"].startswith("FHIR, ")
    done = desk.run(
        *("verify", "-", "o.csv", *POLICY, "--mapping", "map.json"), stdin=path.read_bytes()
    )
    assert done.status == 0
    assert json.loads(desk.read("map.json"))["items"]
