"""The tables of an OMOP common data model that hold what people have."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from overcoat.errors import DataError

__all__ = ["DOMAINS", "Domain", "refuse_model", "take_domains"]


@dataclass(frozen=True)
class Domain:
    """A table with one record a row, and its column of concepts."""

    name: str
    table: str
    concept: str


DOMAINS = {
    one.name: one
    for one in (
        Domain("condition", "condition_occurrence", "condition_concept_id"),
        Domain("drug", "drug_exposure", "drug_concept_id"),
        Domain("procedure", "procedure_occurrence", "procedure_concept_id"),
    )
}


def take_domains(given: str | None) -> tuple[Domain, ...]:
    """Take the names of domains, with commas between them; by default conditions.

    >>> [domain.table for domain in take_domains("condition, drug")]
    ['condition_occurrence', 'drug_exposure']
    >>> take_domains("conditions")
    Traceback (most recent call last):
    overcoat.errors.DataError: there is no domain 'conditions'; there are condition, drug, procedure
    """
    names = [name.strip().lower() for name in (given or "condition").split(",")]
    for name in names:
        if name not in DOMAINS:
            raise DataError(f"there is no domain {name!r}; there are {', '.join(DOMAINS)}")
    return tuple(DOMAINS[name] for name in dict.fromkeys(names))


def refuse_model(names: Iterable[str], folder: str) -> None:
    """Refuse a folder that holds an OMOP model by the names in it, and say how to read it.

    >>> refuse_model(["person.csv", "condition_occurrence.csv"], "cdm")
    Traceback (most recent call last):
    overcoat.errors.DataError: cdm: holds the tables of an OMOP model (condition_occurrence, \
person): add --omop (omop=True); to read one of its tables alone, name that file
    """
    tables = {os.path.basename(name).lower().partition(".")[0] for name in names}
    records = sorted(tables.intersection(domain.table for domain in DOMAINS.values()))
    others = sorted(tables & {"person", "concept"})
    if records and others:
        raise DataError(
            f"holds the tables of an OMOP model ({', '.join([*records, *others])}): add --omop "
            "(omop=True); to read one of its tables alone, name that file",
            folder,
        )
