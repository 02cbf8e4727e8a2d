"""What a user says of a source has to fit it."""

from __future__ import annotations

from overcoat.data.io.asked import Asked
from overcoat.errors import DataError

__all__ = ["refuse_for_files", "refuse_options"]

_FOR = {
    "query": "a query is for databases",
    "domain": "a domain is for OMOP models (--omop) and FHIR resources",
    "system": "a system is for FHIR resources",
}


def refuse_for_files(asked: Asked, name: str | None) -> None:
    """Refuse what was said that fits no file of transactions.

    >>> refuse_for_files(Asked(query="SELECT 1"), "ward.csv")
    Traceback (most recent call last):
    overcoat.errors.DataError: ward.csv: a query is for databases; leave it out
    """
    for one in asked.said:
        if one in _FOR:
            raise DataError(f"{_FOR[one]}; leave it out", name)


def refuse_options(asked: Asked, fitting: set[str], what: str, name: str | None) -> None:
    """Refuse what was said that does not fit the source.

    >>> refuse_options(Asked(sheet="2"), {"id"}, "a database", "ward")
    Traceback (most recent call last):
    overcoat.errors.DataError: ward: sheet does not fit a database; leave it out
    """
    strange = [one for one in asked.said if one not in {*fitting, "pad", "trim", "upper"}]
    if asked.format == "basket" and "format" in fitting:
        raise DataError("a basket is text; say which columns hold the id and the item", name)
    if strange:
        them = "them" if len(strange) > 1 else "it"
        raise DataError(
            f"{' and '.join(strange)} do{'' if len(strange) > 1 else 'es'} not fit {what}; "
            f"leave {them} out",
            name,
        )
