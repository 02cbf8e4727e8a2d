"""`oc.report` and `oc.certificate`: what users can hand in."""

import json
from pathlib import Path

import pytest

import overcoat as oc

ROWS = [{"a", "b"}, {"a", "c"}, {"a"}, {"a"}, {"b"}, {"c", "a"}]
POLICY = oc.Policy(2, oc.AllItemsets(2), max_suppressed=50)


def test_from_files_it_is_the_same(tmp_path: Path) -> None:
    result = oc.anonymize(ROWS, policy=POLICY)
    released, mapping, page = tmp_path / "o.dat", tmp_path / "m.json", tmp_path / "e.html"
    result.write(
        released,
        mapping=mapping,
        beside={page: lambda: oc.report(result, edition="external")},
    )
    text = page.read_text(encoding="utf-8")
    assert oc.report(released, mapping, POLICY) == text
    assert oc.report(str(released), str(mapping), POLICY, edition="external") == text
    inside = oc.report(released, mapping, POLICY, data=ROWS)
    assert "Internal edition" in inside
    assert oc.report(released, mapping, POLICY, data=ROWS, edition="external") == text
    certified = json.loads(oc.certificate(result))
    assert certified["digests"]["released"] in text
    assert certified["digests"]["mapping"] in text


def test_nothing_is_written_when_a_report_fails(tmp_path: Path) -> None:
    result = oc.anonymize(ROWS, policy=POLICY)

    def fail() -> str:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        result.write(tmp_path / "o.dat", beside={tmp_path / "r.html": fail})
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_is_said() -> None:
    result = oc.anonymize(ROWS, policy=POLICY)
    with pytest.raises(oc.PolicyError, match="internal or external"):
        oc.report(result, edition="both")  # type: ignore[arg-type]
    with pytest.raises(oc.DataError, match="needs the original"):
        oc.report(result.released, result.mapping, POLICY, edition="internal")
    with pytest.raises(oc.VerificationError, match="does not satisfy"):
        oc.report(result.released, result.mapping, oc.Policy(6, oc.AllItemsets(2)))
    with pytest.raises(oc.VerificationError, match="not the data under this mapping"):
        oc.report(result.released, result.mapping, POLICY, data=[*ROWS, {"a"}])
    with pytest.raises(oc.PolicyError, match="owner or public"):
        oc.certificate(result, edition="external")  # type: ignore[arg-type]
    with pytest.raises(oc.DataError, match="is of a Result"):
        oc.certificate(ROWS)  # type: ignore[arg-type]
    partial = oc.anonymize([{"a"}, {"b"}], 3, oc.AllItemsets(1), max_suppressed=0, partial=True)
    with pytest.raises(oc.VerificationError, match="for study only"):
        oc.report(partial)
    with pytest.raises(oc.VerificationError, match="for study only"):
        oc.certificate(partial)


def test_a_policy_with_a_function_has_a_report_but_no_certificate() -> None:
    policy = oc.Policy(2, oc.AllItemsets(2), weights=lambda items: len(items) / 3)
    result = oc.anonymize(ROWS, policy=policy)
    assert "cannot be written down" in oc.report(result)
    with pytest.raises(oc.PolicyError, match="cannot be written down"):
        oc.certificate(result)
