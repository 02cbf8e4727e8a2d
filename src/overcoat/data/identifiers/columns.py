"""Names of columns that tell what is in them: people, or the things that people have."""

from __future__ import annotations

import re

__all__ = ["is_of_people", "is_of_things", "may_be_of_people"]

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# As they stand in English and German tables, mostly.
_PEOPLE = _set(
    "patient patients patienten person persons people member members customer customers user users "
    "employee student pupil voter citizen resident beneficiary bene insured subscriber donor "
    "participant respondent kunde kunden versicherter versicherte mitarbeiter paciente"
)
_PEOPLE_WITH_NUMBERS = _set("subject client")  # alone, a subject may be taught, a client a browser
_RECORDS = _set(
    "encounter visit admission stay hadm case claim account acct order receipt session record"
)
_NUMBERS = _set("id ids no nr nbr num number nummer key sk uid uuid guid hash ref identifier")
_NAMES = _set("name code")
# What identifies a person by itself.
_IDENTIFIERS = _set(
    "mrn ssn nhs kvnr mbi hicn nino email phone telephone telefon dob birthdate birthday surname "
    "geburtsdatum firstname lastname forename fullname username vorname nachname familienname iban "
    "patientid personid customerid userid memberid subjectid clientid patientennummer fallnummer "
    "patientennr kundennummer kundennr versichertennummer versichertennr fallnr patnr patid"
)
_TOGETHER = _set(
    "e-mail birth-date date-birth date-of-birth first-name last-name full-name family-name "
    "medical-record medical-record-number social-security social-security-number street-address"
)
_THINGS = _set(
    "code codes diagnosis diagnoses diagnose diag diags dx icd item items product products sku "
    "article artikel procedure procedures drug drugs medication atc ndc loinc snomed concept "
    "condition disease disorder page url query category tag term movie song track title"
)


def _words(column: str) -> list[str]:
    """Return the words of a name, in lower case; numbers do not count.

    >>> _words("PatientID"), _words("diag_2"), _words("date of birth")
    (['patient', 'id'], ['diag'], ['date', 'of', 'birth'])
    """
    return [word.lower() for word in _WORDS.findall(column) if not word.isdigit()]


def is_of_people(column: str) -> bool:
    """Say whether a name stands for people, or for numbers of people and of their records.

    >>> [is_of_people(name) for name in ("patient", "PatientID", "e-mail", "encounter_id", "MRN")]
    [True, True, True, True, True]
    >>> [is_of_people(name) for name in ("patient_class", "user agent", "order", "name", "code")]
    [False, False, False, False, False]
    """
    words = _words(column)
    if "-".join(words) in _TOGETHER:
        return True
    numbered = named = False
    while len(words) > 1 and words[-1] in _NUMBERS | _NAMES:
        numbered |= words[-1] in _NUMBERS
        named |= words.pop() in _NAMES
    if len(words) != 1:
        return False
    return (
        words[0] in _PEOPLE | _IDENTIFIERS
        or (words[0] in _PEOPLE_WITH_NUMBERS and (numbered or named))
        or (words[0] in _RECORDS and numbered and not named)
    )


def may_be_of_people(column: str) -> bool:
    """Say whether a name may stand for people, or for nothing in particular.

    >>> [may_be_of_people(name) for name in ("name", "id", "number", "p_no", "code")]
    [True, True, True, True, False]
    """
    words = _words(column)
    numbered = bool(words) and words[-1] in _NUMBERS | {"name"}
    return is_of_people(column) or (numbered and not is_of_things(column))


def is_of_things(column: str) -> bool:
    """Say whether a name stands for what people have: codes, goods, pages.

    >>> [is_of_things(name) for name in ("icd_code", "Diagnosis", "product id", "person_id")]
    [True, True, True, False]
    """
    words = _words(column)
    return any(word in _THINGS for word in words) and not any(word in _PEOPLE for word in words)
