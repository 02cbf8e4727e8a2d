"""FHIR bulk data: which codes, of whom, and what is left out or wrong."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

import overcoat as oc

ICD, WARD = "http://hl7.org/fhir/sid/icd-9-cm", "urn:ward"


def condition(
    who: Any = "Patient/1", *codes: Any, system: str = ICD, **more: Any
) -> dict[str, Any]:
    codings = [
        code if isinstance(code, dict) else {"system": system, "code": code} for code in codes
    ]
    resource = {
        "resourceType": "Condition",
        "code": {"coding": codings},
        "subject": {"reference": who},
    }
    return {key: value for key, value in (resource | more).items() if value is not None}


def lines(*resources: Any) -> bytes:
    texts = [one if isinstance(one, str) else json.dumps(one) for one in resources]
    return "".join(f"{text}\n" for text in texts).encode()


def read(*resources: Any, **said: Any) -> oc.Transactions:
    return oc.read(io.BytesIO(lines(*resources)), **said)


def rows_of(data: oc.Transactions) -> list[tuple[str, ...]]:
    return [row for row, count in data for _ in range(count)]


def error_of(*resources: Any, **said: Any) -> str:
    with pytest.raises(oc.DataError) as caught:
        read(*resources, **said)
    return str(caught.value)


def test_codes_of_subjects() -> None:
    data = read(
        condition("Patient/1", "038"),
        condition("Patient/2", "250.00"),
        condition("Patient/1", "401", "038"),
        condition("Patient/1", "038"),
    )
    assert rows_of(data) == [("038", "401"), ("250.00",)]
    assert data.layout is not None
    assert (data.layout.id, data.layout.item) == ("subject", "code")
    assert data.origin.read_as == f"FHIR, 4 Conditions, codes of {ICD}"
    assert data.origin.notes == ()


def test_the_order_can_be_kept() -> None:
    people = [("Patient/9", "b"), ("Patient/3", "a"), ("Patient/9", "a"), ("Patient/5", "c")]
    data = read(*(condition(*one) for one in people), keep_order=True)
    assert data.positions is not None
    rows = rows_of(data)
    assert [rows[place] for place in data.positions] == [("a", "b"), ("a",), ("c",)]


def test_names_come_from_displays() -> None:
    data = read(
        condition("Patient/1", {"system": ICD, "code": "038", "display": "Sepsis"}),
        condition("Patient/2", {"system": ICD, "code": "038", "display": "Septicaemia"}),
        condition("Patient/2", {"system": ICD, "code": "401", "display": ""}),
        condition("Patient/2", {"system": ICD, "code": "250", "display": 7}),
    )
    assert data.origin.names == {"038": "Sepsis"}  # the first one


# -- which system -------------------------------------------------------------------------------

BOTH = [{"system": ICD, "code": "038"}, {"system": WARD, "code": "sepsis"}]


def test_a_system_that_is_asked_for() -> None:
    data = read(condition("Patient/1", *BOTH), condition("Patient/2", "401"), system=WARD)
    assert rows_of(data) == [(), ("sepsis",)]
    assert "1 Condition of 2 without such a code; their people count" in data.origin.notes


def test_the_system_that_all_have() -> None:
    data = read(condition("Patient/1", *BOTH), condition("Patient/2", "401"))
    assert rows_of(data) == [("038",), ("401",)]
    assert "the one that every coded Condition has was taken" in data.origin.notes[0]


@pytest.mark.parametrize(
    "resources",
    [
        [condition("Patient/1", "038"), condition("Patient/2", "sepsis", system=WARD)],
        [condition("Patient/1", *BOTH), condition("Patient/2", *BOTH)],
    ],
    ids=["none that all have", "two that all have"],
)
def test_systems_to_choose_from(resources: list[Any]) -> None:
    message = error_of(*resources)
    assert "the codes are of several systems; choose one (system, --system): " in message
    assert f"{ICD} (" in message
    assert f"{WARD} (" in message
    assert "of 2)" in message


def test_a_system_that_nobody_has() -> None:
    message = error_of(condition("Patient/1", "038"), system="urn:other")
    assert f"no Condition has a code of urn:other; there are {ICD} (1 of 1)" in message


def test_codes_without_a_system() -> None:
    data = read(condition("Patient/1", {"code": "x"}), condition("Patient/2", {"code": "y"}))
    assert rows_of(data) == [("x",), ("y",)]
    assert "codes of no system" in data.origin.read_as


# -- what does not count ------------------------------------------------------------------------


def status(word: str) -> dict[str, Any]:
    return {"coding": [{"system": "urn:status", "code": word}]}


@pytest.mark.parametrize("form", [status, str], ids=["R4", "DSTU2"])
def test_what_is_not_so_is_left_out(form: Any) -> None:
    data = read(
        condition("Patient/1", "038", verificationStatus=form("confirmed")),
        condition("Patient/1", "401", verificationStatus=form("entered-in-error")),
        condition("Patient/2", "250", verificationStatus=form("refuted")),
        condition("Patient/3", "272", verificationStatus=form("provisional")),
    )
    assert rows_of(data) == [("038",), ("272",)]
    assert data.origin.notes == (
        "1 Condition entered in error, left out",
        "1 Condition refuted, left out",
    )


def test_conditions_without_a_code() -> None:
    data = read(
        condition("Patient/1", "038"),
        condition("Patient/2", code={"text": "a cold"}),
        condition("Patient/3", code=None),
        condition("Patient/4", {"system": ICD, "code": ""}),
        condition("Patient/5", {"system": ICD}, "401"),
    )
    assert rows_of(data) == [(), (), (), ("038",), ("401",)]
    assert data.origin.notes == ("3 Conditions of 5 without such a code; their people count",)


def test_no_code_at_all() -> None:
    assert "no Condition has a code" in error_of(condition("Patient/1"))


def test_groups_are_no_people() -> None:
    data = read(condition("Patient/1", "038"), condition("Group/7", "401"))
    assert rows_of(data) == [("038",)]
    assert data.origin.notes == ("1 Condition about groups, left out",)


def test_versions_of_a_patient_are_the_patient() -> None:
    data = read(condition("Patient/1", "a"), condition("Patient/1/_history/3", "b"))
    assert rows_of(data) == [("a", "b")]


def test_two_ways_to_name_people() -> None:
    data = read(condition("Patient/1", "a"), condition("https://x.example/fhir/Patient/1", "b"))
    assert "1 of 2 subjects are named with their server" in data.origin.notes[0]


def test_other_types() -> None:
    others = [{"resourceType": "Patient", "id": "1"}, {"resourceType": "Encounter"}]
    data = read(condition("Patient/1", "a"), *others)
    assert rows_of(data) == [("a",)]
    assert "other types were not read: Encounter (1), Patient (1)" in data.origin.notes[0]
    assert "there is no Condition; there is Encounter (1), Patient (1)" in error_of(*others)
    wrong = condition("Patient/1", "a", verificationStatus=status("refuted"))
    assert "there is no Condition that says what somebody has" in error_of(wrong)


def test_procedures() -> None:
    done = condition("Patient/1", "a", resourceType="Procedure", status="completed")
    undone = condition("Patient/2", "b", resourceType="Procedure", status="not-done")
    data = read(done, undone, condition("Patient/3", "c"), domain="procedure")
    assert rows_of(data) == [("a",)]
    assert "1 Procedure not done, left out" in data.origin.notes


def test_drugs() -> None:
    concept = {"coding": [{"system": "urn:drugs", "code": "x"}]}
    request = {"resourceType": "MedicationRequest", "subject": {"reference": "Patient/1"}}
    data = read(
        {**request, "medicationCodeableConcept": concept},
        {**request, "medication": {"concept": {"coding": [{"system": "urn:drugs", "code": "y"}]}}},
        {**request, "medicationReference": {"reference": "Medication/1"}},
        {**request, "doNotPerform": True, "medicationCodeableConcept": concept},
        {**request, "status": "entered-in-error", "medicationCodeableConcept": concept},
        domain="drug",
    )
    assert rows_of(data) == [("x", "y")]
    assert data.origin.notes == (
        "1 MedicationRequest entered in error, left out",
        "1 MedicationRequest not to be done, left out",
        "1 MedicationRequest of 3 without such a code; their people count",
    )
    assert "read for one domain, condition, procedure, drug, not for" in error_of(
        condition("Patient/1", "a"), domain="drug,condition"
    )


# -- what is wrong ------------------------------------------------------------------------------

GOOD = condition("Patient/1", "038")


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ('{"resourceType": "Condition", oops}', "2: not JSON: Expecting property name"),
        ('{"resourceType": "Condition"', "2: not JSON: "),
        ('{"resourceType": "Condition"} {}', "2: not JSON: Extra data at character 31"),
        ("[" * 100_000, "2: not JSON: it nests too deeply"),
        ("null", "2: no FHIR resource: it has no resourceType"),
        ("[1]", "2: no FHIR resource"),
        ('{"a": 1}', "2: no FHIR resource"),
        ({"resourceType": 5}, "2: no FHIR resource"),
        ({"resourceType": "Bundle", "entry": []}, "2: is a Bundle"),
        (condition(None, "a"), "2: the subject has no reference"),
        (condition(7, "a"), "2: the subject has no reference"),
        (condition("", "a"), "2: the subject has no reference"),
        (condition(subject="Patient/1"), "2: the subject has no reference"),
        (condition("#p", "a"), "2: the subject #p is inside the resource"),
        (condition("Patient/1", {"system": ICD, "code": 250.0}), "2: the code 250.0 is not a"),
        (condition("Patient/1", {"system": 1, "code": "a"}), "2: the code 'a' is not a string"),
        (condition("Patient/1", "\ud83d"), "2: "),
    ],
)
def test_one_bad_line(bad: Any, says: str, tmp_path: Path) -> None:
    path = tmp_path / "Condition.ndjson"
    path.write_bytes(lines(GOOD, bad, GOOD))
    with pytest.raises(oc.DataError) as caught:
        oc.read(path)
    assert str(caught.value).startswith(f"{path}:{says}")


def test_several_bad_lines_are_told_at_once() -> None:
    with pytest.raises(oc.DataError) as caught:
        read(GOOD, "{", GOOD, "{]", condition(None, "a"))
    assert [problem.line for problem in caught.value.problems] in ([2], [2, 4, 5])


def test_bytes_that_are_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "Condition.ndjson"
    stray = lines(condition("Patient/1", "XX")).replace(b"XX", b"\xff")
    path.write_bytes('{"resourceType": "Patient", "name": "ä"}\n'.encode() + stray)
    with pytest.raises(oc.DataError) as caught:
        oc.read(path)
    assert caught.value.problems[0].line == 2
    path.write_bytes(stray)
    with pytest.raises(oc.DataError, match="is not UTF-8, as FHIR has to be, but perhaps"):
        oc.read(path)
    assert rows_of(oc.read(path, encoding="latin-1")) == [("ÿ",)]


def test_blank_lines_and_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "Condition.ndjson"
    text = lines(GOOD, condition("Patient/2", "401"))
    for content in (
        text.replace(b"\n", b"\r\n"),
        b"\n" + text + b"\n  \n",
        text.rstrip(b"\n"),
        b"\xef\xbb\xbf" + text,
    ):
        path.write_bytes(content)
        assert rows_of(oc.read(path)) == [("038",), ("401",)]


def test_a_document_over_many_lines(tmp_path: Path) -> None:
    path = tmp_path / "bundle.json"
    path.write_text(json.dumps({"resourceType": "Bundle", "entry": []}, indent=2))
    with pytest.raises(oc.DataError, match="not one JSON object a line; if this is a Bundle"):
        oc.read(path)


def test_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "Condition.ndjson"
    path.write_bytes(b"")
    with pytest.raises(oc.DataError, match="the file is empty"):
        oc.read(path)


def test_what_does_not_fit() -> None:
    assert "id and item do not fit FHIR resources" in error_of(GOOD, id="a", item="b")
    assert "query does not fit FHIR resources" in error_of(GOOD, query="SELECT 1")


# -- files --------------------------------------------------------------------------------------


def test_folders_patterns_and_gzip(tmp_path: Path) -> None:
    (tmp_path / "bulk").mkdir()
    parts = [lines(condition("Patient/1", "a")), lines(condition("Patient/1", "b"))]
    (tmp_path / "bulk" / "Condition.000.ndjson").write_bytes(parts[0])
    (tmp_path / "bulk" / "Condition.001.ndjson.gz").write_bytes(gzip.compress(parts[1]))
    (tmp_path / "bulk" / "log.txt").write_text("done")
    data = oc.read(tmp_path / "bulk")
    assert rows_of(data) == [("a", "b")]
    assert len(data.origin.parts) == 2
    assert data.file_digest not in data.origin.parts
    assert rows_of(oc.read(f"{tmp_path}/bulk/Condition.*")) == [("a", "b")]
    assert rows_of(oc.read(tmp_path / "bulk" / "Condition.001.ndjson.gz")) == [("b",)]
    broken = tmp_path / "bulk" / "Condition.002.ndjson"
    broken.write_bytes(lines(GOOD, "{oops"))
    with pytest.raises(oc.DataError, match=r"Condition\.002\.ndjson:2: not JSON"):
        oc.read(tmp_path / "bulk")


def test_recognised_by_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "export.txt"
    path.write_bytes(lines(GOOD))
    assert rows_of(oc.read(path)) == [("038",)]
    path.write_text('{a b\nc "resourceType"\n')
    assert oc.read(path).n_transactions == 2  # baskets, odd as they are


def test_the_sample(tmp_path: Path) -> None:
    """What it holds is what the hospital holds, but for what was left out on purpose."""
    sample = oc.datasets.hospital(200)
    data = oc.read(oc.datasets.write_fhir(tmp_path, 200))
    expected = [
        set(row[1:]) if number % 50 == 0 else set(row) for number, row in enumerate(sample.rows, 1)
    ]
    assert data == oc.Transactions.of(expected)
    assert set(data.origin.names) == set(data.vocabulary)
