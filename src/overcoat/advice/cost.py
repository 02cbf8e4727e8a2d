"""What a release costs, in the few figures by which policies are weighed against each other."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from overcoat.context import QUIET, Stage
from overcoat.data.transactions import Transactions
from overcoat.loss.error import Errors, ExpectedError, n_pairs
from overcoat.measures.exactness import Exactness
from overcoat.measures.loss import measure_ncp
from overcoat.release.result import Result

__all__ = ["Cost", "Meter"]


@dataclass(frozen=True)
class Cost:
    """What a release costs.

    Attributes
    ----------
    log2_ul : log2 of the utility loss; -inf when nothing is lost
    ncp, flat_ncp : with the hierarchy, and without; from 0 to 1
    errors : the mean errors of all queries of one and of two items; None where there are too many
    suppressed_percent : of the items
    n_exact, n_sets : named sets whose counts are exact, of how many
    exactness : how exactly what people have is told
    """

    log2_ul: float
    ncp: float
    flat_ncp: float
    errors: Errors | None
    suppressed_percent: float
    n_exact: int
    n_sets: int
    exactness: Exactness

    def to_json(self) -> dict[str, Any]:
        """Return the figures as plain values; `log2_ul` is null when nothing is lost."""
        return {
            "log2_ul": self.log2_ul if math.isfinite(self.log2_ul) else None,
            "ncp": self.ncp,
            "flat_ncp": self.flat_ncp,
            "expected_error": None if self.errors is None else asdict(self.errors),
            "suppressed_percent": self.suppressed_percent,
            "n_exact": self.n_exact,
            "n_sets": self.n_sets,
            "exactness": self.exactness.to_json(),
        }


class Meter:
    """Measures several releases of the same data: their pairs are counted once."""

    def __init__(self, data: Transactions, *, stage: Stage = QUIET) -> None:
        self._data = data
        few = n_pairs(data) <= ExpectedError.MOST
        self._errors = ExpectedError(data, stage=stage) if few else None

    def cost(self, result: Result) -> Cost:
        """Return what a release of the data costs."""
        errors = self._errors
        partition = result.mapping.partition_of(self._data)
        return Cost(
            result.loss.log2_ul,
            measure_ncp(self._data, result.mapping, result.policy.hierarchy),
            measure_ncp(self._data, result.mapping),
            None if errors is None else errors.total(partition),
            result.verdict.suppressed_percent,
            sum(count.exact for count in result.counts),
            len(result.counts),
            result.exactness,
        )
