"""Transactions from an OMOP common data model: one for each person."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from overcoat.context import QUIET, Stage
from overcoat.data.io.asked import Asked
from overcoat.data.io.databases.address import shown
from overcoat.data.io.fitting import refuse_options
from overcoat.data.io.omop.domains import take_domains
from overcoat.data.io.omop.model import CONCEPTS, PEOPLE, open_model
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError
from overcoat.words import people

__all__ = ["read_omop"]

_NO_CONCEPT = "0"  # what a source code without a standard concept is mapped to


def read_omop(
    source: Any, asked: Asked, *, keep_order: bool = False, stage: Stage = QUIET
) -> Transactions:
    """Read the records of one or several domains; see `overcoat.read`.

    Whoever is in ``person`` is a transaction, with or without records: the people of the model are
    all of them, and counts of those who have something are shares of all. Records of concept 0,
    which stands for what is in no vocabulary, say nothing and are left out.
    """
    name = shown(source) if isinstance(source, str) else None
    refuse_options(asked, {"omop", "domain"}, "an OMOP model", name)
    domains = take_domains(asked.domain)
    with open_model(source, stage) as model:
        for domain in domains:
            model.require(domain.table)
        data = model.people(domains, keep_order=keep_order, stage=stage)
        with_zero = data.vocabulary.get(_NO_CONCEPT)
        notes = []
        if with_zero is not None:
            number = people(int(data.supports[with_zero]))
            notes.append(
                f"records of concept 0 (no standard concept) were left out; {number} had some"
            )
        wrong = [item for item in data.vocabulary if not item.isdecimal()]
        if wrong:
            raise DataError(f"{wrong[0]!r} is no concept id", model.name)
        origin = data.origin
        if with_zero is not None:
            labels = [None if item == _NO_CONCEPT else item for item in data.vocabulary]
            data = data.relabelled(labels, stage=stage)
        named = {}
        if model.has(CONCEPTS):
            known = model.names(map(int, data.vocabulary), stage)
            named = {str(concept): known[concept] for concept in sorted(known)}
        else:
            notes.append("there is no table concept, so nobody knows what the concepts are called")
        names = [f"{domain.name}s" for domain in domains]
        what = " and ".join(names)
        if model.has(PEOPLE):
            empty = int(data.counts[0]) if data.n_distinct and not data.lengths[0] else 0
            if empty:
                lacking = f"have no {' or '.join(names)}; they are transactions without items"
                notes.append(f"{people(empty)} of {data.n_transactions:,} {lacking}")
        else:
            notes.append(f"there is no table person, so only people with {what} are counted")
    layout = origin.layout
    if layout is not None and len(domains) == 1:
        layout = replace(layout, item=domains[0].concept)
    read_as = f"OMOP ({model.title}), {what}"
    told = replace(origin, layout=layout, read_as=read_as, notes=tuple(notes), names=named)
    object.__setattr__(data, "origin", told)  # they were made here, and nobody has them yet
    return data
