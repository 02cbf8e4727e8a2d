"""Reading back what was written: row by row, without holding it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET, Stage
from overcoat.data.origin import NOWHERE, Origin
from overcoat.data.transactions import Transactions, TransactionsBuilder
from overcoat.errors import VerificationError

__all__ = ["Echo"]


class Echo(TransactionsBuilder):
    """Takes rows as a builder does, and holds each against the one that is to come next.

    Parameters
    ----------
    expected : what was written
    order : the distinct row of each transaction as it was written; canonical order when None

    >>> data = Transactions.of([{"a", "b"}, {"a"}])
    >>> echo = Echo(data)
    >>> for row in ("a", "ab"):
    ...     echo.add([echo.code(label) for label in row])
    >>> echo.build() == data
    True
    >>> Echo(data).build()
    Traceback (most recent call last):
    overcoat.errors.VerificationError: the release does not read back as what was verified
    """

    def __init__(self, expected: Transactions, order: NDArray[np.int64] | None = None) -> None:
        super().__init__()
        self._expected, self._order = expected, order
        self._ends = np.cumsum(expected.counts)
        # The codes of the vocabulary; a label it does not have gets one that no row has.
        self._codes = {label: code for code, label in enumerate(expected.vocabulary)}
        self._is_same = True

    def _add_batch(
        self,
        ends: NDArray[np.int64],
        codes: NDArray[np.int32],
        counts: NDArray[np.int64],
        stage: Stage = QUIET,
    ) -> None:
        expected, first, n = self._expected, self._n_transactions, len(counts)
        self._n_transactions += n
        if self._n_transactions > expected.n_transactions or (counts != 1).any():
            self._is_same = False
        if not self._is_same:
            return
        if self._order is None:
            rows = np.searchsorted(self._ends, np.arange(first, first + n), side="right")
        else:
            rows = self._order[first : first + n]
        sizes = np.diff(ends)
        self._is_same = np.array_equal(sizes, expected.lengths[rows])
        if self._is_same and len(codes):
            places = np.arange(ends[-1] - ends[0])
            places += np.repeat(expected.offsets[rows] - (ends[:-1] - ends[0]), sizes)
            self._is_same = np.array_equal(expected.codes[places], codes[ends[0] : ends[-1]])

    def mark(self) -> Callable[[], None]:
        """Return what takes back all that is added from now on."""
        self._gather_loose()
        state = self._n_transactions, self._is_same

        def go_back() -> None:
            self._n_transactions, self._is_same = state

        return go_back

    def build(self, *, origin: Origin = NOWHERE, stage: Stage = QUIET) -> Transactions:
        """Return what was read, which is what was expected; raise if it is not."""
        self._gather_loose()
        expected = self._expected
        if not self._is_same or self._n_transactions != expected.n_transactions:
            raise VerificationError("the release does not read back as what was verified")
        arrays = expected.offsets, expected.codes, expected.counts, self._order
        return Transactions._of_canonical(expected.vocabulary, *arrays, origin)
