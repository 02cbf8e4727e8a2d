"""What is published about each person, and what of it an attacker may know."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import NDArray

from overcoat.data.transactions import Transactions
from overcoat.mapping import Mapping
from overcoat.partition import Partition

__all__ = ["KnownRows"]

Codes = NDArray[np.int32]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class KnownRows:
    """Published rows, one for each distinct row of the original.

    Attributes
    ----------
    offsets, labels : the labels of each row as CSR arrays, ascending; a label is known by the first
        item of its group
    taken : for each of these, how many items with that label the attacker may know of the person
    spare : for each row, how many suppressed items he may know
    counts : how many people each row stands for
    n_labels : labels are below this
    """

    offsets: Numbers
    labels: Codes
    taken: Codes
    spare: Numbers
    counts: Numbers
    n_labels: int

    @classmethod
    def of(
        cls,
        data: Transactions,
        mapping: Mapping | Partition | None = None,
        linkable: NDArray[np.bool_] | None = None,
    ) -> KnownRows:
        """Return the rows of some data under a mapping, or a partition of what occurs.

        Without one, nothing has been changed.

        >>> rows = KnownRows.of(Transactions.of([{"a", "b", "c"}]), Mapping.of("abc", [["a", "b"]]))
        >>> rows.labels.tolist(), rows.taken.tolist(), rows.spare.tolist()
        ([0], [2], [1])
        """
        n_items = data.n_items
        if isinstance(mapping, Mapping):
            mapping = mapping.partition_of(data)
        partition = Partition.untouched(n_items) if mapping is None else mapping
        asked = np.ones(len(data.codes), bool) if linkable is None else linkable[data.codes]
        labels = partition.group_of[data.codes].astype(np.int64)
        rows = np.repeat(np.arange(data.n_distinct), data.lengths)
        gone = labels < 0
        spare = np.bincount(rows[gone & asked], minlength=data.n_distinct)
        keys, asked = (rows * max(n_items, 1) + labels)[~gone], asked[~gone]
        order = np.argsort(keys, kind="stable")
        keys, asked = keys[order], asked[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        taken = np.zeros(0, np.int32)
        if len(starts):
            taken = np.add.reduceat(asked, starts, dtype=np.int32)
        held = keys[starts] // max(n_items, 1)
        return cls(
            np.concatenate([[0], np.cumsum(np.bincount(held, minlength=data.n_distinct))]),
            (keys[starts] % max(n_items, 1)).astype(np.int32),
            taken,
            spare.astype(np.int64),
            data.counts,
            n_items,
        )

    @property
    def n_people(self) -> int:
        """N."""
        return int(self.counts.sum())

    @cached_property
    def n_asked(self) -> Numbers:
        """How many items the attacker may know of each person; (rows,)."""
        ends = np.concatenate([[0], np.cumsum(self.taken)])[self.offsets]
        return np.diff(ends) + self.spare

    def n_sets(self, m: int) -> int:
        """Return how many sets of up to m labels the rows hold: what counting them takes."""
        lengths, rows = np.unique(np.diff(self.offsets), return_counts=True)
        return sum(
            number * sum(comb(length, size) for size in range(1, min(m, length) + 1))
            for length, number in zip(lengths.tolist(), rows.tolist(), strict=True)
        )

    def asked_of(self, row: int) -> tuple[Codes, Codes]:
        """Return the labels of items the attacker may know of a row, and how many items each."""
        here = slice(self.offsets[row], self.offsets[row + 1])
        known = self.taken[here] > 0
        return self.labels[here][known], self.taken[here][known]
