"""What an anonymization on a cluster comes to."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overcoat.mapping import Mapping
from overcoat.release.result import Result
from overcoat.spark.plan import Plan
from overcoat.verification import Verdict

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["SparkResult"]


@dataclass(frozen=True, eq=False, repr=False)
class SparkResult:
    """A mapping, the release on the cluster, and the evidence.

    Attributes
    ----------
    mapping : which item went where
    released : the release, as a data frame of Spark; read from where it was written, if it was
    verdict : what verification found, on the cluster, with its own counts
    name : where the release is; None where it was not written
    evidence : the `Result` of the driver, for reports and certificates; None after `apply`, which
        never brings the data to the driver
    plan : what the driver had to hold; None after `apply`
    seconds : time by stage
    """

    mapping: Mapping
    released: DataFrame
    verdict: Verdict
    name: str | None = None
    evidence: Result | None = None
    plan: Plan | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        told: Any = self.mapping if self.evidence is None else self.evidence
        return f"{told._repr_html_()}{self.verdict._repr_html_()}"

    def __repr__(self) -> str:
        where = "not written" if self.name is None else str(Path(self.name))
        return f"SparkResult({self.mapping!r}, verified on the cluster, {where})"
