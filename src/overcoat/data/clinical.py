"""The generated hospital as an OMOP common data model and as FHIR resources.

Both are made of the codes and names that ship with the package, under a vocabulary of its own: its
concepts have ids above two billion, which OMOP leaves to everybody's own. No licensed vocabulary is
involved, and no person's data.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overcoat.data.diagnoses import Diagnosis

__all__ = ["fhir_lines", "omop_tables", "write_lines", "write_tables"]

Row = tuple[Any, ...]
Rows = Sequence[Sequence[str]]

ICD9 = "http://hl7.org/fhir/sid/icd-9-cm"
LOCAL = "urn:overcoat:ward"
_FIRST = 2_000_000_001
_UNMAPPED = 50  # of so many patients, one has a record that has no concept
_HEALTHY = 100  # for so many patients, there is one more without any record
_WRONG = 40  # of so many patients, one has a condition that was entered in error


@dataclass
class _Vocabulary:
    """Concepts: codes, what is above them, disorders and their drugs; numbered in that order.

    A code has two parents, its category and its disorder, as in real vocabularies. Categories come
    first, so the one with the smaller number is the category.
    """

    concepts: list[Row] = field(default_factory=list)
    numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    parents: dict[int, list[int]] = field(default_factory=dict)

    def add(self, kind: str, code: str, name: str, domain: str = "Condition") -> int:
        """Return the id of a concept, a new one at first sight."""
        key = (kind, code)
        if key not in self.numbers:
            number = self.numbers[key] = _FIRST + len(self.numbers)
            self.concepts.append((number, name, domain, "Overcoat", kind, "S", code))
            self.parents[number] = []
        return self.numbers[key]

    @classmethod
    def of(cls, diagnoses: Iterable[Diagnosis]) -> _Vocabulary:
        """Take what is above a code first, then the code; after all codes, the disorders."""
        known = sorted(diagnoses, key=lambda one: one.code)
        self = cls()
        for one in known:
            above = None
            for node in reversed(one.path()[1:-1]):
                number = self.add("Class", node, node)
                if above is not None and above not in self.parents[number]:
                    self.parents[number].append(above)
                above = number
            self.add("Code", one.code, one.description)
            if above is not None:
                self.parents[self.numbers["Code", one.code]].append(above)
        for one in known:
            disorder = self.add("Disorder", one.disorder, one.disorder)
            self.parents[self.numbers["Code", one.code]].append(disorder)
            self.add("Drug", one.disorder, f"Drug for {one.disorder}", "Drug")
        return self

    def ancestors(self) -> Iterator[Row]:
        """Yield each concept with its ancestors, itself among them, and how far these are."""
        for number in self.parents:
            least, most = {number: 0}, {number: 0}
            level, distance = [number], 0
            while level:
                distance += 1
                level = sorted({above for one in level for above in self.parents[one]})
                for above in level:
                    least.setdefault(above, distance)
                    most[above] = distance
            for above in sorted(least):
                yield above, number, least[above], most[above]


def omop_tables(
    rows: Rows, diagnoses: Iterable[Diagnosis]
) -> dict[str, tuple[tuple[str, ...], list[Row]]]:
    """Return the tables of a common data model by their names: their columns and their rows."""
    known = sorted(diagnoses, key=lambda one: one.code)
    vocabulary = _Vocabulary.of(known)
    disorder_of = {one.code: one.disorder for one in known}
    people = range(1, len(rows) + len(rows) // _HEALTHY + 1)
    conditions: list[Row] = []
    drugs: list[Row] = []
    for person, row in enumerate(rows, 1):
        unmapped = ["V00"] if person % _UNMAPPED == 0 else []
        for code in [*row, *unmapped]:
            concept = vocabulary.numbers.get(("Code", code), 0)
            number = len(conditions) + 1
            conditions.append((number, person, concept, "2020-01-01", 32817, code))
        for disorder in dict.fromkeys(disorder_of[code] for code in row):
            concept = vocabulary.numbers["Drug", disorder]
            drugs.append((len(drugs) + 1, person, concept, "2020-01-02", "2020-01-03", 32817))
    return {
        "person": (
            (
                *("person_id", "gender_concept_id", "year_of_birth"),
                *("race_concept_id", "ethnicity_concept_id"),
            ),
            [(person, 0, 1900, 0, 0) for person in people],
        ),
        "condition_occurrence": (
            (
                *("condition_occurrence_id", "person_id", "condition_concept_id"),
                *("condition_start_date", "condition_type_concept_id", "condition_source_value"),
            ),
            conditions,
        ),
        "drug_exposure": (
            (
                *("drug_exposure_id", "person_id", "drug_concept_id"),
                *("drug_exposure_start_date", "drug_exposure_end_date", "drug_type_concept_id"),
            ),
            drugs,
        ),
        "concept": (
            (
                *("concept_id", "concept_name", "domain_id", "vocabulary_id"),
                *("concept_class_id", "standard_concept", "concept_code"),
            ),
            vocabulary.concepts,
        ),
        "concept_ancestor": (
            (
                *("ancestor_concept_id", "descendant_concept_id"),
                *("min_levels_of_separation", "max_levels_of_separation"),
            ),
            list(vocabulary.ancestors()),
        ),
    }


def write_tables(
    tables: dict[str, tuple[tuple[str, ...], list[Row]]], folder: Path, *, parquet: bool
) -> dict[str, Path]:
    """Write each table to a file of its own, as CSV or Parquet."""
    written = {}
    for name, (columns, rows) in tables.items():
        path = written[name] = folder / f"{name}{'.parquet' if parquet else '.csv'}"
        if parquet:
            import polars as pl

            pl.DataFrame(rows, schema=list(columns), orient="row").write_parquet(path)
            continue
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(rows)
    return written


def fhir_lines(rows: Rows, diagnoses: Iterable[Diagnosis]) -> Iterator[str]:
    """Yield the conditions of patients, a resource a line, as a server exports them.

    Some have a second code, of a system of the ward; some were entered in error, and some have
    only a text.
    """
    known = {one.code: one for one in diagnoses}
    number = 0
    for person, row in enumerate(rows, 1):
        wrong = [row[0]] if person % _WRONG == 0 else []
        for place, code in enumerate([*row, *wrong]):
            number += 1
            codings = [{"system": ICD9, "code": code, "display": known[code].description}]
            if number % 3 == 0:
                ward = known[code].disorder.lower().replace(" ", "-")
                codings.append({"system": LOCAL, "code": ward})
            concept: dict[str, Any] = {"coding": codings, "text": known[code].description}
            if person % _UNMAPPED == 0 and place == 0:
                del concept["coding"]
            status = "entered-in-error" if place == len(row) else "confirmed"
            yield json.dumps(
                {
                    "resourceType": "Condition",
                    "id": f"c{number}",
                    "verificationStatus": {
                        "coding": [
                            {
                                "system": "http://terminology.hl7.org/CodeSystem/condition-ver-status",
                                "code": status,
                            }
                        ]
                    },
                    "code": concept,
                    "subject": {"reference": f"Patient/{person}"},
                },
                ensure_ascii=False,
            )


def write_lines(lines: Iterable[str], path: Path) -> Path:
    """Write lines to a file."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)
    return path
