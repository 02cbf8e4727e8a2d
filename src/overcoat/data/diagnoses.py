"""The diagnosis codes that ship with the package: ``icd9.tsv``."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from typing import NamedTuple

__all__ = ["Diagnosis", "diagnoses"]


class Diagnosis(NamedTuple):
    """A line of ``icd9.tsv``."""

    code: str
    description: str
    disorder: str
    study: str
    section: str
    chapter: str

    def path(self) -> tuple[str, ...]:
        """Return the path to the root; a code that is its own category stands for it."""
        category = self.code.partition(".")[0]
        return tuple(dict.fromkeys((self.code, category, self.section, self.chapter, "*")))


@cache
def diagnoses() -> tuple[Diagnosis, ...]:
    """Return all codes.

    >>> diagnoses()[0].code
    '401.9'
    """
    text = resources.files("overcoat.data").joinpath("icd9.tsv").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    table = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    return tuple(Diagnosis(**line) for line in table)
