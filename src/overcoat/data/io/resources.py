"""What one FHIR resource says: about whom, which codes, and whether it is so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["KINDS", "Kind", "is_text", "subject_of"]

Resource = Mapping[str, Any]


@dataclass(frozen=True)
class Kind:
    """A type of resources.

    Attributes
    ----------
    name : of the type
    places : where its codes are, in one version of FHIR or another
    denials : what a resource may say of itself that means: it is not so; in words
    """

    name: str
    places: tuple[str, ...]
    denials: Mapping[str, str]

    def denied(self, resource: Resource) -> str | None:
        """Return in words why a resource does not say that somebody has something.

        >>> KINDS["condition"].denied({"verificationStatus": {"coding": [{"code": "refuted"}]}})
        'refuted'
        """
        if resource.get("doNotPerform") is True:
            return "not to be done"
        verified = resource.get("verificationStatus")  # a word in early versions of FHIR
        said = [resource.get("status"), verified, *(x.get("code") for x in _codings(verified))]
        known = self.denials
        return next((known[x] for x in said if isinstance(x, str) and x in known), None)

    def codings(self, resource: Resource) -> Sequence[Mapping[str, Any]]:
        """Return the codings of a resource: system, code, display.

        >>> KINDS["condition"].codings({"code": {"coding": [{"code": "250.00"}]}})
        [{'code': '250.00'}]
        """
        for place in self.places:
            concept = resource.get(place)
            if isinstance(concept, dict):
                return _codings(concept.get("concept", concept))
        return ()


_WRONG = {"entered-in-error": "entered in error"}
KINDS = {
    "condition": Kind("Condition", ("code",), _WRONG | {"refuted": "refuted"}),
    "procedure": Kind("Procedure", ("code",), _WRONG | {"not-done": "not done"}),
    "drug": Kind("MedicationRequest", ("medicationCodeableConcept", "medication"), _WRONG),
}


def subject_of(resource: Resource) -> str | None:
    """Return the reference to whom a resource is about.

    >>> subject_of({"subject": {"reference": "Patient/7/_history/2"}})
    'Patient/7'
    """
    subject = resource.get("subject")
    reference = subject.get("reference") if isinstance(subject, dict) else None
    if not isinstance(reference, str) or not reference:
        return None
    return reference.partition("/_history/")[0]  # a version of a patient is the patient


def _codings(concept: Any) -> Sequence[Mapping[str, Any]]:
    if not isinstance(concept, dict) or not isinstance(concept.get("coding"), list):
        return ()
    return [coding for coding in concept["coding"] if isinstance(coding, dict)]


def is_text(text: str) -> bool:
    """Say whether a text has no half characters, nor bytes that were not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
